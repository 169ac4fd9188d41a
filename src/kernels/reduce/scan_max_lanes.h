/* scan_max_lanes.h - running maxima of keys of 8 to 64 bits, down few columns (AVX2). */
#ifndef TNI_SCAN_MAX_LANES_H
#define TNI_SCAN_MAX_LANES_H

INLINE __m256i load32(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* width is 4, 8 or 16 bytes. */
INLINE __m128i load_short(const char *p, int width)
{
    int32_t word;
    memcpy(&word, p, sizeof word);
    return width == 4   ? _mm_cvtsi32_si128(word)
           : width == 8 ? _mm_loadl_epi64((const __m128i *)(const void *)p)
                        : _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE void put_short(char *p, __m128i v, int width)
{
    const int32_t word = _mm_cvtsi128_si32(v);
    if (width == 4)
        memcpy(p, &word, sizeof word);
    else if (width == 8)
        _mm_storel_epi64((__m128i *)(void *)p, v);
    else
        _mm_storeu_si128((__m128i *)(void *)p, v);
}

INLINE __m128i larger64_half(__m128i a, __m128i b)
{
    return _mm_blendv_epi8(a, b, _mm_cmpgt_epi64(b, a));
}

#define K                 int8_t
#define MAX_ROWS          max_rows8
#define LARGER(a, b)      _mm256_max_epi8(a, b)
#define LARGER_HALF(a, b) _mm_max_epi8(a, b)
#include "scan_max_lanes.inc"
#define K                 int16_t
#define MAX_ROWS          max_rows16
#define LARGER(a, b)      _mm256_max_epi16(a, b)
#define LARGER_HALF(a, b) _mm_max_epi16(a, b)
#include "scan_max_lanes.inc"
#define K                 int32_t
#define MAX_ROWS          max_rows32
#define LARGER(a, b)      _mm256_max_epi32(a, b)
#define LARGER_HALF(a, b) _mm_max_epi32(a, b)
#include "scan_max_lanes.inc"
#define K                 int64_t
#define MAX_ROWS          max_rows64
#define LARGER(a, b)      larger64(a, b)
#define LARGER_HALF(a, b) larger64_half(a, b)
#include "scan_max_lanes.inc"

#endif
