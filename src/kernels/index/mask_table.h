/* mask_table.h - elements that are chosen, as bits: packed together, spread again, or their indices.
 *
 * Bit i % 64 of word i / 64 stands for element i; bits behind the last element are 0.  Elements
 * have one of the widths 1, 2, 4, 8, 16, by which the arrays are ordered. */
#ifndef TNI_MASK_TABLE_H
#define TNI_MASK_TABLE_H

#include <stdint.h>

typedef struct tni_mask_kernels {
    /* Elements at x, dense, of which a bit of keep is set; 16 bytes are kept by halves. */
    void (*bits[5])(uint64_t *bits, const char *x, int64_t n, uint64_t keep);
    /* The chosen ones of n dense elements at s, dense at d, which has space for `capacity` of
     * them, at least as many as there are. */
    void (*pack[5])(char *d, const char *s, const uint64_t *bits, int64_t n, int64_t capacity);
    /* The next elements of s go to the chosen ones of n at d. */
    void (*spread[5])(char *d, int64_t d_step, const char *s, int64_t s_step,
                      const uint64_t *bits, int64_t n);
    /* first + the index of each set bit of n; capacity as above. */
    void (*indices)(char *d, const uint64_t *bits, int64_t n, int64_t first, int64_t capacity);
    int64_t (*count)(const uint64_t *bits, int64_t n);
} tni_mask_kernels;

#endif
