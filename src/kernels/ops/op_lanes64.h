/* op_lanes64.h - operations on a vector of f64.
 *
 * Vectors are added, multiplied and divided by operators, where a scalar stands for a vector of
 * copies; the functions below provide what has no operator.  wide_mad and wide_low_product fuse
 * where the instruction set does; everything else gives the same bits at every width. */
#ifndef TNI_OP_LANES64_H
#define TNI_OP_LANES64_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/core.h"

#if defined(__AVX512F__)
enum { WIDE_LANES = 8 };
#elif defined(__AVX2__)
enum { WIDE_LANES = 4 };
#else
enum { WIDE_LANES = 2 };
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef double wide __attribute__((vector_size(8 * WIDE_LANES)));
typedef uint64_t wide_ints __attribute__((vector_size(8 * WIDE_LANES)));
enum { WIDE_ENTRIES = 16 };

/* a where the mask of a comparison is set, else b. */
INLINE wide wide_pick(wide_ints mask, wide a, wide b)
{
    return (wide)((mask & (wide_ints)a) | (~mask & (wide_ints)b));
}

/* wide_mad(a, b, c)      a b + c
 * wide_less(x, y, a, b)  a where x < y, else b
 * wide_same(x, y, a, b)  a where x == y, else b
 * wide_sqrt(x)           the square root of x
 * wide_scale(p, n)       p 2^n rounded once, for an integral n between -1100 and 1100 */
#if defined(__AVX512F__)
INLINE wide wide_mad(wide a, wide b, wide c)
{
    return _mm512_fmadd_pd(a, b, c);
}
INLINE wide wide_less(wide x, wide y, wide a, wide b)
{
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x, y, _CMP_LT_OQ), b, a);
}
INLINE wide wide_same(wide x, wide y, wide a, wide b)
{
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ), b, a);
}
INLINE wide wide_sqrt(wide x)
{
    return _mm512_sqrt_pd(x);
}
INLINE wide wide_scale(wide p, wide n)
{
    return _mm512_scalef_pd(p, n);
}
#else
#if defined(__AVX2__)
INLINE wide wide_mad(wide a, wide b, wide c)
{
    return _mm256_fmadd_pd(a, b, c);
}
INLINE wide wide_sqrt(wide x)
{
    return _mm256_sqrt_pd(x);
}
#elif defined(__aarch64__)
INLINE wide wide_mad(wide a, wide b, wide c)
{
    return vfmaq_f64(c, a, b);
}
INLINE wide wide_sqrt(wide x)
{
    return vsqrtq_f64(x);
}
#else
#define WIDE_UNFUSED
INLINE wide wide_mad(wide a, wide b, wide c)
{
    return a * b + c;
}
INLINE wide wide_sqrt(wide x)
{
#if defined(__SSE2__)
    return _mm_sqrt_pd(x);
#else
    return (wide){__builtin_sqrt(x[0]), __builtin_sqrt(x[1])};
#endif
}
#endif
INLINE wide wide_less(wide x, wide y, wide a, wide b)
{
    return wide_pick((wide_ints)(x < y), a, b);
}
INLINE wide wide_same(wide x, wide y, wide a, wide b)
{
    return wide_pick((wide_ints)(x == y), a, b);
}
#endif

#define WIDE_SHIFT 0x1.8p52 /* adding it leaves the nearest integer in the low bits */

INLINE wide wide_splat(double x)
{
    return x - (wide){0};
}

INLINE wide wide_load(const double *p)
{
    wide v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void wide_store(double *p, wide v)
{
    memcpy(p, &v, sizeof v);
}

INLINE wide wide_abs(wide x)
{
    return (wide)((wide_ints)x & (uint64_t)INT64_MAX);
}

/* a >= +0 with the sign of x. */
INLINE wide wide_signed(wide a, wide x)
{
    return (wide)((wide_ints)a | ((wide_ints)x & (uint64_t)INT64_MIN));
}

/* The minimum of x and most; x if x is NaN. */
INLINE wide wide_most(wide x, double most)
{
    return wide_less(wide_splat(most), x, wide_splat(most), x);
}

/* The upper 26 digits of x. */
INLINE wide wide_high(wide x)
{
    return (wide)((wide_ints)x & ~(uint64_t)0x7ffffff);
}

/* The rounding error a b - p of the product p = a b. */
INLINE wide wide_low_product(wide a, wide b, wide p)
{
#if defined(WIDE_UNFUSED)
    const wide c = wide_high(a), d = wide_high(b), e = a - c, f = b - d;
    return ((c * d - p) + (c * f + e * d)) + e * f;
#else
    return wide_mad(a, b, -p);
#endif
}

/* a - q b rounded once, where q b is nearly a. */
INLINE wide wide_left(wide a, wide q, wide b)
{
#if defined(WIDE_UNFUSED)
    const wide p = q * b;
    return (a - p) - wide_low_product(q, b, p);
#else
    return wide_mad(-q, b, a);
#endif
}

#if !defined(__AVX512F__)
/* 2^n for a normal result; in two factors, of which the first product is exact. */
INLINE wide wide_power(wide n)
{
    return (wide)(((wide_ints)(n + WIDE_SHIFT) + 1023) << 52);
}
INLINE wide wide_scale(wide p, wide n)
{
    const wide half = (n * 0.5 + WIDE_SHIFT) - WIDE_SHIFT;
    return p * wide_power(half) * wide_power(n - half);
}
#endif

/* row[i % WIDE_ENTRIES]. */
INLINE wide wide_lookup(const double *row, wide_ints i)
{
#if defined(__AVX512F__)
    return _mm512_permutex2var_pd(_mm512_loadu_pd(row), (__m512i)i, _mm512_loadu_pd(row + 8));
#elif defined(__AVX2__)
    i &= WIDE_ENTRIES - 1;
    return (wide){row[i[0]], row[i[1]], row[i[2]], row[i[3]]};
#else
    i &= WIDE_ENTRIES - 1;
    return (wide){row[i[0]], row[i[1]]};
#endif
}

/* row[i % (2 WIDE_ENTRIES)]. */
INLINE wide wide_lookup32(const double *row, wide_ints i)
{
#if defined(__AVX512F__)
    const __mmask8 upper = _mm512_test_epi64_mask((__m512i)i, _mm512_set1_epi64(WIDE_ENTRIES));
    const wide low = wide_lookup(row, i), high = wide_lookup(row + WIDE_ENTRIES, i);
    return _mm512_mask_blend_pd(upper, low, high);
#elif defined(__AVX2__)
    i &= 2 * WIDE_ENTRIES - 1;
    return (wide){row[i[0]], row[i[1]], row[i[2]], row[i[3]]};
#else
    i &= 2 * WIDE_ENTRIES - 1;
    return (wide){row[i[0]], row[i[1]]};
#endif
}

/* Are all lanes of x less than `than`? */
INLINE bool wide_all(wide x, double than)
{
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask(x, wide_splat(than), _CMP_LT_OQ) == 0xff;
#elif defined(__AVX2__)
    return _mm256_movemask_pd(_mm256_cmp_pd(x, wide_splat(than), _CMP_LT_OQ)) == 0xf;
#else
    return (x[0] < than) & (x[1] < than);
#endif
}

/* c[0] + c[1] x + …, evaluated in two chains, of even and of odd powers. */
INLINE wide wide_poly(const double *c, int n, wide x)
{
    const wide q = x * x;
    wide even = wide_splat(c[(n - 1) & ~1]), odd = wide_splat(c[(n - 2) | 1]);
    for (int i = ((n - 1) & ~1) - 2; i >= 0; i -= 2)
        even = wide_mad(even, q, wide_splat(c[i]));
    for (int i = ((n - 2) | 1) - 2; i >= 1; i -= 2)
        odd = wide_mad(odd, q, wide_splat(c[i]));
    return wide_mad(odd, x, even);
}
#define WIDE_POLY(c, x) wide_poly(c, (int)(sizeof(c) / sizeof *(c)), x)

#endif
