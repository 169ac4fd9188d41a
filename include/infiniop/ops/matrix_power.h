/* matrix_power.h - y = x^n, n >= 0; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_MATRIX_POWER_H
#define INFINIOP_OPS_MATRIX_POWER_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(MatrixPower);

INFINI_API infiniStatus_t infiniopCreateMatrixPowerDescriptor(
    infiniopHandle_t handle, infiniopMatrixPowerDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, int n);

INFINI_API infiniStatus_t infiniopMatrixPower(infiniopMatrixPowerDescriptor_t desc,
                                              void *workspace, size_t workspace_size, void *y,
                                              const void *x, void *stream);

#endif
