/* reduce_check.h - what calls with axes to reduce share. */
#ifndef TNI_REDUCE_CHECK_H
#define TNI_REDUCE_CHECK_H

#include <tenon/reduce.h>

#include "view/view.h"

/* What a call asks for, and what its check finds: the axes that are reduced, a bit each, and dst
 * with src's axes, of stride 0 where they are reduced. */
typedef struct tni_reduce_call {
    tn_reduction op;
    const double *params;
    int naxes;
    const int *axes;
    uint64_t folded;
    tn_tensor full;
} tni_reduce_call;

/* The 1 KB of full is not cleared. */
static inline void tni_reduce_ask(tni_reduce_call *r, tn_reduction op, const double *params,
                                  int naxes, const int *axes)
{
    r->op = op;
    r->params = params;
    r->naxes = naxes;
    r->axes = axes;
}

/* op is a reduction that takes these parameters. */
tn_status tni_reduce_params(const char *call, tn_reduction op, const double *params);

/* The axes as bits; axes is not NULL when naxes > 0. */
tn_status tni_reduce_axes(const char *call, int ndim, int naxes, const int *axes,
                          uint64_t *folded);

/* A hook of tni_check_call whose own is a tni_reduce_call: its axes are not NULL. */
tn_status tni_reduce_nulls(const tni_call *call);

/* dst, which has all axes of like or those that stay, with the shape of like. */
tn_status tni_reduce_full(tn_tensor *full, const char *call, const tn_tensor *dst,
                          const tn_tensor *like, uint64_t folded);

/* The reduction takes src; name is what it is called in the sentence. */
tn_status tni_reduce_takes(const char *call, const char *name, tn_reduction op, tn_dtype src);

/* The same, and dst fits its result. */
tn_status tni_reduce_dtypes(const char *call, tn_reduction op, tn_dtype src, tn_dtype dst);

/* tn_reduce as another call. */
tn_status tni_reduce_into(const char *call, tn_reduction op, const double *params,
                          const tn_tensor *dst, const tn_tensor *src, int naxes,
                          const int *axes);

/* tni_check_call of a reduction that was asked for; names as there. */
tn_status tni_reduce_check(tni_reduce_call *r, const char *call, const char *const *names,
                           unsigned flags, const tn_tensor *dst, const tn_tensor *src);

#endif
