/* test_ops.c - every op on every dtype in every layout, beside the slow oracle.
 *
 * One test walks over the rows: an op that is added is tested by its row in ops_rules.h. */
#include "layout.h"
#include "ops_want.h"

#include "core/core.h"

/* ---- what an op takes ---- */

static bool takes(tn_op op, tn_dtype t)
{
    const op_rule *r = &rules[op];
    const bool compares = op >= TN_EQ && op <= TN_SIGNBIT;
    const bool bits = op >= TN_BIT_AND && op <= TN_BIT_NOT;
    if (truth_op(op) || op == TN_WHERE)
        return true;
    if (op == TN_NEXTAFTER)
        return is_float(t);
    if (t == TN_BOOL)
        return compares || bits || op == TN_DIV;
    if (is_complex(t))
        return r->complexes;
    return is_float(t) ? r->floats != NULL : r->ints != NULL || op == TN_DIV;
}

static tn_dtype gives(tn_op op, tn_dtype t)
{
    if (op >= TN_EQ && op <= TN_LOGICAL_NOT)
        return TN_BOOL;
    if (op == TN_ABS && is_complex(t))
        return t == TN_C64 ? TN_F32 : TN_F64;
    return op == TN_FLOAT_POWER ? TN_F64 : computed_in(op, t);
}

/* ---- layouts ---- */

typedef enum form {
    DENSE,
    GAPS,   /* every second element, rows apart */
    TURNED, /* the first axis is the fast one */
    BACK,   /* all axes reversed */
    ROW,    /* one row, repeated */
    COLUMN,
    VALUE, /* 0-d */
    WILD,
    SAME /* dst itself */
} form;

static const struct {
    const char *name;
    int ndim;
    int64_t shape[4];
    form dst, src[3];
} cases[] = {
    /* clang-format off */
    {"contiguous",      2, {9, 71},       DENSE,  {DENSE, DENSE, DENSE}},
    {"strided",         2, {5, 131},      GAPS,   {GAPS, DENSE, GAPS}},
    {"row and column",  2, {7, 101},      DENSE,  {ROW, COLUMN, DENSE}},
    {"column and row",  2, {70, 11},      DENSE,  {COLUMN, ROW, VALUE}},
    {"value beside",    2, {3, 200},      DENSE,  {DENSE, VALUE, ROW}},
    {"transposed",      2, {37, 130},     DENSE,  {DENSE, TURNED, TURNED}},
    {"dst transposed",  2, {131, 18},     TURNED, {DENSE, DENSE, TURNED}},
    {"reversed",        2, {4, 99},       DENSE,  {BACK, DENSE, BACK}},
    {"dst reversed",    2, {4, 99},       BACK,   {BACK, TURNED, DENSE}},
    {"in place",        2, {6, 121},      DENSE,  {SAME, DENSE, ROW}},
    {"in place, gaps",  3, {3, 4, 50},    GAPS,   {DENSE, SAME, TURNED}},
    {"long rows",       2, {2, 1061},     DENSE,  {DENSE, ROW, COLUMN}},
    {"four axes",       4, {5, 3, 7, 4},  WILD,   {WILD, WILD, WILD}},
    {"small inside",    3, {90, 2, 3},    TURNED, {DENSE, COLUMN, WILD}},
    {"empty",           3, {3, 0, 5},     DENSE,  {DENSE, GAPS, ROW}},
    {"one element",     0, {0},           DENSE,  {DENSE, VALUE, DENSE}},
    {"one in three",    3, {1, 1, 1},     GAPS,   {DENSE, VALUE, TURNED}},
    /* clang-format on */
};

static block lay_out(rng *r, form f, tn_dtype t, int ndim, const int64_t *shape, bool source)
{
    int64_t own[4], stride[4], step = (int64_t)tn_dtype_size(t);
    if (f == WILD || ndim == 0 || f == VALUE)
        return block_make(r, t, f == VALUE ? 0 : ndim, shape, f == WILD, source);
    for (int i = 0; i < ndim; i++)
        own[i] = (f == ROW && i < ndim - 1) || (f == COLUMN && i == ndim - 1) ? 1 : shape[i];
    for (int i = 0; i < ndim; i++) {
        const int a = f == TURNED ? i : ndim - 1 - i;
        if (f == GAPS)
            step = i == 0 ? 2 * step : step + 3;
        stride[a] = f == BACK ? -step : step;
        step *= own[a] > 0 ? own[a] : 1;
    }
    block b = block_make(r, t, ndim, own, false, source);
    block_free(&b);
    int64_t low = 0, high = 0;
    OK(tn_init_strided(&b.t, NULL, t, ndim, own, stride));
    OK(tn_extent(&b.t, &low, &high));
    b.size = (size_t)(high - low);
    b.bytes = malloc(b.size ? b.size : 1);
    memset(b.bytes, 0x5a, b.size);
    b.t.data = b.bytes - low;
    return b;
}

static void draw(rng *r, const block *b, const op_rule *rule)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(&b->t) == 0)
        return;
    do {
        put(b->t.dtype, element(&b->t, at), r, rule);
    } while (index_next(at, b->t.ndim, b->t.shape));
}

/* ---- the walk ---- */

/* Every layout, or a share of them for each op. */
enum { SHARE = TEST_EMULATED ? 4 : TEST_WATCHED ? 2 : 1 };

static int bad, reported = -1;

static void check_case(rng *r, tn_op op, const tn_dtype *in, int c)
{
    const int arity = tn_op_arity(op), ndim = cases[c].ndim;
    const tn_dtype m = computed_in(op, in[arity - 1 - (op == TN_LDEXP)]);
    tn_dtype out;
    OK(tn_op_result(op, in, arity, &out));
    assert_int_equal(out, gives(op, m));
    block dst = lay_out(r, cases[c].dst, out, ndim, cases[c].shape, false), src[3], keep[3];
    const tn_tensor *ts[3];
    for (int k = 0; k < arity; k++) {
        const bool same = cases[c].src[k] == SAME && in[k] == out && out != TN_BOOL;
        src[k] = same ? dst
                      : lay_out(r, cases[c].src[k] == SAME ? cases[c].dst : cases[c].src[k],
                                in[k], ndim, cases[c].shape, true);
        draw(r, &src[k], &rules[op]);
        keep[k] = block_twin(&src[k]);
        ts[k] = &src[k].t;
    }
    block twin = block_twin(&dst);
    const double params[2] = {0.75, 1.5};
    const double *p = tn_op_params(op) ? params : NULL;
    if (tn_apply(op, p, &dst.t, arity, ts) != TN_OK)
        fail_msg("%s %s %s: %s", tn_op_name(op), tn_dtype_name(m), cases[c].name, tn_error());

    int64_t at[TN_MAX_NDIM] = {0};
    while (tn_numel(&dst.t)) {
        number v[3] = {{0}};
        for (int k = 0; k < arity; k++) {
            tn_tensor wide;
            OK(tn_broadcast_to(&wide, &keep[k].t, ndim, dst.t.shape));
            v[k] = number_at(in[k], element(&wide, at));
            if (op == TN_FLOAT_POWER)
                v[k] = cast_number(TN_F64, v[k]);
            if (op == TN_DIV)
                v[k] = cast_number(m, v[k]);
        }
        if (op == TN_WHERE)
            v[0] = cast_number(TN_BOOL, v[0]);
        const number got = number_at(out, element(&dst.t, at));
        const number want = want_of(op, params, m, out, v, arity);
        if (!fits(op, m, out, got, want) && reported != op * 32 + (int)m) {
            reported = op * 32 + (int)m; /* the first of each op and dtype */
            bad++;
            print_error(
                "%s %s, %s at %d %d %d: of %.20Lg %.20Lg %.20Lg (%lld %lld) want %.20Lg "
                "(%lld), got %.20Lg (%lld)\n",
                tn_op_name(op), tn_dtype_name(m), cases[c].name, (int)at[0], (int)at[1],
                (int)at[2], v[0].f, v[1].f, v[2].f, (long long)v[0].i, (long long)v[1].i,
                want.f, (long long)want.i, got.f, (long long)got.i);
        }
        memcpy(element(&twin.t, at), element(&dst.t, at), tn_dtype_size(out));
        if (!index_next(at, ndim, dst.t.shape))
            break;
    }
    assert_memory_equal(twin.bytes, dst.bytes, dst.size); /* nothing between elements */
    for (int k = 0; k < arity; k++) {
        if (src[k].bytes != dst.bytes) {
            assert_memory_equal(src[k].bytes, keep[k].bytes, keep[k].size);
            block_free(&src[k]);
        }
        block_free(&keep[k]);
    }
    block_free(&twin);
    block_free(&dst);
}

static void every_op_dtype_and_layout(void **state)
{
    (void)state;
    rng r = {1};
    assert_int_equal(sizeof rules / sizeof *rules, op_count());
    for (int op = 0; op < op_count(); op++)
        for (int t = TN_BOOL; t < TNI_DTYPES; t++) {
            tn_dtype in[3] = {(tn_dtype)t, (tn_dtype)t, (tn_dtype)t}, out;
            if (op == TN_LDEXP)
                in[1] = t % 3 ? (tn_dtype)t : TN_I32;
            if (op == TN_WHERE)
                in[0] = t % 2 ? TN_BOOL : TN_F32;
            if (!takes((tn_op)op, (tn_dtype)t)) {
                assert_int_equal(tn_op_result((tn_op)op, in, tn_op_arity((tn_op)op), &out),
                                 TN_EDTYPE);
                assert_non_null(strstr(tn_error(), tn_dtype_name((tn_dtype)t)));
                continue;
            }
            if (op == TN_NEXTAFTER || !oracle_knows((tn_dtype)t))
                continue;
            for (int c = op % SHARE; c < (int)(sizeof cases / sizeof *cases); c += SHARE)
                check_case(&r, (tn_op)op, in, c);
        }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_dtype_and_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
