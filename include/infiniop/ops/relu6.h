/* relu6.h - y = x between 0 and 6; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_RELU6_H
#define INFINIOP_OPS_RELU6_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Relu6, y, x);

#endif
