/* swiglu.h - c = a * b * sigmoid(b), a is up and b is gate; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SWIGLU_H
#define INFINIOP_OPS_SWIGLU_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(SwiGLU, c, a, b);

#endif
