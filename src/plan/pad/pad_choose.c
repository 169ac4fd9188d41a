/* pad_choose.c - which way a pad goes: its blocks, its rows, its stores. */
#include <string.h>

#include "plan/plan.h"
#include "runtime/runtime.h"
#include "view/view.h"

enum {
    BLOCK = 12 * 1024,    /* most bytes of dst in a block of several rows */
    LONG_ROW = 4 * 1024,  /* rows from here on are streamed as they are */
    WHOLE_ROW = 64 * 1024 /* longer rows are cut */
};

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Unit axes in front, where there are fewer than two. */
static void fill_up(tni_pad *p)
{
    while (p->ndim < 2) {
        memmove(p->axis + 1, p->axis, (size_t)p->ndim * sizeof p->axis[0]);
        p->axis[0] = (tni_pad_axis){1, 1, 0, 0, 0};
        p->ndim++;
    }
}

/* Does src walk the last axis fastest, or not at all? */
static bool same_fastest(const tni_pad *p)
{
    const int64_t last = tni_magnitude(p->axis[p->ndim - 1].step);
    for (int i = 0; i < p->ndim - 1; i++)
        if (p->axis[i].step != 0 && tni_magnitude(p->axis[i].step) < last)
            return false;
    return true;
}

/* ---- rows ---- */

/* Pixels: an inner axis without borders, all of it dense, makes one row with the axis before
 * it, when the borders stay narrow.  Returns how many elements a place of that axis then has.
 */
static int64_t join_pixels(tni_pad *p, tni_pad_axis *places)
{
    tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    *places = *r;
    if (r->total != r->n || q->total == q->n || (q->total - q->n) * r->n > TNI_EDGES ||
        r->d_step != p->width || r->step != p->width || q->d_step != r->n * p->width ||
        (q->n > 1 && q->step != q->d_step) || q->total * q->d_step > WHOLE_ROW)
        return 1;
    const int64_t pixel = r->n;
    *places = *q;
    *q = (tni_pad_axis){q->total * pixel, q->n * pixel, q->before * pixel, p->width, p->width};
    p->ndim--;
    fill_up(p);
    return pixel;
}

static void count_items(tni_pad *p)
{
    const tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    p->rows = less(p->rows, q->total);
    p->items = tni_pieces(q->total, p->rows) * tni_pieces(r->total, p->columns);
    for (int i = 0; i < p->ndim - 2; i++)
        p->items *= p->axis[i].total;
}

/* Describe a row of dst, if it is whole, dense on both sides, and its borders are narrow. */
static void find_edges(tni_pad *p, const tni_pad_axis *places, int64_t pixel)
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
    row->width_log2 = tni_log2_width(p->width);
    row->edges = 0;
    for (int64_t i = 0; i < r->total; i++) {
        if (i == r->before)
            i += r->n;
        if (i == r->total)
            break;
        const tni_run run = tni_pad_run_at(places, p->mode, i / pixel);
        row->edge[row->edges].to = i * p->width;
        row->edge[row->edges++].from = (run.from * pixel + i % pixel) * p->width;
    }
}

static void choose_rows(tni_pad *p)
{
    tni_pad_axis places;
    const int64_t pixel = join_pixels(p, &places);
    const tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    const int64_t row = r->total * p->width, near = less(tni_cache_sizes()->l1 / 4, BLOCK);
    p->way = TNI_PAD_ROWS;
    p->columns = row <= WHOLE_ROW ? r->total : WHOLE_ROW / 2 / p->width;
    p->rows = row < near ? near / row : 1;
    count_items(p);
    p->staged = p->stream && row < LONG_ROW && r->d_step == p->width && q->d_step == row;
    p->stream = p->staged || (p->stream && row >= LONG_ROW);
    find_edges(p, &places, pixel);
}

/* The first axes that have no border and lie outside in src, too: each place of them is a pad
 * of its own.  No more of them than make it fit half of the second cache. */
static void choose_slabs(tni_pad *p)
{
    const int64_t fit = tni_cache_sizes()->l2 / 2;
    int64_t bytes = p->bytes;
    p->way = TNI_PAD_SLABS;
    for (int k = 0; k < p->ndim - 2 && bytes > fit && p->axis[k].total == p->axis[k].n; k++) {
        const int64_t step = tni_magnitude(p->axis[k].step);
        for (int i = k + 1; i < p->ndim; i++)
            if (tni_magnitude(p->axis[i].step) > step / p->axis[i].n)
                return;
        bytes /= p->axis[k].n;
        p->items *= p->axis[k].n;
        p->outer = k + 1;
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
    const bool fill = tni_numel(src) == 0;
    p->mode = mode;
    p->dtype = dst->dtype;
    p->width = tni_width(dst->dtype);
    p->bytes = tni_numel(dst) * p->width;
    p->src_bytes = tni_numel(src) * p->width;
    p->staged = p->edged = false;
    p->stream = p->bytes >= tni_cache_sizes()->stream;
    p->items = p->rows = p->columns = 1;
    p->outer = 0;
    set_value(p, value);
    p->way = p->bytes == 0 ? TNI_PAD_NOTHING : TNI_PAD_FILL;
    if (p->bytes == 0)
        return;
    tni_pad_axes(p, dst, fill ? dst : src, fill ? (const int64_t[TN_MAX_NDIM]){0} : before);
    fill_up(p);
    if (!fill && same_fastest(p))
        choose_rows(p);
    else if (!fill)
        choose_slabs(p);
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
    case TNI_PAD_SLABS:
        tni_pad_slabs(p, dst + p->d_shift, src + p->shift);
        return;
    default:
        tni_pad_blocks(p, dst + p->d_shift, src + p->shift);
    }
}
