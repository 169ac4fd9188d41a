/* softsign.h - y = x / (1 + |x|); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SOFTSIGN_H
#define INFINIOP_OPS_SOFTSIGN_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Softsign, y, x);

#endif
