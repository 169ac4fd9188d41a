/* erfc.h - y = 1 - erf(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ERFC_H
#define INFINIOP_OPS_ERFC_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Erfc, y, x);

#endif
