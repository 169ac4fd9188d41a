/* demo.c - a tour on data that it makes itself: every result is checked element by element, and
 * a bar shows its speed beside memcpy with as many threads in the same run. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "example.h"

enum { ROUNDS = 5, MOST_THREADS = 64, BAR = 40 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- memcpy with as many threads as cores ---- */

typedef struct piece {
    char *dst;
    const char *src;
    size_t size;
} piece;

static void *copy_piece(void *arg)
{
    const piece *p = arg;
    memcpy(p->dst, p->src, p->size);
    return NULL;
}

static void copy_all(char *dst, const char *src, size_t size)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (int)cores;
    pthread_t threads[MOST_THREADS];
    piece pieces[MOST_THREADS];
    bool started[MOST_THREADS] = {false};
    for (int i = 0; i < n; i++) {
        size_t from = size / (size_t)n * (size_t)i;
        size_t to = i + 1 == n ? size : size / (size_t)n * (size_t)(i + 1);
        pieces[i] = (piece){dst + from, src + from, to - from};
        started[i] = i + 1 < n && !pthread_create(&threads[i], NULL, copy_piece, &pieces[i]);
        if (!started[i])
            copy_piece(&pieces[i]);
    }
    for (int i = 0; i < n; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
}

/* ---- the slow way: every element in turn ---- */

static bool next_row(const tn_tensor *t, int64_t *index)
{
    int i = t->ndim - 2;
    while (i >= 0 && ++index[i] == t->shape[i])
        index[i--] = 0;
    return i >= 0;
}

static bool same_elements(const tn_tensor *a, const tn_tensor *b)
{
    const int last = a->ndim - 1;
    const size_t width = tn_dtype_size(a->dtype);
    int64_t index[TN_MAX_NDIM] = {0};
    do {
        const char *x = tn_at(a, index), *y = tn_at(b, index);
        for (int64_t i = 0; i < a->shape[last]; i++)
            if (memcmp(x + i * a->stride[last], y + i * b->stride[last], width) != 0)
                return false;
    } while (next_row(a, index));
    return true;
}

static void make_data(const tn_tensor *t)
{
    uint64_t x = 12345;
    for (int64_t i = 0; i + 8 <= tn_nbytes(t); i += 8) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        memcpy((char *)t->data + i, &x, 8);
    }
}

/* ---- copies ---- */

typedef struct turn {
    const char *what;
    tn_dtype dtype;
    int ndim;
    int64_t shape[6]; /* of the source */
    int axes[6];
} turn;

static const turn turns[] = {
    {"f32 matrix 4096x4096 transposed", TN_F32, 2, {4096, 4096}, {1, 0}},
    {"f64 matrix 2500x3000 transposed", TN_F64, 2, {2500, 3000}, {1, 0}},
    {"u8 images NHWC -> NCHW", TN_U8, 4, {64, 224, 224, 3}, {0, 3, 1, 2}},
    {"u8 images NCHW -> NHWC", TN_U8, 4, {64, 3, 224, 224}, {0, 2, 3, 1}},
    {"f16 attention bshd -> bhsd", TN_F16, 4, {8, 512, 32, 128}, {0, 2, 1, 3}},
    {"f16 attention bshd -> bhds", TN_F16, 4, {8, 512, 32, 128}, {0, 2, 3, 1}},
    {"f32 rank 6 reversed", TN_F32, 6, {16, 12, 14, 18, 10, 22}, {5, 4, 3, 2, 1, 0}},
    {"c128 cube 128x128x128 turned", TN_C128, 3, {128, 128, 128}, {2, 1, 0}},
};

static void bar(const char *what, double gbs, double reference)
{
    char bars[BAR + 1];
    int n = (int)(BAR * gbs / reference + 0.5);
    n = n > BAR ? BAR : n;
    memset(bars, '#', (size_t)n);
    memset(bars + n, '.', (size_t)(BAR - n));
    bars[BAR] = 0;
    printf("%-34s %6.2f GB/s  %s %3.0f %% of memcpy\n", what, gbs, bars, 100 * gbs / reference);
}

static int show_turn(const turn *c)
{
    tn_tensor src, view, dst;
    OK(tn_alloc(&src, c->dtype, c->ndim, c->shape));
    make_data(&src);
    OK(tn_permute(&view, &src, c->axes));
    OK(tn_alloc(&dst, c->dtype, c->ndim, view.shape));

    size_t size = (size_t)tn_nbytes(&src);
    double plain = 1e9, turned = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double start = seconds();
        copy_all(dst.data, src.data, size);
        double middle = seconds();
        OK(tn_rearrange(&dst, &view));
        double end = seconds();
        plain = middle - start < plain ? middle - start : plain;
        turned = end - middle < turned ? end - middle : turned;
    }
    CHECK(same_elements(&dst, &view));
    bar(c->what, 2e-9 * (double)size / turned, 2e-9 * (double)size / plain);
    tn_free(&src);
    tn_free(&dst);
    return 0;
}

/* ---- views ---- */

static int show_views(void)
{
    enum { TIMES = 1000000 };
    static float x[1000][1000];
    tn_tensor t, v = {0};
    OK(tn_init(&t, x, TN_F32, 2, (int64_t[]){1000, 1000}));
    double start = seconds();
    for (int i = 0; i < TIMES; i++) {
        OK(tn_unsqueeze(&v, &t, i & 1));
        t.data = x[i % 1000];
    }
    double each = (seconds() - start) / TIMES;
    CHECK(v.ndim == 3 && v.shape[1] == 1);
    printf("unsqueeze, transpose, slice, flip, broadcast: new shapes on the same memory,\n"
           "%.0f nanoseconds each; no element is touched.\n\n",
           1e9 * each);
    return 0;
}

static int show_errors(void)
{
    float x[6] = {0};
    tn_tensor a, b;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_init(&b, x, TN_F32, 2, (int64_t[]){3, 2}));
    CHECK(tn_rearrange(&a, &b) == TN_ESHAPE);
    printf("\nA call that cannot work changes nothing and says why:\n  %s\n", tn_error());
    OK(tn_transpose(&b, &a, 0, 1));
    OK(tn_reshape(&a, &a, 2, (int64_t[]){3, 2}));
    CHECK(tn_rearrange(&a, &b) == TN_EOVERLAP);
    printf("  %s\n", tn_error());
    return 0;
}

int main(void)
{
    printf("tenon %s, kernels for %s\n\n", tn_version(), tn_isa());
    int failed = show_views();
    puts("Strided copies, read + written bytes, every element checked:");
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        failed |= show_turn(&turns[i]);
    failed |= show_errors();
    if (!failed)
        puts("\nEverything above was compared with the slow way, element by element.");
    return failed;
}
