/* op_digamma32.h - digamma of f32, computed in f64.
 *
 * Below 1/2 it is reflected, eight steps up lead to where the asymptotic series holds, and around
 * its zero it is a polynomial.  f64 is enough below 0, too: the f32 nearest to a zero there is
 * so far from it that 2^-29 of the result are left when the terms have cancelled. */
#ifndef TNI_OP_DIGAMMA32_H
#define TNI_OP_DIGAMMA32_H

#include "op_math32.h"
#include "op_vmath.h"

/* c[0] + c[1] x + … + c[7] x^7: in pairs, so that the chain is short. */
static inline double poly7(const double c[8], double x)
{
    const double q = x * x, low = MAD(MAD(c[3], x, c[2]), q, MAD(c[1], x, c[0]));
    return MAD(MAD(MAD(c[7], x, c[6]), q, MAD(c[5], x, c[4])), q * q, low);
}

/* digamma(x) on [1.18, 1.76], where near is 1: x minus its zero, times a polynomial good to
 * 2^-36.  0 where near is 0. */
static inline double digamma_zero(double x, double near)
{
    static const double c[8] = {0x1.ef72bc8eeac50p-1, -0x1.c563b5500b960p-2,
                                0x1.08b42928aa8c5p-2, -0x1.4fc12736f960cp-3,
                                0x1.b9a5ee6985778p-4, -0x1.27c0266d101d8p-4,
                                0x1.8fc07644bc694p-5, -0x1.0e7bc75b37be9p-5};
    const double t = near * ((x - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54), q = t * t;
    const double high =
        MAD(0x1.650758f2fdc18p-7, q, MAD(-0x1.18e6450ce1ea4p-6, t, 0x1.7328099940c43p-6));
    return t * MAD(high, q * q * (q * q), poly7(c, t));
}

/* Finite where digamma is, and nowhere else. */
static inline double digamma_of(double x)
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
    /* 1 and 0, or 0 and 1, from a sign: a select would become a branch, and the loop no vectors */
    const double low = 0.5 - __builtin_copysign(0.5, x - 0.5), high = 1 - low;
    /* pi cot(pi x) = over / under, of the distance to the nearest integer */
    const double part = x - ((x + SHIFT) - SHIFT); /* 0 above 2^51 */
    const double z = part * part, z4 = z * z * (z * z);
    const double over = low * MAD(0x1.1678f9078a9b3p-18, z4 * z4, poly7(cosine, z));
    const double under = MAD(low * part, poly7(sine, z), high);
    /* 1 / y + 1 / (y + 1) + … + 1 / (y + 7) = sum / all, in pairs of first and last */
    const double y = low + (high - low) * x, few = 0.5 - __builtin_copysign(0.5, y - 16);
    const double g = few * y + (1 - few) * 16, w = g * (g + 7), up = y + 8 * few;
    const double a = w * (w + 6), b = (w + 10) * (w + 12), all = a * b;
    const double sum = few * (2 * g + 7) * ((2 * w + 6) * b + (2 * w + 22) * a);
    const double less = MAD(sum, under, over * all) / (all * under);
    /* log(up) = e log 2 + s * poly(s^2), s = (m - 1) / (m + 1) */
    const uint64_t half = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    const uint64_t k = (to_bits(up) - half + (1024ull << 52)) >> 52;
    const double m = from_bits(to_bits(up) - ((k - 1024) << 52));
    const double e = from_bits(to_bits(0x1p52) | k) - (0x1p52 + 1024);
    const double both = 1 / ((m + 1) * up), s = (m - 1) * up * both, inverse = (m + 1) * both;
    const double q = inverse * inverse;
    const double logs = MAD(e, LN2, s * poly7(logarithm, s * s));
    const double tail = MAD(q, poly7(series, q), 0.5 * inverse);
    const double value = (logs - less) - tail;
    const double near = 0.5 - __builtin_copysign(0.5, __builtin_fabs(x - 1.47) - 0.29);
    return digamma_zero(x, near) + (1 - near) * value;
}

/* Poles, infinities and NaN. */
static inline double digamma_edge(double x)
{
    if (x == 0)
        return -__builtin_copysign((double)INFINITY, x);
    return x == (double)INFINITY ? x : (double)NAN;
}

/* Of a block: in arrays of f64, for a loop of one width.  What is not finite comes afterwards, for
 * a select of it would keep the loop from being vectors. */
static inline void v_digamma_f32(float *r, const float *x)
{
    double u[MATH_BLOCK];
    uint64_t odd = 0;
    for (int j = 0; j < MATH_BLOCK; j++)
        u[j] = (double)x[j];
    for (int j = 0; j < MATH_BLOCK; j++)
        u[j] = digamma_of(u[j]);
    for (int j = 0; j < MATH_BLOCK; j++)
        odd |= ((to_bits(u[j]) >> 52 & 0x7ff) + 1) & 0x800; /* inf and NaN have that exponent */
    for (int j = 0; j < MATH_BLOCK && odd; j++)
        u[j] = u[j] - u[j] == 0 ? u[j] : digamma_edge((double)x[j]);
    for (int j = 0; j < MATH_BLOCK; j++)
        r[j] = (float)u[j];
}

#endif
