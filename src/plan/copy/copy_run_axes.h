/* copy_run_axes.h - the axes along which dst is one dense run, and the offsets of its units in
 * src. */
#ifndef TNI_COPY_RUN_AXES_H
#define TNI_COPY_RUN_AXES_H

#include "copy_shape.h"

/* Collect the axes along which dst is dense, from a outwards, up to axis `without` or until the
 * run has `most` bytes; returns them as a mask.  Sets run_axis, run_axes and run of
 * c->carried. */
static inline uint64_t tni_run_take(tni_copy *c, const tni_copy_case *of, int without,
                                    int64_t most)
{
    const tni_nest *nest = of->nest;
    tni_axis *x = c->carried.run_axis;
    uint64_t used = 0;
    int64_t n = 1;
    int count = 0;
    for (int i = of->a; i >= 0 && i != without && count < TNI_RUN_AXES; i--) {
        if (nest->axis[i].step[0] != n * c->unit || n * c->unit >= most)
            break;
        x[count++] = nest->axis[i];
        used |= (uint64_t)1 << i;
        n *= nest->axis[i].n;
    }
    for (int i = 0; i < count / 2; i++) { /* outermost first */
        tni_axis t = x[i];
        x[i] = x[count - 1 - i];
        x[count - 1 - i] = t;
    }
    c->carried.run_axes = count;
    c->carried.run = n;
    return used;
}

/* Divide the run into segments of about `want` units, multiples of 64 except the last, and add
 * them to the plan, whose loops are in order, as the innermost loop. */
static inline void tni_run_segments(tni_copy *c, int64_t want)
{
    tni_carried *r = &c->carried;
    r->segments = r->run / want > 1 ? r->run / want : 1;
    r->segment = r->segments > 1 ? r->run / r->segments / 64 * 64 : r->run;
    if (r->segments > 1) {
        ASSERT(c->nloop < TNI_WALK_AXES);
        c->loop[c->nloop++] = (tni_axis){.n = r->segments, .step = {r->segment * c->unit, 0}};
        c->items *= r->segments;
    }
}

/* The segment at which a walk of the plan's loops is; it is [*from, *to) of the run. */
static inline int64_t tni_run_segment(const tni_copy *c, const tni_walk *w, int64_t *from,
                                      int64_t *to)
{
    const tni_carried *r = &c->carried;
    const int64_t k = r->segments > 1 ? w->at[c->nloop - 1] : 0;
    *from = k * r->segment;
    *to = k + 1 < r->segments ? *from + r->segment : r->run;
    return k;
}

/* List the offsets in src of the next n units of the run. */
static inline void tni_run_list(tni_walk *w, int64_t *at, int64_t n)
{
    const tni_axis *in = &w->axis[w->ndim - 1];
    while (n > 0) {
        int64_t m = in->n - w->at[w->ndim - 1];
        m = m < n ? m : n;
        for (int64_t i = 0; i < m; i++)
            at[i] = w->offset[1] + i * in->step[1];
        tni_walk_skip(w, m - 1);
        tni_walk_next(w);
        at += m;
        n -= m;
    }
}

#endif
