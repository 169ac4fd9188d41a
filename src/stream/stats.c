/* stats.c - statistics of all elements of a source: extremes, mean, deviation, counts,
 * histogram.
 *
 * A box is a run of the elements in row-major order.  Workers reduce it by several folds, whose
 * states are merged in the order of runs.  Infinities are replaced by NaN, which the folds of
 * floats skip. */
#include <math.h>
#include <string.h>

#include "stream.h"

enum { FOLDS = 5, MASK = 1 << 16 };

/* The folds of floats, and of other dtypes; complex numbers use only the last one. */
static const tn_reduction fold_ops[2][FOLDS] = {
    {TN_REDUCE_NANMIN, TN_REDUCE_NANMAX, TN_REDUCE_NANMEAN, TN_REDUCE_NANSTD,
     TN_REDUCE_COUNT_NONZERO},
    {TN_REDUCE_MIN, TN_REDUCE_MAX, TN_REDUCE_MEAN, TN_REDUCE_STD, TN_REDUCE_COUNT_NONZERO},
};

enum { NANS, INFS, COUNTERS }; /* words at the start of a box, before the states */

typedef struct stats {
    const tn_stream *job;
    tni_runs runs;
    tni_fold fold[FOLDS];
    tn_dtype result[FOLDS];
    int first; /* the first fold in use */
    bool floats;
    int64_t words; /* words of the head of a box */
    tni_fold_pairs pairs[FOLDS];
    tni_word state[FOLDS][TNI_FOLD_LEVELS * TNI_FOLD_WORDS];
    int64_t counter[COUNTERS];
    int64_t passes, pass; /* for progress */
    int64_t bins, *counts;
    double low, high;
} stats;

/* ---- NaN and infinities ---- */

static tn_status count_where(tn_op op, const tn_tensor *x, const tn_tensor *mask, int64_t *n)
{
    tn_tensor number;
    TRY(tn_apply(op, NULL, mask, 1, &x));
    TRY(tn_init(&number, n, TN_I64, 0, NULL));
    return tn_reduce(TN_REDUCE_COUNT_NONZERO, NULL, &number, mask, TN_ALL_AXES, NULL);
}

/* Count NaN and infinities in a dense piece; replace infinities by NaN. */
static tn_status take_out(const stats *s, const tn_tensor *piece, char *bytes, tni_word *head)
{
    const int64_t n = tni_numel(piece), width = tni_width(piece->dtype);
    char nothing[16];
    tn_tensor nan;
    TRY(tn_init(&nan, nothing, piece->dtype, 0, NULL));
    if (s->floats)
        TRY(tn_cast(&nan, TN_SCALAR_F64((double)NAN)));
    for (int64_t i = 0; i < n; i += MASK) {
        const int64_t m = n - i < MASK ? n - i : MASK;
        int64_t finite, nans;
        tn_tensor x, mask;
        TRY(tn_init(&x, (char *)piece->data + i * width, piece->dtype, 1, &m));
        TRY(tn_init(&mask, bytes, TN_BOOL, 1, &m));
        TRY(count_where(TN_ISFINITE, &x, &mask, &finite));
        if (finite == m)
            continue;
        TRY(count_where(TN_ISNAN, &x, &mask, &nans));
        head[NANS].i += nans;
        head[INFS].i += m - finite - nans;
        if (s->floats && finite + nans < m) {
            TRY(tn_apply(TN_ISFINITE, NULL, &mask, 1, (const tn_tensor *const[]){&x}));
            TRY(tn_apply(TN_WHERE, NULL, &x, 3, (const tn_tensor *const[]){&mask, &x, &nan}));
        }
    }
    return TN_OK;
}

/* ---- boxes ---- */

static tn_status read_piece(const stats *s, const tn_tensor *out, const int64_t *at,
                            tn_tensor *piece)
{
    const tni_box window = {0};
    return tni_runs_read(&s->runs, &window, at[0],
                         (char *)((tni_word *)out->data + s->words) + MASK, piece);
}

static tn_status stats_box(void *user, const tn_tensor *out, int n,
                           const tn_tensor *const *srcs, const int64_t *at)
{
    const stats *s = user;
    tni_word *head = out->data;
    tn_tensor piece, states;
    (void)n;
    (void)srcs;
    TRY(read_piece(s, out, at, &piece));
    head[NANS].i = head[INFS].i = 0;
    if (s->floats || s->first)
        TRY(take_out(s, &piece, (char *)(head + s->words), head));
    tni_word *to = head + COUNTERS;
    for (int k = s->first; k < FOLDS; k++) {
        tni_fold f;
        tni_inherit(&states, &piece, to, 2);
        tni_set_axis(&states, 0, piece.shape[0], 0);
        tni_set_axis(&states, 1, 1, sizeof *to);
        tni_fold_plan_run(&f, &s->fold[k], &states, sizeof *to, &piece, 1, at[0] * s->runs.run);
        const char *const from[TNI_FOLD_SOURCES] = {piece.data, piece.data};
        tni_fold_run(&f, (char *)to, from);
        to += s->fold[k].class->words;
    }
    return TN_OK;
}

static tn_status stats_put(void *user, const tn_tensor *block, const int64_t *at)
{
    stats *s = user;
    const tni_word *head = block->data, *from = head + COUNTERS;
    (void)at;
    for (int k = 0; k < COUNTERS; k++)
        s->counter[k] += head[k].i;
    for (int k = s->first; k < FOLDS; k++) {
        const int words = s->fold[k].class->words;
        tni_fold_pairs *p = &s->pairs[k];
        memcpy(p->state + p->depth * words, from, (size_t)words * sizeof *from);
        tni_fold_push(&s->fold[k], p, 1);
        from += words;
    }
    return TN_OK;
}

static tn_status bins_box(void *user, const tn_tensor *out, int n, const tn_tensor *const *srcs,
                          const int64_t *at)
{
    const stats *s = user;
    tn_tensor piece, counts;
    (void)n;
    (void)srcs;
    TRY(read_piece(s, out, at, &piece));
    TRY(tn_init(&counts, out->data, TN_I64, 1, &s->bins));
    return tn_histogram(&counts, &piece, s->low, s->high);
}

static tn_status bins_put(void *user, const tn_tensor *block, const int64_t *at)
{
    stats *s = user;
    const tni_word *head = block->data;
    (void)at;
    for (int64_t i = 0; i < s->bins; i++)
        s->counts[i] += head[i].i;
    return TN_OK;
}

/* ---- passes ---- */

static tn_status stats_progress(void *user, int64_t done, int64_t total)
{
    const stats *s = user;
    const double all = (double)tn_nbytes(&s->runs.source->view);
    const double now = ((double)done / (double)total + (double)s->pass) / (double)s->passes;
    return s->job->progress(s->job->user, (int64_t)(now * all), (int64_t)all);
}

/* Run one pass or, with facts, only describe it. */
static tn_status run_pass(stats *s,
                          tn_status (*fn)(void *, const tn_tensor *, int,
                                          const tn_tensor *const *, const int64_t *),
                          tn_status (*put)(void *, const tn_tensor *, const int64_t *),
                          tn_stream_facts *facts)
{
    const int64_t slots =
        s->words + MASK / (int64_t)sizeof(tni_word) + tni_ceil_div(s->runs.piece, 8);
    const tn_stream_map map = {.fn = fn, .user = s};
    tn_stream inner = {.recipe = TN_STREAM_MAP,
                       .args = &map,
                       .put = put,
                       .progress = s->job->progress ? stats_progress : NULL,
                       .user = s,
                       .max_mem = s->job->max_mem,
                       .box = slots,
                       .threads = s->job->threads};
    TRY(tn_init(&inner.out, NULL, TN_U64, 2, (const int64_t[]){s->runs.runs, slots}));
    return tni_stream_inner(&inner, facts);
}

static tn_status plan_folds(stats *s, const tn_tensor *view)
{
    const bool complex = tni_is_complex(view->dtype);
    s->floats = tni_is_float(view->dtype);
    s->first = complex ? FOLDS - 1 : 0;
    s->words = COUNTERS;
    for (int k = s->first; k < FOLDS; k++) {
        const tn_reduction op = fold_ops[!s->floats][k];
        tn_plan *plan = NULL;
        tn_tensor dst, src = *view;
        src.flags = 0;
        TRY(tn_reduction_result(op, view->dtype, &s->result[k]));
        if (s->floats && k < FOLDS - 1)
            s->result[k] = TN_F64;
        TRY(tn_init(&dst, NULL, s->result[k], 0, NULL));
        TRY(tn_plan_reduce(&plan, op, NULL, &dst, &src, TN_ALL_AXES, NULL));
        s->fold[k] = *tni_fold_of(plan);
        s->pairs[k].state = s->state[k];
        s->words += s->fold[k].class->words;
        tn_plan_free(plan);
    }
    return TN_OK;
}

/* The result of fold k, cast to another dtype. */
static tn_status result_of(stats *s, int k, tn_dtype as, void *to)
{
    char bytes[16];
    tn_tensor from, d;
    tni_fold_results(&s->fold[k], bytes, 0, s->pairs[k].state, 1);
    TRY(tn_init(&from, bytes, s->result[k], 0, NULL));
    TRY(tn_init(&d, to, as, 0, NULL));
    return tn_cast(&d, &from);
}

static tn_status first_pass(stats *s, tn_stats *made)
{
    int64_t nonzero;
    TRY(run_pass(s, stats_box, stats_put, NULL));
    for (int k = s->first; k < FOLDS; k++)
        tni_fold_close(&s->fold[k], &s->pairs[k], 1);
    TRY(result_of(s, FOLDS - 1, TN_I64, &nonzero));
    made->zeros = made->n - nonzero;
    made->nan = s->counter[NANS];
    made->inf = s->counter[INFS];
    made->finite = made->n - made->nan - made->inf;
    if (s->first)
        return TN_OK;
    double *const to[] = {&made->min, &made->max, &made->mean, &made->std};
    for (int k = 0; k < 4; k++)
        TRY(result_of(s, k, TN_F64, to[k]));
    const tn_dtype exact = s->result[0] == TN_U64 ? TN_U64 : TN_I64;
    TRY(result_of(s, 0, exact, &made->low));
    return result_of(s, 1, exact, &made->high);
}

static tn_status second_pass(stats *s, const tn_stats *made)
{
    s->low = made->min;
    s->high = made->max;
    if (!(s->low < s->high)) { /* a single value goes in the middle */
        const double half = fabs(s->low) > 1 ? fabs(s->low) / 2 : 0.5;
        s->low -= half;
        s->high += half;
    }
    s->pass = 1;
    s->words = s->bins;
    return run_pass(s, bins_box, bins_put, NULL);
}

static tn_status check_stats(const tn_stream *job, int64_t bins)
{
    if (job->n != 1 || !job->sources)
        return tni_fail(TN_EARG, "stream_stats: got %d sources, expected 1", job->n);
    if (bins < 0 || bins > TN_STATS_MOST_BINS)
        return tni_fail(TN_EARG, "stream_stats: got %lld bins, expected [0, %d]",
                        (long long)bins, TN_STATS_MOST_BINS);
    return tni_check(&job->sources[0].view, "stream_stats: source");
}

/* Plan the folds, pieces and passes of a source that has elements. */
static tn_status plan_passes(stats *s)
{
    const tn_stream *job = s->job;
    const tn_tensor *view = &job->sources[0].view;
    s->passes = s->bins > 0 && !tni_is_complex(view->dtype) ? 2 : 1;
    TRY(plan_folds(s, view));
    tni_runs_plan(&s->runs, &job->sources[0], UINT64_MAX, true, 64, tni_stream_share(job));
    return TN_OK;
}

tn_status tn_stream_stats(const tn_stream *job, tn_stats *out, int64_t bins, int64_t *counts)
{
    if (!job || !out || (bins > 0 && !counts))
        return tni_fail(TN_ENULL, "stream_stats: %s is NULL",
                        !job   ? "job"
                        : !out ? "stats"
                               : "counts");
    TRY(check_stats(job, bins));
    const tn_tensor *view = &job->sources[0].view;
    if (!job->sources[0].file && !job->sources[0].read)
        TRY(tni_check_data(view, "stream_stats: source"));
    stats s = {.job = job, .bins = bins, .counts = counts};
    tn_stats made = {.n = tni_numel(view)};
    made.min = made.max = made.mean = made.std = (double)NAN;
    for (int64_t i = 0; i < bins; i++)
        counts[i] = 0;
    if (made.n > 0) {
        TRY(plan_passes(&s));
        TRY(first_pass(&s, &made));
        if (s.passes > 1 && made.finite > 0)
            TRY(second_pass(&s, &made));
    }
    *out = made;
    return TN_OK;
}

tn_status tn_stream_stats_plan(const tn_stream *job, int64_t bins, tn_stream_facts *facts)
{
    tn_stream_facts f = {.way = "nothing"};
    if (!job || !facts)
        return tni_fail(TN_ENULL, "stream_stats_plan: %s is NULL", job ? "facts" : "job");
    TRY(check_stats(job, bins));
    if (tni_numel(&job->sources[0].view) > 0) {
        stats s = {.job = job, .bins = bins};
        TRY(plan_passes(&s));
        TRY(run_pass(&s, stats_box, stats_put, &f));
        f.box = s.runs.piece / tni_width(job->sources[0].view.dtype);
        f.shortest_read = s.runs.span;
        f.read = s.passes * tni_stream_bytes_read(job);
    }
    f.recipe = "stats";
    f.written = 0;
    *facts = f;
    return TN_OK;
}
