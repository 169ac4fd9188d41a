/* op_lanes32.h - the most used functions of f32, computed in f32 alone.
 *
 * exp stays within 0.9 ulp, log and tanh within 0.8, sigmoid and silu within 3, gelu
 * within 3.8. What f32 cannot hold is carried beside it in a second number.  There is no branch
 * and no table. */
#ifndef TNI_OP_LANES32_H
#define TNI_OP_LANES32_H

#include "kernels/ops/op_lanes.h"

/* e^(x + rest) is (1 + h) 2^n, for x in [-112, 89] and a small rest; returns h and gives
 * LANE_SHIFT + n.  n ln2 goes in two parts, of which the first difference is exact. */
static inline lanes exp_parts(lanes x, lanes rest, lanes *z)
{
    *z = mad(x, SPLAT(0x1.715476p+0f), LANE_SHIFT);
    const lanes n = *z - SPLAT(LANE_SHIFT);
    const lanes a = LANE_MAD(n, SPLAT(-0x1.62e4p-1f), x);
    const lanes b = LANE_MAD(n, SPLAT(-0x1.7f7d1cp-20f), rest), r = a + b;
    lanes q = mad(r, SPLAT(0x1.6acb06p-10f), 0x1.123dfap-7f);
    q = mad(q, r, 0x1.555858p-5f);
    q = mad(q, r, 0x1.55548cp-3f);
    q = mad(q, r, 0x1.fffffcp-2f);
    return a + LANE_MAD(q, r * r, b);
}

static inline lanes exp_lanes(lanes x)
{
    lanes z;
    const lanes v = LANE_MIN(SPLAT(89.0f), LANE_MAX(SPLAT(-112.0f), x));
    const lanes h = exp_parts(v, SPLAT(0.0f), &z);
    return LANE_SCALE(h + SPLAT(1.0f), z);
}

/* log(2^e (1 + f)) is e ln2 + f - f f / 2 + f f f p; e ln2 + f is summed without loss. */
static inline lanes log_lanes(lanes x)
{
    const lanes least = SPLAT(0x1p-126f);
    lanes e;
    const lanes f = LANE_SPLIT(LANE_LESS(x, least, x * SPLAT(0x1p23f), x), &e) - SPLAT(1.0f);
    e = e - LANE_LESS(x, least, SPLAT(23.0f), SPLAT(0.0f));
    lanes p = mad(f, SPLAT(-0x1.38b456p-4f), 0x1.055b34p-3f);
    p = mad(p, f, -0x1.0d8568p-3f);
    p = mad(p, f, 0x1.22da2ap-3f);
    p = mad(p, f, -0x1.547242p-3f);
    p = mad(p, f, 0x1.99a008p-3f);
    p = mad(p, f, -0x1.000228p-2f);
    p = mad(p, f, 0x1.555554p-2f);
    const lanes q = LANE_MAD(e, SPLAT(0x1.7f7d1cp-20f), f * f * mad(f, p, -0.5f));
    const lanes high = e * SPLAT(0x1.62e4p-1f), s = high + f, rest = (high - s) + f;
    const lanes ends = LANE_SAME(x, SPLAT(0.0f), SPLAT(-INFINITY), SPLAT(NAN));
    const lanes r = LANE_LESS(x, SPLAT(INFINITY), s + (rest + q), x);
    return LANE_LESS(SPLAT(0.0f), x, r, ends);
}

static inline lanes sigmoid_lanes(lanes x)
{
    lanes z;
    const lanes h = exp_parts(LANE_MAX(SPLAT(-112.0f), LANE_MINUS(x)), SPLAT(0.0f), &z);
    const lanes e = LANE_SCALE(h + SPLAT(1.0f), z);
    return LANE_NEGATIVE(x, e, SPLAT(1.0f)) / (e + SPLAT(1.0f));
}

static inline lanes silu_lanes(lanes x)
{
    lanes z;
    const lanes v = LANE_MAX(SPLAT(-112.0f), x);
    const lanes h = exp_parts(LANE_MAX(SPLAT(-112.0f), LANE_MINUS(x)), SPLAT(0.0f), &z);
    const lanes e = LANE_SCALE(h + SPLAT(1.0f), z);
    return LANE_NEGATIVE(x, LANE_SCALE(LANE_MAD(v, h, v), z), x) / (e + SPLAT(1.0f));
}

#if !defined(LANE_UNFUSED)

/* tanh is n / (n + 2) with n = e^(2 |x|) - 1; n, its sum with 2 and the quotient are each
 * carried in two numbers. */
static inline lanes tanh_lanes(lanes x)
{
    const lanes u = LANE_MIN(SPLAT(20.0f), LANE_ABS(x) + LANE_ABS(x));
    const lanes z = mad(u, SPLAT(0x1.715476p+0f), LANE_SHIFT), k = z - SPLAT(LANE_SHIFT);
    const lanes ln2 = SPLAT(-0x1.7f7d1cp-20f), a = LANE_FMA(k, SPLAT(-0x1.62e4p-1f), u);
    const lanes r = LANE_FMA(k, ln2, a), r_rest = LANE_FMA(k, ln2, a - r);
    lanes q = mad(r, SPLAT(0x1.6a61c0p-13f), 0x1.6d4926p-10f);
    q = mad(q, r, 0x1.113746p-7f);
    q = mad(q, r, 0x1.5554f2p-5f);
    q = mad(q, r, 0x1.55553cp-3f);
    q = mad(q, r, 0.5f);
    const lanes t = LANE_FMA(q, r * r, r_rest), h = r + t, h_rest = (r - h) + t;
    const lanes s = LANE_POWER(z), s1 = s - SPLAT(1.0f), n = LANE_FMA(s, h, s1);
    const lanes n_rest = LANE_FMA(s, h_rest, LANE_FMA(s, h, s1 - n));
    const lanes d = n + SPLAT(2.0f), two = d - n;
    const lanes d_rest = (n - (d - two)) + (SPLAT(2.0f) - two) + n_rest;
    const lanes y = SPLAT(1.0f) / d, c = n * y;
    const lanes c_rest = LANE_FMA(-c, d_rest, LANE_FMA(-c, d, n) + n_rest);
    return LANE_SIGNED(LANE_FMA(c_rest, y, c), x);
}

/* x Phi(x) is max(x, 0) - |x| e^(-x x / 2) c / 2, where c is e^(z z) erfc(z) for z =
 * |x| / sqrt(2).  w = w0 (1 + 2 z) and q = w c are both near w0, which makes w0 sqrt(2) exact;
 * q is w0 + u p(u - 1) with u = 2 z / (z + 2). */
static inline lanes gelu_lanes(lanes x)
{
    const float w0 = 0x1.800b52p+0f, middle = 0x1.6a09e6p+1f;
    const lanes v = LANE_MIN(SPLAT(14.9f), LANE_ABS(x));
    const lanes m = v * SPLAT(-0.5f), square = m * v;
    lanes z;
    const lanes h = exp_parts(square, LANE_FMA(m, v, -square), &z);
    const lanes u = (v + v) / (v + SPLAT(middle)), t = u - SPLAT(1.0f);
    lanes p = mad(t, SPLAT(-0x1.366ac0p-11f), -0x1.443a22p-10f);
    p = mad(p, t, 0x1.a44844p-9f);
    p = mad(p, t, 0x1.3ecc64p-7f);
    p = mad(p, t, -0x1.658c4ep-6f);
    p = mad(p, t, -0x1.e755dep-5f);
    p = mad(p, t, 0x1.38ef8ep-2f);
    p = mad(p, t, -0x1.1bfeb0p-1f);
    p = mad(p, t, 0x1.a97ce2p-2f);
    const lanes q = mad(p, u, w0), w = mad(v, SPLAT(0x1.0f8f6ep+1f), w0);
    return LANE_MAX(SPLAT(0.0f), x) + LANE_SCALE(m * LANE_MAD(q, h, q) / w, z);
}

#else
#define tanh_lanes tanh_f32
#define gelu_lanes gelu_f32
#endif

#endif
