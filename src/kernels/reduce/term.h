/* term.h - what a reduction adds: terms made of dense elements, as f32 or f64.
 *
 * d may be s where both have one width; otherwise they share no byte.  Any alignment. */
#ifndef TNI_TERM_H
#define TNI_TERM_H

#include <stdbool.h>
#include <stdint.h>

/* The names end in the width of s; d is f64, but where a comment says f32. */
typedef struct tni_term_kernels {
    void (*abs32)(char *d, const char *s, int64_t n); /* f32 */
    void (*abs64)(char *d, const char *s, int64_t n);
    void (*square32)(char *d, const char *s, int64_t n);
    void (*square64)(char *d, const char *s, int64_t n);
    void (*mul32)(char *d, const char *a, const char *b, int64_t n);
    void (*mul64)(char *d, const char *a, const char *b, int64_t n);
    void (*nonzero32)(char *d, const char *s, int64_t n); /* f32: 0, 1, or NaN */
    void (*nonzero64)(char *d, const char *s, int64_t n);

    /* re * re + im * im of c64 or c128, and the magnitude, which overflows only where it
     * must. */
    void (*complex_square)(char *d, const char *s, int64_t n, bool wide);
    void (*complex_abs)(char *d, const char *s, int64_t n, bool wide);

    /* NaN becomes instead; the number of elements that are none. */
    int64_t (*numbers32)(char *d, const char *s, int64_t n, double instead); /* f32 */
    int64_t (*numbers64)(char *d, const char *s, int64_t n, double instead);

    /* count[i] is one more where element i is a number. */
    void (*tally32)(int64_t *count, const char *s, int64_t n);
    void (*tally64)(int64_t *count, const char *s, int64_t n);

    /* x - c, with c one number or (columns) one for each; skip: NaN becomes -0. */
    void (*distance32)(char *d, const char *s, int64_t n, double c, bool skip);
    void (*distance64)(char *d, const char *s, int64_t n, double c, bool skip);
    void (*distances32)(char *d, const char *s, int64_t n, const double *c, bool skip);
    void (*distances64)(char *d, const char *s, int64_t n, const double *c, bool skip);

    /* The largest element, -infinity of none; NaN where there is one. */
    double (*max64)(const char *s, int64_t n);

    /* exp(x - c) within 2 ulp, below 2^-1022 it is 0. */
    void (*exp64)(char *d, const char *s, int64_t n, double c);
} tni_term_kernels;

#endif
