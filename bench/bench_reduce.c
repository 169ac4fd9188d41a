/* bench_reduce.c - tenon_bench_reduce [--quick] [--threads N] [--only WORD] [--list] [--sweep]
 *                                     [--peers bench/peers_reduce.py]
 *
 * Reductions, row functions, scans and takes compared with a pass that only reads (or copies)
 * the same bytes with the same threads, interleaved in one run; arrays that fit a cache with
 * one thread.  The best times count.  "reached" is the share of that limit, printed next to its
 * goal: "<" is below it, "<<" below half of it.  --peers first runs the cases in NumPy and
 * PyTorch, where installed; their figures are GB/s.  The goal of a sort is twice NumPy's speed,
 * which is always measured first: "-" if NumPy is missing.  --sweep looks for performance
 * cliffs instead: every axis of widths around powers of two, for several dtypes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "beside.h"
#include "measure.h"

typedef enum kind { REDUCE, SOFTMAX, RMS, LAYER, SCAN, TAKE, SORT, TOPK, LOG_SOFTMAX } kind;

typedef struct work {
    const char *name;
    kind kind;
    tn_dtype dtype;
    int64_t shape[3]; /* logical */
    int order[3];     /* axes in memory, outermost first */
    int op;           /* a tn_reduction */
    unsigned axes;    /* bit mask of the reduced axes, or the axis */
    int every;        /* step along axis 1 */
    double goal;
} work;

#define ROWS                                                                                   \
    {                                                                                          \
        0, 1, 2                                                                                \
    }
#define TURNED                                                                                 \
    {                                                                                          \
        0, 2, 1                                                                                \
    }
static const work works[] = {
    {"sum all", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_SUM, 7, 1, 0.95},
    {"sum in the L2", REDUCE, TN_F32, {1, 64, 1024}, ROWS, TN_REDUCE_SUM, 7, 1, 0.9},
    {"sum in the L1", REDUCE, TN_F32, {1, 6, 1024}, ROWS, TN_REDUCE_SUM, 7, 1, 0.55},
    {"sum last 1024", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_SUM, 4, 1, 0.95},
    {"sum last 128", REDUCE, TN_F32, {1, 262144, 128}, ROWS, TN_REDUCE_SUM, 4, 1, 0.9},
    {"sum last 33", REDUCE, TN_F32, {1, 1000000, 33}, ROWS, TN_REDUCE_SUM, 4, 1, 0.9},
    {"sum first 1024", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"sum first 256", REDUCE, TN_F32, {1, 131072, 256}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"sum first 8192", REDUCE, TN_F32, {1, 4096, 8192}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"sum middle", REDUCE, TN_F32, {32, 1024, 1024}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"sum of .T, all", REDUCE, TN_F32, {1, 8192, 4096}, TURNED, TN_REDUCE_SUM, 6, 1, 0.7},
    {"sum of .T, no 2048", REDUCE, TN_F32, {1, 8191, 4097}, TURNED, TN_REDUCE_SUM, 6, 1, 0.7},
    {"sum first 31", REDUCE, TN_F32, {1, 1000000, 31}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"sum first 4096", REDUCE, TN_F32, {1, 8192, 4096}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"sum last 31", REDUCE, TN_F32, {1, 1000000, 31}, ROWS, TN_REDUCE_SUM, 4, 1, 0.9},
    {"sum (N, 3) first", REDUCE, TN_F32, {1, 11000000, 3}, ROWS, TN_REDUCE_SUM, 2, 1, 0.6},
    {"sum (N, 3) last", REDUCE, TN_F32, {1, 11000000, 3}, ROWS, TN_REDUCE_SUM, 4, 1, 0.6},
    {"sum 0, 2 of [:, ::2]", REDUCE, TN_F32, {64, 512, 1024}, ROWS, TN_REDUCE_SUM, 5, 2, 0.8},
    {"mean all", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_MEAN, 7, 1, 0.95},
    {"max all", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_MAX, 7, 1, 0.95},
    {"max last", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_MAX, 4, 1, 0.95},
    {"max first", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_MAX, 2, 1, 0.85},
    {"max middle", REDUCE, TN_F32, {32, 1024, 1024}, ROWS, TN_REDUCE_MAX, 2, 1, 0.85},
    {"argmax all", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_ARGMAX, 7, 1, 0.85},
    {"argmax last", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_ARGMAX, 4, 1, 0.85},
    {"argmax first", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_ARGMAX, 2, 1, 0.7},
    {"var all", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_VAR, 7, 1, 0.85},
    {"var last", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_VAR, 4, 1, 0.85},
    {"var first", REDUCE, TN_F32, {1, 32768, 1024}, ROWS, TN_REDUCE_VAR, 2, 1, 0.7},
    {"sum f16 all", REDUCE, TN_F16, {1, 65536, 1024}, ROWS, TN_REDUCE_SUM, 7, 1, 0.95},
    {"sum f16 first", REDUCE, TN_F16, {1, 65536, 1024}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"sum bf16 all", REDUCE, TN_BF16, {1, 65536, 1024}, ROWS, TN_REDUCE_SUM, 7, 1, 0.95},
    {"sum bf16 first", REDUCE, TN_BF16, {1, 65536, 1024}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"max f16 all", REDUCE, TN_F16, {1, 65536, 1024}, ROWS, TN_REDUCE_MAX, 7, 1, 0.95},
    {"sum i8 all", REDUCE, TN_I8, {1, 131072, 1024}, ROWS, TN_REDUCE_SUM, 7, 1, 0.95},
    {"sum i8 first", REDUCE, TN_I8, {1, 131072, 1024}, ROWS, TN_REDUCE_SUM, 2, 1, 0.85},
    {"count bool all",
     REDUCE,
     TN_BOOL,
     {1, 131072, 1024},
     ROWS,
     TN_REDUCE_COUNT_NONZERO,
     7,
     1,
     0.95},
    {"softmax 4096", SOFTMAX, TN_F32, {1, 8192, 4096}, ROWS, 0, 2, 1, 0.6},
    {"softmax 128", SOFTMAX, TN_F32, {1, 262144, 128}, ROWS, 0, 2, 1, 0.6},
    {"rms_norm 4096", RMS, TN_F32, {1, 8192, 4096}, ROWS, 0, 2, 1, 0.75},
    {"rms_norm 128", RMS, TN_F32, {1, 262144, 128}, ROWS, 0, 2, 1, 0.75},
    {"layer_norm 4096", LAYER, TN_F32, {1, 8192, 4096}, ROWS, 0, 2, 1, 0.75},
    {"layer_norm 128", LAYER, TN_F32, {1, 262144, 128}, ROWS, 0, 2, 1, 0.75},
    {"softmax bf16", SOFTMAX, TN_BF16, {1, 16384, 4096}, ROWS, 0, 2, 1, 0.6},
    {"rms_norm bf16", RMS, TN_BF16, {1, 16384, 4096}, ROWS, 0, 2, 1, 0.75},
    {"cumsum last", SCAN, TN_F32, {1, 8192, 4096}, ROWS, TN_SCAN_SUM, 2, 1, 0.55},
    {"cumsum first", SCAN, TN_F32, {1, 8192, 4096}, ROWS, TN_SCAN_SUM, 1, 1, 0.7},
    {"cumsum 1-D", SCAN, TN_F32, {1, 1, 33554432}, ROWS, TN_SCAN_SUM, 2, 1, 0.5},
    {"softmax strided", SOFTMAX, TN_F32, {1, 4096, 8192}, TURNED, 0, 2, 1, 0.6},
    {"softmax first", SOFTMAX, TN_F32, {1, 8192, 4096}, ROWS, 0, 1, 1, 0.6},
    {"take rows of 64 B", TAKE, TN_F32, {1, 2097152, 16}, ROWS, 0, 0, 1, 0.4},
    {"take rows of 512 B", TAKE, TN_F32, {1, 262144, 128}, ROWS, 0, 0, 1, 0.6},
    {"take rows of 4 KB", TAKE, TN_F32, {1, 32768, 1024}, ROWS, 0, 0, 1, 0.65},
    {"sort rows of 4096", SORT, TN_F32, {1, 1024, 4096}, ROWS, 0, 2, 1, 0},
    {"topk 50 of 50257", TOPK, TN_F32, {1, 32, 50257}, ROWS, 0, 2, 1, 0.5},
};

typedef struct runner {
    const work *w;
    tn_tensor src, dst, index;
    tn_plan *plan;
    int64_t bytes; /* bytes read; also written if the limit is a copy */
    bool copies;
    int threads;
} runner;

static tn_handle *many, *one; /* with the requested threads; with one */

typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));

/* Load and combine all vectors in address order, several at a time, so that the speed does not
 * depend on the alignment of the loop. */
static uint64_t read_part(const pair *x, int64_t n)
{
    pair p = {0}, q = {0}, r = {0}, s = {0};
    for (int64_t i = 0; i + 4 <= n; i += 4) {
        p |= x[i];
        q |= x[i + 1];
        r |= x[i + 2];
        s |= x[i + 3];
    }
    p |= q | r | s;
    return p[0] | p[1];
}

static void read_only(const char *src, int64_t bytes, int threads)
{
    const pair *x = (const pair *)(const void *)src;
    const int64_t each = bytes / 64 / threads * 4;
    uint64_t all = 0;
    if (threads == 1)
        all = read_part(x, each);
    else {
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) reduction(| : all)
#endif
        for (int t = 0; t < threads; t++)
            all |= read_part(x + t * each, each);
    }
    __asm__ volatile("" ::"r"(all)); /* keep the result alive */
}

static void run_work(runner *r)
{
    const int dim = (int)r->w->axes;
    switch (r->w->kind) {
    case REDUCE:
        MUST(tn_plan_run(r->plan, r->dst.data, (const void *const[]){r->src.data}));
        break;
    case SOFTMAX:
        MUST(tn_softmax(&r->dst, &r->src, dim));
        break;
    case LOG_SOFTMAX:
        MUST(tn_log_softmax(&r->dst, &r->src, dim));
        break;
    case RMS:
        MUST(tn_rms_norm(&r->dst, &r->src, NULL, 1e-6));
        break;
    case LAYER:
        MUST(tn_layer_norm(&r->dst, &r->src, NULL, NULL, 1e-6));
        break;
    case SCAN:
        MUST(tn_scan((tn_scan_op)r->w->op, &r->dst, &r->src, dim));
        break;
    case TAKE:
        MUST(tn_take(&r->dst, &r->src, dim, &r->index));
        break;
    default:
        MUST(tn_sort(&r->dst, NULL, &r->src, dim, r->w->kind == TOPK ? TN_DESCENDING : 0));
    }
}

static void make(runner *r, const work *w, const arena *a)
{
    int64_t memory[3], shape[3];
    int axes[3], naxes = 0, back[3];
    for (int i = 0; i < 3; i++) {
        memory[i] = w->shape[w->order[i]];
        back[w->order[i]] = i;
        if (w->axes >> i & 1)
            axes[naxes++] = i;
    }
    MUST(tn_init(&r->src, a->src, w->dtype, 3, memory));
    MUST(tn_permute(&r->src, &r->src, back));
    if (w->every > 1)
        MUST(tn_slice(&r->src, &r->src, 1, 0, INT64_MAX, w->every));
    r->bytes = tn_nbytes(&r->src);
    r->copies = w->kind != REDUCE && w->kind != SORT && w->kind != TOPK;
    if (w->kind == REDUCE) {
        int ndim;
        tn_dtype out;
        MUST(tn_reduce_shape(&r->src, naxes, axes, false, &ndim, shape));
        MUST(tn_reduction_result((tn_reduction)w->op, w->dtype, &out));
        MUST(tn_init(&r->dst, a->dst, out, ndim, shape));
        MUST(
            tn_plan_reduce(&r->plan, (tn_reduction)w->op, NULL, &r->dst, &r->src, naxes, axes));
        return;
    }
    memcpy(shape, w->shape, sizeof shape);
    if (w->kind == TOPK)
        shape[w->axes] = 50;
    /* Few equal elements, as in logits; sums of random bits would soon be NaN. */
    if (w->kind == TOPK || w->kind == SORT || (w->kind == SCAN && w->dtype != TN_I64))
        MUST(tn_randn(&r->src, 7));
    MUST(tn_init(&r->dst, a->dst, w->dtype, 3, shape));
    if (w->kind == TAKE) {
        MUST(tn_select(&r->src, &r->src, 0, 0));
        MUST(tn_select(&r->dst, &r->dst, 0, 0));
        MUST(tn_alloc(&r->index, TN_I64, 1, &w->shape[1]));
        MUST(tn_randint(&r->index, 7, 0, w->shape[1]));
    }
}

static void limit_pass(const runner *r, const arena *a)
{
    if (r->copies)
        stream_copy(a->dst, a->src, r->bytes, r->threads);
    else
        read_only(a->src, r->bytes, r->threads);
}

/* Measure one case.  An array that fits a cache is processed repeatedly by one thread, so that
 * a pass is long enough to be timed. */
static void race(const work *w, arena *a, int threads, double duration)
{
    enum { CACHED = 1 << 20, LONG = 16 << 20 };
    const int64_t bytes =
        w->shape[0] * w->shape[1] * w->shape[2] * (int64_t)tn_dtype_size(w->dtype);
    const int64_t times = bytes < CACHED ? LONG / bytes : 1;
    runner r = {.w = w, .threads = times > 1 ? 1 : threads};
    MUST(tn_handle_use(times > 1 ? one : many));
    make(&r, w, a);
    double best = 1e9, limit = 1e9;
    for (double end = seconds() + duration; seconds() < end;) {
        const double t0 = seconds();
        for (int64_t i = 0; i < times; i++)
            limit_pass(&r, a);
        const double t1 = seconds();
        for (int64_t i = 0; i < times; i++)
            run_work(&r);
        const double t2 = seconds();
        limit = t1 - t0 < limit ? t1 - t0 : limit;
        best = t2 - t1 < best ? t2 - t1 : best;
    }
    limit /= (double)times;
    best /= (double)times;
    const double moved = (double)r.bytes * (r.copies ? 2 : 1) / 1e9, share = limit / best;
    tn_facts facts = {0};
    if (r.plan)
        MUST(tn_plan_facts(&facts, r.plan));
    const peer *p = peer_of(w->name);
    const double goal = w->kind == SORT ? 2 * atof(p->numpy) / (moved / limit) : w->goal;
    char text[16] = "-";
    if (goal > 0)
        snprintf(text, sizeof text, "%.2f", goal);
    printf("%-22s %7.1f %7.1f  %5s  %5.2f %s %8s %8s  %s\n", w->name, moved / best,
           moved / limit, text, share,
           share >= goal       ? "  "
           : share >= goal / 2 ? "< "
                               : "<<",
           p->numpy, p->torch, facts.way);
    fflush(stdout);
    tn_plan_free(r.plan);
    if (r.index.data)
        tn_free(&r.index);
}

/* Measure an array of about the usual size whose rows have `width` elements. */
static void sweep_one(int op, tn_dtype dtype, int64_t width, int axis, arena *a, int threads)
{
    static const char *const axes[] = {"first", "middle", "last", "of .T"};
    const double goals[] = {0.85, 0.85, width < 16 ? 0.6 : 0.9, 0.7};
    const int64_t rows = ((int64_t)64 << 20) / (int64_t)tn_dtype_size(dtype) / width;
    char name[64];
    work w = {.name = name,
              .kind = REDUCE,
              .dtype = dtype,
              .shape = {1, rows, width},
              .order = ROWS,
              .op = op,
              .axes = axis == 2   ? 4
                      : axis == 3 ? 6
                                  : 2,
              .every = 1,
              .goal = width < 16 ? 0.6 : goals[axis]};
    if (op == TN_REDUCE_VAR || op == TN_REDUCE_ARGMAX)
        w.goal = axis == 2 ? 0.85 : 0.7;
    if (axis == 1)
        w.shape[0] = 16, w.shape[1] = rows / 16;
    if (axis == 3) /* rows in memory are columns of the sequence */
        memcpy(w.order, (int[]){0, 2, 1}, sizeof w.order);
    snprintf(name, sizeof name, "%s %s %s %lld", tn_reduction_name((tn_reduction)op),
             tn_dtype_name(dtype), axes[axis], (long long)width);
    race(&w, a, threads, 0.06);
}

/* Row functions and scans of any width, along the last axis and down the first. */
static void sweep_rows(const char *only, arena *a, int threads)
{
    static const struct {
        const char *name;
        kind kind;
        int op;
        double goal[2];
    } rows[] = {
        {"softmax", SOFTMAX, 0, {0.6, 0.6}},
        {"log_softmax", LOG_SOFTMAX, 0, {0.6, 0.6}},
        {"rms_norm", RMS, 0, {0.75, 0}},
        {"layer_norm", LAYER, 0, {0.75, 0}},
        {"cumsum", SCAN, TN_SCAN_SUM, {0.55, 0.7}},
        {"cummax", SCAN, TN_SCAN_MAX, {0.55, 0.7}},
    };
    static const int64_t widths[] = {3, 7, 15, 31, 33, 64, 127, 1000, 4096};
    static const tn_dtype dtypes[] = {TN_F32, TN_BF16, TN_F64, TN_I64};
    for (size_t o = 0; o < sizeof rows / sizeof *rows; o++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            for (int axis = 2; axis > 0; axis--)
                for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
                    char name[64];
                    const int64_t bytes = (int64_t)tn_dtype_size(dtypes[d]) * widths[i];
                    const work w = {.name = name,
                                    .kind = rows[o].kind,
                                    .dtype = dtypes[d],
                                    .shape = {1, ((int64_t)64 << 20) / bytes, widths[i]},
                                    .order = ROWS,
                                    .op = rows[o].op,
                                    .axes = (unsigned)axis,
                                    .every = 1,
                                    .goal = rows[o].goal[2 - axis]};
                    if (w.goal == 0 || (dtypes[d] == TN_I64 && w.kind != SCAN))
                        continue;
                    snprintf(name, sizeof name, "%s %s %s %lld", rows[o].name,
                             tn_dtype_name(dtypes[d]), axis == 2 ? "last" : "first",
                             (long long)widths[i]);
                    if (!only || strstr(name, only))
                        race(&w, a, threads, 0.06);
                }
}

static void sweep(const char *only, arena *a, int threads)
{
    static const int64_t widths[] = {3, 31, 33, 127, 4096, 4097};
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16, TN_F64, TN_I8, TN_I32};
    static const int ops[] = {TN_REDUCE_SUM, TN_REDUCE_MAX, TN_REDUCE_VAR, TN_REDUCE_ARGMAX};
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            for (int axis = 0; axis < 4; axis++)
                for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
                    if (!only || !strcmp(only, tn_reduction_name((tn_reduction)ops[o])))
                        sweep_one(ops[o], dtypes[d], widths[i], axis, a, threads);
    sweep_rows(only, a, threads);
}

/* Print a line for peers_reduce.py: name, kind, dtype, shape, axes. */
static void print_case(const work *w)
{
    static const char *const kinds[] = {"",     "softmax", "rms",  "layer",
                                        "scan", "take",    "sort", "topk"};
    const bool reduces = w->kind == REDUCE;
    printf("%s\t%s\t%s\t%lld %lld %lld\t", w->name,
           reduces ? tn_reduction_name((tn_reduction)w->op) : kinds[w->kind],
           tn_dtype_name(w->dtype), (long long)w->shape[0], (long long)w->shape[1],
           (long long)w->shape[2]);
    for (int i = 0, any = 0; i < 3; i++)
        if (reduces ? w->axes >> i & 1 : w->axes == (unsigned)i)
            printf("%s%d", any++ ? " " : "", i);
    printf("\t%d %d %d\t%d\n", w->order[0], w->order[1], w->order[2], w->every);
}

int main(int argc, char **argv)
{
    const char *only = NULL, *script = NULL;
    bool quick = false, list = false, cliffs = false;
    int threads = 2;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick"))
            quick = true;
        else if (!strcmp(argv[i], "--list"))
            list = true;
        else if (!strcmp(argv[i], "--sweep"))
            cliffs = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--peers") && i + 1 < argc)
            script = argv[++i];
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            threads = atoi(argv[++i]);
        else
            give_up(
                "tenon_bench_reduce",
                "[--quick] [--threads N] [--only WORD] [--list] [--sweep] [--peers SCRIPT]");
    if (script)
        peers_read(argv[0], only, script, quick ? "--quick" : "");
    else if (!list && !cliffs)
        for (size_t i = 0; i < sizeof works / sizeof *works; i++)
            if (works[i].kind == SORT && (!only || strstr(works[i].name, only)))
                peers_read(argv[0], works[i].name, BENCH_PEERS,
                           quick ? "--numpy --quick" : "--numpy");
    MUST(tn_handle_create(&many, TN_CPU, 0, &(tn_config){.threads = threads}));
    MUST(tn_handle_create(&one, TN_CPU, 0, &(tn_config){.threads = 1}));
    /* eight bytes for every three of rows of three */
    arena a = arena_make((int64_t)(cliffs ? 192 : 136) << 20, true);
    for (int64_t i = 0; i < a.bytes; i += 2) { /* bf16: ordinary numbers in any float */
        const float x = (float)(i * 2654435761u % 1000) / 500 - 1;
        memcpy(a.src + i, (const char *)&x + 2, 2);
    }
    if (!list)
        printf("%-22s %7s %7s  %5s  %s %8s %8s  %s\n", "", "GB/s", "limit", "goal", "reached",
               "NumPy", "PyTorch", "way");
    if (cliffs)
        sweep(only, &a, threads);
    for (size_t i = 0; i < sizeof works / sizeof *works && !cliffs; i++) {
        if (only && !strstr(works[i].name, only))
            continue;
        if (list)
            print_case(&works[i]);
        else
            race(&works[i], &a, threads, quick ? 0.3 : 1.5);
    }
    arena_free(&a);
    MUST(tn_handle_use(NULL));
    tn_handle_destroy(one);
    tn_handle_destroy(many);
    return 0;
}
