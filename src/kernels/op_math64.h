/* op_math64.h - functions of f64 on blocks of 16: the vector math library, and what is composed
 * of it.
 *
 * name_f64(r, x, y, p) reads sources x and y and parameters p; r is none of them. */
#ifndef TNI_OP_MATH64_H
#define TNI_OP_MATH64_H

#include "op_math32.h"
#include "op_vmath.h"

#define BLOCK64(name)                                                                          \
    static inline void name##_f64(double *r, const double *x, const double *y, const double *p)
#define EACH    for (int j = 0; j < MATH_BLOCK; j++)
#define UNUSED  (void)x, (void)y, (void)p
#define FUSE    __builtin_fma
#define SIZE(x) __builtin_fabs(x)

#define DIRECT(name)                                                                           \
    BLOCK64(name)                                                                              \
    {                                                                                          \
        UNUSED;                                                                                \
        v_##name##_f64(r, x);                                                                  \
    }
DIRECT(exp)
DIRECT(exp2)
DIRECT(expm1)
DIRECT(log)
DIRECT(log2)
DIRECT(log10)
DIRECT(atanh)
DIRECT(erfc)

BLOCK64(hypot)
{
    UNUSED;
    v_hypot_f64(r, x, y);
}

/* The least numbers go by the slope at 0, the largest by the logarithm. */
BLOCK64(erf)
{
    UNUSED;
    v_erf_f64(r, x);
    EACH r[j] = SIZE(x[j]) < 0x1p-500 ? FUSE(x[j], 0x1.06eba8214db69p-3, x[j]) : r[j];
}

BLOCK64(tanh)
{
    UNUSED;
    v_tanh_f64(r, x);
    EACH r[j] = SIZE(x[j]) < 0x1p-28 ? x[j] : r[j];
}

BLOCK64(log1p)
{
    UNUSED;
    double t[MATH_BLOCK];
    v_log_f64(t, x);
    v_log1p_f64(r, x);
    EACH r[j] = x[j] > 0x1p500 ? t[j] : r[j];
}

BLOCK64(lgamma)
{
    UNUSED;
    double t[MATH_BLOCK];
    v_log_f64(t, x);
    v_lgamma_f64(r, x);
    EACH r[j] = x[j] > 0x1p500 ? x[j] * (t[j] - 1) : r[j];
}

/* x 2^y; an integral y is exact, for no factor but the last rounds a number that counts. */
BLOCK64(ldexp)
{
    UNUSED;
    double part[MATH_BLOCK];
    EACH part[j] = y[j] - __builtin_rint(y[j]);
    v_exp2_f64(part, part);
    EACH
    {
        const double v = y[j] < -2200 ? -2200 : y[j] > 2200 ? 2200 : y[j];
        double k = __builtin_rint(v), s = x[j] * (v == k ? 1 : part[j]);
        for (int i = 0; i < 2; i++) {
            const double by = k > 1023 ? 1023 : k < -1022 ? -969 : 0;
            s = by == 0 ? s : s * (by > 0 ? 0x1p1023 : 0x1p-969);
            k -= by;
        }
        const double last = k != k ? 0 : k > 1023 ? 1023 : k < -1022 ? -1022 : k;
        const double scale = from_bits((uint64_t)(int64_t)(last + 1023) << 52);
        r[j] = y[j] != y[j] ? y[j] : x[j] == 0 ? x[j] : s * scale;
    }
}

/* e^(size - log 2): half of e^x also where e^x itself overflows. */
static inline void half_exp_f64(double *r, const double *x)
{
    EACH r[j] = SIZE(x[j]) - LN2;
    v_exp_f64(r, r);
    EACH
    {
        const double size = SIZE(x[j]), t = size - LN2;
        const double rest = ((size - t) - LN2) - 0x1.abc9e3b39803fp-56;
        r[j] = r[j] < INFINITY ? FUSE(r[j], rest, r[j]) : r[j];
    }
}

BLOCK64(sinh)
{
    UNUSED;
    double h[MATH_BLOCK];
    half_exp_f64(h, x);
    v_sinh_f64(r, x);
    EACH r[j] = SIZE(x[j]) > 708 && SIZE(x[j]) < 711 ? __builtin_copysign(h[j], x[j]) : r[j];
}

BLOCK64(cosh)
{
    UNUSED;
    double h[MATH_BLOCK];
    half_exp_f64(h, x);
    v_cosh_f64(r, x);
    EACH r[j] = SIZE(x[j]) > 708 && SIZE(x[j]) < 711 ? h[j] : r[j];
}

/* Of numbers whose square overflows, asinh and acosh are log(2 x). */
BLOCK64(asinh)
{
    UNUSED;
    double t[MATH_BLOCK];
    EACH t[j] = SIZE(x[j]);
    v_log_f64(t, t);
    v_asinh_f64(r, x);
    EACH r[j] = SIZE(x[j]) > 0x1p500 ? __builtin_copysign(t[j] + LN2, x[j]) : r[j];
}

BLOCK64(acosh)
{
    UNUSED;
    double t[MATH_BLOCK];
    v_log_f64(t, x);
    v_acosh_f64(r, x);
    EACH r[j] = x[j] > 0x1p500 ? t[j] + LN2 : r[j];
}

/* A ratio near the least numbers is its own arc. */
BLOCK64(atan2)
{
    UNUSED;
    v_atan2_f64(r, x, y);
    EACH
    {
        const double ratio = x[j] / y[j];
        r[j] = y[j] > 0 && SIZE(ratio) < 0x1p-900 && x[j] != 0 ? ratio : r[j];
    }
}

BLOCK64(logaddexp)
{
    UNUSED;
    double t[MATH_BLOCK];
    EACH t[j] = x[j] == y[j] ? 0 : -SIZE(x[j] - y[j]);
    v_exp_f64(t, t);
    v_log1p_f64(t, t);
    EACH r[j] = (x[j] > y[j] ? x[j] : y[j]) + t[j];
}

BLOCK64(logaddexp2)
{
    UNUSED;
    double t[MATH_BLOCK];
    EACH t[j] = x[j] == y[j] ? 0 : -SIZE(x[j] - y[j]);
    v_exp2_f64(t, t);
    v_log1p_f64(t, t);
    EACH r[j] = (x[j] > y[j] ? x[j] : y[j]) + t[j] * 0x1.71547652b82fep+0;
}

/* Winitzki's estimate of erf's inverse, then Halley's steps on erf, or on erfc near 1. */
BLOCK64(erfinv)
{
    UNUSED;
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
        v_erf_f64(e, r);
        v_erfc_f64(c, r);
        v_exp_f64(s, s);
        EACH
        {
            const double a = SIZE(x[j]), off = a < 0.5 ? e[j] - a : (1 - a) - c[j];
            const double step = off / (s[j] * 0x1.20dd750429b6dp+0);
            r[j] -= step / (1 + r[j] * step);
        }
    }
    EACH
    {
        const double a = SIZE(x[j]);
        const double inside = __builtin_copysign(r[j], x[j]);
        r[j] = a < 1 ? inside : a == 1 ? __builtin_copysign(INFINITY, x[j]) : NAN;
    }
}

/* Around its zero digamma is (x - zero) times a polynomial in x - 1.6, for x in [1, 2.2]. */
static inline double digamma_near(double x)
{
    static const double c[] = {
        0x1.d2693a39f00ccp-1,   -0x1.84bb0e139c1fcp-2,  0x1.9bf839e740201p-3,
        -0x1.da9c50c3d4de4p-4,  0x1.1be442996a485p-4,   -0x1.5a31a4a897d55p-5,
        0x1.aa94e98f5dbabp-6,   -0x1.085dc37608d4ep-6,  0x1.48ca52be6a8dcp-7,
        -0x1.99bce02f102afp-8,  0x1.ff3a19a0a790ap-9,   -0x1.3f22143e9b45fp-9,
        0x1.8ea1e13151c3fp-10,  -0x1.f2c994a64bccap-11, 0x1.37c3ec1bb0d57p-11,
        -0x1.7eeae22e72e50p-12, 0x1.dd38766237d35p-13,  -0x1.54025bbed8020p-13,
        0x1.aeb4d9e778cacp-14,  -0x1.a98fce1d46280p-16, 0x1.de84ba67d3626p-17,
        -0x1.b47a238526d42p-15, 0x1.178accdd1d97cp-15,
    };
    double q = c[sizeof c / sizeof *c - 1];
    for (int i = (int)(sizeof c / sizeof *c) - 2; i >= 0; i--)
        q = q * (x - 1.6) + c[i];
    return ((x - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54) * q;
}

/* sum += 1 / (y + y_low), with the part that rounding drops. */
static inline void add_inverse(double *sum, double *rest, double y, double y_low)
{
    const double v = 1 / y, v_low = (FUSE(-y, v, 1) - y_low * v) * v, s = *sum + v;
    const double back = s - *sum;
    *rest += (*sum - (s - back)) + (v - back) + v_low;
    *sum = s;
}

/* From x, steps of one up to where the asymptotic series holds; far below 0 by reflection. */
BLOCK64(digamma)
{
    UNUSED;
    double up[MATH_BLOCK], up_low[MATH_BLOCK], sum[MATH_BLOCK] = {0}, rest[MATH_BLOCK] = {0};
    double sine[MATH_BLOCK], cosine[MATH_BLOCK], small[MATH_BLOCK], log[MATH_BLOCK];
    EACH
    {
        const double from = x[j] < -22 ? 1 - x[j] : x[j];
        up[j] = from;
        up_low[j] = 0;
        for (int i = 1; i <= 33 && up[j] < 10; i++) {
            add_inverse(&sum[j], &rest[j], up[j], up_low[j]);
            up[j] = from + i;
            up_low[j] = SIZE(from) < i ? from - (up[j] - i) : i - (up[j] - from);
        }
    }
    EACH small[j] = up[j] < 11 ? (up[j] - 10) / 10 : 0;
    v_log1p_f64(small, small);
    v_log_f64(log, up);
    EACH sine[j] = x[j] - __builtin_rint(x[j]); /* the cotangent has period 1 */
    v_cospi_f64(cosine, sine);
    v_sinpi_f64(sine, sine);
    EACH
    {
        const double q = 1 / (up[j] * up[j]);
        double s = q * (1.0 / 12);
        s = q * (691.0 / 32760 - s);
        s = q * (1.0 / 132 - s);
        s = q * (1.0 / 240 - s);
        s = q * (1.0 / 252 - s);
        s = q * (1.0 / 120 - s);
        s = q * (1.0 / 12 - s);
        const double turn = 3.14159265358979323846 * cosine[j] / sine[j];
        /* log(up) is log(10) + log(1 + small) where the sum may cancel it */
        const double ten = 0x1.26bb1bbb55516p+1, ten_low = -0x1.f48ad494ea3e9p-53;
        const double high = up[j] < 11 ? ten : log[j];
        const double low = up[j] < 11 ? small[j] + ten_low : 0;
        const double left = rest[j] == rest[j] ? rest[j] - low - up_low[j] / up[j] : 0;
        const double far = (high - sum[j]) - (0.5 / up[j] + s + left);
        const double below = x[j] < -22 ? far - turn : far;
        const int pole = x[j] < 0 && x[j] == __builtin_floor(x[j]);
        const int near = x[j] > 1 && x[j] < 2.2;
        r[j] = x[j] == 0          ? -__builtin_copysign(INFINITY, x[j])
               : x[j] == INFINITY ? x[j]
               : pole             ? NAN
               : near             ? digamma_near(x[j])
                                  : below;
    }
}

#endif
