/* test_core_half.c - f16, bf16, f8e4m3 and f8e5m2 against a slow reading of their definitions.
 *
 * The oracle decodes with ldexp and rounds by comparing with the exact midpoint of
 * neighbours. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/core.h"

typedef struct format {
    const char *name;
    int exponent, mantissa, bias;
    bool infinite; /* has an infinity */
    float (*widen)(uint32_t);
    uint32_t (*narrow)(float);
    uint32_t (*narrow64)(double);
} format;

#define CONVERSIONS(NAME, TYPE)                                                                \
    static float widen_##NAME(uint32_t x)                                                      \
    {                                                                                          \
        return tni_f32_of_##NAME((TYPE)x);                                                     \
    }                                                                                          \
    static uint32_t narrow_##NAME(float x)                                                     \
    {                                                                                          \
        return tni_##NAME##_of_f32(x);                                                         \
    }                                                                                          \
    static uint32_t narrow64_##NAME(double x)                                                  \
    {                                                                                          \
        return tni_##NAME##_of_f64(x);                                                         \
    }
CONVERSIONS(f16, uint16_t)
CONVERSIONS(bf16, uint16_t)
CONVERSIONS(f8e4m3, uint8_t)
CONVERSIONS(f8e5m2, uint8_t)

static const format formats[] = {
    {"f16", 5, 10, 15, true, widen_f16, narrow_f16, narrow64_f16},
    {"bf16", 8, 7, 127, true, widen_bf16, narrow_bf16, narrow64_bf16},
    {"f8e4m3", 4, 3, 7, false, widen_f8e4m3, narrow_f8e4m3, narrow64_f8e4m3},
    {"f8e5m2", 5, 2, 15, true, widen_f8e5m2, narrow_f8e5m2, narrow64_f8e5m2},
};

static uint32_t sign_bit(const format *f)
{
    return 1u << (f->exponent + f->mantissa);
}

/* The first bits that are no finite number. */
static uint32_t end_of_numbers(const format *f)
{
    return f->infinite ? ((1u << f->exponent) - 1) << f->mantissa : 0x7f;
}

/* What bits without sign would mean if exponents went on for ever. */
static double decode(const format *f, uint32_t bits)
{
    const uint32_t exponent = bits >> f->mantissa, mantissa = bits & ((1u << f->mantissa) - 1);
    if (exponent == 0)
        return ldexp(mantissa, 1 - f->bias - f->mantissa);
    return ldexp((double)((1u << f->mantissa) + mantissa),
                 (int)exponent - f->bias - f->mantissa);
}

static void every_bit_pattern_widens_exactly(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(formats); k++) {
        const format *f = &formats[k];
        for (uint32_t x = 0; x < 2 * sign_bit(f); x++) {
            const uint32_t plain = x & (sign_bit(f) - 1), end = end_of_numbers(f);
            const float got = f->widen(x);
            if (!!signbit(got) != !!(x & sign_bit(f)))
                fail_msg("%s 0x%x: the sign is lost", f->name, x);
            if (plain < end && fabs((double)got) != decode(f, plain))
                fail_msg("%s 0x%x: %a, not %a", f->name, x, (double)got, decode(f, plain));
            if (plain == end && f->infinite && !isinf(got))
                fail_msg("%s 0x%x: %a, not infinite", f->name, x, (double)got);
            if ((plain > end || (plain == end && !f->infinite)) && !isnan(got))
                fail_msg("%s 0x%x: %a, not NaN", f->name, x, (double)got);
            if (!isnan(got) && f->narrow(got) != x)
                fail_msg("%s 0x%x comes back as 0x%x", f->name, x, f->narrow(got));
            if (f->narrow64((double)got) != f->narrow(got))
                fail_msg("%s 0x%x: f64 and f32 disagree", f->name, x);
        }
    }
}

/* Both precisions, both signs. */
static void expect(const format *f, double x, uint32_t want)
{
    for (int negative = 0; negative < 2; negative++) {
        const double value = negative ? -x : x;
        const uint32_t bits = want | (negative ? sign_bit(f) : 0);
        if ((double)(float)value == value && f->narrow((float)value) != bits)
            fail_msg("%s of f32 %a: 0x%x, not 0x%x", f->name, value, f->narrow((float)value),
                     bits);
        if (f->narrow64(value) != bits)
            fail_msg("%s of f64 %a: 0x%x, not 0x%x", f->name, value, f->narrow64(value), bits);
    }
}

static void every_boundary_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(formats); k++) {
        const format *f = &formats[k];
        for (uint32_t x = 0; x < end_of_numbers(f); x++) {
            const double low = decode(f, x), high = decode(f, x + 1), mid = (low + high) / 2;
            const uint32_t next = x + 1 == end_of_numbers(f) && !f->infinite ? 0x7f : x + 1;
            expect(f, low, x);
            expect(f, nextafter(low, INFINITY), x);
            expect(f, (double)nextafterf((float)low, INFINITY),
                   (double)nextafterf((float)low, INFINITY) < mid ? x : next);
            expect(f, nextafter(mid, 0), x);
            if (mid > 1e-44)
                expect(f, (double)nextafterf((float)mid, 0), x);
            expect(f, mid, x % 2 ? next : x);
            expect(f, nextafter(mid, INFINITY), next);
            expect(f, (double)nextafterf((float)mid, INFINITY), next);
            expect(f, (low + mid) / 2, x);
            expect(f, (mid + high) / 2, next);
        }
    }
}

static void far_too_large_overflows(void **state)
{
    (void)state;
    static const double large[] = {0x1p120, 0x1p127, 0x1p128, 0x1p500, 0x1.fffffffffffffp1023,
                                   INFINITY};
    for (int k = 0; k < COUNT(formats); k++)
        for (int i = 0; i < COUNT(large); i++)
            if (large[i] > decode(&formats[k], end_of_numbers(&formats[k])))
                expect(&formats[k], large[i], end_of_numbers(&formats[k]));
}

static void nan_stays_nan_with_its_sign(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(formats); k++) {
        const format *f = &formats[k];
        for (int bit = 0; bit < 23; bit++)
            for (uint32_t sign = 0; sign < 2; sign++) {
                const uint32_t bits = sign << 31 | 0x7f800000u | 1u << bit;
                const float nan = tni_f32_from_bits(bits);
                assert_true(isnan(f->widen(f->narrow(nan))));
                assert_true(isnan(f->widen(f->narrow64((double)nan))));
                assert_int_equal(!!(f->narrow(nan) & sign_bit(f)), sign);
            }
    }
}

/* Random doubles; the neighbours of each are found by search among all decoded numbers. */
static void random_doubles_round_once(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int k = 0; k < COUNT(formats); k++) {
        const format *f = &formats[k];
        for (int i = 0; i < 200000; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const uint64_t exponent = (uint64_t)(1023 - f->bias - f->mantissa - 2) +
                                      seed % (uint64_t)(2 * f->bias + f->mantissa + 6);
            const uint64_t bits = exponent << 52 | seed >> 12;
            double x;
            memcpy(&x, &bits, sizeof x);
            uint32_t low = 0, high = end_of_numbers(f);
            while (low < high) { /* the last number that is not above x */
                const uint32_t mid = (low + high + 1) / 2;
                if (decode(f, mid) <= x)
                    low = mid;
                else
                    high = mid - 1;
            }
            const double mid = (decode(f, low) + decode(f, low + 1)) / 2;
            uint32_t want = low + (x > mid || (x == mid && low % 2));
            if (want > end_of_numbers(f))
                want = end_of_numbers(f);
            expect(f, x, want);
        }
    }
}

static void large_integers_round_once(void **state)
{
    (void)state;
    /* halfway between two bf16, one more, one less */
    const int64_t tie = (INT64_C(1) << 62) + (INT64_C(1) << 54);
    assert_int_equal(tni_bf16_of_f64(tni_f64_odd_i64(tie)), 0x5e80);
    assert_int_equal(tni_bf16_of_f64(tni_f64_odd_i64(tie + 1)), 0x5e81);
    assert_int_equal(tni_bf16_of_f64(tni_f64_odd_i64(tie - 1)), 0x5e80);
    assert_int_equal(tni_bf16_of_f64(tni_f64_odd_i64(-tie - 1)), 0xde81);
    assert_int_equal(tni_bf16_of_f64(tni_f64_odd_u64(2 * (uint64_t)tie + 1)), 0x5f01);
    assert_int_equal(tni_bf16_of_f64(tni_f64_odd_u64(2 * (uint64_t)tie)), 0x5f00);
    assert_int_equal(tni_bf16_of_f64(tni_f64_odd_i64(INT64_MIN)), 0xdf00);
    assert_int_equal(tni_bf16_of_f64(tni_f64_odd_u64(UINT64_MAX)), 0x5f80);
    for (int p = 20; p < 63; p++) { /* the same from power to power */
        const int64_t half = (INT64_C(1) << p) + (INT64_C(1) << (p - 8));
        const int even = (127 + p) << 7;
        for (int64_t more = -1; more < 2; more++) {
            const int64_t i = half + more;
            const int want = even + (more > 0);
            assert_int_equal(tni_bf16_of_f64(tni_f64_odd_i64(i)), want);
            assert_int_equal(tni_bf16_of_f64(tni_f64_odd_i64(-i)), want | 0x8000);
            assert_int_equal(tni_bf16_of_f64(tni_f64_odd_u64((uint64_t)i)), want);
        }
    }
    assert_false(signbit(tni_f64_odd_i64(0)));
    for (int64_t i = -5000; i < 5000; i++) {
        assert_true(tni_f64_odd_i64(i) == (double)i);
        assert_true(tni_f64_odd_u64((uint64_t)(i + 5000)) == (double)(i + 5000));
    }
}

static void known_numbers(void **state)
{
    (void)state;
    assert_int_equal(tni_f16_of_f32(1.0f), 0x3c00);
    assert_int_equal(tni_f16_of_f32(65504.0f), 0x7bff);
    assert_int_equal(tni_f16_of_f32(65520.0f), 0x7c00);
    assert_int_equal(tni_f16_of_f32(0x1p-24f), 0x0001);
    assert_int_equal(tni_f16_of_f32(0x1p-25f), 0x0000);
    assert_int_equal(tni_bf16_of_f32(3.140625f), 0x4049);
    assert_int_equal(tni_f8e4m3_of_f32(448.0f), 0x7e);
    assert_int_equal(tni_f8e4m3_of_f32(464.0f), 0x7e);
    assert_int_equal(tni_f8e4m3_of_f32(465.0f), 0x7f);
    assert_int_equal(tni_f8e4m3_of_f32(-INFINITY), 0xff);
    assert_int_equal(tni_f8e5m2_of_f32(57344.0f), 0x7b);
    assert_int_equal(tni_f8e5m2_of_f32(61440.0f), 0x7c);
    assert_true(tni_f32_of_f8e4m3(0x01) == 0x1p-9f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_pattern_widens_exactly),
        cmocka_unit_test(every_boundary_rounds_to_nearest_even),
        cmocka_unit_test(far_too_large_overflows),
        cmocka_unit_test(nan_stays_nan_with_its_sign),
        cmocka_unit_test(random_doubles_round_once),
        cmocka_unit_test(large_integers_round_once),
        cmocka_unit_test(known_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
