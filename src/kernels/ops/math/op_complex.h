/* op_complex.h - functions of complex numbers, for op_complex_isa.c.
 *
 * The C library follows Annex G of C for infinities, NaN and signed zeros.  The functions that
 * it lacks are composed of its own so that the same holds: log2, log1p, expm1, and powers of
 * zero. */
#ifndef TNI_OP_COMPLEX_H
#define TNI_OP_COMPLEX_H

#include <complex.h>
#include <math.h>

/* glibc hides CMPLX from clang, which reports an old version of gcc. */
#ifndef CMPLX
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#endif

static inline double complex joined(c128 x)
{
    return CMPLX(x.re, x.im);
}

static inline c128 parts(double complex z)
{
    return (c128){creal(z), cimag(z)};
}

static inline bool finite_c128(c128 x)
{
    return isfinite(x.re) && isfinite(x.im);
}

/* clang-format off */
#define LIBM(NAME, FUNCTION) \
    static inline c128 NAME##_c128(c128 x, c128 y) { (void)y; return parts(FUNCTION(joined(x))); }
LIBM(sqrt, csqrt)
LIBM(exp, cexp)
LIBM(log, clog)
LIBM(sin, csin)
LIBM(cos, ccos)
LIBM(tan, ctan)
LIBM(asin, casin)
LIBM(acos, cacos)
LIBM(atan, catan)
LIBM(sinh, csinh)
LIBM(cosh, ccosh)
LIBM(asinh, casinh)
LIBM(acosh, cacosh)
LIBM(atanh, catanh)
#undef LIBM
/* clang-format on */

static inline c128 log2_c128(c128 x, c128 y)
{
    const c128 r = log_c128(x, y);
    return (c128){r.re * M_LOG2E, r.im * M_LOG2E};
}

static inline c128 log10_c128(c128 x, c128 y)
{
    const c128 r = log_c128(x, y);
    return (c128){r.re * M_LOG10E, r.im * M_LOG10E};
}

/* Near zero |1 + x|^2 - 1 is small and is computed directly. */
static inline c128 log1p_c128(c128 x, c128 y)
{
    (void)y;
    const bool close = fabs(x.re) < 0.5 && fabs(x.im) < 0.5;
    if (!close)
        return parts(clog(CMPLX(1 + x.re, x.im)));
    return (c128){0.5 * log1p(x.re * (2 + x.re) + x.im * x.im), atan2(x.im, 1 + x.re)};
}

/* At an infinity the sign of a zero imaginary part is that of x, as in C99; C11 specifies that
 * of sin(2b). */
static inline c128 tanh_c128(c128 x, c128 y)
{
    (void)y;
    if (isinf(x.re) && isfinite(x.im))
        return (c128){copysign(1, x.re), copysign(0, x.im)};
    return parts(ctanh(joined(x)));
}

/* e^a cos b - 1 = expm1(a) cos b - 2 sin^2(b / 2), which does not cancel near zero.  The real
 * part at zero is +0, like that of exp(0) - 1. */
static inline c128 expm1_c128(c128 x, c128 y)
{
    (void)y;
    if (!finite_c128(x) || x.re > 700) {
        const double complex e = cexp(joined(x));
        return (c128){creal(e) - 1, cimag(e)};
    }
    const double half = sin(x.im / 2);
    return (c128){expm1(x.re) * cos(x.im) - 2 * half * half + 0.0,
                  x.im == 0 ? x.im : exp(x.re) * sin(x.im)};
}

/* x / |x|, and 0 for 0.  A size below the normal numbers has lost digits, and one above them is
 * infinite; in both cases x is scaled by a power of two first. */
static inline c128 sign_c128(c128 x, c128 y)
{
    double size = abs_c128(x, y);
    if (size < 0x1p-1000 || (isinf(size) && finite_c128(x))) {
        const double scale = size < 1 ? 0x1p100 : 0x1p-2;
        x = (c128){x.re * scale, x.im * scale};
        size = abs_c128(x, y);
    }
    return size == 0 ? (c128){0, 0} : (c128){x.re / size, x.im / size};
}

/* Round each part to the nearest integer, halves to even. */
static inline c128 round_c128(c128 x, c128 y)
{
    (void)y;
    return (c128){nearbyint(x.re), nearbyint(x.im)};
}

static inline c128 reciprocal_c128(c128 x, c128 y)
{
    (void)y;
    return div_c128((c128){1, 0}, x);
}

/* Anything to the power 0 is 1; 0 to a power with a positive real part is 0. */
static inline c128 pow_c128(c128 x, c128 y)
{
    if (y.re == 0 && y.im == 0)
        return (c128){1, 0};
    if (y.re == 1 && y.im == 0)
        return x;
    if (y.re == 2 && y.im == 0)
        return mul_c128(x, x);
    if (x.re == 0 && x.im == 0)
        return y.re > 0 ? (c128){0, 0} : (c128){NAN, NAN};
    return parts(cpow(joined(x), joined(y)));
}

static inline bool isnan_c128(c128 x, c128 y)
{
    (void)y;
    return x.re != x.re || x.im != x.im;
}

static inline bool isinf_c128(c128 x, c128 y)
{
    (void)y;
    return fabs(x.re) == (double)INFINITY || fabs(x.im) == (double)INFINITY;
}

static inline bool isfinite_c128(c128 x, c128 y)
{
    (void)y;
    return finite_c128(x);
}

#endif
