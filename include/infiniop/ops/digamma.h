/* digamma.h - y = the derivative of log gamma at x; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_DIGAMMA_H
#define INFINIOP_OPS_DIGAMMA_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Digamma, y, x);

#endif
