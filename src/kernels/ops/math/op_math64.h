/* op_math64.h - functions of f64 on blocks of 16: those of the vector math library, and
 * functions composed of them.
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
/* c[0] + c[1] x + …, evaluated in two chains, of even and of odd powers. */
static inline double poly64(const double *c, int n, double x)
{
    const double q = x * x;
    double even = c[(n - 1) & ~1], odd = c[(n - 2) | 1];
    for (int i = ((n - 1) & ~1) - 2; i >= 0; i -= 2)
        even = MAD(even, q, c[i]);
    for (int i = ((n - 2) | 1) - 2; i >= 1; i -= 2)
        odd = MAD(odd, q, c[i]);
    return MAD(odd, x, even);
}
#define POLY64(c, x) poly64(c, (int)(sizeof(c) / sizeof *(c)), x)

/* Does a block have a number beyond a bound?  Handling that only such numbers need is skipped
 * for other blocks. */
static inline bool any_above(const double *x, double bound)
{
    uint64_t any = 0;
    EACH any |= SIZE(x[j]) > bound;
    return any;
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

BLOCK64(hypot)
{
    UNUSED;
    v_hypot_f64(r, x, y);
}

/* Functions x + O(x^3): tiny arguments are their own result. */
#define FROM_ZERO(name)                                                                        \
    BLOCK64(name)                                                                              \
    {                                                                                          \
        UNUSED;                                                                                \
        v_##name##_f64(r, x);                                                                  \
        EACH r[j] = SIZE(x[j]) < 0x1p-28 ? x[j] : r[j];                                        \
    }
FROM_ZERO(tan)

/* x - tanh x as a polynomial for |x| < 0.8, and tanh |x| from e^(2 |x|) above. */
static inline void tanh_parts(double *less, double *far, const double *x)
{
    static const double c[] = {
        0x1.5555555555555p-2,   -0x1.11111111110d1p-3,  0x1.ba1ba1ba1540cp-5,
        -0x1.664f4880bf9b9p-6,  0x1.226e3509ebbd8p-7,   -0x1.d6d3c028a5d35p-9,
        0x1.7da250ab74191p-10,  -0x1.354c04fc7ce73p-11, 0x1.f4bd8d50d3208p-13,
        -0x1.9241be6cb72bap-14, 0x1.3855597eb7a7ap-15,  -0x1.b30cb9f7f5b73p-17,
        0x1.cf2825f4c3a67p-19,  -0x1.0aa5e66b540c4p-21,
    };
    EACH far[j] = 2 * SIZE(x[j]);
    v_exp_f64(far, far);
    EACH
    {
        const double q = x[j] * x[j];
        double s = 0;
        for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--)
            s = MAD(s, q, c[i]);
        less[j] = x[j] * q * s;
        far[j] = 1 - 2 / (far[j] + 1);
    }
}

#if defined(__FMA__) || defined(__aarch64__)
BLOCK64(tanh)
{
    UNUSED;
    double less[MATH_BLOCK];
    tanh_parts(less, r, x);
    EACH r[j] = __builtin_copysign(SIZE(x[j]) < 0.8 ? x[j] - less[j] : r[j], x[j]);
}
#else /* unfused, the parts have errors of up to 1.03 ulp */
FROM_ZERO(tanh)
#endif

BLOCK64(log1p)
{
    UNUSED;
    v_log1p_f64(r, x);
    EACH r[j] = SIZE(x[j]) < 0x1p-54 ? x[j] : r[j];
    if (any_above(x, 0x1p500)) {
        double t[MATH_BLOCK];
        v_log_f64(t, x);
        EACH r[j] = x[j] > 0x1p500 ? t[j] : r[j];
    }
}

BLOCK64(lgamma)
{
    UNUSED;
    v_lgamma_f64(r, x);
    if (any_above(x, 0x1p500)) {
        double t[MATH_BLOCK];
        v_log_f64(t, x);
        EACH r[j] = x[j] > 0x1p500 ? x[j] * (t[j] - 1) : r[j];
    }
}

/* x 2^y.  An integral y is exact: no factor but the last rounds a result that matters. */
BLOCK64(ldexp)
{
    UNUSED;
    double part[MATH_BLOCK];
    EACH part[j] = y[j] - __builtin_rint(y[j]);
    v_exp2_f64(part, part);
    EACH
    {
        const double v = y[j] < -2200 ? -2200 : y[j] > 2200 ? 2200 : y[j];
        const bool small = SIZE(x[j]) < 0x1p-1000; /* 2^part would already round it */
        double k = __builtin_rint(v);
        double s = x[j] * (small ? 0x1p54 : 1) * (v == k ? 1 : part[j]);
        k -= small ? 54 : 0;
        for (int i = 0; i < 2; i++) {
            const double by = k > 1023 ? 1023 : k < -1022 ? -969 : 0;
            s = by == 0 ? s : s * (by > 0 ? 0x1p1023 : 0x1p-969);
            k -= by;
        }
        const double last = k != k ? 0 : k > 1023 ? 1023 : k < -1022 ? -1022 : k;
        const double scale = tni_f64_from_bits((uint64_t)(int64_t)(last + 1023) << 52);
        r[j] = y[j] != y[j] ? y[j] : x[j] == 0 ? x[j] : s * scale;
    }
}

/* e^(|x| - log 2): half of e^|x|, even where e^|x| itself overflows. */
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
    v_sinh_f64(r, x);
    if (any_above(x, 708)) {
        double h[MATH_BLOCK];
        half_exp_f64(h, x);
        EACH r[j] =
            SIZE(x[j]) > 708 && SIZE(x[j]) < 711 ? __builtin_copysign(h[j], x[j]) : r[j];
    }
}

BLOCK64(cosh)
{
    UNUSED;
    v_cosh_f64(r, x);
    if (any_above(x, 708)) {
        double h[MATH_BLOCK];
        half_exp_f64(h, x);
        EACH r[j] = SIZE(x[j]) > 708 && SIZE(x[j]) < 711 ? h[j] : r[j];
    }
}

/* acosh is log(2 x) for numbers whose square overflows. */
BLOCK64(acosh)
{
    UNUSED;
    v_acosh_f64(r, x);
    if (any_above(x, 0x1p500)) {
        double t[MATH_BLOCK];
        v_log_f64(t, x);
        EACH r[j] = x[j] > 0x1p500 ? t[j] + LN2 : r[j];
    }
}

/* A ratio near the smallest numbers is its own arc tangent. */
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

/* log(1 + t) = 2 atanh(s) with s = t / (2 + t), for t in [0, 1]. */
static inline double log1p_unit(double t)
{
    static const double c[] = {
        0x1.5555555555555p-1, 0x1.999999999a3ddp-2, 0x1.24924923d44c6p-2, 0x1.c71c727143318p-3,
        0x1.745cf0b0e03bdp-3, 0x1.3b18b294bebf9p-3, 0x1.10ac75dc602b1p-3, 0x1.eb905e8575054p-4,
        0x1.687a6e7c95176p-4, 0x1.4b0a26c5f2aefp-3,
    };
    const double s = t / (2 + t), q = s * s;
    return MAD(s * q, POLY64(c, q), 2 * s);
}

BLOCK64(logaddexp)
{
    UNUSED;
    double t[MATH_BLOCK];
    EACH t[j] = x[j] == y[j] ? 0 : -SIZE(x[j] - y[j]);
    v_exp_f64(t, t);
    EACH r[j] = (x[j] > y[j] ? x[j] : y[j]) + log1p_unit(t[j]);
}

BLOCK64(logaddexp2)
{
    UNUSED;
    double t[MATH_BLOCK];
    EACH t[j] = x[j] == y[j] ? 0 : -SIZE(x[j] - y[j]);
    v_exp2_f64(t, t);
    EACH r[j] = (x[j] > y[j] ? x[j] : y[j]) + log1p_unit(t[j]) * 0x1.71547652b82fep+0;
}

#endif
