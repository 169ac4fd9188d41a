/* pad_rows.c - pads in one walk through dst: in blocks of two axes, each made of boxes.
 *
 * Beyond the cache, short rows are assembled in a buffer and streamed in whole lines; a partial
 * line at the end waits there for the next block. */
#include <string.h>

#include "plan/plan.h"
#include "runtime/runtime.h"

enum {
    /* A border of at most this many columns is written column by column.  Not measured: rows of
     * four f32 are one vector of 16 bytes. */
    NARROW = 4
};

typedef struct job {
    const tni_pad *p;
    const tni_copy_kernels *k;
    const tni_pad_kernels *kernels;
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

/* Copy a box of rows x columns elements; s_step is in bytes. */
static void copy_box(const job *j, char *d, const char *s, const int64_t s_step[2],
                     int64_t rows, int64_t columns)
{
    const tni_axis *q = &j->p->nest.axis[j->p->nest.ndim - 2], *r = q + 1;
    const bool dense = r->step[0] == j->p->width && s_step[1] == j->p->width;
    const int64_t row = columns * j->p->width;
    const bool joined =
        dense && q->step[0] == row && s_step[0] == row; /* no gaps between rows */
    const int64_t n = joined ? 1 : rows, bytes = joined ? rows * row : row;
    if (columns <= NARROW && !joined)
        for (int64_t c = 0; c < columns; c++)
            j->kernels->column(d + c * r->step[0], q->step[0], s + c * s_step[1], s_step[0],
                               rows, j->width_log2);
    else if (!dense)
        j->tile(d, (int64_t[2]){q->step[0], r->step[0]}, s, s_step,
                (int64_t[2]){rows, columns});
    else if (j->p->stream && !j->p->staged)
        for (int64_t i = 0; i < n; i++)
            j->k->stream(d + i * q->step[0], s + i * s_step[0], bytes);
    else
        j->kernels->rows(d, q->step[0], s, s_step[0], n, bytes);
}

static void fill_box(const job *j, char *d, int64_t rows, int64_t columns)
{
    const tni_axis *q = &j->p->nest.axis[j->p->nest.ndim - 2], *r = q + 1;
    const bool streaming = j->p->stream && !j->p->staged;
    if (r->step[0] == j->p->width && columns * j->p->width <= TNI_PAD_VALUES)
        j->kernels->rows(d, q->step[0], j->p->value, 0, rows, columns * j->p->width);
    else if (r->step[0] == j->p->width && (rows == 1 || q->step[0] == columns * j->p->width))
        j->k->fill(d, j->p->value, j->width_log2, rows * columns, streaming);
    else
        copy_box(j, d, j->p->value, (int64_t[2]){0, 0}, rows, columns);
}

/* Copy the segments that cover columns [from, to) of a block whose first column is `column`. */
static void copy_runs(const job *j, char *d, const char *s, int64_t s_row, int64_t rows,
                      int64_t column, int64_t from, int64_t to)
{
    const tni_axis *r = &j->p->nest.axis[j->p->nest.ndim - 1];
    while (from < to) {
        const tni_segment run = tni_pad_segment(r, j->p->mode, from);
        const int64_t n = less(run.n, to - from);
        char *here = d + (from - column) * r->step[0];
        if (run.value)
            fill_box(j, here, rows, n);
        else
            copy_box(j, here, s + run.from * r->step[1],
                     (int64_t[2]){s_row, run.by * r->step[1]}, rows, n);
        from += n;
    }
}

/* Write the narrow borders of rows that hold the value.  If rows are joined without a gap, the
 * borders between them are already written, and only the first and the last one are missing. */
static void fill_edges(const job *j, char *d, int64_t rows, bool joined)
{
    const tni_pad_row *row = &j->p->row;
    const int64_t step = j->p->nest.axis[j->p->nest.ndim - 2].step[0];
    const int64_t right = row->bytes - row->left - row->body;
    j->kernels->rows(d, step, j->p->value, 0, joined ? 1 : rows, row->left);
    d += row->left + row->body + (joined ? (rows - 1) * step : 0);
    j->kernels->rows(d, step, j->p->value, 0, joined ? 1 : rows, right);
}

/* Copy the rows of a block, the interior first: it walks through lines in order, and the
 * borders then find them in the cache. */
static void copy_rows(const job *j, char *d, const char *s, int64_t s_row, int64_t rows,
                      int64_t column, int64_t columns)
{
    const tni_axis *r = &j->p->nest.axis[j->p->nest.ndim - 1];
    if (j->p->edged) {
        const tni_pad_row *row = &j->p->row;
        const int64_t step = j->p->nest.axis[j->p->nest.ndim - 2].step[0];
        const bool value = j->p->mode == TN_PAD_CONSTANT;
        const bool joined = step == row->bytes && r->step[1] == j->p->width && !j->p->stream;
        if (joined)
            j->kernels->gapped(d + row->left, step, s, s_row, rows, row->body,
                               value ? j->p->value : NULL);
        else
            copy_box(j, d + row->left, s, (int64_t[2]){s_row, r->step[1]}, rows, r->held);
        if (value)
            fill_edges(j, d, rows, joined);
        else
            j->kernels->edges(d, step, row, s, s_row, rows);
        return;
    }
    const int64_t end = column + columns;
    const int64_t in = less(column > r->before ? column : r->before, end);
    const int64_t out = less(in > r->before + r->held ? in : r->before + r->held, end);
    copy_runs(j, d, s, s_row, rows, column, in, out);
    copy_runs(j, d, s, s_row, rows, column, column, in);
    copy_runs(j, d, s, s_row, rows, column, out, end);
}

/* Copy the block of rows x columns at (row, column) to d; s is NULL if an outer index is in a
 * border of the value. */
static void copy_block(const job *j, char *d, const char *s, int64_t row, int64_t rows,
                       int64_t column, int64_t columns)
{
    const tni_axis *q = &j->p->nest.axis[j->p->nest.ndim - 2];
    if (!s) {
        fill_box(j, d, rows, columns);
        return;
    }
    for (int64_t done = 0; done < rows;) {
        tni_segment run = tni_pad_segment(q, j->p->mode, row + done);
        if (run.n > rows - done)
            run.n = rows - done;
        char *to = d + done * q->step[0];
        if (run.value)
            fill_box(j, to, run.n, columns);
        else
            copy_rows(j, to, s + run.from * q->step[1], run.by * q->step[1], run.n, column,
                      columns);
        done += run.n;
    }
}

/* ---- the same through a buffer, for blocks of whole rows that are dense in dst ---- */

static void pad_begin(tni_pad_buffer *k, char *d)
{
    k->first = k->end = (int64_t)((uintptr_t)d % TNI_LINE);
    k->d = d - k->first;
}

static void drain(const job *j, tni_pad_buffer *k)
{
    j->kernels->flush(k);
    if (k->end > k->first)
        memcpy(k->d + k->first, k->bytes + k->first, (size_t)(k->end - k->first));
}

static void append_values(const job *j, tni_pad_buffer *k, int64_t bytes)
{
    while (bytes > 0) {
        const int64_t n = less(bytes, TNI_PAD_VALUES);
        j->kernels->rows(k->bytes + k->end, 0, j->p->value, 0, 1, n);
        k->end += n;
        bytes -= n;
        if (k->end > TNI_PAD_BUFFER / 4)
            j->kernels->flush(k);
    }
}

static void append_block(const job *j, tni_pad_buffer *k, char *d, const char *s, int64_t row,
                         int64_t rows)
{
    const tni_pad *p = j->p;
    const tni_axis *q = &p->nest.axis[p->nest.ndim - 2], *r = q + 1;
    const int64_t bytes = r->n * p->width;
    if (k->d + k->end != d) {
        drain(j, k);
        pad_begin(k, d);
    }
    if (!s) {
        append_values(j, k, rows * bytes);
    } else if (!p->edged) {
        j->kernels->flush(k); /* values may wait in the buffer, all of which a block needs */
        copy_block(j, k->bytes + k->end, s, row, rows, 0, r->n);
        k->end += rows * bytes;
        j->kernels->flush(k);
    } else {
        for (int64_t done = 0; done < rows;) {
            const tni_segment run = tni_pad_segment(q, p->mode, row + done);
            const int64_t n = less(run.n, rows - done);
            if (run.value)
                append_values(j, k, n * bytes);
            else
                j->kernels->append(k, &p->row, s + run.from * q->step[1], run.by * q->step[1],
                                   n, p->mode == TN_PAD_CONSTANT ? p->value : NULL);
            done += n;
        }
    }
}

/* ---- all blocks ---- */

/* Set the loops over blocks: the outer axes, then the blocks down and across. */
static int block_loops(const tni_pad *p, tni_axis *loop)
{
    const int outer = p->nest.ndim - 2;
    const tni_axis *q = &p->nest.axis[outer], *r = q + 1;
    for (int i = 0; i < outer; i++)
        loop[i] = (tni_axis){.n = p->nest.axis[i].n, .step = {p->nest.axis[i].step[0]}};
    loop[outer].n = tni_ceil_div(q->n, p->rows);
    loop[outer].step[0] = p->rows * q->step[0];
    loop[outer + 1].n = tni_ceil_div(r->n, p->columns);
    loop[outer + 1].step[0] = p->columns * r->step[0];
    return outer + 2;
}

/* The source at the outer indices; NULL if one of them is in a border of the value. */
static const char *outer_source(const job *j, const int64_t *at)
{
    const char *s = j->s;
    for (int i = 0; i < j->p->nest.ndim - 2; i++) {
        const tni_axis *a = &j->p->nest.axis[i];
        const tni_segment run = tni_pad_segment(a, j->p->mode, at[i]);
        if (run.value)
            return NULL;
        s += run.from * a->step[1];
    }
    return s;
}

static void rows_run_part(void *arg, int part)
{
    const job *j = arg;
    const tni_pad *p = j->p;
    const int outer = p->nest.ndim - 2;
    const tni_axis *q = &p->nest.axis[outer], *r = q + 1;
    tni_axis loop[TNI_WALK_AXES];
    int64_t first, last;
    tni_split_range(p->items, j->parts, part, &first, &last);
    tni_walk w;
    tni_walk_seek(&w, loop, block_loops(p, loop), 1, first);
    tni_pad_buffer k;
    pad_begin(&k, j->d + w.offset[0]);
    const char *s = outer_source(j, w.at);
    for (int64_t item = first; item < last; item++) {
        const int64_t row = w.at[outer] * p->rows, column = w.at[outer + 1] * p->columns;
        const int64_t rows = less(p->rows, q->n - row);
        const int64_t columns = less(p->columns, r->n - column);
        char *d = j->d + w.offset[0];
        if (p->staged)
            append_block(j, &k, d, s, row, rows);
        else
            copy_block(j, d, s, row, rows, column, columns);
        if (tni_walk_next(&w) > 1)
            s = outer_source(j, w.at);
    }
    if (p->staged)
        drain(j, &k);
    if (p->stream)
        j->k->fence();
}

void tni_pad_rows_run(const tni_pad *p, char *d, const char *s)
{
    job j = {.p = p, .k = tni_kernels_of((int)tni_isa_level())->copy, .d = d, .s = s};
    j.kernels = tni_kernels_of((int)tni_isa_level())->pad;
    j.width_log2 = tni_log2_width(p->width);
    j.tile = j.k->tile[j.width_log2];
    j.parts = tni_run_parts(tni_mul_saturated(p->bytes, 2), p->items);
    tni_parallel(j.parts, rows_run_part, &j);
}
