/* bench_infiniop.c - InfiniOp's operators through its C ABI, compared with memcpy or sgemm in
 * the same run and with figures of the original, which are for one thread.
 *
 * tenon_bench_infiniop [--quick] [copies] [small] [tiny] [rows] [products] [models] runs these
 * parts, or all of them, on one thread; rows also on two and products only on two, the number
 * that their goals are for.  OMP_NUM_THREADS selects another number for all parts.  Each figure
 * is the best of many rounds. */
#include <infiniop.h>
#include <infinirt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "sgemm.h"
#include "table.h"

/* infiniopGemm for the model, timed. */
static infiniStatus_t timed_gemm(infiniopGemmDescriptor_t desc, void *workspace, size_t size,
                                 void *c, const void *a, const void *b, float alpha, float beta,
                                 void *stream);
#define infiniopGemm timed_gemm
#include "../examples/llama.h"
#undef infiniopGemm

static infiniopHandle_t handle;
static double patience = 0.3; /* seconds per case */
static int threads = 1;

static void need(infiniStatus_t status, const char *what)
{
    if (status == INFINI_STATUS_SUCCESS)
        return;
    fprintf(stderr, "tenon_bench_infiniop: %s: status %d\n", what, (int)status);
    exit(1);
}
#define NEED(call) need(call, #call)

/* ---- jobs: a binary operator, a rearrange, or memcpy ---- */

typedef struct job {
    infiniopAddDescriptor_t add;
    infiniopRearrangeDescriptor_t copy;
    void *y, *a, *b;
    size_t bytes; /* for memcpy */
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

/* Seconds of one run: the best of many rounds of at least 100 microseconds each. */
static double best_of(const job *j)
{
    int times = 1;
    double t0 = seconds(), best = 1e9;
    run(j, 1);
    for (double t = seconds(); run(j, times), seconds() - t < 1e-4; t = seconds())
        times *= 2;
    for (int round = 0; round < 5 || seconds() - t0 < patience; round++) {
        const double t = seconds();
        run(j, times);
        const double one = (seconds() - t) / times;
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

/* Print one line; bytes: of one tensor; operands: number of tensors read and written. */
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

/* rows of `columns` elements that are pitch elements apart; per: the original's ns per
 * element. */
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

#include "infiniop_small.inc"

/* ---- rows and tables, relative to the speed of memory ---- */

enum { ROW_BYTES = 1 << 27 };

typedef struct row_case {
    arena *a;
    void *desc, *space;
    size_t size;
    char *weight; /* weights of a norm, or sines and cosines of RoPE */
    int64_t *ids;
} row_case;

static void run_norm(void *p)
{
    const row_case *c = p;
    NEED(infiniopRMSNorm(c->desc, c->space, c->size, c->a->dst, c->a->src, c->weight, NULL));
}

static void run_softmax(void *p)
{
    const row_case *c = p;
    NEED(infiniopCausalSoftmax(c->desc, c->space, c->size, c->a->dst, c->a->src, NULL));
}

static void run_rope(void *p)
{
    const row_case *c = p;
    NEED(infiniopRoPE(c->desc, c->space, c->size, c->a->dst, c->a->src, c->ids, c->weight,
                      c->weight, NULL));
}

static void run_embedding(void *p)
{
    const row_case *c = p;
    NEED(infiniopEmbedding(c->desc, c->a->dst, c->ids, c->a->src, NULL));
}

static void row_share(const char *name, double goal, row_case *c, void (*work)(void *))
{
    c->space = memory(c->size + 1);
    const figures f = measure(&(contest){.run = work,
                                         .arg = c,
                                         .dst = c->a->dst,
                                         .src = c->a->src,
                                         .bytes = ROW_BYTES,
                                         .threads = threads,
                                         .least = 4,
                                         .duration = patience * 2});
    line l = {.goal = threads > 1 ? goal : 0,
              .gbs = f.work,
              .reached = f.ratio,
              .peer = "R",
              .peer_gbs = f.limit,
              .moved = f.moved};
    snprintf(l.name, sizeof l.name, "%s%s", name, threads > 1 ? "" : ", one thread");
    table_add(&l);
    NEED(infinirtFree(c->space));
}

static void rows(void)
{
    arena a = arena_make(ROW_BYTES, true);
    for (int64_t i = 0; i < ROW_BYTES / 4; i++) /* between 0 and 1 */
        ((float *)(void *)a.src)[i] = (float)(i * 2654435761 % 65536) * 0x1p-16f;
    enum { ROWS = 8192, WIDE = 4096, KEYS = 4096, QUERIES = 64, HEADS = 32, HEAD = 128 };
    row_case c = {.a = &a, .weight = memory(4 * ROWS * HEAD / 2), .ids = memory(8 << 15)};
    infiniopTensorDescriptor_t x, w, ids;
    for (int64_t i = 0; i < 1 << 15; i++) /* an odd factor: every row once, no neighbours */
        c.ids[i] = i * 12345 % (1 << 15);
    x = tensor(INFINI_DTYPE_F32, 2, (const size_t[]){ROWS, WIDE}, NULL);
    w = tensor(INFINI_DTYPE_F32, 1, (const size_t[]){WIDE}, NULL);
    NEED(infiniopCreateRMSNormDescriptor(handle, (void *)&c.desc, x, x, w, 1e-6f));
    NEED(infiniopGetRMSNormWorkspaceSize(c.desc, &c.size));
    row_share("RMSNorm f32 (8192, 4096)", 0.75, &c, run_norm);
    NEED(infiniopDestroyRMSNormDescriptor(c.desc));
    x = tensor(INFINI_DTYPE_F32, 3, (const size_t[]){128, QUERIES, KEYS}, NULL);
    NEED(infiniopCreateCausalSoftmaxDescriptor(handle, (void *)&c.desc, x, x));
    NEED(infiniopGetCausalSoftmaxWorkspaceSize(c.desc, &c.size));
    row_share("CausalSoftmax f32 (128, 64, 4096)", 0.6, &c, run_softmax);
    NEED(infiniopDestroyCausalSoftmaxDescriptor(c.desc));
    x = tensor(INFINI_DTYPE_F32, 2, (const size_t[]){1 << 15, 1024}, NULL);
    ids = tensor(INFINI_DTYPE_I64, 1, (const size_t[]){1 << 15}, NULL);
    NEED(infiniopCreateEmbeddingDescriptor(handle, (void *)&c.desc, x, ids, x));
    c.size = 0;
    row_share("Embedding f32, 32768 rows of 4 KB", 0.65, &c, run_embedding);
    NEED(infiniopDestroyEmbeddingDescriptor(c.desc));
    for (int64_t i = 0; i < ROWS; i++)
        c.ids[i] = i;
    x = tensor(INFINI_DTYPE_F32, 3, (const size_t[]){ROWS, HEADS, HEAD}, NULL);
    w = tensor(INFINI_DTYPE_F32, 2, (const size_t[]){ROWS, HEAD / 2}, NULL);
    ids = tensor(INFINI_DTYPE_I64, 1, (const size_t[]){ROWS}, NULL);
    for (int algo = 0; algo < 2; algo++) {
        NEED(infiniopCreateRoPEDescriptor(handle, (void *)&c.desc, x, x, ids, w, w,
                                          (infiniopRoPEAlgo_t)algo));
        NEED(infiniopGetRoPEWorkspaceSize(c.desc, &c.size));
        row_share(algo ? "RoPE f32 (8192, 32, 128), halves" : "RoPE f32, pairs side by side",
                  0.75, &c, run_rope);
        NEED(infiniopDestroyRoPEDescriptor(c.desc));
    }
    arena_free(&a);
}

/* ---- products, relative to sgemm of 1024^3 ---- */

typedef struct product_case {
    infiniStatus_t (*run)(const struct product_case *);
    void *desc, *space, *data[6];
    size_t size;
} product_case;

static infiniStatus_t product_gemm(const product_case *c)
{
    return infiniopGemm(c->desc, c->space, c->size, c->data[0], c->data[1], c->data[2], 1, 0,
                        NULL);
}

static infiniStatus_t product_attention(const product_case *c)
{
    return infiniopAttention(c->desc, c->space, c->size, c->data[0], c->data[1], c->data[2],
                             c->data[3], c->data[4], c->data[5], NULL);
}

static infiniStatus_t product_conv(const product_case *c)
{
    return infiniopConv(c->desc, c->space, c->size, c->data[0], c->data[1], c->data[2], NULL,
                        NULL);
}

static void product_share(const char *name, double goal, product_case *c, double flops)
{
    enum { N = 1024 };
    static sgemm_fn sgemm;
    static float *m;
    double work = 1e9, limit = 1e9, begin = seconds();
    sgemm = sgemm ? sgemm : find_sgemm();
    m = m ? m : memory(3 * N * N * sizeof *m);
    c->space = memory(c->size + 1);
    for (int k = 0; k < 6; k++)
        c->data[k] = memory((size_t)1 << 24);
    for (int i = 0; i < 3 || seconds() - begin < 10 * patience; i++) {
        double t = seconds();
        NEED(c->run(c));
        t = seconds() - t;
        work = t < work ? t : work;
        t = seconds();
        if (sgemm)
            sgemm(101, 111, 111, N, N, N, 1, m, N, m + N * N, N, 0, m + 2 * N * N, N);
        t = seconds() - t;
        limit = t < limit ? t : limit;
    }
    const double rate = flops / work * 1e-9, top = sgemm ? 2e-9 * N * N * N / limit : 0;
    line l = {.goal = sgemm ? goal : 0,
              .gbs = rate,
              .reached = sgemm ? rate / top : 0,
              .peer = "sgemm",
              .peer_gbs = top};
    snprintf(l.name, sizeof l.name, "%s, GF/s", name);
    table_add(&l);
    for (int k = 0; k < 6; k++)
        NEED(infinirtFree(c->data[k]));
    NEED(infinirtFree(c->space));
}

static void products(void)
{
    enum { N = 1024, HEADS = 16, SEQ = 512, HEAD = 64, IMAGES = 8, SIDE = 56, CHANNELS = 64 };
    product_case c = {.run = product_gemm};
    infiniopTensorDescriptor_t t, u, v;
    t = tensor(INFINI_DTYPE_F32, 2, (const size_t[]){N, N}, NULL);
    NEED(infiniopCreateGemmDescriptor(handle, (void *)&c.desc, t, t, t));
    NEED(infiniopGetGemmWorkspaceSize(c.desc, &c.size));
    product_share("Gemm f32 1024^3", 0.92, &c, 2.0 * N * N * N);
    c.run = product_attention;
    t = tensor(INFINI_DTYPE_F32, 3, (const size_t[]){SEQ, HEADS, HEAD}, NULL);
    u = tensor(INFINI_DTYPE_F32, 3, (const size_t[]){HEADS, SEQ, HEAD}, NULL);
    NEED(infiniopCreateAttentionDescriptor(handle, (void *)&c.desc, t, u, u, u, u, u, 0));
    NEED(infiniopGetAttentionWorkspaceSize(c.desc, &c.size));
    product_share("Attention f32, 16 heads of 64, 512 tokens", 0.8, &c,
                  4.0 * HEADS * SEQ * SEQ * HEAD);
    c.run = product_conv;
    t = tensor(INFINI_DTYPE_F32, 4, (const size_t[]){IMAGES, CHANNELS, SIDE, SIDE}, NULL);
    v = tensor(INFINI_DTYPE_F32, 4, (const size_t[]){CHANNELS, CHANNELS, 3, 3}, NULL);
    NEED(infiniopCreateConvDescriptor(handle, (void *)&c.desc, t, t, v, NULL, (size_t[]){1, 1},
                                      NULL, NULL, 2));
    NEED(infiniopGetConvWorkspaceSize(c.desc, &c.size));
    product_share("Conv f32 (8, 64, 56, 56) by (64, 64, 3, 3)", 0.7, &c,
                  2.0 * IMAGES * CHANNELS * CHANNELS * 9 * SIDE * SIDE);
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
    const double t = seconds();
    const infiniStatus_t status =
        infiniopGemm(desc, workspace, size, c, a, b, alpha, beta, stream);
    spent.gemm += seconds() - t;
    spent.calls++;
    return status;
}

/* Random weights that are small numbers in the dtype; also used as tables. */
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

/* Decode a token many times; report the best time and the share that products take of it. */
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
        const double t = seconds();
        llama_run(&m, prompt, 1);
        const double whole = seconds() - t;
        if (whole < best) {
            best = whole;
            share = spent.gemm / whole;
            /* 9 calls per layer and 3 others are not products. */
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

/* ---- calls on so little data that their overhead dominates ---- */

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

static void copies(void)
{
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
}

/* True if a part is selected: it is named, or no part is. */
static bool asked(int argc, char **argv, const char *part)
{
    bool named = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], part))
            return true;
        named |= argv[i][0] != '-';
    }
    return !named;
}

/* Run the same parts with n threads by executing the program again: OpenMP reads the variable
 * before main. */
static void again(char **argv, int n)
{
    char count[16];
    snprintf(count, sizeof count, "%d", n);
    setenv("OMP_NUM_THREADS", count, 1);
    setenv("TENON_BENCH_ROUND", count, 1);
    execv("/proc/self/exe", argv);
    exit(1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
        int first, last; /* range of thread counts to measure with */
    } parts[] = {{"copies", copies, 1, 1},     {"small", small_calls, 1, 1},
                 {"tiny", tiny_calls, 1, 1},   {"rows", rows, 1, 2},
                 {"products", products, 2, 2}, {"models", models, 1, 1}};
    const char *round = getenv("TENON_BENCH_ROUND");
    if (!getenv("OMP_NUM_THREADS"))
        again(argv, 1);
    threads = atoi(getenv("OMP_NUM_THREADS"));
    if (argc > 1 && !strcmp(argv[1], "--quick"))
        patience = 0.05;
    NEED(infiniopCreateHandle(&handle));
    printf("threads %d\n", threads);
    table_begin("operators and models");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (asked(argc, argv, parts[i].name) &&
            (!round || (parts[i].first <= threads && threads <= parts[i].last)))
            parts[i].run();
    NEED(infiniopDestroyHandle(handle));
    fflush(stdout);
    if (round && threads == 1 && (asked(argc, argv, "rows") || asked(argc, argv, "products")))
        again(argv, 2);
    return 0;
}
