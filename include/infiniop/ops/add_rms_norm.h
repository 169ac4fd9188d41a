/* add_rms_norm.h - residual_out = a + b and y = rms_norm(residual_out) * weight; dtypes as in
 * RMSNorm.  y and residual_out may each be a or b. */
#ifndef INFINIOP_OPS_ADD_RMS_NORM_H
#define INFINIOP_OPS_ADD_RMS_NORM_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(AddRMSNorm);

INFINI_API infiniStatus_t infiniopCreateAddRMSNormDescriptor(
    infiniopHandle_t handle, infiniopAddRMSNormDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc, infiniopTensorDescriptor_t residual_out_desc,
    infiniopTensorDescriptor_t a_desc, infiniopTensorDescriptor_t b_desc,
    infiniopTensorDescriptor_t weight_desc, float epsilon);

INFINI_API infiniStatus_t infiniopAddRMSNorm(infiniopAddRMSNormDescriptor_t desc,
                                             void *workspace, size_t workspace_size, void *y,
                                             void *residual_out, const void *a, const void *b,
                                             const void *weight, void *stream);

#endif
