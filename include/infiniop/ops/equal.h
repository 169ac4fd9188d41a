/* equal.h - c = (a == b); c is BOOL, a and b F16 F32 F64 BF16 I32 I64. */
#ifndef INFINIOP_OPS_EQUAL_H
#define INFINIOP_OPS_EQUAL_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Equal, c, a, b);

#endif
