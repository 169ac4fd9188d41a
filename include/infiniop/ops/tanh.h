/* tanh.h - y = tanh(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_TANH_H
#define INFINIOP_OPS_TANH_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Tanh, y, x);

#endif
