/* bench_dims.c - pads, joins, dimension copies and patterns beside memcpy and a streaming copy.
 *
 * Each case is timed in turns with both copies of the same number of bytes, threads and pages;
 * R is the better copy, and the ratio is taken from the best turn of each.  GB/s count what is
 * read and written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <tenon/tenon.h>

#define OK(call)                                                                               \
    do {                                                                                       \
        if ((call) != TN_OK) {                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, tn_error());                    \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

enum { JOINED = 8 };

/* How long each case is looked at; --quick is less. */
static int least_turns = 9;
static double least_time = 0.5;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *pages(size_t bytes)
{
    size_t round = (bytes + 0x3fffff) & ~(size_t)0x1fffff;
    char *p = aligned_alloc(0x200000, round);
    if (!p)
        exit(1);
    madvise(p, round, MADV_HUGEPAGE);
    memset(p, 1, round);
    return p;
}

/* ---- the two copies ---- */

static void stream(char *d, const char *s, size_t n)
{
#ifdef __SSE2__
    for (size_t i = 0; i + 64 <= n; i += 64)
        for (size_t k = 0; k < 64; k += 16)
            _mm_stream_si128((__m128i *)(void *)(d + i + k),
                             _mm_loadu_si128((const __m128i *)(const void *)(s + i + k)));
    memcpy(d + (n & ~(size_t)63), s + (n & ~(size_t)63), n & 63);
    _mm_sfence();
#else
    memcpy(d, s, n);
#endif
}

static void copy(char *d, const char *s, size_t n, int streaming)
{
    size_t part = 0, parts = 1;
#ifdef _OPENMP
#pragma omp parallel private(part, parts)
    {
        part = (size_t)omp_get_thread_num();
        parts = (size_t)omp_get_num_threads();
#else
    {
#endif
        size_t each = (n / parts + 63) & ~(size_t)63, from = part * each;
        size_t to = from + each < n ? from + each : n;
        if (from < to && streaming)
            stream(d + from, s + from, to - from);
        else if (from < to)
            memcpy(d + from, s + from, to - from);
    }
}

/* ---- one case ---- */

typedef struct work {
    char name[64];
    double goal;        /* of R; 0: none */
    tn_tensor dst, src; /* src is the first of JOINED for joins */
    int64_t bytes;      /* read and written */
    void (*run)(const struct work *);
    int64_t width[4];
    int dim;
    tn_pad_mode mode;
    const char *pattern, *sizes;
    const tn_tensor *list[JOINED];
} work;

static void run_pad(const work *w)
{
    OK(tn_pad_into(&w->dst, &w->src, w->width, w->width, w->mode, NULL));
}

static void run_squeeze(const work *w)
{
    OK(tn_squeeze_into(&w->dst, &w->src));
}

static void run_concat(const work *w)
{
    OK(tn_concat(&w->dst, w->dim, JOINED, w->list));
}

static void run_pattern(const work *w)
{
    OK(tn_pattern_into(&w->dst, &w->src, w->pattern, w->sizes));
}

static double timed(const work *w, int what, int times, char *d, const char *s)
{
    size_t n = (size_t)w->bytes / 2;
    double t = now();
    for (int i = 0; i < times; i++)
        if (what == 2)
            w->run(w);
        else
            copy(d, s, n, what);
    return (now() - t) / times;
}

static void measure(const work *w)
{
    char *s = w->src.data, *d = w->dst.data;
    double best[3] = {1e9, 1e9, 1e9}, worst[3] = {0};
    char *other = NULL;
    if (w->run == run_concat)
        s = other = pages((size_t)w->bytes / 2);
    int times = 1 + (int)(2e7 / (double)w->bytes), turns = 0;
    double begin = now();
    do
        for (int what = 0; what < 3; what++) {
            double t = timed(w, what, times, d, s);
            if (turns == 0)
                continue;
            best[what] = t < best[what] ? t : best[what];
            worst[what] = t > worst[what] ? t : worst[what];
        }
    while (++turns <= least_turns || now() - begin < least_time);
    double r = best[0] < best[1] ? best[0] : best[1], ratio = r / best[2];
    int moved = (best[0] < best[1] ? worst[0] : worst[1]) > 1.15 * r;
    printf("%-44s %7.1f us %6.1f GB/s  memcpy %6.1f  stream %6.1f  of R %.2f %s%s\n", w->name,
           1e6 * best[2], (double)w->bytes / best[2] / 1e9, (double)w->bytes / best[0] / 1e9,
           (double)w->bytes / best[1] / 1e9, ratio,
           w->goal == 0       ? ""
           : ratio >= w->goal ? "good"
                              : "LESS",
           w->goal > 0 && moved ? " (R moved)" : "");
    fflush(stdout);
    free(other);
}

/* ---- cases ---- */

static void tensor(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    OK(tn_init(t, NULL, dtype, ndim, shape));
    t->data = pages((size_t)tn_nbytes(t));
}

static void pads(const char *only)
{
    static const struct {
        const char *name;
        tn_dtype dtype;
        int ndim;
        int64_t shape[4], width[4];
    } cases[] = {
        {"(64,64,56,56) f32 by 1", TN_F32, 4, {64, 64, 56, 56}, {0, 0, 1, 1}},
        {"(64,64,56,56) i8 by 1", TN_I8, 4, {64, 64, 56, 56}, {0, 0, 1, 1}},
        {"(8,3,224,224) f32 by 1", TN_F32, 4, {8, 3, 224, 224}, {0, 0, 1, 1}},
        {"(8,3,224,224) i8 by 1", TN_I8, 4, {8, 3, 224, 224}, {0, 0, 1, 1}},
        {"(8192,8192) f32 by 8", TN_F32, 2, {8192, 8192}, {8, 8}},
        {"(8192,8192) i8 by 8", TN_I8, 2, {8192, 8192}, {8, 8}},
        {"(8,224,224,3) u8 by 3", TN_U8, 4, {8, 224, 224, 3}, {0, 3, 3, 0}},
        {"(32,56,56,64) f16 by 1", TN_F16, 4, {32, 56, 56, 64}, {0, 1, 1, 0}},
    };
    static const char *const modes[] = {"constant", "edge", "reflect", "symmetric", "wrap"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        work w = {.run = run_pad};
        int64_t whole[4];
        for (int i = 0; i < cases[c].ndim; i++) {
            w.width[i] = cases[c].width[i];
            whole[i] = cases[c].shape[i] + 2 * w.width[i];
        }
        if (only && !strstr(cases[c].name, only))
            continue;
        tensor(&w.src, cases[c].dtype, cases[c].ndim, cases[c].shape);
        tensor(&w.dst, cases[c].dtype, cases[c].ndim, whole);
        w.bytes = tn_nbytes(&w.src) + tn_nbytes(&w.dst);
        for (int mode = 0; mode < 5; mode++) {
            w.mode = (tn_pad_mode)mode;
            w.goal = mode == TN_PAD_CONSTANT ? 0.8 : 0.7;
            snprintf(w.name, sizeof w.name, "pad %s, %s", cases[c].name, modes[mode]);
            measure(&w);
        }
        free(w.src.data);
        free(w.dst.data);
    }
}

static void squeezes(void)
{
    work w = {.name = "squeeze 1 M f32", .goal = 0.8, .run = run_squeeze};
    tensor(&w.src, TN_F32, 2, (int64_t[]){1, 1 << 20});
    tensor(&w.dst, TN_F32, 1, (int64_t[]){1 << 20});
    w.bytes = 2 * tn_nbytes(&w.src);
    measure(&w);
    double t = now();
    for (int i = 0; i < 1000000; i++) {
        tn_tensor view = w.src;
        OK(tn_squeeze_inplace(&view, 0));
    }
    printf("%-44s %7.1f ns\n", "the same as a view", (now() - t) * 1e3);
    free(w.src.data);
    free(w.dst.data);
}

static void joins(void)
{
    const int64_t shape[3] = {64, 128, 1024}; /* 32 MB of f32 */
    for (int dim = 0; dim < 3; dim++) {
        work w = {.goal = 0.8, .run = run_concat, .dim = dim};
        tn_tensor srcs[JOINED];
        int64_t whole[3] = {shape[0], shape[1], shape[2]};
        whole[dim] *= JOINED;
        for (int k = 0; k < JOINED; k++) {
            tensor(&srcs[k], TN_F32, 3, shape);
            w.list[k] = &srcs[k];
        }
        w.src = srcs[0];
        tensor(&w.dst, TN_F32, 3, whole);
        w.bytes = 2 * tn_nbytes(&w.dst);
        snprintf(w.name, sizeof w.name, "concat 8 x 32 MB along axis %d", dim);
        measure(&w);
        for (int k = 0; k < JOINED; k++)
            free(srcs[k].data);
        free(w.dst.data);
    }
}

static void patterns(void)
{
    static const struct {
        const char *pattern, *sizes;
        int64_t shape[4];
    } cases[] = {
        {"b h w c -> b c h w", "", {16, 224, 224, 3}},
        {"b (h p) (w q) c -> b h w (p q c)", "p=16 q=16", {16, 224, 224, 3}},
        {"b c h w -> b c (h p) (w q)", "p=2 q=2", {8, 64, 56, 56}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        work w = {.run = run_pattern, .pattern = cases[c].pattern, .sizes = cases[c].sizes};
        int ndim;
        int64_t shape[TN_MAX_NDIM];
        tensor(&w.src, TN_F32, 4, cases[c].shape);
        OK(tn_pattern_shape(w.pattern, w.sizes, &w.src, &ndim, shape));
        tensor(&w.dst, TN_F32, ndim, shape);
        w.bytes = tn_nbytes(&w.src) + tn_nbytes(&w.dst);
        snprintf(w.name, sizeof w.name, "%s", w.pattern);
        if (w.bytes <= 2 * tn_nbytes(&w.src))
            measure(&w);
        free(w.src.data);
        free(w.dst.data);
    }
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    if (only && !strcmp(only, "--quick")) {
        only = NULL;
        least_turns = 2;
        least_time = 0.05;
    }
    printf("kernels %s\n", tn_isa());
    pads(only);
    if (only)
        return 0;
    squeezes();
    joins();
    patterns();
    return 0;
}
