/* blas.h - is there a BLAS, and which one?  It multiplies matrices of floats.
 *
 * The BLAS is loaded on first use.  The environment variable TENON_BLAS names its file, or is
 * "none"; without it, OpenBLAS is searched for, its OpenMP flavour first.  Without a BLAS, none
 * of these functions fails. */
#ifndef TNI_BLAS_H
#define TNI_BLAS_H

#include <tenon/contract.h>

#include "core/core.h"
#include "kernels/kernels.h"

/* How many of the wanted parts may call the BLAS at the same time: all, or 1. */
int tni_blas_parts(int wanted);

/* Whether calls run on one thread, so that results do not depend on the number of threads. */
bool tni_blas_steady(void);

/* Whether the BLAS computes g in sum's type: floats, with strides and sizes that CBLAS can
 * express. */
bool tni_blas_takes(tni_sum sum, const tni_gemm *g);

/* Enclose the BLAS calls of one part: between begin and end they start no threads, and run one
 * at a time where they must. */
typedef struct tni_blas_hold {
    int threads;
} tni_blas_hold;
tni_blas_hold tni_blas_begin(void);
void tni_blas_end(const tni_blas_hold *hold);

/* Compute a g that tni_blas_takes accepts.  alpha is not 0. */
void tni_blas_gemm(tni_sum sum, const tni_gemm *g);

#endif
