/* op_types.h - the dtypes of an op, and the steps that compute it. */
#ifndef TNI_OP_TYPES_H
#define TNI_OP_TYPES_H

#include "plan/plan.h"

/* What each source is promoted to, what the kernel takes (0 is dst) and what the op gives. */
typedef struct tni_op_signature {
    tn_dtype promoted[TNI_MAX_ARITY + 1], compute[TNI_MAX_ARITY + 1], result;
} tni_op_signature;

/* Find the signature of op on sources of these dtypes; op and the dtypes are known ones.  call
 * begins the sentence.
 *
 * TN_EDTYPE  the op does not take them, or they do not promote */
tn_status tni_op_types(tni_op_signature *sig, const char *call, tn_op op, const tn_dtype *in);

/* A list of steps that grows.  Equal steps are one where share is set. */
typedef struct tni_builder {
    tni_strip_step *step;
    int nstep, most; /* steps; how many there may be */
    int nsrc, nnum;
    bool share, full; /* full: there were more than most */
} tni_builder;

/* Append a conversion of value v, and give the value of it: v itself where nothing changes.  A
 * bool of a tensor is made 0 or 1. */
int tni_build_cast(tni_builder *b, int v, tn_dtype from, tn_dtype to);

/* Append op on values of the dtypes in, with conversions around it; gives the result's value. */
int tni_build_apply(tni_builder *b, tn_op op, const double *params, const tni_op_signature *sig,
                    const int *src, const tn_dtype *in);

#endif
