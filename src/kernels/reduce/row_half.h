/* row_half.h - vectors of f32 to and from floats of 16 bits, as half.h rounds them
 * (bf16 with AVX-512: row_brain.h). */
#ifndef TNI_ROW_HALF_H
#define TNI_ROW_HALF_H

#include "row_vector.h"

#if defined(__AVX512F__)

INLINE vd half_vd(const char *p)
{
    const __m256 v = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
    in_order();
    return _mm512_cvtps_pd(v);
}

/* The elements of a, then those of b. */
INLINE vf_bits halves_of(vf a, vf b)
{
    const __m256i low = _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
    const __m256i high = _mm512_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT);
    return (vf_bits)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

#else

/* Bits of f32, no NaN with a payload among them, so that the upper halves are bf16. */
INLINE vf_words brain_bits(vf v)
{
    const vf_words bits = (vf_words)v;
    return bits + 0x7fffu + (bits >> 16 & 1u);
}

INLINE vd half_vd(const char *p)
{
    const __m128 v = _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)p));
    in_order();
    return _mm256_cvtps_pd(v);
}
INLINE vd brain_vd(const char *p)
{
    const __m128i v = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
    in_order();
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(v, 16)));
}
INLINE vf_bits halves_of(vf a, vf b)
{
    return (vf_bits)_mm256_set_m128i(_mm256_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT),
                                     _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
INLINE vf_bits brains_of(vf a, vf b)
{
    const __m256i both =
        _mm256_packus_epi32((__m256i)(brain_bits(a) >> 16), (__m256i)(brain_bits(b) >> 16));
    return (vf_bits)_mm256_permute4x64_epi64(both, 0xd8);
}

#endif
#endif
