/* op_math32.h - functions of f32, computed in f64 and rounded to f32 at the end.
 *
 * The cores have a relative error of at most 2^-29, so a rounded result is within 0.6 ulp.
 * There are no branches and no tables: the compiler vectorises loops over these functions.
 * Products and sums are fused where the instruction set fuses them. */
#ifndef TNI_OP_MATH32_H
#define TNI_OP_MATH32_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/core.h"

#if defined(__FMA__) || defined(__aarch64__)
#define MAD(a, b, c) __builtin_fma(a, b, c)
#else
#define MAD(a, b, c) ((a) * (b) + (c))
#endif

#define SHIFT 0x1.8p52 /* adding it leaves the nearest integer in the low bits */
#define LN2   0x1.62e42fefa39efp-1
#define LOG2E 0x1.71547652b82fep+0

/* x clamped to [low, high]; NaN stays NaN. */
static inline double within(double x, double low, double high)
{
    const double up = x < low ? low : x;
    return up > high ? high : up;
}

/* e^r for r in [-ln2 / 2, ln2 / 2] to 2^-29. */
static inline double exp_near(double r)
{
    const double p = MAD(r, 0x1.6ab95be01b14bp-10, 0x1.126d0d2dd62a2p-7), q = r * r;
    const double s = MAD(r, 0x1.55589a85a666cp-5, 0x1.55540a7a607ddp-3);
    const double t = MAD(r, 0x1.fffffaaec3c72p-2, 0x1.0000009c06730p+0);
    return MAD(MAD(MAD(p, q, s), q, t), r, 0x1.0000000262159p+0);
}

/* (e^r - 1) / r in the same range, to 2^-43. */
static inline double expm1_near(double r)
{
    double p = 0x1.71de4b6740106p-19;
    p = MAD(p, r, 0x1.a159cb3caf00ap-16);
    p = MAD(p, r, 0x1.a01a8d2ff2333p-13);
    p = MAD(p, r, 0x1.6c164e639381fp-10);
    p = MAD(p, r, 0x1.111110d93ec13p-7);
    p = MAD(p, r, 0x1.55555573f35adp-5);
    p = MAD(p, r, 0x1.555555556d6e0p-3);
    p = MAD(p, r, 0x1.fffffffff736ap-2);
    return MAD(p, r, 0x1.fffffffffff9dp-1);
}

/* e^x for |x| <= 700. */
static inline double exp_core(double x)
{
    const double z = MAD(x, LOG2E, SHIFT), r = MAD(z - SHIFT, -LN2, x);
    return tni_f64_from_bits(tni_f64_bits(exp_near(r)) + (tni_f64_bits(z) << 52));
}

/* e^x - 1 for |x| <= 700, to 2^-43. */
static inline double expm1_core(double x)
{
    const double z = MAD(x, LOG2E, SHIFT), r = MAD(z - SHIFT, -LN2, x);
    const double scale = tni_f64_from_bits((tni_f64_bits(z) + 1023) << 52);
    return MAD(scale, r * expm1_near(r), scale - 1);
}

/* log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1] to 2^-32. */
static inline double log1p_near(double f)
{
    double p = -0x1.13507fec37972p-4;
    p = MAD(p, f, 0x1.cfcffc00b1114p-4);
    p = MAD(p, f, -0x1.bc655d6b934bap-4);
    p = MAD(p, f, 0x1.bea45f181ba53p-4);
    p = MAD(p, f, -0x1.fbdb6e159bde4p-4);
    p = MAD(p, f, 0x1.24bb3fcfc56a8p-3);
    p = MAD(p, f, -0x1.556f0940a70c5p-3);
    p = MAD(p, f, 0x1.9999057da60acp-3);
    p = MAD(p, f, -0x1.ffff802fb2460p-3);
    p = MAD(p, f, 0x1.5555559507d92p-2);
    p = MAD(p, f, -0x1.0000002c4e915p-1);
    return MAD(p * f, f, f);
}

/* log(1 + t) for t in [0, 1] to 2^-32, evaluated in two chains, of even and of odd powers. */
static inline double log1p_core(double t)
{
    const double q = t * t;
    double even = 0x1.2990787f92385p-7, odd = -0x1.4fb35753d0c2bp-10;
    even = MAD(even, q, 0x1.062d0cd06d749p-4);
    odd = MAD(odd, q, -0x1.ee58989513be1p-6);
    even = MAD(even, q, 0x1.12f9c755f2341p-3);
    odd = MAD(odd, q, -0x1.9eb1bfc55ed33p-4);
    even = MAD(even, q, 0x1.98e3b13321175p-3);
    odd = MAD(odd, q, -0x1.50f4756df0488p-3);
    even = MAD(even, q, 0x1.5554e12e4739ep-2);
    odd = MAD(odd, q, -0x1.ffee3eb64a2bep-3);
    even = MAD(even, q, 0x1.fffffffefc9b7p-1);
    odd = MAD(odd, q, -0x1.fffffda6e8641p-2);
    return t * MAD(odd, t, even);
}

/* log(x) * scale + exponent * of_two, for a normal x > 0. */
static inline double log_core(double x, double scale, double of_two)
{
    const uint64_t half = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    const uint64_t k = (tni_f64_bits(x) - half + (1024ull << 52)) >> 52;
    const double m = tni_f64_from_bits(tni_f64_bits(x) - ((k - 1024) << 52));
    const double e = tni_f64_from_bits(tni_f64_bits(0x1p52) | k) - (0x1p52 + 1024);
    return MAD(log1p_near(m - 1), scale, e * of_two);
}

static inline float log_of(float x, double scale, double of_two)
{
    const float r = (float)log_core((double)x, scale, of_two);
    return x == INFINITY ? x : x > 0 ? r : x == 0 ? -INFINITY : NAN;
}

/* log(1 + t) for t in (-1, 2^1000): the log of the rounded sum, plus the rounding error. */
static inline double log1p_wide(double t)
{
    const double u = 1 + t, rest = u < 0x1p60 ? (t - (u - 1)) / u : 0;
    return log_core(u, 1, LN2) + rest;
}

/* 1 / d to 2^-45, for d in [2^-120, 2^120]. */
static inline double inverse(double d)
{
    const double y = (double)(1 / (float)d);
    return y * MAD(-d, y, 2);
}

/* As inverse, and 0 for d beyond the range of f32. */
static inline double inverse_or_0(double d)
{
    return (float)d == INFINITY ? 0 : inverse(d);
}

/* ---- the ops ---- */

static inline float exp2_f32(float x)
{
    const double v = within((double)x, -160, 130), z = v + SHIFT;
    return (float)tni_f64_from_bits(tni_f64_bits(exp_near((v - (z - SHIFT)) * LN2)) +
                                    (tni_f64_bits(z) << 52));
}

static inline float expm1_f32(float x)
{
    const float r = (float)expm1_core(within((double)x, -50, 90));
    return x == 0 ? x : r;
}

static inline float log2_f32(float x)
{
    return log_of(x, LOG2E, 1);
}

static inline float log10_f32(float x)
{
    return log_of(x, 0x1.bcb7b1526e50ep-2, 0x1.34413509f79ffp-2);
}

static inline float log1p_f32(float x)
{
    const float r = (float)log1p_wide(within((double)x, -0.9999999999, 0x1p130));
    return x == INFINITY || x == 0 ? x : x > -1 ? r : x == -1 ? -INFINITY : x != x ? x : NAN;
}

static inline float asinh_f32(float x)
{
    const double t = within(__builtin_fabs((double)x), 0, 0x1p130), q = t * t;
    const float r = (float)log1p_wide(t + q / (1 + __builtin_sqrt(1 + q)));
    return x == 0 || x - x != 0 ? x : __builtin_copysignf(r, x);
}

static inline float acosh_f32(float x)
{
    const double t = within((double)x - 1, 0, 0x1p130);
    const float r = (float)log1p_wide(t + __builtin_sqrt(t * (t + 2)));
    return x == INFINITY || x != x ? x : x >= 1 ? r : NAN;
}

static inline float atanh_f32(float x)
{
    const double t = __builtin_fabs((double)x);
    const float r = (float)(0.5 * log1p_wide(2 * t / (1 - t)));
    const float edge = t == 1 ? INFINITY : NAN;
    return x == 0 ? x : __builtin_copysignf(t < 1 ? r : edge, x);
}

/* -|x - y|, at least -700; NaN for equal infinities. */
static inline double minus_distance(float x, float y)
{
    const double d = -__builtin_fabs((double)x - (double)y);
    return d < -700 ? -700 : d;
}

static inline float logaddexp_f32(float x, float y)
{
    const double t = exp_core(minus_distance(x, y));
    return (float)((x > y ? x : y) + log1p_core(x == y ? 1 : t));
}

static inline float logaddexp2_f32(float x, float y)
{
    const double t = exp_core(LN2 * minus_distance(x, y));
    return (float)(MAD(LOG2E, log1p_core(x == y ? 1 : t), x > y ? x : y));
}

static inline float sinh_f32(float x)
{
    const double t = expm1_core(within(__builtin_fabs((double)x), 0, 95));
    return x == 0 ? x : __builtin_copysignf((float)(0.5 * MAD(t, inverse_or_0(t + 1), t)), x);
}

static inline float cosh_f32(float x)
{
    const double e = exp_core(within(__builtin_fabs((double)x), 0, 95));
    return (float)(0.5 * (e + inverse_or_0(e)));
}

static inline double tanh_core(double size) /* size >= 0 */
{
    const double u = 2 * size, t = expm1_core(u > 40 ? 40 : u);
    return t * inverse(t + 2);
}

static inline float tanh_f32(float x)
{
    return __builtin_copysignf((float)tanh_core(__builtin_fabs((double)x)), x);
}

/* e^(z z) erfc(z) for z in [0, 10.6] to 2^-29. */
static inline double erfcx_core(double z)
{
    const double t = (z - 3) * inverse(z + 3);
    double p = 0x1.d6830c4cffe20p-15;
    p = MAD(p, t, 0x1.eb497ba07b69ap-16);
    p = MAD(p, t, -0x1.37a229ee6a741p-11);
    p = MAD(p, t, 0x1.7725fd6585119p-11);
    p = MAD(p, t, 0x1.17c17e6a4df49p-8);
    p = MAD(p, t, -0x1.8facb7c558aefp-6);
    p = MAD(p, t, 0x1.258b2272d6c26p-4);
    p = MAD(p, t, -0x1.336fe744a7bd4p-3);
    p = MAD(p, t, 0x1.f6ff1f77887ccp-3);
    p = MAD(p, t, -0x1.4e102bde08062p-2);
    return MAD(p, t, 0x1.6e9827d593a0ep-3);
}

static inline float erf_f32(float x)
{
    const double z = within(__builtin_fabs((double)x), 0, 6), q = z * z;
    double p = -0x1.61de9c0b6be76p-11;
    p = MAD(p, q, 0x1.4f2c832b0f899p-8);
    p = MAD(p, q, -0x1.b7a893c925fa4p-6);
    p = MAD(p, q, 0x1.ce2ac769cb3a6p-4);
    p = MAD(p, q, -0x1.8127392b51452p-2);
    p = MAD(p, q, 0x1.20dd74fd4bb14p+0);
    const double far = 1 - exp_core(-q) * erfcx_core(z);
    return __builtin_copysignf((float)(z < 0.75 ? z * p : far), x);
}

static inline float erfc_f32(float x)
{
    const double z = within(__builtin_fabs((double)x), 0, 10.6);
    const double right = exp_core(-z * z) * erfcx_core(z);
    return (float)(x < 0 ? 2 - right : right);
}

/* f64 represents every sum of squares of f32 accurately enough. */
static inline float hypot_f32(float x, float y)
{
    const double a = x, b = y;
    const int infinite = __builtin_fabs(a) == INFINITY || __builtin_fabs(b) == INFINITY;
    return infinite ? INFINITY : (float)__builtin_sqrt(a * a + b * b);
}

/* x 2^y, exact for an integral y. */
static inline float ldexp_f32(float x, float y)
{
    const double v = within((double)y, -400, 400), z = v + SHIFT, rest = v - (z - SHIFT);
    const double scale = tni_f64_from_bits((tni_f64_bits(z) + 1023) << 52);
    const double part = rest == 0 ? 1 : 1 + LN2 * rest * expm1_near(LN2 * rest);
    return y != y ? y : x == 0 ? x : (float)((double)x * scale * part);
}

#endif
