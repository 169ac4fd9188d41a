/* causal_softmax.h - softmax of (s, t) or (b, s, t) along the last axis; row i attends to
 * columns up to t - s + i; F16 F32 BF16. */
#ifndef INFINIOP_OPS_CAUSAL_SOFTMAX_H
#define INFINIOP_OPS_CAUSAL_SOFTMAX_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(CausalSoftmax);

INFINI_API infiniStatus_t infiniopCreateCausalSoftmaxDescriptor(
    infiniopHandle_t handle, infiniopCausalSoftmaxDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc, infiniopTensorDescriptor_t x_desc);

INFINI_API infiniStatus_t infiniopCausalSoftmax(infiniopCausalSoftmaxDescriptor_t desc,
                                                void *workspace, size_t workspace_size, void *y,
                                                const void *x, void *stream);

#endif
