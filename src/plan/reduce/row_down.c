/* row_down.c - the way "down": softmax of long rows that are columns in memory; threads divide
 * their elements.
 *
 * In this file a row is a row of memory, which has one element of each column.  Threads take
 * runs of rows in three passes with a barrier after each: the maximum of each column, the sum
 * of exponentials by the tree, the results.  If rows are dense, many of them are joined to a
 * line, so that kernels get long pieces however few columns there are; the sixteen lanes of a
 * tile are then one piece of memory.  Exponentials are computed twice. */
#include <math.h>
#include <string.h>

#include "fold_run.h"

/* Figures are in docs/investigations/reductions.md, "Softmax down few columns" and "Rows on Zen
 * 3". */
enum {
    /* most elements of a line: the two numbers that are kept for each are 16 KiB of f32.  Lines
     * that are cast have half of it, for eight of them are in a buffer. */
    LINE = 2048,
    /* most columns with which rows are joined */
    JOINED = LINE / TNI_LANES,
    /* most columns of a strip: the states of eight runs fill TNI_FOLD_RESULTS */
    STRIP = 512,
    /* most runs: the work of threads then differs by about a thirtieth */
    RUNS = 32,
    /* fewest rows: half a block for each of two threads; fewer do not pay for three barriers */
    LEAST = 1024,
    /* from so many columns on, four lines of f32, arrays that fit the caches and need no cast
     * go by the way "columns", which keeps exponentials in dst */
    CACHED = 64,
    /* rows by which prefetches are ahead, if rows are not joined */
    AHEAD = 8
};

/* A strip of columns, with the results that threads share. */
typedef struct strip {
    const tni_rows *r;
    const tni_row_typed *t; /* kernels for elements in memory, or for cast ones */
    tni_cast_fn up, down;   /* casts to elem and back if there are no kernels; otherwise NULL */
    char *d;
    const char *x;
    int64_t w, joined; /* columns, rows of a line */
    int64_t run, runs; /* rows of a run, number of runs */
    int parts;
    tni_fold sum;
    tni_word results[TNI_FOLD_RESULTS]; /* of each run: maxima, later sums */
    _Alignas(64) char least[LINE * 8];  /* of each element of a line: minus its maximum */
    _Alignas(64) char by[LINE * 8];     /* 1 / sum, or minus the logarithm of the sum */
} strip;

/* The buffers of one thread. */
typedef struct workspace {
    /* lanes, and one more vector, which kernels rewrite without a change */
    _Alignas(64) double acc[TNI_LANES * STRIP + TNI_LANES];
    _Alignas(
        64) char rows[TNI_TILE_ROWS * (LINE / 2 * 4 + 128)]; /* rows that are cast to f32 */
    tni_word stack[TNI_FOLD_STACK];
} workspace;
/* a line that is cast, and behind it a line of maxima in f64 */
_Static_assert(sizeof((workspace *)NULL)->rows >= LINE * 4 + LINE * 8, "rows hold two lines");

/* Read and write number c of a line. */
static double line_get(const tni_rows *r, const char *line, int64_t c)
{
    return tni_load_real(line + c * tni_width(r->elem), r->elem);
}
static void line_put(const tni_rows *r, char *line, int64_t c, double x)
{
    tni_store_real(line + c * tni_width(r->elem), r->elem, x);
}

/* n elements of a line in a type that kernels read: in memory, or cast in buf. */
static const char *line_read(const strip *s, const char *x, int64_t n, char *buf)
{
    if (!s->up)
        return x;
    s->up(buf, x, n, n * s->r->width, false);
    return buf;
}

static int64_t run_end(const strip *s, int64_t run)
{
    const int64_t end = (run + 1) * s->run;
    return end < s->r->n ? end : s->r->n;
}

/* The larger of both; NaN if one of them is. */
static double larger(double a, double b)
{
    return b > a || b != b ? b : a;
}

/* Prefetch the row that is AHEAD rows after x. */
static void row_ahead(const strip *s, const char *x)
{
    x += AHEAD * s->r->step[TNI_ROW_SRC];
    for (int64_t at = 0; at < s->w * s->r->width; at += 64)
        __builtin_prefetch(x + at);
}

/* First pass: the maxima of the columns in a run. */
static void run_largest(strip *s, int64_t run, workspace *m)
{
    const int64_t line = s->joined * s->w, end = run_end(s, run);
    char *most = m->rows + LINE * 4;
    for (int64_t c = 0; c < line; c++)
        line_put(s->r, most, c, -(double)INFINITY);
    for (int64_t i = run * s->run; i < end; i += s->joined) {
        const int64_t n = (end - i < s->joined ? end - i : s->joined) * s->w;
        const char *x = s->x + i * s->r->step[TNI_ROW_SRC];
        if (s->joined == 1)
            row_ahead(s, x);
        s->t->rise(most, line_read(s, x, n, m->rows), n);
    }
    tni_word *out = s->results + run * s->w;
    for (int64_t c = 0; c < s->w; c++)
        out[c].f = line_get(s->r, most, c);
    for (int64_t c = s->w; c < line; c++)
        out[c % s->w].f = larger(out[c % s->w].f, line_get(s->r, most, c));
}

/* Add the exponentials of one lane, or of joined lanes, of a tile to acc: w elements, from
 * `first` on, of its rows, which are 16 apart and begin at x. */
static void tile_add(const strip *s, double *acc, const char *x, int64_t first, int64_t w,
                     int64_t rows, workspace *m)
{
    int64_t step = TNI_LANES * s->r->step[TNI_ROW_SRC];
    if (w == 0 || rows == 0)
        return;
    x += first * s->r->width;
    if (s->up) { /* rows are padded by one or two lines, so as not to share sets of the L1 */
        const int64_t pitch = (w * 4 / 64 + 2) * 64;
        for (int64_t k = 0; k < rows; k++)
            s->up(m->rows + k * pitch, x + k * step, w, TNI_TILE_ROWS * step, false);
        x = m->rows;
        step = pitch;
    }
    s->t->exp_sum(acc + first, x, step, s->least + first * tni_width(s->r->elem), w, rows);
}

/* Add the exponentials of a tile of n rows at x to the lanes. */
static void tile_run(const strip *s, const char *x, int64_t n, workspace *m)
{
    const int64_t whole = n / TNI_LANES, rest = n % TNI_LANES, w = s->w;
    if (s->joined > 1) {
        tile_add(s, m->acc, x, 0, rest * w, whole + 1, m);
        tile_add(s, m->acc, x, rest * w, (TNI_LANES - rest) * w, whole, m);
        return;
    }
    for (int64_t l = 0; l < TNI_LANES && l < n; l++)
        tile_add(s, m->acc + l * w, x + l * s->r->step[TNI_ROW_SRC], 0, w, whole + (l < rest),
                 m);
}

/* Add the sixteen lanes by halves. */
static void lanes_merge(double *acc, int64_t w)
{
    for (int64_t half = TNI_LANES / 2; half > 0; half /= 2)
        for (int64_t i = 0; i < half * w; i++)
            acc[i] += acc[i + half * w];
}

/* Second pass: the sums of the exponentials of a run, which is a subtree. */
static void run_sums(strip *s, int64_t run, workspace *m)
{
    const int64_t w = s->w, end = run_end(s, run);
    tni_fold_pairs pairs = {.state = m->stack};
    for (int64_t block = run * s->run; block < end; block += TNI_TREE_BLOCK) {
        const int64_t n = end - block < TNI_TREE_BLOCK ? end - block : TNI_TREE_BLOCK;
        for (int64_t c = 0; c < TNI_LANES * w + TNI_LANES; c++)
            m->acc[c] = -0.0;
        for (int64_t t = 0; t < n; t += TNI_TILE)
            tile_run(s, s->x + (block + t) * s->r->step[TNI_ROW_SRC],
                     n - t < TNI_TILE ? n - t : TNI_TILE, m);
        lanes_merge(m->acc, w);
        memcpy(pairs.state + pairs.depth * w, m->acc, (size_t)w * sizeof *pairs.state);
        tni_fold_push(&s->sum, &pairs, w);
    }
    tni_fold_close(&s->sum, &pairs, w);
    memcpy(s->results + run * w, pairs.state, (size_t)w * sizeof *pairs.state);
}

/* Third pass: the results of a run. */
static void run_write(strip *s, int64_t run, workspace *m)
{
    const tni_rows *r = s->r;
    const int64_t end = run_end(s, run);
    for (int64_t i = run * s->run; i < end; i += s->joined) {
        const int64_t n = (end - i < s->joined ? end - i : s->joined) * s->w;
        const char *row = s->x + i * r->step[TNI_ROW_SRC];
        char *d = s->d + i * r->step[TNI_ROW_DST], *to = s->down ? m->rows + LINE * 4 : d;
        const bool stream = r->stream && (uintptr_t)d % 64 == 0;
        if (s->joined == 1)
            row_ahead(s, row);
        const char *x = line_read(s, row, n, m->rows);
        (r->kind == TNI_ROW_LOG_SOFTMAX ? s->t->plus_by : s->t->exp_by)(to, x, s->least, s->by,
                                                                        n, stream && !s->down);
        if (s->down)
            s->down(d, to, n, 0, stream);
    }
}

/* ---- threads ---- */

typedef struct phase {
    strip *s;
    void (*run)(strip *s, int64_t run, workspace *m);
} phase;

static void phase_part(void *arg, int part)
{
    const phase *p = arg;
    int64_t first, last;
    workspace m;
    tni_split_range(p->s->runs, p->s->parts, part, &first, &last);
    for (int64_t run = first; run < last; run++)
        p->run(p->s, run, &m);
    if (p->s->r->stream)
        tni_kernels_of(p->s->r->isa)->copy->fence();
}

static void phase_run(strip *s, void (*run)(strip *s, int64_t run, workspace *m))
{
    phase p = {s, run};
    tni_parallel(s->parts, phase_part, &p);
}

/* Repeat the first w elements of a line for each of the joined rows. */
static void line_repeat(const strip *s, char *line)
{
    const int64_t bytes = s->w * tni_width(s->r->elem);
    for (int64_t k = 1; k < s->joined; k++)
        memcpy(line + k * bytes, line, (size_t)bytes);
}

static void strip_run(strip *s)
{
    const tni_rows *r = s->r;
    const int64_t w = s->w;
    phase_run(s, run_largest);
    for (int64_t c = 0; c < w; c++) {
        double most = s->results[c].f;
        for (int64_t run = 1; run < s->runs; run++)
            most = larger(most, s->results[run * w + c].f);
        line_put(r, s->least, c, -(most + 0.0));
    }
    line_repeat(s, s->least);
    phase_run(s, run_sums);
    tni_fold_join(&s->sum, s->results, s->runs, w);
    for (int64_t c = 0; c < w; c++) {
        const bool whole = isfinite(line_get(r, s->least, c));
        const double sum = whole ? s->results[c].f : (double)NAN;
        line_put(r, s->by, c, r->kind == TNI_ROW_LOG_SOFTMAX ? -tni_row_log(r, sum) : 1 / sum);
    }
    line_repeat(s, s->by);
    phase_run(s, run_write);
}

/* ---- all strips ---- */

static const tni_axis *columns_of(const tni_rows *r)
{
    return &r->nest->axis[r->nest->ndim - 1];
}

/* The columns of a strip.  Columns of rows that are not joined are cut into as many strips as
 * there are threads, or a multiple of that. */
static int64_t strip_width(const tni_rows *r)
{
    const int64_t n = columns_of(r)->n, threads = tni_threads();
    if (n <= JOINED)
        return n;
    const int64_t strips = tni_ceil_div(n, STRIP * threads) * threads;
    return (tni_ceil_div(n, strips) + 15) / 16 * 16;
}

/* The rows of a run in strips of w columns. */
static int64_t run_rows(const tni_rows *r, int64_t w)
{
    const int64_t most = TNI_FOLD_RESULTS / w;
    return tni_fold_cut(r->n, most < RUNS ? most : RUNS);
}

/* Whether the waiting states of a run fit the stack, whatever the number of threads: those of
 * 512 columns do up to 2^20 rows.  More go by the way "columns". */
static bool states_fit(const tni_rows *r)
{
    const int64_t n = columns_of(r)->n, widest = n < STRIP ? n : STRIP;
    int64_t levels = 2;
    for (int64_t rows = run_rows(r, STRIP); rows > TNI_TREE_BLOCK; rows /= 2)
        levels++;
    return levels * widest <= TNI_FOLD_STACK;
}

bool tni_row_plan_down(tni_rows *r)
{
    if (r->nest->ndim == 0 || r->n < LEAST ||
        (r->kind != TNI_ROW_SOFTMAX && r->kind != TNI_ROW_LOG_SOFTMAX))
        return false;
    const tni_axis *in = columns_of(r);
    r->why = "rows are long and stand side by side: threads divide their elements";
    return in->step[TNI_ROW_DST] == r->width && in->step[TNI_ROW_SRC] == r->width &&
           states_fit(r) && (r->dtype != r->elem || in->n < CACHED || r->beyond);
}

/* The rows of a line: 16, the lanes of a tile, and more while they fit; 1 if rows are not
 * joined. */
static int64_t rows_joined(const tni_rows *r, bool cast)
{
    const int64_t n = columns_of(r)->n, line = cast ? LINE / 2 : LINE;
    if (n > line / TNI_LANES || r->step[TNI_ROW_DST] != n * r->width ||
        r->step[TNI_ROW_SRC] != n * r->width)
        return 1;
    int64_t rows = TNI_LANES;
    while (2 * rows * n <= line && 2 * rows <= r->n)
        rows *= 2;
    return rows;
}

/* The strips of all outer indices. */
typedef struct down_job {
    const tni_rows *r;
    char *const *at;
    int64_t items, strips, width;
    int parts, rows_parts; /* threads that take strips, and those that take rows of one */
} down_job;

static void strip_make(strip *s, const down_job *j)
{
    const tni_rows *r = j->r;
    s->r = r;
    s->up = s->down = NULL;
    memcpy(&s->sum, r->fold, offsetof(tni_fold, fold)); /* without 4 KB of axes */
    s->sum.term = TNI_TERM_SAME;
    s->sum.class = &tni_fold_tree;
    s->sum.wide = r->elem == TN_F64;
    s->t = tni_row_kernels_of(r, r->dtype);
    if (!s->t) {
        s->t = tni_row_kernels_of(r, r->elem);
        s->up = tni_cast_chain(r->isa, r->dtype, r->elem).fn[0];
        s->down = tni_cast_chain(r->isa, r->elem, r->dtype).fn[0];
    }
    s->joined = rows_joined(r, s->up != NULL);
    s->run = run_rows(r, j->width);
    s->runs = tni_ceil_div(r->n, s->run);
    s->parts = j->rows_parts;
}

static void down_part(void *arg, int part)
{
    const down_job *j = arg;
    const tni_rows *r = j->r;
    const int64_t n = columns_of(r)->n;
    int64_t first, last;
    strip s; /* not cleared: results are written before they are read */
    tni_walk walk;
    strip_make(&s, j);
    tni_split_range(j->items, j->parts, part, &first, &last);
    tni_walk_seek(&walk, r->nest->axis, r->nest->ndim - 1, r->nest->nop, first / j->strips);
    for (int64_t i = first; i < last; i++) {
        const int64_t c = i % j->strips * j->width;
        s.d = j->at[TNI_ROW_DST] + walk.offset[TNI_ROW_DST] + c * r->width;
        s.x = j->at[TNI_ROW_SRC] + walk.offset[TNI_ROW_SRC] + c * r->width;
        s.w = n - c < j->width ? n - c : j->width;
        strip_run(&s);
        if (i % j->strips == j->strips - 1)
            tni_walk_next(&walk);
    }
}

void tni_row_run_down(const tni_rows *r, char *const *at, int64_t rows)
{
    const int64_t n = columns_of(r)->n;
    down_job j = {.r = r, .at = at, .width = strip_width(r), .parts = 1, .rows_parts = 1};
    j.strips = tni_ceil_div(n, j.width);
    j.items = rows / n * j.strips;
    const int64_t bytes = tni_mul_saturated(rows * r->n, 4 * r->width);
    const int parts = tni_run_parts(bytes, INT64_MAX);
    if (j.items >= parts) {
        j.parts = parts;
        tni_parallel(parts, down_part, &j);
        return;
    }
    j.rows_parts = tni_run_parts(bytes / j.items, tni_ceil_div(r->n, run_rows(r, j.width)));
    down_part(&j, 0);
}
