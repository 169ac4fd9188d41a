/* test_reduce.c - every reduction, dtype, layout, set of axes and thread count against the
 * naive tree, bit for bit. */
#include "reduce_oracle.h"

#include "copy_oracle.h"
#include "reduce_draw.h"

enum { MOST_THREADS = 8 };
static tn_handle *team[MOST_THREADS + 1];

static const double orders[] = {2, 1, 0, 3, 0.5, -1, INFINITY, -INFINITY};

/* Elements that make every rule speak: small numbers, now and then NaN, infinity, zeros. */
static void fill_numbers(rng *r, block *b, bool special)
{
    const tn_dtype t = b->t.dtype;
    const int64_t width = (int64_t)tn_dtype_size(t);
    int64_t at[TN_MAX_NDIM] = {0};
    if (next(r) % 4 == 0) {
        fill_equal(r, &b->t);
        return;
    }
    if (is_int(t) || tn_numel(&b->t) == 0)
        return;
    const tn_dtype part = t == TN_C64 ? TN_F32 : t == TN_C128 ? TN_F64 : t;
    const int64_t parts = has_parts(t) ? 2 : 1;
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40, 448, -1};
    do
        for (int64_t k = 0; k < parts; k++) {
            double x = (double)pick(r, -1000000, 1000000) / (double)pick(r, 1, 1000000);
            if (special && next(r) % 8 == 0)
                x = odd[next(r) % 8];
            put_real(element(&b->t, at) + k * width / parts, part, x);
        }
    while (index_next(at, b->t.ndim, b->t.shape));
}

/* dst's dtype: mostly the result's, now and then another that fits. */
static tn_dtype pick_result(rng *r, tn_reduction op, tn_dtype t)
{
    tn_dtype out;
    OK(tn_reduction_result(op, t, &out));
    if (next(r) % 4)
        return out;
    if (is_int(t) && (op == TN_REDUCE_SUM || op == TN_REDUCE_PROD || op == TN_REDUCE_SUMSQ))
        return (tn_dtype)pick(r, TN_I8, TN_U64);
    if (op == TN_REDUCE_ARGMIN || op == TN_REDUCE_ARGMAX)
        return TN_I32;
    if ((out == TN_F32 || tni_is_narrow(out)) && !is_int(t) && !has_parts(t))
        return out == TN_F32 || next(r) % 2 ? TN_F64 : TN_F32;
    return out;
}

static void compare(const block *got, const block *want, tn_reduction op, const tn_tensor *src,
                    uint64_t folded, uint64_t seed)
{
    if (op == TN_REDUCE_LOGSUMEXP) { /* within some ulps of the exact one */
        int64_t at[TN_MAX_NDIM] = {0};
        if (tn_numel(&got->t) > 0)
            do {
                const double a = scalar_at(element(&got->t, at), got->t.dtype).re;
                const double b = scalar_at(element(&want->t, at), got->t.dtype).re;
                const double ulp = got->t.dtype == TN_F64   ? 1e-14
                                   : got->t.dtype == TN_F32 ? 1e-6
                                                            : 0.13;
                if (!(a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= ulp * (1 + fabs(b))))
                    fail_msg("logsumexp %.17g, expected %.17g; src %s, seed %llu", a, b,
                             describe(src), (unsigned long long)seed);
            } while (index_next(at, got->t.ndim, got->t.shape));
        return;
    }
    if (memcmp(got->bytes, want->bytes, got->size)) {
        size_t i = 0;
        while (got->bytes[i] == want->bytes[i])
            i++;
        i = i / tn_dtype_size(got->t.dtype) * tn_dtype_size(got->t.dtype);
        fail_msg("%s of %s to %s: byte %zu of %zu differs (%.17g, %.17g); src %s axes %llx, "
                 "TEST_SEED=%llu",
                 tn_reduction_name(op), tn_dtype_name(src->dtype), tn_dtype_name(got->t.dtype),
                 i, got->size, scalar_at(got->bytes + i, got->t.dtype).re,
                 scalar_at(want->bytes + i, got->t.dtype).re, describe(src),
                 (unsigned long long)folded, (unsigned long long)seed);
    }
}

/* One reduction of one tensor, with 1 … 8 threads, by call and by plan. */
static void try_one(rng *r, tn_reduction op, const block *src, uint64_t folded, uint64_t seed)
{
    int axes[TN_MAX_NDIM], naxes = 0;
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < src->t.ndim; i++) {
        shape[i] = folded >> i & 1 ? 1 : src->t.shape[i];
        if (folded >> i & 1)
            axes[naxes++] = i;
    }
    shuffle(r, axes, naxes);
    const double param = op == TN_REDUCE_NORM ? orders[next(r) % 8] : (double)pick(r, 0, 2);
    const double *params = tn_reduction_params(op) && next(r) % 4 ? &param : NULL;
    block want =
        block_make(r, pick_result(r, op, src->t.dtype), src->t.ndim, shape, next(r) % 2, false);
    block got = block_twin(&want);
    oracle_reduce(op, params, &want.t, &src->t, folded);
    tn_tensor dst = got.t;
    if (next(r) % 2) /* without the reduced axes */
        for (int i = src->t.ndim - 1; i >= 0; i--)
            if (folded >> i & 1)
                OK(tn_squeeze(&dst, &dst, i));
    for (int k = 1; k <= MOST_THREADS; k++) {
        OK(tn_handle_use(team[k]));
        if (k == 2) {
            tn_plan *plan;
            OK(tn_plan_reduce(&plan, op, params, &dst, &src->t, naxes, axes));
            OK(tn_plan_run(plan, dst.data, (const void *const[]){src->t.data}));
            tn_plan_free(plan);
        } else {
            OK(tn_reduce(op, params, &dst, &src->t, naxes, axes));
        }
        compare(&got, &want, op, &src->t, folded, seed);
    }
    OK(tn_handle_use(NULL));
    block_free(&want);
    block_free(&got);
}

static bool empty_fails(tn_reduction op, const tn_tensor *src, uint64_t folded)
{
    const bool needs = op == TN_REDUCE_MIN || op == TN_REDUCE_MAX || op == TN_REDUCE_ARGMIN ||
                       op == TN_REDUCE_ARGMAX || op == TN_REDUCE_NANMIN ||
                       op == TN_REDUCE_NANMAX;
    bool none = false;
    for (int i = 0; i < src->ndim; i++)
        none |= (folded >> i & 1) && src->shape[i] == 0;
    return needs && none;
}

static void random_case(uint64_t seed, int64_t budget)
{
    rng r = {seed};
    drawn_reduction d = draw_reduction(&r, budget);
    fill_numbers(&r, &d.src, next(&r) % 2);
    if (!empty_fails(d.op, &d.src.t, d.folded))
        try_one(&r, d.op, &d.src, d.folded, seed);
    block_free(&d.src);
}

static void test_random(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked(),
                   cases = number_asked("TEST_CASES", TEST_WATCHED ? 300 : 2000);
    for (uint64_t i = 0; i < cases; i++)
        random_case(seed + i, i % 16 ? 3000 : 60000);
}

/* Shapes that take every way, with sequences of several blocks and threads. */
static const struct {
    int64_t shape[3];
    int order[3]; /* memory, outermost first */
    uint64_t folded;
} large[] = {
    {{1, 1, 300001}, {0, 1, 2}, 7},  {{3, 1, 70000}, {0, 1, 2}, 4},
    {{1, 5000, 65}, {0, 1, 2}, 2},   {{1, 40000, 3}, {0, 1, 2}, 2},
    {{1, 3, 40000}, {0, 2, 1}, 2},   {{1, 40000, 3}, {0, 1, 2}, 4},
    {{2, 2100, 70}, {0, 1, 2}, 2},   {{1, 65, 4096}, {0, 2, 1}, 6},
    {{1, 64, 6144}, {0, 2, 1}, 6},   {{2, 64, 2048}, {0, 2, 1}, 6},
    {{1, 5000, 17}, {0, 1, 2}, 2},   {{7, 300, 33}, {0, 1, 2}, 5},
    {{1, 2100, 260}, {0, 1, 2}, 2},  {{400, 31, 5}, {0, 1, 2}, 2},
    {{1, 333, 999}, {0, 2, 1}, 6},   {{64, 2049, 2}, {1, 0, 2}, 2},
    {{1, 140, 2049}, {0, 2, 1}, 6},  {{1, 9, 30000}, {0, 2, 1}, 6},
    {{3, 40, 2500}, {0, 2, 1}, 7},   {{3, 16, 4096}, {0, 2, 1}, 7},
    {{1, 150, 5000}, {0, 2, 1}, 6},  {{1, 2100, 1300}, {0, 1, 2}, 2},
    {{1, 14000, 31}, {0, 1, 2}, 2},  {{1, 19000, 140}, {0, 1, 2}, 2},
    {{1, 11000, 200}, {0, 1, 2}, 2}, {{1, 7000, 300}, {0, 1, 2}, 2},
};

/* Of each shape the sum of f32, and some others. */
static void test_large(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (int k = 0; k < (TEST_WATCHED ? 2 : 5); k++) {
            rng r = {seed + 16 * i + (uint64_t)k};
            tn_reduction op = k ? (tn_reduction)(next(&r) % TNI_REDUCTIONS) : TN_REDUCE_SUM;
            if (op == TN_REDUCE_LOGSUMEXP) /* the oracle's exp takes too long */
                op = TN_REDUCE_ARGMAX;
            tn_dtype t = k ? pick_dtype(&r) : TN_F32;
            while (!takes(op, t))
                t = pick_dtype(&r);
            block src = block_ordered(&r, t, large[i].shape, large[i].order);
            fill_numbers(&r, &src, next(&r) % 4 == 0);
            try_one(&r, op, &src, large[i].folded, seed);
            block_free(&src);
        }
}

/* Columns that are 0 but for a few larger elements in random rows, the later the larger: the
 * best element of many a block is no better than one before it. */
static void fill_rising(rng *r, const block *b, int64_t rows, int64_t columns, size_t width)
{
    memset(b->t.data, 0, (size_t)(rows * columns) * width);
    for (int64_t c = 0; c < columns; c++) {
        int64_t i = (int64_t)(next(r) % (uint64_t)rows);
        for (char k = 1; i < rows; k++, i += 1 + (int64_t)(next(r) % (uint64_t)rows))
            ((char *)b->t.data)[(size_t)(i * columns + c) * width] = k;
    }
}

static void test_rising(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_I8, TN_U8, TN_I16, TN_I32};
    static const int64_t columns[] = {1, 3, 31, 64, 127, 255, 300};
    const uint64_t seed = seed_asked();
    rng r = {seed};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            const int64_t shape[3] = {1, 2048 + (int64_t)(next(&r) % 8000), columns[i]};
            block src = block_ordered(&r, dtypes[k], shape, (const int[]){0, 1, 2});
            fill_rising(&r, &src, shape[1], shape[2], tn_dtype_size(dtypes[k]));
            try_one(&r, next(&r) % 4 ? TN_REDUCE_ARGMAX : TN_REDUCE_ARGMIN, &src, 2, seed);
            try_one(&r, TN_REDUCE_MAX, &src, 2, seed);
            block_free(&src);
        }
}

static int make_team(void **state)
{
    (void)state;
    for (int i = 1; i <= MOST_THREADS; i++)
        OK(tn_handle_create(&team[i], TN_CPU, 0, &(tn_config){.threads = i}));
    return 0;
}

static int drop_team(void **state)
{
    (void)state;
    for (int i = 1; i <= MOST_THREADS; i++)
        tn_handle_destroy(team[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_rising),
    };
    return cmocka_run_group_tests(tests, make_team, drop_team);
}
