/* mask_table.h - bit masks of elements: making them, packing and spreading the selected
 * elements, and listing their indices.
 *
 * Bit i % 64 of word i / 64 belongs to element i; bits past the last element are 0.  The arrays
 * below are indexed by the log2 of the element width: 1, 2, 4, 8 or 16 bytes. */
#ifndef TNI_MASK_TABLE_H
#define TNI_MASK_TABLE_H

#include <stdint.h>

typedef struct tni_mask_kernels {
    /* Select the dense elements at x that have a bit of keep set; of 16-byte elements keep
     * applies to each half. */
    void (*bits[5])(uint64_t *bits, const char *x, int64_t n, uint64_t keep);
    /* Pack the selected elements of n dense elements at s to d, which has space for `capacity`
     * elements, at least as many as are selected. */
    void (*pack[5])(char *d, const char *s, const uint64_t *bits, int64_t n, int64_t capacity);
    /* Copy consecutive elements of s to the selected ones of n elements at d. */
    void (*spread[5])(char *d, int64_t d_step, const char *s, int64_t s_step,
                      const uint64_t *bits, int64_t n);
    /* Write first + the index of each set bit among n bits; capacity as above. */
    void (*indices)(char *d, const uint64_t *bits, int64_t n, int64_t first, int64_t capacity);
    int64_t (*count)(const uint64_t *bits, int64_t n);
} tni_mask_kernels;

#endif
