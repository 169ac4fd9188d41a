/* test_cast.c - every pair of dtypes in every layout, and the narrow floats in full. */
#include "layout.h"
#include "ops_oracle.h"

#include "core/core.h"

/* Numbers near the edges of the other dtypes. */
static void put(tn_dtype t, char *p, rng *r)
{
    static const double edges[] = {0,      -0.0,       0.5,      -0.5,  1,         -1,    127,
                                   128,    -128.9,     255.5,    256,   32767.5,   65535, 65520,
                                   -32769, 2147483647, 4.3e9,    -3e9,  9.3e18,    -1e19, 2e19,
                                   448,    464,        1e-8,     61440, 3.4028e38, 1e39,  1e300,
                                   NAN,    INFINITY,   -INFINITY};
    uint64_t bits[2] = {next(r), next(r)};
    double d = edges[next(r) % (sizeof edges / sizeof *edges)];
    if (next(r) % 2)
        d = ldexp((double)(int64_t)next(r), (int)pick(r, -130, 60));
    float f = (float)d;
    memcpy(p, bits, tn_dtype_size(t));
    if (t == TN_F64 || t == TN_C128)
        memcpy(p, &d, sizeof d);
    if (t == TN_F32 || t == TN_C64)
        memcpy(p, &f, sizeof f);
}

static void check(rng *r, tn_dtype from, tn_dtype to, int ndim, const int64_t *shape,
                  bool wild_dst, bool wild_src)
{
    block dst = block_make(r, to, ndim, shape, wild_dst, false);
    block src = block_make(r, from, ndim, shape, wild_src, true);
    block twin = block_twin(&dst);
    int64_t at[TN_MAX_NDIM] = {0};
    const bool some = tn_numel(&dst.t) > 0;
    if (some)
        do {
            put(from, element(&src.t, at), r);
        } while (index_next(at, ndim, shape));
    OK(tn_cast(&dst.t, &src.t));
    if (some)
        do {
            const number x = number_at(from, element(&src.t, at));
            const number want = cast_number(to, x), got = number_at(to, element(&dst.t, at));
            const uint8_t byte = *(uint8_t *)element(&dst.t, at);
            if (!same_number(got, want) || (to == TN_BOOL && byte > 1))
                fail_msg(
                    "%s to %s: %.20Lg %.20Lg (%lld) gave %.20Lg (%lld), want %.20Lg (%lld)",
                    tn_dtype_name(from), tn_dtype_name(to), x.f, x.im, (long long)x.i, got.f,
                    (long long)got.i, want.f, (long long)want.i);
            memcpy(element(&twin.t, at), element(&dst.t, at), tn_dtype_size(to));
        } while (index_next(at, ndim, shape));
    assert_memory_equal(dst.bytes, twin.bytes, dst.size);
    block_free(&dst);
    block_free(&src);
    block_free(&twin);
}

static void every_pair(void **state)
{
    (void)state;
    rng r = {7};
    static const struct {
        int ndim;
        int64_t shape[4];
    } shapes[] = {{1, {1700}},       {2, {33, 70}}, {3, {5, 40, 6}},
                  {4, {3, 5, 4, 7}}, {0, {0}},      {2, {0, 4}}};
    for (int from = TN_BOOL; from < TNI_DTYPES; from++)
        for (int to = TN_BOOL; to < TNI_DTYPES; to++) {
            if (from == to && from != TN_BOOL)
                continue; /* a copy of bits */
            if (!oracle_knows((tn_dtype)from) || !oracle_knows((tn_dtype)to))
                continue;
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
                for (int wild = 0; wild < (TEST_WATCHED ? 4 : 8); wild++)
                    check(&r, (tn_dtype)from, (tn_dtype)to, shapes[i].ndim, shapes[i].shape,
                          wild & 1, wild & 2);
        }
}

/* All 65,536 f16 and bf16 there and back through f32, and to f64. */
static void halves(void **state)
{
    (void)state;
    static uint16_t bits[65536], back[65536];
    static float wide[65536];
    const int64_t n = 65536;
    for (int i = 0; i < 65536; i++)
        bits[i] = (uint16_t)i;
    for (int k = 0; k < 2; k++) {
        const tn_dtype t = k ? TN_BF16 : TN_F16;
        tn_tensor a, b, c;
        OK(tn_init(&a, bits, t, 1, &n));
        OK(tn_init(&b, wide, TN_F32, 1, &n));
        OK(tn_init(&c, back, t, 1, &n));
        OK(tn_cast(&b, &a));
        OK(tn_cast(&c, &b));
        for (int i = 0; i < 65536; i++) {
            const long double v = small_value(t, (unsigned)i, 16);
            assert_true(isnan(v) ? isnan(wide[i]) : wide[i] == v);
            assert_true(isnan(v) ? isnan(small_value(t, back[i], 16)) : back[i] == i);
        }
    }
}

/* Each f32 pattern in steps, at and beside the ties of every narrow float. */
static void ties(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    static double x[N];
    static float f[N];
    static uint16_t small[N];
    static const tn_dtype ts[] = {TN_F16, TN_BF16, TN_F8E4M3, TN_F8E5M2};
    const int64_t n = N;
    rng r = {3};
    for (int k = 0; k < 4; k++) {
        const float_format m = format_of(ts[k]);
        for (int i = 0; i < N; i++) {
            const int e = (int)pick(&r, m.low - m.mant - 2, m.high + 1);
            const double tie =
                ldexp((double)(2 * pick(&r, 0, 2 << m.mant) + 1), e - m.mant - 1);
            const double off[] = {0, ldexp(tie, -52), -ldexp(tie, -52), ldexp(tie, -24)};
            x[i] = tie + off[next(&r) % 4];
            f[i] = (float)x[i];
        }
        for (int single = 0; single < 2; single++) {
            tn_tensor a, b;
            OK(tn_init(&a, single ? (void *)f : (void *)x, single ? TN_F32 : TN_F64, 1, &n));
            OK(tn_init(&b, small, ts[k], 1, &n));
            OK(tn_cast(&b, &a));
            for (int i = 0; i < N; i++) {
                const size_t width = tn_dtype_size(ts[k]);
                const number got = number_at(ts[k], (char *)small + width * (size_t)i);
                const number want = of_float(rounded(ts[k], single ? (long double)f[i] : x[i]));
                if (!same_number(got, want))
                    fail_msg("%s of %.20g: %Lg, want %Lg", tn_dtype_name(ts[k]),
                             single ? (double)f[i] : x[i], got.f, want.f);
            }
        }
    }
}

/* The call that converts and the one that copies name each other. */
static void other_call(void **state)
{
    (void)state;
    float x[4] = {1, 2, 3, 4};
    int32_t y[4] = {0};
    const int64_t n = 4;
    tn_tensor a, b;
    OK(tn_init(&a, x, TN_F32, 1, &n));
    OK(tn_init(&b, y, TN_I32, 1, &n));
    assert_int_equal(tn_rearrange(&b, &a), TN_EDTYPE);
    assert_string_equal(tn_error(), "rearrange: src: dtype differs from dst, got f32, "
                                    "expected i32; tn_cast converts");
    OK(tn_cast(&b, &a));
    assert_int_equal(y[3], 4);
    assert_int_equal(tn_cast(&a, &a), TN_EOVERLAP);
    assert_string_equal(tn_error(), "cast: dst: shares bytes with src, and both are f32; "
                                    "tn_rearrange copies between equal dtypes, also from dst "
                                    "itself");
    OK(tn_rearrange(&a, &a));
    b.data = x;
    assert_int_equal(tn_cast(&b, &a), TN_EOVERLAP);
    assert_null(strstr(tn_error(), "tn_rearrange")); /* it would refuse the dtypes */
}

static void refused(void **state)
{
    (void)state;
    float x[4] = {0}, y[4] = {0};
    const int64_t n = 4, m = 3;
    tn_tensor a, b;
    OK(tn_init(&a, x, TN_F32, 1, &n));
    OK(tn_init(&b, x, TN_F32, 1, &n));
    assert_int_equal(tn_cast(&b, &a), TN_EOVERLAP); /* also the very same */
    b.dtype = TN_I32;
    assert_int_equal(tn_cast(&b, &a), TN_EOVERLAP);
    OK(tn_init(&b, y, TN_I32, 1, &m));
    assert_int_equal(tn_cast(&b, &a), TN_ESHAPE);
    assert_int_equal(tn_cast(NULL, &a), TN_ENULL);
    assert_int_equal(tn_cast(&b, NULL), TN_ENULL);
    b.dtype = (tn_dtype)0;
    assert_int_equal(tn_cast(&b, &a), TN_EDTYPE);
    tn_plan *plan;
    assert_int_equal(tn_plan_cast(NULL, &b, &a), TN_ENULL);
    OK(tn_init(&b, NULL, TN_I32, 1, &n));
    a.data = NULL;
    OK(tn_plan_cast(&plan, &b, &a));
    x[2] = 7.9f;
    int32_t z[4];
    OK(tn_plan_run(plan, z, (const void *const[]){x}));
    assert_int_equal(z[2], 7);
    tn_facts f;
    OK(tn_plan_facts(&f, plan));
    assert_string_equal(f.call, "cast");
    assert_string_equal(f.way, "dense");
    assert_true(f.dtype == TN_I32 && f.ndim == 1 && f.shape[0] == 4);
    tn_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair), cmocka_unit_test(halves),     cmocka_unit_test(ties),
        cmocka_unit_test(refused),    cmocka_unit_test(other_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
