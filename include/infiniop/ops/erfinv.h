/* erfinv.h - the y for which erf(y) = x; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ERFINV_H
#define INFINIOP_OPS_ERFINV_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Erfinv, y, x);

#endif
