/* reduce_check.h - what calls that reduce axes share. */
#ifndef TNI_REDUCE_CHECK_H
#define TNI_REDUCE_CHECK_H

#include <tenon/reduce.h>

#include "view/view.h"

/* The arguments of a call, and the results of its checks: the reduced axes, a bit each, and dst
 * with the axes of src, with stride 0 along reduced ones. */
typedef struct tni_reduce_call {
    tn_reduction op;
    const double *params;
    int naxes;
    const int *axes;
    uint64_t folded;
    tn_tensor full;
} tni_reduce_call;

/* Set the arguments; the 1 KB of full is left uninitialised. */
static inline void tni_reduce_ask(tni_reduce_call *r, tn_reduction op, const double *params,
                                  int naxes, const int *axes)
{
    r->op = op;
    r->params = params;
    r->naxes = naxes;
    r->axes = axes;
}

/* Check that op is a reduction and accepts these parameters. */
tn_status tni_reduce_params(const char *call, tn_reduction op, const double *params);

/* Convert axes to bits; axes is not NULL if naxes > 0. */
tn_status tni_reduce_axes(const char *call, int ndim, int naxes, const int *axes,
                          uint64_t *folded);

/* A hook of tni_check_call whose own is a tni_reduce_call: checks that axes is not NULL. */
tn_status tni_reduce_nulls(const tni_call *call);

/* Expand dst, which has all axes of like or only those not folded, to the shape of like. */
tn_status tni_reduce_full(tn_tensor *full, const char *call, const tn_tensor *dst,
                          const tn_tensor *like, uint64_t folded);

/* What a reduction that does not take every dtype takes, for error messages. */
const char *tni_reduce_expects(tn_reduction op);

/* Check that the reduction supports src; name is its name in the message. */
tn_status tni_reduce_takes(const char *call, const char *name, tn_reduction op, tn_dtype src);

/* The same, and check that dst fits its result. */
tn_status tni_reduce_dtypes(const char *call, tn_reduction op, tn_dtype src, tn_dtype dst);

/* tn_reduce under another name. */
tn_status tni_reduce_into(const char *call, tn_reduction op, const double *params,
                          const tn_tensor *dst, const tn_tensor *src, int naxes,
                          const int *axes);

/* Run tni_check_call for a reduction; names are as there. */
tn_status tni_reduce_check(tni_reduce_call *r, const char *call, const char *const *names,
                           unsigned flags, const tn_tensor *dst, const tn_tensor *src);

#endif
