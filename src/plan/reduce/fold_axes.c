/* fold_axes.c - the axes of a reduction: normal form, and walking a sequence.
 *
 * Fold axes keep the order of the sequence unless it does not matter; map axes go by falling
 * steps of the source.  Unit axes are dropped, neighbours that walk as one are merged. */
#include <string.h>

#include "plan/plan.h"

/* Walk the axis from its other end, for all operands. */
static void face_forward(tni_fold *f, tni_fold_axis *a)
{
    if (a->src[0] >= 0)
        return;
    f->shift[0] += (a->n - 1) * a->dst;
    a->dst = -a->dst;
    for (int k = 0; k < f->nsrc; k++) {
        f->shift[1 + k] += (a->n - 1) * a->src[k];
        a->src[k] = -a->src[k];
    }
}

/* Larger steps outside; among equal ones the longer axis. */
static bool outside(const tni_fold_axis *a, const tni_fold_axis *b)
{
    const int64_t x = tni_magnitude(a->src[0]), y = tni_magnitude(b->src[0]);
    if (x != y)
        return x > y;
    const int64_t dx = tni_magnitude(a->dst), dy = tni_magnitude(b->dst);
    return dx != dy ? dx > dy : a->n > b->n;
}

static void sort_axes(tni_fold_axis *axis, int n)
{
    for (int i = 1; i < n; i++) {
        const tni_fold_axis a = axis[i];
        int j = i;
        for (; j > 0 && outside(&a, &axis[j - 1]); j--)
            axis[j] = axis[j - 1];
        axis[j] = a;
    }
}

static bool walk_as_one(const tni_fold_axis *outer, const tni_fold_axis *inner, int nsrc)
{
    int64_t end;
    if (!tni_mul(inner->n, inner->dst, &end) || outer->dst != end)
        return false;
    for (int k = 0; k < nsrc; k++)
        if (!tni_mul(inner->n, inner->src[k], &end) || outer->src[k] != end)
            return false;
    return true;
}

static int merge_axes(tni_fold_axis *axis, int n, int nsrc)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (kept > 0 && walk_as_one(&axis[kept - 1], &axis[i], nsrc)) {
            const int64_t both = axis[kept - 1].n * axis[i].n;
            axis[kept - 1] = axis[i];
            axis[kept - 1].n = both;
        } else {
            axis[kept++] = axis[i];
        }
    }
    return kept;
}

void tni_fold_axes(tni_fold *f, const tn_tensor *dst, const tn_tensor *const *srcs,
                   uint64_t folded, bool as_parts)
{
    f->nfold = f->nmap = 0;
    f->count = f->outputs = 1;
    for (int i = 0; i < srcs[0]->ndim; i++) {
        const bool fold = folded >> i & 1;
        tni_fold_axis a = {.n = srcs[0]->shape[i], .dst = fold ? 0 : dst->stride[i]};
        for (int k = 0; k < f->nsrc; k++)
            a.src[k] = srcs[k]->stride[i];
        *(fold ? &f->count : &f->outputs) *= a.n;
        if (a.n == 1)
            continue;
        if (!fold || !f->class->ordered)
            face_forward(f, &a);
        if (fold)
            f->fold[f->nfold++] = a;
        else
            f->map[f->nmap++] = a;
    }
    if (as_parts) {
        f->map[f->nmap++] = (tni_fold_axis){2, f->dst == TN_F64 ? 8 : 4, {f->width}};
        f->outputs *= 2;
    }
    if (!f->class->ordered)
        sort_axes(f->fold, f->nfold);
    sort_axes(f->map, f->nmap);
    f->nfold = merge_axes(f->fold, f->nfold, f->nsrc);
    f->nmap = merge_axes(f->map, f->nmap, f->nsrc);
    f->dense = f->nfold == 0 || (f->nfold == 1 && f->fold[0].src[0] == f->width &&
                                 (f->nsrc == 1 || f->fold[0].src[1] == f->width));
}

/* ---- walking ---- */

void tni_fold_seek(tni_fold_cursor *c, const tni_fold *f, const char *const *p, int64_t at)
{
    c->f = f;
    for (int k = 0; k < f->nsrc; k++)
        c->p[k] = p[k];
    for (int j = f->nfold - 1; j >= 0; j--) {
        c->i[j] = at % f->fold[j].n;
        at /= f->fold[j].n;
        for (int k = 0; k < f->nsrc; k++)
            c->p[k] += c->i[j] * f->fold[j].src[k];
    }
}

/* n elements further on the innermost axis, which has as many left. */
static void advance(tni_fold_cursor *c, int64_t n)
{
    const tni_fold *f = c->f;
    int j = f->nfold - 1;
    for (int k = 0; k < f->nsrc; k++)
        c->p[k] += n * f->fold[j].src[k];
    c->i[j] += n;
    for (; j > 0 && c->i[j] == f->fold[j].n; j--) {
        c->i[j] = 0;
        c->i[j - 1]++;
        for (int k = 0; k < f->nsrc; k++)
            c->p[k] += f->fold[j - 1].src[k] - f->fold[j].n * f->fold[j].src[k];
    }
}

static int64_t left_of_run(const tni_fold_cursor *c)
{
    const int j = c->f->nfold - 1;
    return c->f->fold[j].n - c->i[j];
}

void tni_fold_skip(tni_fold_cursor *c, int64_t n)
{
    if (c->f->nfold == 0)
        return;
    while (n > 0) {
        const int64_t run = left_of_run(c), m = run < n ? run : n;
        advance(c, m);
        n -= m;
    }
}

/* n elements at the cursor into dense memory; the cursor stays. */
static void gather(const tni_fold_cursor *from, int k, int64_t n, char *d)
{
    const tni_fold *f = from->f;
    const tni_copy_kernels *kernels = tni_kernels_of(f->isa)->copy;
    const tni_tile_fn tile = kernels->tile[tni_log2_width(f->width)];
    const int last = f->nfold - 1;
    const int64_t inner = f->fold[last].n, step = f->fold[last].src[k];
    tni_fold_cursor c;
    c.f = f;
    memcpy(c.i, from->i, (size_t)f->nfold * sizeof c.i[0]);
    memcpy(c.p, from->p, sizeof c.p);
    while (n > 0) {
        int64_t rows = 1, m = left_of_run(&c);
        if (m > n)
            m = n;
        if (m == inner && last > 0) { /* whole runs, as many as follow each other */
            const int64_t follow = f->fold[last - 1].n - c.i[last - 1];
            rows = n / inner < follow ? n / inner : follow;
        }
        const int64_t d_step[2] = {m * f->width, f->width};
        const int64_t s_step[2] = {last > 0 ? f->fold[last - 1].src[k] : 0, step};
        tile(d, d_step, c.p[k], s_step, (const int64_t[2]){rows, m});
        d += rows * m * f->width;
        n -= rows * m;
        for (int64_t r = 0; r < rows; r++)
            advance(&c, m);
    }
}

const char *tni_fold_take(tni_fold_cursor *c, int k, int64_t n, char *buf)
{
    const tni_fold *f = c->f;
    if (f->nfold == 0)
        return c->p[k];
    if (f->fold[f->nfold - 1].src[k] == f->width && left_of_run(c) >= n)
        return c->p[k];
    gather(c, k, n, buf);
    return buf;
}

void tni_fold_rows(tni_fold_cursor *c, const char **row, int64_t n)
{
    if (c->f->nfold == 0) {
        row[0] = c->p[0];
        return;
    }
    const int64_t step = c->f->fold[c->f->nfold - 1].src[0];
    for (int64_t i = 0; i < n;) {
        const int64_t left = left_of_run(c), m = left < n - i ? left : n - i;
        for (int64_t j = 0; j < m; j++)
            row[i + j] = c->p[0] + j * step;
        advance(c, m);
        i += m;
    }
}
