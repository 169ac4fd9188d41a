/* term.h - the terms that a reduction adds, made of dense elements, as f32 or f64.
 *
 * d may be s if both have the same width; otherwise they share no byte.  Any alignment. */
#ifndef TNI_TERM_H
#define TNI_TERM_H

#include <stdbool.h>
#include <stdint.h>

/* The suffix is the width of s.  d is f64, except where a comment says f32. */
typedef struct tni_term_kernels {
    void (*abs32)(char *d, const char *s, int64_t n); /* f32 */
    void (*abs64)(char *d, const char *s, int64_t n);
    void (*square32)(char *d, const char *s, int64_t n);
    void (*square64)(char *d, const char *s, int64_t n);
    void (*mul32)(char *d, const char *a, const char *b, int64_t n);
    void (*mul64)(char *d, const char *a, const char *b, int64_t n);
    void (*nonzero32)(char *d, const char *s, int64_t n); /* f32: 0, 1, or NaN for NaN */
    void (*nonzero64)(char *d, const char *s, int64_t n);

    /* re * re + im * im of c64 or (wide) c128, and its square root; NaN if a part is NaN.  The
     * square root of c128 is computed without squaring large parts: it overflows only where its
     * value does. */
    void (*complex_square)(char *d, const char *s, int64_t n, bool wide);
    void (*complex_abs)(char *d, const char *s, int64_t n, bool wide);

    /* Replace NaN by instead; returns the number of elements that are not NaN. */
    int64_t (*numbers32)(char *d, const char *s, int64_t n, double instead); /* f32 */
    int64_t (*numbers64)(char *d, const char *s, int64_t n, double instead);

    /* count[i] is incremented if element i is not NaN. */
    void (*tally32)(int64_t *count, const char *s, int64_t n);
    void (*tally64)(int64_t *count, const char *s, int64_t n);

    /* x - c.  distances: each element has its own c.  skip: NaN becomes -0. */
    void (*distance32)(char *d, const char *s, int64_t n, double c, bool skip);
    void (*distance64)(char *d, const char *s, int64_t n, double c, bool skip);
    void (*distances32)(char *d, const char *s, int64_t n, const double *c, bool skip);
    void (*distances64)(char *d, const char *s, int64_t n, const double *c, bool skip);

    /* The largest element, -infinity if n is 0, or a NaN if there is one. */
    double (*max64)(const char *s, int64_t n);

    /* exp(x - c) with an error of at most 2 ulp; 0 if x - c < -708. */
    void (*exp64)(char *d, const char *s, int64_t n, double c);
} tni_term_kernels;

#endif
