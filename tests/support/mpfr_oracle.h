/* mpfr_oracle.h - functions of one f64 in high precision, by MPFR if the tests are built with
 * it. */
#ifndef MPFR_ORACLE_H
#define MPFR_ORACLE_H

#include <math.h>
#include <stdbool.h>

#include <tenon/tenon.h>

#ifdef TEST_MPFR
#include <mpfr.h>

static int tanhshrink_mpfr(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    const int off = mpfr_tanh(r, x, mode);
    return mpfr_sub(r, x, r, mode) | off;
}

/* x(1 + erf(x / sqrt 2)) / 2 as x erfc(-x / sqrt 2) / 2. */
static int gelu_mpfr(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    mpfr_sqrt_ui(r, 2, mode);
    mpfr_div(r, x, r, mode);
    mpfr_neg(r, r, mode);
    mpfr_erfc(r, r, mode);
    mpfr_mul(r, r, x, mode);
    return mpfr_div_2ui(r, r, 1, mode);
}

static int sigmoid_mpfr(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    mpfr_neg(r, x, mode);
    mpfr_exp(r, r, mode);
    mpfr_add_ui(r, r, 1, mode);
    return mpfr_ui_div(r, 1, r, mode);
}

static int silu_mpfr(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    const int off = sigmoid_mpfr(r, x, mode);
    return mpfr_mul(r, r, x, mode) | off;
}

/* The true value of op at a finite x; false: not available. */
static bool mpfr_value(tn_op op, double x, long double *value)
{
    static const struct {
        tn_op op;
        int (*fn)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    } rows[] = {
        {TN_EXP, mpfr_exp},         {TN_EXP2, mpfr_exp2},      {TN_EXPM1, mpfr_expm1},
        {TN_LOG, mpfr_log},         {TN_LOG2, mpfr_log2},      {TN_LOG10, mpfr_log10},
        {TN_LOG1P, mpfr_log1p},     {TN_SIN, mpfr_sin},        {TN_COS, mpfr_cos},
        {TN_TAN, mpfr_tan},         {TN_ASIN, mpfr_asin},      {TN_ACOS, mpfr_acos},
        {TN_ATAN, mpfr_atan},       {TN_SINH, mpfr_sinh},      {TN_COSH, mpfr_cosh},
        {TN_TANH, mpfr_tanh},       {TN_ASINH, mpfr_asinh},    {TN_ACOSH, mpfr_acosh},
        {TN_ATANH, mpfr_atanh},     {TN_ERF, mpfr_erf},        {TN_ERFC, mpfr_erfc},
        {TN_DIGAMMA, mpfr_digamma}, {TN_RSQRT, mpfr_rec_sqrt}, {TN_TANHSHRINK, tanhshrink_mpfr},
        {TN_SIGMOID, sigmoid_mpfr}, {TN_SILU, silu_mpfr},      {TN_GELU, gelu_mpfr},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* Outside these limits digits cancel or MPFR is slow, and there is nothing left to
         * test. */
        const double low = op == TN_TANHSHRINK ? 1e-9 : 0,
                     high = op == TN_DIGAMMA ? 1e9 : INFINITY;
        if (rows[i].op != op || !(fabs(x) >= low && fabs(x) < high))
            continue;
        mpfr_t a, r;
        mpfr_init2(a, 53);
        mpfr_init2(r, 200);
        mpfr_set_d(a, x, MPFR_RNDN);
        rows[i].fn(r, a, MPFR_RNDN);
        *value = mpfr_get_ld(r, MPFR_RNDN);
        mpfr_clear(a);
        mpfr_clear(r);
        return true;
    }
    return false;
}
#else
static bool mpfr_value(tn_op op, double x, long double *value)
{
    (void)op, (void)x, (void)value;
    return false;
}
#endif

#endif
