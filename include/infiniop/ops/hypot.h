/* hypot.h - c = sqrt(a^2 + b^2); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_HYPOT_H
#define INFINIOP_OPS_HYPOT_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Hypot, c, a, b);

#endif
