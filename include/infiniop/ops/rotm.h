/* rotm.h - a modified Givens rotation of x and y, as BLAS applies it; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ROTM_H
#define INFINIOP_OPS_ROTM_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Rotm);

INFINI_API infiniStatus_t infiniopCreateRotmDescriptor(infiniopHandle_t handle,
                                                       infiniopRotmDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t x,
                                                       infiniopTensorDescriptor_t y,
                                                       infiniopTensorDescriptor_t param);

INFINI_API infiniStatus_t infiniopRotm(infiniopRotmDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *x, void *y,
                                       const void *param, void *stream);

#endif
