/* op_pow32.h - x^y of f32 on blocks of 16, computed in f64 to 2^-43 and rounded once. */
#ifndef TNI_OP_POW32_H
#define TNI_OP_POW32_H

#include "kernels/ops/op_lanes64.h"
#include "op_math32.h"
#include "op_vmath.h"

/* log2(x) with a relative error of 2^-50, for a normal x > 0: m = x 2^-e is in [sqrt(1/2),
 * sqrt(2)), and log(m) is a series in s = (m - 1) / (m + 1). */
INLINE wide log2_wide(wide x)
{
    static const double c[] = {
        0x1.71547652b82ffp+1, 0x1.ec709dc39c9e6p-1, 0x1.2776c516a9530p-1, 0x1.a61756770a069p-2,
        0x1.484fac275b85dp-2, 0x1.0bb7bce8896a7p-2, 0x1.f184df912a987p-3,
    };
    const uint64_t half = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    const wide_ints bits = (wide_ints)x, k = (bits - half + ((uint64_t)1024 << 52)) >> 52;
    const wide m = (wide)(bits - ((k - 1024) << 52)), s = (m - 1.0) / (m + 1.0);
    const wide e = (wide)(k | (wide_ints)wide_splat(0x1p52)) - (0x1p52 + 1024);
    return wide_mad(s, WIDE_POLY(c, s * s), e);
}

/* 2^v for any number v, clamped to [-200, 200], rounded to 41 digits: a power that short is
 * exact, so rounding it further detects ties correctly. */
INLINE wide exp2_wide(wide v)
{
    static const double c[] = {
        0x1.0000000000039p+0,  0x1.62e42fefa3752p-1,  0x1.ebfbdff815709p-3,
        0x1.c6b08d70d1f54p-5,  0x1.3b2ab72a10ee0p-7,  0x1.5d87fd9021509p-10,
        0x1.43088fca05290p-13, 0x1.ffce243e93862p-17, 0x1.63edf1a3e6092p-20,
        0x1.b3f43c63ad588p-24,
    };
    const wide w = wide_signed(wide_most(wide_abs(v), 200), v), z = w + WIDE_SHIFT;
    const wide_ints p = (wide_ints)WIDE_POLY(c, w - (z - WIDE_SHIFT));
    return (wide)((p + ((wide_ints)z << 52) + 0x800) & ~(uint64_t)0xfff);
}

/* x rounded to odd at 13 digits: the last digit is 1 if any bit is lost.  A second rounding to
 * f16 or bf16 is then correct, and f32 represents all 13 digits over the range of those
 * dtypes. */
INLINE wide odd_wide(wide x)
{
    const uint64_t rest = ((uint64_t)1 << 40) - 1;
    const wide_ints bits = (wide_ints)x;
    return (wide)((bits | ((bits & rest) + rest)) & ~rest);
}

/* x^y by Annex F of C; number is |x|^y if neither is 0, infinite or NaN. */
static inline float pow_end(float x, float y, float number)
{
    const float a = __builtin_fabsf(x), b = __builtin_fabsf(y), half = b * 0.5f;
    /* whole: b is an integer, as all numbers from 2^23 on; even: an even one, as all from 2^24
     * on */
    const bool whole = ((b + 0x1p23f) - 0x1p23f == b) | (b >= 0x1p23f);
    const bool even = ((half + 0x1p23f) - 0x1p23f == half) | (b >= 0x1p24f);
    const bool end = (a == 0) | (a == INFINITY) | (b == INFINITY);
    const float r = end ? ((a > 1 ? y : -y) > 0 ? INFINITY : 0) : number;
    const float with_sign = (whole & !even) ? __builtin_copysignf(r, x) : r;
    const bool none = ((x < 0) & !whole & !end) | (x != x) | (y != y);
    const bool one = (y == 0) | (x == 1) | ((a == 1) & (b == INFINITY));
    return one ? 1 : none ? NAN : with_sign;
}

/* Rounds to f32, or to odd for f16 and bf16.  The handling of negative x and of special values
 * is skipped for blocks that have none. */
static inline void pow_once(float *r, const float *x, const float *y, bool odd)
{
    double u[MATH_BLOCK], v[MATH_BLOCK];
    bool ordinary = true;
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        u[j] = (double)x[j];
        v[j] = (double)y[j];
    }
    for (int j = 0; j < MATH_BLOCK; j += WIDE_LANES) {
        const wide s = wide_load(u + j), t = wide_load(v + j);
        ordinary &= wide_all(-s, 0) && wide_all(s, INFINITY) && wide_all(wide_abs(t), INFINITY);
        const wide power = exp2_wide(t * log2_wide(wide_abs(s)));
        wide_store(u + j, odd ? odd_wide(power) : power);
    }
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        r[j] = (float)u[j];
    }
    if (ordinary)
        return;
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        r[j] = pow_end(x[j], y[j], r[j]);
    }
}

#endif
