/* bitwise_right_shift.h - y = x1 >> x2; all integers.  A count that is negative or at least the
 * width shifts everything out. */
#ifndef INFINIOP_OPS_BITWISE_RIGHT_SHIFT_H
#define INFINIOP_OPS_BITWISE_RIGHT_SHIFT_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(BitwiseRightShift, y, x1, x2);

#endif
