/* op_types.h - the dtypes of an op, and the program steps that compute it. */
#ifndef TNI_OP_TYPES_H
#define TNI_OP_TYPES_H

#include "plan/plan.h"

/* The dtypes that each source is promoted to, that the kernel computes in (0 is dst), and of
 * the result. */
typedef struct tni_op_signature {
    tn_dtype promoted[TNI_MAX_ARITY + 1], compute[TNI_MAX_ARITY + 1], result;
} tni_op_signature;

/* Find the signature of op on sources of these dtypes; op and the dtypes are valid.  call
 * begins the error message.
 *
 * TN_EDTYPE  the op does not support the dtypes, or they do not promote to a common one */
tn_status tni_op_types(tni_op_signature *sig, const char *call, tn_op op, const tn_dtype *in);

/* The dtypes of sources that op takes, for error messages: "an integer or bool". */
const char *tni_op_expects(tn_op op);

/* A growing list of steps.  With share, equal steps are merged. */
typedef struct tni_builder {
    tni_strip_step *step;
    int nstep, most; /* number of steps, and its limit */
    int nsrc, nnum;
    bool share, full; /* full: the limit was exceeded */
} tni_builder;

/* Append a conversion of value v and return the number of the result: v itself if nothing
 * changes.  A bool of a tensor is normalised to 0 or 1. */
int tni_build_cast(tni_builder *b, int v, tn_dtype from, tn_dtype to);

/* Append op on values of the dtypes in, with the conversions around it; returns the number of
 * the result. */
int tni_build_apply(tni_builder *b, tn_op op, const double *params, const tni_op_signature *sig,
                    const int *src, const tn_dtype *in);

#endif
