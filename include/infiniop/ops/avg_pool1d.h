/* avg_pool1d.h - means of windows along the last axis of (N, C, W), padding counted as
 * zeros; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_AVG_POOL1D_H
#define INFINIOP_OPS_AVG_POOL1D_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(AvgPool1d);

INFINI_API infiniStatus_t infiniopCreateAvgPool1dDescriptor(
    infiniopHandle_t handle, infiniopAvgPool1dDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input, size_t kernel_size,
    size_t stride, size_t padding);

INFINI_API infiniStatus_t infiniopAvgPool1d(infiniopAvgPool1dDescriptor_t desc, void *workspace,
                                            size_t workspace_size, void *output,
                                            const void *input, void *stream);

#endif
