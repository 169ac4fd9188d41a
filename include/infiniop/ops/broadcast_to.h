/* broadcast_to.h - y = x, broadcast to y's shape as in NumPy; every dtype. */
#ifndef INFINIOP_OPS_BROADCAST_TO_H
#define INFINIOP_OPS_BROADCAST_TO_H

#include "../operator_descriptor.h"

INFINIOP_UNARY(BroadcastTo, y, x);

#endif
