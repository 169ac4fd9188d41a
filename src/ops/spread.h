/* spread.h - sources in dst's shape, by NumPy's rule. */
#ifndef TNI_SPREAD_H
#define TNI_SPREAD_H

#include "plan/plan.h"

/* Bring n sources to dst's shape: ts[0] is dst, ts[k + 1] is source k itself, or room[k] when
 * an axis of it repeats.
 *
 * TN_ESHAPE  sources do not meet ("add: axis 1: 5 and 6"), or dst is not as large */
tn_status tni_broadcast_operands(const tn_tensor **ts, tn_tensor *room, const char *call,
                                 const tn_tensor *dst, int n, const tn_tensor *const *srcs);

#endif
