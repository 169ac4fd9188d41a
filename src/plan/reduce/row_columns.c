/* row_columns.c - the way "columns": softmax of rows that are columns in memory, a strip of
 * them at a time.
 *
 * A strip is read three times in the order of memory: for the maximum of each column, for
 * exponentials and their sums by the tree, and for results.  Exponentials are kept in dst if
 * the caches hold it; otherwise they are computed twice, and dst is written once, past the
 * caches.  The operations are those of dense rows, and so are the bits. */
#include <math.h>
#include <string.h>

#include "fold_run.h"

/* Figures are in docs/investigations/reductions.md, "Softmax along a stride" and "Rows, scans
 * and indices: the third round". */
enum {
    /* most columns of f32: 16 lanes of f64 and 128 rows of exponentials fit the space for
     * accumulators, 128 KiB */
    STRIP_MOST = 192,
    /* the same for f64 */
    STRIP_MOST_64 = 96,
    /* fewest columns of a strip of many: four lines of a row, which the hardware follows; 128
     * and 192 were no faster (Zen 4) */
    STRIP_LEAST = 64,
    /* with fewer columns the way does not apply, twice as many if elements are cast: they do
     * not fill a vector of f32 of AVX2, and rows one by one are faster; not measured finely */
    STRIP_FEW = 8,
    /* most elements of a strip: 2 MiB of f32, which the L3 keeps between the three passes; 4
     * MiB reached 0.25 of the limit instead of 0.33 (Zen 4) */
    STRIP_ELEMENTS = 1 << 19,
    /* rows by which prefetches are ahead: 4 and 16 reached 18.3 and 18.6 GB/s instead of 20.2
     * (Zen 4) */
    STRIP_AHEAD = 8
};

typedef struct strip {
    const tni_rows *r;
    const tni_row_kernels *k;
    const tni_row_typed *t; /* kernels for elem */
    tni_fold_scratch *scratch;
    tni_fold sum;
    tni_cast_fn up, down; /* casts to f32 and back for narrow floats; otherwise NULL */
    int64_t w;
    bool f64, aside;            /* aside: exponentials are not kept in dst but computed twice */
    char least[STRIP_MOST * 4]; /* for each column minus its maximum */
    char by[STRIP_MOST * 4];    /* for each column 1 / sum, or minus the logarithm of the sum */
    char row[2][STRIP_MOST * 4];
} strip;

bool tni_row_plan_columns(tni_rows *r)
{
    const tni_axis *in = r->nest->ndim ? &r->nest->axis[r->nest->ndim - 1] : NULL;
    r->why = "rows stand side by side in memory: a strip of them is walked together";
    return in && (r->kind == TNI_ROW_SOFTMAX || r->kind == TNI_ROW_LOG_SOFTMAX) && r->n > 1 &&
           in->n >= (r->dtype == r->elem ? STRIP_FEW : 2 * STRIP_FEW) &&
           in->step[TNI_ROW_DST] == r->width && in->step[TNI_ROW_SRC] == r->width;
}

/* A row of the strip as elem. */
static const char *strip_read(strip *s, const char *p)
{
    if (!s->up)
        return p;
    s->up(s->row[0], p, s->w, 0, false);
    return s->row[0];
}

/* e = exp(x + least) for a row. */
static void strip_exp(const strip *s, char *e, const char *x)
{
    (s->f64 ? s->k->exp64 : s->k->exp32)(e, x, s->least, s->w);
}

/* Prefetch the row that is STRIP_AHEAD rows after p, because the hardware does not follow rows
 * that are pages apart. */
static void strip_prefetch(const strip *s, const char *p)
{
    p += STRIP_AHEAD * s->r->step[TNI_ROW_SRC];
    for (int64_t i = 0; i < s->w * s->r->width; i += 64)
        __builtin_prefetch(p + i);
}

static void strip_largest(strip *s, const char *p)
{
    const tni_rows *r = s->r;
    const int64_t bytes = s->w * tni_width(r->elem);
    memcpy(s->least, strip_read(s, p), (size_t)bytes);
    for (int64_t i = 1; i < r->n; i++) {
        strip_prefetch(s, p + i * r->step[TNI_ROW_SRC]);
        const char *x = strip_read(s, p + i * r->step[TNI_ROW_SRC]);
        s->t->rise(s->least, x, s->w);
    }
    for (int64_t c = 0; c < s->w; c++) {
        const int64_t width = tni_width(r->elem);
        tni_store_real(s->least + c * width, r->elem,
                       -(tni_load_real(s->least + c * width, r->elem) + 0.0));
    }
}

/* Compute the exponentials of a tile of rows, in dst or in a buffer, and add them to the
 * sums. */
static void strip_tile(strip *s, char *d, const char *p, int64_t at, int64_t n,
                       tni_fold_pairs *pairs)
{
    const tni_rows *r = s->r;
    char *e = d + at * r->step[TNI_ROW_DST];
    int64_t step = r->step[TNI_ROW_DST];
    if (s->aside) {
        e = (char *)(s->scratch->u.columns.acc.f + TNI_LANES * s->w);
        step = s->w * tni_width(r->elem);
    }
    for (int64_t i = 0; i < n; i++) {
        strip_prefetch(s, p + (at + i) * r->step[TNI_ROW_SRC]);
        strip_exp(s, e + i * step, strip_read(s, p + (at + i) * r->step[TNI_ROW_SRC]));
    }
    const int64_t begun = at % TNI_TREE_BLOCK;
    const tni_fold_columns c = {.x = e,
                                .step = step,
                                .n = n,
                                .w = s->w,
                                .begun = begun,
                                .more = begun + n < TNI_TREE_BLOCK && at + n < r->n};
    s->sum.class->columns(&s->sum, pairs->state + pairs->depth * s->w, &c, s->scratch);
    if (!c.more)
        tni_fold_push(&s->sum, pairs, s->w);
}

/* Write a row of results to d, which may be x.  If exponentials are kept, they are at d. */
static void strip_result(const strip *s, char *d, const char *x, bool stream)
{
    if (s->r->kind == TNI_ROW_LOG_SOFTMAX)
        s->t->plus_by(d, x, s->least, s->by, s->w, stream);
    else if (s->aside)
        s->t->exp_by(d, x, s->least, s->by, s->w, stream);
    else
        s->t->rms(d, d, s->by, s->w, 1, false);
}

static void strip_write(strip *s, char *d, const char *p)
{
    const tni_rows *r = s->r;
    for (int64_t i = 0; i < r->n; i++, d += r->step[TNI_ROW_DST], p += r->step[TNI_ROW_SRC]) {
        strip_prefetch(s, p);
        const char *x = strip_read(s, p);
        const bool stream = r->stream && !s->down && (uintptr_t)d % 64 == 0;
        strip_result(s, s->down ? s->row[1] : d, x, stream);
        if (s->down)
            s->down(d, s->row[1], s->w, 0, false);
    }
}

static void strip_run(strip *s, char *d, const char *p)
{
    const tni_rows *r = s->r;
    const int64_t width = tni_width(r->elem);
    tni_fold_pairs pairs = {.state = s->scratch->stack};
    strip_largest(s, p);
    for (int64_t at = 0; at < r->n; at += TNI_TILE)
        strip_tile(s, d, p, at, r->n - at < TNI_TILE ? r->n - at : TNI_TILE, &pairs);
    tni_fold_close(&s->sum, &pairs, s->w);
    for (int64_t c = 0; c < s->w; c++) {
        const bool whole = isfinite(tni_load_real(s->least + c * width, r->elem));
        const double sum = whole ? pairs.state[c].f : (double)NAN;
        tni_store_real(s->by + c * width, r->elem,
                       r->kind == TNI_ROW_LOG_SOFTMAX ? -tni_row_log(r, sum) : 1 / sum);
    }
    strip_write(s, d, p);
}

static int64_t strip_width(const tni_rows *r, int parts)
{
    const int64_t n = r->nest->axis[r->nest->ndim - 1].n, each = (n - 1) / parts + 1;
    int64_t w = STRIP_ELEMENTS / r->n;
    const int64_t most = r->elem == TN_F64 ? STRIP_MOST_64 : STRIP_MOST;
    w = w > most ? most : w < STRIP_LEAST ? STRIP_LEAST : w;
    return (w < each ? w : each + 15) / 16 * 16;
}

typedef struct columns_job {
    const tni_rows *r;
    int parts;
    int64_t strips, w, items;
    char *const *at;
} columns_job;

static void columns_part(void *arg, int part)
{
    const columns_job *j = arg;
    const tni_rows *r = j->r;
    tni_fold_scratch scratch;
    strip s = {.r = r, .k = tni_kernels_of(r->isa)->row, .scratch = &scratch};
    tni_walk walk;
    int64_t first, last;
    s.t = tni_row_kernels_of(r, r->elem);
    s.sum = *r->fold;
    s.sum.term = TNI_TERM_SAME;
    s.sum.class = &tni_fold_tree;
    s.sum.wide = s.f64 = r->elem == TN_F64;
    s.aside = r->stream || r->kind == TNI_ROW_LOG_SOFTMAX || r->dtype != r->elem;
    if (r->dtype != r->elem) {
        s.up = tni_cast_chain(r->isa, r->dtype, r->elem).fn[0];
        s.down = tni_cast_chain(r->isa, r->elem, r->dtype).fn[0];
        s.sum.src = r->elem;
        s.sum.width = tni_width(r->elem);
    }
    tni_fold_prepare(&s.sum, &scratch);
    tni_split_range(j->items, j->parts, part, &first, &last);
    tni_walk_seek(&walk, r->nest->axis, r->nest->ndim - 1, r->nest->nop, first / j->strips);
    for (int64_t i = first; i < last; i++) {
        const int64_t at = i % j->strips * j->w, left = r->nest->axis[r->nest->ndim - 1].n - at;
        s.w = left < j->w ? left : j->w;
        strip_run(&s, j->at[TNI_ROW_DST] + walk.offset[TNI_ROW_DST] + at * r->width,
                  j->at[TNI_ROW_SRC] + walk.offset[TNI_ROW_SRC] + at * r->width);
        if (i % j->strips == j->strips - 1)
            tni_walk_next(&walk);
    }
    if (r->stream)
        tni_kernels_of(r->isa)->copy->fence();
}

void tni_row_run_columns(const tni_rows *r, char *const *at, int64_t rows)
{
    const int64_t n = r->nest->axis[r->nest->ndim - 1].n;
    columns_job j = {.r = r, .at = at};
    j.parts = tni_run_parts(tni_mul_saturated(rows * r->n, 4 * r->width), rows);
    j.w = strip_width(r, rows / n < j.parts ? j.parts : 1);
    j.strips = tni_ceil_div(n, j.w);
    j.items = rows / n * j.strips;
    j.parts = j.items < j.parts ? (int)j.items : j.parts;
    tni_parallel(j.parts, columns_part, &j);
}
