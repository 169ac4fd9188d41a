/* acos.h - y = acos(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ACOS_H
#define INFINIOP_OPS_ACOS_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Acos, y, x);

#endif
