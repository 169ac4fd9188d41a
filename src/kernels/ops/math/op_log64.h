/* op_log64.h - pow, asinh and atanh of f64 on blocks of 16, by logarithms and exponentials with
 * more digits than an f64 has. */
#ifndef TNI_OP_LOG64_H
#define TNI_OP_LOG64_H

#include "kernels/ops/op_lanes64.h"
#include "op_math64.h"

#define LN2_HIGH 0x1.62e42fefa38p-1   /* a multiple of 2^-42: exponents times it are exact */
#define LN2_LOW  0x1.ef35793c7673p-45 /* the rest of log(2) */

/* Rows: c = 1 / (1 + j / 32) to 26 digits, -log(c) as a multiple of 2^-42, and the rest of
 * -log(c). */
/* clang-format off */
static _Alignas(64) const double log_pieces[][2 * WIDE_ENTRIES] = {
    {0x1p+0, 0x1.f07c1fp-1, 0x1.e1e1e2p-1, 0x1.d41d42p-1, 0x1.c71c72p-1, 0x1.bacf918p-1,
     0x1.af286cp-1, 0x1.a41a418p-1, 0x1.9999998p-1, 0x1.8f9c19p-1, 0x1.8618618p-1,
     0x1.7d05f4p-1, 0x1.745d178p-1, 0x1.6c16c18p-1, 0x1.642c858p-1, 0x1.5c98828p-1,
     0x1.5555558p-1, 0x1.4e5e0a8p-1, 0x1.47ae148p-1, 0x1.4141418p-1, 0x1.3b13b1p-1,
     0x1.3521cf8p-1, 0x1.2f684cp-1, 0x1.29e4128p-1, 0x1.249249p-1, 0x1.1f7048p-1,
     0x1.1a7b96p-1, 0x1.15b1e6p-1, 0x1.111111p-1, 0x1.0c9715p-1, 0x1.0842108p-1, 0x1.041041p-1},
    {0, 0x1.f829b1e78p-6, 0x1.f0a30a0118p-5, 0x1.6f0d272e58p-4, 0x1.e27074e2bp-4,
     0x1.29552e92p-3, 0x1.5ff3060a7ap-3, 0x1.9525aa7f46p-3, 0x1.c8ff7cf9aap-3,
     0x1.fb9186b5e4p-3, 0x1.1675cacabap-2, 0x1.2e8e2bee12p-2, 0x1.4618bb81c6p-2,
     0x1.5d1bdbbd81p-2, 0x1.739d7f9bbdp-2, 0x1.89a3391414p-2, 0x1.9f323e4bfap-2,
     0x1.b44f7794c9p-2, 0x1.c8ff7c69aap-2, 0x1.dd469f841cp-2, 0x1.f128f6bafp-2,
     0x1.02552aae5dp-1, 0x1.0be72e02528p-1, 0x1.154c3d634d8p-1, 0x1.1e85f62704p-1,
     0x1.2795e0e89bp-1, 0x1.307d7354f1p-1, 0x1.393e0d25628p-1, 0x1.41d8fea467p-1,
     0x1.4a4f85d304p-1, 0x1.52a2d26dbc8p-1, 0x1.5ad404cb5ap-1},
    {0, 0x1.980367c7e0a0fp-45, -0x1.d589e8336993cp-45, -0x1.4b3441b665813p-44,
     -0x1.a302c2af05591p-45, -0x1.5b7a5f4474124p-44, -0x1.8566f183c169cp-44,
     -0x1.296217d9f07b1p-44, -0x1.7784f689f7989p-45, -0x1.d56eaab993d31p-47,
     0x1.83816731f55d9p-44, -0x1.67a1e99b7212dp-45, -0x1.3cbaf484dd222p-46,
     -0x1.8d65bc9c7c5cbp-44, 0x1.abb8931522b5p-52, 0x1.2dc9138c4c972p-45,
     -0x1.ece3525ca50eep-44, -0x1.3acd8224aad39p-47, -0x1.77947689f8449p-44,
     0x1.287dd9899efb2p-44, 0x1.bb74d720f544cp-44, 0x1.fe69b8d2d31bdp-46,
     0x1.417b4c4bdaef4p-44, -0x1.0b1618662cc6ap-44, 0x1.a0fbd8b356927p-46,
     0x1.1b2b783f38641p-45, 0x1.7c5f6b2145402p-46, 0x1.0cd6e2213010cp-44,
     0x1.573a325e61cf8p-44, -0x1.44fcd840b85bcp-45, -0x1.2a88441ba873dp-44,
     -0x1.a607acaab41a6p-46},
};
/* clang-format on */

/* log(2^shift y (1 + part)) as the sum of the result and *low, with a relative error of 2^-64,
 * for a normal y and a part below 2^-50.  m = y 2^-e is at least 1 - 1 / 128; it is divided by
 * the nearest 1 + j / 32 first.  e and j are 0 around 1. */
INLINE wide log_pair(wide y, wide part, wide shift, wide *low)
{
    static const double c[] = {
        0x1.5555555555555p-2,  -0x1.0000000000007p-2, 0x1.99999999a081p-3,
        -0x1.555555550157dp-3, 0x1.249247c620fb3p-3,  -0x1.000009183f083p-3,
        0x1.c752e6a1a080ap-4,  -0x1.99111d31ad0a4p-4,
    };
    const wide_ints bits = (wide_ints)y, from = bits - 0x3fefc00000000000, j = from >> 47;
    const wide_ints k = (from + ((uint64_t)1024 << 52)) >> 52;
    const wide e = (wide)(k | (wide_ints)wide_splat(0x1p52)) - (0x1p52 + 1024) + shift;
    const wide m = (wide)(bits - (from & (uint64_t)0xfff << 52));
    const wide inverse = wide_lookup32(log_pieces[0], j), p = m * inverse, r = p - 1.0;
    const wide r_low = wide_low_product(m, inverse, p) + part;
    const wide q = r * r, q_low = wide_low_product(r, r, q), half = q * -0.5;
    const wide t = wide_mad(e, wide_splat(LN2_HIGH), wide_lookup32(log_pieces[1], j));
    const wide s = t + r, s_low = (t - s) + r, high = s + half, h_low = (s - high) + half;
    const wide rest = wide_mad(e, wide_splat(LN2_LOW), wide_lookup32(log_pieces[2], j));
    const wide tail = wide_mad(r * q, WIDE_POLY(c, r), rest);
    const wide bend = wide_mad(q_low, wide_splat(-0.5), wide_mad(q - r, r_low, r_low));
    *low = tail + ((s_low + h_low) + bend);
    return high;
}

/* e^(high + low) 2^-n as the sum of the result and *rest, for high in [-1000, 1000] and a much
 * smaller low. */
INLINE wide exp_pair(wide high, wide low, wide *n, wide *rest)
{
    static const double c[] = {
        0x1.000000000000cp-1,  0x1.555555555555cp-3,  0x1.555555554fdd8p-5,
        0x1.111111110e9dep-7,  0x1.6c16c18616ed7p-10, 0x1.a01a01b455bc6p-13,
        0x1.a0199584f4ce2p-16, 0x1.71ddee3f1ccep-19,  0x1.28b12fe52b426p-22,
        0x1.af6ee4f8d383p-26,
    };
    *n = wide_mad(high, wide_splat(LOG2E), wide_splat(WIDE_SHIFT)) - WIDE_SHIFT;
    const wide r = wide_mad(*n, wide_splat(-LN2_HIGH), high);
    const wide r_low = wide_mad(*n, wide_splat(-LN2_LOW), low), s = r + r_low;
    const wide one = r + 1.0, lost = (1.0 - one) + r;
    const wide tail = wide_mad(s * s, WIDE_POLY(c, s), r_low + lost), e = one + tail;
    *rest = (one - e) + tail;
    return e;
}

/* (2^shift x)^y for a normal x > 0; *size is |y log(x)|, which is treated as 760 from there
 * on. */
INLINE wide pow_core(wide x, wide y, wide shift, wide *size)
{
    wide low, n, rest;
    const wide log = log_pair(x, wide_splat(0), shift, &low), p = y * log;
    const wide more = wide_mad(y, low, wide_low_product(y, log, p));
    const wide high = p + more, limit = wide_splat(760);
    *size = wide_abs(high);
    const wide left = wide_less(*size, limit, (p - high) + more, wide_splat(0));
    const wide e = exp_pair(wide_signed(wide_most(*size, 760), high), left, &n, &rest);
    return wide_scale(e, n);
}

/* x^y by Annex F of C; number is |x|^y if neither is 0, infinite or NaN. */
INLINE wide pow_ends(wide x, wide y, wide number)
{
    const wide zero = wide_splat(0), one = wide_splat(1), inf = wide_splat(INFINITY);
    const wide a = wide_abs(x), b = wide_abs(y), half = b * 0.5;
    const wide ends = wide_less(zero, wide_less(one, a, y, -y), inf, zero);
    const wide_ints end =
        (wide_ints)(a == zero) | (wide_ints)(a == inf) | (wide_ints)(b == inf);
    /* whole: b is an integer, as all numbers from 2^52 on; even: an even one, as all from 2^53
     * on */
    const wide_ints whole = (wide_ints)((b + 0x1p52) - 0x1p52 == b) | (wide_ints)(b >= 0x1p52);
    const wide_ints even =
        (wide_ints)((half + 0x1p52) - 0x1p52 == half) | (wide_ints)(b >= 0x1p53);
    const wide_ints below = (wide_ints)(x < zero), minus = (wide_ints)x & ((uint64_t)1 << 63);
    wide r = wide_pick(end, ends, number);
    r = (wide)((wide_ints)r ^ (minus & whole & ~even));
    r = wide_pick(below & ~whole & ~end, wide_splat((double)NAN), r);
    r = wide_pick((wide_ints)(x == x) & (wide_ints)(y == y), r, wide_splat((double)NAN));
    const wide_ints ones = (wide_ints)(y == zero) | (wide_ints)(x == one) |
                           ((wide_ints)(a == one) & (wide_ints)(b == inf));
    return wide_pick(ones, one, wide_same(y, one, x, r)); /* x^1 is x: r overflows for
                                                             DBL_MAX */
}

/* x|^y for any numbers, subnormal ones included. */
INLINE wide pow_far(wide x, wide y)
{
    const wide a = wide_abs(x), least = wide_splat(0x1p-1022), zero = wide_splat(0);
    wide size;
    return pow_core(wide_less(a, least, a * 0x1p54, a),
                    wide_signed(wide_most(wide_abs(y), 0x1p63), y),
                    wide_less(a, least, wide_splat(-54), zero), &size);
}

/* Special handling of subnormal numbers, results near the limits and negative x is skipped for
 * blocks that have none. */
BLOCK64(pow)
{
    UNUSED;
    bool ordinary = true, above = true;
    for (int j = 0; j < MATH_BLOCK; j += WIDE_LANES) {
        const wide v = wide_load(x + j), a = wide_abs(v);
        wide size;
        wide_store(r + j, pow_core(a, wide_load(y + j), wide_splat(0), &size));
        ordinary &=
            wide_all(size, 708) && wide_all(a, INFINITY) && wide_all(0x1p-1022 - a, 0x1p-1074);
        above &= wide_all(-v, 0);
    }
    for (int j = 0; !ordinary && j < MATH_BLOCK; j += WIDE_LANES)
        wide_store(r + j, pow_far(wide_load(x + j), wide_load(y + j)));
    for (int j = 0; !(ordinary && above) && j < MATH_BLOCK; j += WIDE_LANES)
        wide_store(r + j, pow_ends(wide_load(x + j), wide_load(y + j), wide_load(r + j)));
}

/* log(|x| + sqrt(1 + x x)); a polynomial below 1 / 2, and log(2 |x|) from 2^28 on. */
INLINE wide asinh_wide(wide x)
{
    static const double c[] = {
        -0x1.555555555554p-3,  0x1.33333333305adp-4,  -0x1.6db6db6b963abp-5,
        0x1.f1c71ba4c8fb5p-6,  -0x1.6e8b8c3635ce4p-6, 0x1.1c4d294c3b03bp-6,
        -0x1.c97271cc63b4ap-7, 0x1.793ee86f565b4p-7,  -0x1.385d8d1c95ad3p-7,
        0x1.e90088794d1efp-8,  -0x1.36ba933f9c504p-8, 0x1.c14cd1ec83cb2p-10,
    };
    const wide v = wide_abs(x), q = v * v, near = wide_mad(v * q, WIDE_POLY(c, q), v);
    const wide t = q + 1.0, back = t - q, lost = (q - (t - back)) + (1.0 - back);
    const wide root = wide_sqrt(t), u = root + v, u_low = (root - u) + v;
    const wide rest = wide_left(t, root, root) + (lost + wide_low_product(v, v, q));
    const wide part = wide_mad(u_low, root, rest * 0.5) / (root * u);
    const wide far = wide_splat(0x1p28), zero = wide_splat(0);
    wide low;
    const wide high = log_pair(wide_less(far, v, v, u), wide_less(far, v, zero, part),
                               wide_less(far, v, wide_splat(1), zero), &low);
    const wide r = wide_less(v, wide_splat(0.5), near, high + low);
    return wide_signed(wide_less(v, wide_splat(INFINITY), r, v), x);
}

/* log((1 + |x|) / (1 - |x|)) / 2; a polynomial below 1 / 2. */
INLINE wide atanh_wide(wide x)
{
    static const double c[] = {
        0x1.55555555555cfp-2, 0x1.999999998746ap-3, 0x1.2492492c52e12p-3, 0x1.c71c6e78c6783p-4,
        0x1.745d8195858d5p-4, 0x1.3b0b227393668p-4, 0x1.1187ac213c9f3p-4, 0x1.d904b5b22c56ep-5,
        0x1.ea2eb5ba86b85p-5, 0x1.dbc8b5911a724p-7, 0x1.2906d78fde06bp-3, -0x1.396c2d61fd256p-3,
        0x1.cc85d4f5101fcp-3,
    };
    const wide v = wide_abs(x), q = v * v, near = wide_mad(v * q, WIDE_POLY(c, q), v);
    const wide n = v + 1.0, d = 1.0 - v, u = n / d, lost = (1.0 - n) + v, one = wide_splat(1);
    /* the rounding error of the quotient, times 1 / n, of which two digits suffice */
    const wide part = (wide_left(n, u, d) + lost) * (1.1607 - n * (1.0 / 3));
    wide low;
    const wide high = log_pair(u, part, wide_splat(0), &low), far = 0.5 * (high + low);
    const wide ends = wide_same(v, one, wide_splat(INFINITY), wide_splat((double)NAN));
    const wide r = wide_less(v, wide_splat(0.5), near, wide_less(v, one, far, ends));
    return wide_signed(r, x);
}

BLOCK64(asinh)
{
    UNUSED;
    for (int j = 0; j < MATH_BLOCK; j += WIDE_LANES)
        wide_store(r + j, asinh_wide(wide_load(x + j)));
}

BLOCK64(atanh)
{
    UNUSED;
    for (int j = 0; j < MATH_BLOCK; j += WIDE_LANES)
        wide_store(r + j, atanh_wide(wide_load(x + j)));
}

#endif
