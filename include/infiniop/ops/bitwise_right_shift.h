/* bitwise_right_shift.h - y = x1 >> x2; all integers.  A negative count, or one of at least the
 * width, shifts all bits out. */
#ifndef INFINIOP_OPS_BITWISE_RIGHT_SHIFT_H
#define INFINIOP_OPS_BITWISE_RIGHT_SHIFT_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(BitwiseRightShift, y, x1, x2);

#endif
