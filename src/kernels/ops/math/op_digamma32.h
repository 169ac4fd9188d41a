/* op_digamma32.h - digamma of f32, computed in f64.
 *
 * Above 0 it is the f64 function.  Below 0 it is reflected, and eight recurrence steps lead to
 * where the asymptotic series holds.  Sums of two f64 are not needed: the f32 nearest to a zero
 * is far enough from it that the relative error after cancellation is 2^-29. */
#ifndef TNI_OP_DIGAMMA32_H
#define TNI_OP_DIGAMMA32_H

#include "op_digamma64.h"
#include "op_math32.h"
#include "op_vmath.h"

/* c[0] + c[1] x + … + c[7] x^7, evaluated in pairs to shorten the chain. */
static inline double poly7(const double c[8], double x)
{
    const double q = x * x, low = MAD(MAD(c[3], x, c[2]), q, MAD(c[1], x, c[0]));
    return MAD(MAD(MAD(c[7], x, c[6]), q, MAD(c[5], x, c[4])), q * q, low);
}

/* digamma for x < 0: finite exactly where digamma is. */
static inline double digamma_reflected(double x)
{
    static const double sine[8] = {0x1.fffffffffffffp-1,  -0x1.a51a6625306cbp+0,
                                   0x1.9f9cb402b1714p-1,  -0x1.86a8e46ca22e0p-3,
                                   0x1.ac68032530651p-6,  -0x1.3380b47ce3fd9p-9,
                                   0x1.371122be6fc8dp-13, -0x1.c371b5df4f488p-18};
    static const double cosine[8] = {0x1.0000000000000p+0,  -0x1.3bd3cc9be45dbp+2,
                                     0x1.03c1f081b5992p+2,  -0x1.55d3c7e3bfbf5p+0,
                                     0x1.e1f506813a321p-3,  -0x1.a6d1efc8c38bep-6,
                                     0x1.f9d254582ac30p-10, -0x1.b6957b54dd389p-14};
    static const double logarithm[8] = {
        0x1.0000000000001p+1, 0x1.5555555552d4ap-1, 0x1.999999a43650ep-2, 0x1.249240b79e996p-2,
        0x1.c722cd66db5e4p-3, 0x1.73231117055a2p-3, 0x1.58d69524af400p-3, 0};
    static const double series[8] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                     1.0 / 132, -691.0 / 32760, 1.0 / 12,  0};
    /* pi cot(pi x) = over / under, as functions of the distance to the nearest integer */
    const double part = x - ((x + SHIFT) - SHIFT); /* 0 above 2^51 */
    const double z = part * part, z4 = z * z * (z * z);
    const double over = MAD(0x1.1678f9078a9b3p-18, z4 * z4, poly7(cosine, z));
    const double under = part * poly7(sine, z);
    /* 1 / y + 1 / (y + 1) + … + 1 / (y + 7) = sum / all, in pairs of first and last */
    /* 1 or 0 computed from a sign: a select would become a branch and prevent vectorisation */
    const double y = 1 - x, few = 0.5 - __builtin_copysign(0.5, y - 16);
    const double g = few * y + (1 - few) * 16, w = g * (g + 7), up = y + 8 * few;
    const double a = w * (w + 6), b = (w + 10) * (w + 12), all = a * b;
    const double sum = few * (2 * g + 7) * ((2 * w + 6) * b + (2 * w + 22) * a);
    const double less = MAD(sum, under, over * all) / (all * under);
    /* log(up) = e log 2 + s * poly(s^2), s = (m - 1) / (m + 1) */
    const uint64_t half = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    const uint64_t k = (tni_f64_bits(up) - half + (1024ull << 52)) >> 52;
    const double m = tni_f64_from_bits(tni_f64_bits(up) - ((k - 1024) << 52));
    const double e = tni_f64_from_bits(tni_f64_bits(0x1p52) | k) - (0x1p52 + 1024);
    const double both = 1 / ((m + 1) * up), s = (m - 1) * up * both, inverse = (m + 1) * both;
    const double q = inverse * inverse;
    const double logs = MAD(e, LN2, s * poly7(logarithm, s * s));
    const double tail = MAD(q, poly7(series, q), 0.5 * inverse);
    return (logs - less) - tail;
}

/* digamma at poles, infinities and NaN. */
static inline double digamma_edge(double x)
{
    if (x == 0)
        return -__builtin_copysign((double)INFINITY, x);
    return x == (double)INFINITY ? x : (double)NAN;
}

/* digamma of a block, in arrays of f64 so that the loop has one width.  Elements that are not
 * positive and finite are recomputed afterwards, if there are any. */
static inline void v_digamma_f32(float *r, const float *x)
{
    double u[MATH_BLOCK], v[MATH_BLOCK];
    int odd = 0;
    for (int j = 0; j < MATH_BLOCK; j++)
        u[j] = (double)x[j];
    for (int j = 0; j < MATH_BLOCK; j += WIDE_LANES) {
        const wide w = wide_load(u + j);
        odd |= !(wide_all(-w, 0) && wide_all(w, INFINITY));
        wide_store(v + j, digamma_wide(w));
    }
    if (odd) {
        double w[MATH_BLOCK];
        for (int j = 0; j < MATH_BLOCK; j++)
            w[j] = digamma_reflected(u[j]);
        for (int j = 0; j < MATH_BLOCK; j++)
            if (!(u[j] > 0 && u[j] < (double)INFINITY))
                v[j] = w[j] - w[j] == 0 && u[j] < 0 ? w[j] : digamma_edge(u[j]);
    }
    for (int j = 0; j < MATH_BLOCK; j++)
        r[j] = (float)v[j];
}

#endif
