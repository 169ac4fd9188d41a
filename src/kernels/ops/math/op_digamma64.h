/* op_digamma64.h - digamma of f64 on blocks of 16.
 *
 * Below 0 digamma has a zero between any two integers, where large terms cancel: the logarithm
 * and the cotangent are therefore computed as sums of two f64. */
#ifndef TNI_OP_DIGAMMA64_H
#define TNI_OP_DIGAMMA64_H

#include "op_math64.h"

/* high + low, low being much smaller. */
typedef struct pair64 {
    double high, low;
} pair64;

/* a + b where a is not smaller than b, or 0. */
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

/* log(y) for a normal y > 0, to 2^-65: e log 2 + 2 (s + s^3 / 3 + s^5 / 5 + …). */
static inline pair64 pair_log(double y)
{
    const uint64_t half = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    const uint64_t k = (to_bits(y) - half + (1024ull << 52)) >> 52;
    const double m = from_bits(to_bits(y) - ((k - 1024) << 52));
    const double e = from_bits(to_bits(0x1p52) | k) - (0x1p52 + 1024);
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

/* pi cot(pi x), to 2^-60, for x that is no integer: the nearest integer goes first, exactly,
 * then the nearest quarter period. */
static inline pair64 pair_cotangent(double x)
{
    const pair64 pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
    const pair64 sixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
    const double part = x - __builtin_rint(x), size = SIZE(part);
    const bool swapped = size > 0.25;
    const pair64 t = pair_product(pi, (pair64){swapped ? 0.5 - size : size, 0});
    const pair64 z = pair_product(t, t), w = pair_product(z, sixth);
    double c = 0, s = 0; /* of cosine and sine, what follows 1 - z / 2 and 1 - z / 6 */
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
    EACH
    {
        const bool far = x[j] < -22;
        const double from = far ? 1 - x[j] : x[j];
        double up = from, up_low = far ? (1 - from) - x[j] : 0, sum = 0, rest = 0;
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
        const pair64 log = pair_log(up), cot = pair_cotangent(x[j]);
        const double left = rest == rest ? rest - log.low - up_low / up : 0;
        const double less = 0.5 / up + s + left;
        const double value =
            far ? (log.high - cot.high) - (less + cot.low) : (log.high - sum) - less;
        const bool pole = x[j] < 0 && x[j] == __builtin_floor(x[j]);
        r[j] = x[j] == 0                          ? -__builtin_copysign(INFINITY, x[j])
               : x[j] == INFINITY || x[j] != x[j] ? x[j]
               : pole                             ? NAN
               : x[j] > 1 && x[j] < 2.2           ? digamma_near(x[j])
                                                  : value;
    }
}

#endif
