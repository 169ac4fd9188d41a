/* op_types.h - the dtypes of an op: what its sources meet in, computes in and gives. */
#ifndef TNI_OP_TYPES_H
#define TNI_OP_TYPES_H

#include "plan/plan.h"

/* Find the dtypes of op on sources of these dtypes: those of how, and the one dst must have.
 * op and the dtypes are known ones.  call begins the sentence.
 *
 * TN_EDTYPE  the op does not take them, or they do not meet */
tn_status tni_op_types(tni_strips_how *how, tn_dtype *result, const char *call, tn_op op,
                       const tn_dtype *in);

#endif
