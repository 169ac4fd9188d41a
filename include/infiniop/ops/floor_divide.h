/* floor_divide.h - c = the largest integer <= a / b; F16 F32 F64 BF16 I32 I64.  For integers x
 * / 0 is 0, and the lowest number / -1 wraps. */
#ifndef INFINIOP_OPS_FLOOR_DIVIDE_H
#define INFINIOP_OPS_FLOOR_DIVIDE_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(FloorDivide, c, a, b);

#endif
