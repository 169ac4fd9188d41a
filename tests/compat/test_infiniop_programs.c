/* test_infiniop_programs.c - operators of several steps: what an InfiniOp must not do with
 * them, one test for each defect that one was seen to have; many threads; a forked child. */
#include "infiniop_client.h"

#include "core/half.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define TENSOR(dtype, ndim, shape, strides) tensor(INFINI_DTYPE_##dtype, ndim, shape, strides)

/* Run desc in a workspace of the size that it asks for. */
#define RUN_IN(status, Op, desc, ...)                                                          \
    do {                                                                                       \
        size_t size_ = 0;                                                                      \
        OK(infiniopGet##Op##WorkspaceSize(desc, &size_));                                      \
        void *space_ = malloc(size_ + 1);                                                      \
        FAILS(infiniop##Op(desc, space_, size_, __VA_ARGS__, NULL), status);                   \
        free(space_);                                                                          \
    } while (0)

/* Dtypes of all operands are compared; strides that no element sees are harmless. */
static void test_gemm(void **state)
{
    (void)state;
    REFUSES(BAD_TENSOR_DTYPE, Gemm, F32(2, DIMS(2, 2), NULL), TENSOR(F16, 2, DIMS(2, 2), NULL),
            TENSOR(F16, 2, DIMS(2, 2), NULL));
    infiniopGemmDescriptor_t gemm;
    const float a[] = {1, 9, 2, 9, 3}, b[] = {4, 5, 6};
    float c = NAN;
    CREATE(Gemm, gemm, F32(2, DIMS(1, 1), STEPS(7, 3)), F32(2, DIMS(1, 3), STEPS(16, 2)),
           F32(2, DIMS(3, 1), STEPS(1, 5)));
    RUN_IN(SUCCESS, Gemm, gemm, &c, a, b, 1, 0);
    assert_true(c == 32);
    OK(infiniopDestroyGemmDescriptor(gemm));
}

/* ---- the cases of InfiniCore's own test of Gemm ---- */

/* Element i of a matrix of a dtype, as a number in (0, 1). */
static void put_number(infiniDtype_t dtype, char *data, size_t i, float f)
{
    const uint16_t half = dtype == INFINI_DTYPE_F16 ? tni_f16_of_f32(f) : tni_bf16_of_f32(f);
    if (dtype == INFINI_DTYPE_F32)
        memcpy(data + 4 * i, &f, 4);
    else
        memcpy(data + 2 * i, &half, 2);
}

static double number_at(infiniDtype_t dtype, const char *data, size_t i)
{
    float f;
    uint16_t half;
    if (dtype == INFINI_DTYPE_F32) {
        memcpy(&f, data + 4 * i, 4);
        return f;
    }
    memcpy(&half, data + 2 * i, 2);
    return dtype == INFINI_DTYPE_F16 ? tni_f32_of_f16(half) : tni_f32_of_bf16(half);
}

typedef struct gemm_operand {
    size_t ndim, shape[3];
    ptrdiff_t step[3];
    char *data;
} gemm_operand;

static gemm_operand operand_of(infiniDtype_t dtype, size_t batch, size_t rows, size_t cols,
                               ptrdiff_t row, ptrdiff_t col)
{
    static uint32_t state = 1;
    gemm_operand x = {batch ? 3 : 2, {batch, rows, cols}, {0, row, col}, NULL};
    const size_t one = col == 1 ? rows * (size_t)row : cols * (size_t)col;
    const size_t n = one * (batch ? batch : 1);
    x.step[0] = (ptrdiff_t)one;
    x.data = malloc(n * 4);
    assert_non_null(x.data);
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        put_number(dtype, x.data, i, (float)(state >> 8) / (1 << 24));
    }
    return x;
}

static infiniopTensorDescriptor_t described(infiniDtype_t dtype, const gemm_operand *x)
{
    const size_t skip = 3 - x->ndim;
    return tensor(dtype, x->ndim, x->shape + skip, x->step + skip);
}

static const struct gemm_case {
    float alpha, beta;
    size_t batch, m, k, n;
    ptrdiff_t a, b, b_col, c; /* steps of rows, and of b's columns; 0: dense */
} gemm_cases[] = {
    {1, 0, 0, 1, 2048, 2048, 0, 0, 1, 0},
    {1, 0, 2, 4, 2048, 2048, 0, 0, 1, 0},
    {1, 0, 0, 1, 2048, 2048, 4096, 4096, 1, 4096},
    {1, 1, 0, 6, 2048, 2560, 2048, 1, 2048, 2560},
    {0.125f, 0, 4, 48, 64, 6, 0, 0, 1, 0},
    {2, 0.5f, 0, 70, 80, 90, 0, 0, 1, 0}, /* and one that has a workspace */
};

static bool gemm_case(infiniDtype_t dtype, double tolerance, const struct gemm_case *g)
{
    gemm_operand a = operand_of(dtype, g->batch, g->m, g->k, g->a ? g->a : (ptrdiff_t)g->k, 1),
                 b = operand_of(dtype, g->batch, g->k, g->n, g->b ? g->b : (ptrdiff_t)g->n,
                                g->b_col),
                 c = operand_of(dtype, g->batch, g->m, g->n, g->c ? g->c : (ptrdiff_t)g->n, 1);
    const size_t bytes = (g->batch ? g->batch : 1) * (size_t)c.step[0] * 4;
    char *was = malloc(bytes);
    assert_non_null(was);
    memcpy(was, c.data, bytes);
    infiniopGemmDescriptor_t gemm;
    CREATE(Gemm, gemm, described(dtype, &c), described(dtype, &a), described(dtype, &b));
    size_t size = 0;
    OK(infiniopGetGemmWorkspaceSize(gemm, &size));
    if (size) {
        FAILS(
            infiniopGemm(gemm, was, size - 1, c.data, a.data, b.data, g->alpha, g->beta, NULL),
            INSUFFICIENT_WORKSPACE);
        assert_memory_equal(was, c.data, bytes / 4);
    }
    RUN_IN(SUCCESS, Gemm, gemm, c.data, a.data, b.data, g->alpha, g->beta);
    for (size_t s = 0; s < 40; s++) {
        const size_t z = g->batch ? s % g->batch : 0, i = s * 7 % g->m, j = s * 131 % g->n;
        const size_t at = z * (size_t)c.step[0] + i * (size_t)c.step[1] + j;
        double want = g->beta != 0 ? g->beta * number_at(dtype, was, at) : 0, sum = 0;
        for (size_t p = 0; p < g->k; p++)
            sum += number_at(dtype, a.data, z * (size_t)a.step[0] + i * (size_t)a.step[1] + p) *
                   number_at(dtype, b.data,
                             z * (size_t)b.step[0] + p * (size_t)b.step[1] +
                                 j * (size_t)b.step[2]);
        want += g->alpha * sum;
        assert_true(fabs(number_at(dtype, c.data, at) - want) <= tolerance * want);
    }
    OK(infiniopDestroyGemmDescriptor(gemm));
    free(a.data);
    free(b.data);
    free(c.data);
    free(was);
    return size > 0;
}

/* Each within InfiniCore's tolerance; a workspace of a byte less is refused, and so is a c that
 * names an element twice. */
static void test_gemm_cases(void **state)
{
    (void)state;
    static const struct {
        infiniDtype_t dtype;
        double tolerance;
    } types[] = {{INFINI_DTYPE_F16, 1e-2}, {INFINI_DTYPE_BF16, 5e-2}, {INFINI_DTYPE_F32, 1e-3}};
    int spaces = 0;
    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t i = 0; i < COUNT(gemm_cases); i++)
            spaces += gemm_case(types[t].dtype, types[t].tolerance, &gemm_cases[i]);
    assert_true(spaces > 0);
    REFUSES(BAD_TENSOR_STRIDES, Gemm, F32(2, DIMS(2, 2), STEPS(0, 1)), F32(2, DIMS(2, 3), NULL),
            F32(2, DIMS(3, 2), NULL));
}

static void test_layer_norm_of_equal_numbers(void **state)
{
    (void)state;
    float x[64], y[64], z[64], w[16], sd[4];
    for (int i = 0; i < 64; i++)
        x[i] = 1000.1f, w[i % 16] = 1;
    infiniopLayerNormDescriptor_t norm;
    CREATE(LayerNorm, norm, F32(2, DIMS(4, 16), NULL), F32(2, DIMS(4, 16), NULL),
           F32(1, DIMS(4), NULL), F32(2, DIMS(4, 16), NULL), F32(1, DIMS(16), NULL), NULL,
           1e-5f);
    RUN_IN(SUCCESS, LayerNorm, norm, y, z, sd, x, w, NULL);
    for (int i = 0; i < 4; i++)
        assert_true(fabsf(sd[i] - sqrtf(1e-5f)) < 1e-8f);
    for (int i = 0; i < 64; i++)
        assert_true(y[i] == 0 && z[i] == 0);
    OK(infiniopDestroyLayerNormDescriptor(norm));
}

/* y is dense and residual_out has gaps: each keeps its own strides. */
static void test_add_rms_norm_strides(void **state)
{
    (void)state;
    const float a[] = {1, 2, 3, 4}, b[] = {1, 1, 1, 1}, w[] = {1, 1};
    float y[5] = {0, 0, 0, 0, 7}, sum[6] = {7, 7, 7, 7, 7, 7};
    infiniopAddRMSNormDescriptor_t norm;
    CREATE(AddRMSNorm, norm, F32(2, DIMS(2, 2), NULL), F32(2, DIMS(2, 2), STEPS(4, 1)),
           F32(2, DIMS(2, 2), NULL), F32(2, DIMS(2, 2), NULL), F32(1, DIMS(2), NULL), 0);
    RUN_IN(SUCCESS, AddRMSNorm, norm, y, sum, a, b, w);
    HOLDS(sum, 2, 3, 7, 7, 4, 5);
    assert_true(y[4] == 7 && fabsf(y[0] - 2 / sqrtf(6.5f)) < 1e-6f);
    OK(infiniopDestroyAddRMSNormDescriptor(norm));
}

/* 64 batches of F16: one wide sum, one rounding. */
static void test_addbmm_sum(void **state)
{
    (void)state;
    enum { N = 64 };
    uint16_t a[N], b[N], in = 0, out = 0;
    for (int i = 0; i < N; i++)
        a[i] = i ? 0x1000 : 0x3c00, b[i] = 0x3c00; /* 1, and 2^-11 often */
    infiniopAddbmmDescriptor_t sum;
    CREATE(Addbmm, sum, TENSOR(F16, 2, DIMS(1, 1), NULL), TENSOR(F16, 2, DIMS(1, 1), NULL),
           TENSOR(F16, 3, DIMS(N, 1, 1), NULL), TENSOR(F16, 3, DIMS(N, 1, 1), NULL), 1, 0);
    RUN_IN(SUCCESS, Addbmm, sum, &out, &in, a, b);
    assert_int_equal(out, 0x3c20); /* 1 + 63 / 2048, rounded to even */
    OK(infiniopDestroyAddbmmDescriptor(sum));
}

static void test_sample(void **state)
{
    (void)state;
    const float x[] = {1, 3, 2}, bad[] = {NAN, NAN, NAN};
    int32_t token = -7;
    infiniopRandomSampleDescriptor_t draw;
    CREATE(RandomSample, draw, TENSOR(I32, 0, NULL, NULL), F32(1, DIMS(3), NULL));
    RUN_IN(BAD_PARAM, RandomSample, draw, &token, x, 0.5f, 0.9f, 0, 1);
    assert_int_equal(token, -7);
    RUN_IN(SUCCESS, RandomSample, draw, &token, bad, 0.5f, 0.9f, 2, 1);
    assert_true(token >= 0 && token < 3);
    RUN_IN(SUCCESS, RandomSample, draw, &token, x, 0, 1, 5, 1);
    assert_int_equal(token, 1);
    OK(infiniopDestroyRandomSampleDescriptor(draw));
}

static void test_index_outside(void **state)
{
    (void)state;
    const float w[] = {1, 2, 3, 4};
    float y[] = {7, 7, 7, 7};
    const int64_t high[] = {0, 2}, low[] = {0, -1};
    infiniopEmbeddingDescriptor_t embed;
    CREATE(Embedding, embed, F32(2, DIMS(2, 2), NULL), TENSOR(I64, 1, DIMS(2), NULL),
           F32(2, DIMS(2, 2), NULL));
    FAILS(infiniopEmbedding(embed, y, high, w, NULL), BAD_PARAM);
    FAILS(infiniopEmbedding(embed, y, low, w, NULL), BAD_PARAM);
    HOLDS(y, 7, 7, 7, 7);
    OK(infiniopDestroyEmbeddingDescriptor(embed));
    infiniopSelectLastTokenHiddenDescriptor_t last;
    CREATE(SelectLastTokenHidden, last, F32(3, DIMS(1, 2, 2), NULL),
           F32(3, DIMS(1, 2, 2), NULL), TENSOR(I32, 1, DIMS(3), NULL));
    const int32_t beyond[] = {0, 1, 3}, before[] = {0, 1, 0};
    FAILS(infiniopSelectLastTokenHidden(last, y, w, beyond, NULL), BAD_PARAM);
    FAILS(infiniopSelectLastTokenHidden(last, y, w, before, NULL), BAD_PARAM);
    HOLDS(y, 7, 7, 7, 7);
    OK(infiniopDestroySelectLastTokenHiddenDescriptor(last));
}

static void test_rope_positions(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4}, sine[] = {0, 1}, cosine[] = {1, 0};
    float y[] = {7, 7, 7, 7};
    const int64_t far[] = {(int64_t)1 << 40, 0, 0, 0}, strided[] = {1, 99, 0, 99};
    infiniopRoPEDescriptor_t rope;
    CREATE(RoPE, rope, F32(3, DIMS(2, 1, 2), NULL), F32(3, DIMS(2, 1, 2), NULL),
           TENSOR(I64, 1, DIMS(2), STEPS(2)), F32(2, DIMS(2, 1), NULL),
           F32(2, DIMS(2, 1), NULL), INFINIOP_ROPE_ALGO_GPT_J);
    RUN_IN(BAD_PARAM, RoPE, rope, y, x, far, sine, cosine);
    HOLDS(y, 7, 7, 7, 7);
    RUN_IN(SUCCESS, RoPE, rope, y, x, strided, sine, cosine);
    HOLDS(y, -2, 1, 3, 4);
    OK(infiniopDestroyRoPEDescriptor(rope));
    REFUSES(NULL_POINTER, RoPE, F32(3, DIMS(2, 1, 2), NULL), F32(3, DIMS(2, 1, 2), NULL),
            TENSOR(I64, 1, DIMS(2), NULL), F32(2, DIMS(2, 1), NULL), F32(2, DIMS(2, 1), NULL),
            (infiniopRoPEAlgo_t)2);
}

/* Axes that a tensor does not have; k of a run that is not that of the descriptor. */
static void test_axes(void **state)
{
    (void)state;
    size_t nine[] = {9};
    REFUSES(BAD_PARAM, Sum, F32(1, DIMS(2), NULL), F32(2, DIMS(2, 3), NULL), nine, 1, false);
    REFUSES(BAD_PARAM, TopK, F32(2, DIMS(2, 1), NULL), TENSOR(I32, 2, DIMS(2, 1), NULL),
            F32(2, DIMS(2, 3), NULL), 1, 5, true, true);
    REFUSES(BAD_PARAM, Kthvalue, F32(1, DIMS(2), NULL), TENSOR(I64, 1, DIMS(2), NULL),
            F32(2, DIMS(2, 3), NULL), 4, 1, 0);
    REFUSES(BAD_PARAM, Attention, F32(3, DIMS(1, 3, 4), NULL), F32(3, DIMS(3, 1, 4), NULL),
            F32(3, DIMS(2, 1, 4), NULL), F32(3, DIMS(2, 1, 4), NULL),
            F32(3, DIMS(2, 8, 4), NULL), F32(3, DIMS(2, 8, 4), NULL), 0);
    infiniopTopKDescriptor_t top;
    const float x[] = {1, 3, 2};
    float value[] = {7, 7};
    int32_t index[] = {7, 7};
    CREATE(TopK, top, F32(1, DIMS(2), NULL), TENSOR(I32, 1, DIMS(2), NULL),
           F32(1, DIMS(3), NULL), 2, 0, true, true);
    RUN_IN(BAD_PARAM, TopK, top, value, index, x, 1, 0, true, true);
    HOLDS(value, 7, 7);
    RUN_IN(SUCCESS, TopK, top, value, index, x, 2, 0, true, true);
    HOLDS(value, 3, 2);
    HOLDS(index, 1, 2);
    OK(infiniopDestroyTopKDescriptor(top));
}

/* Three axes are resized, too, and all of a rank-4 tensor is pooled. */
static void test_every_element(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    float y[64], z[4];
    infiniopInterpolateDescriptor_t near;
    size_t four[] = {4, 4, 4};
    CREATE(Interpolate, near, F32(5, DIMS(1, 1, 4, 4, 4), NULL),
           F32(5, DIMS(1, 1, 2, 2, 2), NULL), "nearest", four, NULL, 0);
    memset(y, 0, sizeof y);
    RUN_IN(SUCCESS, Interpolate, near, y, x);
    for (int i = 0; i < 64; i++)
        assert_true(y[i] == x[i / 32 * 4 + i / 8 % 2 * 2 + i / 2 % 2]);
    OK(infiniopDestroyInterpolateDescriptor(near));
    infiniopAdaptiveMaxPool1dDescriptor_t pool;
    CREATE(AdaptiveMaxPool1d, pool, F32(4, DIMS(2, 1, 2, 1), NULL),
           F32(4, DIMS(2, 1, 2, 2), NULL), 1);
    RUN_IN(SUCCESS, AdaptiveMaxPool1d, pool, z, x);
    HOLDS(z, 2, 4, 6, 8);
    OK(infiniopDestroyAdaptiveMaxPool1dDescriptor(pool));
}

/* ---- one descriptor, many threads, a workspace each; then a forked child ---- */

typedef struct worker {
    infiniopFusedFFNDescriptor_t ffn;
    size_t size;
    bool good;
} worker;

enum { TOKENS = 8, WIDE = 64 };

static float weight[2 * WIDE * WIDE], norm_weight[WIDE], input[TOKENS * WIDE],
    expected[TOKENS * WIDE];

static void *work(void *arg)
{
    worker *w = arg;
    float out[TOKENS * WIDE];
    void *space = malloc(w->size + 1);
    w->good = space != NULL;
    for (int round = 0; round < 50 && w->good; round++) {
        memset(out, 0, sizeof out);
        w->good = !infiniopFusedFFN(w->ffn, space, w->size, out, input, input, norm_weight,
                                    weight, weight, NULL) &&
                  !memcmp(out, expected, sizeof out);
    }
    free(space);
    return NULL;
}

static void test_threads_and_fork(void **state)
{
    (void)state;
    enum { THREADS = 6 };
    worker w[THREADS] = {{0}};
    pthread_t threads[THREADS];
    for (int i = 0; i < 2 * WIDE * WIDE; i++)
        weight[i] = (float)(i * 7919 % 997) / 4000 - 0.12f;
    for (int i = 0; i < TOKENS * WIDE; i++)
        input[i] = (float)(i % 13) - 6, norm_weight[i % WIDE] = 1;
    CREATE(FusedFFN, w[0].ffn, F32(2, DIMS(TOKENS, WIDE), NULL),
           F32(2, DIMS(TOKENS, WIDE), NULL), F32(2, DIMS(TOKENS, WIDE), NULL),
           F32(1, DIMS(WIDE), NULL), F32(2, DIMS(2 * WIDE, WIDE), NULL),
           F32(2, DIMS(WIDE, WIDE), NULL), 1e-5f);
    OK(infiniopGetFusedFFNWorkspaceSize(w[0].ffn, &w[0].size));
    RUN_IN(SUCCESS, FusedFFN, w[0].ffn, expected, input, input, norm_weight, weight, weight);
    for (int i = 0; i < THREADS; i++) {
        w[i] = w[0];
        assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(w[i].good);
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        work(&w[0]);
        _exit(w[0].good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    OK(infiniopDestroyFusedFFNDescriptor(w[0].ffn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_gemm_cases),
        cmocka_unit_test(test_layer_norm_of_equal_numbers),
        cmocka_unit_test(test_add_rms_norm_strides),
        cmocka_unit_test(test_addbmm_sum),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_index_outside),
        cmocka_unit_test(test_rope_positions),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_every_element),
        cmocka_unit_test(test_threads_and_fork),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
