/* gelu.h - y = x / 2 * (1 + erf(x / sqrt 2)); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_GELU_H
#define INFINIOP_OPS_GELU_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Gelu, y, x);

#endif
