/* op_lanes32.h - the most used functions of f32, computed in f32 alone.
 *
 * exp and log stay within 0.9 ulp, tanh within 1, sigmoid within 2.5, silu and gelu within 3.7.
 * What f32 cannot represent is carried in a second number.  There are no branches.  On Zen 4
 * the time is proportional to the number of instructions, so NaN is quieted by instructions
 * that select anyway. */
#ifndef TNI_OP_LANES32_H
#define TNI_OP_LANES32_H

#include "kernels/ops/op_lanes.h"
#include "kernels/simd/nontemporal.h"
#include "op_gates32.h"

#if !defined(LANE_UNFUSED)
#include "op_pieces32.h"
_Static_assert(PIECES == (int)LANE_ENTRIES, "a row of a table is looked up at once");
#endif

/* e^x = p 2^n for x in [-112, 112]; returns p and sets *z to LANE_SHIFT + n.  n ln2 is
 * subtracted in two parts; the first difference is exact. */
static inline lanes exp_parts(lanes x, lanes *z)
{
    *z = mad(x, SPLAT(0x1.715476p+0f), LANE_SHIFT);
    const lanes n = *z - SPLAT(LANE_SHIFT), a = LANE_MAD(n, SPLAT(-0x1.62e4p-1f), x);
#if defined(LANE_UNFUSED)
    /* Unfused, r is not exact enough, and a chain of products and sums is longer than one of
     * fused operations. */
    const lanes b = n * SPLAT(-0x1.7f7d1cp-20f), r = a + b, s = r * r;
    const lanes low = mad(r, SPLAT(0x1.55548cp-3f), 0x1.fffffcp-2f);
    const lanes high =
        s * SPLAT(0x1.6acb06p-10f) + mad(r, SPLAT(0x1.123dfap-7f), 0x1.555858p-5f);
    return a + ((high * s + low) * s + b) + SPLAT(1.0f);
#else
    const lanes r = LANE_MAD(n, SPLAT(-0x1.7f7d1cp-20f), a);
    lanes q = mad(r, SPLAT(0x1.6acb06p-10f), 0x1.123dfap-7f);
    q = mad(q, r, 0x1.555858p-5f);
    q = mad(q, r, 0x1.55548cp-3f);
    q = mad(q, r, 0x1.fffffcp-2f);
    return mad(mad(q, r, 1.0f), r, 1.0f);
#endif
}

static inline lanes exp_lanes(lanes x)
{
    lanes z;
    const lanes p = exp_parts(LANE_CLAMP(x, 112.0f), &z);
    return LANE_SCALE_AS(p, z, x);
}

/* log(2^e (1 + f)) = e ln2 + f - f f / 2 + f f f p; e ln2 + f is summed without loss. */
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
    const lanes p = exp_parts(LANE_MAX(SPLAT(-112.0f), LANE_MINUS(x)), &z);
    const lanes e = LANE_SCALE(p, z);
    return LANE_POSITIVE(LANE_BELOW_1(x, e) / (e + SPLAT(1.0f)));
}

static inline lanes silu_lanes(lanes x)
{
    lanes z;
    const lanes v = LANE_MAX(SPLAT(-112.0f), LANE_MINUS(x)), p = exp_parts(v, &z);
    const lanes n = LANE_BELOW(x, LANE_SCALE(v * p, z));
    return LANE_QUIET(n / (LANE_SCALE(p, z) + SPLAT(1.0f)));
}

#if !defined(LANE_UNFUSED)

/* tanh and gelu look up polynomials (op_pieces32.h).  Evaluate the polynomial of piece i at
 * v. */
INLINE lanes piece(const float (*table)[LANE_ENTRIES], int degree, lanes v, lane_ints i)
{
    const lanes r = v - LANE_LOOKUP(table[0], i);
    lanes p = LANE_LOOKUP(table[degree + 1], i);
    for (int k = degree; k > 0; k--)
        p = LANE_MAD(p, r, LANE_LOOKUP(table[k], i));
    return p;
}

/* The index of a piece: the lowest bits of the exponent of x and the highest bits of its
 * fraction. */
INLINE lane_ints piece_of(lanes x)
{
    return LANE_DOWN(LANE_INTS(x), 25 - PIECE_BITS);
}

static inline lanes tanh_lanes(lanes x)
{
    const lanes v = LANE_MIN(SPLAT(9.03f), LANE_ABS(x));
    const lane_ints i = piece_of(TANH_INDEX(v));
    return LANE_QUIET(LANE_SIGNED(piece(tanh_pieces, TANH_DEGREE, v, i), x));
}

/* x Phi(x) = max(x, 0) - v erfc(v / sqrt(2)) / 2 with v = |x|, and the product is g(v) 2^(-v v
 * / GELU_LN2).  The exponent is n - r / GELU_LN2, where n is a multiple of 1 / PIECES; n
 * GELU_LN2 is exact.  2^n carries a factor of 2^64, so that tiny results are rounded once, at
 * the end. */
static inline lanes gelu_lanes(lanes x)
{
    const lanes v = LANE_MIN(LANE_ABS(x), SPLAT(14.9f));
    const lanes g = piece(gelu_pieces, GELU_DEGREE, v, piece_of(GELU_INDEX(v)));
    const lanes z = mad(v * v, SPLAT(-1 / GELU_LN2), PIECE_SHIFT);
    const lanes r = LANE_FMA(v, v, mad(z, SPLAT(GELU_LN2), -PIECE_SHIFT * GELU_LN2));
    const lane_ints n = LANE_UP(LANE_INTS(z), 23 - PIECE_BITS);
    const lanes power = LANE_LOOKUP(exp_pieces, LANE_INTS(z));
    const lanes s = g * LANE_OF_INTS(LANE_ADD_INTS(LANE_INTS(power), n));
    const lanes q = mad(mad(r, SPLAT(GELU_EXP3), GELU_EXP2), r, GELU_EXP1);
    return LANE_FMA(s, mad(q, r, -0x1p-64f), LANE_RAMP(x));
}

#else
static inline lanes tanh_lanes(lanes x)
{
    return LANE_QUIET(tanh_f32(x));
}

static inline lanes gelu_lanes(lanes x)
{
    return LANE_QUIET(gelu_f32(x));
}
#endif

#endif
