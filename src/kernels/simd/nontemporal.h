/* nontemporal.h - non-temporal stores of whole cache lines.
 *
 * Lines begin at multiples of 64; stream_fence orders the stores before everything that
 * follows. */
#ifndef TNI_NONTEMPORAL_H
#define TNI_NONTEMPORAL_H

#include <string.h>

#include "core/core.h"

#define INLINE static inline __attribute__((always_inline))

#if defined(__SSE2__)
#include <immintrin.h>

INLINE void stream_line(char *d, const char *s)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i *)(void *)d, _mm512_loadu_si512((const void *)s));
#elif defined(__AVX2__)
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)s);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(s + 32));
    _mm256_stream_si256((__m256i *)(void *)d, a);
    _mm256_stream_si256((__m256i *)(void *)(d + 32), b);
#else
    for (int i = 0; i < TNI_LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(d + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(s + i)));
#endif
}
INLINE void stream_fence(void)
{
    _mm_sfence();
}

#else

INLINE void stream_line(char *d, const char *s)
{
    memcpy(d, s, TNI_LINE);
}
INLINE void stream_fence(void)
{
}

#endif

#endif
