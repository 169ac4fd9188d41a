/* op_erf64.h - erf, erfc, gelu and the inverse of erf for f64 on blocks of 16, and the inverse
 * of erf for f32. */
#ifndef TNI_OP_ERF64_H
#define TNI_OP_ERF64_H

#include "op_log64.h"
#include "op_math64.h"
#include "op_pieces64.h"

/* erf within 0.8 ulp. */
INLINE wide erf_wide(wide x)
{
    const wide v = wide_most(wide_abs(x), 5.93);
    const wide z = wide_mad(v, wide_splat(1 / ERF_STEP), wide_splat(WIDE_SHIFT));
    const wide n = z - WIDE_SHIFT, t = wide_mad(n, wide_splat(-ERF_STEP), v);
    const wide_ints i = (wide_ints)z;
    const wide two = wide_splat(2), u = wide_less(n, two, v, t);
    const wide p = pieces_poly(erf_pieces + 2, 12, wide_less(n, two, v * v, t), i);
    const wide c = wide_less(n, two, v, wide_lookup(erf_pieces[0], i));
    return wide_signed(c + wide_mad(u, p, wide_lookup(erf_pieces[1], i)), x);
}

/* erfc within 1.2 ulp: e^(-v v) times a polynomial; below 0, 2 minus that. */
INLINE wide erfc_wide(wide x)
{
    const wide v = wide_most(wide_abs(x), 27.5), square = v * v, half = wide_splat(0.5);
    const wide_ints i = (wide_ints)(v + 2.0) >> 50;
    const wide from = v - wide_lookup(erfc_pieces[0], i), t = wide_less(v, half, square, from);
    const wide p = pieces_poly(erfc_pieces + 3, 14, t, i), less = 1.0 - v, none = wide_splat(0);
    wide n, rest;
    wide e = exp_pair(-square, -wide_low_product(v, v, square), &n, &rest);
    n = wide_less(v, half, none, n);
    rest = wide_less(v, half, none, rest);
    e = wide_less(v, half, wide_splat(1), e);
    const wide c = wide_less(v, half, less, wide_lookup(erfc_pieces[1], i));
    const wide lost = wide_less(v, half, (1.0 - less) - v, wide_lookup(erfc_pieces[2], i));
    const wide low = wide_mad(from, p, lost);
#if defined(WIDE_UNFUSED)
    const wide high = wide_high(e), small = c * (e - high) + (low * e + c * rest);
    const wide r = wide_scale(c * high + small, n);
#else
    const wide r = wide_scale(wide_mad(c, e, wide_mad(low, e, c * rest)), n);
#endif
    return wide_less(x, none, 2.0 - r, r);
}

BLOCK64(erf)
{
    UNUSED;
    for (int j = 0; j < MATH_BLOCK; j += WIDE_LANES)
        wide_store(r + j, erf_wide(wide_load(x + j)));
}

BLOCK64(erfc)
{
    UNUSED;
    for (int j = 0; j < MATH_BLOCK; j += WIDE_LANES)
        wide_store(r + j, erfc_wide(wide_load(x + j)));
}

/* erfc(z) e^(z z) for z in [0, 28], to 2^-52; the polynomial approximates it times z + 4. */
static inline double scaled_erfc(double z)
{
    static const double c[] = {
        0x1.3b35b725c71c9p+0,   -0x1.0c5afdcb194cdp+0,  0x1.8c35ff09d9da7p-1,
        -0x1.f95e41c11945cp-2,  0x1.13c406cc03131p-2,   -0x1.f984debd38604p-4,
        0x1.778e65868fdd9p-5,   -0x1.a27424e32f7ccp-7,  0x1.108be7d773281p-9,
        0x1.140e78ad78de4p-13,  -0x1.7ce547faabfd3p-13, 0x1.2e3e4f39afea0p-15,
        0x1.b17d8d5a0b3ecp-18,  -0x1.1a896394bdac8p-18, 0x1.9f05e33e4bc9fp-24,
        0x1.907c4cb9ed4bbp-22,  -0x1.9b8ea029d7020p-25, -0x1.19053a9bb68cdp-25,
        0x1.cbee8d57dfdcfp-28,  0x1.8dd7168a5d370p-29,  -0x1.867658a3e6554p-31,
        -0x1.a1804901e61e2p-33, 0x1.a76b2e1ec3c39p-35,
    };
    /* always fused, because the terms nearly cancel */
    const double inverse = 1 / (z + 4), u = FUSE(z * inverse, 16.0 / 7, -1);
    const double s = poly64(c + 2, (int)(sizeof c / sizeof *c) - 2, u);
    return inverse * FUSE(FUSE(s, u, c[1]), u, c[0]);
}

/* x (1 - t) or x t with t = erfc(|x| / sqrt 2) / 2.  e^(-x x / 2) is computed as a square, so
 * that x t keeps its digits down to the smallest number. */
BLOCK64(gelu)
{
    UNUSED;
    double h[MATH_BLOCK];
    EACH
    {
        const double v = SIZE(x[j]) > 40 ? 40 : SIZE(x[j]);
        h[j] = -0.25 * (v * v);
    }
    v_exp_f64(h, h);
    EACH
    {
        const double v = SIZE(x[j]) > 40 ? 40 : SIZE(x[j]), rest = 0.5 * FUSE(v, v, -(v * v));
        const double e = scaled_erfc(v * 0x1.6a09e667f3bcdp-1), t = 0.5 * (e - e * rest);
        const double right = x[j] * (1 - t * h[j] * h[j]), left = -(v * t * h[j]) * h[j];
        r[j] = x[j] < -40 ? -0.0 : x[j] < 0 ? left : right;
    }
}

/* Winitzki's estimate, refined by Halley steps on erf, or on erfc near 1. */
static inline void erfinv_far(double *r, const double *x)
{
    double g[MATH_BLOCK], e[MATH_BLOCK], c[MATH_BLOCK], s[MATH_BLOCK];
    EACH g[j] = -x[j] * x[j];
    v_log1p_f64(g, g);
    EACH
    {
        const double k = 0.147, half = 2 / (3.14159265358979 * k) + 0.5 * g[j];
        const double root = __builtin_sqrt(half * half - g[j] / k);
        r[j] = __builtin_sqrt((-g[j] / k) / (root + half));
    }
    for (int i = 0; i < 2; i++) {
        EACH s[j] = -r[j] * r[j];
        erf_f64(e, r, NULL, NULL);
        erfc_f64(c, r, NULL, NULL);
        v_exp_f64(s, s);
        EACH
        {
            const double a = SIZE(x[j]), off = a < 0.5 ? e[j] - a : (1 - a) - c[j];
            const double step = off / (s[j] * 0x1.20dd750429b6dp+0);
            r[j] -= step / (1 + r[j] * step);
        }
    }
}

/* x p(w) with w = -log(1 - x x), used for w < 6.25, that is |x| < 0.99903. */
BLOCK64(erfinv)
{
    UNUSED;
    static const double c[] = {
        0x1.a755e7c99ae86p+0,   0x1.8040caa12786bp-1,   -0x1.e2b19456a0d5cp-5,
        -0x1.7259eca3a0e6ap-6,  0x1.23c5aee6d7623p-6,   -0x1.0f249df1e0f4cp-8,
        -0x1.4d5dd2f601d97p-10, 0x1.4316b4de70ff3p-10,  -0x1.153c9cea11803p-12,
        -0x1.ea4472a80be62p-14, 0x1.879bf9b660a90p-14,  -0x1.f83eaa8301e2fp-17,
        -0x1.79ad54de00827p-17, 0x1.de7b6e9c9a48dp-18,  -0x1.712e9bbf5975bp-21,
        -0x1.1c4e17253da66p-20, 0x1.24f0792b27f89p-21,  -0x1.65c703ccb827bp-27,
        -0x1.c39d8ba95df48p-24, 0x1.51b6d83b10caep-25,  0x1.37b6d2ede04acp-27,
        -0x1.286d931b525f7p-27, -0x1.7943526054c85p-34, 0x1.ace756859e33ap-31,
    };
    double w[MATH_BLOCK];
    EACH w[j] = FUSE(-x[j], x[j], 1);
    v_log_f64(w, w);
    EACH r[j] = x[j] * POLY64(c, MAD(w[j], -0.32, -1));
    if (any_above(x, 0.999)) {
        double far[MATH_BLOCK];
        erfinv_far(far, x);
        EACH
        {
            const double a = SIZE(x[j]), inside = a > 0.999 ? far[j] : SIZE(r[j]);
            r[j] = a < 1 ? inside : a == 1 ? INFINITY : NAN;
            r[j] = __builtin_copysign(r[j], x[j]);
        }
    }
}

/* The inverse of erf in f32; for larger w it is a polynomial in the square root of w, which is
 * below 4.2. */
static inline void v_erfinv_f32(float *r, const float *x)
{
    static const float near[] = {0x1.a755e8p+0f,   0x1.8040cap-1f,  -0x1.e2b1d4p-5f,
                                 -0x1.725970p-6f,  0x1.23cfc2p-6f,  -0x1.0f3b1ap-8f,
                                 -0x1.50e864p-10f, 0x1.44c144p-10f, -0x1.e94a30p-13f,
                                 -0x1.12a31cp-13f, 0x1.042992p-14f};
    static const float far[] = {0x1.979c70p+1f,   0x1.b5e938p-1f,   0x1.9ec454p-9f,
                                -0x1.d27a14p-10f, 0x1.e513e4p-11f,  -0x1.1d93acp-11f,
                                0x1.268bb0p-12f,  -0x1.50ec50p-14f, 0x1.eb1038p-19f};
    float w[MATH_BLOCK];
    for (int j = 0; j < MATH_BLOCK; j++)
        w[j] = (float)(1 - (double)x[j] * (double)x[j]);
    v_log_f32(w, w);
    for (int j = 0; j < MATH_BLOCK; j++) {
        const float u = -0.32f * w[j] - 1;
        const float v = (__builtin_sqrtf(-w[j]) - 3.35f) * (1 / 0.85f);
        float p = near[10], q = far[8];
        for (int i = 9; i >= 0; i--)
            p = p * u + near[i];
        for (int i = 7; i >= 0; i--)
            q = q * v + far[i];
        const float a = __builtin_fabsf(x[j]), inside = w[j] > -6.25f ? p : q;
        r[j] = a == 1 ? __builtin_copysignf(INFINITY, x[j]) : x[j] * inside;
    }
}

#endif
