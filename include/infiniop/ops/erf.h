/* erf.h - y = erf(x); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ERF_H
#define INFINIOP_OPS_ERF_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Erf, y, x);

#endif
