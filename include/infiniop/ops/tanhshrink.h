/* tanhshrink.h - y = x - tanh(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_TANHSHRINK_H
#define INFINIOP_OPS_TANHSHRINK_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Tanhshrink, y, x);

#endif
