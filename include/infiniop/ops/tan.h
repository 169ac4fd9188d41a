/* tan.h - out = tan(input); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_TAN_H
#define INFINIOP_OPS_TAN_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Tan, out, input);

#endif
