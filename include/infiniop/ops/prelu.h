/* prelu.h - y = x where x > 0, else x * weight; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_PRELU_H
#define INFINIOP_OPS_PRELU_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Prelu, y, x, weight);

#endif
