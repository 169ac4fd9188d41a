/* row_exp.h - exponentials and logarithms of vectors, for softmax: it promises error bounds,
 * not bits, so that instruction sets may differ. */
#ifndef TNI_ROW_EXP_H
#define TNI_ROW_EXP_H

#include "exp_lanes.h"
#include "row_vector.h"

/* ---- exp ---- */

/* a * b + c, fused where the instruction set can. */
INLINE vf fused(vf a, vf b, vf c)
{
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
    return _mm256_fmadd_ps(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE vf splat_vf(float x)
{
    return (vf){0} + x;
}

/* y - k * ln(2), with ln(2) in two parts: that of one as f32, k * 2^-29, is more than the bound
 * of softmax leaves beside the error of x - max. */
INLINE vf less_ln2(vf y, vf k)
{
#if defined(__AVX2__)
    return fused(k, splat_vf(0x1.05c610p-29f), fused(k, splat_vf(-0x1.62e430p-1f), y));
#else
    return (y - k * 0x1.62e400p-1f) - k * 0x1.7f7d1cp-20f;
#endif
}

/* The least f32 whose exponential is 2^-126 or more. */
#define LEAST32 (-0x1.5d589ep+6f)

/* exp(y) for y <= 0, as 2^k * exp(r).  0 for y < LEAST32, where exp(y) is below 2^-126,
 * and for NaN. */
INLINE vf exp_vf(vf y)
{
    const vf shifted = fused(y, splat_vf(0x1.715476p0f), splat_vf(ROUND32));
    const vf r = less_ln2(y, shifted - ROUND32);
    /* a minimax polynomial for |r| <= ln(2) / 2, of relative error 2^-28 */
    vf p = splat_vf(0x1.6a23cep-10f);
    p = fused(p, r, splat_vf(0x1.123a20p-7f));
    p = fused(p, r, splat_vf(0x1.5558f2p-5f));
    p = fused(p, r, splat_vf(0x1.555492p-3f));
    p = fused(p, r, splat_vf(0x1.fffffcp-2f));
    p = fused(p, r, splat_vf(1.0f));
    p = fused(p, r, splat_vf(1.0f));
    /* k, in the low bits of shifted, is added to the exponent; unsigned, because it wraps */
    const vf_bits bits = (vf_bits)((vf_words)p + ((vf_words)shifted << 23));
#if defined(__AVX512F__)
    return (vf)_mm512_maskz_mov_epi32(_mm512_cmp_ps_mask(y, splat_vf(LEAST32), _CMP_GE_OQ),
                                      (__m512i)bits);
#else
    return (vf)(bits & (y >= splat_vf(LEAST32)));
#endif
}

INLINE vd fused_vd(vd a, vd b, vd c)
{
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__)
    return _mm256_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
}

/* The same for f64; 0 for y < -707, where exp(y) is below 2^-1019. */
INLINE vd exp_vd(vd y)
{
    const vd shifted = fused_vd(y, splat_vd(0x1.71547652b82fep0), splat_vd(ROUND64));
    const vd k = shifted - ROUND64;
    vd r = fused_vd(k, splat_vd(-0x1.62e42fee00000p-1), y);
    r = fused_vd(k, splat_vd(-0x1.a39ef35793c76p-33), r);
    /* a polynomial of relative error below 2^-55, evaluated in pairs of terms */
    const vd r2 = r * r, r4 = r2 * r2;
    const vd a = fused_vd(splat_vd(0x1.5555555555556p-3), r, splat_vd(0x1.0000000000001p-1));
    const vd b = fused_vd(splat_vd(0x1.11111111109b3p-7), r, splat_vd(0x1.5555555553d63p-5));
    const vd c = fused_vd(splat_vd(0x1.a01a01a7c41d5p-13), r, splat_vd(0x1.6c16c1788bd90p-10));
    const vd d = fused_vd(splat_vd(0x1.71de0dae63bb3p-19), r, splat_vd(0x1.a019b90d2ae7ap-16));
    const vd e = fused_vd(splat_vd(0x1.af38a9b0ec855p-26), r, splat_vd(0x1.289185613a3d6p-22));
    const vd low = fused_vd(b, r2, a), high = fused_vd(e, r4, fused_vd(d, r2, c));
    const vd p = fused_vd(fused_vd(high, r4, low), r2, r) + 1.0;
    const vd_bits bits = (vd_bits)((vd_words)p + ((vd_words)shifted << 52));
    return (vd)(bits & (y >= splat_vd(-707.0)));
}

/* ---- log ---- */

/* log(x) for x >= 1, with a relative error of at most 2^-40; NaN for NaN. */
INLINE vd log_vd(vd x)
{
    /* x = 2^k * m, with m from sqrt(1 / 2) to sqrt(2); k is not negative */
    const vd_words bits = (vd_words)x, k = (bits - 0x3fe6a09e667f3bcdu) >> 52;
    const vd m = (vd)(bits - (k << 52)), exponent = (vd)(k | 0x4330000000000000u) - 0x1p52;
    /* log(m) = 2 * atanh(s) */
    const vd s = (m - 1.0) / (m + 1.0), z = s * s;
    vd p = splat_vd(0x1.8c8c11e54d389p-3);
    p = fused_vd(p, z, splat_vd(0x1.c67ada017cf97p-3));
    p = fused_vd(p, z, splat_vd(0x1.249323e4d7fc7p-2));
    p = fused_vd(p, z, splat_vd(0x1.999998cafbf2ap-2));
    p = fused_vd(p, z, splat_vd(0x1.5555555564e96p-1));
    p = s * fused_vd(p, z, splat_vd(2.0));
    return pick_vd(x == x, fused_vd(exponent, splat_vd(0x1.62e42fefa39efp-1), p), x);
}

/* What log_softmax subtracts: the logarithms of the sums that belong to one vector. */
INLINE void logs_vf(vd *sum)
{
    sum[0] = log_vd(sum[0]);
    sum[1] = log_vd(sum[1]);
}
INLINE void logs_vd(vd *sum)
{
    for (int k = 0; k < VD; k++)
        sum[0][k] = log(sum[0][k]);
}

INLINE vd root_vd(vd v)
{
#if defined(__AVX512F__)
    return _mm512_sqrt_pd(v);
#elif defined(__AVX2__)
    return _mm256_sqrt_pd(v);
#else
    for (int k = 0; k < VD; k++)
        v[k] = sqrt(v[k]);
    return v;
#endif
}

#endif
