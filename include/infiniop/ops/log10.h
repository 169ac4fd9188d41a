/* log10.h - y = log10(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_LOG10_H
#define INFINIOP_OPS_LOG10_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Log10, y, x);

#endif
