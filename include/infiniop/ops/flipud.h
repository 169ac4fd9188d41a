/* flipud.h - output = input with axis 0 reversed; every dtype. */
#ifndef INFINIOP_OPS_FLIPUD_H
#define INFINIOP_OPS_FLIPUD_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(Flipud, output, input);

#endif
