/* ops_want.h - inputs for an op, the expected result, and whether a result is acceptable. */
#ifndef OPS_WANT_H
#define OPS_WANT_H

#include <complex.h>

#include "layout.h"
#include "ops_rules.h"

/* glibc defines these only for the versions of gcc that it knows, not for clang. */
#ifndef CMPLX
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#endif
#ifndef CMPLXL
#define CMPLXL(x, y) __builtin_complex((long double)(x), (long double)(y))
#endif

static inline bool truth_op(tn_op op)
{
    return op >= TN_LOGICAL_AND && op <= TN_LOGICAL_NOT;
}

/* ---- inputs ---- */

/* Draw random bits until the number is in the rule's range, at most 20 times. */
static inline void put_small(tn_dtype t, char *p, rng *r, const op_rule *rule)
{
    for (int i = 0; i < 20; i++) {
        const uint16_t bits = (uint16_t)next(r);
        memcpy(p, &bits, tn_dtype_size(t));
        const long double x = number_at(t, p).f;
        if (rule->low == rule->high || (x >= rule->low && x <= rule->high))
            return;
    }
}

/* Produces the same numbers on every machine: fma rounds once, the rest is exact. */
static inline void put_float(tn_dtype t, char *p, rng *r, const op_rule *rule)
{
    static const double special[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5, 3e-39, 2};
    double x = ldexp((double)(next(r) >> 11), -53);
    if (next(r) % 16 == 0)
        x = special[next(r) % 10];
    else if (rule->low < rule->high)
        x = fma(x, (double)rule->high - (double)rule->low, rule->low);
    else
        x = ldexp(x - 0.5, (int)pick(r, -20, 20));
    if (is_small(t))
        put_small(t, p, r, rule);
    const float f = (float)x;
    if (t == TN_F32)
        memcpy(p, &f, sizeof f);
    if (t == TN_F64)
        memcpy(p, &x, sizeof x);
}

static inline void put(tn_dtype t, char *p, rng *r, const op_rule *rule)
{
    uint64_t bits = next(r);
    if (is_float(t)) {
        put_float(t, p, r, rule);
    } else if (is_complex(t)) {
        for (int part = 0; part < 2; part++) {
            const double d = (double)pick(r, -1000, 1000) / 64;
            const float f = (float)d;
            if (t == TN_C64)
                memcpy(p + 4 * part, &f, sizeof f);
            else
                memcpy(p + 8 * part, &d, sizeof d);
        }
    } else {
        if (bits % 4 == 0)
            bits = (uint64_t)pick(r, -3, 9);
        else if (bits % 16 == 1)
            bits = next(r) % 2 ? 0x7fffffffffffffff >> (64 - 8 * tn_dtype_size(t))
                               : 1ull << (8 * tn_dtype_size(t) - 1);
        memcpy(p, &bits, tn_dtype_size(t));
    }
}

/* ---- expected results ---- */

/* The dtype in which operands promoted to t are computed: div of integers and bool uses the
 * float that holds them. */
static inline tn_dtype computed_in(tn_op op, tn_dtype t)
{
    const bool narrow = tn_dtype_size(t) <= 2;
    return op != TN_DIV || is_float(t) || is_complex(t) ? t : narrow ? TN_F32 : TN_F64;
}

/* Functions of complex numbers: those of C, which the library also calls (with the C library's
 * accuracy and Annex G's special values); others are derived from more precise ones. */
static inline number complex_function(tn_op op, number a, number b)
{
    static double complex (*const libm[])(double complex) = {
        [TN_SQRT] = csqrt,   [TN_EXP] = cexp,     [TN_LOG] = clog,     [TN_SIN] = csin,
        [TN_COS] = ccos,     [TN_TAN] = ctan,     [TN_ASIN] = casin,   [TN_ACOS] = cacos,
        [TN_ATAN] = catan,   [TN_SINH] = csinh,   [TN_COSH] = ccosh,   [TN_TANH] = ctanh,
        [TN_ASINH] = casinh, [TN_ACOSH] = cacosh, [TN_ATANH] = catanh,
    };
    const double complex z = CMPLX((double)a.f, (double)a.im);
    long double complex w = 0;
    if ((size_t)op < sizeof libm / sizeof *libm && libm[op])
        w = libm[op](z);
    else if (op == TN_LOG2 || op == TN_LOG10)
        w = clog(z) * (op == TN_LOG2 ? M_LOG2E : M_LOG10E);
    else if (op == TN_LOG1P)
        w = fabsl(a.f) < 0.5L && fabsl(a.im) < 0.5L
                ? CMPLXL(log1pl(a.f * (2 + a.f) + a.im * a.im) / 2, atan2l(a.im, 1 + a.f))
                : (long double complex)clog(CMPLX((double)(1 + a.f), (double)a.im));
    else if (op == TN_EXPM1)
        w = isfinite(a.f) && isfinite(a.im) && a.f < 700
                ? CMPLXL(expm1l(a.f) * cosl(a.im) - 2 * sinl(a.im / 2) * sinl(a.im / 2),
                         a.im == 0 ? a.im : expl(a.f) * sinl(a.im))
                : (long double complex)(cexp(z) - 1);
    else if (op == TN_POW)
        w = b.f == 0 && b.im == 0   ? 1
            : b.f == 1 && b.im == 0 ? z
            : b.f == 2 && b.im == 0
                ? CMPLX(creal(z) * creal(z) - cimag(z) * cimag(z), 2 * creal(z) * cimag(z))
            : creal(z) == 0 && cimag(z) == 0 ? (b.f > 0 ? CMPLX(0, 0) : CMPLX(NAN, NAN))
                                             : cpow(z, CMPLX((double)b.f, (double)b.im));
    return (number){.f = creall(w), .im = cimagl(w)};
}

static inline number complex_result(tn_op op, number a, number b)
{
    const long double n = b.f * b.f + b.im * b.im;
    switch (op) {
    case TN_ADD:
        return (number){.f = (double)a.f + (double)b.f, .im = (double)a.im + (double)b.im};
    case TN_SUB:
        return (number){.f = (double)a.f - (double)b.f, .im = (double)a.im - (double)b.im};
    case TN_MUL:
        return (number){.f = a.f * b.f - a.im * b.im, .im = a.f * b.im + a.im * b.f};
    case TN_DIV:
        if (n == 0)
            return (number){.f = a.f / b.f, .im = a.im / b.f};
        return (number){.f = (a.f * b.f + a.im * b.im) / n,
                        .im = (a.im * b.f - a.f * b.im) / n};
    case TN_NEG:
        return (number){.f = -a.f, .im = -a.im};
    case TN_SQUARE:
        return (number){.f = a.f * a.f - a.im * a.im, .im = 2 * a.f * a.im};
    case TN_ABS:
        return of_float(hypotl(a.f, a.im));
    case TN_SIGN: {
        const long double size = hypotl(a.f, a.im);
        return size == 0 ? (number){.f = 0} : (number){.f = a.f / size, .im = a.im / size};
    }
    case TN_ROUND:
        return (number){.f = rintl(a.f), .im = rintl(a.im)};
    case TN_RECIPROCAL:
        return complex_result(TN_DIV, (number){.f = 1}, a);
    case TN_ISNAN:
        return of_int(isnan(a.f) || isnan(a.im));
    case TN_ISINF:
        return of_int(isinf(a.f) || isinf(a.im));
    case TN_ISFINITE:
        return of_int(isfinite(a.f) && isfinite(a.im));
    case TN_EQ:
    case TN_NE:
        return of_int((a.f == b.f && a.im == b.im) == (op == TN_EQ));
    default:
        return complex_function(op, a, b);
    }
}

static inline number want_of(tn_op op, const double *p, tn_dtype m, tn_dtype out,
                             const number *in, int arity)
{
    const op_rule *rule = &rules[op];
    if (op == TN_WHERE)
        return cast_number(out, in[0].i ? in[1] : in[2]);
    if (is_complex(m) && !truth_op(op)) {
        const number x = complex_result(op, in[0], in[1]);
        return x.whole ? x : (number){.f = rounded(out, x.f), .im = rounded(out, x.im)};
    }
    if (truth_op(op) || !(is_float(m) || op == TN_FLOAT_POWER)) {
        int128 v[3] = {0};
        for (int k = 0; k < arity; k++)
            v[k] = truth_op(op) ? cast_number(TN_BOOL, in[k]).i : in[k].i;
        return wrapped(out, rule->ints(v, p, m));
    }
    long double v[3] = {0};
    for (int k = 0; k < arity; k++)
        v[k] = in[k].whole ? (long double)in[k].i : in[k].f;
    single = m != TN_F64;
    const long double x = rule->floats(v, p);
    if (out == TN_BOOL)
        return of_int(x != 0);
    const bool exact = (out == TN_F64 ? rule->ulp64 : rule->ulp32) == 0;
    if (!is_small(out))
        return of_float(exact ? rounded(out, x) : x);
    return of_float(rounded(out, rounded(TN_F32, x)));
}

/* True if one part of a complex number is within slack of the expected one; non-finite parts
 * must be equal. */
static inline bool near_part(long double got, long double want, long double slack)
{
    return got == want || (isnan(got) && isnan(want)) ||
           (isfinite(got) && isfinite(want) && fabsl(got - want) <= slack);
}

static inline bool fits(tn_op op, tn_dtype m, tn_dtype out, number got, number want)
{
    const op_rule *rule = &rules[op];
    if (is_complex(out)) {
        const bool moved = op != TN_MUL && op != TN_DIV && op != TN_SQUARE && op != TN_SIGN &&
                           op != TN_RECIPROCAL && op != TN_LOG1P && op != TN_EXPM1 &&
                           op != TN_POW && op != TN_LOG2 && op != TN_LOG10;
        const long double size = hypotl(want.f, want.im);
        /* each product may also be off by half of the smallest number */
        const long double slack = moved           ? 0
                                  : out == TN_C64 ? size * 0x1p-23L + 0x1p-148L
                                                  : size * 0x1p-50L + 0x1p-1073L;
        return near_part(got.f, want.f, slack) && near_part(got.im, want.im, slack);
    }
    if (is_complex(m) && is_float(out))
        return near_number(out, got, want, 1, 0);
    const long double tol = ulps_of(op, out);
    return near_number(out, got, want, is_small(out) && tol > 0 ? 1 : tol, rule->near);
}

#endif
