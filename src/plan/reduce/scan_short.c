/* scan_short.c - short dense sequences that follow one another: kernels take them as they lie,
 * and write beyond the end of each.
 *
 * They write to a buffer, which leaves for dst in whole lines. */
#include <string.h>

#include "scan_run.h"

/* Bytes of results in a buffer, of the longest sequence, and what kernels read and write
 * beyond. */
enum { SHORT_OUT = 8192, SHORT_ROW = TNI_SCAN_SHORT * 8, SHORT_BEYOND = 32 };

typedef struct short_job {
    const tni_scan *s;
    char *dst;
    const char *src;
    int64_t items;
    int parts;
} short_job;

static void short_kernel(const tni_scan *s, char *d, const char *x, int64_t rows)
{
    const tni_scan_extremes *k = tni_scan_extremes_of(s);
    if (s->class->totals == tni_scan_totals_words)
        tni_kernels_of(s->isa)->scan->many_int(d, x, s->n, rows);
    else if (s->op == TN_SCAN_SUM)
        tni_scan_sums_of(s)->many(d, x, s->n, rows);
    else
        k->many(d, x, s->n, rows, &s->rule);
}

/* The last rows, behind which nothing may be read: from a copy. */
static void short_ends(const tni_scan *s, char *d, const char *x, int64_t rows)
{
    char copy[SHORT_BEYOND + SHORT_ROW + SHORT_BEYOND];
    const int64_t bytes = rows * s->n * s->width[1];
    ASSERT(bytes <= SHORT_BEYOND + SHORT_ROW);
    memcpy(copy, x, (size_t)bytes);
    memset(copy + bytes, 0, SHORT_BEYOND);
    short_kernel(s, d, copy, rows);
}

/* Rows that follow one another. */
static void short_run(const tni_scan *s, char *d, const char *x, int64_t rows)
{
    _Alignas(64) char out[SHORT_OUT + SHORT_ROW + 64 + SHORT_BEYOND];
    const int64_t row = s->n * s->width[0], ends = tni_ceil_div(SHORT_BEYOND, row);
    const tni_copy_kernels *copy = tni_kernels_of(s->isa)->copy;
    for (int64_t most = tni_ceil_div(SHORT_OUT, row), m; rows > 0; rows -= m) {
        char *made = out + (uintptr_t)d % 64;
        m = rows < most ? rows : most;
        const int64_t safe = rows > ends ? rows - ends : 0, last = m > safe ? m - safe : 0;
        if (m > last)
            short_kernel(s, made, x, m - last);
        if (last > 0)
            short_ends(s, made + (m - last) * row, x + (m - last) * row, last);
        if (s->stream)
            copy->stream(d, made, m * row);
        else
            memcpy(d, made, (size_t)(m * row));
        d += m * row;
        x += m * row;
    }
}

static void short_part(void *arg, int part)
{
    const short_job *j = arg;
    const tni_nest *nest = &j->s->nest;
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    tni_walk walk;
    int64_t first, last;
    tni_split_range(j->items, j->parts, part, &first, &last);
    tni_walk_seek(&walk, nest->axis, nest->ndim - 1, 2, first / in->n);
    for (int64_t i = first, rows; i < last; i += rows) {
        const int64_t c = i % in->n;
        rows = in->n - c < last - i ? in->n - c : last - i;
        short_run(j->s, j->dst + walk.offset[0] + c * in->step[0],
                  j->src + walk.offset[1] + c * in->step[1], rows);
        if (c + rows == in->n)
            tni_walk_next(&walk);
    }
    if (j->s->stream)
        tni_kernels_of(j->s->isa)->copy->fence();
}

void tni_scan_run_short(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry)
{
    short_job j = {.s = s, .dst = dst, .src = src, .items = tni_scan_sequences(s)};
    ASSERT(!carry && s->n <= TNI_SCAN_SHORT);
    (void)carry;
    j.parts = tni_run_parts(tni_scan_work(s), j.items);
    tni_parallel(j.parts, short_part, &j);
}
