/* fmod.h - c = a - b * (a / b towards zero), with the sign of a; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_FMOD_H
#define INFINIOP_OPS_FMOD_H

#include "../operator_descriptor.h"

INFINIOP_BINARY(Fmod, c, a, b);

#endif
