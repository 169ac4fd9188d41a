/* sinh.h - y = sinh(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SINH_H
#define INFINIOP_OPS_SINH_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Sinh, y, x);

#endif
