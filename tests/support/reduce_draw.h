/* reduce_draw.h - random reductions: a shape, an op with a supported dtype, axes; and tensors
 * with three axes in any memory order. */
#ifndef REDUCE_DRAW_H
#define REDUCE_DRAW_H

#include "core/core.h"
#include "draw.h"

static inline bool takes(tn_reduction op, tn_dtype t)
{
    tn_dtype out;
    return tn_reduction_result(op, t, &out) == TN_OK;
}

typedef struct drawn_reduction {
    tn_reduction op;
    uint64_t folded; /* bit mask of the reduced axes */
    block src;       /* filled with random bytes */
} drawn_reduction;

static inline drawn_reduction draw_reduction(rng *r, int64_t budget)
{
    int64_t shape[TN_MAX_NDIM];
    const int ndim = pick_shape(r, shape, budget);
    drawn_reduction d = {.op = (tn_reduction)(next(r) % TNI_REDUCTIONS)};
    tn_dtype t = pick_dtype(r);
    while (!takes(d.op, t))
        t = pick_dtype(r);
    d.folded = next(r) % 4 ? next(r) : UINT64_MAX;
    if (ndim < 64)
        d.folded &= ((uint64_t)1 << ndim) - 1;
    d.src = block_make(r, t, ndim, shape, next(r) % 4 != 0, true);
    return d;
}

/* Make a tensor; order: the axes in memory, outermost first. */
static inline block block_ordered(rng *r, tn_dtype t, const int64_t *shape, const int *order)
{
    int64_t memory[3];
    int axes[3];
    for (int a = 0; a < 3; a++) {
        memory[a] = shape[order[a]];
        axes[order[a]] = a;
    }
    block b = block_make(r, t, 3, memory, false, true);
    OK(tn_permute(&b.t, &b.t, axes));
    return b;
}

#endif
