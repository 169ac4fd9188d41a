/* op_gates64.h - activation functions of f64 on blocks of 16, composed of the vector math
 * library.
 *
 * Where rounding an argument would lose digits, the rounding error is carried along. */
#ifndef TNI_OP_GATES64_H
#define TNI_OP_GATES64_H

#include "op_erf64.h"
#include "op_math64.h"

/* r = v g(u + low), where g is the logistic function and v and u have the same sign; low is the
 * rounding error of u.  e^u is computed as a square, so that v e^u keeps its digits down to the
 * smallest number. */
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

/* Each factor is multiplied by e^(y / 2): neither underflows before the other scales it up. */
BLOCK64(swiglu)
{
    UNUSED;
    double h[MATH_BLOCK];
    EACH h[j] = -SIZE(y[j]) / 2;
    v_exp_f64(h, h);
    EACH
    {
        const double gate = 1 / (1 + h[j] * h[j]);
        /* silu of a finite y is not 0, even where e^(y / 2) is */
        const double left =
            SIZE(x[j]) == INFINITY ? -x[j] : (x[j] * h[j]) * (y[j] * h[j]) * gate;
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
        /* k (x + c x^3), k = 2 sqrt(2 / pi), as k x (1 + c x x), each product with its error */
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
    if (any_above(x, 40))
        EACH r[j] = x[j] < -40 ? -0.0 : r[j];
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
        const double u = x[j] * p[0], soft = (u > 0 ? u : 0) + log1p_unit(t[j]);
        r[j] = u > p[1] ? x[j] : soft / p[0];
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

BLOCK64(tanhshrink)
{
    UNUSED;
    double less[MATH_BLOCK];
    tanh_parts(less, r, x);
    EACH r[j] = SIZE(x[j]) < 0.8 ? less[j] : x[j] - __builtin_copysign(r[j], x[j]);
}

#endif
