/* log1p.h - y = log(1 + x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_LOG1P_H
#define INFINIOP_OPS_LOG1P_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Log1p, y, x);

#endif
