/* float_power.h - y = x^exponent, computed in F64 and rounded once; F16 F32 F64 BF16.  y may
 * have another dtype than x; exponent has x's dtype.
 *
 * exponent NULL means scalar_exponent; the run then ignores the data of exponent. */
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
