/* topksoftmax.h - the topk largest of a softmax of rows, values F32 and indices I32; F16 F32
 * BF16. */
#ifndef INFINIOP_OPS_TOPKSOFTMAX_H
#define INFINIOP_OPS_TOPKSOFTMAX_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Topksoftmax);

INFINI_API infiniStatus_t infiniopCreateTopksoftmaxDescriptor(
    infiniopHandle_t handle, infiniopTopksoftmaxDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc);

INFINI_API infiniStatus_t infiniopTopksoftmax(infiniopTopksoftmaxDescriptor_t desc,
                                              void *workspace, size_t workspace_size,
                                              void *values, void *indices, const void *x,
                                              size_t topk, int norm, void *stream);

#endif
