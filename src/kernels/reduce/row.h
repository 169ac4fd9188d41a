/* row.h - kernels of functions of whole rows, such as softmax and norms: each processes a dense
 * piece of a row.
 *
 * Most exist for every type of elements that kernels read directly.  Values kept between two
 * passes, and weights, are f32, for f64 elements f64.  d may be x.  stream: d is a multiple of
 * 64 and is written with streaming stores. */
#ifndef TNI_ROW_H
#define TNI_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "tree.h"

/* Rows of up to TNI_ROW_SHORT elements; row i is at x + i * x_step, and its result at
 * d + i * d_step.  w and b are a weight and a bias, or NULL. */
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
    /* The largest of n >= 1 elements, +0 for -0; NaN if there is one.  Every way takes a
     * maximum of -0 as +0, so that the zeros of x - max have one sign. */
    double (*max)(const char *x, int64_t n);
    /* Store exp(x - c) of a block in e, and return their sum by the tree; c is not less than
     * any x.  The bytes at x + ahead are prefetched.  e may be x if both have the same
     * width. */
    double (*exps)(char *e, const char *x, int64_t n, double c, int64_t ahead);
    void (*scale)(char *d, const char *e, int64_t n, double by, bool stream);
    /* (x - c) - l */
    void (*shift)(char *d, const char *x, int64_t n, double c, double l, bool stream);
    /* (x * r) * w; w may be NULL. */
    void (*rms)(char *d, const char *x, const char *w, int64_t n, double r, bool stream);
    /* t * w + b, where t is (x - mean) * r in f64, rounded; w and b may be NULL.  The bytes at
     * x + ahead are prefetched. */
    void (*norm)(char *d, const char *x, const char *w, const char *b, int64_t n, double mean,
                 double r, bool stream, int64_t ahead);

    /* The following process columns side by side; most, c and by have one number for each.
     * rise: most becomes the larger of most and x, NaN if either is NaN. */
    void (*rise)(char *most, const char *x, int64_t n);
    /* exp(x + c) * by */
    void (*exp_by)(char *d, const char *x, const char *c, const char *by, int64_t n,
                   bool stream);
    /* (x + c) + by */
    void (*plus_by)(char *d, const char *x, const char *c, const char *by, int64_t n,
                    bool stream);
    /* acc[i] plus the sum of exp(x + c) of 1 to 8 rows of n elements, step bytes apart, added
     * as the rows of a tile.  Up to a vector past the end of acc is read and written
     * back unchanged. */
    void (*exp_sum)(double *acc, const char *x, int64_t step, const char *c, int64_t n,
                    int64_t rows);

    /* Short rows, in order: dense rows of up to TNI_ROW_FEW elements, and rows of short_least
     * to short_most.  A row that does not fill a vector of the type of the arithmetic (f32 or
     * f64) is loaded and stored as a whole vector, which passes its end; the next row
     * overwrites what is stored there.  Such rows are dense, and memory has room for whole
     * groups of TNI_ROW_TOGETHER.  NULL if the instruction set has no such kernel. */
    void (*few_rows)(const tni_short_rows *s);
    void (*short_rows)(const tni_short_rows *s);
    int64_t short_least, short_most;
} tni_row_typed;

typedef struct tni_row_kernels {
    tni_row_typed
        of[TNI_TREE_TYPES]; /* f16 and bf16: NULL where the instruction set has no kernels */
    int64_t short_vector;   /* bytes of the vectors of few_rows and short_rows */
    void (*exp32)(char *d, const char *x, const char *c, int64_t n); /* exp(x + c) */
    void (*exp64)(char *d, const char *x, const char *c, int64_t n);
    void (*add32)(char *d, const char *a, const char *b, int64_t n);
    void (*add64)(char *d, const char *a, const char *b, int64_t n);
    /* Rotate n pairs: (x c - y s, x s + y c).  halves: x and y are separate; pairs: they
     * alternate in x. */
    void (*halves32)(char *d, char *e, const char *x, const char *y, const char *s,
                     const char *c, int64_t n, bool stream);
    void (*halves64)(char *d, char *e, const char *x, const char *y, const char *s,
                     const char *c, int64_t n, bool stream);
    void (*pairs32)(char *d, const char *x, const char *s, const char *c, int64_t n,
                    bool stream);
    void (*pairs64)(char *d, const char *x, const char *s, const char *c, int64_t n,
                    bool stream);

    /* The sum by the tree of the squares of n <= 2048 elements of f16 or bf16.  NULL if the
     * instruction set has no such kernel. */
    double (*squares16[2])(const char *x, int64_t n);

    /* Replace x >= 1 (sums of exponentials of f32) by their logarithms, with a relative error
     * of at most 2^-40. */
    void (*logs)(double *x, int64_t n);

    /* Rows of n <= TNI_ROW_SHORT elements of f32 side by side, computed in place: element j of
     * row c is at x + j * pitch + 4 * c.  Memory has room for whole groups of TNI_ROW_TOGETHER
     * rows.  softmax keeps exponentials in e, which may be x unless logs is set. */
    void (*softmax_narrow)(char *x, char *e, int64_t n, int64_t rows, int64_t pitch, bool logs);
    void (*rms_narrow)(char *x, const char *w, int64_t n, int64_t rows, int64_t pitch,
                       double eps);
    void (*layer_narrow)(char *x, const char *w, const char *b, int64_t n, int64_t rows,
                         int64_t pitch, double eps);
} tni_row_kernels;

enum {
    TNI_ROW_TOGETHER =
        32, /* rows that short rows are computed in groups of: two vectors of f32 */
    TNI_ROW_SHORT = 128, /* most elements of the rows of softmax_narrow: a tile of the tree */
    TNI_ROW_FEW = 7      /* of few_rows: less than half of a vector of f32 with AVX-512 */
};

#endif
