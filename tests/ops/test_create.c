/* test_create.c - full, arange, randn, randint: values, known answers, the same bits
 * everywhere. */
#include <math.h>

#include "layout.h"

#include "core/core.h"
#include "kernels/generate/philox.h"
#include "kernels/kernels.h"
#include "runtime/runtime.h"

static void full_tensors(void **state)
{
    (void)state;
    rng r = {1};
    for (size_t k = 0; k < sizeof all_dtypes / sizeof *all_dtypes; k++) {
        char value[16];
        for (size_t i = 0; i < sizeof value; i++)
            value[i] = (char)next(&r);
        size_t width = tn_dtype_size(all_dtypes[k]);
        for (int zero = 0; zero < 2; zero++) {
            tn_tensor t;
            OK(tn_full(&t, all_dtypes[k], 3, (int64_t[]){3, 5, 7}, zero ? NULL : value));
            for (size_t i = 0; i < 105; i++)
                for (size_t b = 0; b < width; b++)
                    assert_int_equal(((char *)t.data)[i * width + b], zero ? 0 : value[b]);
            tn_free(&t);
        }
    }
    tn_tensor t;
    OK(tn_full(&t, TN_F32, 0, NULL, &(float){3.5f}));
    assert_true(*(float *)t.data == 3.5f);
    tn_free(&t);
    OK(tn_full(&t, TN_F32, 2, (int64_t[]){0, 4}, NULL));
    assert_int_equal(tn_numel(&t), 0);
    tn_free(&t);
    assert_int_equal(tn_full(NULL, TN_F32, 0, NULL, NULL), TN_ENULL);
    assert_int_equal(tn_full(&t, TN_F32, 1, NULL, NULL), TN_ENULL);
    assert_int_equal(tn_full(&t, TN_F32, 65, (int64_t[65]){0}, NULL), TN_EARG);
    assert_int_equal(tn_full(&t, (tn_dtype)99, 1, (int64_t[]){1}, NULL), TN_EDTYPE);
    assert_int_equal(tn_full(&t, TN_F32, 1, (int64_t[]){-1}, NULL), TN_ESHAPE);
    assert_int_equal(tn_full(&t, TN_F32, 1, (int64_t[]){INT64_MAX}, NULL), TN_EOVERFLOW);
}

static tn_status make_full(void)
{
    tn_tensor t = {.ndim = 7};
    tn_status status = tn_full(&t, TN_I16, 2, (int64_t[]){3, 4}, NULL);
    assert_int_equal(t.ndim, status == TN_OK ? 2 : 7);
    if (status == TN_OK)
        tn_free(&t);
    return status;
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_int_equal(fail_each_allocation(make_full), 1);
}

/* The real part of an element, for dtypes that f64 holds. */
static double value_of(tn_dtype dtype, const void *p)
{
    uint8_t b;
    uint16_t h;
    float f;
    double d;
    memcpy(&b, p, 1);
    if (tn_dtype_size(dtype) >= 2)
        memcpy(&h, p, 2);
    if (tn_dtype_size(dtype) >= 4)
        memcpy(&f, p, 4);
    if (tn_dtype_size(dtype) >= 8)
        memcpy(&d, p, 8);
    switch (dtype) {
    case TN_F8E4M3:
        return (double)tni_f32_of_f8e4m3(b);
    case TN_F8E5M2:
        return (double)tni_f32_of_f8e5m2(b);
    case TN_F16:
        return (double)tni_f32_of_f16(h);
    case TN_BF16:
        return (double)tni_f32_of_bf16(h);
    case TN_F32:
    case TN_C64:
        return (double)f;
    case TN_F64:
    case TN_C128:
        return d;
    default: {
        const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        const size_t width = tn_dtype_size(dtype);
        uint64_t bits = 0;
        memcpy((char *)&bits + (big ? 8 - width : 0), p, width);
        int spare = 64 - 8 * (int)width;
        bool is_signed =
            dtype == TN_I8 || dtype == TN_I16 || dtype == TN_I32 || dtype == TN_I64;
        return is_signed ? (double)((int64_t)(bits << spare) >> spare) : (double)bits;
    }
    }
}

static void ranges(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof all_dtypes / sizeof *all_dtypes; k++) {
        tn_dtype dtype = all_dtypes[k];
        char data[16 * 16];
        memset(data, 0x5a, sizeof data);
        tn_tensor t;
        OK(tn_init(&t, data, dtype, 1, (int64_t[]){8}));
        OK(tn_arange(&t, 1, 1));
        for (int i = 0; i < 8; i++)
            assert_true(value_of(dtype, data + i * (int)tn_dtype_size(dtype)) ==
                        (dtype == TN_BOOL ? 1 : 1 + i));
        if (dtype == TN_C64)
            assert_true(((float *)data)[1] == 0);
    }
    double d[5];
    tn_tensor t;
    OK(tn_init(&t, d, TN_F64, 1, (int64_t[]){5}));
    OK(tn_arange(&t, 0.1, 0.1));
    for (int i = 0; i < 5; i++)
        assert_true(d[i] == 0.1 + (volatile double)((double)i * 0.1));
    /* integers count in i64, which wraps and keeps its low bits */
    int64_t n[4];
    OK(tn_init(&t, n, TN_I64, 1, (int64_t[]){4}));
    OK(tn_arange(&t, -7.9, 2.9));
    assert_int_equal(n[3], -7 + 3 * 2);
    OK(tn_arange(&t, 1e300, 1));
    assert_true(n[0] == INT64_MAX && n[1] == INT64_MIN);
    OK(tn_arange(&t, NAN, -1e300));
    assert_true(n[0] == 0 && n[1] == INT64_MIN && n[2] == 0);
    uint8_t b[300];
    OK(tn_init(&t, b, TN_U8, 1, (int64_t[]){300}));
    OK(tn_arange(&t, -3, 3));
    for (int i = 0; i < 300; i++)
        assert_int_equal(b[i], (uint8_t)(-3 + 3 * i));
}

static void philox_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], words[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        uint32_t c[4][TNI_STRIP];
        for (int i = 0; i < TNI_STRIP; i++)
            for (int w = 0; w < 4; w++)
                c[w][i] = known[k].counter[w];
        tni_philox(c, TNI_STRIP, known[k].key[0] | (uint64_t)known[k].key[1] << 32);
        for (int i = 0; i < TNI_STRIP; i++)
            for (int w = 0; w < 4; w++)
                assert_int_equal(c[w][i], known[k].words[w]);
    }
    /* the whole way: 2^63 numbers from words 0 and 1 of counter 0 under key 0 */
    int64_t n;
    tn_tensor t;
    OK(tn_init(&t, &n, TN_I64, 0, NULL));
    OK(tn_randint(&t, 0, 0, INT64_MAX));
    assert_true(n == (int64_t)(0xe169c58d6627e8d5u >> 1) ||
                n == (int64_t)(0xe169c58d6627e8d5u >> 1) - 1);
}

static void random_integers(void **state)
{
    (void)state;
    static const struct {
        tn_dtype dtype;
        int64_t low, high;
    } cases[] = {{TN_I8, -128, 128},  {TN_U8, 0, 256},      {TN_BOOL, 0, 2},  {TN_I32, -5, 6},
                 {TN_I64, 100, 101},  {TN_F32, -3, 4},      {TN_F16, 0, 100}, {TN_BF16, 0, 100},
                 {TN_F8E4M3, -8, 9},  {TN_F8E5M2, -4, 5},   {TN_F64, 0, 10},  {TN_U16, 7, 300},
                 {TN_U64, 0, 1 << 8}, {TN_U32, 1000, 1010}, {TN_I16, -2, 2}};
    enum { N = 50000 };
    static char data[8 * N];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tn_tensor t;
        OK(tn_init(&t, data, cases[k].dtype, 1, (int64_t[]){N}));
        OK(tn_randint(&t, 42 + k, cases[k].low, cases[k].high));
        int64_t range = cases[k].high - cases[k].low, width = (int64_t)tn_dtype_size(t.dtype);
        int count[300] = {0};
        for (int i = 0; i < N; i++) {
            double v = value_of(t.dtype, data + i * width) - (double)cases[k].low;
            assert_true(v == floor(v) && v >= 0 && v < (double)range);
            count[(int)v]++;
        }
        double chi = 0, expect = (double)N / (double)range;
        for (int i = 0; i < range; i++)
            chi += (count[i] - expect) * (count[i] - expect) / expect;
        double bound = (double)range + 6 * sqrt(2 * (double)range);
        if (chi > bound)
            fail_msg("case %d: chi square %g of %d", (int)k, chi, (int)range);
    }
    int64_t n[2];
    tn_tensor t;
    OK(tn_init(&t, n, TN_I64, 1, (int64_t[]){2}));
    OK(tn_randint(&t, 1, INT64_MIN, INT64_MAX));
    assert_true(n[0] != n[1]);
}

static void normal_numbers(void **state)
{
    (void)state;
    enum { N = 400000 };
    double *x = malloc(N * sizeof *x);
    tn_tensor t;
    OK(tn_init(&t, x, TN_F64, 1, (int64_t[]){N}));
    OK(tn_randn(&t, 2024));
    double m[5] = {0};
    int below[33] = {0}; /* numbers below -4, -3.75, …, 4 */
    for (int i = 0; i < N; i++) {
        assert_true(fabs(x[i]) < 8.5);
        for (int k = 1; k <= 4; k++)
            m[k] += pow(x[i], k) / N;
        for (int k = 0; k < 33; k++)
            below[k] += x[i] < -4 + 0.25 * k;
    }
    assert_true(fabs(m[1]) < 0.01 && fabs(m[2] - 1) < 0.01 && fabs(m[3]) < 0.03 &&
                fabs(m[4] - 3) < 0.06);
    for (int k = 0; k < 33; k++) {
        double p = 0.5 * erfc((4 - 0.25 * k) / sqrt(2));
        assert_true(fabs(below[k] - p * N) < 5 * sqrt(p * (1 - p) * N) + 1);
    }
    /* each number is the rounded one of f64 */
    static const tn_dtype floats[] = {TN_F8E4M3, TN_F8E5M2, TN_F16, TN_BF16, TN_F32};
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
        char *y = malloc(N * 4);
        int64_t width = (int64_t)tn_dtype_size(floats[k]);
        OK(tn_init(&t, y, floats[k], 1, (int64_t[]){N}));
        OK(tn_randn(&t, 2024));
        for (int i = 0; i < N; i++) {
            double got = value_of(floats[k], y + i * width), off = fabs(got - x[i]);
            static const double relative[] = {0x1p-4, 0x1p-3, 0x1p-11, 0x1p-8, 0x1p-24};
            assert_true(off <= relative[k] * fabs(x[i]) + 0x1p-10);
        }
        free(y);
    }
    free(x);
    /* first numbers of seed 0: the way from words to numbers stays as it is */
    double first[4];
    OK(tn_init(&t, first, TN_F64, 1, (int64_t[]){4}));
    OK(tn_randn(&t, 0));
    for (int i = 0; i < 4; i++) {
        uint32_t c[4][TNI_STRIP] = {{(uint32_t)i}};
        tni_philox(c, 1, 0);
        double u = 1 - (double)((c[0][0] | (uint64_t)c[1][0] << 32) >> 12) * 0x1p-52;
        double v = (double)((c[2][0] | (uint64_t)c[3][0] << 32) >> 12) * 0x1p-52;
        double want = sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
        assert_true(fabs(first[i] - want) < 1e-14 * (1 + fabs(want)));
    }
}

/* Any layout, any cut into calls, any level of instructions: the same numbers. */
static void same_bits_everywhere(void **state)
{
    (void)state;
    rng r = {9};
    for (int round = 0; round < 400; round++) {
        int64_t shape[4];
        int ndim = (int)pick(&r, 0, 4);
        for (int i = 0; i < ndim; i++)
            shape[i] = pick(&r, 1, i == 3 ? 200 : 9);
        static const tn_dtype floats[] = {TN_F16, TN_F32, TN_F64, TN_BF16};
        tn_dtype dtype = floats[next(&r) % 4];
        uint64_t seed = next(&r);
        block wild = block_make(&r, dtype, ndim, shape, true, false), want = block_twin(&wild);
        tn_tensor dense;
        OK(tn_alloc(&dense, dtype, ndim, shape));
        OK(tn_randn(&dense, seed));
        OK(tn_rearrange(&want.t, &dense));
        OK(tn_randn(&wild.t, seed));
        SAME_BLOCKS(&wild, &want, "randn into [%s]\n", describe(&wild.t));
        OK(tn_randint(&dense, seed, -9, 10));
        OK(tn_rearrange(&want.t, &dense));
        OK(tn_randint(&wild.t, seed, -9, 10));
        SAME_BLOCKS(&wild, &want, "randint into [%s]\n", describe(&wild.t));
        tn_free(&dense);
        block_free(&wild);
        block_free(&want);
    }
    enum { N = 3001 };
    static char a[8 * N], b[8 * N];
    const tni_generator makers[] = {TNI_ARANGE, TNI_RANDN, TNI_RANDINT};
    for (int k = 0; k < 3; k++) {
        tni_generate m = {.maker = makers[k], .dtype = TN_F64, .start = 0.3, .step = 0.7};
        m.seed = 77;
        m.count = 1000;
        tni_kernels_of(0)->generate->run(&m, a, 8, N, 5);
        for (int64_t i = 0; i < N;) {
            int64_t n = pick(&r, 1, 300);
            n = n < N - i ? n : N - i;
            tni_kernels_of(0)->generate->run(&m, b + 8 * i, 8, n, 5 + (uint64_t)i);
            i += n;
        }
        assert_memory_equal(a, b, sizeof a);
    }
}

static void same_bits_on_every_level(void **state)
{
    (void)state;
    enum { N = 20000 };
    static char a[16 * N], b[16 * N];
    for (int isa = 1; isa <= tni_isa_level(); isa++)
        for (int maker = 0; maker < 3; maker++)
            for (size_t k = 0; k < sizeof all_dtypes / sizeof *all_dtypes; k++) {
                tn_dtype dtype = all_dtypes[k];
                tni_generate m = {.maker = (tni_generator)maker, .dtype = dtype, .start = 0.1};
                if (maker == TNI_RANDN && tni_kind_of(dtype) < TNI_FLOAT)
                    continue;
                m.step = 0.013;
                m.more = 3;
                m.seed = 0x123456789;
                m.count = 100;
                int64_t width = (int64_t)tn_dtype_size(dtype);
                tni_kernels_of(0)->generate->run(&m, a, width, N, 1);
                tni_kernels_of(isa)->generate->run(&m, b, width, N, 1);
                if (memcmp(a, b, (size_t)(N * width)))
                    fail_msg("maker %d, %s, level %d", maker, tn_dtype_name(dtype), isa);
            }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    enum { N = 300000 };
    float *x[2];
    for (int k = 0; k < 2; k++) {
        tn_handle *h;
        tn_tensor t;
        x[k] = malloc(N * sizeof(float));
        OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = k ? 7 : 1}));
        OK(tn_handle_use(h));
        OK(tn_init(&t, x[k], TN_F32, 3, (int64_t[]){3, 1000, 100}));
        OK(tn_randn(&t, 11));
        tn_handle_destroy(h);
    }
    assert_memory_equal(x[0], x[1], N * sizeof(float));
    free(x[0]);
    free(x[1]);
}

static void bad_input(void **state)
{
    (void)state;
    float x[6];
    memset(x, 0x5a, sizeof x);
    float before[6];
    memcpy(before, x, sizeof x);
    tn_tensor t, bad;
    OK(tn_init(&t, x, TN_F32, 2, (int64_t[]){2, 3}));
    assert_int_equal(tn_arange(NULL, 0, 1), TN_ENULL);
    assert_int_equal(tn_arange(&t, 0, 1), TN_ESHAPE);
    assert_int_equal(tn_randn(NULL, 0), TN_ENULL);
    assert_int_equal(tn_randint(NULL, 0, 0, 1), TN_ENULL);
    assert_int_equal(tn_randint(&t, 0, 1, 1), TN_EARG);
    assert_int_equal(tn_randint(&t, 0, 2, 1), TN_EARG);
    assert_int_equal(tn_randint(&t, 0, 0, (1 << 24) + 2), TN_EARG);
    bad = t;
    bad.dtype = TN_I8;
    assert_int_equal(tn_randn(&bad, 0), TN_EDTYPE);
    assert_int_equal(tn_randint(&bad, 0, 0, 129), TN_EARG);
    assert_int_equal(tn_randint(&bad, 0, -129, 0), TN_EARG);
    bad.dtype = TN_U64;
    assert_int_equal(tn_randint(&bad, 0, -1, 1), TN_EARG);
    bad.dtype = TN_BOOL;
    assert_int_equal(tn_randint(&bad, 0, 0, 3), TN_EARG);
    bad.dtype = TN_C64;
    assert_int_equal(tn_randn(&bad, 0), TN_EDTYPE);
    assert_int_equal(tn_randint(&bad, 0, 0, 3), TN_EDTYPE);
    bad.dtype = (tn_dtype)0;
    assert_int_equal(tn_randn(&bad, 0), TN_EDTYPE);
    bad = t;
    bad.device = 1;
    assert_int_equal(tn_randn(&bad, 0), TN_EDEVICE);
    bad = t;
    bad.flags = TN_READONLY;
    assert_int_equal(tn_randn(&bad, 0), TN_EARG);
    bad = t;
    bad.stride[0] = 4;
    assert_int_equal(tn_randn(&bad, 0), TN_ESTRIDE);
    bad = t;
    bad.data = NULL;
    assert_int_equal(tn_randn(&bad, 0), TN_ENULL);
    assert_int_equal(tn_randint(&bad, 0, 0, 1), TN_ENULL);
    bad.shape[0] = 0;
    OK(tn_randn(&bad, 0));
    bad = t;
    bad.shape[0] = -1;
    assert_int_equal(tn_randn(&bad, 0), TN_ESHAPE);
    assert_int_equal(tn_randint(&bad, 0, 0, 1), TN_ESHAPE);
    bad.shape[0] = INT64_MAX;
    assert_int_equal(tn_randn(&bad, 0), TN_EOVERFLOW);
    assert_int_equal(tn_randint(&bad, 0, 0, 1), TN_EOVERFLOW);
    bad.ndim = 1;
    assert_int_equal(tn_arange(&bad, 0, 1), TN_EOVERFLOW);
    assert_memory_equal(x, before, sizeof x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_tensors),
        cmocka_unit_test(ranges),
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(random_integers),
        cmocka_unit_test(normal_numbers),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(same_bits_on_every_level),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
