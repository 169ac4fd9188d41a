/* test_reduce_guard.c - reductions, scans, rows and indexing touch the bytes of their operands
 * and no others: each lies between two pages that cannot be touched, at the low or the high
 * end, and the results are those of the same call elsewhere in memory. */
#include "core/core.h"
#include "draw.h"
#include "fence.h"

enum { CASES = TEST_WATCHED ? 500 : 2500, OPERANDS = 4 };

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

/* Integers of any width, in [low, high]. */
static void fill_indices(rng *r, const guarded *g, int k, int64_t low, int64_t high)
{
    char *p = g->t[k].data;
    const size_t width = tn_dtype_size(g->t[k].dtype);
    for (int64_t i = 0; i < tn_numel(&g->t[k]); i++) {
        const int64_t x = pick(r, low, high);
        memcpy(p + (size_t)i * width, &x, width);
    }
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

static void drop(guarded *g)
{
    for (int k = 0; k < OPERANDS; k++)
        free(g->memory[k]);
}

/* ---- reductions and scans ---- */

static void reduce_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    static const char *const patterns[] = {"a b c -> b c", "a b c -> a c", "a b c -> a b"};
    guarded g = {0};
    int64_t kept[3];
    tn_dtype out;
    const uint64_t kind = next(r) % 8; /* mostly tn_reduce */
    const tn_reduction op = kind == 1   ? TN_REDUCE_MIN
                            : kind == 2 ? TN_REDUCE_SUM
                                        : (tn_reduction)(next(r) % TNI_REDUCTIONS);
    if (tn_reduction_result(op, t, &out) != TN_OK)
        return;
    memcpy(kept, shape, sizeof kept);
    kept[dim] = 1;
    lay(r, &g, 0, out, 3, kept);
    lay(r, &g, 1, t, 3, shape);
    fill(r, &g, 1);
    if (kind == 1) {
        lay(r, &g, 2, out, 3, kept);
        BOTH(1, tn_minmax(&t[0], &t[2], &t[1], 1, &dim));
        assert_memory_equal(g.t[2].data, g.memory[2], (size_t)tn_nbytes(&g.t[2]));
    } else if (kind == 2) {
        const bool broadcast = next(r) % 2;
        lay(r, &g, 2, t, broadcast ? 1 : 3, broadcast ? &shape[2] : shape);
        fill(r, &g, 2);
        BOTH(1, tn_dot(&t[0], &t[1], &t[2], 1, &dim));
    } else if (kind == 3) {
        free(g.memory[0]);
        memmove(kept + dim, kept + dim + 1, (size_t)(2 - dim) * sizeof *kept);
        lay(r, &g, 0, out, 2, kept);
        BOTH(1, tn_pattern_reduce(op, NULL, &t[0], &t[1], patterns[dim], NULL));
    } else {
        BOTH(1, tn_reduce(op, NULL, &t[0], &t[1], 1, &dim));
    }
    drop(&g);
}

static void scan_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    int64_t made[3];
    const tn_scan_op op = (tn_scan_op)(next(r) % 6); /* the last stands for tn_diff */
    const bool diff = op > TN_SCAN_LOGSUMEXP, ends = op == TN_SCAN_MAX || op == TN_SCAN_MIN;
    tn_dtype out = t;
    memcpy(made, shape, sizeof made);
    if (diff ? t == TN_BOOL : ends && (t == TN_C64 || t == TN_C128))
        return;
    if (op <= TN_SCAN_PROD)
        OK(tn_reduction_result(op ? TN_REDUCE_PROD : TN_REDUCE_SUM, t, &out));
    if (op == TN_SCAN_LOGSUMEXP && tn_reduction_result(TN_REDUCE_LOGSUMEXP, t, &out) != TN_OK)
        return;
    made[dim] += diff ? -1 : !ends && next(r) % 2;
    lay(r, &g, 0, out, 3, made);
    lay(r, &g, 1, t, 3, shape);
    fill(r, &g, 1);
    if (diff)
        BOTH(1, tn_diff(&t[0], &t[1], dim));
    else
        BOTH(1, tn_scan(op, &t[0], &t[1], dim));
    drop(&g);
}

/* ---- rows ---- */

static void rows_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    const uint64_t kind = next(r) % 7;
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
    else if (kind == 4 && half * 2 == shape[2])
        BOTH(1, tn_rotate(&t[0], &t[1], &t[2], &t[2], dim == 0));
    else if (kind == 5 && shape[1] <= shape[2])
        BOTH(1, tn_causal_softmax(&t[0], &t[1]));
    else if (kind == 6) { /* sum is exactly b, in place */
        lay(r, &g, 3, t, 3, shape);
        fill(r, &g, 3);
        BOTH(1, tn_add_rms_norm(&t[0], &t[3], &t[1], &t[3], &t[2], 1e-6));
        assert_memory_equal(g.t[3].data, g.memory[3], (size_t)tn_nbytes(&g.t[3]));
    }
    drop(&g);
}

/* ---- by data ---- */

static void take_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    int64_t many[3];
    const bool put = next(r) % 2, along = next(r) % 2;
    const tn_put_op op =
        t == TN_BOOL ? TN_PUT_SET
                     : (tn_put_op)(next(r) %
                                   (t == TN_C64 || t == TN_C128 ? TN_PUT_MIN : TN_PUT_MAX + 1));
    memcpy(many, shape, sizeof many);
    many[dim] = pick(r, 1, 40);
    while (many[0] * many[1] * many[2] * 16 > ROOM)
        many[dim]--;
    lay(r, &g, 0, t, 3, put ? shape : many);
    lay(r, &g, 1, t, 3, put ? many : shape);
    lay(r, &g, 2, TN_I64, along ? 3 : 1, along ? many : &many[dim]);
    fill(r, &g, 0);
    fill(r, &g, 1);
    fill_indices(r, &g, 2, -shape[dim], shape[dim] - 1);
    if (along && put)
        BOTH(1, tn_put_along(op, &t[0], dim, &t[2], &t[1]));
    else if (along)
        BOTH(1, tn_take_along(&t[0], &t[1], dim, &t[2]));
    else if (put)
        BOTH(1, tn_put(op, &t[0], dim, &t[2], &t[1]));
    else
        BOTH(1, tn_take(&t[0], &t[1], dim, &t[2]));
    drop(&g);
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
    lay(r, &g, 3, TN_I64, 2, (const int64_t[]){count, 3});
    BOTH(0, tn_nonzero(&t[3], &t[2]));
    assert_memory_equal(g.t[3].data, g.memory[3], (size_t)tn_nbytes(&g.t[3]));
    drop(&g);
}

/* ---- order ---- */

static void sort_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    int64_t some[3];
    const uint64_t kind = next(r) % 3;
    const unsigned flags = next(r) % 2 ? TN_DESCENDING : 0;
    const int64_t place = pick(r, 0, shape[dim] - 1);
    if (t == TN_C64 || t == TN_C128)
        return;
    memcpy(some, shape, sizeof some);
    some[dim] = kind == 1 ? 1 : next(r) % 2 ? shape[dim] : pick(r, 1, shape[dim]);
    lay(r, &g, 0, t, 3, some);
    lay(r, &g, 2, TN_I64, 3, some);
    lay(r, &g, 1, t, 3, shape);
    fill(r, &g, 1);
    if (kind == 0) {
        BOTH(1, tn_sort(&t[0], &t[2], &t[1], dim, flags));
    } else if (kind == 1) {
        BOTH(1, tn_kth(&t[0], &t[2], &t[1], dim, place, flags));
    } else { /* the workspace, too, ends at the page, but for its alignment */
        const int64_t size = (int64_t)tn_sort_workspace(&g.t[0], &g.t[2], &g.t[1], dim, flags);
        if (size > ROOM) {
            drop(&g);
            return;
        }
        g.memory[3] = aligned_alloc(64, ((size_t)size + 64) / 64 * 64);
        assert_non_null(g.memory[3]);
        char *room = fence[3].high - (size + 63) / 64 * 64;
        BOTH(1, tn_sort_in(&t[0], &t[2], &t[1], dim, flags, t == g.t ? room : g.memory[3],
                           (size_t)size));
    }
    assert_memory_equal(g.t[2].data, g.memory[2], (size_t)tn_nbytes(&g.t[2]));
    drop(&g);
}

/* The groups of equal elements, as four digests. */
static tn_status unique_digest(const tn_tensor *dst, const tn_tensor *src, bool each)
{
    tn_tensor made[4];
    uint64_t *digest = dst->data;
    const tn_status status = (each ? tn_unique_each_copy : tn_unique_copy)(
        &made[0], &made[1], &made[2], &made[3], src);
    for (int k = 0; k < 4 && status == TN_OK; k++) {
        const unsigned char *p = made[k].data;
        digest[k] = (uint64_t)tn_numel(&made[k]);
        for (int64_t i = 0; i < tn_nbytes(&made[k]); i++)
            digest[k] = (digest[k] ^ p[i]) * 0x100000001b3u;
        tn_free(&made[k]);
    }
    return status;
}

static void count_case(rng *r, tn_dtype t, const int64_t *shape, int dim)
{
    guarded g = {0};
    const uint64_t kind = next(r) % 4;
    const int64_t bins = pick(r, 1, 120), four = 4;
    if (kind < 3 && (t == TN_C64 || t == TN_C128))
        return;
    if (kind == 0 && (t == TN_BOOL || t > TN_U64))
        t = TN_I16;
    lay(r, &g, 1, t, 3, shape);
    fill(r, &g, 1);
    lay(r, &g, 2, t, 1, &shape[2]);
    fill(r, &g, 2);
    if (kind == 0) {
        lay(r, &g, 0, TN_I64, 1, &bins);
        fill_indices(r, &g, 1, 0, bins - 1);
        BOTH(1, tn_bincount(&t[0], &t[1]));
    } else if (kind == 1) {
        lay(r, &g, 0, TN_I64, 1, &bins);
        BOTH(1, tn_histogram(&t[0], &t[1], -20, 20));
    } else if (kind == 2) {
        OK(tn_sort(&g.t[2], NULL, &g.t[2], 0, 0));
        same_bytes(&g, 2);
        lay(r, &g, 0, TN_I64, 3, shape);
        BOTH(1, tn_searchsorted(&t[0], &t[2], &t[1], dim == 0));
    } else {
        lay(r, &g, 0, TN_U64, 1, &four);
        BOTH(1, unique_digest(&t[0], &t[1], dim == 0));
    }
    drop(&g);
}

static void between_pages(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*run)(rng *, tn_dtype, const int64_t *, int);
    } cases[] = {{"reduce", reduce_case}, {"reduce", reduce_case}, {"reduce", reduce_case},
                 {"scan", scan_case},     {"rows", rows_case},     {"rows", rows_case},
                 {"take", take_case},     {"take", take_case},     {"mask", mask_case},
                 {"sort", sort_case},     {"count", count_case},   {"count", count_case}};
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
                 (unsigned long long)(seed + c), cases[kind].name, tn_dtype_name(t),
                 (long long)shape[0], (long long)shape[1], (long long)shape[2], dim);
        cases[kind].run(&r, t, shape, dim);
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
