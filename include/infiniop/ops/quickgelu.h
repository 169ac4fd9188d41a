/* quickgelu.h - y = x * sigmoid(1.702 x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_QUICKGELU_H
#define INFINIOP_OPS_QUICKGELU_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(QuickGelu, y, x);

#endif
