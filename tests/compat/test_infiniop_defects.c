/* test_infiniop_defects.c - what an InfiniOp must not do, one test for each defect that one was
 * seen to have. */
#include "infiniop_client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A column slice (4, 1) with strides (3, 1) is not contiguous. */
static void test_column_slice(void **state)
{
    (void)state;
    float *x = malloc(10 * sizeof *x), *y = malloc(10 * sizeof *y);
    for (int i = 0; i < 10; i++)
        x[i] = (float)i, y[i] = -1;
    infiniopReluDescriptor_t relu;
    CREATE(Relu, relu, F32(2, DIMS(4, 1), STEPS(3, 1)), F32(2, DIMS(4, 1), STEPS(3, 1)));
    RUN(Relu, relu, y, x);
    HOLDS(y, 0, -1, -1, 3, -1, -1, 6, -1, -1, 9);
    free(x);
    free(y);
}

/* An output that names an element twice, also behind a leading unit axis. */
static void test_output_twice(void **state)
{
    (void)state;
    static const struct {
        size_t ndim, shape[3];
        ptrdiff_t strides[3];
    } rows[] = {
        {2, {4, 4}, {1, 1}},       {2, {4, 4}, {0, 1}}, {2, {1, 4}, {4, 0}},
        {3, {1, 2, 4}, {8, 0, 1}}, {2, {2, 3}, {2, 1}}, {2, {3, 2}, {-1, 1}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t n = rows[i].ndim, *shape = rows[i].shape;
        REFUSES(BAD_TENSOR_STRIDES, Relu, F32(n, shape, rows[i].strides), F32(n, shape, NULL));
        REFUSES(BAD_TENSOR_STRIDES, Rearrange, F32(n, shape, rows[i].strides),
                F32(n, shape, NULL));
        REFUSES(BAD_TENSOR_STRIDES, Softplus, F32(n, shape, rows[i].strides),
                F32(n, shape, NULL), 1, 20);
        REFUSES(BAD_TENSOR_STRIDES, MulScalar, F32(n, shape, rows[i].strides),
                F32(n, shape, NULL));
        REFUSES(BAD_TENSOR_STRIDES, Zeros, F32(n, shape, rows[i].strides), F32(n, shape, NULL));
    }
}

static void test_rank_0_and_empty(void **state)
{
    (void)state;
    const float a = 3, b = 4;
    float c = 0;
    infiniopHypotDescriptor_t hypot_;
    CREATE(Hypot, hypot_, F32(0, NULL, NULL), F32(0, NULL, NULL), F32(0, NULL, NULL));
    RUN(Hypot, hypot_, &c, &a, &b);
    assert_true(c == 5);
    CREATE(Hypot, hypot_, F32(3, DIMS(3, 0, 2), NULL), F32(3, DIMS(3, 0, 2), NULL),
           F32(3, DIMS(3, 0, 2), NULL));
    RUN(Hypot, hypot_, NULL, NULL, NULL);
    infiniopRearrangeDescriptor_t copy;
    CREATE(Rearrange, copy, F32(2, DIMS(5, 0), NULL), F32(2, DIMS(5, 0), NULL));
    OK(infiniopRearrange(copy, NULL, NULL, NULL));
    OK(infiniopDestroyRearrangeDescriptor(copy));
}

/* Softplus, lerp, ldexp, float_power and broadcast_to look at strides. */
static void test_strides_count(void **state)
{
    (void)state;
    const float x[] = {30, 40, 50, 60}, e[] = {1, 2, 3, 4};
    float y[4];
    infiniopSoftplusDescriptor_t softplus;
    CREATE(Softplus, softplus, F32(2, DIMS(2, 2), NULL), F32(2, DIMS(2, 2), STEPS(1, 2)), 1,
           20);
    RUN(Softplus, softplus, y, x);
    HOLDS(y, 30, 50, 40, 60);
    infiniopLerpDescriptor_t lerp;
    CREATE(Lerp, lerp, F32(2, DIMS(2, 2), NULL), F32(2, DIMS(2, 2), STEPS(1, 2)),
           F32(2, DIMS(2, 2), NULL), NULL, 0);
    RUN(Lerp, lerp, y, x, x, NULL);
    HOLDS(y, 30, 50, 40, 60);
    infiniopLdexpDescriptor_t ldexp_;
    CREATE(Ldexp, ldexp_, F32(2, DIMS(2, 2), STEPS(-1, -2)), F32(2, DIMS(2, 2), STEPS(1, 2)),
           F32(2, DIMS(2, 2), STEPS(1, 2)));
    RUN(Ldexp, ldexp_, y + 3, x, e);
    HOLDS(y, 960, 400, 160, 60);
    infiniopFloatPowerDescriptor_t power;
    CREATE(FloatPower, power, F32(2, DIMS(2, 2), NULL), F32(2, DIMS(2, 2), STEPS(1, 2)), NULL,
           2);
    RUN(FloatPower, power, y, e, NULL);
    HOLDS(y, 1, 9, 4, 16);
    infiniopBroadcastToDescriptor_t spread;
    CREATE(BroadcastTo, spread, F32(2, DIMS(2, 2), NULL), F32(1, DIMS(2), STEPS(3)));
    RUN(BroadcastTo, spread, y, x);
    HOLDS(y, 30, 60, 30, 60);
}

static void two_halves(infiniDtype_t dtype, uint16_t a, uint16_t b, uint16_t sum, uint16_t prod)
{
    uint16_t c = 0;
    infiniopAddDescriptor_t add;
    infiniopMulDescriptor_t mul;
    CREATE(Add, add, tensor(dtype, 0, NULL, NULL), tensor(dtype, 0, NULL, NULL),
           tensor(dtype, 0, NULL, NULL));
    RUN(Add, add, &c, &a, &b);
    assert_int_equal(c, sum);
    CREATE(Mul, mul, tensor(dtype, 0, NULL, NULL), tensor(dtype, 0, NULL, NULL),
           tensor(dtype, 0, NULL, NULL));
    RUN(Mul, mul, &c, &a, &b);
    assert_int_equal(c, prod);
}

/* Narrow floats round to nearest even, overflow to infinity, and keep NaN. */
static void test_small_floats(void **state)
{
    (void)state;
    const infiniDtype_t f16 = INFINI_DTYPE_F16, bf16 = INFINI_DTYPE_BF16;
    two_halves(f16, 0x7bff, 0x4d00, 0x7c00, 0x7c00);  /* 65504 and 20 */
    two_halves(f16, 0x3a00, 0x0001, 0x3a00, 0x0001);  /* 0.75 and 2^-24 */
    two_halves(f16, 0x3c01, 0x3c01, 0x4001, 0x3c02);  /* the square of 1 + 2^-10 */
    two_halves(f16, 0x3c03, 0x3e01, 0x4102, 0x3e06);  /* a product that truncation misses */
    two_halves(bf16, 0x3f81, 0x3b80, 0x3f82, 0x3b81); /* a tie of 1 + 2^-7 + 2^-8 */
    for (unsigned bits = 0x7f81; bits <= 0x7fff; bits++) {
        const uint16_t nan = (uint16_t)bits, one = 0x3f80;
        uint16_t c = 0;
        infiniopAddDescriptor_t add;
        CREATE(Add, add, tensor(bf16, 0, NULL, NULL), tensor(bf16, 0, NULL, NULL),
               tensor(bf16, 0, NULL, NULL));
        RUN(Add, add, &c, &nan, &one);
        assert_true((c & 0x7f80) == 0x7f80 && (c & 0x7f));
    }
    const uint16_t a[] = {0x7e00, 0x0000, 0x3c00, 0x3c00},
                   b[] = {0x7e00, 0x8000, 0x3c00, 0x3c01};
    uint8_t equal[4];
    infiniopEqualDescriptor_t eq;
    CREATE(Equal, eq, tensor(INFINI_DTYPE_BOOL, 1, DIMS(4), NULL),
           tensor(f16, 1, DIMS(4), NULL), tensor(f16, 1, DIMS(4), NULL));
    RUN(Equal, eq, equal, a, b);
    HOLDS(equal, 0, 1, 1, 0);
}

/* Every product of two numbers of f16 is the nearest one. */
static void test_products(void **state)
{
    (void)state;
    enum { N = 20000 };
    static uint16_t a[N], b[N], c[N];
    static float fa[N], fb[N], fc[N];
    uint32_t seed = 1;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        a[i] = (uint16_t)(0x3000 + (seed >> 8) % 0x1800);
        b[i] = (uint16_t)(0x3000 + (seed >> 20) % 0x1000);
        fa[i] = ldexpf((float)(0x400 | (a[i] & 0x3ff)), (a[i] >> 10) - 25);
        fb[i] = ldexpf((float)(0x400 | (b[i] & 0x3ff)), (b[i] >> 10) - 25);
    }
    infiniopMulDescriptor_t mul;
    CREATE(Mul, mul, tensor(INFINI_DTYPE_F16, 1, DIMS(N), NULL),
           tensor(INFINI_DTYPE_F16, 1, DIMS(N), NULL),
           tensor(INFINI_DTYPE_F16, 1, DIMS(N), NULL));
    RUN(Mul, mul, c, a, b);
    for (int i = 0; i < N; i++) {
        fc[i] = ldexpf((float)(0x400 | (c[i] & 0x3ff)), (c[i] >> 10) - 25);
        const float exact = fa[i] * fb[i]; /* 22 bits */
        const float unit = ldexpf(1, ilogbf(exact) - 10), rest = fabsf(fc[i] - exact);
        assert_true(rest < unit / 2 || (rest == unit / 2 && c[i] % 2 == 0));
    }
}

static double of(infiniStatus_t (*create)(infiniopHandle_t, struct InfiniopDescriptor **,
                                          infiniopTensorDescriptor_t,
                                          infiniopTensorDescriptor_t),
                 infiniStatus_t (*run)(struct InfiniopDescriptor *, void *, size_t, void *,
                                       const void *, void *),
                 infiniStatus_t (*destroy)(struct InfiniopDescriptor *), double x)
{
    struct InfiniopDescriptor *d;
    double y = 0;
    OK(create(handle, &d, tensor(INFINI_DTYPE_F64, 0, NULL, NULL),
              tensor(INFINI_DTYPE_F64, 0, NULL, NULL)));
    drop();
    OK(run(d, NULL, 0, &y, &x, NULL));
    OK(destroy(d));
    return y;
}
#define OF(Op, x)                                                                              \
    of(infiniopCreate##Op##Descriptor, infiniop##Op, infiniopDestroy##Op##Descriptor, x)
#define NEAR(got, want) assert_true(fabs((got) - (want)) <= 1e-14 * fabs(want))

/* Functions converge, have their values everywhere, and F64 is computed in F64. */
static void test_functions(void **state)
{
    (void)state;
    NEAR(OF(Erfinv, 0.9), 1.1630871536766741);
    NEAR(OF(Erfinv, -0.5), -0.47693627620446987);
    NEAR(OF(Digamma, -0.5), 0.03648997397857652);
    NEAR(OF(Digamma, -2.25), 4.158583564657973);
    NEAR(OF(Tanh, 0.3), tanh(0.3));
    NEAR(OF(Erf, 0.3), erf(0.3));
    NEAR(OF(Sigmoid, 0.3), 1 / (1 + exp(-0.3)));
    NEAR(OF(Gelu, 0.3), 0.15 * (1 + erf(0.3 / sqrt(2))));
    NEAR(OF(Log10, 0.3), log10(0.3));
    NEAR(OF(Selu, -0.3), 1.0507009873554804934 * 1.6732632423543772848 * expm1(-0.3));
    NEAR(OF(HardSwish, 0.3), 0.3 * 3.3 / 6);
    NEAR(OF(Softsign, 0.3), 0.3 / 1.3);
}

static void test_logaddexp(void **state)
{
    (void)state;
    const float a[] = {-INFINITY, INFINITY, -INFINITY, 0}, b[] = {-INFINITY, INFINITY, 1, 0};
    float c[4];
    infiniopLogAddExpDescriptor_t d;
    CREATE(LogAddExp, d, F32(1, DIMS(4), NULL), F32(1, DIMS(4), NULL), F32(1, DIMS(4), NULL));
    RUN(LogAddExp, d, c, a, b);
    assert_true(c[0] == -INFINITY && c[1] == INFINITY && c[2] == 1);
    infiniopLogAddExp2Descriptor_t e;
    CREATE(LogAddExp2, e, F32(1, DIMS(4), NULL), F32(1, DIMS(4), NULL), F32(1, DIMS(4), NULL));
    RUN(LogAddExp2, e, c, a, b);
    HOLDS(c, -INFINITY, INFINITY, 1, 1);
}

/* Integers wrap and never trap. */
static void test_integers(void **state)
{
    (void)state;
    const int32_t a[] = {7, INT32_MIN, -7, INT32_MAX}, b[] = {0, -1, 2, 1};
    const int64_t la[] = {7, INT64_MIN}, lb[] = {0, -1};
    int32_t c[4];
    int64_t lc[2];
    infiniopFloorDivideDescriptor_t div;
    CREATE(FloorDivide, div, tensor(INFINI_DTYPE_I32, 1, DIMS(4), NULL),
           tensor(INFINI_DTYPE_I32, 1, DIMS(4), NULL),
           tensor(INFINI_DTYPE_I32, 1, DIMS(4), NULL));
    RUN(FloorDivide, div, c, a, b);
    HOLDS(c, 0, INT32_MIN, -4, INT32_MAX);
    CREATE(FloorDivide, div, tensor(INFINI_DTYPE_I64, 1, DIMS(2), NULL),
           tensor(INFINI_DTYPE_I64, 1, DIMS(2), NULL),
           tensor(INFINI_DTYPE_I64, 1, DIMS(2), NULL));
    RUN(FloorDivide, div, lc, la, lb);
    HOLDS(lc, 0, INT64_MIN);
    infiniopAddDescriptor_t add;
    CREATE(Add, add, tensor(INFINI_DTYPE_I32, 1, DIMS(4), NULL),
           tensor(INFINI_DTYPE_I32, 1, DIMS(4), NULL),
           tensor(INFINI_DTYPE_I32, 1, DIMS(4), NULL));
    RUN(Add, add, c, a, b);
    HOLDS(c, 7, INT32_MAX, -5, INT32_MIN);
}

static void test_bad_descriptors(void **state)
{
    (void)state;
    infiniopTensorDescriptor_t d = NULL;
    const infiniDtype_t f32 = INFINI_DTYPE_F32;
    FAILS(infiniopCreateTensorDescriptor(NULL, 0, NULL, NULL, f32), NULL_POINTER);
    FAILS(infiniopCreateTensorDescriptor(&d, 1, NULL, NULL, f32), NULL_POINTER);
    FAILS(infiniopCreateTensorDescriptor(&d, 0, NULL, NULL, INFINI_DTYPE_INVALID),
          BAD_TENSOR_DTYPE);
    FAILS(infiniopCreateTensorDescriptor(&d, 0, NULL, NULL, (infiniDtype_t)20),
          BAD_TENSOR_DTYPE);
    FAILS(infiniopCreateTensorDescriptor(&d, SIZE_MAX / 4, DIMS(1), NULL, f32), BAD_PARAM);
    FAILS(infiniopCreateTensorDescriptor(&d, 65, DIMS(1), NULL, f32), BAD_PARAM);
    const bool wide = SIZE_MAX > UINT32_MAX; /* more bytes than 2^63 in two axes */
    const size_t large = wide ? (size_t)(UINT64_C(1) << 32) : SIZE_MAX / 2 + 1;
    const size_t larger = wide ? 2 * large : SIZE_MAX;
    FAILS(infiniopCreateTensorDescriptor(&d, 2, DIMS(large, large), NULL, f32),
          BAD_TENSOR_SHAPE);
    FAILS(infiniopCreateTensorDescriptor(&d, 2, DIMS(larger, larger), NULL, f32),
          BAD_TENSOR_SHAPE);
    if (wide) { /* otherwise 64 bits hold what one axis can say */
        FAILS(infiniopCreateTensorDescriptor(&d, 1, DIMS(SIZE_MAX), NULL, f32),
              BAD_TENSOR_SHAPE);
        FAILS(infiniopCreateTensorDescriptor(&d, 1, DIMS(2), STEPS(PTRDIFF_MAX), f32),
              BAD_TENSOR_STRIDES);
    }
    assert_null(d);
    REFUSES(BAD_TENSOR_DTYPE, Add, F32(0, NULL, NULL), F32(0, NULL, NULL),
            tensor(INFINI_DTYPE_F64, 0, NULL, NULL));
    REFUSES(BAD_TENSOR_DTYPE, Rearrange, tensor(INFINI_DTYPE_U8, 0, NULL, NULL),
            tensor(INFINI_DTYPE_BYTE, 0, NULL, NULL));
    REFUSES(BAD_TENSOR_SHAPE, Add, F32(1, DIMS(2), NULL), F32(1, DIMS(2), NULL),
            F32(1, DIMS(1), NULL));
}

/* In-place transposes and shifted operands are refused before a byte is written. */
static void test_overlap(void **state)
{
    (void)state;
    float x[5] = {1, 2, 3, 4, 5};
    infiniopRearrangeDescriptor_t transpose, copy;
    CREATE(Rearrange, transpose, F32(2, DIMS(2, 2), NULL), F32(2, DIMS(2, 2), STEPS(1, 2)));
    FAILS(infiniopRearrange(transpose, x, x, NULL), BAD_PARAM);
    OK(infiniopDestroyRearrangeDescriptor(transpose));
    CREATE(Rearrange, copy, F32(1, DIMS(4), NULL), F32(1, DIMS(4), NULL));
    FAILS(infiniopRearrange(copy, x + 1, x, NULL), BAD_PARAM);
    OK(infiniopRearrange(copy, x, x, NULL));
    OK(infiniopDestroyRearrangeDescriptor(copy));
    infiniopSiluDescriptor_t silu;
    CREATE(Silu, silu, F32(1, DIMS(4), NULL), F32(1, DIMS(4), NULL));
    FAILS(infiniopSilu(silu, NULL, 0, x + 1, x, NULL), BAD_PARAM);
    OK(infiniopDestroySiluDescriptor(silu));
    HOLDS(x, 1, 2, 3, 4, 5);
}

static void test_pad(void **state)
{
    (void)state;
    int one[] = {1, 1}, less[] = {-1, 3};
    REFUSES(BAD_PARAM, Pad, F32(1, DIMS(5), NULL), F32(1, DIMS(3), NULL), one, 8, "mirror", 0);
    REFUSES(BAD_PARAM, Pad, F32(1, DIMS(5), NULL), F32(1, DIMS(3), NULL), less, 8, NULL, 0);
    REFUSES(BAD_TENSOR_SHAPE, Pad, F32(1, DIMS(2), NULL), F32(1, DIMS(0), NULL), one, 8,
            "circular", 0);
    REFUSES(BAD_TENSOR_DTYPE, Pad, tensor(INFINI_DTYPE_F64, 1, DIMS(5), NULL),
            F32(1, DIMS(3), NULL), one, 8, NULL, 0);
}

/* ---- the process ---- */

static void test_nothing_printed(void **state)
{
    (void)state;
    char text[300] = "";
    for (int verbose = 0; verbose < 2; verbose++) {
        int ends[2];
        const int keep = dup(2);
        assert_int_equal(pipe(ends), 0);
        dup2(ends[1], 2);
        setenv("INFINIOP_VERBOSE", verbose ? "1" : "0", 1);
        REFUSES(BAD_TENSOR_SHAPE, Relu, F32(1, DIMS(2), NULL), F32(1, DIMS(3), NULL));
        dup2(keep, 2);
        close(keep);
        close(ends[1]);
        const ssize_t n = read(ends[0], text, sizeof text - 1);
        close(ends[0]);
        assert_true(n >= 0);
        text[n] = 0;
        assert_string_equal(
            text, verbose ? "infiniop: Relu: input: axis 0: got extent 3, expected 2\n" : "");
    }
    unsetenv("INFINIOP_VERBOSE");
}

/* A child of a process that ran a parallel operator does not hang. */
static void test_fork(void **state)
{
    (void)state;
    enum { N = 1 << 21 };
    float *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);
    infiniopRelu6Descriptor_t relu6;
    CREATE(Relu6, relu6, F32(1, DIMS(N), NULL), F32(1, DIMS(N), NULL));
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    OK(infiniopRelu6(relu6, NULL, 0, y, x, NULL));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        memset(y, 0, N * sizeof *y);
        const bool good = infiniopRelu6(relu6, NULL, 0, y, x, NULL) == INFINI_STATUS_SUCCESS;
        _exit(good && y[3] == 3 && y[N - 1] == 6 ? 0 : 1);
    }
    int status = 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    assert_int_equal(status, 0);
    OK(infiniopDestroyRelu6Descriptor(relu6));
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column_slice),     cmocka_unit_test(test_output_twice),
        cmocka_unit_test(test_rank_0_and_empty), cmocka_unit_test(test_strides_count),
        cmocka_unit_test(test_small_floats),     cmocka_unit_test(test_products),
        cmocka_unit_test(test_functions),        cmocka_unit_test(test_logaddexp),
        cmocka_unit_test(test_integers),         cmocka_unit_test(test_bad_descriptors),
        cmocka_unit_test(test_overlap),          cmocka_unit_test(test_pad),
        cmocka_unit_test(test_nothing_printed),  cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
