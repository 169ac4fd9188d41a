/* key_short.h - order-independent reductions of short dense rows: each row is loaded as whole
 * vectors, and the vectors of several rows are merged by shuffles. */
#ifndef TNI_KEY_SHORT_H
#define TNI_KEY_SHORT_H

#include "key.h"

/* count dense rows of 1 <= n < TNI_SHORT elements, one after the other.  A kernel is NULL if
 * the instruction set has none. */
typedef struct tni_key_short {
    /* Indexed by log2 of the element's width.
     *
     * max: the element with the largest key; quiet replaces NaN.  arg: the index of the first
     * element with the largest key.  nonzero: the number of elements with a bit of mask. */
    void (*max[TNI_KEY_WIDTHS])(char *d, const char *x, int64_t n, int64_t count,
                                const tni_key_rule *rule, int64_t quiet);
    void (*arg[TNI_KEY_WIDTHS])(int64_t *d, const char *x, int64_t n, int64_t count,
                                const tni_key_rule *rule);
    void (*nonzero[TNI_KEY_WIDTHS])(int64_t *d, const char *x, int64_t n, int64_t count,
                                    int64_t mask);
    /* Indexed by integer slot, TN_BOOL first: sums modulo 2^64. */
    void (*sum[TNI_INT_SLOTS])(int64_t *d, const char *x, int64_t n, int64_t count);
} tni_key_short;

#endif
