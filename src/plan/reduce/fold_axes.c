/* fold_axes.c - the axes of a reduction, taken from its nest, and walking a sequence.
 *
 * The nest is led by the source.  FOLD axes keep the order of the sequence unless it does not
 * matter to the reduction. */
#include <string.h>

#include "plan/plan.h"

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

/* The two parts of complex numbers are an axis of their own, the innermost. */
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
        if (rows > 1 && s_step[0] == f->width)
            kernels->transpose[tni_log2_width(f->width)](d, d_step[0], c.p[k], step, m, rows,
                                                         0);
        else
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
