/* ops_oracle.h - slow, readable arithmetic with which the ops are compared.
 *
 * A number is read from any dtype, computed with in exact integers or in long double, and
 * rounded once to the dtype of the result.  Nothing of the library is used. */
#ifndef OPS_ORACLE_H
#define OPS_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <tenon/tenon.h>

/* Exact integers.  A machine without 128-bit integers does not check i64 and u64 by arithmetic
 * but by digests from another machine: see test_oracle. */
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
#else
typedef int64_t int128;
typedef uint64_t uint128;
#endif

static inline bool oracle_knows(tn_dtype t)
{
    return sizeof(int128) > 8 || (t != TN_I64 && t != TN_U64);
}

typedef struct number {
    bool whole; /* the value is in i; otherwise in f, and im if complex */
    int128 i;
    long double f, im;
} number;

/* ---- dtypes ---- */

static inline bool is_complex(tn_dtype t)
{
    return t == TN_C64 || t == TN_C128;
}

static inline bool is_signed(tn_dtype t)
{
    return t == TN_I8 || t == TN_I16 || t == TN_I32 || t == TN_I64;
}

static inline bool is_small(tn_dtype t)
{
    return t == TN_F8E4M3 || t == TN_F8E5M2 || t == TN_F16 || t == TN_BF16;
}

static inline bool is_float(tn_dtype t)
{
    return is_small(t) || t == TN_F32 || t == TN_F64;
}

/* Mantissa bits, smallest and largest exponent of a float dtype. */
typedef struct float_format {
    int mant, low, high;
} float_format;

static inline float_format format_of(tn_dtype t)
{
    switch (t) {
    case TN_F8E4M3:
        return (float_format){3, -6, 8};
    case TN_F8E5M2:
        return (float_format){2, -14, 15};
    case TN_F16:
        return (float_format){10, -14, 15};
    case TN_BF16:
        return (float_format){7, -126, 127};
    case TN_F32:
    case TN_C64:
        return (float_format){23, -126, 127};
    default:
        return (float_format){52, -1022, 1023};
    }
}

/* The distance of neighbours of x in a float dtype. */
static inline long double ulp(tn_dtype t, long double x)
{
    const float_format f = format_of(t);
    int e = f.low;
    if (x != 0 && isfinite(x) && ilogbl(x) > e)
        e = ilogbl(x) < f.high ? ilogbl(x) : f.high;
    return ldexpl(1, e - f.mant);
}

/* x rounded to nearest even, as a float dtype. */
static inline long double rounded(tn_dtype t, long double x)
{
    const float_format f = format_of(t);
    if (x == 0 || !isfinite(x))
        return t == TN_F8E4M3 && isinf(x) ? copysignl(NAN, x) : x;
    const int e = ilogbl(x) > f.low ? ilogbl(x) : f.low;
    const long double r = ldexpl(rintl(ldexpl(x, f.mant - e)), e - f.mant);
    const long double most = t == TN_F8E4M3 ? 448 : ldexpl(2 - ldexpl(1, -f.mant), f.high);
    if (fabsl(r) <= most)
        return r;
    return copysignl(t == TN_F8E4M3 ? NAN : INFINITY, x);
}

static inline long double small_value(tn_dtype t, unsigned bits, int width)
{
    const float_format f = format_of(t);
    const unsigned sign = bits >> (width - 1), mant = bits & ((1u << f.mant) - 1);
    const unsigned exp = (bits >> f.mant) & ((1u << (width - 1 - f.mant)) - 1);
    const unsigned top = (1u << (width - 1 - f.mant)) - 1;
    long double x;
    if (exp == top && t == TN_F8E4M3)
        x = mant == 7 ? (long double)NAN : ldexpl(8 + mant, (int)exp - 7 - 3);
    else if (exp == top)
        x = mant ? (long double)NAN : (long double)INFINITY;
    else if (exp == 0)
        x = ldexpl(mant, f.low - f.mant);
    else
        x = ldexpl((1u << f.mant) + mant, (int)exp + f.low - 1 - f.mant);
    return sign ? -x : x;
}

static inline number of_float(long double x)
{
    return (number){.f = x};
}

static inline number of_int(int128 i)
{
    return (number){.whole = true, .i = i};
}

#define LOAD(TYPE, name)                                                                       \
    TYPE name;                                                                                 \
    memcpy(&name, p, sizeof name)

static inline number number_at(tn_dtype t, const void *p)
{
    LOAD(uint8_t, u8);
    switch (t) {
    case TN_BOOL:
        return of_int(u8 != 0);
    case TN_I8:
        return of_int((int8_t)u8);
    case TN_U8:
        return of_int(u8);
    case TN_F8E4M3:
    case TN_F8E5M2:
        return of_float(small_value(t, u8, 8));
    default:
        break;
    }
    LOAD(uint16_t, u16);
    switch (t) {
    case TN_I16:
        return of_int((int16_t)u16);
    case TN_U16:
        return of_int(u16);
    case TN_F16:
    case TN_BF16:
        return of_float(small_value(t, u16, 16));
    default:
        break;
    }
    if (t == TN_I32 || t == TN_U32) {
        LOAD(uint32_t, u32);
        return of_int(t == TN_I32 ? (int128)(int32_t)u32 : (int128)u32);
    }
    if (t == TN_I64 || t == TN_U64) {
        LOAD(uint64_t, u64);
        return of_int(t == TN_I64 ? (int128)(int64_t)u64 : (int128)u64);
    }
    if (t == TN_F32 || t == TN_C64) {
        float v[2] = {0, 0};
        memcpy(v, p, tn_dtype_size(t));
        return (number){.f = v[0], .im = v[1]};
    }
    double v[2] = {0, 0};
    memcpy(v, p, tn_dtype_size(t));
    return (number){.f = v[0], .im = v[1]};
}

/* ---- casts: the number that x becomes in dtype t ---- */

static inline int128 least(tn_dtype t)
{
    return is_signed(t) ? -((int128)1 << (8 * tn_dtype_size(t) - 1)) : 0;
}

static inline int128 largest(tn_dtype t)
{
    return t == TN_BOOL ? 1 : ((int128)1 << (8 * tn_dtype_size(t) - is_signed(t))) - 1;
}

static inline number wrapped(tn_dtype t, int128 i)
{
    if (t == TN_BOOL)
        return of_int(i != 0);
    const int128 span = (int128)1 << (8 * tn_dtype_size(t));
    i = ((i % span) + span) % span;
    return of_int(i > largest(t) ? i - span : i);
}

/* Rounds once, because long double represents every 64-bit integer. */
static inline number cast_number(tn_dtype t, number x)
{
    if (t == TN_BOOL)
        return of_int(x.whole ? x.i != 0 : x.f != 0 || x.im != 0);
    if (is_float(t) || is_complex(t)) {
        const long double f = x.whole ? (long double)x.i : x.f;
        return (number){.f = rounded(t, f),
                        .im = is_complex(t) && !x.whole ? rounded(t, x.im) : 0};
    }
    if (x.whole)
        return wrapped(t, x.i);
    if (isnan(x.f))
        return of_int(0);
    if (x.f <= (long double)least(t))
        return of_int(least(t));
    if (x.f >= (long double)largest(t))
        return of_int(largest(t));
    return of_int((int128)x.f);
}

static inline bool same_number(number a, number b)
{
    if (a.whole != b.whole)
        return false;
    if (a.whole)
        return a.i == b.i;
    return (a.f == b.f || (isnan(a.f) && isnan(b.f))) &&
           (a.im == b.im || (isnan(a.im) && isnan(b.im)));
}

/* True if got equals want, or is within tol ulps of it plus `near` ulps of 1.0; infinity counts
 * as the number after the largest. */
static inline bool near_number(tn_dtype t, number got, number want, long double tol,
                               long double near)
{
    if (same_number(got, want))
        return true;
    if (got.whole || want.whole || isnan(got.f) || isnan(want.f))
        return false;
    const long double beyond = ldexpl(1, format_of(t).high + 1);
    const long double g = fmaxl(fminl(got.f, beyond), -beyond);
    const long double w = fmaxl(fminl(want.f, beyond), -beyond);
    return fabsl(g - w) <= tol * ulp(t, w) + near * ulp(t, 1);
}

#endif
