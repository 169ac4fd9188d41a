/* walk.h - the odometer of the library: visits the items of a loop nest one after the other.
 *
 * Items are numbered row-major, the last loop fastest.  A walk holds its indices and, for each
 * operand, the offset in bytes that they add up to; it holds no addresses. */
#ifndef TNI_WALK_H
#define TNI_WALK_H

#include "nest.h"

enum { TNI_WALK_AXES = TN_MAX_NDIM + 4 }; /* all axes, some of them split in two */

typedef struct tni_walk {
    const tni_axis *axis; /* outermost first */
    int ndim, nop;
    int64_t offset[TNI_MAX_OPERANDS];
    int64_t at[TNI_WALK_AXES];
} tni_walk;

/* Position w at an item of these loops; without loops, item 0 is the only one. */
static inline void tni_walk_seek(tni_walk *w, const tni_axis *axis, int ndim, int nop,
                                 int64_t item)
{
    ASSERT(ndim <= TNI_WALK_AXES && nop <= TNI_MAX_OPERANDS && item >= 0);
    w->axis = axis;
    w->ndim = ndim;
    w->nop = nop;
    for (int k = 0; k < nop; k++)
        w->offset[k] = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        w->at[i] = item % axis[i].n;
        item /= axis[i].n;
        for (int k = 0; k < nop; k++)
            w->offset[k] += w->at[i] * axis[i].step[k];
    }
}

/* Advance by `by` indices within the last loop; without loops, do nothing. */
static inline void tni_walk_skip(tni_walk *w, int64_t by)
{
    if (w->ndim == 0)
        return;
    const tni_axis *a = &w->axis[w->ndim - 1];
    ASSERT(by >= 0 && w->at[w->ndim - 1] + by < a->n);
    w->at[w->ndim - 1] += by;
    for (int k = 0; k < w->nop; k++)
        w->offset[k] += by * a->step[k];
}

/* Advance to the next item.  Returns the number of loops that began anew: ndim after the last
 * item, when w is back at item 0. */
static inline int tni_walk_next(tni_walk *w)
{
    for (int i = w->ndim - 1; i >= 0; i--) {
        const tni_axis *a = &w->axis[i];
        if (++w->at[i] < a->n) {
            for (int k = 0; k < w->nop; k++)
                w->offset[k] += a->step[k];
            return w->ndim - 1 - i;
        }
        for (int k = 0; k < w->nop; k++)
            w->offset[k] -= (a->n - 1) * a->step[k];
        w->at[i] = 0;
    }
    return w->ndim;
}

/* The indices from here to the end of the last loop; there is at least one loop. */
static inline int64_t tni_walk_left(const tni_walk *w)
{
    return w->axis[w->ndim - 1].n - w->at[w->ndim - 1];
}

/* Advance by `by` indices of the last loop, at most as many as are left in it; at its end the
 * outer loops advance. */
static inline void tni_walk_advance(tni_walk *w, int64_t by)
{
    const int64_t left = tni_walk_left(w);
    ASSERT(by >= 1 && by <= left);
    tni_walk_skip(w, by < left ? by : left - 1);
    if (by == left)
        tni_walk_next(w);
}

/* Copy a walk; entries that its loops and operands do not use are not copied. */
static inline void tni_walk_copy(tni_walk *w, const tni_walk *from)
{
    w->axis = from->axis;
    w->ndim = from->ndim;
    w->nop = from->nop;
    for (int k = 0; k < from->nop; k++)
        w->offset[k] = from->offset[k];
    for (int i = 0; i < from->ndim; i++)
        w->at[i] = from->at[i];
}

#endif
