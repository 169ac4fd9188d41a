/* plain_cblas.c - an unknown CBLAS: row-major products by definition.
 *
 * It aborts if two threads call it at the same time. */
#include <complex.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SHARED __attribute__((visibility("default")))

enum { TRANSPOSED = 112 };

static atomic_int inside;

static void enter(void)
{
    if (atomic_fetch_add(&inside, 1))
        abort();
}

#define GEMM(name, T, ALPHA, BETA, alpha_t)                                                    \
    SHARED void name(int order, int ta, int tb, int m, int n, int k, alpha_t alpha,            \
                     const void *a, int lda, const void *b, int ldb, alpha_t beta, void *c,    \
                     int ldc);                                                                 \
    SHARED void name(int order, int ta, int tb, int m, int n, int k, alpha_t alpha,            \
                     const void *a, int lda, const void *b, int ldb, alpha_t beta, void *c,    \
                     int ldc)                                                                  \
    {                                                                                          \
        const T *x = a, *y = b;                                                                \
        T *d = c;                                                                              \
        (void)order;                                                                           \
        enter();                                                                               \
        for (int i = 0; i < m; i++)                                                            \
            for (int j = 0; j < n; j++) {                                                      \
                T sum = 0;                                                                     \
                for (int p = 0; p < k; p++)                                                    \
                    sum += x[ta == TRANSPOSED ? p * lda + i : i * lda + p] *                   \
                           y[tb == TRANSPOSED ? j * ldb + p : p * ldb + j];                    \
                d[i * ldc + j] = ALPHA * sum + (BETA != 0 ? BETA * d[i * ldc + j] : (T)0);     \
            }                                                                                  \
        atomic_fetch_sub(&inside, 1);                                                          \
    }

GEMM(cblas_sgemm, float, alpha, beta, float)
GEMM(cblas_dgemm, double, alpha, beta, double)
GEMM(cblas_cgemm, float complex, *(const float complex *)alpha, *(const float complex *)beta,
     const void *)
GEMM(cblas_zgemm, double complex, *(const double complex *)alpha, *(const double complex *)beta,
     const void *)
