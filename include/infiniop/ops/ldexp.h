/* ldexp.h - y = x * 2^exp; F16 F32 F64 BF16, exp of x's dtype or I32 or I64.  Inputs broadcast
 * to y as in NumPy. */
#ifndef INFINIOP_OPS_LDEXP_H
#define INFINIOP_OPS_LDEXP_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Ldexp, y, x, exp);

#endif
