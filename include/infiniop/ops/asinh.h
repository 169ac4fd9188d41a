/* asinh.h - y = asinh(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ASINH_H
#define INFINIOP_OPS_ASINH_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Asinh, y, x);

#endif
