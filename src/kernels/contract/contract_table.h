/* contract_table.h - products of matrices and vectors: the kernels that contractions are built
 * from.
 *
 * Each kernel handles one compute type; other dtypes are converted beforehand.  Steps are in
 * bytes and of any sign; addresses have any alignment.  For integers alpha and beta are whole
 * numbers. */
#ifndef TNI_CONTRACT_TABLE_H
#define TNI_CONTRACT_TABLE_H

#include "core/core.h"

/* The type of the accumulators.  Integers wrap; bool computes the "or" of "and"s. */
typedef enum tni_sum {
    TNI_SUM_F32,
    TNI_SUM_F64,
    TNI_SUM_C64,
    TNI_SUM_C128,
    TNI_SUM_U16,
    TNI_SUM_U32,
    TNI_SUM_U64,
    TNI_SUM_BOOL,
    TNI_SUMS
} tni_sum;

/* d = alpha (a b) + beta d; m, n, k are 1 or more.  d is not read when beta is 0. */
typedef struct tni_gemm {
    int64_t m, n, k;
    const char *a, *b;
    char *d;
    int64_t a_m, a_k, b_k, b_n, d_m, d_n;
    double alpha, beta;
} tni_gemm;

typedef struct tni_contract_row {
    void (*gemm)(const tni_gemm *g);
    bool fast; /* gemm is as fast as a BLAS */

    /* As gemm, for count products whose operands are a_step, b_step, d_step apart; b and d are
     * dense along n.  For products that fit the registers; NULL if there is no such kernel. */
    void (*small)(const tni_gemm *g, int64_t count, int64_t a_step, int64_t b_step,
                  int64_t d_step);

    /* acc[j] += sum of x[p] * b[j, p] over p < k, for j < n; acc and x are dense.  The bits of
     * an element do not depend on n. */
    void (*gemv)(char *acc, const char *x, const char *b, int64_t n, int64_t k, int64_t b_n,
                 int64_t b_k);

    /* acc[j] += a[j] * b[j]; acc is dense. */
    void (*lanes)(char *acc, const char *a, const char *b, int64_t n, int64_t a_step,
                  int64_t b_step);

    /* d[j] = alpha * acc[j] + beta * c[j], all dense; c is not read when beta is 0. */
    void (*finish)(char *d, const char *acc, const char *c, int64_t n, double alpha,
                   double beta);
} tni_contract_row;

typedef struct tni_contract_kernels {
    tni_contract_row row[TNI_SUMS];

    /* gemv into f32 from a matrix of f16 or bf16, widened in registers. */
    void (*gemv_f16)(char *acc, const char *x, const char *b, int64_t n, int64_t k, int64_t b_n,
                     int64_t b_k);
    void (*gemv_bf16)(char *acc, const char *x, const char *b, int64_t n, int64_t k,
                      int64_t b_n, int64_t b_k);

    /* Product of bf16 matrices into f32 by AVX512_BF16, which treats subnormal bf16 as 0.  NULL
     * if not compiled; otherwise callable only on CPUs that have it (tni_cpu_bf16). */
    void (*gemm_bf16)(const tni_gemm *g);
} tni_contract_kernels;

/* A whole number x modulo 2^64. */
static inline uint64_t tni_whole_bits(double x)
{
    const double wrap = 18446744073709551616.0;
    const double far = x < 0 ? -x : x;
    const uint64_t bits =
        far < wrap ? (uint64_t)far : (uint64_t)(far - wrap * __builtin_floor(far / wrap));
    return x < 0 ? 0 - bits : bits;
}

#endif
