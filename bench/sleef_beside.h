/* sleef_beside.h - loops over the vector math library, for comparison.
 *
 * A loop computes n f32, a multiple of 16, on the calling thread. */
#ifndef SLEEF_BESIDE_H
#define SLEEF_BESIDE_H

#include <stdint.h>

typedef void (*sleef_loop)(float *d, const float *s, int64_t n);

/* The loop for exp, silu, tanh, gelu or log with the widest vectors of this machine; NULL
 * without SLEEF or without such vectors. */
sleef_loop sleef_of(const char *name);

typedef struct sleef_row {
    const char *name;
    sleef_loop loop;
} sleef_row;
enum { SLEEF_ROWS = 5 };
extern const sleef_row sleef_avx2[SLEEF_ROWS], sleef_avx512[SLEEF_ROWS];

#endif
