/* sub.h - c = a - b; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SUB_H
#define INFINIOP_OPS_SUB_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Sub, c, a, b);

#endif
