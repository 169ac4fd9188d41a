/* rms_norm.h - y = x * w / sqrt(mean(x^2) + epsilon) along the last axis; F16 F32 F64 BF16.  If
 * x is F16 or BF16, w may be F16, BF16 or F32. */
#ifndef INFINIOP_OPS_RMS_NORM_H
#define INFINIOP_OPS_RMS_NORM_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(RMSNorm);

INFINI_API infiniStatus_t infiniopCreateRMSNormDescriptor(infiniopHandle_t handle,
                                                          infiniopRMSNormDescriptor_t *desc_ptr,
                                                          infiniopTensorDescriptor_t y_desc,
                                                          infiniopTensorDescriptor_t x_desc,
                                                          infiniopTensorDescriptor_t w_desc,
                                                          float epsilon);

INFINI_API infiniStatus_t infiniopRMSNorm(infiniopRMSNormDescriptor_t desc, void *workspace,
                                          size_t workspace_size, void *y, const void *x,
                                          const void *w, void *stream);

#endif
