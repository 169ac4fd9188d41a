/* fmin.h - c = the smaller of a and b, or the other one if one is NaN; F16 F32 F64 BF16 I32
 * I64. */
#ifndef INFINIOP_OPS_FMIN_H
#define INFINIOP_OPS_FMIN_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Fmin, c, a, b);

#endif
