/* sleef_avx2.c - SLEEF's loops for AVX2. */
#ifdef BENCH_SLEEF
#include <sleef.h>
#define V            __m256
#define LANES        8
#define LOAD         _mm256_loadu_ps
#define STORE        _mm256_storeu_ps
#define SET          _mm256_set1_ps
#define CALL(f, ulp) Sleef_##f##f8_##ulp##avx2
#define ROWS         sleef_avx2
#include "sleef_loops.inc"
#else
typedef int nothing; /* ISO C forbids an empty translation unit */
#endif
