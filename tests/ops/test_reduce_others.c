/* test_reduce_others.c - the questions on which array libraries differ, one test for each
 * answer that reductions, scans and indexing give. */
#include "reduce_oracle.h"

enum { MANY = 8 };

static tn_tensor tensor(void *data, tn_dtype dtype, int ndim, const int64_t *shape)
{
    tn_tensor t;
    OK(tn_init(&t, data, dtype, ndim, shape));
    return t;
}

static tn_tensor line(void *data, tn_dtype dtype, int64_t n)
{
    return tensor(data, dtype, 1, &n);
}

/* The reduction of all n elements of x, as a number. */
static double all_of(tn_reduction op, const double *params, tn_dtype in, void *x, int64_t n,
                     tn_dtype out)
{
    char y[16];
    const tn_tensor src = line(x, in, n), dst = tensor(y, out, 0, NULL);
    OK(tn_reduce(op, params, &dst, &src, TN_ALL_AXES, NULL));
    const scalar r = scalar_at(y, out);
    return is_int(out) ? (double)r.i : r.re;
}

/* The sum down columns of n rows of the same element x; dense rows go by the way of columns, a
 * broadcast element, which costs no memory, by that of lines. */
static double sum_of_same(tn_dtype t, const void *x, int64_t n, int64_t columns, bool dense)
{
    float y[MANY];
    const int64_t shape[] = {n, columns};
    tn_tensor src, one;
    const tn_tensor dst = line(y, TN_F32, columns);
    OK(tn_init_strided(&one, (void *)(uintptr_t)x, t, 2, shape, (int64_t[]){0, 0}));
    src = one;
    if (dense) {
        OK(tn_alloc(&src, t, 2, shape));
        OK(tn_rearrange(&src, &one));
    }
    OK(tn_reduce(TN_REDUCE_SUM, NULL, &dst, &src, 1, (int[]){0}));
    if (dense)
        tn_free(&src);
    for (int64_t c = 1; c < columns; c++)
        assert_memory_equal(&y[c], &y[0], sizeof y[0]);
    return (double)y[0];
}

/* Parts in any order, whether or not the machine is busy; *most is the largest number of
 * them. */
static void backwards(void *most, int parts, void (*body)(void *arg, int part), void *arg)
{
    *(int *)most = *(int *)most > parts ? *(int *)most : parts;
    while (parts-- > 0)
        body(arg, parts);
}

static tn_handle *use_threads(int threads, int *most)
{
    tn_handle *h;
    *most = 0;
    OK(tn_handle_create(
        &h, TN_CPU, 0,
        &(tn_config){.threads = threads, .parallel_for = backwards, .user = most}));
    OK(tn_handle_use(h));
    return h;
}

static void keepdims_by_rank(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, y[3];
    const tn_tensor src = tensor(x, TN_F32, 2, (int64_t[]){2, 3}),
                    kept = tensor(y, TN_F32, 2, (int64_t[]){1, 3}),
                    dropped = line(y, TN_F32, 3);
    OK(tn_reduce(TN_REDUCE_SUM, NULL, &kept, &src, 1, (int[]){0}));
    assert_true(y[0] == 5 && y[1] == 7 && y[2] == 9);
    memset(y, 0, sizeof y);
    OK(tn_reduce(TN_REDUCE_SUM, NULL, &dropped, &src, 1, (int[]){0}));
    assert_true(y[0] == 5 && y[1] == 7 && y[2] == 9);
}

static void all_axes_and_none(void **state)
{
    (void)state;
    float x[3] = {3, -4, 5}, y[3];
    const tn_tensor src = line(x, TN_F32, 3), same = line(y, TN_F32, 3);
    assert_true(all_of(TN_REDUCE_SUM, NULL, TN_F32, x, 3, TN_F32) == 4);
    OK(tn_reduce(TN_REDUCE_NORM, NULL, &same, &src, 0, NULL)); /* each element by itself */
    assert_true(y[0] == 3 && y[1] == 4 && y[2] == 5);
}

static void sums_of_small_integers(void **state)
{
    (void)state;
    int8_t x[3] = {100, 100, 100};
    uint8_t u[2] = {255, 255};
    tn_dtype out;
    OK(tn_reduction_result(TN_REDUCE_SUM, TN_I8, &out));
    assert_int_equal(out, TN_I64);
    OK(tn_reduction_result(TN_REDUCE_PROD, TN_U8, &out));
    assert_int_equal(out, TN_U64);
    assert_true(all_of(TN_REDUCE_SUM, NULL, TN_I8, x, 3, TN_I64) == 300);
    assert_true(all_of(TN_REDUCE_PROD, NULL, TN_U8, u, 2, TN_U64) == 65025);
    assert_true(all_of(TN_REDUCE_SUM, NULL, TN_I8, x, 3, TN_I8) == 44); /* low bits */
}

static void means_of_integers(void **state)
{
    (void)state;
    int8_t x[2] = {1, 2};
    int64_t large[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
    static const tn_reduction ops[] = {TN_REDUCE_MEAN, TN_REDUCE_VAR, TN_REDUCE_STD};
    for (int i = 0; i < 3; i++) {
        tn_dtype out;
        OK(tn_reduction_result(ops[i], TN_I8, &out));
        assert_int_equal(out, TN_F64);
    }
    assert_true(all_of(TN_REDUCE_MEAN, NULL, TN_I8, x, 2, TN_F64) == 1.5);
    assert_true(all_of(TN_REDUCE_VAR, NULL, TN_I8, x, 2, TN_F64) == 0.25);
    /* the exact sum, of more than 64 bits, divided once */
    assert_true(all_of(TN_REDUCE_MEAN, NULL, TN_I64, large, 3, TN_F64) == 0x1p63);
    /* sums that fit 64 bits but no double: any number of equal elements has them as its mean */
    int32_t ends[2] = {INT32_MIN, INT32_MAX};
    const int64_t repeats[] = {(1 << 21) + 1, (1 << 22) + 1, (1 << 22) + 3};
    for (int i = 0; i < 6; i++) {
        tn_tensor same, dst;
        double mean = 0;
        OK(tn_init_strided(&same, &ends[i % 2], i % 4 < 2 ? TN_I32 : TN_U32, 1, &repeats[i / 2],
                           (int64_t[]){0}));
        OK(tn_init(&dst, &mean, TN_F64, 0, NULL));
        OK(tn_reduce(TN_REDUCE_MEAN, NULL, &dst, &same, TN_ALL_AXES, NULL));
        assert_true(mean == (i % 4 < 2 ? (double)ends[i % 2] : (double)(uint32_t)ends[i % 2]));
    }
}

/* Small integers have the variance of the same numbers as f64, to the bit, also the farthest
 * apart. */
static void spreads_of_small_integers(void **state)
{
    (void)state;
    enum { MOST = 4100 * 127 };
    static const tn_dtype dtypes[] = {TN_BOOL, TN_I8, TN_U8, TN_I16, TN_U16};
    static const int64_t shapes[][2] = {{4100, 3},  {4100, 127}, {100, 40}, {127, 4100},
                                        {5000, 31}, {3, 4100},   {40, 600}, {600, 600}};
    char *x = malloc(2 * MOST), *same = malloc(8 * MOST),
         *y[2] = {malloc(8 * 5000), malloc(8 * 5000)};
    assert_true(x && same && y[0] && y[1]);
    for (int d = 0; d < 5; d++)
        for (int k = 0; k < 8; k++) {
            const int64_t n = shapes[k][0] * shapes[k][1];
            rng r = {(uint64_t)(8 * d + k)};
            for (int64_t i = 0; i < 2 * n; i++) /* most are ends of the range */
                x[i] = (char)(dtypes[d] == TN_BOOL ? next(&r) % 2
                              : next(&r) % 8       ? (i % 2 ? 0x80 : 0x00) - (next(&r) % 2)
                                                   : next(&r));
            const tn_tensor small = tensor(x, dtypes[d], 2, shapes[k]),
                            wide = tensor(same, TN_F64, 2, shapes[k]);
            OK(tn_cast(&wide, &small));
            for (int axis = 0; axis < 3; axis++) {
                const tn_tensor *const src[] = {&small, &wide};
                const int64_t results = axis < 2 ? shapes[k][1 - axis] : 1;
                for (int j = 0; j < 2; j++) {
                    const tn_tensor dst = line(y[j], TN_F64, results);
                    const tn_tensor one = tensor(y[j], TN_F64, 0, NULL);
                    OK(tn_reduce(TN_REDUCE_VAR, NULL, axis < 2 ? &dst : &one, src[j],
                                 axis < 2 ? 1 : TN_ALL_AXES, &axis));
                }
                assert_memory_equal(y[0], y[1], (size_t)(8 * results));
            }
        }
    free(x), free(same), free(y[0]), free(y[1]);
}

/* Rows of three have the sums of the same numbers down columns. */
static void rows_of_three(void **state)
{
    (void)state;
    enum { ROWS = 1003 };
    static const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F32, TN_F64};
    static char x[8 * 3 * ROWS], turned[8 * 3 * ROWS], y[2][8 * ROWS];
    for (int d = 0; d < 4; d++) {
        const int64_t width = (int64_t)tn_dtype_size(dtypes[d]);
        rng r = {(uint64_t)d};
        for (int64_t i = 0; i < 3 * ROWS; i++)
            put_real(x + i * width, dtypes[d],
                     ldexp((double)pick(&r, -999, 999) / 7, (int)pick(&r, -8, 5)));
        const tn_tensor rows = tensor(x, dtypes[d], 2, (int64_t[]){ROWS, 3}),
                        columns = tensor(turned, dtypes[d], 2, (int64_t[]){3, ROWS});
        tn_tensor view;
        OK(tn_transpose(&view, &rows, 0, 1));
        OK(tn_cast(&columns, &view));
        for (int k = 0; k < 2; k++) {
            const tn_tensor dst = line(y[k], dtypes[d], ROWS);
            OK(tn_reduce(TN_REDUCE_SUM, NULL, &dst, k ? &columns : &rows, 1, (int[]){!k}));
        }
        assert_memory_equal(y[0], y[1], (size_t)(ROWS * width));
    }
}

static void small_floats_do_not_stop(void **state)
{
    (void)state;
    uint16_t f16 = 0x3c00, bf16 = 0x3f80;
    uint8_t f8 = 0x38;
    for (int dense = 0; dense < 2; dense++) {
        assert_true(sum_of_same(TN_F16, &f16, 100000, 3, dense) == 100000);
        assert_true(sum_of_same(TN_BF16, &bf16, 100000, 3, dense) == 100000);
        assert_true(sum_of_same(TN_F8E4M3, &f8, 100000, 3, dense) == 100000);
    }
}

static void f32_sums_do_not_stop(void **state)
{
    (void)state;
    float one = 1;
    const int64_t n = TEST_WATCHED ? (1 << 18) + 64 : (1 << 24) + 64;
    for (int dense = 0; dense < 2; dense++)
        assert_true(sum_of_same(TN_F32, &one, n, 2, dense) == (double)n);
}

static void same_bits(void **state)
{
    (void)state;
    enum { R = 1300, C = 870 }; /* far more than a thread is worth */
    static float x[R * C], t[R * C];
    float want = 0;
    uint64_t s = 1;
    for (int i = 0; i < R * C; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)(int32_t)(s >> 33) / 1048576.0f - 1000;
        t[i % C * R + i / C] = x[i];
    }
    const tn_tensor rows = tensor(x, TN_F32, 2, (int64_t[]){R, C});
    tn_tensor columns = tensor(t, TN_F32, 2, (int64_t[]){C, R});
    OK(tn_transpose(&columns, &columns, 0, 1));
    for (int threads = 1; threads <= 8; threads++) {
        for (int k = 0; k < 2; k++) {
            int most;
            tn_handle *h = use_threads(threads, &most);
            float y;
            const tn_tensor dst = tensor(&y, TN_F32, 0, NULL);
            OK(tn_reduce(TN_REDUCE_SUM, NULL, &dst, k ? &columns : &rows, TN_ALL_AXES, NULL));
            want = threads == 1 && k == 0 ? y : want;
            assert_memory_equal(&y, &want, sizeof y);
            assert_int_equal(most > 1, threads > 1);
            OK(tn_handle_use(NULL));
            tn_handle_destroy(h);
        }
    }
}

static void ties_and_nan(void **state)
{
    (void)state;
    float ties[5] = {2, 5, 5, 0, -0.0f}, nan[3] = {1, -NAN, 3}, y;
    const uint32_t quiet = 0x7fc00000;
    assert_true(all_of(TN_REDUCE_ARGMAX, NULL, TN_F32, ties, 5, TN_I64) == 1);
    assert_true(all_of(TN_REDUCE_ARGMIN, NULL, TN_F32, ties, 5, TN_I64) == 3);
    assert_true(isnan(all_of(TN_REDUCE_MIN, NULL, TN_F32, nan, 3, TN_F32)));
    assert_true(isnan(all_of(TN_REDUCE_NORM, NULL, TN_F32, nan, 3, TN_F32)));
    assert_true(all_of(TN_REDUCE_ARGMAX, NULL, TN_F32, nan, 3, TN_I64) == 1);
    assert_true(all_of(TN_REDUCE_ARGMIN, NULL, TN_F32, nan, 3, TN_I64) == 1);
    assert_true(all_of(TN_REDUCE_NANMAX, NULL, TN_F32, nan, 3, TN_F32) == 3);
    assert_true(all_of(TN_REDUCE_NANSUM, NULL, TN_F32, nan, 3, TN_F32) == 4);
    const tn_tensor src = line(nan, TN_F32, 3), dst = tensor(&y, TN_F32, 0, NULL);
    OK(tn_reduce(TN_REDUCE_SUM, NULL, &dst, &src, TN_ALL_AXES, NULL));
    assert_memory_equal(&y, &quiet, sizeof y); /* one bit pattern */
}

static void signs_of_zero(void **state)
{
    (void)state;
    float a[2] = {-0.0f, 0}, b[2] = {0, -0.0f}, none[2] = {-0.0f, -0.0f};
    assert_false(signbit(all_of(TN_REDUCE_MAX, NULL, TN_F32, a, 2, TN_F32)));
    assert_false(signbit(all_of(TN_REDUCE_MAX, NULL, TN_F32, b, 2, TN_F32)));
    assert_true(signbit(all_of(TN_REDUCE_MIN, NULL, TN_F32, a, 2, TN_F32)));
    assert_true(signbit(all_of(TN_REDUCE_MIN, NULL, TN_F32, b, 2, TN_F32)));
    assert_false(signbit(all_of(TN_REDUCE_SUM, NULL, TN_F32, none, 2, TN_F32)));
}

static void nothing(void **state)
{
    (void)state;
    float y = 7;
    const tn_tensor src = tensor(NULL, TN_F32, 2, (int64_t[]){0, 3}),
                    one = tensor(&y, TN_F32, 0, NULL), none = line(NULL, TN_F32, 0);
    assert_int_equal(tn_reduce(TN_REDUCE_MAX, NULL, &one, &src, TN_ALL_AXES, NULL), TN_ESHAPE);
    assert_true(y == 7);
    OK(tn_reduce(TN_REDUCE_MAX, NULL, &none, &src, 1, (int[]){1}));
}

static void corrections(void **state)
{
    (void)state;
    float x[2] = {1, 3}, same[2] = {2, 2};
    const double one = 1, two = 2;
    assert_true(all_of(TN_REDUCE_VAR, NULL, TN_F32, x, 2, TN_F32) == 1); /* default 0 */
    assert_true(all_of(TN_REDUCE_VAR, &one, TN_F32, x, 2, TN_F32) == 2);
    assert_true(isinf(all_of(TN_REDUCE_VAR, &two, TN_F32, x, 2, TN_F32)));
    assert_true(isnan(all_of(TN_REDUCE_VAR, &two, TN_F32, same, 2, TN_F32)));
}

static void negative_indices(void **state)
{
    (void)state;
    float x[4] = {10, 11, 12, 13}, y[3] = {7, 7, 7};
    int32_t at[3] = {-1, 0, -4};
    const tn_tensor src = line(x, TN_F32, 4), dst = line(y, TN_F32, 3),
                    index = line(at, TN_I32, 3);
    OK(tn_take(&dst, &src, 0, &index));
    assert_true(y[0] == 13 && y[1] == 10 && y[2] == 10);
    at[2] = -5;
    y[0] = y[1] = y[2] = 7;
    assert_int_equal(tn_take(&dst, &src, 0, &index), TN_EARG);
    assert_string_equal(tn_error(), "take: index -5 at (2) is not in [-4, 4)");
    assert_true(y[0] == 7 && y[1] == 7 && y[2] == 7);
}

static void duplicates(void **state)
{
    (void)state;
    enum { N = 1 << 20, PLACES = 3 };
    static float x[N];
    static int64_t at[N];
    static const float cycle[] = {1, 0x1p24f, 1, -0x1p24f, 3};
    float want[2][PLACES] = {{0}};
    for (int i = 0; i < N; i++) { /* sums that round differently in any other order */
        x[i] = cycle[i % 5] + (float)(i % 11);
        at[i] = i * 7 % 13 % PLACES;
        want[0][at[i]] = x[i];
        want[1][at[i]] += x[i];
    }
    const tn_tensor index = line(at, TN_I64, N), src = line(x, TN_F32, N);
    for (int threads = 1; threads <= 8; threads++) {
        float got[2][PLACES] = {{0}};
        const tn_tensor set = line(got[0], TN_F32, PLACES), sum = line(got[1], TN_F32, PLACES);
        int most;
        tn_handle *h = use_threads(threads, &most);
        OK(tn_put(TN_PUT_SET, &set, 0, &index, &src)); /* the last stays */
        OK(tn_put(TN_PUT_ADD, &sum, 0, &index, &src)); /* one after the other */
        assert_memory_equal(got, want, sizeof got);
        assert_int_equal(most > 1, threads > 1);
        OK(tn_handle_use(NULL));
        tn_handle_destroy(h);
    }
}

static void order(void **state)
{
    (void)state;
    float x[6] = {2, NAN, 1, 2, -0.0f, 0}, y[6];
    int64_t at[6];
    const tn_tensor src = line(x, TN_F32, 6), values = line(y, TN_F32, 6),
                    where = line(at, TN_I64, 6);
    OK(tn_sort(&values, &where, &src, 0, 0));
    assert_memory_equal(at, ((int64_t[]){4, 5, 2, 0, 3, 1}), sizeof at);
    assert_true(signbit(y[0]) && !signbit(y[1]) && isnan(y[5]));
    OK(tn_sort(&values, &where, &src, 0, TN_DESCENDING));
    assert_memory_equal(at, ((int64_t[]){1, 0, 3, 2, 4, 5}), sizeof at);
}

static void unique_nan(void **state)
{
    (void)state;
    float x[4] = {NAN, 1, NAN, 1};
    const tn_tensor src = line(x, TN_F32, 4);
    tn_tensor values;
    OK(tn_unique_copy(&values, NULL, NULL, NULL, &src));
    assert_int_equal(values.shape[0], 2);
    tn_free(&values);
    OK(tn_unique_each_copy(&values, NULL, NULL, NULL, &src));
    assert_int_equal(values.shape[0], 3);
    tn_free(&values);
}

static void running_sums(void **state)
{
    (void)state;
    const int64_t n = TEST_WATCHED ? 4096 : (1 << 24) + 8;
    float one = 1, *y = malloc((size_t)(n + 1) * sizeof *y);
    tn_tensor ones;
    OK(tn_init_strided(&ones, &one, TN_F32, 1, &n, (int64_t[]){0}));
    const tn_tensor same = line(y, TN_F32, n), longer = line(y, TN_F32, n + 1);
    OK(tn_scan(TN_SCAN_SUM, &same, &ones, 0));
    assert_true(y[0] == 1 && (double)y[n - 1] == (double)n);
    OK(tn_scan(TN_SCAN_SUM, &longer, &ones, 0));
    assert_true(y[0] == 0 && (double)y[n] == (double)n);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keepdims_by_rank),
        cmocka_unit_test(all_axes_and_none),
        cmocka_unit_test(sums_of_small_integers),
        cmocka_unit_test(means_of_integers),
        cmocka_unit_test(spreads_of_small_integers),
        cmocka_unit_test(rows_of_three),
        cmocka_unit_test(small_floats_do_not_stop),
        cmocka_unit_test(f32_sums_do_not_stop),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(ties_and_nan),
        cmocka_unit_test(signs_of_zero),
        cmocka_unit_test(nothing),
        cmocka_unit_test(corrections),
        cmocka_unit_test(negative_indices),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(order),
        cmocka_unit_test(unique_nan),
        cmocka_unit_test(running_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
