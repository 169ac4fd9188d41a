/* rotmg.h - a modified Givens rotation, as BLAS makes it; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ROTMG_H
#define INFINIOP_OPS_ROTMG_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Rotmg);

INFINI_API infiniStatus_t infiniopCreateRotmgDescriptor(
    infiniopHandle_t handle, infiniopRotmgDescriptor_t *desc_ptr, infiniopTensorDescriptor_t d1,
    infiniopTensorDescriptor_t d2, infiniopTensorDescriptor_t x1, infiniopTensorDescriptor_t y1,
    infiniopTensorDescriptor_t param);

INFINI_API infiniStatus_t infiniopRotmg(infiniopRotmgDescriptor_t desc, void *workspace,
                                        size_t workspace_size, void *d1, void *d2, void *x1,
                                        const void *y1, void *param, void *stream);

#endif
