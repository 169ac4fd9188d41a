/* floor.h - y = the largest integer <= x; F16 F32 F64 BF16 and all integers, which are
 * unchanged. */
#ifndef INFINIOP_OPS_FLOOR_H
#define INFINIOP_OPS_FLOOR_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Floor, y, x);

#endif
