/* mul_scalar.h - y = x * alpha, rounded once; alpha is an argument of the run; F16 F32 F64
 * BF16. */
#ifndef INFINIOP_OPS_MUL_SCALAR_H
#define INFINIOP_OPS_MUL_SCALAR_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(MulScalar);

INFINI_API infiniStatus_t infiniopCreateMulScalarDescriptor(
    infiniopHandle_t handle, infiniopMulScalarDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x);

INFINI_API infiniStatus_t infiniopMulScalar(infiniopMulScalarDescriptor_t desc, void *workspace,
                                            size_t workspace_size, void *y, const void *x,
                                            double alpha, void *stream);

#endif
