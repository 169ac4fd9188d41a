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
