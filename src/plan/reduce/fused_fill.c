/* fused_fill.c - the values of fused reductions: sources made dense, and the program run on them,
 * strip by strip. */
#include "fused_run.h"
#include "runtime/runtime.h"

void tni_fused_seek(tni_fused_part *p, int64_t at)
{
    const tni_nest *nest = &p->j->u->nest;
    tni_walk_seek(&p->walk, nest->axis, nest->ndim, nest->nop, at);
    p->at = at;
}

/* n elements further. */
static void go_on(tni_fused_part *p, int64_t n)
{
    tni_walk *w = &p->walk;
    const int last = w->ndim - 1;
    if (last >= 0 && w->at[last] + n < w->axis[last].n) {
        tni_walk_skip(w, n);
        p->at += n;
    } else {
        tni_fused_seek(p, p->at + n);
    }
}

/* Go on by n indices of the last loop, at most to its end. */
static void walk_on(tni_walk *w, int64_t n)
{
    const int last = w->ndim - 1;
    const int64_t left = w->axis[last].n - w->at[last];
    tni_walk_skip(w, n < left ? n : left - 1);
    if (n >= left)
        tni_walk_next(w);
}

/* n elements of source k in the order of the nest, into dense memory. */
static void gather(const tni_fused_part *p, int k, int64_t n, char *d)
{
    const tni_fused *u = p->j->u;
    const int64_t width = u->src_width[k];
    const tni_tile_fn tile =
        tni_kernels_of(tni_isa_level())->copy->tile[tni_log2_width((int)width)];
    tni_walk w = p->walk;
    const int last = w.ndim - 1;
    const tni_axis *in = &w.axis[last], *out = last > 0 ? in - 1 : NULL;
    while (n > 0) {
        int64_t m = in->n - w.at[last], rows = 1;
        m = m < n ? m : n;
        if (m == in->n && out) { /* whole runs, as many as follow each other */
            const int64_t follow = out->n - w.at[last - 1];
            rows = n / m < follow ? n / m : follow;
        }
        tile(d, (const int64_t[2]){m * width, width}, p->j->at[k] + w.offset[k + 1],
             (const int64_t[2]){out ? out->step[k + 1] : 0, in->step[k + 1]},
             (const int64_t[2]){rows, m});
        d += rows * m * width;
        n -= rows * m;
        if (rows > 1) {
            w.ndim--;
            walk_on(&w, rows);
            w.ndim++;
        } else {
            walk_on(&w, m);
        }
    }
}

/* Where the next n elements of source k are, dense. */
static const char *take(const tni_fused_part *p, int k, int64_t n, char *buffer)
{
    const tni_fused *u = p->j->u;
    if (u->still >> k & 1 || u->dense[k] - p->at % u->dense[k] >= n)
        return p->j->at[k] + p->walk.offset[k + 1];
    gather(p, k, n, buffer);
    return buffer;
}

void tni_fused_fill(tni_fused_part *p, int64_t from, int64_t n)
{
    const tni_fused *u = p->j->u;
    for (int64_t i = 0; i < n; i += u->piece) {
        const int64_t m = n - i < u->piece ? n - i : u->piece;
        const char *src[TNI_MAX_SOURCES];
        char *out[TNI_MAX_RESULTS], *buffer = p->gather;
        for (int k = 0; k < u->nest.nop - 1; k++) {
            src[k] = take(p, k, m, buffer);
            buffer += m * u->src_width[k];
        }
        for (int r = 0; r < u->nvalue; r++)
            out[r] = p->values + u->value[r] * u->capacity + (from + i) * u->width[r];
        tni_strips_run_dense(&u->inside, p->arena, p->first, out, src, m);
        p->first = false;
        go_on(p, m);
    }
}
