/* op_gates64.h - activations of f64 on blocks of 16, composed of the vector math library.
 *
 * Where a rounded argument would lose digits, the part that rounding dropped is carried along.
 */
#ifndef TNI_OP_GATES64_H
#define TNI_OP_GATES64_H

#include "op_math64.h"

/* r = v g(u + low), g the logistic function, v and u of the same sign; low is what rounding
 * dropped from u.  e^u is a square, so that v e^u keeps its digits to the last number. */
static inline void gate_f64(double *r, const double *v, const double *u, const double *low)
{
    double h[MATH_BLOCK];
    EACH h[j] = -SIZE(u[j]) / 2;
    v_exp_f64(h, h);
    EACH
    {
        const double bend = u[j] < 0 ? 1 + low[j] : 1 - low[j];
        const double e = h[j] * h[j] * bend, gate = 1 / (1 + e);
        r[j] = u[j] < 0 ? (v[j] * h[j]) * h[j] * bend * gate : v[j] * gate;
        r[j] = u[j] == -INFINITY ? __builtin_copysign(0, v[j]) : r[j];
    }
}

static const double no_rest[MATH_BLOCK];

BLOCK64(sigmoid)
{
    UNUSED;
    double one[MATH_BLOCK];
    EACH one[j] = 1;
    gate_f64(r, one, x, no_rest);
}

BLOCK64(silu)
{
    UNUSED;
    gate_f64(r, x, x, no_rest);
}

/* Both factors shrink by half of e^y each: neither is lost before the other grows it. */
BLOCK64(swiglu)
{
    UNUSED;
    double h[MATH_BLOCK];
    EACH h[j] = -SIZE(y[j]) / 2;
    v_exp_f64(h, h);
    EACH
    {
        const double gate = 1 / (1 + h[j] * h[j]);
        const double left = (x[j] * h[j]) * (y[j] * h[j]) * gate;
        const double right = SIZE(x[j]) > 1 ? (x[j] * gate) * y[j] : x[j] * (y[j] * gate);
        r[j] = y[j] == -INFINITY ? x[j] * 0 : y[j] < 0 ? left : right;
    }
}

BLOCK64(quick_gelu)
{
    UNUSED;
    double u[MATH_BLOCK], low[MATH_BLOCK];
    EACH
    {
        u[j] = 1.702 * x[j];
        const double rest = FUSE(1.702, x[j], -u[j]) + 0x1.89374bc6a7efap-55 * x[j];
        low[j] = SIZE(u[j]) < 1e300 ? rest : 0;
    }
    gate_f64(r, x, u, low);
}

BLOCK64(gelu_tanh)
{
    UNUSED;
    double u[MATH_BLOCK], low[MATH_BLOCK];
    EACH
    {
        /* k (x + c x^3), k = 2 sqrt(2 / pi), as k x (1 + c x x), each product with its rest */
        const double k = 0x1.9884533d43651p+0, k_low = -0x1.cbc0d30ebfd15p-54, c = 0.044715,
                     c_low = 0x1.441355475a31ap-59;
        const double v = x[j] < -40 ? -40 : x[j] > 40 ? 40 : x[j];
        const double q = v * v, q_low = FUSE(v, v, -q), w = c * q,
                     w_low = FUSE(c, q, -w) + c * q_low + c_low * q;
        const double s = 1 + w, s_low = (w > 1 ? w - s + 1 : 1 - s + w) + w_low;
        const double a = k * v, a_low = FUSE(k, v, -a) + k_low * v;
        u[j] = a * s;
        low[j] = FUSE(a, s, -u[j]) + a * s_low + a_low * s;
    }
    gate_f64(r, x, u, low);
    EACH r[j] = x[j] < -40 ? -0.0 : r[j];
}

/* Far left: -e^(-x x / 2) (1 - a + 3 a a - 15 a^3 + …) / sqrt(2 pi) with a = 1 / (x x). */
static inline double gelu_left(double x, double quarter_exp)
{
    const double square = x * x, rest = 0.5 * FUSE(x, x, -square), a = 1 / square;
    double s = 0;
    for (int i = 19; i > 0; i -= 2)
        s = 1 - i * a * s;
    const double k = 0x1.9884533d43651p-2 * s * (1 - rest);
    return -(k * quarter_exp) * quarter_exp;
}

/* x erfc(-x / sqrt 2) / 2; the slope of erfc mends what rounding its argument dropped. */
BLOCK64(gelu)
{
    UNUSED;
    double z[MATH_BLOCK], c[MATH_BLOCK], s[MATH_BLOCK], h[MATH_BLOCK];
    EACH z[j] = -x[j] * 0x1.6a09e667f3bcdp-1;
    EACH s[j] = -z[j] * z[j];
    EACH h[j] = -0.25 * x[j] * x[j];
    v_erfc_f64(c, z);
    v_exp_f64(s, s);
    v_exp_f64(h, h);
    EACH
    {
        const double rest =
            FUSE(-x[j], 0x1.6a09e667f3bcdp-1, -z[j]) + x[j] * 0x1.bdd3413b26456p-55;
        const double mended = c[j] - (s[j] > 0 ? 0x1.20dd750429b6dp+0 * s[j] * rest : 0);
        const double left = x[j] < -40 ? -0.0 : gelu_left(x[j], h[j]);
        r[j] = x[j] < -20 ? left : 0.5 * x[j] * mended;
    }
}

BLOCK64(softplus)
{
    UNUSED;
    double t[MATH_BLOCK];
    EACH t[j] = -SIZE(x[j] * p[0]);
    v_exp_f64(t, t);
    EACH
    {
        const double v = -SIZE(x[j] * p[0]), rest = FUSE(-SIZE(x[j]), SIZE(p[0]), -v);
        t[j] += SIZE(v) < 1000 ? t[j] * rest : 0;
    }
    v_log1p_f64(t, t);
    EACH
    {
        const double v = x[j] * p[0];
        r[j] = v > p[1] ? x[j] : ((v > 0 ? v : 0) + t[j]) / p[0];
    }
}

BLOCK64(elu)
{
    UNUSED;
    v_expm1_f64(r, x);
    EACH r[j] = x[j] >= 0 ? x[j] : p[0] * r[j];
}

BLOCK64(selu)
{
    UNUSED;
    v_expm1_f64(r, x);
    EACH r[j] = 1.0507009873554804934193349852946 *
                (x[j] >= 0 ? x[j] : 1.6732632423543772848170429916717 * r[j]);
}

/* tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2); e is a square, as in gate_f64. */
BLOCK64(mish)
{
    UNUSED;
    double h[MATH_BLOCK];
    EACH h[j] = (x[j] > 40 ? 40 : x[j]) / 2;
    v_exp_f64(h, h);
    EACH
    {
        const double e = h[j] * h[j], n = e * (e + 2);
        r[j] = x[j] * h[j] * h[j] * ((e + 2) / (n + 2));
        r[j] = x[j] == -INFINITY ? -0.0 : x[j] > 40 ? x[j] : r[j];
    }
}

/* A polynomial in x x where x and tanh x are close. */
BLOCK64(tanhshrink)
{
    UNUSED;
    double t[MATH_BLOCK];
    v_tanh_f64(t, x);
    EACH
    {
        static const double c[] = {
            0x1.5555555555555p-2,   -0x1.11111111110d1p-3,  0x1.ba1ba1ba1540cp-5,
            -0x1.664f4880bf9b9p-6,  0x1.226e3509ebbd8p-7,   -0x1.d6d3c028a5d35p-9,
            0x1.7da250ab74191p-10,  -0x1.354c04fc7ce73p-11, 0x1.f4bd8d50d3208p-13,
            -0x1.9241be6cb72bap-14, 0x1.3855597eb7a7ap-15,  -0x1.b30cb9f7f5b73p-17,
            0x1.cf2825f4c3a67p-19,  -0x1.0aa5e66b540c4p-21,
        };
        const double q = x[j] * x[j];
        double s = 0;
        for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--)
            s = s * q + c[i];
        r[j] = q < 0.64 ? x[j] * q * s : x[j] - t[j];
    }
}

#endif
