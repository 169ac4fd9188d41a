/* logaddexp.h - c = log(exp(a) + exp(b)); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_LOGADDEXP_H
#define INFINIOP_OPS_LOGADDEXP_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(LogAddExp, c, a, b);

#endif
