/* reciprocal.h - y = 1 / x; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_RECIPROCAL_H
#define INFINIOP_OPS_RECIPROCAL_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Reciprocal, y, x);

#endif
