/* silu.h - y = x * sigmoid(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SILU_H
#define INFINIOP_OPS_SILU_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Silu, y, x);

#endif
