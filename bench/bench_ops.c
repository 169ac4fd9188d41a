/* bench_ops.c - tenon_bench_ops [--quick] [--threads N] [--only WORD] [--json FILE]
 *
 * Elementwise operations compared with a plain vectorised loop that has the same traffic, and
 * with memcpy and a streaming copy of as many bytes, interleaved in one run.  Casts, which read
 * and write different amounts, are compared with a loop that reads and streams the same bytes.
 * R is the better copy.  A case during which R differs by more than 15 % between the two halves
 * of its rounds is unstable and has no verdict.  GB/s are bytes read and written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "measure.h"
#include "sleef_beside.h"
#include "table.h"

typedef struct options {
    bool quick;
    int threads;
    const char *only, *json;
    tn_handle *handle;
} options;

typedef struct race {
    char name[64];
    tn_op op;
    bool cast;
    int nsrc;
    tn_tensor dst, src[2];
    double bytes;             /* read and written */
    void (*loop)(void *race); /* the peer, or NULL */
    const char *loop_name;
    sleef_loop sleef;
    double of_loop, of_r; /* goals */
    int threads;
} race;

static arena one, two;      /* sources in one.src and two.src, results in one.dst */
enum { LARGE = 128 << 20 }; /* bytes of an operand; copying three operands' bytes fits too */

static void run_op(race *r)
{
    const tn_tensor *list[] = {&r->src[0], &r->src[1]};
    if (r->cast)
        MUST(tn_cast(&r->dst, &r->src[0]));
    else
        MUST(tn_apply(r->op, NULL, &r->dst, r->nsrc, list));
}

/* ---- plain loops ---- */

static void loop_add(void *arg)
{
    const race *r = arg;
    const float *a = r->src[0].data, *b = r->src[1].data;
    float *d = r->dst.data;
    const int64_t n = tn_numel(&r->dst);
    const int threads = r->threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)
#endif
    for (int64_t i = 0; i < n; i++)
        d[i] = a[i] + b[i];
    (void)threads;
}

static void loop_row(void *arg)
{
    const race *r = arg;
    const float *a = r->src[0].data, *b = r->src[1].data;
    float *d = r->dst.data;
    const int64_t rows = r->dst.shape[0], n = r->dst.shape[1];
    const int64_t by_row = r->src[1].ndim == 1 ? 0 : 1, by = r->src[1].ndim == 1 ? 1 : 0;
    const int threads = r->threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)
#endif
    for (int64_t j = 0; j < rows; j++)
        for (int64_t i = 0; i < n; i++)
            d[j * n + i] = a[j * n + i] + b[j * by_row + i * by];
    (void)threads;
}

#define LIBM(NAME, VALUE)                                                                      \
    static void NAME(void *arg)                                                                \
    {                                                                                          \
        const race *r = arg;                                                                   \
        const float *a = r->src[0].data;                                                       \
        float *d = r->dst.data;                                                                \
        for (int64_t i = 0, n = tn_numel(&r->dst); i < n; i++) {                               \
            const float x = a[i];                                                              \
            d[i] = (VALUE);                                                                    \
        }                                                                                      \
    }
LIBM(loop_exp, expf(x))
LIBM(loop_tanh, tanhf(x))
LIBM(loop_gelu, x *erfcf(-x * 0.70710678f) / 2)
LIBM(loop_silu, x / (1 + expf(-x)))
LIBM(loop_log, logf(x))

/* The loop of the vector math library. */
static void loop_sleef(void *arg)
{
    const race *r = arg;
    r->sleef(r->dst.data, r->src[0].data, tn_numel(&r->dst));
}

/* The same op on f32, with as many bytes. */
static void loop_f32(void *arg)
{
    const race *r = arg;
    tn_tensor t[3] = {r->dst, r->src[0], r->src[1]};
    const int64_t n = tn_nbytes(&r->dst) / 4;
    for (int k = 0; k < 3; k++)
        MUST(tn_init(&t[k], t[k].data, TN_F32, 1, &n));
    MUST(tn_apply(r->op, NULL, &t[0], 2, (const tn_tensor *const[]){&t[1], &t[2]}));
}

/* The traffic of a cast. */
static void loop_traffic(void *arg)
{
    const race *r = arg;
    stream_traffic(r->dst.data, tn_nbytes(&r->dst), r->src[0].data, tn_nbytes(&r->src[0]),
                   r->threads);
}

/* ---- one comparison ---- */

enum { WORK, LOOP, PLAIN, STREAM, KINDS, MOST = 64 };

static double best(const double *times, int from, int to)
{
    double t = times[from];
    for (int i = from + 1; i < to; i++)
        t = times[i] < t ? times[i] : t;
    return t;
}

/* The time of the better copy in rounds [from, to). */
static double limit(double times[KINDS][MOST], int from, int to)
{
    const double plain = best(times[PLAIN], from, to), past = best(times[STREAM], from, to);
    return plain < past ? plain : past;
}

static void once(race *r, int kind, int64_t half)
{
    if (kind == WORK)
        run_op(r);
    else if (kind == LOOP)
        r->loop(r);
    else
        (kind == PLAIN ? plain_copy : stream_copy)(two.dst, one.src, half, r->threads);
}

/* Add a line: the work compared with one peer; both times are the best. */
static void against(const race *r, double work, double peer, double goal, const char *name,
                    bool moved)
{
    line l = {.gbs = r->bytes / work / 1e9,
              .goal = goal,
              .reached = peer / work,
              .peer = name,
              .peer_gbs = r->bytes / peer / 1e9,
              .moved = moved};
    snprintf(l.name, sizeof l.name, "%s", r->name);
    table_add(&l);
}

static double verdict(race *r, const options *o)
{
    double times[KINDS][MOST];
    const int64_t half = (int64_t)(r->bytes / 2) & ~(int64_t)63;
    const int in_a_row = r->bytes < 8e6 ? (int)(8e6 / r->bytes) + 1 : 1;
    const int rounds = o->quick ? 8 : 22;
    for (int round = 0; round < rounds; round++)
        for (int kind = 0; kind < KINDS; kind++) {
            if (kind == LOOP && !r->loop)
                continue;
            if (in_a_row > 1)
                once(r, kind, half); /* warm the caches with the same kind */
            const double start = seconds();
            for (int i = 0; i < in_a_row; i++)
                once(r, kind, half);
            times[kind][round] = (seconds() - start) / in_a_row;
        }
    const double early = limit(times, 0, rounds / 2), late = limit(times, rounds / 2, rounds);
    const bool moved = early > 1.15 * late || late > 1.15 * early;
    const double work = best(times[WORK], 0, rounds), r_time = early < late ? early : late;
    against(r, work, r_time, r->of_r, "R", moved);
    if (r->loop)
        against(r, work, best(times[LOOP], 0, rounds), r->of_loop, r->loop_name,
                r->cast && moved);
    return r->bytes / work / 1e9;
}

static race start(const char *name, tn_op op, int nsrc, tn_dtype to, tn_dtype from, int ndim,
                  const int64_t *shape)
{
    race r = {.op = op, .nsrc = nsrc, .loop_name = "loop"};
    snprintf(r.name, sizeof r.name, "%s", name);
    MUST(tn_init(&r.dst, one.dst, to, ndim, shape));
    MUST(tn_init(&r.src[0], one.src, from, ndim, shape));
    MUST(tn_init(&r.src[1], two.src, from, ndim, shape));
    r.bytes = (double)tn_nbytes(&r.dst) + nsrc * (double)tn_nbytes(&r.src[0]);
    return r;
}

static bool wanted(const options *o, const char *name)
{
    return !o->only || strstr(name, o->only);
}

static double go(race r, const options *o)
{
    r.threads = o->threads;
    return wanted(o, r.name) ? verdict(&r, o) : 0;
}

/* ---- the table ---- */

static void layouts(const options *o)
{
    static const int64_t sizes[] = {4096, 4000, 512};
    for (int i = 0; i < 3; i++) {
        const int64_t n = sizes[i], shape[2] = {n, n}, column[2] = {n, 1};
        char name[64];
        snprintf(name, sizeof name, "add f32 %lld x %lld", (long long)n, (long long)n);
        race r = start(name, TN_ADD, 2, TN_F32, TN_F32, 2, shape);
        r.loop = loop_add;
        r.of_loop = 1;
        go(r, o);
        snprintf(r.name, sizeof r.name, "add f32 %lld, a + b.T", (long long)n);
        r.of_loop = n > 1000 ? 0.85 : 0.65; /* larger than the cache, or in it */
        MUST(tn_transpose(&r.src[1], &r.src[1], 0, 1));
        go(r, o);
        snprintf(r.name, sizeof r.name, "add f32 %lld, a row", (long long)n);
        r.loop = loop_row;
        r.of_loop = 1;
        MUST(tn_init(&r.src[1], two.src, TN_F32, 1, shape));
        r.bytes = 2.0 * (double)tn_nbytes(&r.dst);
        go(r, o);
        snprintf(r.name, sizeof r.name, "add f32 %lld, a column", (long long)n);
        MUST(tn_init(&r.src[1], two.src, TN_F32, 2, column));
        go(r, o);
    }
    const int64_t large = LARGE / 4;
    race r = start("add f32 128 MB", TN_ADD, 2, TN_F32, TN_F32, 1, &large);
    r.loop = loop_add;
    r.of_loop = 1.2;
    go(r, o);
    static const tn_dtype narrow[] = {TN_F16, TN_BF16, TN_I8, TN_U8};
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "add %s", tn_dtype_name(narrow[i]));
        r = start(name, TN_ADD, 2, narrow[i], narrow[i], 1, &large);
        r.loop = loop_f32;
        r.loop_name = "f32";
        r.of_loop = 0.9;
        go(r, o);
    }
}

static void functions(const options *o)
{
    static const struct {
        tn_op op;
        double goal;
        void (*loop)(void *);
    } rows[] = {{TN_EXP, 0.45, loop_exp},
                {TN_SILU, 0.45, loop_silu},
                {TN_TANH, 0.12, loop_tanh},
                {TN_GELU, 0.07, loop_gelu},
                {TN_LOG, 0, loop_log}};
    const int64_t large = LARGE / 4, small = 64 * 1024;
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s f32 128 MB", tn_op_name(rows[i].op));
        race r = start(name, rows[i].op, 1, TN_F32, TN_F32, 1, &large);
        r.of_r = rows[i].goal;
        go(r, o);
    }
    options alone = *o; /* in the cache: one thread against one thread */
    tn_handle *h;
    MUST(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = alone.threads = 1}));
    MUST(tn_handle_use(h));
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s f32 in L2, 1 thread", tn_op_name(rows[i].op));
        race r = start(name, rows[i].op, 1, TN_F32, TN_F32, 1, &small);
        r.loop = rows[i].loop;
        r.loop_name = "libm";
        r.of_loop = 4;
        go(r, &alone);
        r.sleef = sleef_of(tn_op_name(rows[i].op));
        r.loop = loop_sleef;
        r.loop_name = "SLEEF";
        r.of_loop = 0.9;
        if (r.sleef)
            go(r, &alone);
    }
    MUST(tn_handle_use(o->handle));
    tn_handle_destroy(h);
}

static void casts(const options *o)
{
    static const tn_dtype pairs[][2] = {{TN_U8, TN_F32}, {TN_F32, TN_F16}, {TN_F32, TN_BF16},
                                        {TN_F32, TN_U8}, {TN_F16, TN_F32}, {TN_BF16, TN_F32},
                                        {TN_F64, TN_F32}};
    const int64_t n = LARGE / 8;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char name[64];
        snprintf(name, sizeof name, "cast %s to %s", tn_dtype_name(pairs[i][0]),
                 tn_dtype_name(pairs[i][1]));
        race r = start(name, TN_ADD, 1, pairs[i][1], pairs[i][0], 1, &n);
        r.cast = true;
        r.loop = loop_traffic;
        r.loop_name = "traffic";
        r.of_loop = 0.85;
        go(r, o);
    }
}

static tn_tensor tiny[3];

static void run_tiny(void *arg)
{
    (void)arg;
    MUST(tn_add(&tiny[0], &tiny[1], &tiny[2]));
}

static void calls(const options *o)
{
    static float data[3][16];
    const int64_t shape[2] = {4, 4};
    if (!wanted(o, "call"))
        return;
    for (int k = 0; k < 3; k++)
        MUST(tn_init(&tiny[k], data[k], TN_F32, 2, shape));
    const double t = call_time(run_tiny, NULL);
    table_add(&(line){.name = "call: tn_add of 4 x 4 f32", .ns = t, .reached = t, .goal = 100});
}

int main(int argc, char **argv)
{
    options o = {.threads = 2};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            o.quick = true;
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            o.threads = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            o.only = argv[++i];
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            o.json = argv[++i];
        else
            return fputs(
                       "tenon_bench_ops [--quick] [--threads N] [--only WORD] [--json FILE]\n",
                       stderr),
                   2;
    }
    MUST(tn_handle_create(&o.handle, TN_CPU, 0, &(tn_config){.threads = o.threads}));
    MUST(tn_handle_use(o.handle));
    one = arena_make(LARGE / 2 * 3, true);
    two = arena_make(LARGE / 2 * 3, true);
    for (int64_t i = 0; i < one.bytes / 4; i++) { /* ordinary magnitudes */
        ((float *)(void *)one.src)[i] = (float)(i % 2003) * 0.005f - 5;
        ((float *)(void *)two.src)[i] = (float)(i % 1009) * 0.01f + 0.5f;
    }
    printf("tenon %s, %s, %d threads\n", tn_version(), tn_isa(), o.threads);
    table_begin("elementwise work");
    layouts(&o);
    functions(&o);
    casts(&o);
    calls(&o);
    tn_handle_destroy(o.handle);
    arena_free(&one);
    arena_free(&two);
    if (o.json && !table_json(o.json))
        give_up("cannot write", o.json);
    return 0;
}
