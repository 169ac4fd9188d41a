/* pad_rows_plan.c - plans a pad by rows: its blocks, its rows, its stores. */
#include "plan/plan.h"
#include "runtime/runtime.h"

/* Bytes (docs/investigations/pad-rows.md has the measurements). */
enum {
    BLOCK = 12 * 1024,    /* a block of several rows: the row buffer; at most L1 / 4 */
    LONG_ROW = 4 * 1024,  /* rows of at least this length are streamed directly */
    WHOLE_ROW = 64 * 1024 /* longer rows are split */
};

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether the last axis is the fastest in src, or broadcast there. */
static bool same_fastest(const tni_pad *p)
{
    const int64_t last = tni_abs_step(p->nest.axis[p->nest.ndim - 1].step[1]);
    for (int i = 0; i < p->nest.ndim - 1; i++)
        if (p->nest.axis[i].step[1] != 0 && tni_abs_step(p->nest.axis[i].step[1]) < last)
            return false;
    return true;
}

/* Join an inner axis without borders, the channels of pixels, and the axis before it into one
 * row, if all is dense and the borders stay narrow.  Returns how many elements an index of that
 * axis then has, and the axis before the join in *pixels. */
static int64_t join_pixels(tni_pad *p, tni_axis *pixels)
{
    tni_axis *q = &p->nest.axis[p->nest.ndim - 2], *r = q + 1;
    *pixels = *r;
    if (r->n != r->held || q->n == q->held || (q->n - q->held) * r->held > TNI_PAD_EDGES ||
        r->step[0] != p->width || r->step[1] != p->width || q->step[0] != r->held * p->width ||
        (q->held > 1 && q->step[1] != q->step[0]) || q->n * q->step[0] > WHOLE_ROW)
        return 1;
    const int64_t pixel = r->held;
    *pixels = *q;
    *q = (tni_axis){.n = q->n * pixel,
                    .held = q->held * pixel,
                    .before = q->before * pixel,
                    .role = TNI_PAD,
                    .step = {p->width, p->width}};
    p->nest.ndim--;
    tni_pad_fill_up(p);
    return pixel;
}

static void count_items(tni_pad *p)
{
    const tni_axis *q = &p->nest.axis[p->nest.ndim - 2], *r = q + 1;
    p->rows = less(p->rows, q->n);
    ASSERT(p->rows >= 1 && p->columns >= 1 && p->columns <= r->n);
    p->items = tni_ceil_div(q->n, p->rows) * tni_ceil_div(r->n, p->columns);
    for (int i = 0; i < p->nest.ndim - 2; i++)
        p->items *= p->nest.axis[i].n;
}

/* Describe a row of dst if it is whole, dense on both sides, and has narrow borders. */
static void find_edges(tni_pad *p, const tni_axis *pixels, int64_t pixel)
{
    const tni_axis *r = &p->nest.axis[p->nest.ndim - 1];
    tni_pad_row *row = &p->row;
    p->edged = r->n - r->held <= TNI_PAD_EDGES && p->columns == r->n &&
               r->step[0] == p->width && (r->step[1] == p->width || r->held == 1);
    if (!p->edged)
        return;
    row->bytes = r->n * p->width;
    row->left = r->before * p->width;
    row->body = r->held * p->width;
    row->width_log2 = tni_log2_width(p->width);
    row->edges = 0;
    for (int64_t i = 0; i < r->n; i++) {
        if (i == r->before)
            i += r->held;
        if (i == r->n)
            break;
        const tni_segment run = tni_pad_segment(pixels, p->mode, i / pixel);
        row->edge[row->edges].to = i * p->width;
        row->edge[row->edges++].from = (run.from * pixel + i % pixel) * p->width;
    }
}

bool tni_pad_rows_plan(tni_pad *p)
{
    tni_axis pixels;
    if (!same_fastest(p))
        return false;
    const int64_t pixel = join_pixels(p, &pixels);
    const tni_axis *q = &p->nest.axis[p->nest.ndim - 2], *r = q + 1;
    const int64_t row = r->n * p->width, near = less(tni_cache_sizes()->l1 / 4, BLOCK);
    p->columns = row <= WHOLE_ROW ? r->n : WHOLE_ROW / 2 / p->width;
    p->rows = row < near ? near / row : 1;
    count_items(p);
    p->staged = p->stream && row < LONG_ROW && r->step[0] == p->width && q->step[0] == row;
    p->stream = p->staged || (p->stream && row >= LONG_ROW);
    find_edges(p, &pixels, pixel);
    return true;
}
