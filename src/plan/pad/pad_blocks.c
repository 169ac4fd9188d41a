/* pad_blocks.c - a pad in one walk through dst: blocks of two axes, each made of boxes of runs.
 *
 * Beyond the cache, short rows are put together in a buffer and go out in whole lines; the end
 * of a line waits there for the next block. */
#include <string.h>

#include "plan/plan.h"
#include "runtime/runtime.h"

enum {
    LINE = 64,
    NARROW = 4 /* a border of so few columns is written column by column */
};

typedef struct job {
    const tni_pad *p;
    const tni_copy_kernels *k;
    const tni_rows_kernels *rows;
    tni_tile_fn tile;
    int width_log2, parts;
    char *d;
    const char *s;
} job;

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- one block ---- */

/* A box of `rows` x `columns` places; src steps in bytes. */
static void copy_box(const job *j, char *d, const char *s, const int64_t s_step[2],
                     int64_t rows, int64_t columns)
{
    const tni_pad_axis *q = &j->p->axis[j->p->ndim - 2], *r = q + 1;
    const bool dense = r->d_step == j->p->width && s_step[1] == j->p->width;
    const int64_t row = columns * j->p->width;
    const bool joined =
        dense && q->d_step == row && s_step[0] == row; /* no gaps between rows */
    const int64_t n = joined ? 1 : rows, bytes = joined ? rows * row : row;
    if (columns <= NARROW && !joined)
        for (int64_t c = 0; c < columns; c++)
            j->rows->column(d + c * r->d_step, q->d_step, s + c * s_step[1], s_step[0], rows,
                            j->width_log2);
    else if (!dense)
        j->tile(d, (int64_t[2]){q->d_step, r->d_step}, s, s_step, (int64_t[2]){rows, columns});
    else if (j->p->stream && !j->p->staged)
        for (int64_t i = 0; i < n; i++)
            j->k->stream(d + i * q->d_step, s + i * s_step[0], bytes);
    else
        j->rows->rows(d, q->d_step, s, s_step[0], n, bytes);
}

static void fill_box(const job *j, char *d, int64_t rows, int64_t columns)
{
    const tni_pad_axis *q = &j->p->axis[j->p->ndim - 2], *r = q + 1;
    const bool streaming = j->p->stream && !j->p->staged;
    if (r->d_step == j->p->width && columns * j->p->width <= TNI_PAD_VALUES)
        j->rows->rows(d, q->d_step, j->p->value, 0, rows, columns * j->p->width);
    else if (r->d_step == j->p->width && (rows == 1 || q->d_step == columns * j->p->width))
        j->k->fill(d, j->p->value, j->width_log2, rows * columns, streaming);
    else
        copy_box(j, d, j->p->value, (int64_t[2]){0, 0}, rows, columns);
}

/* The runs that cover places [from, to) of the rows of a block whose first place is `column`.
 */
static void copy_runs(const job *j, char *d, const char *s, int64_t s_row, int64_t rows,
                      int64_t column, int64_t from, int64_t to)
{
    const tni_pad_axis *r = &j->p->axis[j->p->ndim - 1];
    while (from < to) {
        const tni_run run = tni_pad_run_at(r, j->p->mode, from);
        const int64_t n = less(run.n, to - from);
        char *here = d + (from - column) * r->d_step;
        if (run.value)
            fill_box(j, here, rows, n);
        else
            copy_box(j, here, s + run.from * r->step, (int64_t[2]){s_row, run.by * r->step},
                     rows, n);
        from += n;
    }
}

/* Rows with narrow borders of the value.  Where they follow each other without a gap, the end
 * of one and the beginning of the next are one piece. */
static void fill_edges(const job *j, char *d, int64_t rows, bool joined)
{
    const tni_row *row = &j->p->row;
    const int64_t step = j->p->axis[j->p->ndim - 2].d_step;
    const int64_t right = row->bytes - row->left - row->body;
    j->rows->rows(d, step, j->p->value, 0, joined ? 1 : rows, row->left);
    d += row->left + row->body + (joined ? (rows - 1) * step : 0);
    j->rows->rows(d, step, j->p->value, 0, joined ? 1 : rows, right);
}

/* The interior of rows goes first: it walks through lines in order, and the borders then find
 * them in the cache. */
static void copy_rows(const job *j, char *d, const char *s, int64_t s_row, int64_t rows,
                      int64_t column, int64_t columns)
{
    const tni_pad_axis *r = &j->p->axis[j->p->ndim - 1];
    if (j->p->edged) {
        const tni_row *row = &j->p->row;
        const int64_t step = j->p->axis[j->p->ndim - 2].d_step;
        const bool value = j->p->mode == TN_PAD_CONSTANT;
        const bool joined = step == row->bytes && r->step == j->p->width && !j->p->stream;
        if (joined)
            j->rows->gapped(d + row->left, step, s, s_row, rows, row->body,
                            value ? j->p->value : NULL);
        else
            copy_box(j, d + row->left, s, (int64_t[2]){s_row, r->step}, rows, r->n);
        if (value)
            fill_edges(j, d, rows, joined);
        else
            j->rows->edges(d, step, row, s, s_row, rows);
        return;
    }
    const int64_t end = column + columns;
    const int64_t in = less(column > r->before ? column : r->before, end);
    const int64_t out = less(in > r->before + r->n ? in : r->before + r->n, end);
    copy_runs(j, d, s, s_row, rows, column, in, out);
    copy_runs(j, d, s, s_row, rows, column, column, in);
    copy_runs(j, d, s, s_row, rows, column, out, end);
}

/* The block of rows x columns places from (row, column) on, at d; s is NULL where an outer axis
 * is in a border of the value. */
static void copy_block(const job *j, char *d, const char *s, int64_t row, int64_t rows,
                       int64_t column, int64_t columns)
{
    const tni_pad_axis *q = &j->p->axis[j->p->ndim - 2];
    if (!s) {
        fill_box(j, d, rows, columns);
        return;
    }
    for (int64_t done = 0; done < rows;) {
        tni_run run = tni_pad_run_at(q, j->p->mode, row + done);
        if (run.n > rows - done)
            run.n = rows - done;
        char *to = d + done * q->d_step;
        if (run.value)
            fill_box(j, to, run.n, columns);
        else
            copy_rows(j, to, s + run.from * q->step, run.by * q->step, run.n, column, columns);
        done += run.n;
    }
}

/* ---- the same through a buffer, for blocks of whole rows that lie dense in dst ---- */

static void begin(tni_sink *k, char *d)
{
    k->first = k->end = (int64_t)((uintptr_t)d % LINE);
    k->d = d - k->first;
}

static void drain(const job *j, tni_sink *k)
{
    j->rows->flush(k);
    if (k->end > k->first)
        memcpy(k->d + k->first, k->bytes + k->first, (size_t)(k->end - k->first));
}

static void append_values(const job *j, tni_sink *k, int64_t bytes)
{
    while (bytes > 0) {
        const int64_t n = less(bytes, TNI_PAD_VALUES);
        j->rows->rows(k->bytes + k->end, 0, j->p->value, 0, 1, n);
        k->end += n;
        bytes -= n;
        if (k->end > TNI_SINK / 4)
            j->rows->flush(k);
    }
}

static void append_block(const job *j, tni_sink *k, char *d, const char *s, int64_t row,
                         int64_t rows)
{
    const tni_pad *p = j->p;
    const tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    const int64_t bytes = r->total * p->width;
    if (k->d + k->end != d) {
        drain(j, k);
        begin(k, d);
    }
    if (!s) {
        append_values(j, k, rows * bytes);
    } else if (!p->edged) {
        j->rows->flush(k); /* values may wait there; a block takes all the room there is */
        copy_block(j, k->bytes + k->end, s, row, rows, 0, r->total);
        k->end += rows * bytes;
        j->rows->flush(k);
    } else {
        for (int64_t done = 0; done < rows;) {
            const tni_run run = tni_pad_run_at(q, p->mode, row + done);
            const int64_t n = less(run.n, rows - done);
            if (run.value)
                append_values(j, k, n * bytes);
            else
                j->rows->append(k, &p->row, s + run.from * q->step, run.by * q->step, n,
                                p->mode == TN_PAD_CONSTANT ? p->value : NULL);
            done += n;
        }
    }
}

/* ---- all blocks ---- */

/* Where a walk is: indices of the outer axes, and what they make of the two addresses. */
typedef struct place {
    int64_t index[TN_MAX_NDIM], row, column;
    char *d;
    const char *s; /* NULL: in a border of the value */
} place;

static void look_up(const job *j, place *at)
{
    const tni_pad *p = j->p;
    int64_t d = 0, s = 0;
    bool value = false;
    for (int i = 0; i < p->ndim - 2; i++) {
        const tni_run run = tni_pad_run_at(&p->axis[i], p->mode, at->index[i]);
        d += at->index[i] * p->axis[i].d_step;
        s += run.from * p->axis[i].step;
        value |= run.value;
    }
    at->d = j->d + d;
    at->s = value ? NULL : j->s + s;
}

static void find(const job *j, place *at, int64_t item)
{
    const tni_pad *p = j->p;
    const tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    const int64_t across = tni_pieces(r->total, p->columns);
    const int64_t down = tni_pieces(q->total, p->rows);
    at->column = item % across * p->columns;
    item /= across;
    at->row = item % down * p->rows;
    item /= down;
    for (int i = p->ndim - 3; i >= 0; i--) {
        at->index[i] = item % p->axis[i].total;
        item /= p->axis[i].total;
    }
    look_up(j, at);
}

static void advance(const job *j, place *at)
{
    const tni_pad *p = j->p;
    const tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    at->column += p->columns;
    if (at->column < r->total)
        return;
    at->column = 0;
    at->row += p->rows;
    if (at->row < q->total)
        return;
    at->row = 0;
    for (int i = p->ndim - 3; i >= 0; i--) {
        if (++at->index[i] < p->axis[i].total)
            break;
        at->index[i] = 0;
    }
    look_up(j, at);
}

static void run_part(void *arg, int part)
{
    const job *j = arg;
    const tni_pad *p = j->p;
    const tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    int64_t first, last;
    tni_split_range(p->items, j->parts, part, &first, &last);
    place at;
    tni_sink k;
    find(j, &at, first);
    begin(&k, at.d + at.row * q->d_step);
    for (int64_t item = first; item < last; item++) {
        const int64_t rows = less(p->rows, q->total - at.row);
        const int64_t columns = less(p->columns, r->total - at.column);
        char *d = at.d + at.row * q->d_step + at.column * r->d_step;
        if (p->staged)
            append_block(j, &k, d, at.s, at.row, rows);
        else
            copy_block(j, d, at.s, at.row, rows, at.column, columns);
        advance(j, &at);
    }
    if (p->staged)
        drain(j, &k);
    if (p->stream)
        j->k->fence();
}

void tni_pad_blocks(const tni_pad *p, char *d, const char *s)
{
    job j = {.p = p, .k = tni_kernels_of((int)tni_isa_level())->copy, .d = d, .s = s};
    j.rows = tni_kernels_of((int)tni_isa_level())->rows;
    j.width_log2 = tni_log2_width(p->width);
    j.tile = j.k->tile[j.width_log2];
    j.parts = tni_plan_parts(tni_times(p->bytes, 2), p->items);
    tni_parallel(j.parts, run_part, &j);
}
