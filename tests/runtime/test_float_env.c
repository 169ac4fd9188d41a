/* test_float_env.c - the caller's floating-point control is the caller's: loading the library
 * and every kind of call leave it alone, and copies and integers do not depend on it. */
#include "reduce_calls.h"

#include <dlfcn.h>
#include <fenv.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/kernels.h"

enum { N = 1003, MODES = 6 };

/* Rounding, and where there is such a thing, flushing of small numbers and masks; no flags. */
typedef struct control {
    int rounding;
    unsigned word, x87; /* word: MXCSR or FPCR */
} control;

static control control_now(void)
{
    control c = {.rounding = fegetround()};
#if defined(__SSE2__)
    c.word = _mm_getcsr() & ~0x3fu;
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    c.x87 = word;
#elif defined(__aarch64__)
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    c.word = (unsigned)word;
#endif
    return c;
}

/* Four ways to round; small numbers read as zero or written as zero; both. */
static const char *set_mode(int mode)
{
    static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const char *const names[MODES] = {"nearest", "up",      "down",
                                             "to zero", "flushed", "flushed, to zero"};
    fesetround(roundings[mode < 4 ? mode : mode == 5 ? 3 : 0]);
#if defined(__SSE2__)
    _mm_setcsr((_mm_getcsr() & ~0x8040u) | (mode >= 4 ? 0x8040u : 0));
#elif defined(__aarch64__)
    const uint64_t flush = 1u << 24;
    const uint64_t word = (control_now().word & ~flush) | (mode >= 4 ? flush : 0);
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
#endif
    return names[mode];
}

static void same_control(const char *what, control before)
{
    const control now = control_now();
    if (now.rounding != before.rounding || now.word != before.word || now.x87 != before.x87)
        fail_msg("%s changes the control: %d %x %x", what, now.rounding, now.word, now.x87);
}

static void loading(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        set_mode(mode);
        const control before = control_now();
        void *lib = dlopen(TEST_BINARY_DIR "/libtenon.so", RTLD_NOW | RTLD_LOCAL);
        const control loaded = control_now();
        set_mode(0);
        if (!lib)
            fail_msg("%s", dlerror());
        assert_int_equal(loaded.rounding, before.rounding);
        assert_int_equal(loaded.word, before.word);
        assert_int_equal(loaded.x87, before.x87);
        dlclose(lib);
    }
}

/* ---- every op and cast ---- */

static char in[3][16 * N], got[16 * N], want[16 * N];

static bool whole(int t)
{
    return tni_kind_of((tn_dtype)t) <= TNI_UNSIGNED;
}

static tn_status run_op(tn_op op, tn_dtype t, tn_dtype out, void *d)
{
    const int64_t n = N;
    tn_tensor dst, a[3];
    tn_status status = tn_init(&dst, d, out, 1, &n);
    for (int k = 0; k < 3 && status == TN_OK; k++)
        status = tn_init(&a[k], in[k], t, 1, &n);
    return status == TN_OK ? tn_apply(op, NULL, &dst, tn_op_arity(op),
                                      (const tn_tensor *const[]){&a[0], &a[1], &a[2]})
                           : status;
}

static void ops(void **state)
{
    (void)state;
    for (int op = 0; op < TNI_OPS; op++)
        for (int t = TN_BOOL; t < TNI_DTYPES; t++) {
            const tn_dtype ts[3] = {(tn_dtype)t, (tn_dtype)t, (tn_dtype)t};
            tn_dtype out;
            if (tn_op_result((tn_op)op, ts, tn_op_arity((tn_op)op), &out) != TN_OK)
                continue;
            OK(run_op((tn_op)op, (tn_dtype)t, out, want));
            for (int mode = 0; mode < MODES; mode++) {
                const char *name = set_mode(mode);
                const control before = control_now();
                const tn_status status = run_op((tn_op)op, (tn_dtype)t, out, got);
                const control after = control_now();
                set_mode(0);
                OK(status);
                if (memcmp(&after, &before, sizeof after))
                    fail_msg("%s %s changes the control", tn_op_name((tn_op)op),
                             tn_dtype_name((tn_dtype)t));
                if (whole(t) && whole((int)out) && memcmp(got, want, N * tn_dtype_size(out)))
                    fail_msg("%s %s: other integers, rounding %s", tn_op_name((tn_op)op),
                             tn_dtype_name((tn_dtype)t), name);
            }
        }
}

static tn_status run_cast(tn_dtype from, tn_dtype to, void *d)
{
    const int64_t n = N;
    tn_tensor a, b;
    tn_status status = tn_init(&a, in[0], from, 1, &n);
    if (status == TN_OK)
        status = tn_init(&b, d, to, 1, &n);
    return status == TN_OK ? tn_cast(&b, &a) : status;
}

/* To integers no result depends on the mode, from floats neither, but that flushed numbers are
 * no longer "not zero". */
static void casts(void **state)
{
    (void)state;
    for (int from = TN_BOOL; from < TNI_DTYPES; from++)
        for (int to = TN_BOOL; to < TNI_DTYPES; to++) {
            OK(run_cast((tn_dtype)from, (tn_dtype)to, want));
            for (int mode = 0; mode < MODES; mode++) {
                const char *name = set_mode(mode);
                const control before = control_now();
                const tn_status status = run_cast((tn_dtype)from, (tn_dtype)to, got);
                const control after = control_now();
                set_mode(0);
                OK(status);
                if (memcmp(&after, &before, sizeof after))
                    fail_msg("a cast changes the control");
                if ((from == to || (whole(to) && (whole(from) || to != TN_BOOL))) &&
                    memcmp(got, want, N * tn_dtype_size((tn_dtype)to)))
                    fail_msg("%s to %s: other numbers, rounding %s",
                             tn_dtype_name((tn_dtype)from), tn_dtype_name((tn_dtype)to), name);
            }
        }
}

/* ---- what moves elements ---- */

static tn_status move_all(const tn_tensor *src, char *d)
{
    const int64_t n = src->shape[0], m = src->shape[1], transposed[2] = {m, n};
    const int64_t twice[2] = {2 * n, m}, wide[2] = {n + 2, m + 4};
    const int64_t side[2] = {1, 2};
    const tn_dtype t = src->dtype;
    tn_tensor a, v;
    tn_status s = tn_transpose(&v, src, 0, 1);
    s = s ? s : tn_init(&a, d, t, 2, transposed);
    s = s ? s : tn_rearrange(&a, &v);
    d += tn_nbytes(&a);
    s = s ? s : tn_init(&a, d, t, 2, twice);
    s = s ? s : tn_concat(&a, 0, 2, (const tn_tensor *const[]){src, src});
    d += tn_nbytes(&a);
    s = s ? s : tn_init(&a, d, t, 2, wide);
    s = s ? s : tn_pad_into(&a, src, side, side, TN_PAD_SYMMETRIC, NULL);
    d += tn_nbytes(&a);
    s = s ? s : tn_init(&a, d, t, 2, transposed);
    s = s ? s : tn_pattern_into(&a, src, "a b -> b a", NULL);
    d += tn_nbytes(&a);
    s = s ? s : tn_init(&a, d, t, 2, src->shape);
    s = s ? s : tn_roll(&a, src, 1, 3);
    d += tn_nbytes(&a);
    s = s ? s : tn_init(&a, d, t, 2, src->shape);
    s = s ? s : tn_fill(&a, src->data);
    return s;
}

static void moves(void **state)
{
    (void)state;
    enum { TALL = 37, WIDE = 41, ROOM = 16 * 8 * (TALL + 2) * (WIDE + 4) };
    static char bytes[16 * TALL * WIDE], first[ROOM], now[ROOM];
    rng r = {5};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = next(&r) % 3 ? 0 : (char)next(&r); /* many small floats */
    for (int t = TN_BOOL; t < TNI_DTYPES; t++) {
        tn_tensor src;
        OK(tn_init(&src, bytes, (tn_dtype)t, 2, (int64_t[]){TALL, WIDE}));
        OK(move_all(&src, first));
        for (int mode = 0; mode < MODES; mode++) {
            const char *name = set_mode(mode);
            const control before = control_now();
            const tn_status status = move_all(&src, now);
            const control after = control_now();
            set_mode(0);
            OK(status);
            assert_memory_equal(&after, &before, sizeof after);
            if (memcmp(now, first, sizeof now))
                fail_msg("copies of %s differ, rounding %s", tn_dtype_name((tn_dtype)t), name);
        }
    }
}

/* ---- numbers that are made, text, the machine ---- */

enum { MADE = 7 * N };

/* What is made is put into d, what is said into text. */
static tn_status make_all(int32_t *d, char *text, size_t room)
{
    static float noise[N];
    const int64_t n = N, twice[2] = {2, N}, all = 2 * N, steps[1] = {-1};
    tn_tensor random, line, t;
    tn_plan *plan = NULL;
    tn_handle *h = NULL;
    tn_status s = tn_init(&random, d, TN_I32, 1, &n);
    s = s ? s : tn_randint(&random, 7, -5, 1000000);
    s = s ? s : tn_print(&random, text, room);
    s = s ? s : tn_init(&line, d + N, TN_I32, 1, &n);
    s = s ? s : tn_arange(&line, -3, 7);
    s = s ? s : tn_init(&t, d + 2 * N, TN_I32, 1, &all);
    s = s ? s : tn_repeat(&t, &line, 0, 2);
    s = s ? s : tn_init(&t, d + 4 * N, TN_I32, 2, twice);
    s = s ? s : tn_stack(&t, 0, 2, (const tn_tensor *const[]){&line, &random});
    s = s ? s : tn_init(&t, d + 6 * N, TN_I32, 1, &n);
    s = s ? s : tn_slice_text(&line, &line, "[::-1]");
    s = s ? s : tn_plan_rearrange(&plan, &t, &line);
    s = s ? s : tn_plan_run(plan, t.data, (const void *const[]){line.data});
    tn_plan_free(plan);
    s = s ? s : tn_init(&t, noise, TN_F32, 1, &n);
    s = s ? s : tn_randn(&t, 3);
    s = s ? s : tn_reshape(&t, &t, 1, steps);
    s = s ? s : tn_contiguous(&t, &t);
    if (s == TN_OK)
        tn_free(&t);
    s = s ? s : tn_handle_create(&h, TN_CPU, 0, NULL);
    tn_handle_destroy(h);
    return s;
}

static void other_calls(void **state)
{
    (void)state;
    static int32_t first[MADE], now[MADE];
    char text[300], again[300];
    OK(make_all(first, text, sizeof text));
    for (int mode = 0; mode < MODES; mode++) {
        memset(now, 0, sizeof now);
        set_mode(mode);
        const control before = control_now();
        const tn_status s = make_all(now, again, sizeof again);
        same_control("what is made, said or planned", before);
        set_mode(0);
        OK(s);
        assert_memory_equal(first, now, sizeof first);
        assert_string_equal(text, again);
    }
}

/* ---- reductions, scans, rows, indexing ---- */

static void reductions(void **state)
{
    (void)state;
    static void (*const groups[])(work *) = {reduce_all, rows_all, index_all, order_all,
                                             made_all};
    static const char *const names[] = {"a reduction", "a row function", "indexing", "order",
                                        "a copy or plan"};
    work *w = work_make();
    for (int mode = 0; mode < MODES; mode++)
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
            set_mode(mode);
            const control before = control_now();
            groups[i](w);
            const control after = control_now();
            set_mode(0);
            OK(w->status);
            if (memcmp(&after, &before, sizeof after))
                fail_msg("%s changes the control", names[i]);
        }
    free(w);
}

/* Reductions, scans, order and puts of integers, one digest of the results. */
static uint64_t whole_digest(tn_dtype t)
{
    static char memory[8 * N];
    const int64_t n = N;
    uint64_t digest = 1;
    tn_tensor src, dst, index;
    tn_status s = tn_init(&src, in[0], t, 1, &n);
    s = s ? s : tn_init(&dst, memory, t, 1, &n);
    s = s ? s : tn_init(&index, in[1], TN_U8, 1, &n); /* below N */
    for (int op = 0; op < TNI_REDUCTIONS; op++) {
        tn_dtype out;
        tn_tensor one;
        if (tn_reduction_result((tn_reduction)op, t, &out) != TN_OK || !whole((int)out))
            continue;
        s = s ? s : tn_init(&one, memory, out, 0, NULL);
        s = s ? s : tn_reduce((tn_reduction)op, NULL, &one, &src, TN_ALL_AXES, NULL);
        digest = add_bytes(digest, &one);
    }
    for (int op = TN_SCAN_MAX; op <= TN_SCAN_MIN; op++) {
        s = s ? s : tn_scan((tn_scan_op)op, &dst, &src, 0);
        digest = add_bytes(digest, &dst);
    }
    s = s ? s : tn_sort(&dst, NULL, &src, 0, 0);
    s = s ? s : tn_put(t == TN_BOOL ? TN_PUT_SET : TN_PUT_ADD, &dst, 0, &index, &src);
    digest = add_bytes(digest, &dst);
    return s ? 0 : digest;
}

static void integers(void **state)
{
    (void)state;
    for (int t = TN_BOOL; t <= TN_U64; t++) {
        const uint64_t want = whole_digest((tn_dtype)t);
        assert_true(want != 0);
        for (int mode = 0; mode < MODES; mode++) {
            const char *name = set_mode(mode);
            const uint64_t got = whole_digest((tn_dtype)t);
            set_mode(0);
            if (got != want)
                fail_msg("reductions of %s differ, rounding %s", tn_dtype_name((tn_dtype)t),
                         name);
        }
    }
}

static int draw(void **state)
{
    (void)state;
    rng r = {3};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof in[k]; i++)
            in[k][i] = next(&r) % 4 ? (char)next(&r) : 0;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading),  cmocka_unit_test(ops),         cmocka_unit_test(casts),
        cmocka_unit_test(moves),    cmocka_unit_test(other_calls), cmocka_unit_test(reductions),
        cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, draw, NULL);
}
