/* blas.h - is there a BLAS, and which one?  Products of float matrices by it.
 *
 * The library is loaded when the first product wants it: TENON_BLAS in the environment names
 * its file, "none" is none; otherwise OpenBLAS is looked for, its OpenMP flavour first.  A BLAS
 * that is missing or was not built in is none, not a failure. */
#ifndef TNI_BLAS_H
#define TNI_BLAS_H

#include <tenon/contract.h>

#include "core/core.h"
#include "kernels/kernels.h"

/* How many of the wanted parts may call it at the same time: all, or 1. */
int tni_blas_parts(int wanted);

/* The calls are serial, so that bits do not depend on a number of threads. */
bool tni_blas_steady(void);

/* It computes g in sum's type: a float, with unit strides and sizes that CBLAS can say. */
bool tni_blas_takes(tni_sum sum, const tni_gemm *g);

/* Around the calls of one part: they start no thread, and are alone where they must be. */
typedef struct tni_blas_hold {
    int threads;
} tni_blas_hold;
tni_blas_hold tni_blas_begin(void);
void tni_blas_end(const tni_blas_hold *hold);

/* Compute a g that it takes.  alpha is not 0. */
void tni_blas_gemm(tni_sum sum, const tni_gemm *g);

#endif
