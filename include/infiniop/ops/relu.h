/* relu.h - y = x where x > 0, else 0; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_RELU_H
#define INFINIOP_OPS_RELU_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Relu, y, x);

#endif
