/* bench_infiniop.c - InfiniOp's operators through its C ABI, beside memcpy in the same run and
 * the figures of the original, which are of one thread.
 *
 * tenon_bench_infiniop [--quick] runs on one thread unless OMP_NUM_THREADS says otherwise; each
 * figure is the best of many rounds. */
#include <infiniop.h>
#include <infinirt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "table.h"

/* Products of the model are timed on their way. */
static infiniStatus_t timed_gemm(infiniopGemmDescriptor_t desc, void *workspace, size_t size,
                                 void *c, const void *a, const void *b, float alpha, float beta,
                                 void *stream);
#define infiniopGemm timed_gemm
#include "../examples/llama.h"
#undef infiniopGemm

static infiniopHandle_t handle;
static double patience = 0.3; /* seconds for a case */

static void need(infiniStatus_t status, const char *what)
{
    if (status == INFINI_STATUS_SUCCESS)
        return;
    fprintf(stderr, "tenon_bench_infiniop: %s: status %d\n", what, (int)status);
    exit(1);
}
#define NEED(call) need(call, #call)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what is measured: a binary operator, a rearrange, or memcpy ---- */

typedef struct job {
    infiniopAddDescriptor_t add;
    infiniopRearrangeDescriptor_t copy;
    void *y, *a, *b;
    size_t bytes; /* memcpy */
} job;

static void run(const job *j, int times)
{
    for (int i = 0; i < times; i++) {
        if (j->add)
            NEED(infiniopAdd(j->add, NULL, 0, j->y, j->a, j->b, NULL));
        else if (j->copy)
            NEED(infiniopRearrange(j->copy, j->y, j->a, NULL));
        else
            memcpy(j->y, j->a, j->bytes);
    }
}

/* Seconds of one run: the best of many rounds of at least 100 microseconds. */
static double best_of(const job *j)
{
    int times = 1;
    double t0 = now(), best = 1e9;
    run(j, 1);
    for (double t = now(); run(j, times), now() - t < 1e-4; t = now())
        times *= 2;
    for (int round = 0; round < 5 || now() - t0 < patience; round++) {
        const double t = now();
        run(j, times);
        const double one = (now() - t) / times;
        best = one < best ? one : best;
    }
    return best;
}

/* ---- tensors ---- */

static void *memory(size_t bytes)
{
    void *p;
    NEED(infinirtMalloc(&p, bytes));
    NEED(infinirtMemset(p, 0x3c, bytes));
    return p;
}

static infiniopTensorDescriptor_t tensor(infiniDtype_t dtype, size_t ndim, const size_t *shape,
                                         const ptrdiff_t *strides)
{
    infiniopTensorDescriptor_t t;
    NEED(infiniopCreateTensorDescriptor(&t, ndim, shape, strides, dtype));
    return t;
}

/* bytes are those of one tensor, operands those that are read and written. */
static void show(const char *name, const job *j, size_t elements, size_t bytes, int operands,
                 double original)
{
    const job copy = {.y = j->y, .a = j->a, .bytes = bytes};
    const double t = best_of(j), c = best_of(&copy);
    printf("%-44s %10.3f us %7.2f GB/s  memcpy %7.2f GB/s", name, t * 1e6,
           (double)bytes * operands / t * 1e-9, (double)bytes * 2 / c * 1e-9);
    if (original > 0)
        printf("  %6.1f x the original's %.1f us", original / t, original * 1e6);
    printf("  %.3f ns an element\n", t * 1e9 / (double)elements);
}

static void rearrange(const char *name, size_t ndim, const size_t *shape, const ptrdiff_t *dst,
                      const ptrdiff_t *src, double original)
{
    size_t n = 1;
    for (size_t i = 0; i < ndim; i++)
        n *= shape[i];
    infiniopTensorDescriptor_t y = tensor(INFINI_DTYPE_F32, ndim, shape, dst);
    infiniopTensorDescriptor_t x = tensor(INFINI_DTYPE_F32, ndim, shape, src);
    job j = {.y = memory(4 * n), .a = memory(4 * n)};
    NEED(infiniopCreateRearrangeDescriptor(handle, &j.copy, y, x));
    NEED(infiniopDestroyTensorDescriptor(y));
    NEED(infiniopDestroyTensorDescriptor(x));
    show(name, &j, n, 4 * n, 2, original);
    NEED(infiniopDestroyRearrangeDescriptor(j.copy));
    NEED(infinirtFree(j.y));
    NEED(infinirtFree(j.a));
}

/* rows of columns elements, pitch from one to the next; per is the original's ns an element. */
static void add(const char *name, infiniDtype_t dtype, size_t width, size_t rows,
                size_t columns, size_t pitch, double per)
{
    const size_t n = rows * columns, bytes = rows * pitch * width;
    infiniopTensorDescriptor_t t = tensor(dtype, 2, (const size_t[]){rows, columns},
                                          (const ptrdiff_t[]){(ptrdiff_t)pitch, 1});
    job j = {.y = memory(bytes), .a = memory(bytes), .b = memory(bytes)};
    NEED(infiniopCreateAddDescriptor(handle, &j.add, t, t, t));
    NEED(infiniopDestroyTensorDescriptor(t));
    show(name, &j, n, n * width, 3, per * 1e-9 * (double)n);
    NEED(infiniopDestroyAddDescriptor(j.add));
    NEED(infinirtFree(j.y));
    NEED(infinirtFree(j.a));
    NEED(infinirtFree(j.b));
}

/* ---- small calls ---- */

static char small[4][1024];

/* An operator whose tensors are all (4, 4), through its C ABI. */
#define SMALL(Op, n, ...)                                                                      \
    static void run_##Op(void *desc)                                                           \
    {                                                                                          \
        NEED(infiniop##Op(desc, NULL, 0, __VA_ARGS__, NULL));                                  \
    }                                                                                          \
    static double time_##Op(infiniDtype_t dtype)                                               \
    {                                                                                          \
        infiniop##Op##Descriptor_t desc;                                                       \
        infiniopTensorDescriptor_t t = tensor(dtype, 2, (const size_t[]){4, 4}, NULL);         \
        NEED(infiniopCreate##Op##Descriptor(handle, &desc, SMALL_##n));                        \
        const double ns = call_time(run_##Op, desc);                                           \
        NEED(infiniopDestroy##Op##Descriptor(desc));                                           \
        NEED(infiniopDestroyTensorDescriptor(t));                                              \
        return ns;                                                                             \
    }
#define SMALL_1 t, t
#define SMALL_2 t, t, t
#define SMALL_3 t, t, t, t
SMALL(Add, 2, small[0], small[1], small[2])
SMALL(SwiGLU, 2, small[0], small[1], small[2])
SMALL(LogAddExp, 2, small[0], small[1], small[2])
SMALL(Clip, 3, small[0], small[1], small[2], small[3])
SMALL(Relu, 1, small[0], small[1])
SMALL(Gelu, 1, small[0], small[1])
SMALL(Silu, 1, small[0], small[1])
SMALL(Tanh, 1, small[0], small[1])
SMALL(Erf, 1, small[0], small[1])
SMALL(Digamma, 1, small[0], small[1])

static void small_calls(void)
{
    static const struct {
        const char *name;
        double (*time)(infiniDtype_t);
    } rows[] = {
        {"Add", time_Add},        {"SwiGLU", time_SwiGLU}, {"LogAddExp", time_LogAddExp},
        {"Clip", time_Clip},      {"Relu", time_Relu},     {"Gelu", time_Gelu},
        {"Silu", time_Silu},      {"Tanh", time_Tanh},     {"Erf", time_Erf},
        {"Digamma", time_Digamma}};
    static const infiniDtype_t dtypes[] = {INFINI_DTYPE_F32, INFINI_DTYPE_BF16};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int d = 0; d < 2; d++) {
            line l = {.goal = 100};
            snprintf(l.name, sizeof l.name, "%s %s (4, 4)", rows[i].name, d ? "bf16" : "f32");
            l.reached = l.ns = rows[i].time(dtypes[d]);
            table_add(&l);
        }
}

/* ---- one token of a Llama ---- */

static struct {
    double gemm;
    long calls;
} spent;

static infiniStatus_t timed_gemm(infiniopGemmDescriptor_t desc, void *workspace, size_t size,
                                 void *c, const void *a, const void *b, float alpha, float beta,
                                 void *stream)
{
    const double t = now();
    const infiniStatus_t status =
        infiniopGemm(desc, workspace, size, c, a, b, alpha, beta, stream);
    spent.gemm += now() - t;
    spent.calls++;
    return status;
}

/* Random bytes that are small numbers in the dtype; tables are such, too. */
static const void *random_weight(void *user, const char *name, size_t count)
{
    static uint32_t seed = 1;
    const infiniDtype_t dtype = *(const infiniDtype_t *)user;
    uint16_t *half = memory(count * 4);
    float *whole = (float *)(void *)half;
    (void)name;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        const float x = (float)(int32_t)seed * 0x1p-36f;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        if (dtype == INFINI_DTYPE_F32)
            whole[i] = x;
        else
            half[i] = (uint16_t)(bits >> 16);
    }
    return half;
}

/* The best token of many: its time, and the share that products had in it. */
static void decode(const char *name, const llama_shape *shape, double goal)
{
    static const int64_t prompt[] = {1, 2, 3, 4, 5, 6, 7, 8};
    infiniDtype_t dtype = shape->dtype;
    llama m;
    double best = 1e9, share = 0, beside = 0;
    llama_begin(&m, shape, random_weight, &dtype);
    llama_run(&m, prompt, 8);
    llama_run(&m, prompt, 1);
    for (int i = 0; i < 200 && (i < 10 || patience > 0.1); i++) {
        m.length = 8;
        spent.gemm = 0;
        const double t = now();
        llama_run(&m, prompt, 1);
        const double whole = now() - t;
        if (whole < best) {
            best = whole;
            share = spent.gemm / whole;
            /* 9 other calls of a layer, 3 of the rest */
            beside = (whole - spent.gemm) / (double)(9 * shape->layers + 3);
        }
    }
    line l = {.goal = goal,
              .reached = share,
              .peer = "gemm",
              .gbs = 1e-3 / best,
              .peer_gbs = 1e-3 / (best * share)};
    snprintf(l.name, sizeof l.name, "%s, %.1f us a token, %.0f ns a call beside gemm", name,
             best * 1e6, beside * 1e9);
    table_add(&l);
    llama_end(&m);
}

static void models(void)
{
    llama_shape s = {.layers = 4,
                     .hidden = 1024,
                     .heads = 16,
                     .kv_heads = 8,
                     .head = 64,
                     .ffn = 2816,
                     .vocab = 8192,
                     .context = 32,
                     .dtype = INFINI_DTYPE_F32};
    decode("Llama 4 x 1024 f32", &s, 0.8);
    s.dtype = INFINI_DTYPE_BF16;
    decode("Llama 4 x 1024 bf16", &s, 0.8);
    s = (llama_shape){.layers = 2,
                      .hidden = 64,
                      .heads = 4,
                      .kv_heads = 2,
                      .head = 16,
                      .ffn = 96,
                      .vocab = 97,
                      .context = 32,
                      .dtype = INFINI_DTYPE_F32};
    decode("Llama 2 x 64 f32", &s, 0);
}

/* ---- calls on so little that nearly all of it is beside the kernels ---- */

static llama tiny;
static char tiny_data[6][4096];

static void tiny_norm(void *p)
{
    NEED(infiniopRMSNorm(p, tiny.workspace, tiny.space, tiny_data[0], tiny_data[1],
                         tiny_data[2], NULL));
}

static void tiny_gemm(void *p)
{
    NEED(infiniopGemm(p, tiny.workspace, tiny.space, tiny_data[0], tiny_data[1], tiny_data[2],
                      1, 0, NULL));
}

static void tiny_rope(void *p)
{
    NEED(infiniopRoPE(p, tiny.workspace, tiny.space, tiny_data[0], tiny_data[0], tiny_data[4],
                      tiny_data[2], tiny_data[3], NULL));
}

static void tiny_softmax(void *p)
{
    NEED(
        infiniopCausalSoftmax(p, tiny.workspace, tiny.space, tiny_data[0], tiny_data[0], NULL));
}

static void tiny_embed(void *p)
{
    NEED(infiniopEmbedding(p, tiny_data[0], tiny_data[4], tiny_data[1], NULL));
}

static void tiny_copy(void *p)
{
    NEED(infiniopRearrange(p, tiny_data[0], tiny_data[1], NULL));
}

static void tiny_calls(void)
{
    const llama_shape s = {.layers = 1,
                           .hidden = 2,
                           .heads = 1,
                           .kv_heads = 1,
                           .head = 2,
                           .ffn = 1,
                           .vocab = 2,
                           .context = 2,
                           .dtype = INFINI_DTYPE_F32};
    infiniDtype_t dtype = s.dtype;
    llama_begin(&tiny, &s, random_weight, &dtype);
    llama_step *p = llama_prepare(&tiny, 1);
    const struct {
        const char *name;
        void (*run)(void *);
        void *desc;
    } rows[] = {
        {"RMSNorm", tiny_norm, p->norm},     {"Gemm", tiny_gemm, p->qkv},
        {"RoPE", tiny_rope, p->rope_q},      {"CausalSoftmax", tiny_softmax, p->softmax[1]},
        {"Embedding", tiny_embed, p->embed}, {"Rearrange", tiny_copy, p->put_kv}};
    memset(tiny_data, 0, sizeof tiny_data);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        line l = {.goal = 150};
        snprintf(l.name, sizeof l.name, "%s of one or two elements", rows[i].name);
        l.reached = l.ns = call_time(rows[i].run, rows[i].desc);
        table_add(&l);
    }
    llama_end(&tiny);
}

int main(int argc, char **argv)
{
    if (!getenv("OMP_NUM_THREADS")) { /* it is read before main */
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    if (argc > 1 && !strcmp(argv[1], "--quick"))
        patience = 0.05;
    NEED(infiniopCreateHandle(&handle));
    printf("threads %s\n", getenv("OMP_NUM_THREADS"));
    rearrange("rearrange f32 (2000, 2000) transposed", 2, (const size_t[]){2000, 2000},
              (const ptrdiff_t[]){2000, 1}, (const ptrdiff_t[]){1, 2000}, 51e-3);
    rearrange("rearrange f32 (3,4,50,50,5,7) row to column", 6,
              (const size_t[]){3, 4, 50, 50, 5, 7},
              (const ptrdiff_t[]){1, 3, 12, 600, 30000, 150000}, NULL, 31.6e-3);
    add("add f32 (4, 4)", INFINI_DTYPE_F32, 4, 4, 4, 4, 0);
    add("add f32 (64, 5632) contiguous", INFINI_DTYPE_F32, 4, 64, 5632, 5632, 4);
    add("add f32 (1024, 5632) contiguous", INFINI_DTYPE_F32, 4, 1024, 5632, 5632, 4);
    add("add f32 (64, 5632) pitch 13312", INFINI_DTYPE_F32, 4, 64, 5632, 13312, 20);
    add("add f32 (1024, 5632) pitch 13312", INFINI_DTYPE_F32, 4, 1024, 5632, 13312, 20);
    add("add bf16 (64, 5632) contiguous", INFINI_DTYPE_BF16, 2, 64, 5632, 5632, 4);
    add("add bf16 (1024, 5632) pitch 13312", INFINI_DTYPE_BF16, 2, 1024, 5632, 13312, 20);
    printf("\n");
    table_begin("operators and models, one thread");
    small_calls();
    tiny_calls();
    models();
    NEED(infiniopDestroyHandle(handle));
    return 0;
}
