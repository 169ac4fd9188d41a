/* ones.h - y = 1; BYTE BOOL, all integers, F16 F32 F64 BF16.  The data of x are not read and
 * may be NULL. */
#ifndef INFINIOP_OPS_ONES_H
#define INFINIOP_OPS_ONES_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Ones, y, x);

#endif
