/* sgemm.h - the BLAS that contractions are compared with, loaded at run time. */
#ifndef SGEMM_H
#define SGEMM_H

typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *, int, const float *,
                         int, float, float *, int);

/* cblas_sgemm of OpenBLAS; NULL: not installed. */
sgemm_fn find_sgemm(void);

#endif
