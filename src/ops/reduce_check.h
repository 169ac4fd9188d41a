/* reduce_check.h - what calls with axes to reduce share. */
#ifndef TNI_REDUCE_CHECK_H
#define TNI_REDUCE_CHECK_H

#include <tenon/reduce.h>

#include "core/core.h"

typedef struct tni_reduce_call {
    uint64_t folded; /* the reduced axes, a bit each */
    tn_tensor full;  /* dst with src's axes: stride 0 where they are reduced */
} tni_reduce_call;

/* The axes as bits; axes is not NULL when naxes > 0. */
tn_status tni_reduce_axes(const char *call, int ndim, int naxes, const int *axes,
                          uint64_t *folded);

/* dst, which has all axes of like or those that stay, with the shape of like. */
tn_status tni_reduce_full(tn_tensor *full, const char *call, const tn_tensor *dst,
                          const tn_tensor *like, uint64_t folded);

/* The reduction takes src, and dst fits its result. */
tn_status tni_reduce_dtypes(const char *call, tn_reduction op, tn_dtype src, tn_dtype dst);

/* Everything but data. */
tn_status tni_reduce_check(tni_reduce_call *r, const char *call, tn_reduction op,
                           const double *params, const tn_tensor *dst, const tn_tensor *src,
                           int naxes, const int *axes);

#endif
