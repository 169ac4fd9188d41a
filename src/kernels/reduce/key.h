/* key.h - order-free reductions: integers that wrap, the largest key, what is not zero.
 *
 * A key is a signed integer of an element's width whose order is the one asked for, so that min
 * and max, arguments of both and norms of infinite order are all "the largest key". */
#ifndef TNI_KEY_H
#define TNI_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

enum { TNI_KEY_INTEGER, TNI_KEY_FLOAT, TNI_KEY_BOOL };

/* How bits b become a key.  Integers: b ^ flip; bool: (b != 0) ^ flip.  Floats: m = b & mask,
 * which as sign and magnitude is a two's complement k; k == zero becomes k + 1 (-0 meets +0); k
 * ^ flip; and where the magnitude exceeds inf (NaN) it is nan instead. */
typedef struct tni_key_rule {
    int kind;
    int64_t mask, zero, flip, inf, nan;
} tni_key_rule;

enum { TNI_KEY_WIDTHS = 4 }; /* elements of 1, 2, 4, 8 bytes */

/* For one width.  Elements are dense, of any alignment; accumulators have the element's
 * width. */
typedef struct tni_key_kernels {
    int64_t (*max)(const char *x, int64_t n, const tni_key_rule *rule); /* n >= 1 */
    void (*ends)(int64_t *key, int64_t *other, const char *x, int64_t n,
                 const tni_key_rule *rule); /* and the key of the other end, flip reversed */
    int64_t (*arg)(int64_t *first, const char *x, int64_t n,
                   const tni_key_rule *rule); /* and where it is first; n <= 2048 */
    int64_t (*find)(const char *x, int64_t n, const tni_key_rule *rule, int64_t key);
    void (*rows_max)(char *acc, const char *const *row, int64_t w, bool first,
                     const tni_key_rule *rule); /* eight rows */
    /* Rows numbered at, at + 1, …: where a key exceeds best it and its row's number are
     * kept. */
    void (*rows_arg)(char *best, char *which, const char *const *row, int64_t w, int64_t at,
                     const tni_key_rule *rule);
    int64_t (*count)(const char *x, int64_t n, int64_t mask); /* elements with a bit of mask */
    /* The elements of n keys; of floats, the key of what is no number becomes quiet. */
    void (*elements)(char *d, const int64_t *key, int64_t n, const tni_key_rule *rule,
                     int64_t quiet);
    void (*rows_count)(char *acc, const char *const *row, int64_t w, bool first, int64_t mask);
    /* n rows of w columns in a buffer, step bytes apart, n < TNI_SIDE: the largest key of each
     * column, with that of the other end or the first row that has it, and what is not zero. */
    void (*side_max)(int64_t *key, const char *x, int64_t step, int64_t n, int64_t w,
                     const tni_key_rule *rule);
    void (*side_ends)(int64_t *key, int64_t *other, const char *x, int64_t step, int64_t n,
                      int64_t w, const tni_key_rule *rule);
    void (*side_arg)(int64_t *key, int64_t *which, const char *x, int64_t step, int64_t n,
                     int64_t w, const tni_key_rule *rule);
    void (*side_count)(int64_t *count, const char *x, int64_t step, int64_t n, int64_t w,
                       int64_t mask);
} tni_key_kernels;

/* Rows of columns that a counter of 8 bits, or a sum of 16 bits of bytes, holds. */
enum { TNI_SIDE = 128 };

/* For one integer dtype.  Arithmetic modulo 2^64; any n. */
typedef struct tni_wrap_kernels {
    uint64_t (*sum)(const char *x, int64_t n);
    uint64_t (*prod)(const char *x, int64_t n);
    uint64_t (*sumsq)(const char *x, int64_t n);
    uint64_t (*dot)(const char *a, const char *b, int64_t n);
    /* Eight rows.  acc is uint64_t; sums of elements of up to 16 bits and squares of 8 bits:
     * int32_t, which holds 2048 of them. */
    void (*rows_sum)(void *acc, const char *const *row, int64_t w);
    void (*rows_prod)(void *acc, const char *const *row, int64_t w);
    void (*rows_sumsq)(void *acc, const char *const *row, int64_t w);
    void (*rows_moments)(void *sum, void *squares, const char *const *row, int64_t w);
    /* n < TNI_SIDE rows of w columns in a buffer, step bytes apart. */
    void (*side_sum)(uint64_t *sum, const char *x, int64_t step, int64_t n, int64_t w);
    void (*side_prod)(uint64_t *prod, const char *x, int64_t step, int64_t n, int64_t w);
    void (*side_sumsq)(uint64_t *sum, const char *x, int64_t step, int64_t n, int64_t w);
} tni_wrap_kernels;

typedef struct tni_key_table {
    tni_key_kernels key[TNI_KEY_WIDTHS];
    tni_wrap_kernels wrap[TNI_INT_SLOTS]; /* by slot */
    /* The indices of n < 2^32 elements of f32 that are not less than bound, NaN among them; below:
     * of those that are not greater, without NaN.  Their number. */
    int64_t (*reach32)(uint32_t *at, const char *x, int64_t n, float bound, bool below);
} tni_key_table;

#endif
