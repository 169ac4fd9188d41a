/* selu.h - y = 1.0507 * (x where x > 0, else 1.6733 * (exp(x) - 1)); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SELU_H
#define INFINIOP_OPS_SELU_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Selu, y, x);

#endif
