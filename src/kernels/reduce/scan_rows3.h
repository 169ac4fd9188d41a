/* scan_rows3.h - running sums of dense rows of three f32, eight rows at a time (AVX2): lanes
 * of four rows have each element at places of its own, so that blends take rows apart and join
 * them.
 *
 * A sum of two f32 is rounded once whether it is one of f32 or of f64; (c + b) + a is one of
 * f64. */
#ifndef TNI_SCAN_ROWS3_H
#define TNI_SCAN_ROWS3_H

/* Both lanes at x and 48 bytes behind. */
INLINE __m256 load_apart(const char *x)
{
    const __m128 low = _mm_loadu_ps((const float *)(const void *)x);
    return _mm256_set_m128(_mm_loadu_ps((const float *)(const void *)(x + 48)), low);
}

INLINE void put_apart(char *d, __m256 v)
{
    _mm_storeu_ps((float *)(void *)d, _mm256_castps256_ps128(v));
    _mm_storeu_ps((float *)(void *)(d + 48), _mm256_extractf128_ps(v, 1));
}

INLINE __m256 quiet_eight(__m256 v)
{
    return _mm256_blendv_ps(v, _mm256_set1_ps(NAN), _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

/* (c + b) + a in f64, of a lane. */
INLINE __m128 sum_of_three(__m128 a, __m128 b, __m128 c)
{
    const quad two = _mm256_add_pd(_mm256_cvtps_pd(c), _mm256_cvtps_pd(b));
    return _mm256_cvtpd_ps(_mm256_add_pd(two, _mm256_cvtps_pd(a)));
}

/* Each of three vectors has the elements of a lane at other places: 0 1 2 0, 1 2 0 1, 2 0 1
 * 2. */
INLINE __m256 first_of_threes(const __m256 *v)
{
    return _mm256_blend_ps(_mm256_blend_ps(v[0], v[1], 0x44), v[2], 0x22);
}
INLINE __m256 second_of_threes(const __m256 *v)
{
    return _mm256_blend_ps(_mm256_blend_ps(v[1], v[0], 0x22), v[2], 0x44);
}
INLINE __m256 third_of_threes(const __m256 *v)
{
    return _mm256_blend_ps(_mm256_blend_ps(v[2], v[1], 0x22), v[0], 0x44);
}

INLINE void eight_threes(char *d, const char *x)
{
    /* Rows 0 3 2 1 and 1 0 3 2 in the order 2 1 0 3, and back. */
    enum { FIRST = 0x4e, SECOND = 0x93, FIRST_BACK = 0x4e, SECOND_BACK = 0x39 };
    const __m256 v[3] = {load_apart(x), load_apart(x + 16), load_apart(x + 32)};
    const __m256 a = _mm256_permute_ps(first_of_threes(v), FIRST);
    const __m256 b = _mm256_permute_ps(second_of_threes(v), SECOND), c = third_of_threes(v);
    const __m128 low = sum_of_three(_mm256_castps256_ps128(a), _mm256_castps256_ps128(b),
                                    _mm256_castps256_ps128(c));
    const __m128 high = sum_of_three(_mm256_extractf128_ps(a, 1), _mm256_extractf128_ps(b, 1),
                                     _mm256_extractf128_ps(c, 1));
    const __m256 zero = _mm256_setzero_ps(); /* no sum is -0 */
    __m256 y[3] = {_mm256_add_ps(a, zero), _mm256_add_ps(_mm256_add_ps(b, a), zero),
                   _mm256_add_ps(_mm256_set_m128(high, low), zero)};
    if (_mm256_movemask_ps(_mm256_cmp_ps(y[2], y[2], _CMP_UNORD_Q)) != 0) /* where any is */
        for (int k = 0; k < 3; k++)
            y[k] = quiet_eight(y[k]);
    y[0] = _mm256_permute_ps(y[0], FIRST_BACK);
    y[1] = _mm256_permute_ps(y[1], SECOND_BACK);
    put_apart(d, _mm256_blend_ps(_mm256_blend_ps(y[0], y[1], 0x22), y[2], 0x44));
    put_apart(d + 16, _mm256_blend_ps(_mm256_blend_ps(y[1], y[2], 0x22), y[0], 0x44));
    put_apart(d + 32, _mm256_blend_ps(_mm256_blend_ps(y[2], y[0], 0x22), y[1], 0x44));
}

/* Of rows of them; gives the number of rows that it takes. */
static int64_t threes_f32(char *d, const char *x, int64_t rows)
{
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8)
        eight_threes(d + 12 * i, x + 12 * i);
    return i;
}

#endif
