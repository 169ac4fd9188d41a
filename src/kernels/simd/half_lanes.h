/* half_lanes.h - conversion of f16 and bf16 to f32 and back, a vector at a time.
 *
 * f16_f32 and f32_f16_half read HALVES elements, f32_f16 reads TWO_HALVES, the others a block;
 * every value is converted as half.h defines it. */
#ifndef TNI_HALF_LANES_H
#define TNI_HALF_LANES_H

#include "core/core.h"
#include "kernels/ops/op_table.h"
#include "nontemporal.h"

#if defined(__AVX512F__)
#include <immintrin.h>

enum { HALVES = 16, TWO_HALVES = 32 };
INLINE void f16_f32(char *d, const char *s)
{
    const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)s);
    _mm512_storeu_ps((void *)d, _mm512_cvtph_ps(x));
}
INLINE void f32_f16_half(char *d, const char *s)
{
    const __m512 x = _mm512_loadu_ps((const void *)s);
    _mm256_storeu_si256((__m256i *)(void *)d, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
INLINE void f32_f16(char *d, const char *s)
{
    const __m512 x = _mm512_loadu_ps((const void *)s),
                 y = _mm512_loadu_ps((const void *)(s + 64));
    const __m256i low = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    const __m256i high = _mm512_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT);
    _mm512_storeu_si512((void *)d, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
}

#elif defined(__F16C__)
#include <immintrin.h>

enum { HALVES = 8, TWO_HALVES = 16 };
INLINE void f16_f32(char *d, const char *s)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)s);
    _mm256_storeu_ps((float *)(void *)d, _mm256_cvtph_ps(x));
}
INLINE void f32_f16_half(char *d, const char *s)
{
    const __m256 x = _mm256_loadu_ps((const float *)(const void *)s);
    _mm_storeu_si128((__m128i *)(void *)d, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
INLINE void f32_f16(char *d, const char *s)
{
    const __m256 x = _mm256_loadu_ps((const float *)(const void *)s);
    const __m256 y = _mm256_loadu_ps((const float *)(const void *)(s + 32));
    const __m128i low = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    const __m128i high = _mm256_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256((__m256i *)(void *)d, _mm256_set_m128i(high, low));
}

#else

/* Loops of constant length, which the compiler vectorises. */
enum { HALVES = 16, TWO_HALVES = 16 };
INLINE void f16_f32(char *d, const char *s)
{
    uint16_t x[HALVES];
    float r[HALVES];
    memcpy(x, s, sizeof x);
    for (int j = 0; j < HALVES; j++)
        r[j] = tni_f32_of_f16(x[j]);
    memcpy(d, r, sizeof r);
}
INLINE void f32_f16(char *d, const char *s)
{
    float x[TWO_HALVES];
    uint16_t r[TWO_HALVES];
    memcpy(x, s, sizeof x);
    for (int j = 0; j < TWO_HALVES; j++)
        r[j] = tni_f16_of_f32(x[j]);
    memcpy(d, r, sizeof r);
}
INLINE void f32_f16_half(char *d, const char *s)
{
    f32_f16(d, s);
}
#endif

/* A bf16 is the upper half of an f32.  The loops access memory of any alignment; the compiler
 * vectorises them. */
enum { PAIRS = TNI_BLOCK / 4 };
typedef uint16_t loose16 __attribute__((aligned(1), may_alias));
typedef uint32_t loose32 __attribute__((aligned(1), may_alias));
#define PLACE(type, p) ((type *)(void *)(p))
#define LOOK(type, p)  ((const type *)(const void *)(p))

INLINE void bf16_f32(char *d, const char *s)
{
    for (int j = 0; j < 2 * PAIRS; j++)
        PLACE(loose32, d)[j] = (uint32_t)LOOK(loose16, s)[j] << 16;
}

/* Widen the lower element of each pair, then the upper ones: no element leaves its 32-bit
 * lane. */
INLINE void bf16_split_lanes(char *d, const char *s)
{
    for (int j = 0; j < PAIRS; j++)
        PLACE(loose32, d)[j] = LOOK(loose32, s)[j] << 16;
    for (int j = 0; j < PAIRS; j++)
        PLACE(loose32, d)[PAIRS + j] = LOOK(loose32, s)[j] & 0xffff0000u;
}

/* Round the output of bf16_split_lanes back to bf16.  A NaN that an op computes has no payload,
 * so rounding preserves it. */
INLINE void bf16_together(char *d, const char *s)
{
    const loose32 *x = LOOK(loose32, s), *y = x + PAIRS;
    loose32 *r = PLACE(loose32, d);
    for (int j = 0; j < PAIRS; j++)
        r[j] = tni_bf16_rounded(x[j]) >> 16 | (tni_bf16_rounded(y[j]) & 0xffff0000u);
}

#endif
