/* gelutanh.h - y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_GELUTANH_H
#define INFINIOP_OPS_GELUTANH_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(GeluTanh, y, x);

#endif
