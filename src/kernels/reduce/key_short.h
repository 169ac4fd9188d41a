/* key_short.h - short dense rows, reduced in any order: each is read by whole vectors, and those of
 * some rows meet by shuffles. */
#ifndef TNI_KEY_SHORT_H
#define TNI_KEY_SHORT_H

#include "key.h"

/* count rows of 1 <= n < TNI_SIDE elements, one after the other in memory.  NULL: not with this
 * instruction set. */
typedef struct tni_key_short {
    /* By log2 of an element's width.  max: the elements of the largest keys, among floats quiet for
     * what is no number; arg: the index of the first element that has the largest key; nonzero: the
     * number of elements of which a bit of mask is set. */
    void (*max[TNI_KEY_WIDTHS])(char *d, const char *x, int64_t n, int64_t count,
                                const tni_key_rule *rule, int64_t quiet);
    void (*arg[TNI_KEY_WIDTHS])(int64_t *d, const char *x, int64_t n, int64_t count,
                                const tni_key_rule *rule);
    void (*nonzero[TNI_KEY_WIDTHS])(int64_t *d, const char *x, int64_t n, int64_t count,
                                    int64_t mask);
    /* By dtype, TN_BOOL first: modulo 2^64. */
    void (*sum[TNI_INT_SLOTS])(int64_t *d, const char *x, int64_t n, int64_t count);
} tni_key_short;

#endif
