/* scan_keys64.h - keys of f64 by vectors of four (AVX2): compilers need many more instructions
 * for these shifts and comparisons (docs/investigations/reductions.md, "Scans on Zen 3").  The
 * functions process whole vectors and return the number of elements that these hold. */
#ifndef TNI_SCAN_KEYS64_H
#define TNI_SCAN_KEYS64_H

/* Make the order of integers that of floats: invert the bits of negative numbers except for the
 * sign.  The function is its own inverse. */
INLINE __m256i order_quad(__m256i b)
{
    const __m256i below = _mm256_cmpgt_epi64(_mm256_setzero_si256(), b);
    return _mm256_xor_si256(b, _mm256_srli_epi64(below, 1));
}

INLINE __m256i key_quad(const char *x, __m256i flip, __m256i nan)
{
    const __m256i b = load32(x);
    const __m256d v = _mm256_castsi256_pd(b), is_nan = _mm256_cmp_pd(v, v, _CMP_UNORD_Q);
    const __m256i k = _mm256_xor_si256(order_quad(b), flip);
    return _mm256_blendv_epi8(k, nan, _mm256_castpd_si256(is_nan));
}

INLINE __m256i back_quad(__m256i k, __m256i flip, __m256i nan)
{
    const __m256i b = order_quad(_mm256_xor_si256(k, flip));
    return _mm256_blendv_epi8(b, nan, _mm256_cmpeq_epi64(k, nan));
}

INLINE int64_t keys_of_quads(int64_t *k, const char *x, int64_t n, const tni_scan_rule *r)
{
    const __m256i flip = _mm256_set1_epi64x(r->flip), nan = _mm256_set1_epi64x(r->nan);
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        _mm256_storeu_si256((__m256i *)(void *)(k + i), key_quad(x + 8 * i, flip, nan));
    return i;
}

INLINE int64_t back_of_quads(char *d, const int64_t *k, int64_t n, const tni_scan_rule *r)
{
    const __m256i flip = _mm256_set1_epi64x(r->flip), nan = _mm256_set1_epi64x(r->nan);
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        _mm256_storeu_si256((__m256i *)(void *)(d + 8 * i),
                            back_quad(load32((const char *)(k + i)), flip, nan));
    return i;
}

/* d is NULL if only the states are wanted. */
INLINE int64_t columns_of_quads(char *d, const char *x, int64_t w, int64_t *state,
                                const tni_scan_rule *r)
{
    const __m256i flip = _mm256_set1_epi64x(r->flip), nan = _mm256_set1_epi64x(r->nan);
    int64_t c = 0;
    for (; c + 4 <= w; c += 4) {
        const __m256i before = load32((const char *)(state + c));
        const __m256i s = larger64(before, key_quad(x + 8 * c, flip, nan));
        _mm256_storeu_si256((__m256i *)(void *)(state + c), s);
        if (d)
            _mm256_storeu_si256((__m256i *)(void *)(d + 8 * c), back_quad(s, flip, nan));
    }
    return c;
}

#endif
