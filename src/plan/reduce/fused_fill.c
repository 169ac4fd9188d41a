/* fused_fill.c - computes the values of fused reductions: sources are gathered, and the program
 * runs on dense strips of them. */
#include "fused_run.h"
#include "runtime/runtime.h"

void tni_fused_seek(tni_fused_part *p, int64_t at)
{
    const tni_nest *nest = &p->j->u->nest;
    tni_walk_seek(&p->walk, nest->axis, nest->ndim, nest->nop, at);
    p->at = at;
}

/* Advance the walk by n elements. */
static void advance(tni_fused_part *p, int64_t n)
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

/* The next n elements of source k as dense memory (one element if it is broadcast): in place,
 * or gathered in buffer. */
static const char *fused_take(const tni_fused_part *p, int k, int64_t n, char *buffer)
{
    const tni_fused *u = p->j->u;
    if (u->broadcast >> k & 1 || u->dense[k] - p->at % u->dense[k] >= n)
        return p->j->at[k] + p->walk.offset[k + 1];
    tni_walk_gather(buffer, p->j->at[k], &p->walk, k + 1, n, u->src_width[k], tni_isa_level());
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
            src[k] = fused_take(p, k, m, buffer);
            buffer += m * u->src_width[k];
        }
        for (int r = 0; r < u->nvalue; r++)
            out[r] = p->values + u->value[r] * u->capacity + (from + i) * u->width[r];
        tni_strips_run_dense(&u->inside, p->arena, p->first, out, src, m);
        p->first = false;
        advance(p, m);
    }
}
