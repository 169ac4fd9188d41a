/* scatter.h - output = input, then set (0), added to (1) or multiplied by (2) updates at
 * indices along axis; F16 F32 F64 BF16.  Negative indices count from the end. */
#ifndef INFINIOP_OPS_SCATTER_H
#define INFINIOP_OPS_SCATTER_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Scatter);

INFINI_API infiniStatus_t infiniopCreateScatterDescriptor(infiniopHandle_t handle,
                                                          infiniopScatterDescriptor_t *desc_ptr,
                                                          infiniopTensorDescriptor_t output,
                                                          infiniopTensorDescriptor_t input,
                                                          infiniopTensorDescriptor_t indices,
                                                          infiniopTensorDescriptor_t updates,
                                                          int axis, int reduction);

INFINI_API infiniStatus_t infiniopScatter(infiniopScatterDescriptor_t desc, void *workspace,
                                          size_t workspace_size, void *output,
                                          const void *input, const void *indices,
                                          const void *updates, void *stream);

#endif
