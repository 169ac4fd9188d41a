/* walk.h - visiting the items of loops one after the other: the odometer of the library.
 *
 * Items are numbered row-major, the last loop fastest.  A walk knows its indices and, for each
 * operand, the offset in bytes that they make; it holds no addresses. */
#ifndef TNI_WALK_H
#define TNI_WALK_H

#include "nest.h"

enum { TNI_WALK_AXES = TN_MAX_NDIM + 4 }; /* all axes, and some that are cut twice */

typedef struct tni_walk {
    const tni_axis *axis; /* outermost first */
    int ndim, nop;
    int64_t offset[TNI_MAX_OPERANDS];
    int64_t at[TNI_WALK_AXES];
} tni_walk;

/* Stand at an item of these loops; item 0 of no loops is the only one. */
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

/* Go on by `by` indices of the last loop at once, within it; 0 loops: no effect. */
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

/* Go to the next item.  Gives the number of loops that began anew: ndim after the last item,
 * when the walk stands at item 0 again. */
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

/* Indices from here to the end of the last loop, which there is. */
static inline int64_t tni_walk_left(const tni_walk *w)
{
    return w->axis[w->ndim - 1].n - w->at[w->ndim - 1];
}

/* Go on by `by` indices of the last loop, which has as many left: behind its end the next loop
 * goes on. */
static inline void tni_walk_advance(tni_walk *w, int64_t by)
{
    const int64_t left = tni_walk_left(w);
    ASSERT(by >= 1 && by <= left);
    tni_walk_skip(w, by < left ? by : left - 1);
    if (by == left)
        tni_walk_next(w);
}

/* Stand where another walk stands; what its loops and operands do not use is not copied. */
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
