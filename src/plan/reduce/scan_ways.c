/* scan_ways.c - the table of ways in which a scan walks memory; the first that fits is taken.
 *
 *   way            file                  what it computes
 *   nothing                              dst has no elements
 *   column rounds  scan_column_rounds.c  few long columns: threads divide the blocks of rows
 *   columns        scan_columns.c        sequences side by side in memory, a strip at a time
 *   short rows     scan_short.c          short sequences that follow one another, as they lie
 *   transpose      scan_narrow.c         short dense sequences, transposed into columns
 *   rounds         scan_rounds.c         few long sequences: threads divide the blocks
 *   line           scan_line.c           any layout: one sequence after the other */
#include "scan_run.h"

/* The innermost axis over the sequences, or NULL. */
static const tni_axis *innermost(const tni_scan *s)
{
    return s->nest.ndim ? &s->nest.axis[s->nest.ndim - 1] : NULL;
}

static bool dense(const tni_scan *s)
{
    return s->step[0] == s->width[0] && s->step[1] == s->width[1];
}

int64_t tni_scan_sequences(const tni_scan *s)
{
    int64_t all = 1;
    for (int i = 0; i < s->nest.ndim; i++)
        all *= s->nest.axis[i].n;
    return all;
}

/* ---- the ways ---- */

static bool plan_nothing(tni_scan *s)
{
    s->why = "there are no elements";
    s->stream = false;
    return s->nest.empty || (s->n == 0 && !s->initial);
}

/* Sequences side by side in memory, a strip of columns at a time. */
static bool plan_columns(tni_scan *s)
{
    const tni_axis *in = innermost(s);
    s->why = "sequences stand side by side";
    s->stream = true;
    return in && s->class->strip && in->n >= s->class->fewest && in->step[0] == s->width[0] &&
           in->step[1] == s->width[1] &&
           (!s->carries || in->step[2] == (int64_t)sizeof(tni_scan_state));
}

/* Fewest blocks for each thread with which dividing blocks pays for reading them twice; not
 * measured finely. */
enum { ROUNDS_BLOCKS = 4 };

/* Whether threads divide the blocks of each of `items` sequences or strips of columns. */
static bool few_and_long(const tni_scan *s, int64_t items)
{
    const int threads = tni_plan_parts(tni_scan_work(s), INT64_MAX);
    return s->class->chains && !s->carries && items < threads &&
           s->n >= ROUNDS_BLOCKS * threads * TNI_TREE_BLOCK;
}

/* Whether this instruction set has kernels that compute only the totals of columns. */
static bool has_totals(const tni_scan *s)
{
    const tni_scan_sums *k = tni_scan_sums_of(s);
    return s->class->totals && (s->class->totals != tni_scan_totals_moved || (k && k->totals));
}

/* Few long columns: blocks of rows are divided over threads. */
static bool plan_column_rounds(tni_scan *s)
{
    const bool side_by_side = plan_columns(s);
    const tni_axis *in = innermost(s);
    s->why = "columns are fewer than threads have use for: blocks of rows are divided";
    return side_by_side && in->n <= TNI_SCAN_COLUMNS && has_totals(s) &&
           few_and_long(s, tni_scan_sequences(s) / in->n);
}

/* Sequences of fewer than NARROW_MOST elements are transposed, because their vectors would be
 * partly empty; with fewer than NARROW_SEQUENCES of them, two transpositions do not pay
 * (measured on Zen 4). */
enum { NARROW_MOST = 48, NARROW_SEQUENCES = 32 };

static int64_t narrow_most(const tni_scan *s)
{
    const tni_scan_sums *k = tni_scan_sums_of(s);
    return s->op == TN_SCAN_SUM && k && k->narrow ? k->narrow : NARROW_MOST;
}

/* Short sequences, transposed into columns. */
static bool plan_narrow(tni_scan *s)
{
    const tni_axis *in = innermost(s);
    s->why = "short sequences are transposed";
    s->stream = false;
    return in && s->class->strip && !s->carries && s->n > 1 && s->n < narrow_most(s) &&
           in->n >= NARROW_SEQUENCES && dense(s);
}

/* Sums of rows of at least LINE_LEAST elements that are whole vectors are written with
 * streaming stores by their own way (Zen 3: f64 in rows of 256 and 512 34 and 40 GB/s, 31 and
 * 34 through a buffer); sums of 64-bit integers gain nothing from that length on (rows of 127:
 * 27 and 24). */
enum { LINE_VECTOR = 32, LINE_LEAST = 64, WORDS_MOST = 64 };

/* Short sequences that follow one another, where there are kernels for them. */
static bool plan_short(tni_scan *s)
{
    const tni_axis *in = innermost(s);
    const tni_scan_sums *k = tni_scan_sums_of(s);
    const bool keys = s->class->totals == tni_scan_totals_keys,
               sums = s->class->totals == tni_scan_totals_moved;
    const bool whole = s->n * s->width[0] % LINE_VECTOR == 0 && s->n >= LINE_LEAST;
    const bool words =
        s->class->totals == tni_scan_totals_words && tni_kernels_of(s->isa)->scan->many_int;
    const int64_t most = keys             ? tni_scan_extremes_of(s)->most
                         : words          ? WORDS_MOST
                         : sums && !whole ? k->most
                                          : 0;
    s->why = "sequences are short and follow one another: kernels take many of them";
    s->stream = true;
    return in && !s->carries && !s->initial && s->n > 1 && s->n <= most &&
           in->n >= NARROW_SEQUENCES && dense(s) && in->step[0] == s->n * s->width[0] &&
           in->step[1] == in->step[0];
}

/* Few long sequences: blocks are divided over threads. */
static bool plan_rounds(tni_scan *s)
{
    s->why = "sequences are fewer than threads: blocks are divided";
    s->stream = s->step[0] == s->width[0];
    return few_and_long(s, tni_scan_sequences(s));
}

/* One sequence after the other. */
static bool plan_lines(tni_scan *s)
{
    s->why = dense(s) ? "a sequence is dense in memory" : "a sequence is moved block by block";
    s->stream = s->step[0] == s->width[0];
    return true;
}

static void run_nothing(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry)
{
    (void)s, (void)dst, (void)src, (void)carry;
}

static const tni_scan_way ways[] = {
    {"nothing", plan_nothing, run_nothing, false},
    {"column rounds", plan_column_rounds, tni_scan_run_column_rounds, false},
    {"columns", plan_columns, tni_scan_run_columns, false},
    {"short rows", plan_short, tni_scan_run_short, true},
    {"transpose", plan_narrow, tni_scan_run_narrow, false},
    {"rounds", plan_rounds, tni_scan_run_rounds, false},
    {"line", plan_lines, tni_scan_run_lines, false},
};

void tni_scan_choose(tni_scan *s)
{
    for (s->way = ways; !s->way->plan(s); s->way++)
        ASSERT(s->way + 1 < ways + COUNT(ways));
    s->stream = s->stream && (s->class->streams || s->way->streams) &&
                s->count * s->width[0] >= tni_cache_sizes()->stream;
}

void tni_scan_run(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry)
{
    ASSERT(s->carries == (carry != NULL));
    ASSERT(s->at % TNI_SCAN_GROUP == 0 && (s->carries || s->at == 0));
    char *d = dst + s->nest.shift[0];
    const char *p = s->n ? src + s->nest.shift[1] : d; /* if n is 0, src is not read */
    char *states = s->carries ? (char *)carry + s->nest.shift[2] : NULL;
    s->way->run(s, d, p, (tni_scan_state *)(void *)states);
}
