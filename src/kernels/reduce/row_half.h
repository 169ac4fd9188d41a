/* row_half.h - conversions between vectors of f32 and 16-bit floats, rounded as in core/half.h.
 * half is f16, brain is bf16 (for bf16 with AVX-512, see row_brain.h). */
#ifndef TNI_ROW_HALF_H
#define TNI_ROW_HALF_H

#include "row_vector.h"

/* The bits of v, rounded so that the upper 16 of each lane are a bf16.  No NaN of v has a
 * payload, so that rounding keeps it a NaN. */
INLINE vf_words brain_bits(vf v)
{
    const vf_words bits = (vf_words)v;
    return bits + 0x7fffu + (bits >> 16 & 1u);
}

/* The first n < VF elements, followed by zeros. */
INLINE vf half_part(const char *p, int64_t n)
{
    char some[V / 2] = {0};
    few_bytes(some, p, 2 * n);
    return half_vf(some);
}
INLINE vf brain_part(const char *p, int64_t n)
{
    char some[V / 2] = {0};
    few_bytes(some, p, 2 * n);
    return brain_vf(some);
}

#if defined(__AVX512F__)

typedef __m256i half_bits;
INLINE half_bits halves_one(vf v)
{
    return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
}
INLINE half_bits brains_one(vf v)
{
    return _mm512_cvtepi32_epi16((__m512i)(brain_bits(v) >> 16));
}
INLINE void put_half(char *d, half_bits v, bool stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)(void *)d, v);
    else
        memcpy(d, &v, sizeof v);
}

INLINE vd half_vd(const char *p)
{
    const __m256 v = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
    in_order();
    return _mm512_cvtps_pd(v);
}

/* The elements of a, then those of b, as one vector. */
INLINE vf_bits halves_of(vf a, vf b)
{
    const __m256i low = _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
    const __m256i high = _mm512_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT);
    return (vf_bits)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
INLINE vf_bits brains_of(vf a, vf b)
{
    const __m512i low = _mm512_castsi256_si512(brains_one(a));
    return (vf_bits)_mm512_inserti64x4(low, brains_one(b), 1);
}

#else

typedef __m128i half_bits;
INLINE half_bits halves_one(vf v)
{
    return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
}
INLINE half_bits brains_one(vf v)
{
    const __m256i upper = (__m256i)(brain_bits(v) >> 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
}
INLINE void put_half(char *d, half_bits v, bool stream)
{
    if (stream)
        _mm_stream_si128((__m128i *)(void *)d, v);
    else
        memcpy(d, &v, sizeof v);
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

INLINE void halves_put(char *d, vf v, bool stream)
{
    put_half(d, halves_one(v), stream);
}
INLINE void brains_put(char *d, vf v, bool stream)
{
    put_half(d, brains_one(v), stream);
}
/* Store two vectors as one. */
INLINE void halves_put_pair(char *d, vf a, vf b, bool stream)
{
    const vf_bits made = halves_of(a, b);
    put_bytes(d, &made, V, stream);
}
INLINE void brains_put_pair(char *d, vf a, vf b, bool stream)
{
    const vf_bits made = brains_of(a, b);
    put_bytes(d, &made, V, stream);
}
/* Store the first n < VF elements. */
INLINE void halves_put_some(char *d, vf v, int64_t n)
{
    const half_bits made = halves_one(v);
    few_bytes(d, (const char *)&made, 2 * n);
}
INLINE void brains_put_some(char *d, vf v, int64_t n)
{
    const half_bits made = brains_one(v);
    few_bytes(d, (const char *)&made, 2 * n);
}

#endif
