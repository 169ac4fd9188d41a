/* demo.c - a tour on generated data: every result is checked element by element, and a bar
 * shows its speed beside memcpy on the same number of threads in the same run. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

enum { ROUNDS = 6, MOST_THREADS = 64, BAR = 40 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- memcpy on all cores ---- */

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

/* ---- the reference: one element at a time ---- */

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

/* ---- a job: measured beside memcpy of the same number of bytes, then checked ---- */

typedef struct job {
    tn_tensor dst, a, b;
} job;

static void bar(const char *what, double gbs, double reference)
{
    char bars[BAR + 1];
    int n = (int)(BAR * gbs / reference + 0.5);
    n = n > BAR ? BAR : n;
    memset(bars, '#', (size_t)n);
    memset(bars + n, '.', (size_t)(BAR - n));
    bars[BAR] = 0;
    printf("%-38s %6.2f GB/s  %s %3.0f %% of memcpy\n", what, gbs, bars, 100 * gbs / reference);
}

/* bytes is the number of bytes that the job reads and writes. */
static int measure(const char *what, const job *j, tn_status (*run)(const job *), int64_t bytes)
{
    const size_t half = (size_t)bytes / 2;
    char *from = malloc(half), *to = malloc(half);
    TN_EXPECT(from && to);
    memset(from, 1, half);
    double plain = 1e9, best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double start = seconds();
        copy_all(to, from, half);
        double middle = seconds();
        TN_MUST(run(j));
        double end = seconds();
        if (i == 0) /* pages are new */
            continue;
        plain = middle - start < plain ? middle - start : plain;
        best = end - middle < best ? end - middle : best;
    }
    free(from);
    free(to);
    bar(what, 1e-9 * (double)bytes / best, 1e-9 * (double)bytes / plain);
    return 0;
}

/* ---- copies ---- */

static const struct permutation {
    const char *what;
    tn_dtype dtype;
    int ndim;
    int64_t shape[6]; /* of the source */
    int axes[6];
} permutations[] = {
    {"f32 matrix 4096x4096 transposed", TN_F32, 2, {4096, 4096}, {1, 0}},
    {"f64 matrix 2500x3000 transposed", TN_F64, 2, {2500, 3000}, {1, 0}},
    {"u8 images NHWC -> NCHW", TN_U8, 4, {64, 224, 224, 3}, {0, 3, 1, 2}},
    {"u8 images NCHW -> NHWC", TN_U8, 4, {64, 3, 224, 224}, {0, 2, 3, 1}},
    {"f16 attention bshd -> bhsd", TN_F16, 4, {8, 512, 32, 128}, {0, 2, 1, 3}},
    {"f16 attention bshd -> bhds", TN_F16, 4, {8, 512, 32, 128}, {0, 2, 3, 1}},
    {"f32 rank 6 reversed", TN_F32, 6, {16, 12, 14, 18, 10, 22}, {5, 4, 3, 2, 1, 0}},
    {"c128 cube 128x128x128 reversed", TN_C128, 3, {128, 128, 128}, {2, 1, 0}},
};

static tn_status run_turn(const job *j)
{
    return tn_rearrange(&j->dst, &j->b);
}

static int show_permutation(const struct permutation *c)
{
    job j;
    TN_MUST(tn_alloc(&j.a, c->dtype, c->ndim, c->shape));
    make_data(&j.a);
    TN_MUST(tn_permute(&j.b, &j.a, c->axes));
    TN_MUST(tn_alloc(&j.dst, c->dtype, c->ndim, j.b.shape));
    int failed = measure(c->what, &j, run_turn, 2 * tn_nbytes(&j.a));
    TN_EXPECT(same_elements(&j.dst, &j.b));
    tn_free(&j.a);
    tn_free(&j.dst);
    return failed;
}

/* ---- elementwise ops, casts and pads ---- */

static tn_status run_add(const job *j)
{
    return tn_add(&j->dst, &j->a, &j->b);
}

static tn_status run_cast(const job *j)
{
    return tn_cast(&j->dst, &j->b);
}

static tn_status run_pad(const job *j)
{
    static const int64_t width[4] = {0, 0, 2, 2};
    return tn_pad_into(&j->dst, &j->a, width, width, TN_PAD_REFLECT, NULL);
}

static int show_add(void)
{
    enum { N = 2048 };
    job j;
    TN_MUST(tn_alloc(&j.a, TN_F32, 2, (int64_t[]){N, N}));
    TN_MUST(tn_alloc(&j.dst, TN_F32, 2, (int64_t[]){N, N}));
    TN_MUST(tn_randn(&j.a, 1));
    TN_MUST(tn_transpose(&j.b, &j.a, 0, 1));
    int failed = measure("f32 a + a.T 2048x2048", &j, run_add, 3 * tn_nbytes(&j.a));
    const float *a = j.a.data, *d = j.dst.data;
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < N; k++)
            TN_EXPECT(d[i * N + k] == a[i * N + k] + a[k * N + i]);
    tn_free(&j.a);
    tn_free(&j.dst);
    return failed;
}

static int show_cast(void)
{
    enum { B = 16, S = 224, C = 3 };
    job j;
    TN_MUST(tn_alloc(&j.a, TN_U8, 4, (int64_t[]){B, S, S, C}));
    make_data(&j.a);
    TN_MUST(tn_permute(&j.b, &j.a, (int[]){0, 3, 1, 2}));
    TN_MUST(tn_alloc(&j.dst, TN_F32, 4, j.b.shape));
    int failed = measure("u8 NHWC -> f32 NCHW in one pass", &j, run_cast,
                         tn_nbytes(&j.a) + tn_nbytes(&j.dst));
    const unsigned char *u = j.a.data;
    const float *d = j.dst.data;
    for (int64_t b = 0; b < B; b++)
        for (int64_t c = 0; c < C; c++)
            for (int64_t i = 0; i < S * S; i++)
                TN_EXPECT(d[(b * C + c) * S * S + i] == (float)u[(b * S * S + i) * C + c]);
    tn_free(&j.a);
    tn_free(&j.dst);
    return failed;
}

static int64_t mirror(int64_t i, int64_t n)
{
    return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i;
}

static int show_pad(void)
{
    enum { B = 64, C = 3, S = 224, P = 2, T = S + 2 * P };
    job j;
    TN_MUST(tn_alloc(&j.a, TN_F32, 4, (int64_t[]){B, C, S, S}));
    TN_MUST(tn_alloc(&j.dst, TN_F32, 4, (int64_t[]){B, C, T, T}));
    TN_MUST(tn_randn(&j.a, 2));
    int failed = measure("f32 images padded by reflection", &j, run_pad,
                         tn_nbytes(&j.a) + tn_nbytes(&j.dst));
    const float *a = j.a.data, *d = j.dst.data;
    for (int64_t b = 0; b < B * C; b++)
        for (int64_t y = 0; y < T; y++)
            for (int64_t x = 0; x < T; x++)
                TN_EXPECT(d[(b * T + y) * T + x] ==
                          a[(b * S + mirror(y - P, S)) * S + mirror(x - P, S)]);
    tn_free(&j.a);
    tn_free(&j.dst);
    return failed;
}

/* ---- views ---- */

static int show_views(void)
{
    enum { TIMES = 1000000 };
    static float x[1000][1000];
    tn_tensor t, v = {0};
    TN_MUST(tn_init(&t, x, TN_F32, 2, (int64_t[]){1000, 1000}));
    double start = seconds();
    for (int i = 0; i < TIMES; i++) {
        TN_MUST(tn_unsqueeze(&v, &t, i & 1));
        t.data = x[i % 1000];
    }
    double each = (seconds() - start) / TIMES;
    TN_EXPECT(v.ndim == 3 && v.shape[1] == 1);
    printf("unsqueeze, transpose, slice, flip, broadcast: new shapes on the same memory,\n"
           "%.0f nanoseconds each; no element is touched.\n\n",
           1e9 * each);
    return 0;
}

static int show_errors(void)
{
    float x[6] = {0};
    tn_tensor a, b;
    TN_MUST(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    TN_MUST(tn_init(&b, x, TN_F32, 2, (int64_t[]){3, 2}));
    TN_EXPECT(tn_rearrange(&a, &b) == TN_ESHAPE);
    printf("\nA call that cannot work changes nothing and says why:\n  %s\n", tn_error());
    TN_MUST(tn_transpose(&b, &a, 0, 1));
    TN_MUST(tn_reshape(&a, &a, 2, (int64_t[]){3, 2}));
    TN_EXPECT(tn_rearrange(&a, &b) == TN_EOVERLAP);
    printf("  %s\n", tn_error());
    return 0;
}

int main(void)
{
    printf("tenon %s, kernels for %s\n\n", tn_version(), tn_isa());
    int failed = show_views();
    puts("Strided copies, read + written bytes, every element checked:");
    for (size_t i = 0; i < sizeof permutations / sizeof *permutations; i++)
        failed |= show_permutation(&permutations[i]);
    puts("\nArithmetic, conversion and padding on any layout, the same way:");
    failed |= show_add() | show_cast() | show_pad();
    failed |= show_errors();
    if (!failed)
        puts("\nEverything above was compared with the slow way, element by element.");
    return failed;
}
