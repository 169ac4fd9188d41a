/* blas.c - the only file that knows CBLAS.
 *
 * OpenBLAS's OpenMP flavour runs on the calling thread alone while that thread's OpenMP thread
 * count is 1, also in a forked child.  Its pthread flavour has one thread count for the whole
 * process, which is left unchanged: only one part calls it.  Its serial flavour is not safe for
 * concurrent callers, so that a lock admits one call at a time; the same holds for an unknown
 * BLAS, which may have threads. */
#include "blas.h"

#ifdef TENON_BLAS
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };
enum { FLAVOUR_SERIAL, FLAVOUR_PTHREAD, FLAVOUR_OPENMP, FLAVOUR_UNKNOWN };

typedef void (*gemm_f32)(int, int, int, int, int, int, float, const void *, int, const void *,
                         int, float, void *, int);
typedef void (*gemm_f64)(int, int, int, int, int, int, double, const void *, int, const void *,
                         int, double, void *, int);
typedef void (*gemm_complex)(int, int, int, int, int, int, const void *, const void *, int,
                             const void *, int, const void *, void *, int);

static struct blas {
    bool found;
    int flavour;
    char name[64];
    gemm_f32 f32;
    gemm_f64 f64;
    gemm_complex c64, c128;
    int (*omp_count)(void);
    void (*omp_set_count)(int);
} blas;

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

/* Set the function pointer at `to` to the address of a symbol, or to NULL. */
static void blas_find(void *to, void *library, const char *symbol)
{
    void *found = dlsym(library, symbol);
    memcpy(to, &found, sizeof found);
}

/* Find the OpenMP runtime that the BLAS itself calls, in the order of the dynamic linker: the
 * process's own, then the one that the BLAS was linked with. */
static void blas_find_openmp(void *library)
{
    blas_find(&blas.omp_count, RTLD_DEFAULT, "omp_get_max_threads");
    blas_find(&blas.omp_set_count, RTLD_DEFAULT, "omp_set_num_threads");
    if (!blas.omp_count || !blas.omp_set_count) {
        blas_find(&blas.omp_count, library, "omp_get_max_threads");
        blas_find(&blas.omp_set_count, library, "omp_set_num_threads");
    }
    if (!blas.omp_count || !blas.omp_set_count)
        blas.flavour = FLAVOUR_UNKNOWN;
}

static void blas_describe(void *library, const char *path)
{
    int (*parallel)(void);
    const char *(*config)(void);
    blas_find(&parallel, library, "openblas_get_parallel");
    blas_find(&config, library, "openblas_get_config");
    const char *slash = strrchr(path, '/');
    char version[24] = "";
    snprintf(blas.name, sizeof blas.name, "%.40s", slash ? slash + 1 : path);
    blas.flavour = FLAVOUR_UNKNOWN;
    if (!parallel || !config)
        return;
    static const char *const flavours[] = {" serial", " pthread", "", " unknown"};
    const int flavour = parallel();
    if (flavour >= FLAVOUR_SERIAL && flavour <= FLAVOUR_OPENMP)
        blas.flavour = flavour;
    if (sscanf(config(), "OpenBLAS %23s", version) != 1)
        version[0] = 0;
    snprintf(blas.name, sizeof blas.name, "openblas %s%s", version, flavours[blas.flavour]);
    if (blas.flavour == FLAVOUR_OPENMP)
        blas_find_openmp(library);
}

static bool blas_open(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    blas_find(&blas.f32, library, "cblas_sgemm");
    blas_find(&blas.f64, library, "cblas_dgemm");
    blas_find(&blas.c64, library, "cblas_cgemm");
    blas_find(&blas.c128, library, "cblas_zgemm");
    if (!blas.f32 || !blas.f64 || !blas.c64 || !blas.c128) {
        dlclose(library);
        return false;
    }
    blas_describe(library, path);
    return true;
}

/* Whether concurrent calls may be unsafe. */
static bool blas_alone(const struct blas *b)
{
    return b->flavour == FLAVOUR_SERIAL || b->flavour == FLAVOUR_UNKNOWN;
}

static void blas_lock(void)
{
    pthread_mutex_lock(&alone);
}

static void blas_unlock(void)
{
    pthread_mutex_unlock(&alone);
}

static void blas_load(void)
{
    static const char *const usual[] = {
#ifdef TENON_BLAS_FOLDER
        TENON_BLAS_FOLDER
        "/libopenblas.so.0", /* Debian's OpenMP flavour, whichever is the default */
#endif
        "libopenblaso.so.0", /* Fedora's name for it */
        "libopenblas.so.0",
    };
    const char *asked = getenv("TENON_BLAS");
    snprintf(blas.name, sizeof blas.name, "none");
    if (asked && *asked)
        blas.found = strcmp(asked, "none") != 0 && blas_open(asked);
    else
        for (int i = 0; i < COUNT(usual) && !blas.found; i++)
            blas.found = blas_open(usual[i]);
    if (blas.found && blas.flavour != FLAVOUR_OPENMP)
        pthread_atfork(blas_lock, blas_unlock, blas_unlock);
}

static const struct blas *blas_here(void)
{
    pthread_once(&loading, blas_load);
    return blas.found ? &blas : NULL;
}

const char *tn_blas(void)
{
    blas_here();
    return blas.name;
}

int tni_blas_parts(int wanted)
{
    const struct blas *b = blas_here();
    return b && b->flavour != FLAVOUR_OPENMP ? 1 : wanted;
}

bool tni_blas_steady(void)
{
    const struct blas *b = blas_here();
    return !b || b->flavour == FLAVOUR_SERIAL || b->flavour == FLAVOUR_OPENMP;
}

tni_blas_hold tni_blas_begin(void)
{
    const struct blas *b = blas_here();
    tni_blas_hold hold = {0};
    if (!b)
        return hold;
    if (blas_alone(b))
        blas_lock();
    if (b->flavour == FLAVOUR_OPENMP && (hold.threads = b->omp_count()) > 1)
        b->omp_set_count(1);
    return hold;
}

void tni_blas_end(const tni_blas_hold *hold)
{
    const struct blas *b = blas_here();
    if (b && blas_alone(b))
        blas_unlock();
    if (hold->threads > 1)
        b->omp_set_count(hold->threads);
}

/* ---- one product ---- */

/* A matrix as CBLAS describes it: dense along one axis, `ld` elements apart along the other. */
typedef struct side {
    int order, ld;
} side;

/* Whether `outer` rows of `inner` elements are dense, and *ld elements apart. */
static bool blas_dense(int64_t inner, int64_t outer, int64_t along, int64_t across,
                       int64_t width, int *ld)
{
    const int64_t step = outer > 1 ? across : inner * width;
    if ((inner > 1 && along != width) || step % width || step / width < inner ||
        step / width > INT32_MAX)
        return false;
    *ld = (int)(step / width);
    return true;
}

/* Describe a matrix of rows x cols elements; false if no order and ld can. */
static bool blas_side(side *s, int64_t rows, int64_t cols, int64_t row, int64_t col,
                      int64_t width)
{
    s->order = AS_IT_IS;
    if (blas_dense(cols, rows, col, row, width, &s->ld))
        return true;
    s->order = TRANSPOSED;
    return blas_dense(rows, cols, row, col, width, &s->ld);
}

static const int8_t widths[TNI_SUMS] = {
    [TNI_SUM_F32] = 4, [TNI_SUM_F64] = 8, [TNI_SUM_C64] = 8, [TNI_SUM_C128] = 16};

static bool blas_aligned(tni_sum sum, const void *p)
{
    const uintptr_t part = sum == TNI_SUM_F32 || sum == TNI_SUM_C64 ? 4 : 8;
    return (uintptr_t)p % part == 0;
}

static bool blas_sides(tni_sum sum, const tni_gemm *g, side s[3])
{
    const int64_t w = widths[sum];
    return g->m <= INT32_MAX && g->n <= INT32_MAX && g->k <= INT32_MAX &&
           blas_side(&s[0], g->m, g->n, g->d_m, g->d_n, w) && s[0].order == AS_IT_IS &&
           blas_side(&s[1], g->m, g->k, g->a_m, g->a_k, w) &&
           blas_side(&s[2], g->k, g->n, g->b_k, g->b_n, w);
}

bool tni_blas_takes(tni_sum sum, const tni_gemm *g)
{
    side s[3];
    return widths[sum] && blas_aligned(sum, g->a) && blas_aligned(sum, g->b) &&
           blas_aligned(sum, g->d) && blas_sides(sum, g, s) && blas_here();
}

void tni_blas_gemm(tni_sum sum, const tni_gemm *g)
{
    side s[3];
    if (!blas_sides(sum, g, s))
        return;
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    const float alpha[2] = {(float)g->alpha, 0}, beta[2] = {(float)g->beta, 0};
    const double wide_alpha[2] = {g->alpha, 0}, wide_beta[2] = {g->beta, 0};
    if (sum == TNI_SUM_F32)
        blas.f32(ROW_MAJOR, s[1].order, s[2].order, m, n, k, alpha[0], g->a, s[1].ld, g->b,
                 s[2].ld, beta[0], g->d, s[0].ld);
    else if (sum == TNI_SUM_F64)
        blas.f64(ROW_MAJOR, s[1].order, s[2].order, m, n, k, g->alpha, g->a, s[1].ld, g->b,
                 s[2].ld, g->beta, g->d, s[0].ld);
    else if (sum == TNI_SUM_C64)
        blas.c64(ROW_MAJOR, s[1].order, s[2].order, m, n, k, alpha, g->a, s[1].ld, g->b,
                 s[2].ld, beta, g->d, s[0].ld);
    else
        blas.c128(ROW_MAJOR, s[1].order, s[2].order, m, n, k, wide_alpha, g->a, s[1].ld, g->b,
                  s[2].ld, wide_beta, g->d, s[0].ld);
}

#else

const char *tn_blas(void)
{
    return "none";
}

int tni_blas_parts(int wanted)
{
    return wanted;
}

bool tni_blas_steady(void)
{
    return true;
}

bool tni_blas_takes(tni_sum sum, const tni_gemm *g)
{
    (void)sum;
    (void)g;
    return false;
}

tni_blas_hold tni_blas_begin(void)
{
    return (tni_blas_hold){0};
}

void tni_blas_end(const tni_blas_hold *hold)
{
    (void)hold;
}

void tni_blas_gemm(tni_sum sum, const tni_gemm *g)
{
    (void)sum;
    (void)g;
}

#endif
