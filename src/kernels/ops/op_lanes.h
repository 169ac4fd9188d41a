/* op_lanes.h - operations on a few f32 at a time: a vector of the instruction set, or one
 * element.
 *
 * Lanes are added, multiplied and divided by operators; the macros below provide what has no
 * operator.  Each gives the same bits at every width except LANE_MAD, which fuses where the
 * instruction set does. */
#ifndef TNI_OP_LANES_H
#define TNI_OP_LANES_H

#include <math.h>
#include <stdint.h>

#include "core/core.h"

/* LANE_MAX, LANE_MIN     return the second operand if either is NaN
 * LANE_LESS(x, y, a, b)  a where x < y, else b; LANE_SAME for x == y
 * LANE_SIGNED(a, x)      a >= +0 with the sign of x; LANE_MINUS(x) is -|x|
 * LANE_SCALE(p, z)       p 2^n rounded once, for any relevant n; p is 2^-100 to 2^100
 * LANE_SPLIT(x, e)       x 2^-e in [sqrt(1/2), sqrt(2)), for a normal x > 0
 * LANE_LOOKUP(table, n)  table[n % LANE_ENTRIES]
 * LANE_CLAMP(x, m)       x within [-m, m]; if x is NaN, NaN or some number
 * LANE_BELOW(x, a)       a where x < 0, else x; LANE_BELOW_1 else 1; some NaN where x is NaN
 *
 * A computed NaN is the positive quiet one without payload; these macros make it so:
 * LANE_QUIET(a)          a, which is any number or NaN
 * LANE_POSITIVE(a)       a, which is >= +0 or a quiet NaN
 * LANE_RAMP(x)           x where it is >= 0, +0 below
 * LANE_SCALE_AS(p, z, x) LANE_SCALE(p, z) where p was computed from LANE_CLAMP(x) */

/* Adding it leaves n + 254, n being the nearest integer, in the low bits: the sum of the biases
 * of two factors. */
#define LANE_SHIFT (0x1.8p23f + 254)

#if defined(__AVX512F__)
#include <immintrin.h>

typedef __m512 lanes;
enum { LANES = 16, LANE_ENTRIES = 16 };
#define SPLAT(c)          _mm512_set1_ps(c)
#define LANE_LOAD(p)      _mm512_loadu_ps((const void *)(p))
#define LANE_STORE(p, v)  _mm512_storeu_ps((void *)(p), v)
#define LANE_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define LANE_MAD(a, b, c) _mm512_fmadd_ps(a, b, c)
#define LANE_MAX(a, b)    _mm512_max_ps(a, b)
#define LANE_MIN(a, b)    _mm512_min_ps(a, b)
#define LANE_INTS(x)      _mm512_castps_si512(x)
#define LANE_OF_INTS(n)   _mm512_castsi512_ps(n)
#define LANE_INT(c)       _mm512_set1_epi32(c)
#define LANE_ABS(x)       _mm512_abs_ps(x)
#define LANE_MINUS(x)     _mm512_or_ps(x, SPLAT(-0.0f))
#define LANE_SIGNED(a, x)                                                                      \
    LANE_OF_INTS(                                                                              \
        _mm512_ternarylogic_epi32(LANE_INTS(a), LANE_INTS(x), LANE_INT(INT32_MIN), 0xf8))
#define LANE_UP(n, by)        _mm512_slli_epi32(n, by)
#define LANE_DOWN(n, by)      _mm512_srai_epi32(n, by)
#define LANE_ADD_INTS(a, b)   _mm512_add_epi32(a, b)
#define LANE_SUB_INTS(a, b)   _mm512_sub_epi32(a, b)
#define LANE_NUMBERS(n)       _mm512_cvtepi32_ps(n)
#define LANE_LESS(x, y, a, b) _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), b, a)
#define LANE_SAME(x, y, a, b) _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ), b, a)
#define LANE_LOOKUP(t, n)     _mm512_permutexvar_ps(n, _mm512_loadu_ps(t))
#define LANE_CLAMP(x, m)      _mm512_range_ps(x, SPLAT(m), 2) /* smaller one, sign of x */
typedef __m512i lane_ints;

/* fixupimm chooses by the class of x.  The hexadecimal digits of the table belong, from the
 * right, to quiet NaN, signalling NaN, 0, 1, -inf, inf, negative and positive numbers.  Digit 0
 * selects the first argument, 1 selects x, 2 x as a quiet NaN, 8 the number +0, and a the
 * number 1. */
#define LANE_QUIET(x)      _mm512_fixupimm_ps(SPLAT(NAN), x, LANE_INT(0x11111100), 0)
#define LANE_POSITIVE(x)   LANE_QUIET(x)
#define LANE_RAMP(x)       _mm512_fixupimm_ps(SPLAT(NAN), x, LANE_INT(0x18181100), 0)
#define LANE_BELOW(x, a)   _mm512_fixupimm_ps(a, x, LANE_INT(0x10101122), 0)
#define LANE_BELOW_1(x, a) _mm512_fixupimm_ps(a, x, LANE_INT((int)0xa0a0aa22), 0)

#elif defined(__AVX2__)
#include <immintrin.h>

typedef __m256 lanes;
enum { LANES = 8, LANE_ENTRIES = 8 };
#define SPLAT(c)              _mm256_set1_ps(c)
#define LANE_LOAD(p)          _mm256_loadu_ps((const float *)(const void *)(p))
#define LANE_STORE(p, v)      _mm256_storeu_ps((float *)(void *)(p), v)
#define LANE_FMA(a, b, c)     _mm256_fmadd_ps(a, b, c)
#define LANE_MAD(a, b, c)     _mm256_fmadd_ps(a, b, c)
#define LANE_MAX(a, b)        _mm256_max_ps(a, b)
#define LANE_MIN(a, b)        _mm256_min_ps(a, b)
#define LANE_INTS(x)          _mm256_castps_si256(x)
#define LANE_OF_INTS(n)       _mm256_castsi256_ps(n)
#define LANE_INT(c)           _mm256_set1_epi32(c)
#define LANE_ABS(x)           _mm256_andnot_ps(SPLAT(-0.0f), x)
#define LANE_MINUS(x)         _mm256_or_ps(x, SPLAT(-0.0f))
#define LANE_SIGNED(a, x)     _mm256_or_ps(a, _mm256_and_ps(x, SPLAT(-0.0f)))
#define LANE_UP(n, by)        _mm256_slli_epi32(n, by)
#define LANE_DOWN(n, by)      _mm256_srai_epi32(n, by)
#define LANE_ADD_INTS(a, b)   _mm256_add_epi32(a, b)
#define LANE_SUB_INTS(a, b)   _mm256_sub_epi32(a, b)
#define LANE_NUMBERS(n)       _mm256_cvtepi32_ps(n)
#define LANE_BELOW(x, a)      _mm256_blendv_ps(x, a, x)
#define LANE_BELOW_1(x, a)    _mm256_blendv_ps(SPLAT(1.0f), a, x)
#define LANE_LESS(x, y, a, b) _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_LT_OQ))
#define LANE_SAME(x, y, a, b) _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_EQ_OQ))
#define LANE_LOOKUP(t, n)     _mm256_permutevar8x32_ps(_mm256_loadu_ps(t), n)
#define LANE_POSITIVE(a)      LANE_OF_INTS(_mm256_min_epu32(LANE_INTS(a), LANE_INT(0x7fc00000)))
typedef __m256i lane_ints;

#else

/* One element: the compiler vectorises loops over these functions. */
typedef float lanes;
typedef int32_t lane_ints;
enum { LANES = 1, LANE_ENTRIES = 16 };
static inline int32_t lane_bits(float x)
{
    return (int32_t)tni_f32_bits(x);
}
static inline float lane_of_bits(int32_t n)
{
    return tni_f32_from_bits((uint32_t)n);
}
#define SPLAT(c)          ((float)(c))
#define LANE_FMA(a, b, c) __builtin_fmaf(a, b, c)
#if defined(__aarch64__) || defined(__FMA__)
#define LANE_MAD(a, b, c) __builtin_fmaf(a, b, c)
#else
#define LANE_UNFUSED
#define LANE_MAD(a, b, c) ((a) * (b) + (c))
#endif
#define LANE_MAX(a, b)        ((a) > (b) ? (a) : (b))
#define LANE_MIN(a, b)        ((a) < (b) ? (a) : (b))
#define LANE_INTS(x)          lane_bits(x)
#define LANE_OF_INTS(n)       lane_of_bits(n)
#define LANE_INT(c)           (c)
#define LANE_ABS(x)           __builtin_fabsf(x)
#define LANE_MINUS(x)         (-__builtin_fabsf(x))
#define LANE_SIGNED(a, x)     __builtin_copysignf(a, x)
#define LANE_UP(n, by)        ((int32_t)((uint32_t)(n) << (by)))
#define LANE_DOWN(n, by)      ((n) >> (by))
#define LANE_ADD_INTS(a, b)   ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define LANE_SUB_INTS(a, b)   ((int32_t)((uint32_t)(a) - (uint32_t)(b)))
#define LANE_NUMBERS(n)       ((float)(n))
#define LANE_BELOW(x, a)      (lane_bits(x) < 0 ? (a) : (x))
#define LANE_BELOW_1(x, a)    (lane_bits(x) < 0 ? (a) : 1.0f)
#define LANE_LESS(x, y, a, b) ((x) < (y) ? (a) : (b))
#define LANE_SAME(x, y, a, b) ((x) == (y) ? (a) : (b))
#define LANE_LOOKUP(t, n)     ((t)[(n) & (LANE_ENTRIES - 1)])
#endif

#if !defined(LANE_CLAMP)
#define LANE_CLAMP(x, m) LANE_MIN(SPLAT(m), LANE_MAX(SPLAT(-(m)), x))
#define LANE_QUIET(x)    LANE_SAME(x, x, x, SPLAT(NAN))
#define LANE_RAMP(x)     LANE_SAME(x, x, LANE_MAX(SPLAT(0.0f), x), SPLAT(NAN))
#endif
#if !defined(LANE_POSITIVE)
#define LANE_POSITIVE(a) LANE_QUIET(a)
#endif

/* Scale by two factors; the first product is exact. */
static inline lanes lane_scale(lanes p, lanes z)
{
#if defined(__AVX512F__)
    return _mm512_scalef_ps(p, z - SPLAT(LANE_SHIFT));
#else
    const lane_ints n = LANE_INTS(z), half = LANE_DOWN(n, 1);
    return p * LANE_OF_INTS(LANE_UP(half, 23)) *
           LANE_OF_INTS(LANE_UP(LANE_SUB_INTS(n, half), 23));
#endif
}
#define LANE_SCALE(p, z) lane_scale(p, z)

static inline lanes lane_scale_as(lanes p, lanes z, lanes x)
{
#if defined(__AVX512F__)
    const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_EQ_OQ);
    return _mm512_mask_scalef_ps(SPLAT(NAN), number, p, z - SPLAT(LANE_SHIFT));
#else
    (void)x;
    return LANE_POSITIVE(lane_scale(p, z));
#endif
}
#define LANE_SCALE_AS(p, z, x) lane_scale_as(p, z, x)

static inline lanes lane_split(lanes x, lanes *e)
{
    const lane_ints bits = LANE_INTS(x), root = LANE_INT(0x3f3504f3); /* sqrt(1/2) */
    const lane_ints n = LANE_DOWN(LANE_SUB_INTS(bits, root), 23);
    *e = LANE_NUMBERS(n);
    return LANE_OF_INTS(LANE_SUB_INTS(bits, LANE_UP(n, 23)));
}
#define LANE_SPLIT(x, e) lane_split(x, e)

/* a b + c for a constant c. */
static inline lanes mad(lanes a, lanes b, float c)
{
    return LANE_MAD(a, b, SPLAT(c));
}

#endif
