/* op_digamma64.h - digamma of f64 on blocks of 16.
 *
 * Above 0 it is a table of polynomials.  Below 0 it has a zero between any two integers, where
 * large terms cancel; there the logarithm and the cotangent are computed as sums of two f64,
 * one element at a time. */
#ifndef TNI_OP_DIGAMMA64_H
#define TNI_OP_DIGAMMA64_H

#include "op_log64.h"
#include "op_math64.h"
#include "op_pieces64.h"

/* high + low, where low is much smaller. */
typedef struct pair64 {
    double high, low;
} pair64;

/* The sum a + b with its rounding error, for |a| >= |b| or a = 0. */
static inline pair64 pair_sum(double a, double b)
{
    const double s = a + b;
    return (pair64){s, (a - s) + b};
}

static inline pair64 pair_product(pair64 a, pair64 b)
{
    const double p = a.high * b.high;
    return (pair64){p, FUSE(a.high, b.high, -p) + (a.high * b.low + a.low * b.high)};
}

static inline pair64 pair_quotient(pair64 a, pair64 b)
{
    const double q = a.high / b.high;
    return (pair64){q, (FUSE(-q, b.high, a.high) + a.low - q * b.low) / b.high};
}

/* log(y) = e log 2 + 2 (s + s^3 / 3 + s^5 / 5 + …) for a normal y > 0, to 2^-65. */
static inline pair64 pair_log(double y)
{
    const uint64_t half = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    const uint64_t k = (tni_f64_bits(y) - half + (1024ull << 52)) >> 52;
    const double m = tni_f64_from_bits(tni_f64_bits(y) - ((k - 1024) << 52));
    const double e = tni_f64_from_bits(tni_f64_bits(0x1p52) | k) - (0x1p52 + 1024);
    const double d = m + 1;
    const pair64 s = pair_quotient((pair64){m - 1, 0}, (pair64){d, m - (d - 1)});
    const double q = s.high * s.high;
    double p = 2.0 / 25;
    for (int i = 23; i > 1; i -= 2)
        p = p * q + 2.0 / i;
    const pair64 r = pair_sum(e * 0x1.62e42feep-1, 2 * s.high);
    const double rest = s.high * q * p + e * 0x1.a39ef35793c76p-33;
    return pair_sum(r.high, r.low + (2 * s.low + rest));
}

/* pi cot(pi x) for a non-integral x, to 2^-60.  The nearest integer is subtracted first,
 * exactly, then the nearest quarter period. */
static inline pair64 pair_cotangent(double x)
{
    const pair64 pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
    const pair64 sixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
    const double part = x - __builtin_rint(x), size = SIZE(part);
    const bool swapped = size > 0.25;
    const pair64 t = pair_product(pi, (pair64){swapped ? 0.5 - size : size, 0});
    const pair64 z = pair_product(t, t), w = pair_product(z, sixth);
    double c = 0, s = 0; /* the terms of cosine and sine after 1 - z / 2 and 1 - z / 6 */
    for (int i = 20; i > 2; i -= 2) {
        c = 1.0 / (i * (i - 1)) * (1 - z.high * c);
        s = 1.0 / (i * (i + 1)) * (1 - z.high * s);
    }
    const double q = z.high * z.high;
    pair64 cosine = pair_sum(1, -0.5 * z.high), sine = pair_sum(1, -w.high);
    cosine = pair_sum(cosine.high, cosine.low - 0.5 * z.low + 0.5 * q * c);
    sine = pair_sum(sine.high, sine.low - w.low + q * s / 6);
    sine = pair_product(sine, t);
    const pair64 cot = pair_quotient(swapped ? sine : cosine, swapped ? cosine : sine);
    const pair64 r = pair_product(cot, pi);
    return part < 0 ? (pair64){-r.high, -r.low} : r;
}

/* sum += 1 / (y + y_low); the rounding error is added to *rest. */
static inline void add_inverse(double *sum, double *rest, double y, double y_low)
{
    const double v = 1 / y, v_low = (FUSE(-y, v, 1) - y_low * v) * v, s = *sum + v;
    const double back = s - *sum;
    *rest += (*sum - (s - back)) + (v - back) + v_low;
    *sum = s;
}

/* digamma of an element outside (0, infinity): recurrence steps of one lead from x up to where
 * the asymptotic series holds; far below 0, x is reflected first. */
static double digamma_below(double x)
{
    const bool far = x < -22;
    const double from = far ? 1 - x : x;
    double up = from, up_low = far ? (1 - from) - x : 0, sum = 0, rest = 0;
    if (!(x < 0))
        return x == 0 ? -__builtin_copysign(INFINITY, x) : x;
    if (x == __builtin_floor(x))
        return NAN;
    for (int i = 1; i <= 33 && up < 10; i++) {
        add_inverse(&sum, &rest, up, up_low);
        up = from + i;
        up_low = SIZE(from) < i ? from - (up - i) : i - (up - from);
    }
    const double q = 1 / (up * up);
    double s = q * (1.0 / 12);
    s = q * (691.0 / 32760 - s);
    s = q * (1.0 / 132 - s);
    s = q * (1.0 / 240 - s);
    s = q * (1.0 / 252 - s);
    s = q * (1.0 / 120 - s);
    s = q * (1.0 / 12 - s);
    const pair64 log = pair_log(up), cot = pair_cotangent(x);
    const double left = rest == rest ? rest - log.low - up_low / up : 0;
    const double less = 0.5 / up + s + left;
    return far ? (log.high - cot.high) - (less + cot.low) : (log.high - sum) - less;
}

/* digamma for x >= 16: log(x) and the asymptotic series. */
INLINE wide digamma_far(wide x)
{
    static const double c[] = {1.0 / 12,   -1.0 / 120, 1.0 / 252,
                               -1.0 / 240, 1.0 / 132,  -691.0 / 32760};
    const wide inverse = 1.0 / x, q = inverse * inverse, zero = wide_splat(0);
    wide low;
    const wide high = log_pair(x, zero, zero, &low);
    return high - (wide_mad(q, WIDE_POLY(c, q), 0.5 * inverse) - low);
}

/* digamma for x in (0, infinity): a polynomial on [1, 16), one recurrence step below 1. */
INLINE wide digamma_wide(wide x)
{
    const wide one = wide_splat(1), zero = wide_splat(0), step = wide_less(x, one, one, zero);
    const wide up = wide_most(x + step, 0x1.fffffffffffffp+3),
               up_low = wide_less(x, one, x - (up - 1.0), zero);
    const wide_ints i = (wide_ints)up >> 50;
    const wide middle = wide_lookup(digamma_pieces[0], i);
    const wide less =
        wide_same(middle, wide_splat(DIGAMMA_ZERO), wide_splat(DIGAMMA_ZERO_LOW), zero);
    const wide t = (up - middle) - (less - up_low);
    const wide p = pieces_poly(digamma_pieces + 3, 13, t, i);
    const wide near =
        wide_lookup(digamma_pieces[1], i) + wide_mad(t, p, wide_lookup(digamma_pieces[2], i));
    const wide value = near - step / x;
    if (wide_all(x, 16))
        return value;
    return wide_less(x, wide_splat(16), value, digamma_far(x));
}

BLOCK64(digamma)
{
    UNUSED;
    for (int j = 0; j < MATH_BLOCK; j += WIDE_LANES) {
        const wide v = wide_load(x + j);
        wide_store(r + j, digamma_wide(v));
        for (int k = j; k < j + WIDE_LANES && !(wide_all(-v, 0) && wide_all(v, INFINITY)); k++)
            r[k] = x[k] > 0 && x[k] < INFINITY ? r[k] : digamma_below(x[k]);
    }
}

#endif
