/* exp_lanes.h - exp of f64 for loops that compilers vectorise.  It uses no branch, no
 * table and no fused multiplication, so that the bits are the same on every instruction set.
 *
 * exp(x) = 2^k * exp(r), |r| <= ln(2) / 2.  logsumexp calls it with x <= 0; for larger x
 * it is correct until 2^k overflows. */
#ifndef TNI_EXP_LANES_H
#define TNI_EXP_LANES_H

#include <stdint.h>
#include <string.h>

/* Adding this constant rounds to an integer, which is then in the low bits. */
#define ROUND64 0x1.8p52
#define ROUND32 0x1.8p23f

static inline double exp_lane64(double x)
{
    const double y = x < -745.0 ? -745.0 : x; /* NaN stays NaN */
    const double shifted = y * 0x1.71547652b82fep0 + ROUND64, k = shifted - ROUND64;
    const double r = (y - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
    const double r2 = r * r;
    /* Taylor series: its last term, r^13 / 13!, is below 2^-53 of the sum */
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = 1.0 + (r + r2 * p);
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    const uint64_t scale = (bits + 1023) << 52;
    double s;
    memcpy(&s, &scale, sizeof s);
    return y < -708.0 ? 0.0 : p * s;
}

#endif
