/* logaddexp2.h - c = log2(2^a + 2^b); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_LOGADDEXP2_H
#define INFINIOP_OPS_LOGADDEXP2_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(LogAddExp2, c, a, b);

#endif
