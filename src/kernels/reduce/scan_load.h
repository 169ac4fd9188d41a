/* scan_load.h - loads and stores of w <= 8 columns of f32 and of states; without AVX-512, w is
 * 8. */
#ifndef TNI_SCAN_LOAD_H
#define TNI_SCAN_LOAD_H

#if defined(__AVX512F__)
INLINE __mmask8 first_eight(int64_t w)
{
    return (__mmask8)((1u << w) - 1);
}
#endif

INLINE void widen_half(group *v, const half *f)
{
#if defined(__AVX512F__)
    *v = _mm512_cvtps_pd(*f);
#else
    *v = __builtin_convertvector(*f, group);
#endif
}

INLINE void load_states(group *v, const double *p, __attribute__((unused)) int64_t w)
{
#if defined(__AVX512F__)
    if (w < 8) {
        *v = _mm512_maskz_loadu_pd(first_eight(w), p);
        return;
    }
#endif
    memcpy(v, p, sizeof *v);
}

INLINE void put_states(double *p, const group *v, __attribute__((unused)) int64_t w)
{
#if defined(__AVX512F__)
    if (w < 8) {
        _mm512_mask_storeu_pd(p, first_eight(w), *v);
        return;
    }
#endif
    memcpy(p, v, sizeof *v);
}

INLINE void load_f32(group *v, const char *x, __attribute__((unused)) int64_t w)
{
#if defined(__AVX512F__)
    if (w < 8) {
        *v = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(first_eight(w), x));
        return;
    }
#endif
    load_group(v, x);
}

INLINE void put_f32(char *d, const group *v, __attribute__((unused)) int64_t w, bool stream)
{
    half f = __builtin_convertvector(*v, half);
    quiet(&f);
#if defined(__AVX512F__)
    if (w < 8) {
        _mm256_mask_storeu_ps(d, first_eight(w), f);
        return;
    }
#endif
    put_half(d, &f, stream);
}

#endif
