/* scan_exact.h - running sums of sixteen columns of bf16 in f32, where f64 would not round
 * either (AVX2).
 *
 * The unit is a power of two.  If elements are multiples of two units, and low (see below) and
 * eight of them add up to fewer than 2^24 units, these sums are exact in f32, and also in f64:
 * the order of additions does not change a bit.
 *
 * A running sum is high + low + rest.  high is a multiple of 2^22 units and has so few bits
 * that high + low is rounded only once.  rest is smaller than a unit.  Where it is not 0, low
 * is an odd number of units: low then decides to which of two neighbouring bf16 the sum rounds,
 * unless the neighbours are less than a unit apart. */
#ifndef TNI_SCAN_EXACT_H
#define TNI_SCAN_EXACT_H

enum {
    EXACT = 16,          /* columns of a tile: the bf16 of a vector */
    EXACT_WIDEST = 2048, /* columns, as many as TNI_SCAN_WIDEST */
    /* With fewer rows, splitting sums costs more than it gains (Zen 3: 7 rows lose 15 %, 15
     * gain 20 %). */
    EXACT_ROWS = 12,
    /* Sums before a tile are multiples of unit / 2^20.  They are less than 2^28 units, so that
     * they fit the 51 bits of nearest(). */
    EXACT_FINE = 20
};

/* The state of sixteen columns. */
typedef struct exact_sums {
    __m256 high[2], low[2];
    double rest[EXACT];
    float unit;
    uint16_t least, most; /* bounds of nonzero magnitudes: least - 1 and most */
    bool holds, rests;    /* rests: some rest is not 0 */
} exact_sums;

/* The smallest magnitude minus 1 and the largest magnitude of some elements.  The subtraction
 * turns 0 into the largest number, so that 0 does not lower the least. */
typedef struct exact_range {
    __m256i least, most;
} exact_range;

INLINE __m256i load16(const char *x)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)x);
}

INLINE void widen_range(exact_range *r, __m256i bits)
{
    const __m256i size = _mm256_and_si256(bits, _mm256_set1_epi16(INT16_MAX));
    r->most = _mm256_max_epu16(r->most, size);
    r->least = _mm256_min_epu16(r->least, _mm256_sub_epi16(size, _mm256_set1_epi16(1)));
}

INLINE bool in_range(const exact_sums *h, const exact_range *r)
{
    const __m256i over = _mm256_subs_epu16(r->most, _mm256_set1_epi16((int16_t)h->most));
    const __m256i under = _mm256_subs_epu16(_mm256_set1_epi16((int16_t)h->least), r->least);
    const __m256i out = _mm256_or_si256(over, under);
    return _mm256_testz_si256(out, out);
}

INLINE int largest16(__m256i v)
{
    const __m128i all =
        _mm_max_epu16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    const __m128i least = _mm_minpos_epu16(_mm_xor_si128(all, _mm_set1_epi16(-1)));
    return 0xffff - (_mm_cvtsi128_si32(least) & 0xffff);
}

/* 2^e, if it is a normal number. */
INLINE double power_of_two(int e)
{
    const uint64_t bits = (uint64_t)(1023 + e) << 52;
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Prefetch what is read after eight rows of the sixteen columns from c on. */
INLINE void fetch_tile(const char *x, int64_t x_step, int64_t c, int64_t w)
{
    for (int64_t k = c; k < c + EXACT; k += 4)
        fetch_next(x, x_step, k, w, 2);
}

/* Whether some magnitude is at least `most`. */
INLINE bool reaches(__m256 v, float most)
{
    const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
    return _mm256_movemask_ps(_mm256_cmp_ps(size, _mm256_set1_ps(most), _CMP_GE_OQ)) != 0;
}

/* Move multiples of 2^22 units from low to high. */
INLINE void give(__m256 *high, __m256 *low, float unit)
{
    const __m256 by = _mm256_set1_ps(0x1.8p45f * unit);
    const __m256 part = _mm256_sub_ps(_mm256_add_ps(*low, by), by);
    *low = _mm256_sub_ps(*low, part);
    *high = _mm256_add_ps(*high, part);
}

/* high + low, rounded to `bits` bits after the leading one: to nearest, ties to even.  Adding
 * and subtracting 1.5 * 2^(23 - bits) times the sum's power of two rounds, because the last bit
 * of that product is the last bit to keep.  *least becomes the smallest power so far. */
INLINE __m256 rounded(__m256 high, __m256 low, int bits, __m256 *least)
{
    const __m256 by = _mm256_set1_ps(1.5f * (float)(1 << (23 - bits)));
    const __m256 powers = _mm256_castsi256_ps(_mm256_set1_epi32(0x7f800000));
    const __m256 power = _mm256_and_ps(_mm256_add_ps(high, low), powers);
    const __m256 near = _mm256_add_ps(_mm256_fmadd_ps(power, by, high), low);
    *least = _mm256_min_ps(*least, power);
    return _mm256_fnmadd_ps(power, by, near);
}

/* v rounded to the nearest multiple of a power of two; by is 1.5 * 2^52 times that power. */
INLINE quad nearest(quad v, quad by)
{
    return _mm256_sub_pd(_mm256_add_pd(v, by), by);
}

/* Split four sums before + chain into high, low and rest.  Returns whether both addends are
 * multiples of unit / 2^EXACT_FINE, which makes the split exact. */
INLINE bool split_four(__m128 *high, __m128 *low, double *rest, quad before, quad chain,
                       double unit)
{
    const quad fine = _mm256_set1_pd(unit * (0x1.8p52 / (1 << EXACT_FINE)));
    const quad b = nearest(before, fine), c = nearest(chain, fine), sum = _mm256_add_pd(b, c);
    const quad part = nearest(sum, _mm256_set1_pd(0x1.8p74 * unit));
    const quad left = _mm256_sub_pd(sum, part);
    const quad even = nearest(left, _mm256_set1_pd(0x1.8p53 * unit));
    const quad more = _mm256_sub_pd(left, even), zero = _mm256_setzero_pd();
    const quad sign = _mm256_and_pd(more, _mm256_set1_pd(-0.0));
    const quad odd = _mm256_and_pd(_mm256_or_pd(sign, _mm256_set1_pd(unit)),
                                   _mm256_cmp_pd(more, zero, _CMP_NEQ_OQ));
    *high = _mm256_cvtpd_ps(part);
    *low = _mm256_cvtpd_ps(_mm256_add_pd(even, odd));
    _mm256_storeu_pd(rest, _mm256_sub_pd(more, odd));
    return _mm256_movemask_pd(_mm256_and_pd(_mm256_cmp_pd(b, before, _CMP_EQ_OQ),
                                            _mm256_cmp_pd(c, chain, _CMP_EQ_OQ))) == 15;
}

/* The exponent of the largest of sixteen sums. */
INLINE int largest_sum(const double *before, const double *chain)
{
    quad all = _mm256_setzero_pd();
    for (int k = 0; k < EXACT; k += 4) {
        const quad sum = _mm256_add_pd(_mm256_loadu_pd(before + k), _mm256_loadu_pd(chain + k));
        all = _mm256_max_pd(all, magnitude(sum));
    }
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(all), _mm256_extractf128_pd(all, 1));
    const __m128d one = _mm_max_sd(two, _mm_unpackhi_pd(two, two));
    return (int)((uint64_t)_mm_cvtsi128_si64(_mm_castpd_si128(one)) >> 52) - 1023;
}

/* ---- bf16 ---- */

INLINE void wide_pair_bf16(__m256 *a, __m256 *b, __m256i x)
{
    *a = _mm256_castsi256_ps(_mm256_unpacklo_epi16(_mm256_setzero_si256(), x));
    *b = _mm256_castsi256_ps(_mm256_unpackhi_epi16(_mm256_setzero_si256(), x));
}

INLINE __m256i narrow_pair_bf16(__m256 a, __m256 b)
{
    return _mm256_packus_epi32(_mm256_srli_epi32(_mm256_castps_si256(a), 16),
                               _mm256_srli_epi32(_mm256_castps_si256(b), 16));
}

#endif
