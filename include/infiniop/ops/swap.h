/* swap.h - exchange the elements of x and y; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SWAP_H
#define INFINIOP_OPS_SWAP_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Swap);

INFINI_API infiniStatus_t infiniopCreateSwapDescriptor(infiniopHandle_t handle,
                                                       infiniopSwapDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t x,
                                                       infiniopTensorDescriptor_t y);

INFINI_API infiniStatus_t infiniopSwap(infiniopSwapDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *x, void *y, void *stream);

#endif
