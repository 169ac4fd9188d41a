/* scan_quad.h - running sums in f64 by vectors of four (AVX2); a group is two vectors.
 *
 * Absent elements are +0, although the contract says -0.  The two differ only in the sign of
 * sums that are zero, and such sums are +0 in any case, because `before` is made +0 if it is
 * -0. */
#ifndef TNI_SCAN_QUAD_H
#define TNI_SCAN_QUAD_H

typedef __m256d quad;

/* Loads and stores of one element at any address. */
INLINE __m128 one_f32(const char *x)
{
    float f;
    memcpy(&f, x, sizeof f);
    return _mm_set_ss(f);
}
INLINE __m128d one_f64(const char *x)
{
    double f;
    memcpy(&f, x, sizeof f);
    return _mm_set_sd(f);
}
INLINE void put_one_f32(char *d, __m128 v)
{
    const float f = _mm_cvtss_f32(v);
    memcpy(d, &f, sizeof f);
}
INLINE void put_one_f64(char *d, __m128d v)
{
    const double f = _mm_cvtsd_f64(v);
    memcpy(d, &f, sizeof f);
}

/* The prefix sums of the eight elements in lo and hi: p[i] adds p[i - 1], then p[i - 2], then
 * p[i - 4]. */
INLINE void run_pair(quad *lo, quad *hi)
{
    quad a = _mm256_permute2f128_pd(*lo, *lo, 0x08); /* 0, 0, p[0], p[1] */
    quad b = _mm256_permute2f128_pd(*lo, *hi, 0x21); /* p[2] to p[5] */
    a = _mm256_shuffle_pd(a, *lo, 0x5);
    b = _mm256_shuffle_pd(b, *hi, 0x5);
    *lo = _mm256_add_pd(*lo, a);
    *hi = _mm256_add_pd(*hi, b);
    a = _mm256_permute2f128_pd(*lo, *lo, 0x08);
    b = _mm256_permute2f128_pd(*lo, *hi, 0x21);
    *lo = _mm256_add_pd(*lo, a);
    *hi = _mm256_add_pd(*hi, b);
    *hi = _mm256_add_pd(*hi, *lo);
}

/* A mask of the lanes in which a or b is NaN. */
INLINE quad nan_in(quad a, quad b)
{
    return _mm256_cmp_pd(a, b, _CMP_UNORD_Q);
}

/* Replace every NaN by the positive quiet NaN. */
INLINE quad quiet_quad(quad v)
{
    return _mm256_blendv_pd(v, _mm256_set1_pd((double)NAN), nan_in(v, v));
}

INLINE quad magnitude(quad v)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), v);
}

/* Whether no lane is set. */
INLINE bool none(quad lanes)
{
    return _mm256_movemask_ps((__m256)lanes) == 0;
}

/* Prefetch distance in dense rows, in bytes (docs/investigations/reductions.md, "Scans on Zen
 * 3"). */
enum { SCAN_AHEAD = 4096 };

/* Prefetch while eight rows of the four columns from c on are computed.  Where rows of w
 * columns are dense: as many bytes as these, SCAN_AHEAD further in memory.  Otherwise: the same
 * line of the next eight rows, once per line, unless rows are multiples of 4096 bytes apart and
 * would share one set of the L1. */
INLINE void fetch_next(const char *x, int64_t x_step, int64_t c, int64_t w, int64_t width)
{
    const int64_t each = 32 * width;
    if (x_step == w * width) {
        for (int64_t k = 0; k < each; k += 64)
            __builtin_prefetch(x + c / 4 * each + SCAN_AHEAD + k);
    } else if (c * width % 64 == 0 && x_step % 4096 != 0) {
        for (int64_t k = 8; k < 16; k++)
            __builtin_prefetch(x + k * x_step + c * width, 0, 2);
    }
}

/* ---- f32 ---- */

INLINE quad quad_f32(const char *x)
{
    return _mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)x));
}

INLINE void put_quad_f32(char *d, quad v, bool odd)
{
    (void)odd;
    _mm_storeu_ps((float *)(void *)d, _mm256_cvtpd_ps(v));
}

/* w < 4 elements. */
INLINE quad some_f32(const char *x, int w)
{
    const __m128 two =
        w == 1 ? one_f32(x)
               : _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)x));
    const __m128 third = one_f32(x + (w == 3 ? 8 : 0));
    return _mm256_cvtps_pd(w == 3 ? _mm_movelh_ps(two, third) : two);
}

INLINE void put_some_f32(char *d, quad v, bool odd, int w)
{
    const __m128 f = _mm256_cvtpd_ps(v);
    (void)odd;
    if (w == 1)
        put_one_f32(d, f);
    else
        _mm_storel_epi64((__m128i *)(void *)d, _mm_castps_si128(f));
    if (w == 3)
        put_one_f32(d + 8, _mm_movehl_ps(f, f));
}

INLINE void put_pair_f32(char *d, quad lo, quad hi, bool odd, bool stream)
{
    const __m256 f = _mm256_set_m128(_mm256_cvtpd_ps(hi), _mm256_cvtpd_ps(lo));
    (void)odd;
    if (stream)
        _mm256_stream_ps((float *)(void *)d, f);
    else
        _mm256_storeu_ps((float *)(void *)d, f);
}

/* ---- f64 ---- */

INLINE quad quad_f64(const char *x)
{
    return _mm256_loadu_pd((const double *)(const void *)x);
}

INLINE void put_quad_f64(char *d, quad v, bool odd)
{
    (void)odd;
    _mm256_storeu_pd((double *)(void *)d, v);
}

INLINE quad some_f64(const char *x, int w)
{
    const __m128d two = w == 1 ? one_f64(x) : _mm_loadu_pd((const double *)(const void *)x);
    return _mm256_set_m128d(w == 3 ? one_f64(x + 16) : _mm_setzero_pd(), two);
}

INLINE void put_some_f64(char *d, quad v, bool odd, int w)
{
    double *to = (double *)(void *)d;
    (void)odd;
    if (w == 1)
        put_one_f64(d, _mm256_castpd256_pd128(v));
    else
        _mm_storeu_pd(to, _mm256_castpd256_pd128(v));
    if (w == 3)
        put_one_f64(d + 16, _mm256_extractf128_pd(v, 1));
}

INLINE void put_pair_f64(char *d, quad lo, quad hi, bool odd, bool stream)
{
    double *to = (double *)(void *)d;
    (void)odd;
    if (stream) {
        _mm256_stream_pd(to, lo);
        _mm256_stream_pd(to + 4, hi);
    } else {
        _mm256_storeu_pd(to, lo);
        _mm256_storeu_pd(to + 4, hi);
    }
}

/* ---- one to three floats of 16 bits ---- */

INLINE __m128i some_bits16(const char *x, int w)
{
    uint16_t last = 0;
    uint32_t two = 0;
    memcpy(&last, x + 2 * (w - 1), 2);
    if (w == 1)
        return _mm_cvtsi32_si128(last);
    memcpy(&two, x, 4);
    return w == 2 ? _mm_cvtsi32_si128((int)two)
                  : _mm_cvtsi64_si128((int64_t)((uint64_t)last << 32 | two));
}

INLINE void put_some_bits16(char *d, __m128i h, int w)
{
    const uint64_t bits = (uint64_t)_mm_cvtsi128_si64(h);
    const uint32_t two = (uint32_t)bits;
    const uint16_t last = (uint16_t)(bits >> 16 * (w - 1));
    if (w > 1)
        memcpy(d, &two, 4);
    memcpy(d + 2 * (w - 1), &last, 2);
}

/* ---- bf16: f64 is rounded once, to 7 bits after the leading one ---- */

INLINE quad wide_bf16(__m128i h)
{
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), h)));
}

INLINE quad quad_bf16(const char *x)
{
    return wide_bf16(_mm_loadl_epi64((const __m128i *)(const void *)x));
}

INLINE quad some_bf16(const char *x, int w)
{
    return wide_bf16(some_bits16(x, w));
}

/* Round to nearest, ties to even: adding and subtracting 1.5 * 2^45 times the power of two of v
 * rounds at the last bit of a bf16.  odd: some lanes may be infinite, or below 2^-126, where
 * bf16 are multiples of 2^-133. */
INLINE __m128i bf16_bits(quad v, bool odd)
{
    const quad powers = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff0000000000000));
    const quad power = _mm256_and_pd(v, powers), by = _mm256_set1_pd(0x1.8p45);
    quad near = _mm256_fnmadd_pd(power, by, _mm256_fmadd_pd(power, by, v));
    if (odd) {
        const quad magic = _mm256_set1_pd(0x1.8p-81), sign = _mm256_set1_pd(-0.0);
        const quad few = _mm256_sub_pd(_mm256_add_pd(v, magic), magic);
        const quad size = magnitude(v);
        const quad small = _mm256_cmp_pd(size, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ);
        const quad huge = _mm256_cmp_pd(size, powers, _CMP_EQ_OQ);
        near = _mm256_blendv_pd(near, magnitude(few), small);
        near = _mm256_blendv_pd(near, v, huge);
        near = _mm256_or_pd(magnitude(near), _mm256_and_pd(v, sign));
    }
    return _mm_srli_epi32(_mm_castps_si128(_mm256_cvtpd_ps(near)), 16);
}

/* Some lane is set where a or b is NaN, infinite or below 2^-126.  The exponents are in the
 * upper 32 bits of an f64, which are compared. */
INLINE quad odd_bf16(quad a, quad b)
{
    const int least = 0x38100000, most = 0x7ff00000; /* upper bits of 2^-126, infinity */
    const __m256 upper = _mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
    const __m256i size = _mm256_and_si256((__m256i)upper, _mm256_set1_epi32(INT32_MAX));
    const __m256i above = _mm256_sub_epi32(size, _mm256_set1_epi32(least ^ INT32_MIN));
    const __m256i end = _mm256_set1_epi32((most - least - 1) ^ INT32_MIN);
    return (quad)_mm256_cmpgt_epi32(above, end); /* an unsigned comparison */
}

INLINE void put_quad_bf16(char *d, quad v, bool odd)
{
    const __m128i h = bf16_bits(v, odd);
    _mm_storel_epi64((__m128i *)(void *)d, _mm_packus_epi32(h, h));
}

INLINE void put_some_bf16(char *d, quad v, bool odd, int w)
{
    const __m128i h = bf16_bits(v, odd);
    put_some_bits16(d, _mm_packus_epi32(h, h), w);
}

INLINE void put_pair_bf16(char *d, quad lo, quad hi, bool odd, bool stream)
{
    const __m128i h = _mm_packus_epi32(bf16_bits(lo, odd), bf16_bits(hi, odd));
    (void)stream;
    _mm_storeu_si128((__m128i *)(void *)d, h);
}

/* ---- f16: f64 becomes f32 rounded to odd, then f16 ---- */

INLINE quad quad_f16(const char *x)
{
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)x)));
}

INLINE quad some_f16(const char *x, int w)
{
    return _mm256_cvtps_pd(_mm_cvtph_ps(some_bits16(x, w)));
}

INLINE __m128 odd_f32(quad v)
{
    const __m256i cut = _mm256_set1_epi64x(((int64_t)1 << 29) - 1); /* bits that f32 lacks */
    const __m256i bits = _mm256_castpd_si256(v);
    const __m256i more = _mm256_add_epi64(_mm256_and_si256(bits, cut), cut);
    const __m256i odd = _mm256_andnot_si256(cut, _mm256_or_si256(bits, more));
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(odd));
}

INLINE void put_quad_f16(char *d, quad v, bool odd)
{
    (void)odd;
    _mm_storel_epi64((__m128i *)(void *)d, _mm_cvtps_ph(odd_f32(v), _MM_FROUND_TO_NEAREST_INT));
}

INLINE void put_some_f16(char *d, quad v, bool odd, int w)
{
    (void)odd;
    put_some_bits16(d, _mm_cvtps_ph(odd_f32(v), _MM_FROUND_TO_NEAREST_INT), w);
}

INLINE void put_pair_f16(char *d, quad lo, quad hi, bool odd, bool stream)
{
    const __m256 f = _mm256_set_m128(odd_f32(hi), odd_f32(lo));
    (void)odd, (void)stream;
    _mm_storeu_si128((__m128i *)(void *)d, _mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT));
}

#endif
