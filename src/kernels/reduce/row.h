/* row.h - functions of whole rows: what is computed of a dense piece of a row.
 *
 * The names end in the width of the elements; d may be x.  stream: d is a multiple of 64 and is
 * written past the caches. */
#ifndef TNI_ROW_H
#define TNI_ROW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tni_row_kernels {
    /* The largest; NaN when there is one; n >= 1. */
    double (*max32)(const char *x, int64_t n);
    double (*max64)(const char *x, int64_t n);
    void (*rise32)(char *most, const char *x, int64_t n); /* each the larger; NaN stays */
    void (*rise64)(char *most, const char *x, int64_t n);
    /* exp(x - c) of a block, c not less than x, and the block's sum by the tree; what lies ahead
     * bytes from x is fetched. */
    double (*exps32)(char *d, const char *x, int64_t n, double c, int64_t ahead);
    void (*exp32)(char *d, const char *x, const char *c, int64_t n); /* exp(x + c) */
    /* exp(x + c) * by, c and by a number for each. */
    void (*exp_by32)(char *d, const char *x, const char *c, const char *by, int64_t n,
                     bool stream);
    /* (x + c) + by */
    void (*plus_by32)(char *d, const char *x, const char *c, const char *by, int64_t n,
                      bool stream);
    /* acc[i] + the sum of exp(x + c) of 1 to 8 rows of n floats, step bytes apart, as a tile adds
     * them; acc has a vector more, which is rewritten. */
    void (*exp_sum32)(double *acc, const char *x, int64_t step, const char *c, int64_t n,
                      int64_t rows);
    void (*scale32)(char *d, const char *x, int64_t n, double by, bool stream);
    void (*scale64)(char *d, const char *x, int64_t n, double by, bool stream);
    /* (x - c) - l */
    void (*shift32)(char *d, const char *x, int64_t n, double c, double l, bool stream);
    void (*shift64)(char *d, const char *x, int64_t n, double c, double l, bool stream);
    void (*add32)(char *d, const char *a, const char *b, int64_t n);
    void (*add64)(char *d, const char *a, const char *b, int64_t n);
    /* (x * r) * w; w may be NULL. */
    void (*rms32)(char *d, const char *x, const char *w, int64_t n, double r, bool stream);
    void (*rms64)(char *d, const char *x, const char *w, int64_t n, double r, bool stream);
    /* a rotation of n pairs: (x c - y s, x s + y c); x and y in halves, or side by side in x. */
    void (*halves32)(char *d, char *e, const char *x, const char *y, const char *s,
                     const char *c, int64_t n, bool stream);
    void (*halves64)(char *d, char *e, const char *x, const char *y, const char *s,
                     const char *c, int64_t n, bool stream);
    void (*pairs32)(char *d, const char *x, const char *s, const char *c, int64_t n,
                    bool stream);
    void (*pairs64)(char *d, const char *x, const char *s, const char *c, int64_t n,
                    bool stream);
    /* t * w + b, t = (x - mean) * r in f64, rounded; w and b may be NULL; what lies
     * ahead bytes from x is fetched. */
    void (*norm32)(char *d, const char *x, const char *w, const char *b, int64_t n, double mean,
                   double r, bool stream, int64_t ahead);
    void (*norm64)(char *d, const char *x, const char *w, const char *b, int64_t n, double mean,
                   double r, bool stream, int64_t ahead);

    /* Of f16 and bf16: the tree of the squares of n <= 2048, and (x * r) * w, w f32 or NULL, rounded
     * once.  NULL: not with this instruction set. */
    double (*squares16[2])(const char *x, int64_t n);
    void (*rms16[2])(char *d, const char *x, const char *w, int64_t n, double r, bool stream);

    /* Rows of n <= 128 elements of f32 side by side, results in their place: element j of row c is
     * at x + j * pitch + 4 * c, and memory has as many rows as fill vectors (TNI_ROW_TOGETHER).
     * softmax keeps exponentials in e, which is x unless logarithms are asked for. */
    void (*softmax_narrow)(char *x, char *e, int64_t n, int64_t rows, int64_t pitch, bool logs);
    void (*rms_narrow)(char *x, const char *w, int64_t n, int64_t rows, int64_t pitch,
                       double eps);
    void (*layer_narrow)(char *x, const char *w, const char *b, int64_t n, int64_t rows,
                         int64_t pitch, double eps);
} tni_row_kernels;

enum { TNI_ROW_TOGETHER = 16 };

#endif
