/* ops_rules.h - the definition of each op, one row per op, in exact integers and long double.
 *
 * A missing row fails the tests: a new op needs one row here. */
#ifndef OPS_RULES_H
#define OPS_RULES_H

#include "ops_oracle.h"

typedef long double (*float_rule)(const long double *v, const double *p);
typedef int128 (*int_rule)(const int128 *v, const double *p, tn_dtype t);

typedef struct op_rule {
    int_rule ints;     /* NULL: integers are not supported; the result wraps */
    float_rule floats; /* NULL: floats are not supported */
    bool complexes;
    float ulp32, ulp64; /* maximum error; 0: exact, as the rule is correctly rounded */
    float near;         /* plus this many ulps of 1.0 */
    float low, high;    /* range of inputs; equal: all values */
} op_rule;

/* The number of ops in the library, counted by their names. */
static inline int op_count(void)
{
    int n = 0;
    while (tn_op_name((tn_op)n))
        n++;
    return n;
}

static bool single; /* the rule is evaluated for f32 */

#define X (v[0])
#define Y (v[1])
#define Z (v[2])
#define FLOATS(name, value)                                                                    \
    static long double f_##name(const long double *v, const double *p)                         \
    {                                                                                          \
        (void)p;                                                                               \
        return value;                                                                          \
    }
#define INTS(name, value)                                                                      \
    static int128 i_##name(const int128 *v, const double *p, tn_dtype t)                       \
    {                                                                                          \
        (void)p, (void)t;                                                                      \
        return value;                                                                          \
    }
/* A product modulo 2^128, which is exact enough because results wrap. */
static inline int128 product(int128 a, int128 b)
{
    return (int128)((uint128)a * (uint128)b);
}

/* A single float operation in f64, rounded once: exact enough for f32 as well. */
#define D(v) ((double)(v))

FLOATS(add, D(X) + D(Y))
FLOATS(sub, D(X) - D(Y))
FLOATS(mul, D(X) * D(Y))
FLOATS(div, D(X) / D(Y))
FLOATS(neg, -X)
FLOATS(abs, fabsl(X))
FLOATS(square, D(X) * D(X))
FLOATS(sqrt, sqrt(D(X)))
FLOATS(rsqrt, 1 / sqrtl(X))
FLOATS(reciprocal, 1 / D(X))
FLOATS(sign, isnan(X) ? X : (X > 0) - (X < 0))
FLOATS(min, isnan(X) ? X : isnan(Y) ? Y : X < Y ? X : Y)
FLOATS(max, isnan(X) ? X : isnan(Y) ? Y : X > Y ? X : Y)
FLOATS(fmin, fminl(X, Y))
FLOATS(fmax, fmaxl(X, Y))
FLOATS(hypot, hypotl(X, Y))
FLOATS(copysign, copysignl(X, Y))
FLOATS(ldexp, isnan(X) || isnan(Y) ? X + Y
              : X == 0 || isinf(X) ? X
                                   : X * exp2l(fminl(20000, fmaxl(-20000, Y))))
FLOATS(floor, floorl(X))
FLOATS(ceil, ceill(X))
FLOATS(trunc, truncl(X))
FLOATS(round, rintl(X))
FLOATS(fmod, fmodl(X, Y))
INTS(add, X + Y)
INTS(sub, X - Y)
INTS(mul, product(X, Y))
INTS(neg, -X)
INTS(abs, X < 0 ? -X : X)
INTS(square, product(X, X))
INTS(sign, (X > 0) - (X < 0))
INTS(min, X < Y ? X : Y)
INTS(max, X > Y ? X : Y)
INTS(same, X)
INTS(div, Y == 0 ? 0 : X / Y)
INTS(fmod, Y == 0 ? 0 : X % Y)

static long double f_remainder(const long double *v, const double *p)
{
    (void)p;
    const long double r = fmodl(X, Y);
    return r != 0 && (r < 0) != (Y < 0) ? r + Y : r;
}

static long double f_floor_divide(const long double *v, const double *p)
{
    const long double r = f_remainder(v, p);
    return Y == 0 ? X / Y : isnan(r) ? r : isinf(Y) ? (r != X) * -1.0L : rintl((X - r) / Y);
}

static int128 i_remainder(const int128 *v, const double *p, tn_dtype t)
{
    (void)p, (void)t;
    const int128 r = Y == 0 ? 0 : X % Y;
    return r != 0 && (r < 0) != (Y < 0) ? r + Y : r;
}
INTS(floor_divide, Y == 0 ? 0 : (X - i_remainder(v, p, t)) / Y)

static int128 i_pow(const int128 *v, const double *p, tn_dtype t)
{
    (void)p;
    if (Y < 0)
        return X == 1 ? 1 : X == -1 ? (Y % 2 ? -1 : 1) : 0;
    int128 r = 1, base = X;
    for (int128 n = Y; n > 0; n /= 2) {
        if (n % 2)
            r = wrapped(t, product(r, base)).i;
        base = wrapped(t, product(base, base)).i;
    }
    return r;
}

FLOATS(pow, powl(X, Y))
FLOATS(exp, expl(X))
FLOATS(exp2, exp2l(X))
FLOATS(expm1, expm1l(X))
FLOATS(log, logl(X))
FLOATS(log2, log2l(X))
FLOATS(log10, log10l(X))
FLOATS(log1p, log1pl(X))
FLOATS(logaddexp, X == Y && isinf(X) ? X : fmaxl(X, Y) + log1pl(expl(-fabsl(X - Y))))
FLOATS(logaddexp2, X == Y && isinf(X) ? X : fmaxl(X, Y) + log1pl(exp2l(-fabsl(X - Y))) / M_LN2l)
FLOATS(sin, sinl(X))
FLOATS(cos, cosl(X))
FLOATS(tan, tanl(X))
FLOATS(asin, asinl(X))
FLOATS(acos, acosl(X))
FLOATS(atan, atanl(X))
FLOATS(atan2, atan2l(X, Y))
FLOATS(sinh, sinhl(X))
FLOATS(cosh, coshl(X))
FLOATS(tanh, tanhl(X))
FLOATS(asinh, asinhl(X))
FLOATS(acosh, acoshl(X))
FLOATS(atanh, atanhl(X))
FLOATS(erf, erfl(X))
FLOATS(erfc, erfcl(X))
FLOATS(lgamma, lgammal(X))

/* Newton's method on erfc, which keeps its digits where erf is near 1. */
static long double f_erfinv(const long double *v, const double *p)
{
    (void)p;
    if (!(fabsl(X) < 1))
        return fabsl(X) == 1 ? copysignl(INFINITY, X) : (long double)NAN;
    if (fabsl(X) < 1e-12L)
        return X * sqrtl(M_PIl) / 2;
    const long double a = fabsl(X), w = -logl((1 - a) * (1 + a));
    const long double k = 0.147L, h = 2 / (M_PIl * k) - w / 2;
    long double y = sqrtl((w / k) / (sqrtl(h * h + w / k) + h)); /* Winitzki's approximation */
    for (int i = 0; i < 7; i++) {
        const long double e = a < 0.5L ? erfl(y) - a : (1 - a) - erfcl(y);
        const long double slope = M_2_SQRTPIl * expl(-y * y);
        y -= (e / slope) / (1 + y * (e / slope)); /* Halley's method */
    }
    return copysignl(y, X);
}

static long double f_digamma(const long double *v, const double *p)
{
    (void)p;
    long double x = X, sum = 0;
    if (x == 0)
        return -copysignl(INFINITY, x);
    if (x < 0) {
        if (x == floorl(x) || isinf(x))
            return NAN;
        const long double part = x - rintl(x);
        sum = -M_PIl / tanl(M_PIl * part);
        x = 1 - x;
    }
    for (; x < 40; x++)
        sum -= 1 / x;
    const long double q = 1 / (x * x);
    return sum + logl(x) - 1 / (2 * x) -
           q * (1.0L / 12 -
                q * (1.0L / 120 -
                     q * (1.0L / 252 -
                          q * (1.0L / 240 - q * (1.0L / 132 - q * 691.0L / 32760)))));
}

static inline long double logistic(long double x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

/* x times a factor that vanishes faster than x approaches -infinity. */
static inline long double times(long double x, long double factor)
{
    return x == -INFINITY && factor == 0 ? 0 : x * factor;
}

FLOATS(relu, isnan(X) || X > 0 ? X : 0)
INTS(relu, X > 0 ? X : 0)
FLOATS(relu6, isnan(X) ? X : X<0 ? 0 : X> 6 ? 6 : X)
FLOATS(leaky_relu, X > 0 ? X : X * p[0])
FLOATS(prelu, X > 0 ? X : X * Y)
FLOATS(gelu, times(X, erfcl(-X *M_SQRT1_2l) / 2))
FLOATS(gelu_tanh, times(X, logistic(2 * sqrtl(2 / M_PIl) * (X + 0.044715L * X * X * X))))
FLOATS(quick_gelu, times(X, logistic(1.702L * X)))
FLOATS(silu, times(X, logistic(X)))
/* silu of a finite number is not 0, even where it underflows. */
FLOATS(swiglu, isinf(X) && isfinite(Y) && Y < 0 ? -X : X * times(Y, logistic(Y)))
FLOATS(sigmoid, logistic(X))
FLOATS(hard_sigmoid, isnan(X) ? X : fminl(1, fmaxl(0, X *p[0] + p[1])))
FLOATS(hard_swish, isnan(X) ? X : times(X, fminl(6, fmaxl(0, X + 3)) / 6))
FLOATS(hard_tanh, isnan(X) ? X : fminl(p[1], fmaxl(p[0], X)))
FLOATS(softplus, X *p[0] > p[1] ? X : log1pl(expl(X * p[0])) / p[0])
FLOATS(softsign, isinf(X) ? copysignl(1, X) : X / (1 + fabsl(X)))
FLOATS(elu, X > 0 ? X : p[0] * expm1l(X))
FLOATS(selu, 1.0507009873554804934193349852946L *
                 (X > 0 ? X : 1.6732632423543772848170429916717L * expm1l(X)))
FLOATS(mish, times(X, tanhl(X > 50 ? X : log1pl(expl(X)))))

/* Near 0, where x and tanh x are close, the difference is summed as a series. */
static long double f_tanhshrink(const long double *v, const double *p)
{
    (void)p;
    const long double q = X * X;
    if (fabsl(X) > 0.1L)
        return X - tanhl(X);
    const long double c[] = {1.0L / 3,
                             -2.0L / 15,
                             17.0L / 315,
                             -62.0L / 2835,
                             1382.0L / 155925,
                             -21844.0L / 6081075,
                             929569.0L / 638512875,
                             -6404582.0L / 10854718875};
    long double sum = 0;
    for (int i = 7; i >= 0; i--)
        sum = sum * q + c[i];
    return X * q * sum;
}

FLOATS(eq, X == Y)
FLOATS(ne, X != Y)
FLOATS(lt, X < Y)
FLOATS(le, X <= Y)
FLOATS(gt, X > Y)
FLOATS(ge, X >= Y)
FLOATS(isnan, isnan(X))
FLOATS(isinf, isinf(X) != 0)
FLOATS(isfinite, isfinite(X))
FLOATS(signbit, signbit(X) != 0)
INTS(eq, X == Y)
INTS(ne, X != Y)
INTS(lt, X < Y)
INTS(le, X <= Y)
INTS(gt, X > Y)
INTS(ge, X >= Y)
INTS(zero, 0)
INTS(one, 1)
INTS(signbit, X < 0)
INTS(logical_and, X &&Y)
INTS(logical_or, X || Y)
INTS(logical_xor, !X != !Y)
INTS(logical_not, !X)
INTS(bit_and, X &Y)
INTS(bit_or, X | Y)
INTS(bit_xor, X ^ Y)
INTS(bit_not, t == TN_BOOL ? !X : ~X)
INTS(shl, Y < 0 || Y >= 8 * (int)tn_dtype_size(t) ? 0 : product(X, (int128)1 << Y))
INTS(shr, Y < 0 || Y >= 8 * (int)tn_dtype_size(t) ? (X < 0 ? -1 : 0) : X >> Y)
INTS(clip, X < Y ? (Y < Z ? Y : Z) : X < Z ? X : Z)
FLOATS(clip, isnan(X) || isnan(Y) || isnan(Z) ? (long double)NAN : fminl(Z, fmaxl(Y, X)))
INTS(where, X ? Y : Z)
FLOATS(where, X != 0 ? Y : Z)
FLOATS(lerp, X + Z * (Y - X))
FLOATS(addcmul, X + p[0] * Y * Z)
INTS(addcmul, (int128)((uint128)X + (uint128)p[0] * (uint128)product(Y, Z)))
FLOATS(fma, single ? (long double)fmaf((float)X, (float)Y, (float)Z) : fma(D(X), D(Y), D(Z)))
INTS(fma, (int128)((uint128)product(X, Y) + (uint128)Z))
#undef X
#undef Y
#undef Z

#undef I /* defined by <complex.h>, which some header includes */
#define I(name) i_##name
#define F(name) f_##name
static const op_rule rules[] = {
    /* clang-format off */
    [TN_ADD] = {I(add), F(add), true, 0, 0, 0, 0, 0},
    [TN_SUB] = {I(sub), F(sub), true, 0, 0, 0, 0, 0},
    [TN_MUL] = {I(mul), F(mul), true, 0, 0, 0, 0, 0},
    [TN_DIV] = {NULL, F(div), true, 0, 0, 0, 0, 0},
    [TN_FLOOR_DIVIDE] = {I(floor_divide), F(floor_divide), false, 1, 1, 0, 0, 0},
    [TN_REMAINDER] = {I(remainder), F(remainder), false, 0.51f, 0.51f, 0, 0, 0},
    [TN_FMOD] = {I(fmod), F(fmod), false, 0, 0, 0, 0, 0},
    [TN_POW] = {I(pow), F(pow), true, 1, 1, 0, -20, 20},
    [TN_FLOAT_POWER] = {I(pow), F(pow), false, 1, 1, 0, -20, 20},
    [TN_NEG] = {I(neg), F(neg), true, 0, 0, 0, 0, 0},
    [TN_ABS] = {I(abs), F(abs), true, 0, 0, 0, 0, 0},
    [TN_SIGN] = {I(sign), F(sign), true, 0, 0, 0, 0, 0},
    [TN_SQUARE] = {I(square), F(square), true, 0, 0, 0, 0, 0},
    [TN_SQRT] = {NULL, F(sqrt), true, 0, 0, 0, 0, 0},
    [TN_RSQRT] = {NULL, F(rsqrt), false, 0.501f, 0.501f, 0, 0, 0},
    [TN_RECIPROCAL] = {NULL, F(reciprocal), true, 0, 0, 0, 0, 0},
    [TN_MIN] = {I(min), F(min), false, 0, 0, 0, 0, 0},
    [TN_MAX] = {I(max), F(max), false, 0, 0, 0, 0, 0},
    [TN_FMIN] = {I(min), F(fmin), false, 0, 0, 0, 0, 0},
    [TN_FMAX] = {I(max), F(fmax), false, 0, 0, 0, 0, 0},
    [TN_HYPOT] = {NULL, F(hypot), false, 0.51f, 0.51f, 0, 0, 0},
    [TN_COPYSIGN] = {NULL, F(copysign), false, 0, 0, 0, 0, 0},
    [TN_NEXTAFTER] = {NULL, NULL, false, 0, 0, 0, 0, 0}, /* by representation: has its own test */
    [TN_LDEXP] = {NULL, F(ldexp), false, 1, 2, 0, -300, 300},
    [TN_FLOOR] = {I(same), F(floor), false, 0, 0, 0, 0, 0},
    [TN_CEIL] = {I(same), F(ceil), false, 0, 0, 0, 0, 0},
    [TN_TRUNC] = {I(same), F(trunc), false, 0, 0, 0, 0, 0},
    [TN_ROUND] = {I(same), F(round), true, 0, 0, 0, 0, 0},
    [TN_EXP] = {NULL, F(exp), true, 1, 1, 0, -110, 90},
    [TN_EXP2] = {NULL, F(exp2), false, 1, 1, 0, -150, 130},
    [TN_EXPM1] = {NULL, F(expm1), true, 1, 1, 0, -20, 90},
    [TN_LOG] = {NULL, F(log), true, 1, 1, 0, 0, 0},
    [TN_LOG2] = {NULL, F(log2), true, 1, 1, 0, 0, 0},
    [TN_LOG10] = {NULL, F(log10), true, 1, 1, 0, 0, 0},
    [TN_LOG1P] = {NULL, F(log1p), true, 1, 1, 0, -1, 10},
    [TN_LOGADDEXP] = {NULL, F(logaddexp), false, 4, 8, 1, -60, 60},
    [TN_LOGADDEXP2] = {NULL, F(logaddexp2), false, 4, 8, 1, -60, 60},
    [TN_SIN] = {NULL, F(sin), true, 1, 1, 0, -100, 100},
    [TN_COS] = {NULL, F(cos), true, 1, 1, 0, -100, 100},
    [TN_TAN] = {NULL, F(tan), true, 1, 1, 0, -100, 100},
    [TN_ASIN] = {NULL, F(asin), true, 1, 1, 0, -1, 1},
    [TN_ACOS] = {NULL, F(acos), true, 1, 1, 0, -1, 1},
    [TN_ATAN] = {NULL, F(atan), true, 1, 1, 0, -10, 10},
    [TN_ATAN2] = {NULL, F(atan2), false, 1, 1, 0, -10, 10},
    [TN_SINH] = {NULL, F(sinh), true, 1, 1, 0, -90, 90},
    [TN_COSH] = {NULL, F(cosh), true, 1, 1, 0, -90, 90},
    [TN_TANH] = {NULL, F(tanh), true, 1, 1, 0, -12, 12},
    [TN_ASINH] = {NULL, F(asinh), true, 1, 1, 0, -100, 100},
    [TN_ACOSH] = {NULL, F(acosh), true, 1, 1, 0, 1, 100},
    [TN_ATANH] = {NULL, F(atanh), true, 1, 1, 0, -1, 1},
    [TN_ERF] = {NULL, F(erf), false, 1, 1, 0, -6, 6},
    [TN_ERFC] = {NULL, F(erfc), false, 1.5f, 1.5f, 0, -6, 10},
    [TN_ERFINV] = {NULL, F(erfinv), false, 4, 8, 0, -1, 1},
    [TN_LGAMMA] = {NULL, F(lgamma), false, 4, 8, 1, -20, 100},
    [TN_DIGAMMA] = {NULL, F(digamma), false, 4, 8, 1, -80, 100},
    [TN_RELU] = {I(relu), F(relu), false, 0, 0, 0, 0, 0},
    [TN_RELU6] = {NULL, F(relu6), false, 0, 0, 0, -10, 10},
    [TN_LEAKY_RELU] = {NULL, F(leaky_relu), false, 0.51f, 0.51f, 0, 0, 0},
    [TN_PRELU] = {NULL, F(prelu), false, 0.51f, 0.51f, 0, 0, 0},
    [TN_GELU] = {NULL, F(gelu), false, 4, 8, 0, -14, 10},
    [TN_GELU_TANH] = {NULL, F(gelu_tanh), false, 4, 8, 0, -10, 10},
    [TN_QUICK_GELU] = {NULL, F(quick_gelu), false, 4, 8, 0, -60, 30},
    [TN_SILU] = {NULL, F(silu), false, 4, 8, 0, -105, 30},
    [TN_SWIGLU] = {NULL, F(swiglu), false, 4, 8, 0, -60, 60},
    [TN_SIGMOID] = {NULL, F(sigmoid), false, 4, 8, 0, -105, 30},
    [TN_HARD_SIGMOID] = {NULL, F(hard_sigmoid), false, 1, 1, 1, -5, 5},
    [TN_HARD_SWISH] = {NULL, F(hard_swish), false, 4, 8, 1, -5, 5},
    [TN_HARD_TANH] = {NULL, F(hard_tanh), false, 0, 0, 0, -3, 3},
    [TN_SOFTPLUS] = {NULL, F(softplus), false, 4, 8, 0, -100, 40},
    [TN_SOFTSIGN] = {NULL, F(softsign), false, 4, 8, 0, 0, 0},
    [TN_ELU] = {NULL, F(elu), false, 4, 8, 0, -40, 10},
    [TN_SELU] = {NULL, F(selu), false, 4, 8, 0, -40, 10},
    [TN_MISH] = {NULL, F(mish), false, 4, 8, 0, -100, 40},
    [TN_TANHSHRINK] = {NULL, F(tanhshrink), false, 4, 8, 0, -12, 12},
    [TN_EQ] = {I(eq), F(eq), true, 0, 0, 0, 0, 0},
    [TN_NE] = {I(ne), F(ne), true, 0, 0, 0, 0, 0},
    [TN_LT] = {I(lt), F(lt), false, 0, 0, 0, 0, 0},
    [TN_LE] = {I(le), F(le), false, 0, 0, 0, 0, 0},
    [TN_GT] = {I(gt), F(gt), false, 0, 0, 0, 0, 0},
    [TN_GE] = {I(ge), F(ge), false, 0, 0, 0, 0, 0},
    [TN_ISNAN] = {I(zero), F(isnan), true, 0, 0, 0, 0, 0},
    [TN_ISINF] = {I(zero), F(isinf), true, 0, 0, 0, 0, 0},
    [TN_ISFINITE] = {I(one), F(isfinite), true, 0, 0, 0, 0, 0},
    [TN_SIGNBIT] = {I(signbit), F(signbit), false, 0, 0, 0, 0, 0},
    [TN_LOGICAL_AND] = {I(logical_and), NULL, true, 0, 0, 0, 0, 0},
    [TN_LOGICAL_OR] = {I(logical_or), NULL, true, 0, 0, 0, 0, 0},
    [TN_LOGICAL_XOR] = {I(logical_xor), NULL, true, 0, 0, 0, 0, 0},
    [TN_LOGICAL_NOT] = {I(logical_not), NULL, true, 0, 0, 0, 0, 0},
    [TN_BIT_AND] = {I(bit_and), NULL, false, 0, 0, 0, 0, 0},
    [TN_BIT_OR] = {I(bit_or), NULL, false, 0, 0, 0, 0, 0},
    [TN_BIT_XOR] = {I(bit_xor), NULL, false, 0, 0, 0, 0, 0},
    [TN_BIT_NOT] = {I(bit_not), NULL, false, 0, 0, 0, 0, 0},
    [TN_SHL] = {I(shl), NULL, false, 0, 0, 0, 0, 0},
    [TN_SHR] = {I(shr), NULL, false, 0, 0, 0, 0, 0},
    [TN_WHERE] = {I(where), F(where), true, 0, 0, 0, 0, 0},
    [TN_CLIP] = {I(clip), F(clip), false, 0, 0, 0, 0, 0},
    [TN_LERP] = {NULL, F(lerp), false, 4, 8, 1, -4, 4},
    [TN_ADDCMUL] = {I(addcmul), F(addcmul), false, 4, 8, 1, -4, 4},
    [TN_FMA] = {I(fma), F(fma), false, 0, 0, 0, 0, 0},
    [TN_TRUNC_DIVIDE] = {I(div), NULL, false, 0, 0, 0, 0, 0},
    /* clang-format on */
};
#undef I
#undef F

/* Maximum error of op in dtype t, in ulps.  Without SLEEF its functions are the C library's,
 * which in f64 may be off by up to 2 from the nearest number, hypot by 1, erfc by 5. */
static inline long double ulps_of(tn_op op, tn_dtype t)
{
    const float tol = t == TN_F64 ? rules[op].ulp64 : rules[op].ulp32;
    const bool function =
        (op >= TN_EXP && op <= TN_ERF && tol == 1) || op == TN_POW || op == TN_FLOAT_POWER;
    if (TEST_SLEEF || t != TN_F64)
        return tol;
    return op == TN_ERFC ? 5.5L : op == TN_HYPOT ? 1.5L : function ? 2.5L : tol;
}

#endif
