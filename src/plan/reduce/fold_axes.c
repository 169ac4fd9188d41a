/* fold_axes.c - the axes of a reduction, taken from its nest, and the walk over a sequence.
 *
 * The strides of the first source determine the order of the map axes.  Fold axes keep the
 * order of the sequence unless the class does not depend on it. */
#include <string.h>

#include "fold_run.h"

static void take_axis(tni_fold *f, const tni_axis *from)
{
    tni_fold_axis a = {.n = from->n, .dst = from->step[0]};
    for (int k = 0; k < f->nsrc; k++)
        a.src[k] = from->step[1 + k];
    if (from->role == TNI_FOLD)
        f->fold[f->nfold++] = a;
    else
        f->map[f->nmap++] = a;
}

/* Add the real and the imaginary part as the innermost map axis, or merge it with the last
 * one. */
static void add_parts(tni_fold *f)
{
    const int64_t dst = f->dst == TN_F64 ? 8 : 4, src = f->width;
    tni_fold_axis *last = f->nmap ? &f->map[f->nmap - 1] : NULL;
    f->outputs *= 2;
    if (last && last->dst == 2 * dst && last->src[0] == 2 * src)
        *last = (tni_fold_axis){2 * last->n, dst, {src}};
    else
        f->map[f->nmap++] = (tni_fold_axis){2, dst, {src}};
}

void tni_fold_axes(tni_fold *f, const tn_tensor *dst, const tn_tensor *const *srcs,
                   uint64_t folded, bool as_parts)
{
    const tn_tensor *operands[1 + TNI_FOLD_SOURCES] = {dst};
    tni_nest nest;
    for (int k = 0; k < f->nsrc; k++)
        operands[1 + k] = srcs[k];
    tni_nest_build(
        &nest, 1 + f->nsrc, operands,
        &(tni_nest_rules){.fold = folded, .lead = 1, .free_fold = !f->class->ordered});
    f->nfold = f->nmap = 0;
    f->count = f->outputs = 1;
    for (int i = 0; i < srcs[0]->ndim; i++)
        *(folded >> i & 1 ? &f->count : &f->outputs) *= srcs[0]->shape[i];
    for (int i = 0; i < nest.ndim; i++)
        take_axis(f, &nest.axis[i]);
    memcpy(f->shift, nest.shift, (size_t)(1 + f->nsrc) * sizeof *f->shift);
    if (as_parts)
        add_parts(f);
    f->dense = f->nfold == 0 || (f->nfold == 1 && f->fold[0].src[0] == f->width &&
                                 (f->nsrc == 1 || f->fold[0].src[1] == f->width));
}

/* ---- walking a sequence ---- */

void tni_fold_seek(tni_fold_cursor *c, const tni_fold *f, const char *const *x, int64_t at)
{
    c->f = f;
    for (int k = 0; k < f->nsrc; k++)
        c->begin[k] = x[k];
    for (int j = 0; j < f->nfold; j++) {
        c->axis[j].n = f->fold[j].n;
        for (int k = 0; k < f->nsrc; k++)
            c->axis[j].step[k] = f->fold[j].src[k];
    }
    tni_walk_seek(&c->walk, c->axis, f->nfold, f->nsrc, at);
}

__attribute__((noinline)) const char *tni_fold_address(const tni_fold *f, const char *const *x,
                                                       int64_t at)
{
    tni_fold_cursor c;
    tni_fold_seek(&c, f, x, at);
    return tni_fold_at(&c, 0);
}

void tni_fold_skip(tni_fold_cursor *c, int64_t n)
{
    for (int64_t m; n > 0 && c->f->nfold > 0; n -= m) {
        const int64_t left = tni_walk_left(&c->walk);
        m = left < n ? left : n;
        tni_walk_advance(&c->walk, m);
    }
}

const char *tni_fold_take(tni_fold_cursor *c, int k, int64_t n, char *buf)
{
    const tni_fold *f = c->f;
    if (f->nfold == 0)
        return c->begin[k];
    if (f->fold[f->nfold - 1].src[k] == f->width && tni_walk_left(&c->walk) >= n)
        return tni_fold_at(c, k);
    tni_walk_gather(buf, c->begin[k], &c->walk, k, n, f->width, f->isa);
    return buf;
}

void tni_fold_rows(tni_fold_cursor *c, const char **row, int64_t n)
{
    if (c->f->nfold == 0) {
        row[0] = c->begin[0];
        return;
    }
    const int64_t step = c->f->fold[c->f->nfold - 1].src[0];
    for (int64_t i = 0, m; i < n; i += m) {
        const int64_t left = tni_walk_left(&c->walk);
        const char *x = tni_fold_at(c, 0);
        m = left < n - i ? left : n - i;
        for (int64_t j = 0; j < m; j++)
            row[i + j] = x + j * step;
        tni_walk_advance(&c->walk, m);
    }
}
