/* asin.h - y = asin(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ASIN_H
#define INFINIOP_OPS_ASIN_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Asin, y, x);

#endif
