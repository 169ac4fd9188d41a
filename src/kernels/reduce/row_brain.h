/* row_brain.h - rms_norm of bf16 with AVX-512.  A word of 32 bits holds two elements: a shift
 * makes the even one f32, a mask the odd one.  Even and odd elements therefore stay in separate
 * vectors until they are stored. */
#ifndef TNI_ROW_BRAIN_H
#define TNI_ROW_BRAIN_H

#include "row_vector.h"

#define BRAIN_ODD (_mm512_set1_epi32((int)0xffff0000))

/* Sixteen elements as f64: lanes 0, 2, ... in out[0], lanes 1, 3, ... in out[1]. */
INLINE void brain_row(vd *out, const char *p)
{
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
    in_order();
    const __m256i odd = _mm256_and_si256(v, _mm512_castsi512_si256(BRAIN_ODD));
    out[0] = _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(v, 16)));
    out[1] = _mm512_cvtps_pd(_mm256_castsi256_ps(odd));
}

/* Add the even, or the odd, lanes of a block by halves. */
INLINE double brain_merge(vd q)
{
    const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(q), _mm512_extractf64x4_pd(q, 1));
    const __m128d two =
        _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* The sum by the tree of the squares of n <= 2048 elements. */
static double squares_bf16(const char *x, int64_t n)
{
    vd q[2] = {splat_vd(-0.0), splat_vd(-0.0)};
    for (int64_t t = 0; t < n; t += TNI_TILE) {
        const char *p = x + 2 * t;
        char rest[2 * TNI_TILE]; /* absent elements are +0, whose squares add nothing */
        if (n - t < TNI_TILE) {
            memset(rest, 0, sizeof rest);
            memcpy(rest, p, (size_t)(2 * (n - t)));
            p = rest;
        }
        vd even[4], odd[4];
        UNROLLED for (int k = 0; k < 4; k++)
        {
            vd a[2], b[2];
            brain_row(a, p + 64 * k);
            brain_row(b, p + 64 * k + 32);
            even[k] = squares_vd(a[0], b[0]);
            odd[k] = squares_vd(a[1], b[1]);
        }
        q[0] += (even[0] + even[1]) + (even[2] + even[3]);
        q[1] += (odd[0] + odd[1]) + (odd[2] + odd[3]);
    }
    return brain_merge(q[0]) + brain_merge(q[1]);
}

/* even and odd as bf16, interleaved.  An element is rounded up if its lower 16 bits exceed one
 * half, or equal one half while its upper 16 bits are odd.  No NaN has a payload. */
INLINE __m512i brain_round(vf even, vf odd)
{
    const __mmask32 second = 0xaaaaaaaa;
    const __m512i e = _mm512_castps_si512(even), o = _mm512_castps_si512(odd);
    const __m512i one = _mm512_set1_epi16(1), half = _mm512_set1_epi16(INT16_MIN);
    const __m512i upper = _mm512_mask_blend_epi16(second, _mm512_srli_epi32(e, 16), o);
    const __m512i lower = _mm512_mask_blend_epi16(second, e, _mm512_slli_epi32(o, 16));
    const __m512i sticky = _mm512_or_si512(lower, _mm512_and_si512(upper, one));
    return _mm512_mask_add_epi16(upper, _mm512_cmpgt_epu16_mask(sticky, half), upper, one);
}

/* Scale the 32 elements v by r and by their weights at w, unless w is NULL; keep masks the
 * elements that exist. */
INLINE __m512i brain_scaled(__m512i v, const char *w, __mmask32 keep, float r)
{
    vf even = _mm512_castsi512_ps(_mm512_slli_epi32(v, 16)) * r;
    vf odd = _mm512_castsi512_ps(_mm512_and_si512(v, BRAIN_ODD)) * r;
    if (w) {
        const __m512i at =
            _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
        const vf a = _mm512_maskz_loadu_ps((__mmask16)keep, w);
        const vf b = _mm512_maskz_loadu_ps((__mmask16)(keep >> 16), w + V);
        even = even * _mm512_permutex2var_ps(a, at, b);
        odd = odd * _mm512_permutex2var_ps(a, _mm512_add_epi32(at, _mm512_set1_epi32(1)), b);
    }
    return brain_round(number_vf(even), number_vf(odd));
}

static void rms_bf16(char *d, const char *x, const char *w, int64_t n, double by, bool stream)
{
    enum { EACH = V / 2 };
    const float r = (float)by;
    int64_t i = 0;
    for (; i + EACH <= n; i += EACH) {
        const __m512i v = _mm512_loadu_si512(x + 2 * i);
        const __m512i made = brain_scaled(v, w ? w + 4 * i : NULL, (__mmask32)-1, r);
        put_bytes(d + 2 * i, &made, V, stream);
    }
    if (i == n)
        return;
    const __mmask32 keep = (__mmask32)((1u << (n - i)) - 1);
    const __m512i v = _mm512_maskz_loadu_epi16(keep, x + 2 * i);
    _mm512_mask_storeu_epi16(d + 2 * i, keep, brain_scaled(v, w ? w + 4 * i : NULL, keep, r));
}

#endif
