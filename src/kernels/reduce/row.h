/* row.h - functions of whole rows: what is computed of a dense piece of a row.
 *
 * Most are there for each type of elements that is read as it is; what is between two passes, and
 * weights, are f32, or f64 of f64.  d may be x.  stream: d is a multiple of 64 and is written past
 * the caches. */
#ifndef TNI_ROW_H
#define TNI_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "tree.h"

/* Rows of up to TNI_ROW_SHORT elements: row i is at x + i * x_step, of the kind that
 * tni_row_short says.  w and b are a weight and a bias, or NULL. */
typedef enum tni_row_short {
    TNI_SHORT_SOFTMAX,
    TNI_SHORT_LOG_SOFTMAX,
    TNI_SHORT_RMS,
    TNI_SHORT_LAYER
} tni_row_short;

typedef struct tni_short_rows {
    tni_row_short kind;
    char *d;
    const char *x, *w, *b;
    int64_t d_step, x_step, n, rows;
    double eps;
} tni_short_rows;

typedef struct tni_row_typed {
    /* The largest; NaN when there is one; n >= 1. */
    double (*max)(const char *x, int64_t n);
    /* exp(x - c) of a block, c not less than x, and the block's sum by the tree; what lies ahead
     * bytes from x is fetched.  e may be x where both have one width. */
    double (*exps)(char *e, const char *x, int64_t n, double c, int64_t ahead);
    void (*scale)(char *d, const char *e, int64_t n, double by, bool stream);
    /* (x - c) - l */
    void (*shift)(char *d, const char *x, int64_t n, double c, double l, bool stream);
    /* (x * r) * w; w may be NULL. */
    void (*rms)(char *d, const char *x, const char *w, int64_t n, double r, bool stream);
    /* t * w + b, t = (x - mean) * r in f64, rounded; w and b may be NULL; what lies
     * ahead bytes from x is fetched. */
    void (*norm)(char *d, const char *x, const char *w, const char *b, int64_t n, double mean,
                 double r, bool stream, int64_t ahead);

    /* Rows side by side, a number of each in most, c and by: each the larger, where NaN stays; */
    void (*rise)(char *most, const char *x, int64_t n);
    /* exp(x + c) * by; */
    void (*exp_by)(char *d, const char *x, const char *c, const char *by, int64_t n,
                   bool stream);
    /* (x + c) + by; */
    void (*plus_by)(char *d, const char *x, const char *c, const char *by, int64_t n,
                    bool stream);
    /* acc[i] + the sum of exp(x + c) of 1 to 8 rows of n elements, step bytes apart, as a tile adds
     * them; acc has a vector more, which is rewritten. */
    void (*exp_sum)(double *acc, const char *x, int64_t step, const char *c, int64_t n,
                    int64_t rows);

    /* Short rows.  Those of fewer elements than V bytes of f32 or f64 have are read and written as
     * whole vectors, in the order of rows.  NULL: not with this instruction set. */
    void (*short_rows)(const tni_short_rows *s);
} tni_row_typed;

typedef struct tni_row_kernels {
    tni_row_typed
        of[TNI_TREE_TYPES]; /* f16 and bf16: NULLs where they are not read as they are */
    void (*exp32)(char *d, const char *x, const char *c, int64_t n); /* exp(x + c) */
    void (*exp64)(char *d, const char *x, const char *c, int64_t n);
    void (*add32)(char *d, const char *a, const char *b, int64_t n);
    void (*add64)(char *d, const char *a, const char *b, int64_t n);
    /* a rotation of n pairs: (x c - y s, x s + y c); x and y in halves, or side by side in x. */
    void (*halves32)(char *d, char *e, const char *x, const char *y, const char *s,
                     const char *c, int64_t n, bool stream);
    void (*halves64)(char *d, char *e, const char *x, const char *y, const char *s,
                     const char *c, int64_t n, bool stream);
    void (*pairs32)(char *d, const char *x, const char *s, const char *c, int64_t n,
                    bool stream);
    void (*pairs64)(char *d, const char *x, const char *s, const char *c, int64_t n,
                    bool stream);

    /* The tree of the squares of n <= 2048 f16 or bf16.  NULL: not with this instruction set. */
    double (*squares16[2])(const char *x, int64_t n);

    /* Logarithms of sums of exponentials of f32, 1 and more, within 2^-40 of them. */
    void (*logs)(double *x, int64_t n);

    /* Rows of n <= 128 elements of f32 side by side, results in their place: element j of row c is
     * at x + j * pitch + 4 * c, and memory has as many rows as fill vectors (TNI_ROW_TOGETHER).
     * softmax keeps exponentials in e, which is x unless logarithms are asked for. */
    void (*softmax_narrow)(char *x, char *e, int64_t n, int64_t rows, int64_t pitch, bool logs);
    void (*rms_narrow)(char *x, const char *w, int64_t n, int64_t rows, int64_t pitch,
                       double eps);
    void (*layer_narrow)(char *x, const char *w, const char *b, int64_t n, int64_t rows,
                         int64_t pitch, double eps);
} tni_row_kernels;

enum { TNI_ROW_TOGETHER = 16, TNI_ROW_SHORT = 128 };

#endif
