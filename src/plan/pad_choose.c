/* pad_choose.c - a pad in normal form: axes by falling steps of dst, neighbours merged, and the
 * way through them.
 *
 * Reversing an axis exchanges its two borders and changes nothing else: every mode is
 * symmetric.
 */
#include <string.h>

#include "plan.h"
#include "runtime/runtime.h"
#include "view/view.h"

enum {
    BLOCK = 12 * 1024,    /* most bytes of dst in a block of several rows */
    LONG_ROW = 4 * 1024,  /* rows from here on are streamed as they are */
    WHOLE_ROW = 64 * 1024 /* longer rows are cut */
};

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool outside(const tni_pad_axis *a, const tni_pad_axis *b)
{
    if (a->d_step != b->d_step)
        return a->d_step > b->d_step;
    return magnitude(a->step) > magnitude(b->step);
}

static void insert(tni_pad *p, const tni_pad_axis *a)
{
    int i = p->ndim++;
    for (; i > 0 && outside(a, &p->axis[i - 1]); i--)
        p->axis[i] = p->axis[i - 1];
    p->axis[i] = *a;
}

/* Whether inner, which has no borders, can be walked as a part of outer; a border of the value
 * is one also when it is counted in smaller places. */
static bool walk_as_one(const tni_pad *p, const tni_pad_axis *outer, const tni_pad_axis *inner)
{
    if (inner->total != inner->n || outer->d_step != inner->total * inner->d_step)
        return false;
    if (outer->total != outer->n)
        return p->mode == TN_PAD_CONSTANT &&
               (outer->n == 1 || outer->step == inner->n * inner->step);
    return outer->step == inner->n * inner->step;
}

static void merge(tni_pad *p)
{
    int kept = 0;
    for (int i = 1; i < p->ndim; i++) {
        tni_pad_axis *outer = &p->axis[kept], *inner = &p->axis[i];
        if (walk_as_one(p, outer, inner)) {
            outer->total *= inner->n;
            outer->before *= inner->n;
            outer->n *= inner->n;
            outer->d_step = inner->d_step;
            outer->step = inner->step;
        } else {
            p->axis[++kept] = *inner;
        }
    }
    if (p->ndim > 0)
        p->ndim = kept + 1;
    while (p->ndim < 2) {
        memmove(p->axis + 1, p->axis, (size_t)p->ndim * sizeof p->axis[0]);
        p->axis[0] = (tni_pad_axis){1, 1, 0, 0, 0};
        p->ndim++;
    }
}

static void gather_axes(tni_pad *p, const tn_tensor *dst, const tn_tensor *src,
                        const int64_t *before)
{
    for (int i = 0; i < dst->ndim; i++) {
        tni_pad_axis a = {dst->shape[i], src->shape[i], before[i], dst->stride[i],
                          src->stride[i]};
        if (a.total == 1)
            continue;
        if (a.n == 1)
            a.step = 0;
        if (a.d_step < 0) {
            p->d_shift += (a.total - 1) * a.d_step;
            p->shift += (a.n - 1) * a.step;
            a.before = a.total - a.n - a.before;
            a.d_step = -a.d_step;
            a.step = -a.step;
        }
        insert(p, &a);
    }
}

/* Does src walk the last axis fastest, or not at all? */
static bool same_fastest(const tni_pad *p)
{
    const int64_t last = magnitude(p->axis[p->ndim - 1].step);
    for (int i = 0; i < p->ndim - 1; i++)
        if (p->axis[i].step != 0 && magnitude(p->axis[i].step) < last)
            return false;
    return true;
}

static void shape_blocks(tni_pad *p)
{
    const tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    const int64_t row = r->total * p->width;
    const int64_t near = less(tni_cache_sizes()->l1 / 4, BLOCK);
    p->columns = row <= WHOLE_ROW ? r->total : WHOLE_ROW / 2 / p->width;
    p->rows = row < near ? near / row : 1;
    if (p->rows > q->total)
        p->rows = q->total;
    p->items = (q->total + p->rows - 1) / p->rows * ((r->total + p->columns - 1) / p->columns);
    for (int i = 0; i < p->ndim - 2; i++)
        p->items *= p->axis[i].total;
    p->staged = p->stream && row < LONG_ROW && r->d_step == p->width && q->d_step == row;
    p->stream = p->staged || (p->stream && row >= LONG_ROW);
}

/* Describe a row of dst, if it is whole, dense on both sides, and its borders are narrow. */
static void find_edges(tni_pad *p)
{
    const tni_pad_axis *r = &p->axis[p->ndim - 1];
    tni_row *row = &p->row;
    p->edged = r->total - r->n <= TNI_EDGES && p->columns == r->total &&
               r->d_step == p->width && (r->step == p->width || r->n == 1);
    if (!p->edged)
        return;
    row->bytes = r->total * p->width;
    row->left = r->before * p->width;
    row->body = r->n * p->width;
    row->width_log2 = tni_width_log2(p->width);
    row->edges = 0;
    for (int64_t i = 0; i < r->total; i++)
        if (i < r->before || i >= r->before + r->n) {
            row->edge[row->edges].to = i * p->width;
            row->edge[row->edges++].from = tni_pad_run_at(r, p->mode, i).from * p->width;
        } else {
            i += r->n - 1;
        }
}

static void set_value(tni_pad *p, const void *value)
{
    memset(p->value, 0, sizeof p->value);
    if (!value || p->mode != TN_PAD_CONSTANT)
        return;
    memcpy(p->value, value, (size_t)p->width);
    for (size_t n = (size_t)p->width; n < sizeof p->value; n *= 2)
        memcpy(p->value + n, p->value, n);
}

void tni_pad_plan(tni_pad *p, const tn_tensor *dst, const tn_tensor *src, const int64_t *before,
                  tn_pad_mode mode, const void *value)
{
    p->mode = mode;
    p->dtype = dst->dtype;
    p->width = tni_width(dst->dtype);
    p->d_shift = p->shift = 0;
    p->ndim = 0;
    p->staged = p->stream = false;
    p->items = p->rows = p->columns = 1;
    p->edged = false;
    set_value(p, value);
    p->bytes = tni_numel(dst) * p->width;
    if (p->bytes == 0) {
        p->way = TNI_PAD_NOTHING;
        return;
    }
    const bool fill = tni_numel(src) == 0;
    gather_axes(p, dst, fill ? dst : src, fill ? (const int64_t[TN_MAX_NDIM]){0} : before);
    merge(p);
    if (fill) {
        p->way = TNI_PAD_FILL;
        return;
    }
    p->stream = p->bytes >= tni_cache_sizes()->stream;
    p->way = same_fastest(p) ? TNI_PAD_ROWS : TNI_PAD_SLABS;
    if (p->way == TNI_PAD_ROWS) {
        shape_blocks(p);
        find_edges(p);
    }
}

/* The value over all of dst. */
static void fill(const tni_pad *p, char *d)
{
    tn_tensor dst = {.dtype = p->dtype, .ndim = p->ndim}, src = dst;
    for (int i = 0; i < p->ndim; i++) {
        dst.shape[i] = src.shape[i] = p->axis[i].total;
        dst.stride[i] = p->axis[i].d_step;
        src.stride[i] = 0;
    }
    tni_copy copy;
    tni_copy_plan(&copy, &dst, &src);
    tni_copy_run(&copy, d, p->value);
}

void tni_pad_run(const tni_pad *p, char *dst, const char *src)
{
    switch (p->way) {
    case TNI_PAD_NOTHING:
        return;
    case TNI_PAD_FILL:
        fill(p, dst + p->d_shift);
        return;
    case TNI_PAD_ROWS:
        tni_pad_rows(p, dst + p->d_shift, src + p->shift);
        return;
    default:
        tni_pad_slabs(p, dst + p->d_shift, src + p->shift);
    }
}

/* i modulo n, never negative. */
static int64_t modulo(int64_t i, int64_t n)
{
    const int64_t r = i % n;
    return r < 0 ? r + n : r;
}

tni_run tni_pad_run_at(const tni_pad_axis *a, tn_pad_mode mode, int64_t at)
{
    const int64_t n = a->n, i = at - a->before;
    const int64_t border = i < 0 ? -i : a->total - at; /* places to its end */
    if (i >= 0 && i < n)
        return (tni_run){.n = n - i, .from = i, .by = 1};
    if (mode == TN_PAD_CONSTANT)
        return (tni_run){.value = true, .n = border};
    if (mode == TN_PAD_EDGE || n == 1)
        return (tni_run){.n = border, .from = i < 0 ? 0 : n - 1, .by = 0};
    const int64_t back = mode == TN_PAD_REFLECT ? 2 * n - 2 : 2 * n - 1;
    const int64_t period = mode == TN_PAD_WRAP ? n : mode == TN_PAD_REFLECT ? back : 2 * n;
    const int64_t r = modulo(i, period);
    tni_run run = {.n = n - r, .from = r, .by = 1};
    if (r >= n)
        run = (tni_run){.n = period - r, .from = back - r, .by = -1};
    if (run.n > border)
        run.n = border;
    return run;
}
