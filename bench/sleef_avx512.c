/* sleef_avx512.c - SLEEF's loops for AVX-512. */
#ifdef BENCH_SLEEF
#include <sleef.h>
#define V            __m512
#define LANES        16
#define LOAD         _mm512_loadu_ps
#define STORE        _mm512_storeu_ps
#define SET          _mm512_set1_ps
#define CALL(f, ulp) Sleef_##f##f16_##ulp##avx512f
#define ROWS         sleef_avx512
#include "sleef_loops.inc"
#else
typedef int nothing; /* ISO C forbids an empty translation unit */
#endif
