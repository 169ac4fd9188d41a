/* signs.h - collecting the highest bits of 64 bytes in a word (movemask). */
#ifndef TNI_SIGNS_H
#define TNI_SIGNS_H

#include <stdint.h>

#include "kernels/simd/nontemporal.h"

/* Bit i of the result is the highest bit of set[i]. */
INLINE uint64_t signs(const uint8_t *set)
{
    uint64_t word = 0;
#if defined(__AVX2__)
    for (int i = 0; i < 64; i += 32)
        word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(
                    _mm256_loadu_si256((const __m256i *)(const void *)(set + i)))
                << i;
#elif defined(__SSE2__)
    for (int i = 0; i < 64; i += 16)
        word |= (uint64_t)_mm_movemask_epi8(
                    _mm_loadu_si128((const __m128i *)(const void *)(set + i)))
                << i;
#else
    for (int i = 0; i < 64; i++)
        word |= (uint64_t)(set[i] >> 7) << i;
#endif
    return word;
}

#endif
