/* tree.h - the summation tree: blocks of 2048 elements, tiles of 128, rows of 16 lanes.
 *
 * Element 16 k + l of a tile is in row k, lane l.  A tile adds its rows lane by lane, as ((r0 +
 * r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)), in its own type; a block adds its tiles one after
 * the other in f64, then its sixteen lanes by halves.  Absent elements are -0 (in products: 1).
 *
 * These numbers decide the bits of every result (docs/decisions/0010-same-bits.md) and are
 * therefore not tuned for a CPU: sixteen f32 fill the widest vector, eight rows are three
 * levels of pairs, and sixteen tiles are the longest chain of additions in a block. */
#ifndef TNI_TREE_H
#define TNI_TREE_H

#include <stdbool.h>
#include <stdint.h>

enum { TNI_LANES = 16, TNI_TILE_ROWS = 8, TNI_TILE = 128, TNI_TREE_BLOCK = 2048 };

/* The types of elements that kernels read directly. */
typedef enum tni_tree_type {
    TNI_TREE_F32,
    TNI_TREE_F64,
    TNI_TREE_F16,
    TNI_TREE_BF16,
    TNI_TREE_I32, /* only for moments */
    TNI_TREE_TYPES
} tni_tree_type;
enum { TNI_SKEWED = 16 };     /* columns of skewed: f32 in the widest vector */
enum { TNI_FEW_COLUMNS = 8 }; /* fewest of few_moments: f64 in the widest vector */

/* The kernels of one instruction set.  x are dense elements of any alignment. */
typedef struct tni_tree_kernels {
    /* out[i] is the sum (or product) by the tree of the n <= 2048 elements at x + i * step, for
     * i < count. */
    void (*sum32)(double *out, const char *x, int64_t n, int64_t step, int64_t count);
    void (*sum64)(double *out, const char *x, int64_t n, int64_t step, int64_t count);
    void (*prod64)(double *out, const char *x, int64_t n, int64_t step, int64_t count);
    void (*squares32)(double *out, const char *x, int64_t n, int64_t step,
                      int64_t count); /* of x * x in f64 */

    /* Sums of f16 and bf16, the same as those of sum32 and rows_sum32 for their values as f32.
     * NULL if the instruction set has no such kernel. */
    void (*sum16[2])(double *out, const char *x, int64_t n, int64_t step, int64_t count);
    void (*rows_sum16[2])(double *acc, const char *const *row, const char *const *next,
                          int64_t w, bool first);

    /* One lane of w columns: acc[c] adds the tile whose eight rows are at row[k] + c * width.
     * If first is set, acc is not read.  The eight rows at next are prefetched, unless it is
     * NULL. */
    void (*rows_sum32)(double *acc, const char *const *row, const char *const *next, int64_t w,
                       bool first);
    void (*rows_sum64)(double *acc, const char *const *row, const char *const *next, int64_t w,
                       bool first);
    void (*rows_prod64)(double *acc, const char *const *row, const char *const *next, int64_t w,
                        bool first);

    /* One lane of w columns whose tiles begin at different rows; w is a multiple of TNI_SKEWED.
     * acc[c] adds the tile that ends in the eight rows at row[k] + c * width, the first
     * phase[c] < 8 rows of which were in the call before.  Partial sums of a tile are kept in
     * part[c], part[w + c] and part[2 * w + c], in the tile's type.  Indexed by tni_tree_type;
     * NULL if the instruction set has no such kernel. */
    void (*skewed[TNI_TREE_TYPES])(double *acc, void *part, const char *const *row,
                                   const char *const *next, const int32_t *phase, int64_t w);

    /* Sums by the tree of d = x - c and of d * d, in f64.  moments: of the n <= 2048 elements
     * at x + i * step, for i < count; c is the first of them and is stored.  rows_moments: one
     * lane of columns, each with its own c.  Indexed by tni_tree_type; NULL if the instruction
     * set has no such kernel. */
    void (*moments[TNI_TREE_TYPES])(double *sum, double *squares, double *c, const char *x,
                                    int64_t n, int64_t step, int64_t count);
    void (*rows_moments[TNI_TREE_TYPES])(double *sum, double *squares, const char *const *row,
                                         const char *const *next, const double *c, int64_t w,
                                         bool first);

    /* The same for the tiles of one sequence of n elements, a multiple of TNI_TILE, around c,
     * lane by lane into 16 sums and 16 squares.  If first is set, these are not read. */
    void (*tiles_moments[TNI_TREE_TYPES])(double *sum, double *squares, const char *x,
                                          int64_t n, double c, bool first);

    /* The moments of w >= TNI_FEW_COLUMNS columns of n <= TNI_LANES elements, in rows `step`
     * bytes apart; out is as for spread. */
    void (*few_moments[TNI_TREE_TYPES])(double *out, const char *x, int64_t step, int64_t n,
                                        int64_t w);

    /* The moments of count sequences of n elements: s is the sum of the distances from c, q the
     * sum of their squares.  out[i] is n, out[w + i] the mean and out[2 * w + i] the sum of
     * squares around the mean.  exact_spread: sum and squares are those of the elements
     * themselves, which are integers of up to 16 bits, and n is at most 2048. */
    void (*spread)(double *out, int64_t w, int64_t n, const double *c, const double *s,
                   const double *q, int64_t count);
    void (*exact_spread)(double *out, int64_t w, int64_t n, const double *c, const int64_t *sum,
                         const int64_t *squares, int64_t count);

    /* Add (or multiply) the first `lanes` lanes acc[l * w + c] of each column by halves into
     * acc[c]; the other lanes are absent. */
    void (*lanes_sum)(double *acc, int64_t w, int lanes);
    void (*lanes_prod)(double *acc, int64_t w, int lanes);

    /* The results of n states: s[i] + zero, divided by count[i], or by `by` if count is NULL;
     * root: the square root of that.  A NaN becomes the positive one.  y may be s. */
    void (*results)(double *y, const double *s, int64_t n, double zero, double by,
                    const int64_t *count, bool root);
} tni_tree_kernels;

#endif
