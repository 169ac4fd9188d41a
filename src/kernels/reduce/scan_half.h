/* scan_half.h - conversion of eight 16-bit floats to and from f64, rounded once.
 *
 * f64 becomes f32 rounded to odd (the last bit is set if any bits were cut off), so that
 * rounding f32 to 16 bits gives the same result as rounding f64 directly. */
#ifndef TNI_SCAN_HALF_H
#define TNI_SCAN_HALF_H

typedef uint16_t eight16 __attribute__((vector_size(16)));
typedef uint32_t eight32 __attribute__((vector_size(32)));

/* f64 to f32, rounded to odd; a NaN becomes the positive quiet NaN. */
INLINE void odd_half(half *f, const group *v)
{
#if defined(__AVX512F__)
    const __m256 cut = _mm512_cvt_roundpd_ps(*v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __mmask8 more = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), *v, _CMP_NEQ_OQ);
    const __m256i bits = _mm256_castps_si256(cut);
    *f = (half)_mm256_mask_or_epi32(bits, more, bits, _mm256_set1_epi32(1));
#else
    typedef int64_t bits64 __attribute__((vector_size(64)));
    const bits64 magnitude = (bits64){0} + INT64_MAX;
    *f = __builtin_convertvector(*v, half);
    const group back = __builtin_convertvector(*f, group);
    const group a = (group)((bits64)back & magnitude), b = (group)((bits64)*v & magnitude);
    const bits64 above = a > b, cut = a != b;
    bits32 bits = (bits32)*f + __builtin_convertvector(above, bits32);
    bits |= __builtin_convertvector(cut, bits32) & 1;
    *f = (half)bits;
#endif
    quiet(f);
}

#if defined(__AVX512F__)
/* Two groups as f32, rounded to odd.  A sum of 16-bit floats is a multiple of the smallest of
 * them, which f32 has in full where it is subnormal: bits are cut off only behind the 24th. */
INLINE __m512 odd_pair(const group *a, const group *b)
{
    enum { NOT_NAN = 0x11111100 }; /* for vfixupimm: NaN becomes the first operand */
    const __m512i low = _mm512_set1_epi64(0x1fffffff), last = _mm512_set1_epi64(0x20000000);
    __m512i v[2] = {(__m512i)*a, (__m512i)*b};
    __m256 f[2];
    for (int k = 0; k < 2; k++) {
        v[k] = _mm512_mask_or_epi64(v[k], _mm512_test_epi64_mask(v[k], low), v[k], last);
        f[k] = _mm512_cvt_roundpd_ps((__m512d)v[k], _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    }
    const __m512 both = _mm512_insertf32x8(_mm512_castps256_ps512(f[0]), f[1], 1);
    return _mm512_fixupimm_ps(_mm512_set1_ps(NAN), both, _mm512_set1_epi32(NOT_NAN), 0);
}

/* w <= 8 elements of two groups at d and e. */
INLINE void put_two(char *d, char *e, __m256i v, int64_t w)
{
    const __m128i a = _mm256_castsi256_si128(v), b = _mm256_extracti128_si256(v, 1);
    if (w < 8) {
        _mm_mask_storeu_epi16(d, first_eight(w), a);
        _mm_mask_storeu_epi16(e, first_eight(w), b);
        return;
    }
    _mm_storeu_si128((__m128i *)(void *)d, a);
    _mm_storeu_si128((__m128i *)(void *)e, b);
}

INLINE void put_two_bf16(char *d, char *e, const group *a, const group *b, int64_t w)
{
    __m512i v = _mm512_castps_si512(odd_pair(a, b));
    const __m512i even = _mm512_and_si512(_mm512_srli_epi32(v, 16), _mm512_set1_epi32(1));
    v = _mm512_add_epi32(_mm512_add_epi32(v, _mm512_set1_epi32(0x7fff)), even);
    put_two(d, e, _mm512_cvtepi32_epi16(_mm512_srli_epi32(v, 16)), w);
}

INLINE void put_two_f16(char *d, char *e, const group *a, const group *b, int64_t w)
{
    put_two(d, e, _mm512_cvtps_ph(odd_pair(a, b), _MM_FROUND_TO_NEAREST_INT), w);
}
#endif

INLINE void load_bits16(eight16 *h, const char *x, __attribute__((unused)) int64_t w)
{
#if defined(__AVX512F__)
    if (w < 8) {
        *h = (eight16)_mm_maskz_loadu_epi16(first_eight(w), x);
        return;
    }
#endif
    memcpy(h, x, sizeof *h);
}

INLINE void put_bits16(char *d, const eight16 *h, __attribute__((unused)) int64_t w)
{
#if defined(__AVX512F__)
    if (w < 8) {
        _mm_mask_storeu_epi16(d, first_eight(w), (__m128i)*h);
        return;
    }
#endif
    memcpy(d, h, sizeof *h);
}

INLINE void load_bf16(group *v, const char *x, int64_t w)
{
    eight16 h;
    load_bits16(&h, x, w);
#if defined(__AVX512F__)
    const half f = (half)_mm256_slli_epi32(_mm256_cvtepu16_epi32((__m128i)h), 16);
#else
    const half f = (half)(__builtin_convertvector(h, eight32) << 16);
#endif
    widen_half(v, &f);
}

INLINE void put_bf16(char *d, const group *v, int64_t w, bool stream)
{
    half f;
    (void)stream;
    odd_half(&f, v);
    const eight32 bits = (eight32)f, upper = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
#if defined(__AVX512F__)
    const eight16 h = (eight16)_mm256_cvtepi32_epi16((__m256i)upper);
#else
    const eight16 h = __builtin_convertvector(upper, eight16);
#endif
    put_bits16(d, &h, w);
}

#if defined(__AVX2__)
INLINE void load_f16(group *v, const char *x, int64_t w)
{
    eight16 h;
    load_bits16(&h, x, w);
    const half f = _mm256_cvtph_ps((__m128i)h);
    widen_half(v, &f);
}

INLINE void put_f16(char *d, const group *v, int64_t w, bool stream)
{
    half f;
    (void)stream;
    odd_half(&f, v);
    const eight16 h = (eight16)_mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT);
    put_bits16(d, &h, w);
}
#endif

#endif
