/* tree.h - the summation tree: blocks of 2048 elements, tiles of 128, rows of 8, lanes of 16.
 *
 * Element 16 k + l of a tile is in row k, lane l.  A tile adds its rows lane by lane, as
 * ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)), in its own type; a block adds its tiles
 * one after the other in f64; its lanes meet by halves.  Absent elements are -0 (products:
 * 1).
 *
 * These numbers are part of every result's bits (docs/decisions/0010-same-bits.md) and so of no CPU:
 * sixteen f32 are the widest vector, eight rows three levels of pairs, and the sixteen tiles of a
 * block its longest chain of sums. */
#ifndef TNI_TREE_H
#define TNI_TREE_H

#include <stdbool.h>
#include <stdint.h>

enum { TNI_LANES = 16, TNI_TILE_ROWS = 8, TNI_TILE = 128, TNI_TREE_BLOCK = 2048 };

/* Elements that kernels read as they are. */
typedef enum tni_tree_type {
    TNI_TREE_F32,
    TNI_TREE_F64,
    TNI_TREE_F16,
    TNI_TREE_BF16,
    TNI_TREE_I32, /* of moments alone */
    TNI_TREE_TYPES
} tni_tree_type;
enum { TNI_SKEWED = 16 };    /* the f32 of the widest vector */
enum { TNI_SIDE_LEAST = 8 }; /* its f64 */

/* Kernels of one instruction set.  x are dense elements of any alignment. */
typedef struct tni_tree_kernels {
    /* out[i] is the tree of the sequence of n <= 2048 elements at x + i * step. */
    void (*sum32)(double *out, const char *x, int64_t n, int64_t step, int64_t count);
    void (*sum64)(double *out, const char *x, int64_t n, int64_t step, int64_t count);
    void (*prod64)(double *out, const char *x, int64_t n, int64_t step, int64_t count);
    void (*squares32)(double *out, const char *x, int64_t n, int64_t step,
                      int64_t count); /* sums of x * x in f64, x f32 */

    /* Sums of f16 and bf16, as sum32 and rows_sum32 of their values; NULL: not with this
     * instruction set. */
    void (*sum16[2])(double *out, const char *x, int64_t n, int64_t step, int64_t count);
    void (*rows_sum16[2])(double *acc, const char *const *row, const char *const *next,
                          int64_t w, bool first);

    /* One lane of w sequences that stand side by side: acc[c] takes the tile of the eight rows
     * at row[k] + c * width; first: acc holds nothing yet.  The eight rows at next, unless it is
     * NULL, are prefetched. */
    void (*rows_sum32)(double *acc, const char *const *row, const char *const *next, int64_t w,
                       bool first);
    void (*rows_sum64)(double *acc, const char *const *row, const char *const *next, int64_t w,
                       bool first);
    void (*rows_prod64)(double *acc, const char *const *row, const char *const *next, int64_t w,
                        bool first);

    /* One lane of w columns, a multiple of TNI_SKEWED, whose tiles begin at different rows: acc[c]
     * takes the tile that ends in the eight rows at row[k] + c * width, of which phase[c] < 8 rows came
     * before; what waits for its partner is in part[c], part[w + c] and part[2 * w + c], of the
     * tile's type.  By tni_tree_type; NULL: not with this instruction set. */
    void (*skewed[TNI_TREE_TYPES])(double *acc, void *part, const char *const *row,
                                   const char *const *next, const int32_t *phase, int64_t w);

    /* Trees of d = x - c and of d * d, in f64: of the sequences of n <= 2048 elements at
     * x + i * step, c their first one, which is stored; and of one lane of columns, each with its
     * own c.  By tni_tree_type; NULL: not with this instruction set. */
    void (*moments[TNI_TREE_TYPES])(double *sum, double *squares, double *c, const char *x,
                                    int64_t n, int64_t step, int64_t count);
    void (*rows_moments[TNI_TREE_TYPES])(double *sum, double *squares, const char *const *row,
                                         const char *const *next, const double *c, int64_t w,
                                         bool first);

    /* The same of the tiles of one sequence of n elements, a multiple of TNI_TILE, around c: lane by
     * lane into 16 sums and 16 squares.  first: these hold nothing yet. */
    void (*tiles_moments[TNI_TREE_TYPES])(double *sum, double *squares, const char *x,
                                          int64_t n, double c, bool first);

    /* The moments of w >= TNI_SIDE_LEAST sequences that stand side by side, of n <= TNI_LANES elements
     * each, in rows `step` bytes apart: out as that of spread. */
    void (*few_moments[TNI_TREE_TYPES])(double *out, const char *x, int64_t step, int64_t n,
                                        int64_t w);

    /* The moments of count sequences of n elements around c, whose distances have sums s and squares
     * q: out[i] is n, out[w + i] the mean, out[2 * w + i] the squares around it.  exact: sum and
     * squares are of the elements themselves, integers of up to 16 bits, n at most 2048. */
    void (*spread)(double *out, int64_t w, int64_t n, const double *c, const double *s,
                   const double *q, int64_t count);
    void (*exact_spread)(double *out, int64_t w, int64_t n, const double *c, const int64_t *sum,
                         const int64_t *squares, int64_t count);

    /* The first lanes of acc[l * w + c] meet in acc[c]; the others are absent. */
    void (*lanes_sum)(double *acc, int64_t w, int lanes);
    void (*lanes_prod)(double *acc, int64_t w, int lanes);

    /* Results of n states: s[i] + zero, divided by `by`, or by count[i] unless that is NULL; root:
     * the square root of it.  NaN becomes the positive one.  y may be s. */
    void (*results)(double *y, const double *s, int64_t n, double zero, double by,
                    const int64_t *count, bool root);
} tni_tree_kernels;

#endif
