/* test_expr_reduce.c - reductions inside expressions: bit for bit tn_reduce of the value they
 * stand around, fused, as a plan, on any layout and by any number of threads. */
#include "layout.h"

enum { TENSORS = 3 };

static const char *const letters[] = {"p", "q", "s"};
static const char *const reductions[] = {"sum", "prod", "mean", "min", "max", "any", "all"};

/* Elementwise values; reductions are drawn around them. */
static const char *const values[] = {
    "p",     "p + q * s",     "(p - q)**2",       "abs(p) + s",         "f32(p) * 0.5",
    "p < q", "u8(p) + u8(s)", "c64(f32(p)) * 2j", "where(p < s, q, p)", "s * 0 + 1"};

/* What surrounds them: @ and # are reductions. */
static const char *const arounds[] = {"@",     "@ / 2",           "sqrt(f64(@) * f64(@)) + 1",
                                      "@ + #", "(@ + #) * # - @", "i64(1 < 2) + i32(# + @)"};

static void bytes_equal(const tn_tensor *a, const tn_tensor *b, const char *text)
{
    int64_t at[TN_MAX_NDIM] = {0};
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(tn_numel(a), tn_numel(b));
    if (tn_numel(a) == 0)
        return;
    do {
        if (memcmp(element(a, at), element(b, at), tn_dtype_size(a->dtype)))
            fail_msg("%s differs at %d %d", text, (int)at[0], (int)at[1]);
    } while (index_next(at, a->ndim, a->shape));
}

/* The value of a text, reduced step by step; false: the dtype is not taken. */
static bool step_by_step(tn_tensor *out, const char *value, const char *reduction,
                         const tn_tensor *const *srcs, int naxes, const int *axes)
{
    tn_tensor whole;
    tn_reduction op;
    OK(tn_reduction_parse(&op, reduction));
    if (tn_eval_copy(&whole, value, TENSORS, letters, srcs) != TN_OK)
        return false;
    const bool order = op == TN_REDUCE_MIN || op == TN_REDUCE_MAX;
    const bool taken = !(order && whole.dtype == TN_BOOL) &&
                       tn_reduce_copy(out, op, NULL, &whole, naxes, axes, false) == TN_OK;
    tn_free(&whole);
    return taken;
}

static void fill_in(char *text, const char *form, const char *a, const char *b)
{
    for (; *form; form++)
        if (*form == '@' || *form == '#')
            text += sprintf(text, "%s", *form == '@' ? a : b);
        else
            *text++ = *form;
    *text = 0;
}

static void draw_axes(rng *r, int ndim, int *naxes, int *axes, char *text)
{
    *naxes = TN_ALL_AXES;
    *text = 0;
    if (ndim == 0 || pick(r, 0, 3) == 0)
        return;
    *naxes = 0;
    text += sprintf(text, ", axis=(");
    for (int i = 0; i < ndim; i++)
        if (pick(r, 0, 1) || (i == ndim - 1 && *naxes == 0)) {
            axes[(*naxes)++] = i;
            text += sprintf(text, "%d,", pick(r, 0, 1) ? i : i - ndim);
        }
    sprintf(text, ")");
}

static void check_text(rng *r, const char *text, const tn_tensor *want,
                       const tn_tensor *const *srcs)
{
    block got = block_make(r, want->dtype, want->ndim, want->shape, true, false);
    for (int threads = 1; threads <= 3; threads += 2) {
        tn_handle *handle;
        tn_expr *e;
        tn_plan *plan;
        OK(tn_handle_create(&handle, TN_CPU, 0, &(tn_config){.threads = threads}));
        OK(tn_handle_use(handle));
        if (tn_eval(&got.t, text, TENSORS, letters, srcs) != TN_OK)
            fail_msg("%s: %s", text, tn_error());
        bytes_equal(&got.t, want, text);
        OK(tn_expr_parse(&e, text));
        const tn_tensor *used[TENSORS];
        const void *data[TENSORS];
        for (int k = 0; k < tn_expr_count(e); k++) {
            used[k] = srcs[tn_expr_name(e, k)[0] == 'p' ? 0
                                                        : tn_expr_name(e, k)[0] - 'q' + 1 -
                                                              (tn_expr_name(e, k)[0] == 's')];
            data[k] = used[k]->data;
        }
        memset(got.bytes, 0x5a, (size_t)got.size);
        OK(tn_plan_expr(&plan, e, &got.t, tn_expr_count(e), used));
        tn_expr_free(e);
        OK(tn_plan_run(plan, got.t.data, data));
        tn_plan_free(plan);
        bytes_equal(&got.t, want, text);
        tn_handle_destroy(handle);
    }
    block_free(&got);
}

static void one_round(rng *r, int ndim, const int64_t *shape)
{
    block s[TENSORS];
    const tn_tensor *srcs[TENSORS];
    int naxes, axes[8];
    char axis[64], value[2][64], a[2][160], text[2048];
    tn_tensor part[2], want;
    for (int k = 0; k < TENSORS; k++) {
        s[k] = block_make(r, pick_dtype(r), ndim, shape, true, true);
        srcs[k] = &s[k].t;
    }
    draw_axes(r, ndim, &naxes, axes, axis);
    int have = 0;
    for (int tries = 0; tries < 20 && have < 2; tries++) {
        const char *name = reductions[pick(r, 0, 6)];
        /* every name occurs, so that each argument has the common shape */
        strcpy(value[have], values[pick(r, 0, 9)]);
        if (!step_by_step(&part[have], value[have], name, srcs, naxes, axes))
            continue;
        snprintf(a[have], sizeof a[have], "%s(%s%s)", name, value[have], axis);
        have++;
    }
    static const char *const results[] = {"a", "b"};
    const tn_tensor *parts[] = {&part[0], &part[1]};
    const char *form = arounds[pick(r, 0, 5)];
    fill_in(text, form, "a", "b");
    if (have == 2 && tn_eval_copy(&want, text, 2, results, parts) == TN_OK) {
        fill_in(text, form, a[0], a[1]);
        check_text(r, text, &want, srcs);
        tn_free(&want);
    }
    for (int k = 0; k < have; k++)
        tn_free(&part[k]);
    for (int k = 0; k < TENSORS; k++)
        block_free(&s[k]);
}

static void random_texts(void **state)
{
    (void)state;
    rng r = {191};
    for (int round = 0; round < (TEST_WATCHED ? 150 : 1200); round++) {
        const int ndim = (int)pick(&r, 0, 4);
        int64_t shape[4];
        const int longest = (int)pick(&r, 0, 3);
        for (int k = 0; k < ndim; k++)
            shape[k] = pick(&r, pick(&r, 0, 9) ? 1 : 0, k == longest ? 150 : 7);
        one_round(&r, ndim, shape);
    }
}

/* Sequences of many blocks, and many sequences side by side. */
static void long_texts(void **state)
{
    (void)state;
    rng r = {192};
    static const int64_t shapes[][2] = {{70001, 3},  {5, 40009},  {4099, 33},
                                        {2048, 257}, {200000, 1}, {9000, 16}};
    for (int round = 0; round < (TEST_WATCHED ? 6 : 36); round++)
        one_round(&r, 2, shapes[round % 6]);
}

/* dst may be larger than the value. */
static void repeated_results(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, d[24];
    tn_tensor t, out;
    const tn_tensor *srcs[] = {&t};
    OK(tn_init(&t, x, TN_F32, 2, (const int64_t[]){2, 3}));
    OK(tn_init(&out, d, TN_F32, 3, (const int64_t[]){2, 4, 3}));
    OK(tn_eval(&out, "sum(p, axis=0) + 1", 1, letters, srcs));
    for (int i = 0; i < 24; i++)
        assert_true(d[i] == x[i % 3] + x[i % 3 + 3] + 1);
    OK(tn_eval(&out, "max(p)", 1, letters, srcs));
    for (int i = 0; i < 24; i++)
        assert_true(d[i] == 6);
    out.stride[0] = 0; /* an element of dst twice */
    assert_int_equal(tn_eval(&out, "max(p)", 1, letters, srcs), TN_ESTRIDE);
}

static void refused(void **state)
{
    (void)state;
    float x[6] = {0}, d[6];
    tn_tensor t, u, none, out;
    OK(tn_init(&t, x, TN_F32, 2, (const int64_t[]){2, 3}));
    OK(tn_init(&u, x, TN_F32, 1, (const int64_t[]){3}));
    OK(tn_init(&none, x, TN_F32, 2, (const int64_t[]){0, 3}));
    OK(tn_init(&out, d, TN_F32, 0, NULL));
    const tn_tensor *srcs[] = {&t, &u, &none};
    static const struct {
        const char *text;
        tn_status status;
        int column;
    } of[] = {
        {"p / sum(p)", TN_EUNSUPPORTED, 3},
        {"1 + sum(max(p))", TN_EUNSUPPORTED, 9},
        {"sum(p) + sum(p, axis=0)", TN_EUNSUPPORTED, 10},
        {"sum(p) * 2 + sum(q)", TN_EUNSUPPORTED, 14},
        {"sum(p, axis=2)", TN_EARG, 1},
        {"sum(p, axis=0) + sum(p, axis=64)", TN_EUNSUPPORTED, 18},
        {"sum(p, axis=2) + sum(p, axis=-3)", TN_EARG, 1},
        {"sum(p) + sum(p, axis=(0, 1, 1))", TN_EUNSUPPORTED, 10},
        {"sum(p, axis=(0, 0)) + sum(p, axis=(0, 0))", TN_EARG, 1},
        {"sum(p, axis=(0, -2))", TN_EARG, 1},
        {"2 * max(p < 1)", TN_EDTYPE, 5},
        {"sum(1)", TN_EUNSUPPORTED, 1},
        {"max(s)", TN_ESHAPE, 1},
        {"sum(p, axis=0)", TN_ESHAPE, 0},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const tn_status got = tn_eval(&out, of[i].text, 3, letters, srcs);
        if (got != of[i].status || tn_error_column() != of[i].column)
            fail_msg("%s: %d, column %d: %s", of[i].text, (int)got, tn_error_column(),
                     tn_error());
    }
    /* a limit is reported with its number; blanks before = are those of the grammar */
    char around[800] = "sum(p)", many[800] = "0";
    for (int i = 0; i < 65; i++)
        snprintf(around + strlen(around), 16, " * 2 - %d", i);
    assert_int_equal(tn_eval(&out, around, 3, letters, srcs), TN_EUNSUPPORTED);
    assert_string_equal(tn_error(), "eval: the text has more than 64 steps around reductions");
    for (int i = 0; i < 17; i++)
        snprintf(many + strlen(many), 24, " + sum(p - %d)", i + 3);
    assert_int_equal(tn_eval(&out, many, 3, letters, srcs), TN_EUNSUPPORTED);
    assert_non_null(strstr(tn_error(), "eval: more than 16 reductions at column "));
    OK(tn_eval(&out, "sum(p,\taxis\t=\r\n(0, 1))", 3, letters, srcs));
    OK(tn_eval(&out, "sum(p) + sum(p, axis=(1, -2)) + sum(p, axis=(0, -1))", 3, letters, srcs));
    OK(tn_eval(&out, "sum(s) + 3", 3, letters, srcs));
    assert_true(d[0] == 3);
    tn_tensor over = out;
    over.data = &x[5]; /* every shared byte */
    assert_int_equal(tn_eval(&over, "sum(p)", 3, letters, srcs), TN_EOVERLAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(repeated_results),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
