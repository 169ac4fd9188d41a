/* hardswish.h - y = x * (x + 3 between 0 and 6) / 6; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_HARDSWISH_H
#define INFINIOP_OPS_HARDSWISH_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(HardSwish, y, x);

#endif
