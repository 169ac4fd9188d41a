/* pad_rows.c - a pad in one walk through dst: blocks of rows, each made of boxes of runs.
 *
 * Beyond the cache, short rows are put together in a buffer and go out in whole lines; the end
 * of a line waits there for the next block. */
#include <string.h>

#include "plan.h"
#include "runtime/runtime.h"

enum {
    LINE = 64,
    BUFFER = 16 * 1024, /* two blocks */
    NARROW = 4          /* a border of so few columns is written column by column */
};

typedef struct job {
    const tni_pad *p;
    const tni_copy_kernels *k;
    tni_tile_fn tile;
    int width_log2, parts;
    char *d;
    const char *s;
} job;

/* ---- one block ---- */

/* A box of `rows` x `columns` places; src steps in bytes. */
static void copy_box(const job *j, char *d, const char *s, const int64_t s_step[2],
                     int64_t rows, int64_t columns)
{
    const tni_pad_axis *q = &j->p->axis[j->p->ndim - 2], *r = q + 1;
    if (rows > 1 && columns <= NARROW) {
        for (int64_t c = 0; c < columns; c++)
            j->tile(d + c * r->d_step, (int64_t[2]){q->d_step, 0}, s + c * s_step[1],
                    (int64_t[2]){s_step[0], 0}, (int64_t[2]){rows, 1});
    } else if (j->p->stream && !j->p->staged && r->d_step == j->p->width &&
               s_step[1] == j->p->width) {
        for (int64_t i = 0; i < rows; i++)
            j->k->stream(d + i * q->d_step, s + i * s_step[0], columns * j->p->width);
    } else {
        j->tile(d, (int64_t[2]){q->d_step, r->d_step}, s, s_step, (int64_t[2]){rows, columns});
    }
}

static void fill_box(const job *j, char *d, int64_t rows, int64_t columns)
{
    const tni_pad_axis *q = &j->p->axis[j->p->ndim - 2], *r = q + 1;
    const bool streaming = j->p->stream && !j->p->staged;
    if (r->d_step == j->p->width && (rows == 1 || q->d_step == columns * j->p->width))
        j->k->fill(d, j->p->value, j->width_log2, rows * columns, streaming);
    else
        copy_box(j, d, j->p->value, (int64_t[2]){0, 0}, rows, columns);
}

static void copy_rows(const job *j, char *d, const char *s, int64_t s_row, int64_t rows,
                      int64_t column, int64_t columns)
{
    const tni_pad_axis *r = &j->p->axis[j->p->ndim - 1];
    for (int64_t done = 0; done < columns;) {
        tni_run run = tni_pad_run_at(r, j->p->mode, column + done);
        if (run.n > columns - done)
            run.n = columns - done;
        char *to = d + done * r->d_step;
        if (run.value)
            fill_box(j, to, rows, run.n);
        else
            copy_box(j, to, s + run.from * r->step, (int64_t[2]){s_row, run.by * r->step}, rows,
                     run.n);
        done += run.n;
    }
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

/* ---- the buffer: bytes that follow each other in dst, and wait ---- */

typedef struct sink {
    char *at;      /* where the first waiting byte goes */
    int64_t first; /* its place in the buffer, congruent to `at` by lines */
    int64_t end;
    _Alignas(LINE) char bytes[BUFFER + 2 * LINE];
} sink;

static void begin(sink *k, char *d)
{
    k->at = d;
    k->first = k->end = (int64_t)((uintptr_t)d % LINE);
}

static void drain(const job *j, sink *k)
{
    if (k->end > k->first)
        j->k->stream(k->at, k->bytes + k->first, k->end - k->first);
}

/* Send the whole lines; the bytes behind the last one wait. */
static void drain_lines(const job *j, sink *k)
{
    const int64_t whole = k->end & ~(int64_t)(LINE - 1);
    j->k->stream(k->at, k->bytes + k->first, whole - k->first);
    k->at += whole - k->first;
    memcpy(k->bytes, k->bytes + whole, (size_t)(k->end - whole));
    k->first = 0;
    k->end -= whole;
}

/* Room for n <= BUFFER bytes of dst at d. */
static char *reserve(const job *j, sink *k, char *d, int64_t n)
{
    if (k->at + (k->end - k->first) != d) {
        drain(j, k);
        begin(k, d);
    } else if (k->end + n > BUFFER + LINE) {
        drain_lines(j, k);
    }
    char *room = k->bytes + k->end;
    k->end += n;
    return room;
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
    const int64_t across = (r->total + p->columns - 1) / p->columns;
    const int64_t down = (q->total + p->rows - 1) / p->rows;
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

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void run_part(void *arg, int part)
{
    const job *j = arg;
    const tni_pad *p = j->p;
    const tni_pad_axis *q = &p->axis[p->ndim - 2], *r = q + 1;
    int64_t first, last;
    tni_deal_range(p->items, j->parts, part, &first, &last);
    place at;
    sink k;
    find(j, &at, first);
    begin(&k, at.d + at.row * q->d_step);
    for (int64_t item = first; item < last; item++) {
        const int64_t rows = less(p->rows, q->total - at.row);
        const int64_t columns = less(p->columns, r->total - at.column);
        char *d = at.d + at.row * q->d_step + at.column * r->d_step;
        if (p->staged)
            d = reserve(j, &k, d, rows * columns * p->width);
        copy_block(j, d, at.s, at.row, rows, at.column, columns);
        advance(j, &at);
    }
    if (p->staged)
        drain(j, &k);
    if (p->stream)
        j->k->fence();
}

void tni_pad_rows(const tni_pad *p, char *d, const char *s)
{
    job j = {.p = p, .k = tni_copy_kernels_of((int)tni_isa_level()), .d = d, .s = s};
    j.width_log2 = tni_width_log2(p->width);
    j.tile = j.k->tile[j.width_log2];
    j.parts = tni_deal_parts(2 * p->bytes, p->items);
    tni_parallel(j.parts, run_part, &j);
}
