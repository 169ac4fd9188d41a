/* test_ops_exhaustive.c - small dtypes in full: every f16, bf16 and f8 through every unary op,
 * every pair of 8-bit integers through every binary op. */
#include "layout.h"
#include "ops_rules.h"

enum { HALVES = 65536 };

static float magnitudes[32768]; /* of the narrow float in hand, by bits; NaN is above all */

static void list_magnitudes(tn_dtype t)
{
    const int width = 8 * (int)tn_dtype_size(t);
    for (unsigned b = 0; b < 1u << (width - 1); b++)
        magnitudes[b] = (float)small_value(t, b, width);
}

/* Bits of the narrow float that x rounds to: the neighbours of x by bisection, the nearer one
 * of them, the even one at a tie.  Past the largest number the next step would be 2^(high + 1),
 * or 480 for f8e4m3. */
static unsigned nearest_bits(tn_dtype t, float x)
{
    const int width = 8 * (int)tn_dtype_size(t);
    const unsigned sign = signbit(x) ? 1u << (width - 1) : 0, nan = (1u << (width - 1)) - 1;
    const double a = fabs((double)x);
    unsigned low = 0, high = nan;
    if (isnan(x))
        return nan;
    while (low < high) {
        const unsigned mid = (low + high) / 2;
        if ((double)magnitudes[mid] < a)
            low = mid + 1;
        else
            high = mid;
    }
    const double above = isfinite(magnitudes[low])
                             ? (double)magnitudes[low]
                             : (t == TN_F8E4M3 ? 480 : ldexp(1, format_of(t).high + 1));
    if (low == 0 || isinf(x) || (double)magnitudes[low] == a)
        return low | sign;
    const double below = (double)magnitudes[low - 1];
    const bool down = a - below < above - a || (a - below == above - a && !((low - 1) & 1));
    return (down ? low - 1 : low) | sign;
}

/* A half result is the f32 result of the same numbers, rounded once. */
static void unary_small_floats(void **state)
{
    (void)state;
    static const tn_dtype small[] = {TN_F16, TN_BF16, TN_F8E4M3, TN_F8E5M2};
    static uint16_t bits[HALVES], got[HALVES];
    static float wide[HALVES], exact[HALVES];
    int64_t n = HALVES;
    for (int k = 0; k < 4; k++) {
        const tn_dtype t = small[k];
        const int width = 8 * (int)tn_dtype_size(t);
        n = 1 << width;
        list_magnitudes(t);
        for (int i = 0; i < n; i++) {
            if (width == 8)
                ((uint8_t *)bits)[i] = (uint8_t)i;
            else
                bits[i] = (uint16_t)i;
            wide[i] = (float)small_value(t, (unsigned)i, width);
        }
        tn_tensor src, dst, wide_src, wide_dst;
        OK(tn_init(&src, bits, t, 1, &n));
        OK(tn_init(&wide_src, wide, TN_F32, 1, &n));
        for (int op = 0; op < op_count(); op++) {
            tn_dtype out;
            if (tn_op_arity((tn_op)op) != 1 || tn_op_result((tn_op)op, &t, 1, &out) != TN_OK)
                continue;
            OK(tn_init(&dst, got, out, 1, &n));
            OK(tn_init(&wide_dst, exact, out == t ? TN_F32 : out, 1, &n));
            OK(tn_unary((tn_op)op, &dst, &src));
            OK(tn_unary((tn_op)op, &wide_dst, &wide_src));
            for (int i = 0; i < n; i++) {
                if (out == TN_BOOL) {
                    assert_int_equal(((uint8_t *)got)[i], ((uint8_t *)exact)[i]);
                    continue;
                }
                const unsigned have = width == 8 ? ((uint8_t *)got)[i] : got[i];
                const unsigned want = nearest_bits(t, exact[i]);
                if (have != want &&
                    !(isnan(small_value(t, have, width)) && isnan(small_value(t, want, width))))
                    fail_msg("%s %s of %g (0x%x): 0x%x, want 0x%x (%g)", tn_op_name((tn_op)op),
                             tn_dtype_name(t), (double)wide[i], (unsigned)i, have, want,
                             (double)exact[i]);
            }
        }
    }
}

static void binary_bytes(void **state)
{
    (void)state;
    static uint8_t x[HALVES], y[HALVES], got[HALVES];
    const int64_t n = HALVES;
    for (int i = 0; i < HALVES; i++) {
        x[i] = (uint8_t)(i >> 8);
        y[i] = (uint8_t)i;
    }
    for (int op = 0; op < op_count(); op++)
        for (int s = 0; s < 2; s++) {
            const tn_dtype in[2] = {s ? TN_I8 : TN_U8, s ? TN_I8 : TN_U8};
            tn_dtype out;
            if (tn_op_arity((tn_op)op) != 2 || op == TN_FLOAT_POWER || !rules[op].ints)
                continue;
            OK(tn_op_result((tn_op)op, in, 2, &out));
            tn_tensor a, b, d;
            OK(tn_init(&a, x, in[0], 1, &n));
            OK(tn_init(&b, y, in[1], 1, &n));
            OK(tn_init(&d, got, out, 1, &n));
            OK(tn_binary((tn_op)op, &d, &a, &b));
            for (int i = 0; i < HALVES; i++) {
                const int128 v[2] = {number_at(in[0], x + i).i, number_at(in[1], y + i).i};
                const number want = wrapped(out, rules[op].ints(v, NULL, in[0]));
                if (number_at(out, got + i).i != want.i)
                    fail_msg("%s %s of %d and %d: %d, want %d", tn_op_name((tn_op)op),
                             tn_dtype_name(in[0]), (int)v[0], (int)v[1],
                             (int)number_at(out, got + i).i, (int)want.i);
            }
        }
}

/* Every f16 beside a few aims: one step towards it in the numbers of the dtype. */
static void next_numbers(void **state)
{
    (void)state;
    static const tn_dtype small[] = {TN_F16, TN_BF16, TN_F8E4M3, TN_F8E5M2};
    static uint16_t bits[HALVES], got[HALVES];
    for (int k = 0; k < 4; k++) {
        const tn_dtype t = small[k];
        const int width = 8 * (int)tn_dtype_size(t);
        const int64_t n = 1 << width, half = n / 2;
        for (int i = 0; i < n; i++) {
            if (width == 8)
                ((uint8_t *)bits)[i] = (uint8_t)i;
            else
                bits[i] = (uint16_t)i;
        }
        for (int64_t aim = 0; aim < n; aim += n / 16 + 1) {
            tn_tensor a, b, d;
            OK(tn_init(&a, bits, t, 1, &n));
            OK(tn_init(&b, (char *)bits + aim * width / 8, t, 0, NULL));
            OK(tn_init(&d, got, t, 1, &n));
            OK(tn_binary(TN_NEXTAFTER, &d, &a, &b));
            const long double y = small_value(t, (unsigned)aim, width);
            for (int64_t i = 0; i < n; i++) {
                const long double x = small_value(t, (unsigned)i, width);
                const unsigned have = width == 8 ? ((uint8_t *)got)[i] : got[i];
                const long double v = small_value(t, have, width);
                if (isnan(x) || isnan(y)) {
                    assert_true(isnan(v));
                } else if (x == y) {
                    assert_true(v == y);
                } else {
                    /* between x and v there is no other number, and v is on y's side */
                    assert_true(x < y ? v > x && v <= y : v < x && v >= y);
                    const int64_t from = i >= half ? half - i : i;
                    const int64_t to = have >= half ? half - have : have;
                    assert_int_equal(from - to, x < y ? -1 : 1);
                }
            }
        }
    }
}

static void next_f64(void **state)
{
    (void)state;
    const int64_t n = 6;
    double x[] = {0, -0.0, 1, -1, 1e308, 5e-324}, y[] = {1, -1, 2, 0, INFINITY, -1}, d[6];
    tn_tensor a, b, out;
    OK(tn_init(&a, x, TN_F64, 1, &n));
    OK(tn_init(&b, y, TN_F64, 1, &n));
    OK(tn_init(&out, d, TN_F64, 1, &n));
    OK(tn_binary(TN_NEXTAFTER, &out, &a, &b));
    for (int i = 0; i < 6; i++)
        assert_true(d[i] == nextafter(x[i], y[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary_small_floats),
        cmocka_unit_test(binary_bytes),
        cmocka_unit_test(next_numbers),
        cmocka_unit_test(next_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
