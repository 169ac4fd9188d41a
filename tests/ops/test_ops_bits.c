/* test_ops_bits.c - results do not depend on the level, the number of threads, the place in a
 * strip or the layout; and what plans say about their way. */
#include "layout.h"
#include "ops_rules.h"

#include "kernels/kernels.h"
#include "runtime/runtime.h"

/* The same bits, those of NaN too; loose allows neighbours. */
static void same_bits(const char *what, tn_op op, tn_dtype t, const char *a, const char *b,
                      int64_t n, long double loose)
{
    const size_t width = tn_dtype_size(t);
    for (int64_t i = 0; i < n; i++) {
        const char *x = a + (size_t)i * width, *y = b + (size_t)i * width;
        if (!memcmp(x, y, width))
            continue;
        const long double u = number_at(t, x).f, v = number_at(t, y).f;
        if (loose > 0 && !isnan(u) && !isnan(v) &&
            fabsl(u - v) <= loose * ulp(t, u) + loose * ulp(t, 1))
            continue;
        fail_msg("%s, %s %s at %d: %.20Lg and %.20Lg", what, tn_op_name(op), tn_dtype_name(t),
                 (int)i, u, v);
    }
}

/* A NaN that an op computes is the positive quiet one without payload; where copies. */
static void computed_nans(tn_op op, tn_dtype t, const char *a, int64_t n)
{
    if (op == TN_WHERE || !(is_float(t) || is_complex(t)))
        return;
    const size_t width = tn_dtype_size(t);
    const tn_dtype part = t == TN_C64 ? TN_F32 : t == TN_C128 ? TN_F64 : t;
    const size_t each = tn_dtype_size(part);
    static const uint64_t quiet[] = {
        [TN_F8E4M3] = 0x7f, [TN_F8E5M2] = 0x7e,     [TN_F16] = 0x7e00,
        [TN_BF16] = 0x7fc0, [TN_F32] = 0x7fc00000u, [TN_F64] = 0x7ff8000000000000u};
    for (size_t i = 0; i < (size_t)n * width; i += each) {
        uint64_t bits = 0;
        memcpy(&bits, a + i, each);
        if (isnan(number_at(part, a + i).f) && bits != quiet[part])
            fail_msg("%s %s: a NaN with bits %llx", tn_op_name(op), tn_dtype_name(t),
                     (unsigned long long)bits);
    }
}

/* Levels: arithmetic is the same to the bit, functions of floats are as close as their rule
 * says. */
static void levels(void **state)
{
    (void)state;
    enum { N = 999 };
    static char in[3][N * 16], out[2][N * 16];
    rng r = {5};
    for (int op = 0; op < op_count(); op++)
        for (int t = TN_BOOL; t < TNI_DTYPES; t++) {
            if (!tni_op_kernel(0, (tn_op)op, (tn_dtype)t))
                continue;
            const tn_dtype ts[3] = {(tn_dtype)t, (tn_dtype)t, (tn_dtype)t};
            tn_dtype gives = (tn_dtype)t;
            if (tn_op_result((tn_op)op, ts, tn_op_arity((tn_op)op), &gives) != TN_OK)
                continue;
            const size_t width = tn_dtype_size((tn_dtype)t);
            for (int k = 0; k < 3; k++)
                for (size_t i = 0; i < N * width; i++)
                    in[k][i] = t == TN_BOOL || (op == TN_WHERE && k == 0) ? (char)(next(&r) & 1)
                                                                          : (char)next(&r);
            for (int isa = 0; isa <= (int)tni_isa_level(); isa++) {
                tni_op_strip s = {.fn = tni_op_kernel(isa, (tn_op)op, (tn_dtype)t),
                                  .block = tni_op_block((tn_op)op, (tn_dtype)t),
                                  .nsrc = tn_op_arity((tn_op)op)};
                s.width[0] = (int8_t)tn_dtype_size(gives);
                for (int k = 1; k <= s.nsrc; k++)
                    s.width[k] = (int8_t)(op == TN_WHERE && k == 1 ? 1 : width);
                memcpy(s.params, tni_ops[op].defaults, sizeof s.params);
                const char *const from[3] = {in[0], in[1], in[2]};
                tni_op_run(&s, out[isa > 0], from, 0, N);
                const float tol = t == TN_F64 ? rules[op].ulp64 : rules[op].ulp32;
                const bool function = tni_ops[op].math && tni_is_float((tn_dtype)t);
                if (isa > 0)
                    same_bits("levels", (tn_op)op, gives, out[0], out[1], N,
                              function ? 2 * tol : 0);
                /* a tail, and a strip that begins elsewhere */
                tni_op_run(&s, out[1], from, 0, N / 2 + 3);
                const int64_t rest = N - (N / 2 + 3);
                const char *later[3];
                for (int k = 0; k < s.nsrc; k++)
                    later[k] = in[k] + (N / 2 + 3) * s.width[k + 1];
                tni_op_run(&s, out[1] + (N / 2 + 3) * s.width[0], later, 0, rest);
                if (isa == 0)
                    same_bits("places", (tn_op)op, gives, out[0], out[1], N, 0);
                /* streamed, to addresses that are no line's beginning */
                computed_nans((tn_op)op, gives, out[0], N);
                static _Alignas(64) char past[2][N * 16 + 192];
                for (int step = 1; step < 64; step += 21) {
                    char *to[2] = {past[0] + 64 + step / s.width[0] * s.width[0],
                                   past[1] + 64 + step};
                    for (int k = 0; k < 2; k++) {
                        memset(past[k], 0, sizeof past[k]);
                        tni_op_stream(&s, to[k], from, 0, N, TNI_AHEAD);
                        tni_op_run(&s, out[1], from, 0, N);
                        same_bits("streams", (tn_op)op, gives, out[1], to[k], N, 0);
                        assert_int_equal(to[k][-1], 0);
                        assert_int_equal(to[k][N * s.width[0]], 0);
                    }
                }
            }
        }
}

/* The sign of a zero that an activation gives: -0 where it comes from below. */
static const struct {
    tn_op op;
    double x;
} negative_zeros[] = {
    {TN_SILU, -INFINITY}, {TN_MISH, -INFINITY}, {TN_GELU, -INFINITY}, {TN_SILU, -0.0},
    {TN_MISH, -0.0},      {TN_GELU, -0.0},      {TN_ELU, -0.0},       {TN_SELU, -0.0},
};

static void zero_in(tn_op op, tn_dtype t, double x, const char *what)
{
    enum { N = 37 }; /* whole blocks of the kernels, and a tail */
    static const uint64_t minus[] = {
        [TN_F16] = 0x8000, [TN_BF16] = 0x8000, [TN_F32] = 0x80000000u, [TN_F64] = 1ull << 63};
    const int64_t n = N, width = (int64_t)tn_dtype_size(t);
    double wide[N];
    char in[N * 8], out[N * 8];
    tn_tensor w, a, d;
    for (int i = 0; i < N; i++)
        wide[i] = x;
    OK(tn_init(&w, wide, TN_F64, 1, &n));
    OK(tn_init(&a, in, t, 1, &n));
    OK(tn_init(&d, out, t, 1, &n));
    OK(tn_cast(&a, &w));
    OK(tn_unary(op, &d, &a));
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, out + i * width, (size_t)width);
        if (bits != minus[t])
            fail_msg("%s, %s %s of %g: bits %llx, expected -0", what, tn_op_name(op),
                     tn_dtype_name(t), x, (unsigned long long)bits);
    }
}

/* In every float dtype, through the calls and through the kernels of every level. */
static void zeros_from_below(void **state)
{
    (void)state;
    static const tn_dtype ts[] = {TN_F16, TN_BF16, TN_F32, TN_F64};
    for (size_t i = 0; i < COUNT(negative_zeros); i++) {
        const tn_op op = negative_zeros[i].op;
        const double x = negative_zeros[i].x;
        for (size_t t = 0; t < COUNT(ts); t++)
            zero_in(op, ts[t], x, "call");
        for (int isa = 0; isa <= (int)tni_isa_level(); isa++) {
            const float f = (float)x;
            float f32 = 1;
            double f64 = 1;
            tni_op_strip s = {.block = TNI_MATH_BLOCK, .nsrc = 1, .width = {4, 4}};
            memcpy(s.params, tni_ops[op].defaults, sizeof s.params);
            s.fn = tni_op_kernel(isa, op, TN_F32);
            tni_op_run(&s, (char *)&f32, (const char *[]){(const char *)&f}, 0, 1);
            s.width[0] = s.width[1] = 8;
            s.fn = tni_op_kernel(isa, op, TN_F64);
            tni_op_run(&s, (char *)&f64, (const char *[]){(const char *)&x}, 0, 1);
            if (f32 != 0 || !signbit(f32) || f64 != 0 || !signbit(f64))
                fail_msg("level %d: %s of %g: f32 %g, f64 %g, expected -0", isa, tn_op_name(op),
                         x, (double)f32, f64);
        }
    }
}

/* Threads: every count gives the bits of one thread, in any layout, small and large. */
static void threads(void **state)
{
    (void)state;
    rng r = {11};
    static const tn_dtype ts[] = {TN_F32, TN_F16, TN_F64, TN_U8};
    static const tn_op ops[] = {TN_ADD, TN_EXP, TN_LT, TN_FLOOR_DIVIDE};
    for (int c = 0; c < (TEST_WATCHED ? 8 : 32); c++) {
        const int64_t shape[3] = {pick(&r, 20, 60), pick(&r, 50, 99), pick(&r, 3, 200)};
        const tn_op op = ops[c % 4];
        const tn_dtype t = op == TN_EXP && c / 4 % 4 == 3 ? TN_BF16 : ts[c / 4 % 4];
        const tn_dtype in[2] = {t, t};
        tn_dtype out;
        OK(tn_op_result(op, in, tn_op_arity(op), &out));
        block a = block_make(&r, t, 3, shape, true, true),
              b = block_make(&r, t, 3, shape, true, true);
        block d = block_make(&r, out, 3, shape, c % 2, false), first = block_twin(&d);
        for (int n = 1; n <= 4; n++) {
            tn_handle *h;
            OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = n}));
            OK(tn_handle_use(h));
            block got = block_twin(&d);
            OK(tn_apply(op, NULL, &got.t, tn_op_arity(op),
                        (const tn_tensor *const[]){&a.t, &b.t}));
            if (n == 1)
                memcpy(first.bytes, got.bytes, got.size);
            assert_memory_equal(first.bytes, got.bytes, got.size);
            block_free(&got);
            tn_handle_destroy(h);
        }
        block_free(&a);
        block_free(&b);
        block_free(&d);
        block_free(&first);
    }
}

/* Sources of several dtypes meet, are converted in the tile, and round where they meet. */
static void mixed_dtypes(void **state)
{
    (void)state;
    rng r = {23};
    for (int round = 0; round < (TEST_WATCHED ? 300 : 3000); round++) {
        tn_dtype in[2] = {pick_dtype(&r), pick_dtype(&r)}, m, out;
        const tn_op op = round % 2 ? TN_ADD : TN_MUL;
        if (tn_op_result(op, in, 2, &out) != TN_OK || !oracle_knows(out) ||
            !oracle_knows(in[0]) || !oracle_knows(in[1]))
            continue;
        OK(tn_promote(&m, in[0], in[1]));
        assert_int_equal(m, out);
        const int64_t shape[2] = {pick(&r, 1, 20), pick(&r, 1, 150)};
        block a = block_make(&r, in[0], 2, shape, true, true),
              b = block_make(&r, in[1], 2, shape, true, true);
        block d = block_make(&r, out, 2, shape, true, false);
        OK(tn_binary(op, &d.t, &a.t, &b.t));
        int64_t at[2] = {0};
        do {
            const number x = cast_number(m, number_at(in[0], element(&a.t, at)));
            const number y = cast_number(m, number_at(in[1], element(&b.t, at)));
            const number got = number_at(out, element(&d.t, at));
            if (is_complex(m)) {
                const double re = (double)x.f + (double)y.f;
                if (op == TN_ADD && isfinite(re))
                    assert_true(same_number(of_float(got.f), of_float(rounded(m, re))));
                continue;
            }
            number want;
            if (is_float(m)) {
                const double v =
                    op == TN_ADD ? (double)x.f + (double)y.f : (double)x.f * (double)y.f;
                want = of_float(is_small(m) ? rounded(m, (float)v) : rounded(m, v));
            } else {
                const int128 v[2] = {x.i, y.i};
                want = wrapped(m, rules[op].ints(v, NULL, m));
            }
            if (!same_number(got, want))
                fail_msg("%s of %s %.20Lg (%lld) and %s %.20Lg (%lld): %.20Lg (%lld), want "
                         "%.20Lg (%lld)",
                         tn_op_name(op), tn_dtype_name(in[0]), x.f, (long long)x.i,
                         tn_dtype_name(in[1]), y.f, (long long)y.i, got.f, (long long)got.i,
                         want.f, (long long)want.i);
        } while (index_next(at, 2, shape));
        block_free(&a);
        block_free(&b);
        block_free(&d);
    }
}

static void explained(tn_op op, const tn_tensor *d, int n, const tn_tensor *const *srcs,
                      const char *strategy, const char *more, int64_t read)
{
    tn_plan *plan;
    tn_facts f;
    OK(tn_plan_op(&plan, op, NULL, d, n, srcs));
    OK(tn_plan_facts(&f, plan));
    bool found = !more;
    for (int i = 0; i < f.nmore && !found; i++)
        found = strstr(f.more[i].text, more) != NULL;
    if (strcmp(f.way, strategy) || !found || (read && f.read != read) ||
        f.written != tn_nbytes(d))
        fail_msg("%s, not %s; or nothing is \"%s\"; or %lld bytes are read", f.way, strategy,
                 more, (long long)f.read);
    tn_plan_free(plan);
}

static void ways(void **state)
{
    (void)state;
    const int64_t square[] = {500, 500}, row[] = {500}, column[] = {500, 1}, none[] = {0, 500};
    tn_tensor a, t, r, c, d, e, v, h, back;
    OK(tn_init(&a, NULL, TN_F32, 2, square));
    OK(tn_init(&d, NULL, TN_F32, 2, square));
    OK(tn_init(&h, NULL, TN_F16, 2, square));
    OK(tn_init(&r, NULL, TN_F32, 1, row));
    OK(tn_init(&c, NULL, TN_F32, 2, column));
    OK(tn_init(&v, NULL, TN_F32, 0, NULL));
    OK(tn_init(&e, NULL, TN_F32, 2, none));
    OK(tn_transpose(&t, &a, 0, 1));
    OK(tn_flip(&back, &a, 1));
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&a, &a}, "dense", "dense, in place", 0);
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&a, &r}, "dense", "dense, in place", 0);
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&a, &c}, "dense", "one value", 0);
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&v, &a}, "dense", "one value", 0);
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&a, &t}, "transposed tiles",
              "transposed in tiles", 0);
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&t, &t}, "transposed tiles",
              "transposed in tiles", 0);
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&a, &back}, "packed", "packed", 0);
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&a, &r}, "dense", NULL, 1002000);
    explained(TN_ADD, &d, 2, (const tn_tensor *[]){&v, &c}, "dense", NULL, 2004);
    explained(TN_ADD, &e, 2, (const tn_tensor *[]){&e, &e}, "nothing", NULL, 0);
    explained(TN_ADD, &h, 2, (const tn_tensor *[]){&h, &h}, "dense", "dense, in place", 0);
    explained(TN_EXP, &h, 1, (const tn_tensor *[]){&h}, "dense", "converted in 1 step", 0);
}

/* ---- strips of the user's own ---- */

typedef struct tally_user {
    int64_t strips, dense; /* called; with dense sources */
    uint32_t add;
} tally_user;

static void add_strip(void *user, int64_t n, void *dst, int64_t dst_step,
                      const void *const *src, const int64_t *src_step)
{
    tally_user *u = user;
    __atomic_add_fetch(&u->strips, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&u->dense, src_step[0] == 4 && src_step[1] == 4, __ATOMIC_RELAXED);
    for (int64_t i = 0; i < n; i++) {
        uint32_t x, y, z;
        memcpy(&x, (const char *)src[0] + i * src_step[0], 4);
        memcpy(&y, (const char *)src[1] + i * src_step[1], 4);
        z = x + y + u->add;
        memcpy((char *)dst + i * dst_step, &z, 4);
    }
}

static void fill_strip(void *user, int64_t n, void *dst, int64_t dst_step,
                       const void *const *src, const int64_t *src_step)
{
    (void)src, (void)src_step;
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)dst + i * dst_step, user, 2);
}

static void maps(void **state)
{
    (void)state;
    rng r = {31};
    for (int round = 0; round < (TEST_WATCHED ? 60 : 400); round++) {
        const int ndim = (int)pick(&r, 0, 4);
        int64_t shape[4];
        for (int i = 0; i < ndim; i++)
            shape[i] = pick(&r, 1, i == 1 ? 200 : 12);
        block a = block_make(&r, TN_U32, ndim, shape, true, true);
        block b = block_make(&r, TN_F32, ndim, shape, true, true);
        block d = block_make(&r, TN_I32, ndim, shape, true, false), twin = block_twin(&d);
        tally_user u = {0, 0, 17};
        OK(tn_map(add_strip, &u, &d.t, 2, (const tn_tensor *const[]){&a.t, &b.t}));
        assert_true(u.strips > 0);
        int64_t at[4] = {0};
        do {
            uint32_t x, y, z;
            memcpy(&x, element(&a.t, at), 4);
            memcpy(&y, element(&b.t, at), 4);
            z = x + y + 17;
            memcpy(element(&twin.t, at), &z, 4);
        } while (index_next(at, ndim, shape));
        assert_memory_equal(d.bytes, twin.bytes, d.size);
        block_free(&a);
        block_free(&b);
        block_free(&d);
        block_free(&twin);
    }
    /* what is dense along another axis comes transposed */
    static uint32_t x[150 * 140], y[140 * 150], z[140 * 150];
    for (uint32_t i = 0; i < 150 * 140; i++)
        x[i] = y[i] = i * i;
    tn_tensor a, b, t;
    OK(tn_init(&a, x, TN_U32, 2, (const int64_t[]){150, 140}));
    OK(tn_transpose(&a, &a, 0, 1));
    OK(tn_init(&b, y, TN_U32, 2, (const int64_t[]){140, 150}));
    OK(tn_init(&t, z, TN_U32, 2, (const int64_t[]){140, 150}));
    tally_user u = {0, 0, 1};
    OK(tn_map(add_strip, &u, &t, 2, (const tn_tensor *const[]){&a, &b}));
    assert_int_equal(u.strips, u.dense);
    for (uint32_t i = 0; i < 140; i++)
        for (uint32_t j = 0; j < 150; j++)
            assert_int_equal(z[i * 150 + j], x[j * 140 + i] + y[i * 150 + j] + 1);
    uint16_t seven = 7, out[6] = {0};
    const int64_t six = 6;
    tn_tensor d;
    OK(tn_init(&d, out, TN_U16, 1, &six));
    OK(tn_map(fill_strip, &seven, &d, 0, NULL));
    for (int i = 0; i < 6; i++)
        assert_int_equal(out[i], 7);
    const tn_tensor *many[9] = {&d, &d, &d, &d, &d, &d, &d, &d, &d};
    assert_int_equal(tn_map(fill_strip, &seven, &d, 9, many), TN_EARG);
    assert_int_equal(tn_map(fill_strip, &seven, &d, -1, many), TN_EARG);
    OK(tn_map(fill_strip, &seven, &d, 8, many)); /* each is exactly dst */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),  cmocka_unit_test(zeros_from_below),
        cmocka_unit_test(threads), cmocka_unit_test(mixed_dtypes),
        cmocka_unit_test(ways),    cmocka_unit_test(maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
