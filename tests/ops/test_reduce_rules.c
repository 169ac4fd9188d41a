/* test_reduce_rules.c - what reductions promise: special values, errors, bounds, plans. */
#include "reduce_oracle.h"

static double reduce_all(tn_reduction op, const double *params, tn_dtype t, const void *x,
                         int64_t n, tn_dtype out)
{
    tn_tensor src, dst;
    char y[16];
    OK(tn_init_const(&src, x, t, 1, &n, NULL));
    OK(tn_init(&dst, y, out, 0, NULL));
    OK(tn_reduce(op, params, &dst, &src, TN_ALL_AXES, NULL));
    const scalar r = scalar_at(y, out);
    return is_int(out) ? (double)r.i : r.re;
}

static double of_f32(tn_reduction op, const float *x, int64_t n)
{
    return reduce_all(op, NULL, TN_F32, x, n, TN_F32);
}

static void test_special_values(void **state)
{
    (void)state;
    const float zeros[] = {-0.0f, 0.0f}, other[] = {0.0f, -0.0f}, none[] = {-0.0f, -0.0f};
    assert_false(signbit(of_f32(TN_REDUCE_MAX, zeros, 2)));
    assert_false(signbit(of_f32(TN_REDUCE_MAX, other, 2)));
    assert_true(signbit(of_f32(TN_REDUCE_MIN, zeros, 2)));
    assert_true(signbit(of_f32(TN_REDUCE_MIN, other, 2)));
    assert_false(signbit(of_f32(TN_REDUCE_SUM, none, 2)));
    const float nan[] = {1, NAN, 3};
    assert_true(isnan(of_f32(TN_REDUCE_MAX, nan, 3)));
    assert_true(isnan(of_f32(TN_REDUCE_NORM, nan, 3)));
    assert_true(of_f32(TN_REDUCE_NANMAX, nan, 3) == 3);
    assert_true(of_f32(TN_REDUCE_NANSUM, nan, 3) == 4);
    assert_true(of_f32(TN_REDUCE_NANMEAN, nan, 3) == 2);
    assert_true(reduce_all(TN_REDUCE_ARGMAX, NULL, TN_F32, nan, 3, TN_I64) == 1);
    const float ties[] = {2, 5, 5, 0, -0.0f};
    assert_true(reduce_all(TN_REDUCE_ARGMAX, NULL, TN_F32, ties, 5, TN_I64) == 1);
    assert_true(reduce_all(TN_REDUCE_ARGMIN, NULL, TN_F32, ties, 5, TN_I32) == 3);
    assert_true(isnan(of_f32(TN_REDUCE_NANMIN, (float[]){NAN, NAN}, 2)));
    assert_true(of_f32(TN_REDUCE_VAR, (float[]){1, 3}, 2) == 1); /* correction 0 */
    const double one = 1, two = 2;
    assert_true(reduce_all(TN_REDUCE_VAR, &one, TN_F32, (float[]){1, 3}, 2, TN_F32) == 2);
    assert_true(isinf(reduce_all(TN_REDUCE_VAR, &two, TN_F32, (float[]){1, 3}, 2, TN_F32)));
    assert_true(isnan(of_f32(TN_REDUCE_VAR, (float[]){1, INFINITY}, 2)));
    const int8_t small[] = {100, 100, 100};
    assert_true(reduce_all(TN_REDUCE_SUM, NULL, TN_I8, small, 3, TN_I64) == 300);
    assert_true(reduce_all(TN_REDUCE_SUM, NULL, TN_I8, small, 3, TN_I8) == 44);
    const int64_t large[] = {INT64_MAX, INT64_MAX, INT64_MAX};
    assert_true(reduce_all(TN_REDUCE_MEAN, NULL, TN_I64, large, 3, TN_F64) == 0x1p63);
}

static void test_nothing(void **state)
{
    (void)state;
    static const struct {
        tn_reduction op;
        double want;
    } rows[] = {{TN_REDUCE_SUM, 0},       {TN_REDUCE_PROD, 1},
                {TN_REDUCE_MEAN, NAN},    {TN_REDUCE_VAR, NAN},
                {TN_REDUCE_STD, NAN},     {TN_REDUCE_SUMSQ, 0},
                {TN_REDUCE_NORM, 0},      {TN_REDUCE_LOGSUMEXP, -INFINITY},
                {TN_REDUCE_NANMEAN, NAN}, {TN_REDUCE_NANSUM, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double got = of_f32(rows[i].op, NULL, 0);
        assert_true(isnan(rows[i].want) ? isnan(got) : got == rows[i].want);
    }
    assert_true(reduce_all(TN_REDUCE_ANY, NULL, TN_F32, NULL, 0, TN_BOOL) == 0);
    assert_true(reduce_all(TN_REDUCE_ALL, NULL, TN_F32, NULL, 0, TN_BOOL) == 1);
    assert_true(reduce_all(TN_REDUCE_COUNT_NONZERO, NULL, TN_F32, NULL, 0, TN_I64) == 0);
    const double order = -2;
    assert_true(isinf(reduce_all(TN_REDUCE_NORM, &order, TN_F32, NULL, 0, TN_F32)));
    const double least = -INFINITY; /* of a dtype that has no infinity itself */
    assert_true(isinf(reduce_all(TN_REDUCE_NORM, &least, TN_F8E4M3, NULL, 0, TN_F32)));
    tn_tensor src, dst, empty;
    float y;
    OK(tn_init(&src, NULL, TN_F32, 2, (int64_t[]){0, 3}));
    OK(tn_init(&dst, &y, TN_F32, 0, NULL));
    OK(tn_init(&empty, NULL, TN_F32, 1, (int64_t[]){0}));
    assert_int_equal(tn_reduce(TN_REDUCE_MAX, NULL, &dst, &src, TN_ALL_AXES, NULL), TN_ESHAPE);
    OK(tn_reduce(TN_REDUCE_MAX, NULL, &empty, &src, 1, (int[]){1})); /* no results either */
}

/* Ones that are repeated by stride 0: n of them cost no memory. */
static double repeated(tn_dtype t, const void *x, int64_t n, int64_t columns, tn_dtype out)
{
    tn_tensor src, dst;
    double y[8];
    OK(tn_init_strided(&src, (void *)(uintptr_t)x, t, 2, (int64_t[]){n, columns},
                       (int64_t[]){0, 0}));
    OK(tn_init(&dst, y, out, 1, &columns));
    OK(tn_reduce(TN_REDUCE_SUM, NULL, &dst, &src, 1, (int[]){0}));
    return scalar_at((char *)y, out).re;
}

static void test_bounds(void **state)
{
    (void)state;
    const float one = 1;
    const uint16_t half = 0x3c00;
    const int64_t n = TEST_WATCHED ? (1 << 18) + 64 : (1 << 24) + 64;
    assert_true(repeated(TN_F32, &one, n, 2, TN_F32) == (double)(float)n);
    assert_true(repeated(TN_F16, &half, 5000, 1, TN_F16) == 5000);
    assert_true(repeated(TN_F16, &half, 100000, 1, TN_F32) == 100000);
    /* random f32 against the exact sum, in integers of 2^-24 */
    enum { N = 100000 };
    float *x = malloc(N * sizeof *x);
    for (int round = 0; round < 4; round++) {
        rng r = {(uint64_t)round};
        int64_t exact = 0, size = 0;
        for (int i = 0; i < N; i++) {
            const int32_t v = (int32_t)pick(&r, -(1 << 24), 1 << 24);
            x[i] = (float)v / 16777216.0f;
            exact += v;
            size += v < 0 ? -v : v;
        }
        const double got = reduce_all(TN_REDUCE_SUM, NULL, TN_F32, x, N, TN_F64);
        const double off = fabs(got - (double)exact * 0x1p-24);
        assert_true(off <= 3 * 0x1p-24 * (double)size * 0x1p-24);
    }
    free(x);
}

/* ---- bounds of f64, in integers ----
 *
 * An element is an integer of 53 bits times 2^-40, so that sums of them, and sums of squares of
 * small ones, are exact in 128 bits. */

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;

static wide magnitude_of(wide x)
{
    return x < 0 ? -x : x;
}

/* Elements of like size, of one sign, of sizes 2^0 ... 2^53, and such that most of them
 * cancel. */
static int64_t drawn(rng *r, int kind, int64_t i)
{
    const int64_t any = pick(r, -((int64_t)1 << 53), (int64_t)1 << 53);
    switch (kind) {
    case 0:
        return any;
    case 1:
        return any < 0 ? -any : any;
    case 2:
        return any >> pick(r, 0, 52);
    default:
        return i % 2 ? ((int64_t)1 << 53) - pick(r, 0, 99) : -((int64_t)1 << 53);
    }
}

/* At most (23 + log2(n / 2048)) units of 2^-53 of the sum of |x|. */
static void test_f64_bounds(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 100, 2048, 2049, 5000, 65536, 300001};
    double *x = malloc(300001 * sizeof *x);
    for (size_t c = 0; c < 4 * sizeof sizes / sizeof *sizes; c++) {
        const int64_t n = sizes[c / 4];
        rng r = {c};
        wide exact = 0, size = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t v = drawn(&r, (int)(c % 4), i);
            x[i] = (double)v * 0x1p-40;
            exact += v;
            size += magnitude_of(v);
        }
        const double got = reduce_all(TN_REDUCE_SUM, NULL, TN_F64, x, n, TN_F64);
        const wide off =
            magnitude_of((wide)(got * 0x1p40) - exact); /* got is an integer there */
        int levels = 0;
        while ((int64_t)2048 << levels < n)
            levels++;
        if (off > ((23 + levels) * size >> 53))
            fail_msg("kind %d of %lld elements: off by %g units of 2^-53", (int)(c % 4),
                     (long long)n, (double)off / (double)size * 0x1p53);
    }
    free(x);
}

/* In a block the squares of distances from the first element are at most 2048 times those from
 * the mean, where it alone is far from the others, so that 11 bits are lost; of elements of
 * like size 2.  Blocks meet at means that are rounded.  n M is n sum(v^2) - sum(v)^2, wherever
 * the elements are. */
static void test_var_bounds(void **state)
{
    (void)state;
    static const int64_t sizes[] = {2, 100, 2048, 2049, 5000, 65536, 300001};
    static const int64_t centres[] = {0, 1000, 1 << 20, (int64_t)1 << 40, -((int64_t)1 << 52)};
    double *x = malloc(300001 * sizeof *x);
    for (size_t c = 0; c < 20 * sizeof sizes / sizeof *sizes; c++) {
        const tn_reduction op = c % 2 ? TN_REDUCE_VAR : TN_REDUCE_NANVAR;
        const int64_t n = sizes[c / 20], centre = centres[c % 5], far = 500000,
                      near = c % 20 < 10 ? far : 3;
        rng r = {c};
        wide sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t v = i % 2048 ? pick(&r, -near, near) : far;
            x[i] = (double)(centre + v);
            sum += v;
            squares += (wide)v * v;
        }
        const double want = (double)(n * squares - sum * sum) / ((double)n * (double)n),
                     got = reduce_all(op, NULL, TN_F64, x, n, TN_F64),
                     units = 32 * (near == far ? 4 : 2048), /* 32: the sum's own */
            means = n > 2048 ? 2 * fabs((double)centre) * (double)far : 0;
        if (!(fabs(got - want) <= 0x1p-53 * (want * units + means)))
            fail_msg("%lld elements around %lld: %.17g, exactly %.17g", (long long)n,
                     (long long)centre, got, want);
    }
    free(x);
}
#endif

/* Zeros with signs show each factor (1, 0) of a product of complex numbers, however long it
 * is. */
static void test_complex_zeros(void **state)
{
    (void)state;
    enum { MOST = 2400 };
    static double x[2 * MOST];
    static const double parts[] = {0.0, -0.0, 1.0, -1.0};
    for (int64_t n = 1; n <= MOST; n += n < 300 ? 1 : 37) {
        rng r = {(uint64_t)n};
        double got[2], want[2];
        tn_tensor src, dst, by_oracle;
        for (int64_t i = 0; i < 2 * n; i++)
            x[i] = parts[next(&r) % (n % 2 ? 2 : 4)];
        OK(tn_init(&src, x, TN_C128, 1, &n));
        OK(tn_init(&dst, got, TN_C128, 0, NULL));
        OK(tn_init(&by_oracle, want, TN_C128, 1, (int64_t[]){1}));
        OK(tn_reduce(TN_REDUCE_PROD, NULL, &dst, &src, TN_ALL_AXES, NULL));
        oracle_reduce(TN_REDUCE_PROD, NULL, &by_oracle, &src, 1);
        if (memcmp(got, want, sizeof got))
            fail_msg("%lld elements: (%g, %g), expected (%g, %g)", (long long)n, got[0], got[1],
                     want[0], want[1]);
    }
}

/* The magnitude of a complex number overflows only where it is no number of f64.  In a norm of
 * any order it is NaN if a part is NaN, even beside an infinite one. */
static void test_complex_magnitudes(void **state)
{
    (void)state;
    const double parts[][2] = {
        {1.2e308, 1.2e308}, {-1.7e308, 1.7e307}, {3e-320, 4e-320}, {-0.0, 0},
        {1.7e308, 1.7e308}, {NAN, -INFINITY},    {NAN, 1.7e308},   {1, NAN}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const bool nan = isnan(parts[i][0]) || isnan(parts[i][1]);
        for (int o = 0; o < (nan ? 7 : 2); o++) {
            const double order = (double[]){1, INFINITY, 0, 2, 2.5, -1, -INFINITY}[o];
            const double want = nan ? NAN : hypot(parts[i][0], parts[i][1]);
            const double got =
                reduce_all(TN_REDUCE_NORM, &order, TN_C128, (void *)parts[i], 1, TN_F64);
            if (!(fabs(got - want) <= 0x1p-51 * want + 0x1p-1074) &&
                !(got == want || (isnan(got) && isnan(want))))
                fail_msg("norm %g of (%g, %g): %g, expected %g", order, parts[i][0],
                         parts[i][1], got, want);
        }
    }
}

static void test_errors(void **state)
{
    (void)state;
    float x[6] = {0}, y[6];
    int32_t k[6];
    tn_tensor a, b, i, scalar;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_init(&b, y, TN_F32, 1, (int64_t[]){2}));
    OK(tn_init(&i, k, TN_I32, 1, (int64_t[]){2}));
    OK(tn_init(&scalar, y, TN_F32, 0, NULL));
    const double nan = NAN, inf = INFINITY;
    const int last[] = {1}, twice[] = {1, 1}, far[] = {2};
#define REFUSED(call, status) assert_int_equal(call, status)
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, NULL, &a, 1, last), TN_ENULL);
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, 1, NULL), TN_ENULL);
    REFUSED(tn_reduce((tn_reduction)99, NULL, &b, &a, 1, last), TN_EARG);
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, 2, twice), TN_EARG);
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, 1, far), TN_EARG);
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, 3, twice), TN_EARG);
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, -2, last), TN_EARG);
    REFUSED(tn_reduce(TN_REDUCE_NORM, &nan, &b, &a, 1, last), TN_EARG);
    REFUSED(tn_reduce(TN_REDUCE_VAR, &inf, &b, &a, 1, last), TN_EARG);
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &i, &a, 1, last), TN_EDTYPE);
    REFUSED(tn_reduce(TN_REDUCE_NORM, NULL, &b, &i, 1, (int[]){0}), TN_EDTYPE);
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &scalar, &a, 1, last), TN_ESHAPE);
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &a, &a, 1, last), TN_ESHAPE);
    b.stride[0] = 0;
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, 1, last), TN_ESTRIDE);
    b.stride[0] = 4;
    b.data = x;
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, 1, last), TN_EOVERLAP);
    b.data = y;
    b.flags = TN_READONLY;
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, 1, last), TN_EARG);
    b.flags = 0;
    b.data = NULL;
    REFUSED(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, 1, last), TN_ENULL);
    tn_reduction op;
    OK(tn_reduction_parse(&op, "count_nonzero"));
    assert_int_equal(op, TN_REDUCE_COUNT_NONZERO);
    REFUSED(tn_reduction_parse(&op, "summ"), TN_EARG);
    assert_null(tn_reduction_name((tn_reduction)TNI_REDUCTIONS));
    assert_int_equal(tn_reduction_params(TN_REDUCE_NANSTD), 1);
}

/* Each layout takes the way that is meant for it. */
static void test_ways(void **state)
{
    (void)state;
    static const struct {
        const char *way;
        int64_t shape[2], stride[2];
        int axis; /* -1: all */
        tn_reduction op;
    } rows[] = {
        {"line", {100, 500}, {2000, 4}, 1, TN_REDUCE_SUM},
        {"line", {100, 500}, {2000, 4}, -1, TN_REDUCE_SUM},
        {"columns", {500, 100}, {400, 4}, 0, TN_REDUCE_SUM},
        {"columns", {5000, 3}, {12, 4}, 0, TN_REDUCE_SUM},
        {"line", {5000, 3}, {12, 4}, 1, TN_REDUCE_SUM},
        {"transpose", {5000, 12}, {48, 4}, 1, TN_REDUCE_SUM},
        {"standing blocks", {100, 4096}, {4, 400}, -1, TN_REDUCE_SUM},
        {"panels", {100, 4000}, {4, 400}, -1, TN_REDUCE_SUM},
        {"line", {100, 2000}, {4, 400}, -1, TN_REDUCE_SUM},
        {"across", {200, 4000}, {4, 800}, -1, TN_REDUCE_ARGMAX},
        {"panels", {100, 4000}, {4, 400}, -1, TN_REDUCE_ARGMAX},
        {"short rows", {5000, 12}, {48, 4}, 1, TN_REDUCE_MAX},
        {"short rows", {5000, 12}, {48, 4}, 1, TN_REDUCE_ARGMIN},
        {"short rows", {5000, 12}, {48, 4}, 1, TN_REDUCE_COUNT_NONZERO},
        {"transpose", {5000, 3}, {12, 4}, 1, TN_REDUCE_ARGMIN},
        {"line", {5000, 200}, {800, 4}, 1, TN_REDUCE_MAX},
        {"column blocks", {500, 100}, {400, 4}, 0, TN_REDUCE_LOGSUMEXP},
        {"line", {500, 40}, {160, 4}, 0, TN_REDUCE_LOGSUMEXP},
        {"line", {500, 100}, {400, 4}, 1, TN_REDUCE_LOGSUMEXP},
    };
    const bool base = !strcmp(tn_isa(), "base"); /* has no kernels for short rows */
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        tn_tensor src, dst;
        tn_plan *plan;
        tn_facts facts;
        int64_t kept = rows[k].axis < 0 ? 1 : rows[k].shape[1 - rows[k].axis];
        OK(tn_init_strided(&src, NULL, TN_F32, 2, rows[k].shape, rows[k].stride));
        tn_dtype result;
        OK(tn_reduction_result(rows[k].op, TN_F32, &result));
        OK(tn_init(&dst, NULL, result, rows[k].axis >= 0, &kept));
        OK(tn_plan_reduce(&plan, rows[k].op, NULL, &dst, &src,
                          rows[k].axis < 0 ? TN_ALL_AXES : 1, &rows[k].axis));
        OK(tn_plan_facts(&facts, plan));
        if (base && !strcmp(rows[k].way, "short rows"))
            assert_string_equal(facts.way, "transpose");
        else
            assert_string_equal(facts.way, rows[k].way);
        assert_true(facts.why[0] != 0);
        tn_plan_free(plan);
    }
}

/* Of equal elements the first counts, however they lie in memory. */
static void test_equal_elements(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{64, 6144}, {8, 5000}, {700, 2100}, {3000, 7}};
    static const tn_dtype dtypes[] = {TN_F8E5M2, TN_F16, TN_F32, TN_F64};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes * 4; k++) {
        const int64_t *shape = shapes[k / 4], n = shape[0] * shape[1];
        const tn_dtype t = dtypes[k % 4];
        const int64_t width = (int64_t)tn_dtype_size(t);
        char *x = calloc((size_t)n, (size_t)width);
        for (int64_t i = 0; i < 40; i++) {
            /* two equal elements, two orders in memory */
            const int64_t one = (i * 7919 * 31 + 5) % n, other = (i * 104729 + 11) % n;
            const int64_t stride[2] = {i % 2 ? width : shape[1] * width,
                                       i % 2 ? shape[0] * width : width};
            int64_t index;
            tn_tensor src, dst;
            OK(tn_init_strided(&src, x, t, 2, shape, stride));
            OK(tn_init(&dst, &index, TN_I64, 0, NULL));
            OK(tn_reduce(TN_REDUCE_ARGMAX, NULL, &dst, &src, TN_ALL_AXES, NULL));
            assert_int_equal(index, 0);
            char *places[] = {x + one / shape[1] * stride[0] + one % shape[1] * stride[1],
                              x + other / shape[1] * stride[0] + other % shape[1] * stride[1]};
            for (int j = 0; j < 2; j++)
                put_real(places[j], t, 1);
            OK(tn_reduce(TN_REDUCE_ARGMAX, NULL, &dst, &src, TN_ALL_AXES, NULL));
            assert_int_equal(index, one < other ? one : other);
            for (int j = 0; j < 2; j++)
                put_real(places[j], t, 0);
        }
        free(x);
    }
}

/* Sentences are about the pattern that was given: its text, its columns, its numbers. */
static void test_pattern_sentences(void **state)
{
    (void)state;
    float x[15] = {0}, y[15];
    tn_tensor src, dst;
    static const struct {
        const char *pattern, *sizes, *want;
        int column;
    } cases[] = {
        {"h (w 7) -> h", NULL, "\"h (w 7) -> h\": axis 1 of src has extent 5", 0},
        {"h 4 -> h", NULL, "\"h 4 -> h\": axis 1 of src has extent 5, not 4", 0},
        {"3 (w 5) -> (w", NULL, "\"3 (w 5) -> (w\": '(' at 12 is not closed", 12},
        {"h w h -> h", NULL, "\"h w h -> h\": 'h' at 5", 5},
        {"h w", NULL, "\"h w\": the end at 4 is reached before a '->'", 4},
        {"h 0 -> h", NULL, "'0' at 3 is not a valid extent", 3},
        {"h w -> h r", NULL, "'r' at 10 is new and has no size", 10},
        {"h w -> h", "h=x", "\"h=x\": 'x' at 3 is not a digit", 0},
    };
    OK(tn_init(&src, x, TN_F32, 2, (const int64_t[]){3, 5}));
    OK(tn_init(&dst, y, TN_F32, 1, (const int64_t[]){3}));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &dst, &src,
                                               cases[i].pattern, cases[i].sizes),
                             TN_OK);
        if (!strstr(tn_error(), cases[i].want))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].want, tn_error());
        assert_int_equal(strncmp(tn_error(), "pattern_reduce: ", 16), 0);
        assert_int_equal(tn_error_column(), cases[i].column);
    }
}

/* Numbers on the left take no name from the user, numbers on the right are new, and a pattern
 * has the length that pattern.h promises. */
static void test_pattern_texts(void **state)
{
    (void)state;
    float x[15], y[60];
    tn_tensor src, dst;
    char text[1026], sizes[1026];
    for (int i = 0; i < 15; i++)
        x[i] = (float)i;
    OK(tn_init(&src, x, TN_F32, 2, (const int64_t[]){3, 5}));
    OK(tn_init(&dst, y, TN_F32, 1, (const int64_t[]){5}));
    OK(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &dst, &src, "3 number0q -> number0q", NULL));
    for (int i = 0; i < 5; i++)
        assert_true(y[i] == (float)(15 + 3 * i));

    OK(tn_init(&dst, y, TN_F32, 2, (const int64_t[]){3, 5}));
    OK(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &dst, &src, "h 5 -> h 5", NULL));
    for (int i = 0; i < 15; i++) /* 5 on the right is another one: it repeats */
        assert_true(y[i] == (float)(25 * (i / 5) + 10));

    memset(text, ' ', sizeof text);
    memset(sizes, ' ', sizeof sizes);
    memcpy(text, "h w -> h", 8);
    memcpy(sizes, "w=5", 3);
    text[1024] = sizes[1024] = 0;
    OK(tn_init(&dst, y, TN_F32, 1, (const int64_t[]){3}));
    OK(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &dst, &src, text, sizes));
    text[1024] = ' ', text[1025] = 0;
    assert_int_equal(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &dst, &src, text, sizes),
                     TN_EFORMAT);
    assert_string_equal(tn_error(), "pattern_reduce: pattern is longer than 1024 bytes");
    sizes[1024] = ' ', sizes[1025] = 0;
    assert_int_equal(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &dst, &src, "h w -> h", sizes),
                     TN_EFORMAT);
    assert_string_equal(tn_error(), "pattern_reduce: sizes is longer than 1024 bytes");

    /* names that are reduced do not count as axes of the result */
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    memcpy(text, "h w ->", 6);
    for (int i = 0; i < 64; i++)
        memcpy(text + 6 + 2 * i, " 1", 2);
    text[6 + 2 * 64] = 0;
    OK(tn_pattern_reduce_shape(text, NULL, &src, &ndim, shape));
    assert_int_equal(ndim, 64);
    strcat(text, " 1");
    assert_int_equal(tn_pattern_reduce_shape(text, NULL, &src, &ndim, shape), TN_EFORMAT);
}

/* The axes of a pattern are those that tn_pattern_reduce reduces. */
static void test_pattern_axes(void **state)
{
    (void)state;
    tn_tensor x, view, got, want;
    int naxes, axes[TN_MAX_NDIM];
    OK(tn_alloc(&x, TN_F32, 3, (const int64_t[]){4, 6, 3}));
    OK(tn_randn(&x, 7));
    OK(tn_pattern_reduce_axes(&view, &naxes, axes, &x, "(a 2) (b 3) c -> c a b", NULL));
    assert_int_equal(naxes, 2);
    OK(tn_reduce_copy(&got, TN_REDUCE_SUM, NULL, &view, naxes, axes, false));
    OK(tn_alloc(&want, TN_F32, 3, (const int64_t[]){3, 2, 2}));
    OK(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &want, &x, "(a 2) (b 3) c -> c a b", NULL));
    assert_int_equal(tn_nbytes(&got), tn_nbytes(&want));
    assert_memory_equal(got.data, want.data, (size_t)tn_nbytes(&want));
    assert_int_equal(tn_pattern_reduce_axes(NULL, &naxes, axes, &x, "a b c -> a", NULL),
                     TN_ENULL);
    tn_free(&x);
    tn_free(&got);
    tn_free(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_complex_zeros),
        cmocka_unit_test(test_complex_magnitudes),
        cmocka_unit_test(test_errors),
#ifdef __SIZEOF_INT128__
        cmocka_unit_test(test_f64_bounds),
        cmocka_unit_test(test_var_bounds),
#endif
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_equal_elements),
        cmocka_unit_test(test_pattern_sentences),
        cmocka_unit_test(test_pattern_texts),
        cmocka_unit_test(test_pattern_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
