/* cast_odd.h - f64 to f32, rounded to odd, by vectors of AVX2 and AVX-512 (core/half.h says
 * what odd means). */
#ifndef TNI_CAST_ODD_H
#define TNI_CAST_ODD_H

#include "core/core.h"
#include "kernels/ops/op_loop.h"

#if defined(__AVX512F__)

/* Conversion cuts bits off.  Where there were any, the last bit is set: the neighbours of a
 * number that f32 has not are the number cut off and the next one, of which one is odd. */
INLINE void f64_odds(char *d, const char *s, int64_t n)
{
    for (; n > 0; n -= 8, d += 32, s += 64) {
        const __mmask8 some = (__mmask8)(n < 8 ? (1u << n) - 1 : 0xff);
        const __m512d x = _mm512_maskz_loadu_pd(some, s);
        const __m256 cut = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const __mmask8 more = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), x, _CMP_NEQ_OQ);
        const __m256i bits = _mm256_castps_si256(cut);
        _mm256_mask_storeu_epi32(d, some,
                                 _mm256_mask_or_epi32(bits, more, bits, _mm256_set1_epi32(1)));
    }
}

#elif defined(__AVX2__)

enum { ODD = 8 }; /* elements at once */

/* Four numbers whose last bits, which f32 has not, are in the lowest one that it has. */
INLINE __m128 odd_four(__m256i x)
{
    const __m256i last = _mm256_set1_epi64x(0x1fffffff);
    const __m256i any = _mm256_add_epi64(_mm256_and_si256(x, last), last);
    return _mm256_cvtpd_ps((__m256d)_mm256_andnot_si256(last, _mm256_or_si256(x, any)));
}

/* Whether some of eight numbers, of which h are the upper halves, have more or fewer last bits
 * as f32: those below 2^-126 but 0, and from 2^128 on but infinity and NaN. */
INLINE bool odd_ends(__m256i h)
{
    const __m256i low = _mm256_set1_epi32(897 << 20), range = _mm256_set1_epi32(254 << 20);
    const __m256i size = _mm256_and_si256(h, _mm256_set1_epi32(INT32_MAX));
    const __m256i over = _mm256_sub_epi32(size, low); /* below: larger than all */
    const __m256i outside = _mm256_cmpeq_epi32(_mm256_max_epu32(over, range), over);
    const __m256i zero = _mm256_cmpeq_epi32(size, _mm256_setzero_si256());
    const __m256i infinite = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7fefffff));
    return !_mm256_testc_si256(_mm256_or_si256(zero, infinite), outside);
}

/* n numbers, whatever they are. */
INLINE void odd_any(char *d, const char *s, int64_t n)
{
    LOOSE(double, float);
    INDEPENDENT for (int64_t j = 0; j < n; j++)
    {
        SET(d, j) = tni_f32_odd(AT(s, j));
    }
}

INLINE void odd_eight(char *d, __m256i a, __m256i b)
{
    _mm256_storeu_ps((float *)(void *)d, _mm256_set_m128(odd_four(b), odd_four(a)));
}

/* Eight at a time; where some have other last bits, more of them may follow. */
INLINE void f64_odds(char *d, const char *s, int64_t n)
{
    enum { FOLLOW = 128 };
    int64_t m;
    for (; n > 0; n -= m, d += 4 * m, s += 8 * m) {
        m = n < FOLLOW ? n : FOLLOW;
        if (n >= ODD) {
            const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)s),
                          b = _mm256_loadu_si256((const __m256i *)(const void *)(s + 32));
            if (!odd_ends((__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd))) {
                odd_eight(d, a, b);
                m = ODD;
                continue;
            }
        }
        odd_any(d, s, m);
    }
}

#endif

#endif
