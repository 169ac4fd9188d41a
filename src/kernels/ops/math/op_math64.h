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
DIRECT(sin)
DIRECT(cos)
DIRECT(asin)
DIRECT(acos)
DIRECT(atan)
DIRECT(erfc)

BLOCK64(hypot)
{
    UNUSED;
    v_hypot_f64(r, x, y);
}

/* What is rounded up does not leave the largest number. */
BLOCK64(pow)
{
    UNUSED;
    v_pow_f64(r, x, y);
    EACH r[j] = y[j] == 1 ? x[j] : r[j];
}

/* The least numbers go by the slope at 0, the largest by the logarithm. */
BLOCK64(erf)
{
    UNUSED;
    v_erf_f64(r, x);
    EACH r[j] = SIZE(x[j]) < 0x1p-500 ? FUSE(x[j], 0x1.06eba8214db69p-3, x[j]) : r[j];
}

/* x + O(x^3): the least numbers are their own value. */
#define FROM_ZERO(name)                                                                        \
    BLOCK64(name)                                                                              \
    {                                                                                          \
        UNUSED;                                                                                \
        v_##name##_f64(r, x);                                                                  \
        EACH r[j] = SIZE(x[j]) < 0x1p-28 ? x[j] : r[j];                                        \
    }
FROM_ZERO(tan)
FROM_ZERO(tanh)
FROM_ZERO(atanh)

BLOCK64(log1p)
{
    UNUSED;
    double t[MATH_BLOCK];
    v_log_f64(t, x);
    v_log1p_f64(r, x);
    EACH r[j] = x[j] > 0x1p500 ? t[j] : SIZE(x[j]) < 0x1p-54 ? x[j] : r[j];
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
    EACH
    {
        const double size = SIZE(x[j]), far = __builtin_copysign(t[j] + LN2, x[j]);
        r[j] = size > 0x1p500 ? far : size < 0x1p-28 ? x[j] : r[j];
    }
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

#endif
