/* float_power.h - y = x^exponent, computed in F64 and rounded once; F16 F32 F64 BF16.  y's
 * dtype may be another one than x's; exponent has x's.
 *
 * exponent NULL is scalar_exponent, and then the run ignores its data. */
#ifndef INFINIOP_OPS_FLOAT_POWER_H
#define INFINIOP_OPS_FLOAT_POWER_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(FloatPower);

INFINI_API infiniStatus_t infiniopCreateFloatPowerDescriptor(
    infiniopHandle_t handle, infiniopFloatPowerDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
    infiniopTensorDescriptor_t exponent, float scalar_exponent);

INFINIOP_RUN_2(FloatPower, y, x, exponent);

#endif
