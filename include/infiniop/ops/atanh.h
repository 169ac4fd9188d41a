/* atanh.h - y = atanh(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ATANH_H
#define INFINIOP_OPS_ATANH_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Atanh, y, x);

#endif
