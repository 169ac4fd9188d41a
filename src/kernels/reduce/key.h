/* key.h - kernels of reductions whose result does not depend on the order of the elements: the
 * largest key, counts of what is not zero, and integer arithmetic modulo 2^64.
 *
 * A key is a signed integer of the element's width whose order is the order that the reduction
 * asks for.  min, max, argmin, argmax and norms of infinite order are therefore all "the
 * largest key". */
#ifndef TNI_KEY_H
#define TNI_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

enum { TNI_KEY_INTEGER, TNI_KEY_FLOAT, TNI_KEY_BOOL };

/* How the bits b of an element become a key.
 *
 * Integer: b ^ flip.  Bool: (b != 0) ^ flip.
 *
 * Float: m = b & mask is read as sign and magnitude and converted to a two's complement k.  A
 * k equal to zero becomes k + 1, so that -0, whose k is -1, gets the key of +0 where zero is
 * -1.  The key is k ^ flip, or nan if the magnitude is above inf (the element is a NaN). */
typedef struct tni_key_rule {
    int kind;
    int64_t mask, zero, flip, inf, nan;
} tni_key_rule;

enum { TNI_KEY_WIDTHS = 4 }; /* elements of 1, 2, 4, 8 bytes */

/* Kernels for one element width.  Elements are dense and may have any alignment; accumulators
 * have the width of the elements. */
typedef struct tni_key_kernels {
    int64_t (*max)(const char *x, int64_t n, const tni_key_rule *rule); /* n >= 1 */
    void (*ends)(int64_t *key, int64_t *other, const char *x, int64_t n,
                 const tni_key_rule *rule); /* also the largest key with flip inverted */
    int64_t (*arg)(int64_t *first, const char *x, int64_t n,
                   const tni_key_rule *rule); /* also its first index; n <= 2048 */
    int64_t (*find)(const char *x, int64_t n, const tni_key_rule *rule, int64_t key);
    void (*rows_max)(char *acc, const char *const *row, int64_t w, bool first,
                     const tni_key_rule *rule); /* of eight rows, and of acc unless first */
    /* Eight rows, numbered from at: where the key of a row exceeds best, best becomes the key
     * and which becomes the number of the row. */
    void (*rows_arg)(char *best, char *which, const char *const *row, int64_t w, int64_t at,
                     const tni_key_rule *rule);
    /* The largest of each of w columns in `join` rows of keys, a power of two, at acc; it is
     * left in the first row. */
    void (*merge)(char *acc, int64_t w, int64_t join);
    int64_t (*count)(const char *x, int64_t n, int64_t mask); /* elements with a bit of mask */
    /* The elements whose keys are key[i].  For floats, the key of NaN becomes quiet. */
    void (*elements)(char *d, const int64_t *key, int64_t n, const tni_key_rule *rule,
                     int64_t quiet);
    void (*rows_count)(char *acc, const char *const *row, int64_t w, bool first, int64_t mask);
    /* n < TNI_SHORT rows of w columns in a buffer, step bytes apart.  For each column: the
     * largest key, the largest keys in both orders, the first row with the largest key, and the
     * number of elements with a bit of mask. */
    void (*packed_max)(int64_t *key, const char *x, int64_t step, int64_t n, int64_t w,
                       const tni_key_rule *rule);
    void (*packed_ends)(int64_t *key, int64_t *other, const char *x, int64_t step, int64_t n,
                        int64_t w, const tni_key_rule *rule);
    void (*packed_arg)(int64_t *which, const char *x, int64_t step, int64_t n, int64_t w,
                       const tni_key_rule *rule);
    void (*packed_count)(int64_t *count, const char *x, int64_t step, int64_t n, int64_t w,
                         int64_t mask);
} tni_key_kernels;

/* Sequences of fewer elements are short: they can be counted in 8 signed bits, and a sum of
 * bytes fits 16 signed bits. */
enum { TNI_SHORT = 128 };

/* Kernels for one integer dtype, modulo 2^64, for any n. */
typedef struct tni_wrap_kernels {
    uint64_t (*sum)(const char *x, int64_t n);
    uint64_t (*prod)(const char *x, int64_t n);
    uint64_t (*sumsq)(const char *x, int64_t n);
    uint64_t (*dot)(const char *a, const char *b, int64_t n);
    /* Add or multiply eight rows into acc.  acc is uint64_t, but int32_t for sums of elements
     * of up to 16 bits and for squares of elements of 8 bits: it holds 2048 of them. */
    void (*rows_sum)(void *acc, const char *const *row, int64_t w);
    void (*rows_prod)(void *acc, const char *const *row, int64_t w);
    void (*rows_sumsq)(void *acc, const char *const *row, int64_t w);
    void (*rows_moments)(void *sum, void *squares, const char *const *row, int64_t w);
    /* n < TNI_SHORT rows of w columns in a buffer, step bytes apart. */
    void (*packed_sum)(uint64_t *sum, const char *x, int64_t step, int64_t n, int64_t w);
    void (*packed_prod)(uint64_t *prod, const char *x, int64_t step, int64_t n, int64_t w);
    void (*packed_sumsq)(uint64_t *sum, const char *x, int64_t step, int64_t n, int64_t w);
} tni_wrap_kernels;

typedef struct tni_key_table {
    tni_key_kernels key[TNI_KEY_WIDTHS];
    tni_wrap_kernels wrap[TNI_INT_SLOTS]; /* indexed by slot */
    /* The indices of those of n < 2^32 elements of f32 that are not less than bound, which
     * includes NaN; if below is set, of those that are not greater than bound, without NaN.
     * Returns how many there are. */
    int64_t (*reach32)(uint32_t *at, const char *x, int64_t n, float bound, bool below);
} tni_key_table;

#endif
