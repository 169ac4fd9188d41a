/* test_reduce_guard.c - reductions, scans, rows and indexing touch the bytes of their operands and
 * no others: each lies between two pages that cannot be touched, at the low or the high end, and
 * the results are those of the same call elsewhere in memory. */
#include "draw.h"
#include "fence.h"

enum { CASES = TEST_WATCHED ? 300 : 1500, OPERANDS = 3 };

typedef struct guarded {
    tn_tensor t[OPERANDS]; /* between pages; dst first */
    tn_tensor far[OPERANDS];
    char *memory[OPERANDS];
} guarded;

static fenced fence[OPERANDS];

/* A dense tensor whose axes are in memory in an order of their own, twice. */
static void lay(rng *r, guarded *g, int k, tn_dtype t, int ndim, const int64_t *shape)
{
    int order[3] = {0, 1, 2};
    int64_t stride[3] = {0}, bytes = (int64_t)tn_dtype_size(t);
    if (next(r) % 2)
        shuffle(r, order, ndim);
    for (int i = ndim - 1; i >= 0; i--) {
        stride[order[i]] = bytes;
        bytes *= shape[order[i]];
    }
    g->memory[k] = malloc((size_t)bytes + 1);
    assert_non_null(g->memory[k]);
    OK(tn_init_strided(&g->t[k], at_edge(&fence[k], bytes, next(r) % 2), t, ndim, shape,
                       stride));
    OK(tn_init_strided(&g->far[k], g->memory[k], t, ndim, shape, stride));
}

static void same_bytes(const guarded *g, int k)
{
    memcpy(g->memory[k], g->t[k].data, (size_t)tn_nbytes(&g->t[k]));
}

static void fill(rng *r, const guarded *g, int k)
{
    char *p = g->t[k].data;
    const int64_t width = (int64_t)tn_dtype_size(g->t[k].dtype);
    for (int64_t i = 0; i < tn_nbytes(&g->t[k]); i += width) {
        const float x = (float)pick(r, -999, 999) / 32;
        for (int64_t b = 0; b < width; b++)
            p[i + b] = (char)next(r);
        if (g->t[k].dtype == TN_F32)
            memcpy(p + i, &x, sizeof x);
    }
    same_bytes(g, k);
}

static void fill_indices(rng *r, const guarded *g, int k, int64_t n)
{
    int64_t *p = g->t[k].data;
    for (int64_t i = 0; i < tn_numel(&g->t[k]); i++)
        p[i] = pick(r, -n, n - 1);
    same_bytes(g, k);
}

/* A call by two sets of operands gives the same statuses and bytes. */
#define BOTH(n, call)                                                                          \
    do {                                                                                       \
        for (int k_ = 0; k_ < 2; k_++) {                                                       \
            const tn_tensor *t = k_ ? g.far : g.t;                                             \
            const tn_status s_ = (call);                                                       \
            if (s_ != TN_OK)                                                                   \
                fail_msg("%s: %s", now, tn_error());                                           \
        }                                                                                      \
        for (int i_ = 0; i_ < (n); i_++)                                                       \
            assert_memory_equal(g.t[i_].data, g.memory[i_], (size_t)tn_nbytes(&g.t[i_]));      \
    } while (0)

static void reduce_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    int64_t kept[3];
    tn_dtype out;
    const tn_reduction op = (tn_reduction)(next(r) % (TN_REDUCE_NANMAX + 1));
    if (tn_reduction_result(op, t, &out) != TN_OK)
        return;
    memcpy(kept, shape, sizeof kept);
    kept[dim] = 1;
    lay(r, &g, 0, out, 3, kept);
    lay(r, &g, 1, t, 3, shape);
    fill(r, &g, 1);
    BOTH(1, tn_reduce(op, NULL, &t[0], &t[1], 1, &dim));
    free(g.memory[0]);
    free(g.memory[1]);
}

static void scan_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    int64_t longer[3];
    const tn_scan_op op = (tn_scan_op)(next(r) % 2);
    memcpy(longer, shape, sizeof longer);
    longer[dim] += next(r) % 2;
    if (t < TN_F16) /* integers have a wider result */
        t = TN_F32;
    lay(r, &g, 0, t, 3, longer);
    lay(r, &g, 1, t, 3, shape);
    fill(r, &g, 1);
    BOTH(1, tn_scan(op, &t[0], &t[1], dim));
    free(g.memory[0]);
    free(g.memory[1]);
}

static void rows_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    const uint64_t kind = next(r) % 5;
    const int64_t half = shape[2] / 2;
    t = t == TN_F16 || t == TN_BF16 || t == TN_F64 ? t : TN_F32;
    lay(r, &g, 0, t, 3, shape);
    lay(r, &g, 1, t, 3, shape);
    lay(r, &g, 2, t, 1, kind == 4 ? &half : &shape[2]);
    fill(r, &g, 1);
    fill(r, &g, 2);
    if (kind == 0)
        BOTH(1, tn_softmax(&t[0], &t[1], dim));
    else if (kind == 1)
        BOTH(1, tn_log_softmax(&t[0], &t[1], dim));
    else if (kind == 2)
        BOTH(1, tn_rms_norm(&t[0], &t[1], &t[2], 1e-6));
    else if (kind == 3)
        BOTH(1, tn_layer_norm(&t[0], &t[1], &t[2], &t[2], 1e-6));
    else if (half * 2 == shape[2])
        BOTH(1, tn_rotate(&t[0], &t[1], &t[2], &t[2], dim == 0));
    for (int k = 0; k < 3; k++)
        free(g.memory[k]);
}

static void take_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    int64_t many[3];
    const bool put = next(r) % 2;
    const tn_put_op op = t == TN_BOOL ? TN_PUT_SET : (tn_put_op)(next(r) % 3);
    memcpy(many, shape, sizeof many);
    many[dim] = pick(r, 1, 40);
    while (many[0] * many[1] * many[2] * 16 > ROOM)
        many[dim]--;
    lay(r, &g, 0, t, 3, put ? shape : many);
    lay(r, &g, 1, t, 3, put ? many : shape);
    lay(r, &g, 2, TN_I64, 1, &many[dim]);
    fill(r, &g, 0);
    fill(r, &g, 1);
    fill_indices(r, &g, 2, shape[dim]);
    if (put)
        BOTH(1, tn_put(op, &t[0], dim, &t[2], &t[1]));
    else
        BOTH(1, tn_take(&t[0], &t[1], dim, &t[2]));
    for (int k = 0; k < 3; k++)
        free(g.memory[k]);
}

static void sort_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    int64_t some[3];
    const unsigned flags = next(r) % 2 ? TN_DESCENDING : 0;
    if (t == TN_C64 || t == TN_C128)
        return;
    memcpy(some, shape, sizeof some);
    some[dim] = next(r) % 2 ? shape[dim] : pick(r, 1, shape[dim]);
    lay(r, &g, 0, t, 3, some);
    lay(r, &g, 2, TN_I64, 3, some);
    lay(r, &g, 1, t, 3, shape);
    fill(r, &g, 1);
    BOTH(1, tn_sort(&t[0], &t[2], &t[1], dim, flags));
    assert_memory_equal(g.t[2].data, g.memory[2], (size_t)tn_nbytes(&g.t[2]));
    for (int k = 0; k < 3; k++)
        free(g.memory[k]);
}

static void mask_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    int64_t count = 0;
    lay(r, &g, 1, t, 3, shape);
    lay(r, &g, 2, dim == 0 ? TN_BOOL : t, 3, shape);
    fill(r, &g, 1);
    fill(r, &g, 2);
    if (dim == 0)
        for (int64_t i = 0; i < tn_numel(&g.t[2]); i++)
            ((char *)g.t[2].data)[i] = next(r) % 3 == 0;
    same_bytes(&g, 2);
    tn_tensor total;
    OK(tn_init(&total, &count, TN_I64, 0, NULL));
    OK(tn_reduce(TN_REDUCE_COUNT_NONZERO, NULL, &total, &g.t[2], TN_ALL_AXES, NULL));
    lay(r, &g, 0, t, 1, &count);
    BOTH(1, tn_masked_select(&t[0], &t[1], &t[2]));
    BOTH(2, tn_masked_put(&t[1], &t[2], &t[0]));
    free(g.memory[0]);
    const int64_t rows = count < 200 ? count : 0;
    if (rows) {
        lay(r, &g, 0, TN_I64, 2, (const int64_t[]){rows, 3});
        BOTH(1, tn_nonzero(&t[0], &t[2]));
        free(g.memory[0]);
    }
    free(g.memory[1]);
    free(g.memory[2]);
}

static void between_pages(void **state)
{
    (void)state;
    static void (*const cases[])(rng *, tn_dtype, const int64_t *,
                                 int) = {reduce_case, reduce_case, scan_case, rows_case,
                                         rows_case,   take_case,   sort_case, mask_case};
    static const char *const names[] = {"reduce", "reduce", "scan", "rows",
                                        "rows",   "take",   "sort", "mask"};
    static const int64_t widths[] = {1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 65, 127, 130, 300};
    const uint64_t seed = seed_asked(), count = number_asked("TEST_CASES", CASES);
    for (int i = 0; i < OPERANDS; i++)
        fence[i] = fence_off();
    watch_fences();
    print_message("TEST_SEED=%llu\n", (unsigned long long)seed);
    for (uint64_t c = 0; c < count; c++) {
        rng r = {seed + c};
        const tn_dtype t = pick_dtype(&r);
        int64_t shape[3] = {1, 1, 1}, space = 12000;
        for (int i = 0; i < 3; i++) {
            const int64_t n = widths[next(&r) % (sizeof widths / sizeof *widths)];
            shape[i] = n <= space ? n : space;
            space /= shape[i];
        }
        if (next(&r) % 4 == 0) /* several blocks */
            shape[0] = 1, shape[1] = pick(&r, 1, 3), shape[2] = pick(&r, 2000, 4300);
        const int dim = (int)pick(&r, 0, 2);
        const uint64_t kind = next(&r) % (sizeof cases / sizeof *cases);
        snprintf(now, sizeof now, "seed %llu: %s %s (%lld, %lld, %lld) axis %d",
                 (unsigned long long)(seed + c), names[kind], tn_dtype_name(t),
                 (long long)shape[0], (long long)shape[1], (long long)shape[2], dim);
        cases[kind](&r, t, shape, dim);
    }
}

/* Rows of three that are joined, sixteen as one: of the last block fifteen are left. */
static void few_rows_left(void **state)
{
    (void)state;
    static const tn_reduction ops[] = {TN_REDUCE_MAX, TN_REDUCE_ARGMAX, TN_REDUCE_SUM,
                                       TN_REDUCE_COUNT_NONZERO};
    const int64_t shape[2] = {4111, 3}, kept[2] = {1, 3};
    const fenced f = fence_off();
    watch_fences();
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (tn_dtype t = TN_BOOL; t <= TN_F64; t++) {
            char got[3 * 8];
            tn_tensor dst, src;
            tn_dtype out;
            snprintf(now, sizeof now, "%s of %s", tn_reduction_name(ops[i]), tn_dtype_name(t));
            OK(tn_reduction_result(ops[i], t, &out));
            OK(tn_init(&dst, got, out, 2, kept));
            OK(tn_init(&src, NULL, t, 2, shape));
            src.data = at_edge(&f, tn_nbytes(&src), true);
            memset(src.data, 1, (size_t)tn_nbytes(&src));
            OK(tn_reduce(ops[i], NULL, &dst, &src, 1, (int[]){0}));
        }
}

/* Rows that end inside a tile of the summation tree, at the end of the memory. */
static void short_rows(void **state)
{
    (void)state;
    static const tn_reduction ops[] = {TN_REDUCE_SUM, TN_REDUCE_SUMSQ, TN_REDUCE_PROD,
                                       TN_REDUCE_VAR, TN_REDUCE_NANSUM};
    static const tn_dtype types[] = {TN_F16, TN_BF16, TN_F32, TN_F64};
    const fenced f = fence_off();
    watch_fences();
    for (size_t i = 0; i < sizeof ops / sizeof *ops * (sizeof types / sizeof *types); i++)
        for (int64_t n = 1; n <= 300; n += n < 140 ? 1 : 37) {
            const tn_reduction op = ops[i % (sizeof ops / sizeof *ops)];
            const tn_dtype t = types[i / (sizeof ops / sizeof *ops)];
            char got[3 * 8];
            tn_tensor dst, src;
            tn_dtype out;
            snprintf(now, sizeof now, "%s of %s, rows of %lld", tn_reduction_name(op),
                     tn_dtype_name(t), (long long)n);
            OK(tn_reduction_result(op, t, &out));
            OK(tn_init(&dst, got, out, 2, (int64_t[]){3, 1}));
            OK(tn_init(&src, NULL, t, 2, (int64_t[]){3, n}));
            src.data = at_edge(&f, tn_nbytes(&src), true);
            memset(src.data, 1, (size_t)tn_nbytes(&src));
            OK(tn_reduce(op, NULL, &dst, &src, 1, (int[]){1}));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(between_pages),
                                       cmocka_unit_test(few_rows_left),
                                       cmocka_unit_test(short_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
