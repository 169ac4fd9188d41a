/* bench_index.c - tenon_bench_index [--quick] [--threads N] [--only WORD] [--list]
 *                                   [--peers bench/peers_index.py]
 *
 * Operations that data controls: masks, searches, scatters, counts.  The limit is a streaming
 * copy of the bytes of src, interleaved in one run; the best times count.  Results, except
 * those of unique, are written to memory that is reused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "beside.h"
#include "measure.h"

typedef enum kind { SELECT, NONZERO, SEARCH, UNIQUE, PUT, TAKE, COUNT, HISTOGRAM } kind;

typedef struct work {
    const char *name;
    kind kind;
    tn_dtype dtype;
    int64_t n;     /* elements, or rows */
    int64_t width; /* of a row; searches: number of elements searched */
    int op;        /* a tn_put_op; masks: percent set */
} work;

static const work works[] = {
    {"masked_select f32 50 %", SELECT, TN_F32, 10000000, 1, 50},
    {"masked_select f32 2 %", SELECT, TN_F32, 10000000, 1, 2},
    {"masked_select u8 50 %", SELECT, TN_U8, 10000000, 1, 50},
    {"masked_select f64 50 %", SELECT, TN_F64, 10000000, 1, 50},
    {"nonzero bool 50 %", NONZERO, TN_BOOL, 10000000, 1, 50},
    {"nonzero bool 1 %", NONZERO, TN_BOOL, 10000000, 1, 1},
    {"nonzero f32 (N, 100) 1 %", NONZERO, TN_F32, 100000, 100, 1},
    {"searchsorted f32 in 1e6", SEARCH, TN_F32, 4000000, 1000000, 0},
    {"searchsorted f64 in 1e6", SEARCH, TN_F64, 4000000, 1000000, 0},
    {"searchsorted i32 in 1000", SEARCH, TN_I32, 4000000, 1000, 0},
    {"unique f32", UNIQUE, TN_F32, 4000000, 1, 0},
    {"unique i64 of 1000", UNIQUE, TN_I64, 4000000, 1000, 0},
    {"put add f32", PUT, TN_F32, 4000000, 1, TN_PUT_ADD},
    {"put max f32", PUT, TN_F32, 4000000, 1, TN_PUT_MAX},
    {"put add rows of 512 B", PUT, TN_F32, 131072, 128, TN_PUT_ADD},
    {"put max rows of 512 B", PUT, TN_F32, 131072, 128, TN_PUT_MAX},
    {"put add rows of 64 B", PUT, TN_F32, 1048576, 16, TN_PUT_ADD},
    {"put set rows of 512 B", PUT, TN_F32, 131072, 128, TN_PUT_SET},
    {"take rows of 4 B", TAKE, TN_F32, 8388608, 1, 0},
    {"take rows of 8 B", TAKE, TN_F32, 4194304, 2, 0},
    {"take rows of 16 B", TAKE, TN_F32, 4194304, 4, 0},
    {"take rows of 32 B", TAKE, TN_F32, 2097152, 8, 0},
    {"bincount 65536", COUNT, TN_I64, 4000000, 65536, 0},
    {"histogram 100 bins", HISTOGRAM, TN_F32, 10000000, 100, 0},
};

typedef struct runner {
    const work *w;
    tn_tensor src, mask, dst, index;
} runner;

static void filled(tn_tensor *t, tn_dtype dtype, int64_t n, int64_t width, int64_t most)
{
    MUST(tn_alloc(t, dtype, width > 1 ? 2 : 1, (int64_t[]){n, width}));
    if (dtype == TN_F32 || dtype == TN_F64)
        MUST(tn_randn(t, 7));
    else
        MUST(tn_randint(t, 7, 0, most));
}

/* Make a mask of this dtype in which `percent` of the elements are nonzero. */
static void mask_filled(tn_tensor *t, tn_dtype dtype, int64_t n, int64_t width, int percent)
{
    tn_tensor x;
    filled(&x, TN_I32, n, width, 100);
    MUST(tn_alloc(t, dtype, x.ndim, x.shape));
    tn_tensor below;
    MUST(tn_alloc(&below, TN_BOOL, x.ndim, x.shape));
    MUST(tn_binary(TN_LT, &below, &x, TN_SCALAR_I32(percent)));
    MUST(tn_cast(t, &below));
    tn_free(&below);
    tn_free(&x);
}

static void make(runner *r, const work *w)
{
    const bool rows = w->kind == PUT || w->kind == TAKE;
    *r = (runner){.w = w};
    if (w->kind == NONZERO) {
        mask_filled(&r->src, w->dtype, w->n, w->width, w->op);
        MUST(tn_nonzero_copy(&r->dst, &r->src));
        return;
    }
    filled(&r->src, w->dtype, w->n, rows ? w->width : 1, w->width > 1 ? w->width : 256);
    if (w->kind == SELECT) {
        mask_filled(&r->mask, TN_BOOL, w->n, 1, w->op);
        MUST(tn_masked_select_copy(&r->dst, &r->src, &r->mask));
    }
    if (w->kind == SEARCH) {
        filled(&r->index, w->dtype, w->width, 1, 1 << 30);
        MUST(tn_sort(&r->index, NULL, &r->index, 0, 0));
        MUST(tn_alloc(&r->dst, TN_I64, 1, &w->n));
    }
    if (w->kind == COUNT || w->kind == HISTOGRAM)
        MUST(tn_alloc(&r->dst, TN_I64, 1, &w->width));
    if (rows) {
        MUST(tn_alloc(&r->dst, w->dtype, r->src.ndim, r->src.shape));
        memset(r->dst.data, 0, (size_t)tn_nbytes(&r->dst));
        filled(&r->index, TN_I64, w->n, 1, w->n);
    }
}

static void run_work(runner *r)
{
    tn_tensor out;
    switch (r->w->kind) {
    case SELECT:
        MUST(tn_masked_select(&r->dst, &r->src, &r->mask));
        return;
    case NONZERO:
        MUST(tn_nonzero(&r->dst, &r->src));
        return;
    case UNIQUE:
        MUST(tn_unique_copy(&out, NULL, NULL, NULL, &r->src));
        tn_free(&out);
        return;
    case SEARCH:
        MUST(tn_searchsorted(&r->dst, &r->index, &r->src, false));
        return;
    case PUT:
        MUST(tn_put((tn_put_op)r->w->op, &r->dst, 0, &r->index, &r->src));
        return;
    case TAKE:
        MUST(tn_take(&r->dst, &r->src, 0, &r->index));
        return;
    case COUNT:
        MUST(tn_bincount(&r->dst, &r->src));
        return;
    default:
        MUST(tn_histogram(&r->dst, &r->src, -4, 4));
    }
}

static void race(const work *w, arena *a, int threads, double duration)
{
    runner r;
    make(&r, w);
    double best = 1e9, limit = 1e9;
    const int64_t bytes = (int64_t)tn_nbytes(&r.src);
    for (double end = seconds() + duration; seconds() < end;) {
        const double t0 = seconds();
        stream_copy(a->dst, a->src, bytes, threads);
        const double t1 = seconds();
        run_work(&r);
        const double t2 = seconds();
        limit = t1 - t0 < limit ? t1 - t0 : limit;
        best = t2 - t1 < best ? t2 - t1 : best;
    }
    const peer *p = peer_of(w->name);
    printf("%-26s %8.2f %8.2f  %5.2f %8s %8s\n", w->name, best * 1e3, limit * 1e3, limit / best,
           p->numpy, p->torch);
    fflush(stdout);
    tn_tensor *all[] = {&r.src, &r.mask, &r.dst, &r.index};
    for (int i = 0; i < 4; i++)
        if (all[i]->data)
            tn_free(all[i]);
}

/* Print a line for peers_index.py: name, kind, dtype, n, width, op. */
static void print_case(const work *w)
{
    static const char *const kinds[] = {"select", "nonzero", "search",   "unique",
                                        "put",    "take",    "bincount", "histogram"};
    printf("%s\t%s\t%s\t%lld\t%lld\t%d\n", w->name, kinds[w->kind], tn_dtype_name(w->dtype),
           (long long)w->n, (long long)w->width, w->op);
}

int main(int argc, char **argv)
{
    const char *only = NULL, *script = NULL;
    bool quick = false, list = false;
    int threads = 2;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick"))
            quick = true;
        else if (!strcmp(argv[i], "--list"))
            list = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--peers") && i + 1 < argc)
            script = argv[++i];
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            threads = atoi(argv[++i]);
        else
            give_up("tenon_bench_index",
                    "[--quick] [--threads N] [--only WORD] [--list] [--peers SCRIPT]");
    if (script)
        peers_read(argv[0], only, script, quick ? "--quick" : "");
    tn_handle *h;
    MUST(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = threads}));
    MUST(tn_handle_use(h));
    arena a = arena_make((int64_t)96 << 20, true);
    if (!list)
        printf("%-26s %8s %8s  %s %8s %8s\n", "ms", "tenon", "limit", "share", "NumPy",
               "PyTorch");
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        if (only && !strstr(works[i].name, only))
            continue;
        if (list)
            print_case(&works[i]);
        else
            race(&works[i], &a, threads, quick ? 0.3 : 1.5);
    }
    arena_free(&a);
    tn_handle_destroy(h);
    return 0;
}
