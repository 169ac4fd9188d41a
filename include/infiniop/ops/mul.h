/* mul.h - c = a * b; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_MUL_H
#define INFINIOP_OPS_MUL_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Mul, c, a, b);

#endif
