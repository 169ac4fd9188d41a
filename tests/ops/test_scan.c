/* test_scan.c - running reductions, differences, minmax, dot and patterns against plain
 * loops. */
#include "line_oracle.h"

#include "copy_oracle.h"
#include "draw.h"

static void fill_small(rng *r, const tn_tensor *t, bool special)
{
    int64_t at[TN_MAX_NDIM] = {0};
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0};
    const tn_dtype part = t->dtype == TN_C64 ? TN_F32 : t->dtype == TN_C128 ? TN_F64 : t->dtype;
    if (is_int(t->dtype) || tn_numel(t) == 0)
        return;
    do
        for (int k = 0; k < (has_parts(t->dtype) ? 2 : 1); k++) {
            double x = (double)pick(r, -2000, 2000) / 1024;
            if (special && next(r) % 64 == 0)
                x = odd[next(r) % 4];
            put_real(element(t, at) + (size_t)k * tn_dtype_size(part), part, x);
        }
    while (index_next(at, t->ndim, t->shape));
}

static bool close_enough(const tn_tensor *a, const tn_tensor *b)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(a) == 0)
        return true;
    do {
        const double x = scalar_at(element(a, at), a->dtype).re,
                     y = scalar_at(element(b, at), a->dtype).re;
        const double by = a->dtype == TN_F64 ? 1e-13 : a->dtype == TN_F32 ? 1e-6 : 0.13;
        if (!(x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= by * (1 + fabs(y))))
            return false;
    } while (index_next(at, a->ndim, a->shape));
    return true;
}

static void test_scans(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 100 : 800); c++) {
        rng r = {seed + (uint64_t)c};
        const tn_scan_op op = (tn_scan_op)(next(&r) % 5);
        tn_dtype t = pick_dtype(&r), dt;
        while ((op == TN_SCAN_LOGSUMEXP && (is_int(t) || has_parts(t))) ||
               (op >= TN_SCAN_MAX && has_parts(t)))
            t = pick_dtype(&r);
        const int ndim = (int)pick(&r, 1, 3), dim = (int)pick(&r, 0, ndim - 1);
        int64_t shape[3] = {pick(&r, 1, 6), pick(&r, 1, 40), pick(&r, 0, 40)}, longer[3];
        if (c % 8 == 0 && op < TN_SCAN_MAX) { /* several blocks; the oracle takes n^2 steps */
            for (int i = 0; i < 3; i++)
                shape[i] = is_int(t) ? 1 : pick(&r, 1, 20);
            shape[dim] = pick(&r, 2000, 4300);
        }
        dt = t;
        if (op <= TN_SCAN_PROD)
            OK(tn_reduction_result(op ? TN_REDUCE_PROD : TN_REDUCE_SUM, t, &dt));
        memcpy(longer, shape, sizeof longer);
        longer[dim] += op != TN_SCAN_MAX && op != TN_SCAN_MIN && next(&r) % 3 == 0;
        block src = block_make(&r, t, ndim, shape, next(&r) % 3, true),
              dst = block_make(&r, dt, ndim, longer, next(&r) % 3, false);
        fill_small(&r, &src.t, next(&r) % 3 == 0);
        block want = block_twin(&dst);
        naive_scan(op, &want.t, &src.t, dim);
        for (int k = 0; k < THREAD_COUNTS; k++) {
            OK(tn_handle_use(handle_of[k]));
            if (k == 1) {
                tn_plan *plan;
                OK(tn_plan_scan(&plan, op, &dst.t, &src.t, dim));
                OK(tn_plan_run(plan, dst.t.data, (const void *const[]){src.t.data}));
                tn_plan_free(plan);
            } else {
                OK(tn_scan(op, &dst.t, &src.t, dim));
            }
            if (op == TN_SCAN_LOGSUMEXP ? !close_enough(&dst.t, &want.t)
                                        : memcmp(dst.bytes, want.bytes, dst.size) != 0)
                fail_msg("%s of %s differs, src %s dim %d TEST_SEED=%llu", tn_scan_name(op),
                         tn_dtype_name(t), describe(&src.t), dim,
                         (unsigned long long)(seed + (uint64_t)c));
        }
        OK(tn_handle_use(NULL));
        if (dt == t && longer[dim] == shape[dim] && op != TN_SCAN_LOGSUMEXP) { /* in place */
            block same = block_make(&r, t, ndim, shape, true, false);
            OK(tn_rearrange(&same.t, &src.t));
            OK(tn_scan(op, &same.t, &same.t, dim));
            int64_t at[TN_MAX_NDIM] = {0};
            if (tn_numel(&same.t))
                do
                    assert_memory_equal(element(&same.t, at), element(&want.t, at),
                                        tn_dtype_size(t));
                while (index_next(at, ndim, shape));
            block_free(&same);
        }
        block_free(&src), block_free(&dst), block_free(&want);
    }
}

/* Many short sequences, and columns, have the bits of sequences one by one. */
static void test_many_short(void **state)
{
    (void)state;
    enum { MANY = 600 };
    static const int64_t lengths[] = {2, 3, 7, 8, 9, 31, 47, 48, 70};
    static const tn_dtype dtypes[] = {TN_F32,  TN_F64, TN_F16,   TN_BF16, TN_F8E4M3,
                                      TN_BOOL, TN_I8,  TN_U8,    TN_I32,  TN_U32,
                                      TN_I64,  TN_U64, TN_F8E5M2};
    for (size_t c = 0; c < COUNT(lengths) * COUNT(dtypes) * 4; c++) {
        rng r = {seed_asked() + c};
        const tn_dtype t = dtypes[c / 4 % COUNT(dtypes)];
        const tn_scan_op op = (tn_scan_op)(c % 4);
        const int64_t n = lengths[c / 4 / COUNT(dtypes)];
        const int64_t longer = op < TN_SCAN_MAX && next(&r) % 2;
        const int dim = (int)(next(&r) % 2);
        const int64_t shape[2] = {dim ? MANY : n, dim ? n : MANY};
        const int64_t made[2] = {shape[0] + (dim ? 0 : longer), shape[1] + (dim ? longer : 0)};
        const tn_dtype dt = !is_int(t) || op >= TN_SCAN_MAX  ? t
                            : is_unsigned(t) && t != TN_BOOL ? TN_U64
                                                             : TN_I64;
        tn_tensor src, all, one, x, y;
        OK(tn_alloc(&src, t, 2, shape));
        OK(tn_alloc(&all, dt, 2, made));
        OK(tn_alloc(&one, dt, 1, &made[dim]));
        for (int64_t i = 0; i < tn_nbytes(&src); i++)
            ((char *)src.data)[i] = (char)(t == TN_BOOL ? next(&r) % 2 : next(&r));
        fill_small(&r, &src, true);
        OK(tn_scan(op, &all, &src, dim));
        for (int64_t i = 0; i < MANY; i += 37) {
            OK(tn_select(&x, &src, 1 - dim, i));
            OK(tn_select(&y, &all, 1 - dim, i));
            OK(tn_scan(op, &one, &x, 0));
            for (int64_t k = 0; k < made[dim]; k++)
                assert_memory_equal(element(&y, &k), element(&one, &k), tn_dtype_size(dt));
        }
        tn_free(&src), tn_free(&all), tn_free(&one);
    }
}

/* Where the scanned axis has no elements, dst may repeat along another one. */
static void test_scan_of_nothing(void **state)
{
    (void)state;
    char byte = 7;
    tn_tensor dst, src;
    const int64_t shape[] = {3, 0, 4}, stride[] = {0, 1, 0};
    tn_plan *plan;
    OK(tn_init_strided(&dst, &byte, TN_U8, 3, shape, stride));
    OK(tn_init_strided(&src, &byte, TN_U8, 3, shape, stride));
    OK(tn_scan(TN_SCAN_MAX, &dst, &src, 1));
    OK(tn_plan_scan(&plan, TN_SCAN_MAX, &dst, &src, 1));
    OK(tn_plan_run(plan, &byte, (const void *[]){&byte}));
    tn_plan_free(plan);
    assert_int_equal(byte, 7);
}

static void test_diff(void **state)
{
    (void)state;
    int32_t x[5] = {3, 7, 7, -1, 10}, y[4];
    tn_tensor a, b;
    OK(tn_init(&a, x, TN_I32, 1, (int64_t[]){5}));
    OK(tn_init(&b, y, TN_I32, 1, (int64_t[]){4}));
    OK(tn_diff(&b, &a, 0));
    const int32_t want[4] = {4, 0, -8, 11};
    assert_memory_equal(y, want, sizeof y);
    assert_int_equal(tn_diff(&a, &a, 0), TN_ESHAPE);
    assert_int_equal(tn_diff(&b, &a, 1), TN_EARG);
}

static void test_minmax(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < 200; c++) {
        rng r = {seed + (uint64_t)c};
        tn_dtype t = pick_dtype(&r);
        while (has_parts(t))
            t = pick_dtype(&r);
        int64_t shape[3] = {pick(&r, 1, 6), pick(&r, 1, 9), pick(&r, 1, 40)}, one[3];
        const uint64_t folded = next(&r) & 7;
        int axes[3], naxes = 0;
        for (int i = 0; i < 3; i++) {
            one[i] = folded >> i & 1 ? 1 : shape[i];
            if (folded >> i & 1)
                axes[naxes++] = i;
        }
        block src = block_make(&r, t, 3, shape, true, true),
              low = block_make(&r, t, 3, one, true, false),
              high = block_make(&r, t, 3, one, true, false);
        fill_small(&r, &src.t, true);
        block want_low = block_twin(&low), want_high = block_twin(&high);
        oracle_reduce(TN_REDUCE_MIN, NULL, &want_low.t, &src.t, folded);
        oracle_reduce(TN_REDUCE_MAX, NULL, &want_high.t, &src.t, folded);
        OK(tn_minmax(&low.t, &high.t, &src.t, naxes, axes));
        assert_memory_equal(low.bytes, want_low.bytes, low.size);
        assert_memory_equal(high.bytes, want_high.bytes, high.size);
        block *all[] = {&src, &low, &high, &want_low, &want_high};
        for (int i = 0; i < 5; i++)
            block_free(all[i]);
    }
}

/* ---- dot: the tree of products ---- */

static void test_dot(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 60 : 300); c++) {
        rng r = {seed + (uint64_t)c};
        const tn_dtype t = pick_dtype(&r);
        tn_dtype dt;
        OK(tn_reduction_result(TN_REDUCE_SUM, t, &dt));
        int64_t shape[2] = {pick(&r, 1, 6), pick(&r, 1, c % 8 ? 90 : 5000)},
                line[1] = {shape[1]}, one[2] = {shape[0], 1};
        block a = block_make(&r, t, 2, shape, true, true),
              b = block_make(&r, t, 1, line, true, true),
              dst = block_make(&r, dt, 2, one, true, false);
        fill_small(&r, &a.t, false), fill_small(&r, &b.t, false);
        block want = block_twin(&dst);
        double *re = malloc((size_t)shape[1] * sizeof *re),
               *im = malloc((size_t)shape[1] * sizeof *im);
        for (int64_t i = 0; i < shape[0]; i++) {
            outcome o = {0};
            for (int64_t k = 0; k < shape[1]; k++) {
                const scalar x = scalar_at(element(&a.t, (int64_t[]){i, k}), t),
                             y = scalar_at(element(&b.t, &k), t);
                o.u += (uint64_t)x.i * (uint64_t)y.i;
                re[k] = has_parts(t) ? x.re * y.re - x.im * y.im : x.re * y.re;
                im[k] = x.re * y.im + x.im * y.re;
            }
            o.re = tree(re, shape[1], false, false) + 0.0;
            o.im = tree(im, shape[1], false, false) + 0.0;
            put_outcome(element(&want.t, (int64_t[]){i, 0}), dt, &o);
        }
        OK(tn_dot(&dst.t, &a.t, &b.t, 1, (int[]){1}));
        assert_memory_equal(dst.bytes, want.bytes, dst.size);
        free(re), free(im);
        block_free(&a), block_free(&b), block_free(&dst), block_free(&want);
    }
}

/* ---- patterns ---- */

static void test_pattern(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *sizes,
            *same; /* same: a rearrangement whose last axis is reduced */
        int ndim;
        int64_t shape[4];
    } rows[] = {
        {"b c h w -> b c", NULL, "b c h w -> b c (h w)", 2, {2, 3}},
        {"b (h 2) (w 2) c -> b h w c", NULL, NULL, 4, {2, 2, 2, 6}},
        {"b c h w -> ", NULL, NULL, 0, {0}},
        {"b ... -> b", NULL, NULL, 1, {2}},
        {"b c h w -> w () b", NULL, NULL, 3, {6, 1, 2}},
    };
    float x[2 * 3 * 4 * 6];
    for (int i = 0; i < 144; i++)
        x[i] = (float)(i * 37 % 101);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        tn_tensor a, out;
        int ndim;
        int64_t shape[TN_MAX_NDIM], big[4] = {2, 3, 4, 6}, even[4] = {2, 4, 4, 6};
        float y[144];
        double sum = 0, all = 0;
        OK(tn_init(&a, x, TN_F32, 4, k == 1 ? even : big));
        if (k == 1)
            a.shape[0] = 1, a.shape[1] = 4, a.shape[2] = 4;
        OK(tn_pattern_reduce_shape(rows[k].pattern, rows[k].sizes, &a, &ndim, shape));
        assert_int_equal(ndim, rows[k].ndim);
        for (int i = 0; i < ndim && k != 1; i++)
            assert_int_equal(shape[i], rows[k].shape[i]);
        OK(tn_init(&out, y, TN_F32, ndim, shape));
        OK(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &out, &a, rows[k].pattern, rows[k].sizes));
        for (int64_t i = 0; i < tn_numel(&out); i++)
            sum += (double)y[i];
        for (int64_t i = 0; i < tn_numel(&a); i++)
            all += (double)x[i];
        assert_true(sum == all);
        if (k == 0) /* (b, c): 24 elements each */
            for (int i = 0; i < 6; i++) {
                double want = 0;
                for (int j = 0; j < 24; j++)
                    want += (double)x[24 * i + j];
                assert_true((double)y[i] == want);
            }
        if (k == 4) {
            double want = 0;
            for (int c = 0; c < 12; c++)
                want += (double)x[6 * c + 5];
            assert_true((double)y[5 * 2] == want);
        }
    }
    tn_tensor a, out;
    float y;
    OK(tn_init(&a, x, TN_F32, 4, (int64_t[]){2, 3, 4, 6}));
    OK(tn_init(&out, &y, TN_F32, 0, NULL));
    assert_int_equal(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &out, &a, "b c h w", NULL),
                     TN_EFORMAT);
    assert_int_equal(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &out, &a, "b c h -> b", NULL),
                     TN_ESHAPE);
    assert_int_equal(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &out, &a, "b c h w -> b", NULL),
                     TN_ESHAPE);
}

/* Parts in any order: work is divided whether or not the machine is busy. */
static void backwards(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    (void)user;
    while (parts-- > 0)
        body(arg, parts);
}

/* One line of many blocks, which threads divide: dense, with a step, in place, longer by
 * one. */
static void test_long_lines(void **state)
{
    (void)state;
    static const tn_dtype types[] = {TN_F32, TN_F16, TN_F64, TN_C64, TN_I8, TN_U64};
    enum { N = TEST_WATCHED ? 70001 : 200001, ROUNDS = TEST_WATCHED ? N : 2300001 };
    tn_handle *divides;
    OK(tn_handle_create(&divides, TN_CPU, 0,
                        &(tn_config){.threads = 3, .parallel_for = backwards}));
    for (int c = 0; c < 24; c++) {
        rng r = {seed_asked() + (uint64_t)c};
        const tn_dtype t = types[c % 6];
        const tn_scan_op op = c / 6 % 2 ? TN_SCAN_PROD : TN_SCAN_SUM;
        if (op == TN_SCAN_PROD && t == TN_C64)
            continue;
        tn_dtype dt;
        OK(tn_reduction_result(op ? TN_REDUCE_PROD : TN_REDUCE_SUM, t, &dt));
        const bool in_place = c >= 12 && dt == t;
        const int64_t n = c % 12 ? N : ROUNDS,
                      longer = n + (in_place ? 0 : (int64_t)(next(&r) % 2));
        block src = block_make(&r, t, 1, &n, next(&r) % 2, !in_place),
              dst = in_place ? block_twin(&src) : block_make(&r, dt, 1, &longer, false, false);
        fill_small(&r, &src.t, false);
        if (in_place)
            memcpy(dst.bytes, src.bytes, src.size);
        block want = block_twin(&dst);
        OK(tn_handle_use(handle_of[0]));
        if (is_int(t)) /* the oracle of integers takes n^2 steps: one thread is right */
            OK(tn_scan(op, &want.t, &src.t, 0));
        else
            naive_scan(op, &want.t, &src.t, 0);
        for (int k = 0; k <= THREAD_COUNTS; k++) {
            block got = block_twin(&dst);
            OK(tn_handle_use(k < THREAD_COUNTS ? handle_of[k] : divides));
            OK(tn_scan(op, &got.t, in_place ? &got.t : &src.t, 0));
            if (memcmp(got.bytes, want.bytes, want.size))
                fail_msg("%s of a line of %s differs with handle %d", tn_scan_name(op),
                         tn_dtype_name(t), k);
            block_free(&got);
        }
        OK(tn_handle_use(NULL));
        block_free(&src), block_free(&dst), block_free(&want);
    }
    tn_handle_destroy(divides);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scans),      cmocka_unit_test(test_many_short),
        cmocka_unit_test(test_long_lines), cmocka_unit_test(test_scan_of_nothing),
        cmocka_unit_test(test_diff),       cmocka_unit_test(test_minmax),
        cmocka_unit_test(test_dot),        cmocka_unit_test(test_pattern),
    };
    return cmocka_run_group_tests(tests, make_handles, drop_handles);
}
