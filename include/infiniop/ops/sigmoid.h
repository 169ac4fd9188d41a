/* sigmoid.h - y = 1 / (1 + exp(-x)); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SIGMOID_H
#define INFINIOP_OPS_SIGMOID_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Sigmoid, y, x);

#endif
