/* rot.h - x = c x + s y and y = c y - s x; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ROT_H
#define INFINIOP_OPS_ROT_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Rot);

INFINI_API infiniStatus_t infiniopCreateRotDescriptor(
    infiniopHandle_t handle, infiniopRotDescriptor_t *desc_ptr, infiniopTensorDescriptor_t x,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t c, infiniopTensorDescriptor_t s);

INFINI_API infiniStatus_t infiniopRot(infiniopRotDescriptor_t desc, void *workspace,
                                      size_t workspace_size, void *x, void *y, const void *c,
                                      const void *s, void *stream);

#endif
