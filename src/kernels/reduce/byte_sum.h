/* byte_sum.h - sums of dense bytes and of their squares, by instructions that add groups of
 * bytes. */
#ifndef TNI_BYTE_SUM_H
#define TNI_BYTE_SUM_H

#include <stdint.h>
#include <string.h>

#include "kernels/simd/nontemporal.h"

/* bytes_add: add the bytes of each word of v to the same word of s. */
#if defined(__AVX512BW__)
typedef __m512i bytes;
typedef __m512i bytes_sum;
INLINE bytes_sum bytes_add(bytes_sum s, bytes v)
{
    return _mm512_add_epi64(s, _mm512_sad_epu8(v, _mm512_setzero_si512()));
}
#elif defined(__AVX2__)
typedef __m256i bytes;
typedef __m256i bytes_sum;
INLINE bytes_sum bytes_add(bytes_sum s, bytes v)
{
    return _mm256_add_epi64(s, _mm256_sad_epu8(v, _mm256_setzero_si256()));
}
#elif defined(__SSE2__)
typedef __m128i bytes;
typedef __m128i bytes_sum;
INLINE bytes_sum bytes_add(bytes_sum s, bytes v)
{
    return _mm_add_epi64(s, _mm_sad_epu8(v, _mm_setzero_si128()));
}
#elif defined(__aarch64__)
#include <arm_neon.h>
typedef uint8x16_t bytes;
typedef uint64x2_t bytes_sum;
INLINE bytes_sum bytes_add(bytes_sum s, bytes v)
{
    return vpadalq_u32(s, vpaddlq_u16(vpaddlq_u8(v)));
}
#else
typedef uint8_t bytes;
typedef uint64_t bytes_sum;
INLINE bytes_sum bytes_add(bytes_sum s, bytes v)
{
    return s + v;
}
#endif
enum { BYTES = sizeof(bytes), BYTES_WORDS = sizeof(bytes_sum) / 8 };

INLINE bytes bytes_at(const void *x)
{
    bytes v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* The sum of n bytes after exclusive or with flip. */
INLINE uint64_t sum_of_bytes(const char *x, int64_t n, uint8_t flip)
{
    uint64_t word[BYTES_WORDS], total = 0;
    uint8_t same[BYTES], rest[2 * BYTES];
    bytes_sum s, t;
    memset(same, flip, sizeof same);
    memset(&s, 0, sizeof s);
    memset(&t, 0, sizeof t);
    const bytes flips = bytes_at(same);
    int64_t i = 0;
    for (; i + 2 * BYTES <= n; i += 2 * BYTES) {
        s = bytes_add(s, bytes_at(x + i) ^ flips);
        t = bytes_add(t, bytes_at(x + i + BYTES) ^ flips);
    }
    if (i + BYTES <= n) {
        s = bytes_add(s, bytes_at(x + i) ^ flips);
        i += BYTES;
    }
    if (i < n) { /* the last vector; its overlap or padding is made 0 */
        if (n < BYTES) {
            memcpy(rest, same, BYTES);
            memcpy(rest, x, (size_t)n);
            s = bytes_add(s, bytes_at(rest) ^ flips);
        } else {
            memset(rest, 0, BYTES);
            memset(rest + BYTES, 0xff, BYTES);
            s = bytes_add(s, (bytes_at(x + n - BYTES) ^ flips) & bytes_at(rest + (n - i)));
        }
    }
    memcpy(word, &s, sizeof word);
    for (int k = 0; k < BYTES_WORDS; k++)
        total += word[k];
    memcpy(word, &t, sizeof word);
    for (int k = 0; k < BYTES_WORDS; k++)
        total += word[k];
    return total;
}

#if defined(__AVX2__)
/* Add the squares of the 16 bytes at x to s, two to each 32-bit word. */
INLINE __m256i bytes_squared(__m256i s, const char *x, bool sign)
{
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)x);
    const __m256i v = sign ? _mm256_cvtepi8_epi16(b) : _mm256_cvtepu8_epi16(b);
    return _mm256_add_epi32(s, _mm256_madd_epi16(v, v));
}

/* The sum of the squares of n <= 2048 bytes. */
INLINE int32_t squares_of_bytes(const char *x, int64_t n, bool sign)
{
    __m256i s = _mm256_setzero_si256(), t = s;
    char rest[32] = {0};
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        s = bytes_squared(s, x + i, sign);
        t = bytes_squared(t, x + i + 16, sign);
    }
    if (i < n) {
        memcpy(rest, x + i, (size_t)(n - i));
        s = bytes_squared(s, rest, sign);
        t = bytes_squared(t, rest + 16, sign);
    }
    s = _mm256_add_epi32(s, t);
    __m128i q = _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
    q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(q, _mm_shuffle_epi32(q, 0xb1)));
}
#endif

#endif
