/* test_infiniop.c - a C client for each class of InfiniOp's operators: made, tensors destroyed,
 * run, destroyed; what a descriptor tells; runs allocate nothing and share a descriptor. */
#include "infiniop_client.h"

#include <dlfcn.h>
#include <pthread.h>

#include "count_allocations.h"

/* ---- classes ---- */

static void test_unary(void **state)
{
    (void)state;
    const float x[] = {-1, 2, -3, 4, 5, 7};
    float y[6] = {0};
    infiniopReluDescriptor_t relu;
    CREATE(Relu, relu, F32(2, DIMS(3, 2), NULL), F32(2, DIMS(3, 2), STEPS(1, 3)));
    RUN(Relu, relu, y, x);
    HOLDS(y, 0, 4, 2, 5, 0, 7);
}

static void test_binary(void **state)
{
    (void)state;
    const float a[] = {1, 2, 3}, b[] = {10, 20, 30};
    float c[6] = {0};
    infiniopAddDescriptor_t add;
    CREATE(Add, add, F32(2, DIMS(2, 3), NULL), F32(2, DIMS(2, 3), STEPS(0, 1)),
           F32(2, DIMS(2, 3), STEPS(0, 1)));
    RUN(Add, add, c, a, b);
    HOLDS(c, 11, 22, 33, 11, 22, 33);
}

static void test_ternary_and_params(void **state)
{
    (void)state;
    const float x[] = {-5, 0.5f, 9}, low[] = {-1}, high[] = {1, 2, 3};
    float y[3] = {0};
    infiniopClipDescriptor_t clip;
    CREATE(Clip, clip, F32(1, DIMS(3), NULL), F32(1, DIMS(3), NULL), F32(1, DIMS(3), STEPS(0)),
           F32(1, DIMS(3), NULL));
    RUN(Clip, clip, y, x, low, high);
    HOLDS(y, -1, 0.5f, 3);
    infiniopHardTanhDescriptor_t tanh_;
    CREATE(HardTanh, tanh_, F32(1, DIMS(3), NULL), F32(1, DIMS(3), NULL), -2, 4);
    RUN(HardTanh, tanh_, y, x);
    HOLDS(y, -2, 0.5f, 4);
    infiniopAddcmulDescriptor_t cmul;
    CREATE(Addcmul, cmul, F32(1, DIMS(3), NULL), F32(1, DIMS(3), NULL), F32(1, DIMS(3), NULL),
           F32(1, DIMS(3), NULL), 0.5f);
    RUN(Addcmul, cmul, y, x, high, high);
    HOLDS(y, -4.5f, 2.5f, 13.5f);
}

static void test_numbers(void **state)
{
    (void)state;
    const float x[] = {1, 4, 9};
    const double wide[] = {1, 4, 9};
    float y[3] = {0};
    double z[3] = {0};
    infiniopMulScalarDescriptor_t mul;
    CREATE(MulScalar, mul, F32(1, DIMS(3), NULL), F32(1, DIMS(3), NULL));
    RUN(MulScalar, mul, y, x, 0.1);
    HOLDS(y, (float)0.1, (float)0.4, (float)(9 * 0.1));
    infiniopFloatPowerDescriptor_t power;
    CREATE(FloatPower, power, F32(1, DIMS(3), NULL), tensor(INFINI_DTYPE_F64, 1, DIMS(3), NULL),
           NULL, 1.5f);
    RUN(FloatPower, power, y, wide, NULL);
    HOLDS(y, 1, 8, 27);
    CREATE(FloatPower, power, tensor(INFINI_DTYPE_F64, 1, DIMS(3), NULL),
           tensor(INFINI_DTYPE_F64, 1, DIMS(3), NULL), NULL, 1.5f);
    RUN(FloatPower, power, z, wide, NULL);
    HOLDS(z, 1, 8, 27);
    infiniopLerpDescriptor_t lerp;
    CREATE(Lerp, lerp, F32(1, DIMS(3), NULL), F32(1, DIMS(1), NULL), F32(1, DIMS(3), NULL),
           NULL, 0.5f);
    RUN(Lerp, lerp, y, x, x, NULL);
    HOLDS(y, 1, 2.5f, 5);
    const int32_t e[] = {-1, 3};
    float grid[6] = {0};
    infiniopLdexpDescriptor_t ldexp_;
    CREATE(Ldexp, ldexp_, F32(2, DIMS(2, 3), NULL), F32(1, DIMS(3), NULL),
           tensor(INFINI_DTYPE_I32, 2, DIMS(2, 1), NULL));
    RUN(Ldexp, ldexp_, grid, x, e);
    HOLDS(grid, 0.5f, 2, 4.5f, 8, 32, 72);
}

/* Longer than what is computed at once, every element. */
static void test_long_strips(void **state)
{
    (void)state;
    enum { N = 3001 };
    float x[N], y[N];
    infiniopMulScalarDescriptor_t mul;
    infiniopFloatPowerDescriptor_t square;
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = -1;
    CREATE(MulScalar, mul, F32(1, DIMS(N), NULL), F32(1, DIMS(N), NULL));
    RUN(MulScalar, mul, y, x, 0.1);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == (float)(i * 0.1));
    CREATE(FloatPower, square, F32(1, DIMS(N), STEPS(-1)), F32(1, DIMS(N), STEPS(-1)), NULL, 2);
    RUN(FloatPower, square, x + N - 1, x + N - 1, NULL);
    for (int i = 0; i < N; i++)
        assert_true(x[i] == (float)i * (float)i);
}

static void test_moves(void **state)
{
    (void)state;
    const uint16_t x[] = {1, 2, 3, 4, 5, 6};
    uint16_t y[6] = {0};
    infiniopRearrangeDescriptor_t copy;
    CREATE(Rearrange, copy, tensor(INFINI_DTYPE_C16, 2, DIMS(3, 2), NULL),
           tensor(INFINI_DTYPE_C16, 2, DIMS(3, 2), STEPS(1, 3)));
    OK(infiniopRearrange(copy, y, x, NULL));
    HOLDS(y, 1, 4, 2, 5, 3, 6);
    OK(infiniopDestroyRearrangeDescriptor(copy));
    infiniopFlipudDescriptor_t flip;
    CREATE(Flipud, flip, tensor(INFINI_DTYPE_BF16, 2, DIMS(2, 3), NULL),
           tensor(INFINI_DTYPE_BF16, 2, DIMS(2, 3), NULL));
    RUN(Flipud, flip, y, x);
    HOLDS(y, 4, 5, 6, 1, 2, 3);
    infiniopBroadcastToDescriptor_t spread;
    CREATE(BroadcastTo, spread, tensor(INFINI_DTYPE_F16, 2, DIMS(3, 2), STEPS(1, 3)),
           tensor(INFINI_DTYPE_F16, 1, DIMS(2), STEPS(2)));
    RUN(BroadcastTo, spread, y, x);
    HOLDS(y, 1, 1, 1, 3, 3, 3);
    infiniopOnesDescriptor_t ones;
    CREATE(Ones, ones, tensor(INFINI_DTYPE_F16, 1, DIMS(3), STEPS(2)),
           tensor(INFINI_DTYPE_F16, 1, DIMS(3), NULL));
    RUN(Ones, ones, y, NULL);
    HOLDS(y, 0x3c00, 1, 0x3c00, 3, 0x3c00, 3);
    const uint16_t deep[] = {1, 2, 3, 4};
    infiniopPixelShuffleDescriptor_t shuffle;
    CREATE(PixelShuffle, shuffle,
           tensor(INFINI_DTYPE_U16, 4, DIMS(1, 1, 2, 2), STEPS(0, 0, 3, 1)),
           tensor(INFINI_DTYPE_U16, 4, DIMS(1, 4, 1, 1), NULL), 2);
    RUN(PixelShuffle, shuffle, y, deep);
    HOLDS(y, 1, 2, 0x3c00, 3, 4, 3);
}

static void test_parts(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4};
    float y[16] = {0};
    infiniopPadDescriptor_t pad;
    CREATE(Pad, pad, F32(2, DIMS(2, 4), NULL), F32(2, DIMS(2, 2), NULL), ((int[]){1, 1}), 8,
           "reflect", 0);
    RUN(Pad, pad, y, x);
    HOLDS(y, 2, 1, 2, 1, 4, 3, 4, 3);
    infiniopBlockDiagDescriptor_t blocks;
    infiniopTensorDescriptor_t both[] = {F32(2, DIMS(1, 2), NULL), F32(2, DIMS(2, 1), NULL)};
    CREATE(BlockDiag, blocks, F32(2, DIMS(3, 3), NULL), both, 2);
    RUN(BlockDiag, blocks, y, ((const void *[]){x, x + 2}));
    HOLDS(y, 1, 2, 0, 0, 0, 3, 0, 0, 4);
    infiniopUnfoldDescriptor_t unfold;
    CREATE(Unfold, unfold, F32(3, DIMS(1, 4, 1), NULL), F32(4, DIMS(1, 1, 2, 2), NULL),
           ((int[]){2, 2}), ((int[]){2, 2}), ((int[]){0, 0}), ((int[]){1, 1}));
    RUN(Unfold, unfold, y, x);
    HOLDS(y, 1, 2, 3, 4);
    CREATE(Unfold, unfold, F32(3, DIMS(1, 2, 4), NULL), F32(3, DIMS(1, 1, 3), NULL),
           ((int[]){2}), ((int[]){1}), ((int[]){1}), ((int[]){1}));
    RUN(Unfold, unfold, y, x);
    HOLDS(y, 0, 1, 2, 3, 1, 2, 3, 0);
}

/* Parts are checked as a whole: an overlap at the end writes nothing at the beginning. */
static void test_parts_overlap(void **state)
{
    (void)state;
    float y[9] = {7, 7, 7, 7, 7, 7, 7, 7, 7}, x[2] = {1, 2};
    infiniopBlockDiagDescriptor_t d;
    infiniopTensorDescriptor_t both[] = {F32(2, DIMS(1, 2), NULL), F32(2, DIMS(2, 1), NULL)};
    CREATE(BlockDiag, d, F32(2, DIMS(3, 3), NULL), both, 2);
    FAILS(infiniopBlockDiag(d, NULL, 0, y, (const void *[]){x, y + 7}, NULL), BAD_PARAM);
    FAILS(infiniopBlockDiag(d, NULL, 0, y, (const void *[]){x, NULL}, NULL), NULL_POINTER);
    HOLDS(y, 7, 7, 7, 7, 7, 7, 7, 7, 7);
    OK(infiniopDestroyBlockDiagDescriptor(d));
}

/* ---- what a descriptor tells ---- */

static void test_explain(void **state)
{
    (void)state;
    char text[1000], cut[20];
    infiniopRearrangeDescriptor_t copy;
    CREATE(Rearrange, copy, F32(2, DIMS(2, 3), STEPS(1, 2)), F32(2, DIMS(2, 3), NULL));
    OK(infiniopExplain(copy, text, sizeof text));
    assert_non_null(strstr(text, "rearrange f32 (2, 3)"));
    assert_non_null(strstr(text, "unit     4 bytes, 6 of them"));
    OK(infiniopExplain(copy, cut, sizeof cut));
    assert_int_equal(strlen(cut), sizeof cut - 1);
    assert_memory_equal(cut, text, sizeof cut - 1);
    FAILS(infiniopExplain(NULL, text, sizeof text), NULL_POINTER);
    FAILS(infiniopExplain(copy, NULL, 1), NULL_POINTER);
    OK(infiniopDestroyRearrangeDescriptor(copy));
    infiniopMulScalarDescriptor_t mul;
    CREATE(MulScalar, mul, F32(0, NULL, NULL), F32(0, NULL, NULL));
    OK(infiniopExplain(mul, text, sizeof text));
    assert_non_null(strstr(text, "f64(x) * w"));
    OK(infiniopDestroyMulScalarDescriptor(mul));
    infiniopBlockDiagDescriptor_t blocks;
    infiniopTensorDescriptor_t one[] = {F32(2, DIMS(1, 2), NULL)};
    CREATE(BlockDiag, blocks, F32(2, DIMS(1, 2), NULL), one, 1);
    OK(infiniopExplain(blocks, text, sizeof text));
    assert_non_null(strstr(text, "BlockDiag: plan 1 of 1 is"));
    assert_non_null(strstr(text, "pad f32 (1, 2)"));
    OK(infiniopDestroyBlockDiagDescriptor(blocks));
}

static void test_device(void **state)
{
    (void)state;
    infiniDevice_t device = INFINI_DEVICE_ALI;
    int id = 7;
    infiniopAddDescriptor_t add;
    CREATE(Add, add, F32(0, NULL, NULL), F32(0, NULL, NULL), F32(0, NULL, NULL));
    OK(infiniopGetDescriptorDeviceType(add, &device));
    OK(infiniopGetDescriptorDeviceId(add, &id));
    assert_int_equal(device, INFINI_DEVICE_CPU);
    assert_int_equal(id, 0);
    assert_int_equal(add->device_type, INFINI_DEVICE_CPU);
    OK(infiniopDestroyAddDescriptor(add));
    struct InfiniopHandle other = {INFINI_DEVICE_NVIDIA, 0};
    FAILS(infiniopCreateReluDescriptor(&other, &add, F32(0, NULL, NULL), F32(0, NULL, NULL)),
          DEVICE_TYPE_NOT_SUPPORTED);
    drop();
}

/* ---- running ---- */

static void test_runs_allocate_nothing(void **state)
{
    (void)state;
    enum { N = 300 };
    static float x[N * N], y[4 * N * N];
    infiniopTensorDescriptor_t t = F32(2, DIMS(N, N), NULL),
                               u = F32(2, DIMS(N, N), STEPS(1, N));
    infiniopTensorDescriptor_t four = F32(4, DIMS(1, 1, N, N), NULL);
    infiniopAddDescriptor_t add;
    infiniopRearrangeDescriptor_t copy;
    infiniopMulScalarDescriptor_t mul;
    infiniopUnfoldDescriptor_t unfold;
    infiniopBlockDiagDescriptor_t blocks;
    OK(infiniopCreateAddDescriptor(handle, &add, t, u, t));
    OK(infiniopCreateRearrangeDescriptor(handle, &copy, t, u));
    OK(infiniopCreateMulScalarDescriptor(handle, &mul, t, u));
    OK(infiniopCreateUnfoldDescriptor(handle, &unfold, F32(3, DIMS(1, 1, N * N), NULL), four,
                                      (int[]){1, 1}, (int[]){1, 1}, (int[]){0, 0},
                                      (int[]){1, 1}));
    OK(infiniopCreateBlockDiagDescriptor(handle, &blocks, F32(2, DIMS(2 * N, 2 * N), NULL),
                                         (infiniopTensorDescriptor_t[]){t, u}, 2));
    drop();
    for (int round = 0; round < 3; round++) {
        const long before = allocations;
        OK(infiniopAdd(add, NULL, 0, y, x, x, NULL));
        OK(infiniopRearrange(copy, y, x, NULL));
        OK(infiniopMulScalar(mul, NULL, 0, y, x, 0.3, NULL));
        OK(infiniopUnfold(unfold, NULL, 0, y, x, NULL));
        OK(infiniopBlockDiag(blocks, NULL, 0, y, (const void *[]){x, x}, NULL));
        if (round > 0) /* the first one makes the threads */
            assert_int_equal(allocations - before, 0);
    }
    OK(infiniopDestroyAddDescriptor(add));
    OK(infiniopDestroyRearrangeDescriptor(copy));
    OK(infiniopDestroyMulScalarDescriptor(mul));
    OK(infiniopDestroyUnfoldDescriptor(unfold));
    OK(infiniopDestroyBlockDiagDescriptor(blocks));
}

/* One descriptor of each kind, eight threads, each with data of its own. */
typedef struct shared {
    infiniopAddDescriptor_t add;
    infiniopMulScalarDescriptor_t mul;
    infiniopUnfoldDescriptor_t unfold;
    int number;
    bool good;
} shared;

static void *use(void *arg)
{
    enum { N = 1000 };
    shared *s = arg;
    float x[N], y[N], z[3 * N];
    const float k = (float)s->number;
    s->good = true;
    for (int i = 0; i < N; i++)
        x[i] = k;
    for (int round = 0; round < 200; round++) {
        s->good &= !infiniopAdd(s->add, NULL, 0, y, x, x, NULL) && y[N / 2] == 2 * k;
        s->good &= !infiniopMulScalar(s->mul, NULL, 0, y, y, k, NULL) && y[N - 1] == 2 * k * k;
        s->good &= !infiniopUnfold(s->unfold, NULL, 0, z, x, NULL) && z[0] == 0 && z[1] == k;
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    enum { THREADS = 8, N = 1000 };
    shared all[THREADS] = {{0}};
    pthread_t threads[THREADS];
    CREATE(Add, all[0].add, F32(1, DIMS(N), NULL), F32(1, DIMS(N), NULL),
           F32(1, DIMS(N), NULL));
    CREATE(MulScalar, all[0].mul, F32(1, DIMS(N), NULL), F32(1, DIMS(N), NULL));
    CREATE(Unfold, all[0].unfold, F32(3, DIMS(1, 3, N), NULL), F32(3, DIMS(1, 1, N), NULL),
           ((int[]){3}), ((int[]){1}), ((int[]){1}), ((int[]){1}));
    for (int i = 0; i < THREADS; i++) {
        all[i] = all[0];
        all[i].number = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, use, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(all[i].good);
    }
    OK(infiniopDestroyAddDescriptor(all[0].add));
    OK(infiniopDestroyMulScalarDescriptor(all[0].mul));
    OK(infiniopDestroyUnfoldDescriptor(all[0].unfold));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_ternary_and_params),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_long_strips),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_parts_overlap),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_runs_allocate_nothing),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
