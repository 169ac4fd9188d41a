/* bench_expr.c - tenon_bench_expr [--quick] [--threads N] [--only WORD] [--json FILE] [--list]
 *
 * Fused expressions compared with a pass that reads the same sources and streams to the same
 * dst with the same threads, interleaved in one run; small work with a hand-written loop,
 * functions with the same ops on data in the cache.  The best times count.  bench/peers_expr.py
 * runs the same cases in numexpr, NumPy and PyTorch. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "measure.h"
#include "table.h"

enum { MOST = 5 };

typedef struct operand {
    const char *name;
    tn_dtype dtype;
    int ndim;
    int64_t shape[4];
    int order[4]; /* axis i of the operand is axis order[i] of memory */
} operand;

typedef struct work {
    const char *name, *text;
    operand dst;
    int n;
    operand src[MOST];
    double goal;
    int kind; /* compared with 0: a pass, 1: the hand-written loop, 2: the ops in the cache */
    int64_t pad; /* border of dst's last two axes; only the interior is written */
} work;

#define MAT(NAME, TYPE, N, M)                                                                  \
    {                                                                                          \
        NAME, TYPE, 2, {N, M},                                                                 \
        {                                                                                      \
            0, 1                                                                               \
        }                                                                                      \
    }
#define ROW(NAME, TYPE, N)                                                                     \
    {                                                                                          \
        NAME, TYPE, 1, {N},                                                                    \
        {                                                                                      \
            0                                                                                  \
        }                                                                                      \
    }
#define IMAGES(NAME)                                                                           \
    {                                                                                          \
        NAME, TN_U8, 4, {32, 3, 512, 512},                                                     \
        {                                                                                      \
            0, 3, 1, 2                                                                         \
        }                                                                                      \
    }
#define CHANNEL(NAME)                                                                          \
    {                                                                                          \
        NAME, TN_F32, 3, {3, 1, 1},                                                            \
        {                                                                                      \
            0, 1, 2                                                                            \
        }                                                                                      \
    }
#define SCHOLES                                                                                \
    "s * (0.5 + 0.5*erf((log(s/k) + (r + v*v/2)*t) / (v*sqrt(t)) * 0.7071067811865476)) - "    \
    "k * exp(-r*t) * (0.5 + 0.5*erf(((log(s/k) + (r + v*v/2)*t) / (v*sqrt(t)) - v*sqrt(t)) "   \
    "* 0.7071067811865476))"

/* clang-format off */
static const work works[] = {
    {"a (x/255 - m)*s, NHWC to NCHW", "(x / 255 - m) * s",
     {"", TN_F32, 4, {32, 3, 512, 512}, {0, 1, 2, 3}}, 3, {IMAGES("x"), CHANNEL("m"), CHANNEL("s")}, 0.55, 0, 0},
    {"a the same to f16", "f16((x / 255 - m) * s)",
     {"", TN_F16, 4, {32, 3, 512, 512}, {0, 1, 2, 3}}, 3, {IMAGES("x"), CHANNEL("m"), CHANNEL("s")}, 0, 0, 0},
    {"a the same, padded to 544", "(x / 255 - m) * s",
     {"", TN_F32, 4, {32, 3, 512, 512}, {0, 1, 2, 3}}, 3, {IMAGES("x"), CHANNEL("m"), CHANNEL("s")}, 0, 0, 16},
    {"b a*b + c*d", "a*b + c*d", MAT("", TN_F32, 1, 32 << 20), 4,
     {MAT("a", TN_F32, 1, 32 << 20), MAT("b", TN_F32, 1, 32 << 20),
      MAT("c", TN_F32, 1, 32 << 20), MAT("d", TN_F32, 1, 32 << 20)}, 0.80, 0, 0},
    {"c sqrt(x*x + y*y)", "sqrt(x*x + y*y)", ROW("", TN_F32, 32 << 20), 2,
     {ROW("x", TN_F32, 32 << 20), ROW("y", TN_F32, 32 << 20)}, 0.65, 0, 0},
    {"d Black-Scholes, 8M", SCHOLES, ROW("", TN_F32, 8 << 20), 5,
     {ROW("s", TN_F32, 8 << 20), ROW("k", TN_F32, 8 << 20), ROW("t", TN_F32, 8 << 20),
      ROW("r", TN_F32, 1), ROW("v", TN_F32, 1)}, 0.85, 2, 0},
    {"e where(isnan(x), 0, x), f16", "where(isnan(x), 0, x)", ROW("", TN_F16, 64 << 20), 1,
     {ROW("x", TN_F16, 64 << 20)}, 0.55, 0, 0},
    {"f sum((x - y)**2)", "sum((x - y)**2)", {"", TN_F32, 0, {0}, {0}}, 2,
     {ROW("x", TN_F32, 32 << 20), ROW("y", TN_F32, 32 << 20)}, 0.75, 0, 0},
    {"f sum((x - y)**2, axis=0)", "sum((x - y)**2, axis=0)", ROW("", TN_F32, 1024), 2,
     {MAT("x", TN_F32, 32768, 1024), MAT("y", TN_F32, 32768, 1024)}, 0, 0, 0},
    {"f cosine of rows of 4096", "sum(x*y, axis=1) / sqrt(sum(x*x, axis=1) * sum(y*y, axis=1))",
     ROW("", TN_F32, 8192), 2, {MAT("x", TN_F32, 8192, 4096), MAT("y", TN_F32, 8192, 4096)}, 0, 0, 0},
    {"(x + t)*0.5, t transposed", "(x + t) * 0.5", MAT("", TN_F32, 4096, 8192), 2,
     {MAT("x", TN_F32, 4096, 8192), {"t", TN_F32, 2, {4096, 8192}, {1, 0}}}, 0.50, 0, 0},
    {"g a*b + c*d, 64k, 1 thread", "a*b + c*d", ROW("", TN_F32, 1 << 16), 4,
     {ROW("a", TN_F32, 1 << 16), ROW("b", TN_F32, 1 << 16), ROW("c", TN_F32, 1 << 16),
      ROW("d", TN_F32, 1 << 16)}, 0.70, 1, 0},
};
/* clang-format on */

typedef struct runner {
    const work *w;
    tn_tensor dst, src[MOST];
    const void *data[MOST];
    tn_expr *e;
    tn_plan *plan;
    char *in, *out;
    int64_t read, written;
} runner;

/* Place an operand in memory at p; returns its bytes. */
static int64_t place(tn_tensor *t, const operand *o, char *p, int64_t pad)
{
    int64_t memory[4], at[4] = {0};
    int order[4];
    for (int i = 0; i < o->ndim; i++) {
        memory[o->order[i]] = o->shape[i] + (i >= o->ndim - 2 ? 2 * pad : 0);
        order[i] = o->order[i];
        at[i] = i >= o->ndim - 2 ? pad : 0;
    }
    MUST(tn_init(t, p, o->dtype, o->ndim, memory));
    const int64_t bytes = tn_nbytes(t);
    if (o->ndim)
        MUST(tn_permute(t, t, order));
    MUST(tn_view(t, t, o->shape, at, NULL, 0));
    return bytes;
}

static void make(runner *r, const work *w, char *in, char *out)
{
    const tn_tensor *srcs[MOST];
    char *p = in;
    *r = (runner){.w = w, .in = in, .out = out};
    MUST(tn_expr_parse(&r->e, w->text));
    for (int k = 0; k < w->n; k++) {
        const int64_t bytes = place(&r->src[k], &w->src[k], p, 0);
        p += (bytes + 4095) & ~INT64_C(4095);
        r->read += bytes < 4096 ? 0 : bytes;
    }
    (void)place(&r->dst, &w->dst, out, w->pad);
    r->written = tn_nbytes(&r->dst);
    for (int i = 0; i < tn_expr_count(r->e); i++)
        for (int k = 0; k < w->n; k++)
            if (!strcmp(tn_expr_name(r->e, i), w->src[k].name)) {
                srcs[i] = &r->src[k];
                r->data[i] = r->src[k].data;
            }
    MUST(tn_plan_expr(&r->plan, r->e, &r->dst, w->n, srcs));
}

static void run(void *arg)
{
    const runner *r = arg;
    MUST(tn_plan_run(r->plan, r->dst.data, r->data));
}

/* ---- peers ---- */

static void by_hand(const runner *r)
{
    float *restrict d = r->dst.data;
    const float *a = r->src[0].data, *b = r->src[1].data, *c = r->src[2].data,
                *e = r->src[3].data;
    for (int64_t i = 0; i < r->w->dst.shape[0]; i++)
        d[i] = a[i] * b[i] + c[i] * e[i];
    __asm__ volatile("" ::"r"(d) : "memory");
}

/* The ops of Black-Scholes one after another on pieces of 2048 elements, for all elements. */
static void in_cache(const runner *r)
{
    static const tn_op unary[] = {TN_LOG, TN_SQRT, TN_ERF, TN_EXP, TN_ERF, TN_NEG},
                       binary[] = {TN_DIV, TN_MUL, TN_DIV, TN_ADD, TN_MUL, TN_ADD, TN_MUL,
                                   TN_DIV, TN_SUB, TN_MUL, TN_MUL, TN_MUL, TN_ADD, TN_MUL,
                                   TN_MUL, TN_ADD, TN_MUL, TN_MUL, TN_MUL, TN_SUB};
    enum { PIECE = 2048 };
    const int64_t pieces = r->w->dst.shape[0] / PIECE;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(2)
#endif
    for (int64_t i = 0; i < pieces; i++) {
        static _Thread_local float x[PIECE], y[PIECE], d[PIECE];
        tn_tensor t[3];
        const int64_t n = PIECE;
        if (x[0] == 0)
            for (int k = 0; k < PIECE; k++)
                x[k] = y[k] = 0.5f + (float)k / PIECE;
        MUST(tn_init(&t[0], d, TN_F32, 1, &n));
        MUST(tn_init(&t[1], x, TN_F32, 1, &n));
        MUST(tn_init(&t[2], y, TN_F32, 1, &n));
        const tn_tensor *srcs[] = {&t[1], &t[2]};
        for (size_t k = 0; k < sizeof unary / sizeof *unary; k++)
            MUST(tn_apply(unary[k], NULL, &t[0], 1, srcs));
        for (size_t k = 0; k < sizeof binary / sizeof *binary; k++)
            MUST(tn_apply(binary[k], NULL, &t[0], 2, srcs));
    }
}

static void pass(const runner *r, int threads)
{
    if (r->w->kind == 1)
        by_hand(r);
    else if (r->w->kind == 2)
        in_cache(r);
    else
        stream_traffic(r->out, r->written < 4096 ? 4096 : r->written, r->in,
                       r->written < 4096 ? r->read / 4096 * 4096 : r->read, threads);
}

/* ---- comparisons ---- */

static void race(const work *w, char *in, char *out, int threads, double duration)
{
    runner r;
    double best = 1e9, limit = 1e9;
    tn_handle *h;
    make(&r, w, in, out);
    MUST(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = w->kind == 1 ? 1 : threads}));
    MUST(tn_handle_use(h));
    for (double end = seconds() + duration; seconds() < end;) {
        const double t0 = seconds();
        pass(&r, threads);
        const double t1 = seconds();
        run(&r);
        const double t2 = seconds();
        limit = t1 - t0 < limit ? t1 - t0 : limit;
        best = t2 - t1 < best ? t2 - t1 : best;
    }
    const double bytes = (double)(r.read + r.written) / 1e9;
    line l = {.gbs = bytes / best,
              .goal = w->goal,
              .reached = limit / best,
              .peer = w->kind == 1   ? "loop"
                      : w->kind == 2 ? "ops in cache"
                                     : "pass",
              .peer_gbs = bytes / limit};
    snprintf(l.name, sizeof l.name, "%s", w->name);
    table_add(&l);
    tn_plan_free(r.plan);
    tn_expr_free(r.e);
    tn_handle_destroy(h);
}

/* ---- small calls ---- */

static float small[4][16], small_out[16];
static tn_tensor small_src[4], small_dst;

static void small_eval(void *arg)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const tn_tensor *srcs[] = {&small_src[0], &small_src[1], &small_src[2], &small_src[3]};
    (void)arg;
    MUST(tn_eval(&small_dst, "a*b + c*d", 4, names, srcs));
}

static void small_plan(void *arg)
{
    const void *const data[] = {small[0], small[1], small[2], small[3]};
    MUST(tn_plan_run(arg, small_out, data));
}

static void small_calls(void)
{
    const int64_t shape[] = {4, 4};
    const tn_tensor *srcs[4];
    tn_expr *e;
    tn_plan *plan;
    for (int k = 0; k < 4; k++) {
        MUST(tn_init(&small_src[k], small[k], TN_F32, 2, shape));
        srcs[k] = &small_src[k];
    }
    MUST(tn_init(&small_dst, small_out, TN_F32, 2, shape));
    MUST(tn_expr_parse(&e, "a*b + c*d"));
    MUST(tn_plan_expr(&plan, e, &small_dst, 4, srcs));
    line l = {.name = "h a*b + c*d, 4 x 4, tn_plan_run", .goal = 40};
    l.reached = l.ns = call_time(small_plan, plan);
    table_add(&l);
    l = (line){.name = "h the same, tn_eval", .goal = 1500};
    l.reached = l.ns = call_time(small_eval, NULL);
    table_add(&l);
    tn_plan_free(plan);
    tn_expr_free(e);
}

int main(int argc, char **argv)
{
    const char *only = NULL, *json = NULL;
    bool quick = false, list = false;
    int threads = 2;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick"))
            quick = true;
        else if (!strcmp(argv[i], "--list"))
            list = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            json = argv[++i];
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            threads = atoi(argv[++i]);
        else
            give_up("tenon_bench_expr",
                    "[--quick] [--threads N] [--only WORD] [--json FILE] [--list]");
    const int64_t each = INT64_C(128) << 20;
    arena a = arena_make(4 * each + (1 << 20), true);
    for (int64_t i = 0; i < a.bytes; i += 4) {
        const float x = (float)(i * 2654435761u % 1000) / 500 + 0.1f;
        memcpy(a.src + i, &x, sizeof x);
    }
    if (!list)
        table_begin("fused expressions");
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        if (only && !strstr(works[i].name, only))
            continue;
        if (list)
            puts(works[i].name);
        else
            race(&works[i], a.src, a.dst, threads, quick ? 0.4 : 2);
    }
    if (!list && (!only || strstr("h 4 x 4", only)))
        small_calls();
    arena_free(&a);
    if (json && !table_json(json))
        give_up(json, "the system refused a write");
    return 0;
}
