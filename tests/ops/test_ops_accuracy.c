/* test_ops_accuracy.c - the float ops of every compiled level beside long double, and functions
 * of f64 beside MPFR: points for each, half of them where the function lives, half of all
 * magnitudes. */
#include <float.h>

#include "layout.h"
#include "mpfr_oracle.h"
#include "ops_rules.h"

#include "kernels/kernels.h"
#include "runtime/runtime.h"

enum { CHUNK = 1 << 12 };

static int points = TEST_WATCHED ? 1 << 13 : 1 << 16; /* TENON_POINTS asks for more */
static bool more;

static int bad, reported;

static double uniform(rng *r)
{
    return (double)(next(r) >> 11) / 9007199254740992.0;
}

static double draw(rng *r, const op_rule *rule, tn_dtype t, bool inside)
{
    if (inside && rule->low < rule->high) {
        const double x = rule->low + uniform(r) * ((double)rule->high - rule->low);
        return next(r) % 4 ? x : x * uniform(r) * uniform(r);
    }
    uint64_t bits = next(r);
    double d;
    float f;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &bits, sizeof f);
    return t == TN_F32 ? (double)f : d;
}

static void put(tn_dtype t, char *p, double x)
{
    const float f = (float)x;
    if (t == TN_F32)
        memcpy(p, &f, sizeof f);
    else
        memcpy(p, &x, sizeof x);
}

/* One chunk of points through every level.  Powers of positive numbers are a path of their own,
 * taken where all of a block are: half of a chunk is. */
static void check_chunk(rng *r, tn_op op, tn_dtype t, bool inside, bool exact,
                        long double *worst)
{
    static char in[3][CHUNK * 8], out[CHUNK * 8];
    static long double want[CHUNK];
    const op_rule *rule = &rules[op];
    const int arity = tn_op_arity(op);
    const size_t width = tn_dtype_size(t);
    const double *p = tni_ops[op].defaults;
    single = t == TN_F32;
    for (size_t i = 0; i < CHUNK; i++) {
        long double v[3] = {0};
        for (int k = 0; k < arity; k++) {
            const double x = draw(r, rule, t, inside);
            const bool power = op == TN_POW || op == TN_FLOAT_POWER;
            put(t, in[k] + i * width, power && k == 0 && i >= CHUNK / 2 ? fabs(x) : x);
            v[k] = number_at(t, in[k] + i * width).f;
        }
        want[i] = rule->floats(v, p);
        if (t == TN_F64 && exact)
            mpfr_value(op, (double)v[0], &want[i]);
    }
    for (int isa = 0; isa <= (int)tni_isa_level(); isa++) {
        tni_op_strip s = {.fn = tni_op_kernel(isa, op, t), .block = tni_op_block(op, t)};
        s.nsrc = arity;
        for (int k = 0; k <= arity; k++)
            s.width[k] = (int8_t)width;
        memcpy(s.params, p, sizeof s.params);
        tni_op_run(&s, out, (const char *const[]){in[0], in[1], in[2]}, 0, CHUNK);
        const long double tol = ulps_of(op, t);
        for (size_t i = 0; i < CHUNK; i++) {
            const number got = number_at(t, out + i * width);
            const number expect = of_float(tol == 0 ? rounded(t, want[i]) : want[i]);
            const long double off = fabsl(got.f - want[i]) / ulp(t, want[i]);
            if (isfinite(off) && off > *worst)
                *worst = off;
            if (!near_number(t, got, expect, tol, rule->near))
                if (bad++, reported++ < 3)
                    print_error("%s %s, level %d, of %.20Lg %.20Lg: %.20Lg, want %.20Lg, off "
                                "by %Lg ulp\n",
                                tn_op_name(op), tn_dtype_name(t), isa,
                                number_at(t, in[0] + i * width).f,
                                arity > 1 ? number_at(t, in[1] + i * width).f : 0, got.f,
                                want[i], off);
        }
    }
}

static void check_op(tn_op op, tn_dtype t)
{
    rng r = {(uint64_t)op * 2 + (t == TN_F32)};
    long double worst = 0;
    reported = 0;
    for (int done = 0; done < points; done += CHUNK)
        check_chunk(&r, op, t, done < points / 2, done % (more ? 8 * CHUNK : points / 2) == 0,
                    &worst);
    if (more)
        printf("%-14s %s  %.3Lf ulp\n", tn_op_name(op), tn_dtype_name(t), worst);
}

static void every_function(void **state)
{
    const tn_dtype t = *(const tn_dtype *)*state;
    for (int op = 0; op < op_count(); op++) {
        const bool number = !(op >= TN_EQ && op <= TN_SHR) && op != TN_WHERE;
        if (rules[op].floats && number && !(op == TN_FLOAT_POWER && t == TN_F32))
            check_op((tn_op)op, t);
    }
    assert_int_equal(bad, 0);
}

/* A finite value is no infinity; signs are right, but of zeros of activations. */
static void check_special(tn_op op, double x, double y, double want, int isa, tn_dtype t)
{
    char a[8], b[8], d[8], w[8];
    const int8_t width = (int8_t)tn_dtype_size(t);
    put(t, a, x);
    put(t, b, y);
    put(t, w, want);
    tni_op_strip s = {.fn = tni_op_kernel(isa, op, t), .block = tni_op_block(op, t)};
    s.nsrc = tn_op_arity(op);
    for (int k = 0; k <= s.nsrc; k++)
        s.width[k] = width;
    memcpy(s.params, tni_ops[op].defaults, sizeof s.params);
    tni_op_run(&s, d, (const char *const[]){a, b}, 0, 1);
    const number got = number_at(t, d), expect = number_at(t, w);
    const bool sign = !isnan(expect.f) && op < TN_RELU;
    if (!near_number(t, got, expect, 1, 0) || isfinite(got.f) != isfinite(expect.f) ||
        (sign && !signbit(got.f) != !signbit(expect.f)))
        fail_msg("%s %s, level %d, of %g and %g: %Lg, want %g", tn_op_name(op),
                 tn_dtype_name(t), isa, x, y, got.f, want);
}

/* Powers of halves are those of f64, rounded once: any two numbers, whole exponents, and
 * squares, of which some lie between two halves. */
static void powers_of_halves(void **state)
{
    (void)state;
    static const tn_dtype halves[] = {TN_F16, TN_BF16};
    rng r = {1};
    uint16_t x[64], y[64], got[64];
    for (int i = 0; i < points / 4; i++) {
        const tn_dtype t = halves[i % 2];
        for (int j = 0; j < 64; j++) {
            const float whole = (float)(i % 16 < 4 ? 2 : (int)(next(&r) % 9) - 4);
            x[j] = (uint16_t)(next(&r) & (i % 4 ? 0x7fff : 0xffff));
            y[j] = i % 16 < 8 ? t == TN_F16 ? tni_f16_of_f32(whole) : tni_bf16_of_f32(whole)
                              : (uint16_t)next(&r);
        }
        tni_op_strip s = {.block = tni_op_block(TN_POW, t), .nsrc = 2, .width = {2, 2, 2}};
        s.fn = tni_op_kernel(i % (tni_isa_level() + 1), TN_POW, t);
        tni_op_run(&s, (char *)got, (const char *const[]){(char *)x, (char *)y}, 0, 64);
        for (int j = 0; j < 64; j++) {
            const number a = number_at(t, (char *)(x + j)), b = number_at(t, (char *)(y + j));
            const float once = tni_f32_odd(pow((double)a.f, (double)b.f));
            const uint16_t want = t == TN_F16 ? tni_f16_of_f32(once) : tni_bf16_of_f32(once);
            if (once == once ? got[j] != want : got[j] != (t == TN_F16 ? 0x7e00 : 0x7fc0))
                fail_msg("%s of %Lg and %Lg: %x, want %x", tn_dtype_name(t), a.f, b.f, got[j],
                         want);
        }
    }
}

/* Sizes that are no normal numbers. */
static void sign_of_complex(void **state)
{
    (void)state;
    static const double xs[][2] = {{3e-310, 4e-310}, {-3e-320, 4e-320}, {1e308, -1.6e308}};
    for (int i = 0; i < COUNT(xs); i++) {
        double from[2] = {xs[i][0], xs[i][1]}, got[2];
        tn_tensor x, d;
        assert_int_equal(tn_init(&x, from, TN_C128, 0, NULL), TN_OK);
        assert_int_equal(tn_init(&d, got, TN_C128, 0, NULL), TN_OK);
        assert_int_equal(tn_unary(TN_SIGN, &d, &x), TN_OK);
        const long double re = xs[i][0], im = xs[i][1], size = sqrtl(re * re + im * im);
        assert_true(fabsl(got[0] - re / size) < 1e-15L && fabsl(got[1] - im / size) < 1e-15L);
    }
}

/* Values at the ends, as the Array API standard has them where it speaks. */
static void special_values(void **state)
{
    (void)state;
    const double inf = INFINITY, nan = NAN;
    const struct {
        tn_op op;
        double x, y, want;
    } rows[] = {
        {TN_EXP, inf, 0, inf},
        {TN_EXP, -inf, 0, 0},
        {TN_EXP, 0, 0, 1},
        {TN_EXPM1, -inf, 0, -1},
        {TN_EXPM1, inf, 0, inf},
        {TN_LOG, 0, 0, -inf},
        {TN_LOG, -1, 0, nan},
        {TN_LOG, 1, 0, 0},
        {TN_LOG, inf, 0, inf},
        {TN_LOG1P, -1, 0, -inf},
        {TN_LOG1P, -2, 0, nan},
        {TN_LOG1P, inf, 0, inf},
        {TN_LOG2, 8, 0, 3},
        {TN_LOG10, 0, 0, -inf},
        {TN_SIN, inf, 0, nan},
        {TN_COSH, 710.9, 0, inf},
        {TN_SINH, -710.9, 0, -inf},
        {TN_TANH, inf, 0, 1},
        {TN_TANH, -inf, 0, -1},
        {TN_ATANH, 1, 0, inf},
        {TN_ATANH, 2, 0, nan},
        {TN_ACOSH, 0.5, 0, nan},
        {TN_ACOSH, inf, 0, inf},
        {TN_ASINH, -inf, 0, -inf},
        {TN_ASIN, 2, 0, nan},
        {TN_ATAN2, 0, -1, M_PI},
        {TN_ATAN2, 1, 0, M_PI_2},
        {TN_POW, nan, 0, 1},
        {TN_POW, 1, nan, 1},
        {TN_POW, 0, -1, inf},
        {TN_POW, -8, 1.0 / 3, nan},
        {TN_POW, -2, 3, -8},
        {TN_POW, 0, 0, 1},
        {TN_POW, -inf, 3, -inf},
        {TN_POW, 2, -inf, 0},
        {TN_POW, 0.5, -inf, inf},
        {TN_POW, 0.5, inf, 0},
        {TN_POW, -1, inf, 1},
        {TN_POW, -1, -inf, 1},
        {TN_POW, inf, -1, 0},
        {TN_POW, -inf, -3, -0.0},
        {TN_POW, -inf, -2, 0},
        {TN_POW, -inf, 2, inf},
        {TN_POW, -0.0, 3, -0.0},
        {TN_POW, -0.0, 2, 0},
        {TN_POW, -0.0, -3, -inf},
        {TN_POW, -0.0, -2, inf},
        {TN_POW, -0.0, inf, 0},
        {TN_POW, 3, nan, nan},
        {TN_POW, DBL_MAX, 1, DBL_MAX},
        {TN_POW, -DBL_MAX, 1, -DBL_MAX},
        {TN_POW, FLT_MAX, 1, FLT_MAX},
        {TN_ATAN2, -0.0, 1, -0.0},
        {TN_ATAN2, 0, -0.0, M_PI},
        {TN_ATAN2, -0.0, -0.0, -M_PI},
        {TN_ATAN2, -1, 0, -M_PI_2},
        {TN_ATAN2, inf, inf, M_PI_4},
        {TN_ATAN2, -inf, -inf, -3 * M_PI_4},
        {TN_ATAN2, -1, inf, -0.0},
        {TN_ATAN2, 1, -inf, M_PI},
        {TN_ATAN2, nan, 1, nan},
        {TN_TAN, -DBL_TRUE_MIN, 0, -DBL_TRUE_MIN},
        {TN_ASINH, -DBL_TRUE_MIN, 0, -DBL_TRUE_MIN},
        {TN_LOG1P, -DBL_TRUE_MIN, 0, -DBL_TRUE_MIN},
        {TN_LOG1P, -0.0, 0, -0.0},
        {TN_EXPM1, -0.0, 0, -0.0},
        {TN_SIN, -0.0, 0, -0.0},
        {TN_TAN, -0.0, 0, -0.0},
        {TN_ASIN, -0.0, 0, -0.0},
        {TN_ATANH, -0.0, 0, -0.0},
        {TN_TANH, -0.0, 0, -0.0},
        {TN_ACOS, 1, 0, 0},
        {TN_ACOSH, 1, 0, 0},
        {TN_ATAN, -inf, 0, -M_PI_2},
        {TN_COS, inf, 0, nan},
        {TN_EXP2, -inf, 0, 0},
        {TN_LOG10, inf, 0, inf},
        {TN_LOG2, -1, 0, nan},
        {TN_SQRT, -0.0, 0, -0.0},
        {TN_SQRT, inf, 0, inf},
        {TN_HYPOT, inf, nan, inf},
        {TN_HYPOT, 3, 4, 5},
        {TN_SQRT, -1, 0, nan},
        {TN_LOGADDEXP, inf, inf, inf},
        {TN_LOGADDEXP, -inf, -inf, -inf},
        {TN_LOGADDEXP, inf, -inf, inf},
        {TN_LOGADDEXP2, -inf, -inf, -inf},
        {TN_LOGADDEXP, nan, 1, nan},
        {TN_FLOOR_DIVIDE, 1, 0.1, 9},
        {TN_FLOOR_DIVIDE, -7, 2, -4},
        {TN_FLOOR_DIVIDE, 1, 0, inf},
        {TN_FLOOR_DIVIDE, -1, inf, -1},
        {TN_FLOOR_DIVIDE, 1, inf, 0},
        {TN_FLOOR_DIVIDE, 1, -0.0, -inf},
        {TN_FLOOR_DIVIDE, 0, 0, nan},
        {TN_FLOOR_DIVIDE, inf, 2, nan}, /* as in Python, which the standard allows */
        {TN_FLOOR_DIVIDE, inf, inf, nan},
        {TN_FLOOR_DIVIDE, 0, -2, -0.0},
        {TN_FLOOR_DIVIDE, -0.0, -2, 0},
        {TN_FLOOR_DIVIDE, nan, 2, nan},
        {TN_REMAINDER, -7, 2, 1},
        {TN_REMAINDER, 7, -2, -1},
        {TN_REMAINDER, -1, inf, inf},
        {TN_REMAINDER, 1, 0, nan},
        {TN_REMAINDER, 1, -inf, -inf},
        {TN_REMAINDER, 1, inf, 1},
        {TN_REMAINDER, inf, 2, nan},
        {TN_REMAINDER, 4, -2, -0.0},
        {TN_REMAINDER, -4, 2, 0},
        {TN_REMAINDER, -0.0, 2, 0},
        {TN_FMOD, -4, 2, -0.0},
        {TN_FMOD, 3, inf, 3},
        {TN_DIV, 0, -1, -0.0},
        {TN_DIV, -1, 0, -inf},
        {TN_DIV, 0, 0, nan},
        {TN_DIV, inf, inf, nan},
        {TN_ADD, inf, -inf, nan},
        {TN_ADD, -0.0, -0.0, -0.0},
        {TN_ADD, -0.0, 0, 0},
        {TN_MUL, inf, 0, nan},
        {TN_MUL, -0.0, 3, -0.0},
        {TN_NEG, 0, 0, -0.0},
        {TN_ABS, -inf, 0, inf},
        {TN_TRUNC, -0.5, 0, -0.0},
        {TN_CEIL, -0.5, 0, -0.0},
        {TN_FLOOR, -0.0, 0, -0.0},
        {TN_FMOD, -7, 2, -1},
        {TN_MIN, nan, 1, nan},
        {TN_MIN, 1, nan, nan},
        {TN_FMIN, nan, 1, 1},
        {TN_FMAX, 1, nan, 1},
        {TN_MAX, 1, nan, nan},
        {TN_FMIN, nan, nan, nan},
        {TN_ROUND, 2.5, 0, 2},
        {TN_ROUND, -0.5, 0, -0.0},
        {TN_ROUND, 3.5, 0, 4},
        {TN_SIGN, nan, 0, nan},
        {TN_SIGN, -0.0, 0, 0},
        {TN_RECIPROCAL, 0, 0, inf},
        {TN_RSQRT, 0, 0, inf},
        {TN_RSQRT, inf, 0, 0},
        {TN_RSQRT, -1, 0, nan},
        {TN_ERF, inf, 0, 1},
        {TN_ERFC, -inf, 0, 2},
        {TN_ERFC, inf, 0, 0},
        {TN_ERFINV, 1, 0, inf},
        {TN_ERFINV, 0, 0, 0},
        {TN_ERFINV, 1.5, 0, nan},
        {TN_LGAMMA, 1, 0, 0},
        {TN_LGAMMA, inf, 0, inf},
        {TN_LGAMMA, -2, 0, inf},
        {TN_DIGAMMA, 0, 0, -inf},
        {TN_DIGAMMA, -3, 0, nan},
        {TN_DIGAMMA, inf, 0, inf},
        {TN_SILU, -inf, 0, 0},
        {TN_SILU, inf, 0, inf},
        {TN_SWIGLU, -inf, -2000, inf},
        {TN_SWIGLU, inf, -2000, -inf},
        {TN_SWIGLU, inf, -inf, nan},
        {TN_GELU, -inf, 0, 0},
        {TN_GELU, inf, 0, inf},
        {TN_GELU_TANH, -inf, 0, 0},
        {TN_QUICK_GELU, -inf, 0, 0},
        {TN_MISH, -inf, 0, 0},
        {TN_MISH, inf, 0, inf},
        {TN_SOFTPLUS, -inf, 0, 0},
        {TN_SOFTPLUS, inf, 0, inf},
        {TN_SIGMOID, -inf, 0, 0},
        {TN_SIGMOID, inf, 0, 1},
        {TN_SOFTSIGN, -inf, 0, -1},
        {TN_HARD_SWISH, -inf, 0, 0},
        {TN_ELU, -inf, 0, -1},
        {TN_LDEXP, 0x0.000000000403cp-1022, 204.21553023344728217, 0x1.2a5686829af77p-856},
        {TN_LDEXP, 1, 3, 8},
        {TN_LDEXP, 0, inf, 0},
        {TN_LDEXP, 3, -1, 1.5},
        {TN_COPYSIGN, 2, -0.0, -2},
        {TN_RELU, nan, 0, nan},
        {TN_TANHSHRINK, inf, 0, inf},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int isa = 0; isa <= (int)tni_isa_level(); isa++)
            for (int wide = 0; wide < 2; wide++)
                check_special(rows[i].op, rows[i].x, rows[i].y, rows[i].want, isa,
                              wide ? TN_F64 : TN_F32);
}

/* Complex numbers at the ends: both dtypes say the same. */
static void complex_ends(void **state)
{
    (void)state;
    const double inf = INFINITY, nan = NAN;
    const struct {
        tn_op op;
        double x[2], y[2], want[2];
    } rows[] = {
        {TN_DIV, {1, -1}, {0, 0}, {inf, -inf}},    {TN_DIV, {1, 0}, {0, 0}, {inf, nan}},
        {TN_DIV, {0, 0}, {0, 0}, {nan, nan}},      {TN_DIV, {3, 4}, {inf, 1}, {0, 0}},
        {TN_DIV, {3, 4}, {1, -inf}, {0, 0}},       {TN_DIV, {3, 4}, {nan, 1}, {nan, nan}},
        {TN_DIV, {inf, 1}, {2, 0}, {inf, nan}},    {TN_DIV, {4, 2}, {0, 2}, {1, -2}},
        {TN_DIV, {5, 10}, {1, 2}, {5, 0}},         {TN_MUL, {inf, 1}, {2, 1}, {inf, inf}},
        {TN_MUL, {inf, 0}, {2, 0}, {inf, nan}},    {TN_MUL, {nan, 0}, {2, 0}, {nan, nan}},
        {TN_ADD, {inf, 1}, {-inf, 2}, {nan, 3}},   {TN_SUB, {inf, 1}, {-inf, 3}, {inf, -2}},
        {TN_NEG, {inf, nan}, {0, 0}, {-inf, nan}}, {TN_SQUARE, {inf, 1}, {0, 0}, {inf, inf}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int wide = 0; wide < 2; wide++) {
            const tn_dtype t = wide ? TN_C128 : TN_C64, part = wide ? TN_F64 : TN_F32;
            const size_t half = tn_dtype_size(part);
            char x[16], y[16], d[16];
            tn_tensor a, b, r;
            for (size_t k = 0; k < 2; k++) {
                put(part, x + k * half, rows[i].x[k]);
                put(part, y + k * half, rows[i].y[k]);
            }
            OK(tn_init(&a, x, t, 0, NULL));
            OK(tn_init(&b, y, t, 0, NULL));
            OK(tn_init(&r, d, t, 0, NULL));
            OK(tn_apply(rows[i].op, NULL, &r, tn_op_arity(rows[i].op),
                        (const tn_tensor *const[]){&a, &b}));
            const number got = number_at(t, d);
            if (!same_number(got, (number){.f = rows[i].want[0], .im = rows[i].want[1]}))
                fail_msg("%s %s of %g %g and %g %g: %Lg %Lg, want %g %g",
                         tn_op_name(rows[i].op), tn_dtype_name(t), rows[i].x[0], rows[i].x[1],
                         rows[i].y[0], rows[i].y[1], got.f, got.im, rows[i].want[0],
                         rows[i].want[1]);
        }
}

/* f32 or f64 as the only argument: that dtype alone. */
int main(int argc, char **argv)
{
    static tn_dtype f32 = TN_F32, f64 = TN_F64;
    if (getenv("TENON_POINTS"))
        more = true, points = atoi(getenv("TENON_POINTS"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_function, &f32),
        cmocka_unit_test_prestate(every_function, &f64),
        cmocka_unit_test(sign_of_complex),
        cmocka_unit_test(powers_of_halves),
        cmocka_unit_test(special_values),
        cmocka_unit_test(complex_ends),
    };
    if (argc < 2)
        return cmocka_run_group_tests(tests, NULL, NULL);
    const struct CMUnitTest one[] = {
        cmocka_unit_test_prestate(every_function, strcmp(argv[1], "f32") ? &f64 : &f32)};
    return cmocka_run_group_tests(one, NULL, NULL);
}
