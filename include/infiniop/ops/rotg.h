/* rotg.h - a Givens rotation, as BLAS makes it; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ROTG_H
#define INFINIOP_OPS_ROTG_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Rotg);

INFINI_API infiniStatus_t infiniopCreateRotgDescriptor(
    infiniopHandle_t handle, infiniopRotgDescriptor_t *desc_ptr, infiniopTensorDescriptor_t x,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t c, infiniopTensorDescriptor_t s);

INFINI_API infiniStatus_t infiniopRotg(infiniopRotgDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *x, void *y, void *c,
                                       void *s, void *stream);

#endif
