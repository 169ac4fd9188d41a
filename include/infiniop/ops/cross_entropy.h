/* cross_entropy.h - y = logsumexp(x) - x[target] along the last axis of x; F16 F32 BF16,
 * target I32 or I64.  A target out of range gives 0. */
#ifndef INFINIOP_OPS_CROSS_ENTROPY_H
#define INFINIOP_OPS_CROSS_ENTROPY_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(CrossEntropy);

INFINI_API infiniStatus_t infiniopCreateCrossEntropyDescriptor(
    infiniopHandle_t handle, infiniopCrossEntropyDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc, infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t target_desc);

INFINI_API infiniStatus_t infiniopCrossEntropy(infiniopCrossEntropyDescriptor_t desc,
                                               void *workspace, size_t workspace_size, void *y,
                                               const void *x, const void *target, void *stream);

#endif
