/* add.h - c = a + b; F16 F32 F64 BF16 I32 I64.  Integers wrap. */
#ifndef INFINIOP_OPS_ADD_H
#define INFINIOP_OPS_ADD_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Add, c, a, b);

#endif
