/* op_gates32.h - activation functions of f32, computed in f64 as in op_math32.h. */
#ifndef TNI_OP_GATES32_H
#define TNI_OP_GATES32_H

#include "op_math32.h"

static inline float gelu_f32(float x)
{
    const double v = within((double)x, -14.9, INFINITY);
    const double z = within(__builtin_fabs(v), 0, 14.9) * 0x1.6a09e667f3bcdp-1;
    const double half = 0.5 * exp_core(-z * z) * erfcx_core(z);
    return (float)(v * (v < 0 ? half : 1 - half));
}

/* v times the logistic function of u, where v and u have the same sign. */
static inline double gated(double v, double u)
{
    const double e = exp_core(-within(__builtin_fabs(u), 0, 300));
    return v * (u < 0 ? e : 1) * inverse(1 + e);
}

static inline float gelu_tanh_f32(float x)
{
    const double v = within((double)x, -12, INFINITY), w = within(v, -12, 12);
    const double cube = w * w * w;
    return (float)gated(v, 0x1.9884533d43651p+0 * MAD(0.044715, cube, w));
}

static inline float quick_gelu_f32(float x)
{
    const double v = within((double)x, -110, INFINITY);
    return (float)gated(v, 1.702 * v);
}

static inline float swiglu_f32(float x, float y)
{
    const double v = within((double)y, -300, INFINITY), g = gated(v, v);
    return (float)((double)x * (y == -INFINITY ? 0 : g));
}

static inline float softplus_f32(float x, double beta, double threshold)
{
    const double v = (double)x * beta, t = exp_core(-within(__builtin_fabs(v), 0, 200));
    const double r = ((v > 0 ? v : 0) + log1p_core(t)) / beta;
    return v > threshold ? x : v != v ? (float)v : (float)r;
}

static inline float elu_f32(float x, double alpha)
{
    return x >= 0 ? x : (float)(alpha * expm1_core(within((double)x, -110, 0)));
}

static inline float selu_f32(float x)
{
    const double scale = 1.0507009873554804934193349852946, alpha = 1.6732632423543772848;
    const double low = alpha * expm1_core(within((double)x, -110, 0));
    return (float)(scale * (x >= 0 ? (double)x : low));
}

/* tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2). */
static inline float mish_f32(float x)
{
    const double v = within((double)x, -110, INFINITY), e = exp_core(within(v, -110, 40));
    const double n = e * (e + 2);
    return (float)(v * n * inverse(n + 2));
}

static inline float tanhshrink_f32(float x)
{
    const double v = x, q = v * v, t = __builtin_copysign(tanh_core(__builtin_fabs(v)), v);
    double p = MAD(q, 0x1.226e355e6c23dp-7, -0x1.664f4882c10fap-6);
    p = MAD(q, p, 0x1.ba1ba1ba1ba1cp-5);
    p = MAD(q, p, -0x1.1111111111111p-3);
    p = MAD(q, p, 0x1.5555555555555p-2);
    return (float)(q < 0.04 ? v * q * p : v - t);
}

#endif
