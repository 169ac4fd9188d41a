/* test_expr.c - expressions: values and dtypes, failures and where they point, and random
 * programs bit for bit beside the same ops called one after another. */
#include "layout.h"
#include "ops_rules.h"

#include "kernels/kernels.h"

/* ---- small texts ---- */

static float x[6] = {1, 2, 3, 4, 5, 6}, y[3] = {10, 20, 30};
static int32_t i4[6] = {1, -2, 3, -4, 5, 6};
static uint8_t u[6] = {0, 1, 2, 100, 200, 255}, b[6] = {0, 1, 2, 0, 1, 1};
static uint16_t h[6] = {0x3c00, 0x4000, 0x4200, 0, 0, 0};
static const char *const names[] = {"x", "y", "i", "u", "b", "h"};
static tn_tensor operand[6];
static const tn_tensor *given[6];

static int set_up(void **state)
{
    (void)state;
    const int64_t shape[] = {2, 3};
    void *const data[] = {x, y, i4, u, b, h};
    const tn_dtype dtypes[] = {TN_F32, TN_F32, TN_I32, TN_U8, TN_BOOL, TN_F16};
    for (int k = 0; k < 6; k++) {
        OK(tn_init(&operand[k], data[k], dtypes[k], k == 1 ? 1 : 2,
                   k == 1 ? shape + 1 : shape));
        given[k] = &operand[k];
    }
    return 0;
}

static void values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tn_dtype dtype;
        double last; /* element (1, 2), or the only one */
    } of[] = {
        {"x", TN_F32, 6},
        {"x + y", TN_F32, 36},
        {"(x + y) * 2 - 1", TN_F32, 71},
        {"-x ** 2", TN_F32, -36},
        {"2 ** -1", TN_F64, 0.5},
        {"2 ** 3 ** 2", TN_I64, 512},
        {"u / 255", TN_F32, 1},
        {"u / 1000", TN_F32, 0.255f},
        {"i / 4", TN_F64, 1.5},
        {"b / b", TN_F32, 1},
        {"b / 2", TN_F64, 0.5},
        {"b + 1", TN_I64, 2},
        {"u + 1", TN_U8, 0},
        {"u * 0.5", TN_F32, 127.5},
        {"i * 0.5", TN_F64, 3},
        {"1 < x < 7", TN_BOOL, 1},
        {"1 < x < 6 < 7", TN_BOOL, 0},
        {"not x > 2 or y == 30", TN_BOOL, 1},
        {"where(b, 1, 0)", TN_I64, 1},
        {"where(b, 1.0, 0)", TN_F64, 1},
        {"where(b, x, 0)", TN_F32, 6},
        {"7 // 0", TN_I64, 0},
        {"7 // 2 * 2 + 7 % 2", TN_I64, 7},
        {"1 + 2 * 3", TN_I64, 7},
        {"u & 15 | 16 ^ 1", TN_U8, 31},
        {"u >> 4 << 1", TN_U8, 30},
        {"~u", TN_U8, 0},
        {"f16(x) + h", TN_F16, 6},
        {"leaky_relu(-x, 0.5)", TN_F32, -3},
        {"leaky_relu(-x)", TN_F32, (double)-0.06f},
        {"min(x, 2)", TN_F32, 2},
        {"0x1F + 0b101", TN_I64, 36},
        {"3. + .5 + 1e-1 * 0", TN_F64, 3.5},
        {"trunc_divide(i, 4)", TN_I32, 1},
        {"x ** -1", TN_F32, (double)(1 / 6.0f)},
        {"float_power(i, 2)", TN_F64, 36},
        {"ldexp(x, 2)", TN_F32, 24},
        {"f32(0.1) * 2", TN_F32, (double)(0.1f * 2)},
        {"true + 1", TN_I64, 2},
        {"u8(x) + u", TN_U8, 5},
        {" \t\n( ( x ) ) ", TN_F32, 6},
        {"sum(x)", TN_F32, 21},
        {"sum(u)", TN_U64, 558},
        {"mean(i)", TN_F64, 1.5},
        {"max(x, axis=0)", TN_F32, 6},
        {"sum(x, axis=(0, 1))", TN_F32, 21},
        {"sum(x, axis=-1)", TN_F32, 15},
        {"sqrt(mean((x - y) ** 2)) * 0 + min(x)", TN_F32, 1},
        {"sum(x * x) / sum(x)", TN_F32, 91 / 21.0f},
        {"any(x > 5) and all(x > 0)", TN_BOOL, 1},
    };
    for (int k = 0; k < (int)(sizeof of / sizeof *of); k++) {
        tn_tensor out;
        if (tn_eval_copy(&out, of[k].text, 6, names, given) != TN_OK)
            fail_msg("%s: %s", of[k].text, tn_error());
        const char *last = (const char *)out.data + tn_nbytes(&out) - tn_dtype_size(out.dtype);
        const number got = number_at(out.dtype, last);
        const long double v = got.whole ? (long double)got.i : got.f;
        if (out.dtype != of[k].dtype || v != (long double)of[k].last)
            fail_msg("%s is %s %Lg", of[k].text, tn_dtype_name(out.dtype), v);
        tn_free(&out);
    }
}

static void failures(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tn_status status;
        int column;
    } of[] = {
        {"", TN_EFORMAT, 1},
        {"x +", TN_EFORMAT, 4},
        {"x + (y", TN_EFORMAT, 7},
        {"x y", TN_EFORMAT, 3},
        {"x, y", TN_EFORMAT, 2},
        {")", TN_EFORMAT, 1},
        {"x @ y", TN_EFORMAT, 3},
        {"foo(x)", TN_EFORMAT, 1},
        {"x + z", TN_EFORMAT, 5},
        {"add(x)", TN_EFORMAT, 1},
        {"1 + add(x, y, x)", TN_EFORMAT, 5},
        {"leaky_relu(x, y)", TN_EFORMAT, 1},
        {"add()", TN_EFORMAT, 5},
        {"x if y", TN_EFORMAT, 3},
        {"lambda", TN_EFORMAT, 1},
        {"x + not y", TN_EFORMAT, 5},
        {"1x", TN_EFORMAT, 1},
        {"1.5.2", TN_EFORMAT, 1},
        {"0x", TN_EFORMAT, 1},
        {"1e", TN_EFORMAT, 1},
        {"x.y", TN_EFORMAT, 2},
        {"x[0]", TN_EFORMAT, 2},
        {"x in y", TN_EFORMAT, 3},
        {"x is y", TN_EFORMAT, 3},
        {"x + and", TN_EFORMAT, 5},
        {"not", TN_EFORMAT, 4},
        {"x = y", TN_EFORMAT, 3},
        {"1 ! 2", TN_EFORMAT, 3},
        {"x + \"y\"", TN_EFORMAT, 5},
        {"max(x, x, x, x, x, x, x)", TN_EFORMAT, 1},
        {"1 + f16(x, y)", TN_EFORMAT, 5},
        {"sum(x, axis=)", TN_EFORMAT, 13},
        {"sum(x, axis=(0, 1)", TN_EFORMAT, 19},
        {"sum(x, axis=x)", TN_EFORMAT, 13},
        {"sum(x, 0, axis=0)", TN_EFORMAT, 11},
        {"add(x, axis=0)", TN_EFORMAT, 8},
        {"x + sqrt(i)", TN_EDTYPE, 5},
        {"u + 300", TN_EDTYPE, 3},
        {"u < 256", TN_EDTYPE, 3},
        {"x + ~x", TN_EDTYPE, 5},
        {"sqrt(i) + (x & 1)", TN_EDTYPE, 1},
        {"x * (u + 300) + sqrt(i)", TN_EDTYPE, 8},
        {"x + (1 << 63)", TN_EOVERFLOW, 8},
        {"-9223372036854775807 - 2", TN_EOVERFLOW, 22},
        {"u + -1", TN_EDTYPE, 3},
        {"x & 1", TN_EDTYPE, 3},
        {"+b", TN_EDTYPE, 1},
        {"9223372036854775807 + 1", TN_EOVERFLOW, 21},
        {"x / sum(x)", TN_EUNSUPPORTED, 3},
        {"sum(x + sum(x))", TN_EUNSUPPORTED, 7},
        {"sum(x, axis=0) + sum(x)", TN_EUNSUPPORTED, 18},
        {"sum(x) + sum(y)", TN_EUNSUPPORTED, 10},
        {"min(b)", TN_EDTYPE, 1},
        {"sum(x, axis=2)", TN_EARG, 1},
        {"sum(x, y)", TN_EFORMAT, 1},
        {"2 ** 63", TN_EOVERFLOW, 3},
        {"9223372036854775808", TN_EOVERFLOW, 1},
        {"0xffffffffffffffff + (", TN_EFORMAT, 23},
        {"sum(x) + max(x) + min(sum(x))", TN_EUNSUPPORTED, 23},
    };
    for (int k = 0; k < (int)(sizeof of / sizeof *of); k++) {
        tn_tensor out = {0};
        const tn_status got = tn_eval_copy(&out, of[k].text, 6, names, given);
        if (got != of[k].status || tn_error_column() != of[k].column)
            fail_msg("%s: %s at %d: %s", of[k].text, tn_status_name(got), tn_error_column(),
                     tn_error());
        assert_null(out.data);
    }
    tn_tensor out;
    const char *const twice[] = {"x", "x"}, *const bad[] = {"1x"}, *const word[] = {"and"};
    assert_int_equal(tn_eval_copy(&out, "x", 2, twice, given), TN_EARG);
    assert_int_equal(tn_eval_copy(&out, "1", 1, bad, given), TN_EARG);
    assert_int_equal(tn_eval_copy(&out, "1", 1, word, given), TN_EARG);
    assert_int_equal(tn_eval_copy(&out, "1", -1, names, given), TN_EARG);
    assert_int_equal(tn_eval_copy(&out, NULL, 0, NULL, NULL), TN_ENULL);
    assert_int_equal(tn_eval_copy(NULL, "1", 0, NULL, NULL), TN_ENULL);
}

/* Of several faults the first in this order is told: each row has all that come after it. */
static void order_of_faults(void **state)
{
    (void)state;
    float d[6];
    const int64_t shape[] = {2, 3}, other[] = {5};
    tn_tensor out, sound, readonly, device, far, wide;
    OK(tn_init(&sound, d, TN_F32, 2, shape));
    OK(tn_init(&wide, y, TN_F32, 1, other));
    device = far = readonly = sound;
    readonly.flags = TN_READONLY;
    device.device = (tn_device)1;
    far.device = (tn_device)1;
    far.dtype = (tn_dtype)99;
    out = sound;
    out.stride[0] = 0; /* an element twice */
    const struct {
        const tn_tensor *dst;
        const char *text;
        const tn_tensor *x, *y;
        tn_status status;
        int column;
    } of[] = {
        {NULL, "x + (", &far, &wide, TN_ENULL, 0},
        {&readonly, NULL, &far, &wide, TN_ENULL, 0},
        {&readonly, "x + (", NULL, &wide, TN_ENULL, 0},
        {&readonly, "x + (", &far, &wide, TN_EARG, 0},
        {&out, "x + 0xffffffffffffffff + (", &far, &wide, TN_EFORMAT, 27},
        {&out, "x + z", &far, &wide, TN_EFORMAT, 5},
        {&out, "~x + 0xffffffffffffffff", &device, &far, TN_EDEVICE, 0},
        {&out, "~x + y", &far, &operand[1], TN_EDEVICE, 0},
        {&out, "~x + y + 9223372036854775808", &operand[0], &wide, TN_EDTYPE, 1},
        {&out, "9223372036854775808 + ~x + y", &operand[0], &wide, TN_EOVERFLOW, 1},
        {&out, "sum(y) + ~sum(x, axis=7)", &operand[0], &wide, TN_EUNSUPPORTED, 1},
        {&out, "sum(x + y) + ~sum(x + y, axis=7)", &operand[0], &wide, TN_EUNSUPPORTED, 15},
        {&out, "~sum(x + y, axis=7)", &operand[0], &wide, TN_EDTYPE, 1},
        {&out, "sum(x + y, axis=7)", &operand[0], &wide, TN_EARG, 1},
        {&out, "2 * sum(x + y, axis=(0, -2))", &operand[0], &wide, TN_EARG, 5},
        {&out, "sum(x + y)", &operand[0], &wide, TN_ESHAPE, 0},
        {&out, "x + y", &operand[0], &wide, TN_ESHAPE, 0},
        {&out, "x + y", &operand[0], &operand[1], TN_ESTRIDE, 0},
        {&sound, "x + y", &sound, &operand[1], TN_OK, 0},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const tn_tensor *srcs[] = {of[i].x, of[i].y};
        const tn_status got = tn_eval(of[i].dst, of[i].text, 2, names, srcs);
        if (got != of[i].status || (got != TN_OK && tn_error_column() != of[i].column))
            fail_msg("row %zu: %s at %d: %s", i, tn_status_name(got), tn_error_column(),
                     tn_error());
    }
    tn_expr *e;
    OK(tn_expr_parse(&e, "x + 0xffffffffffffffff"));
    const tn_tensor *srcs[] = {&sound, &sound};
    assert_int_equal(tn_expr_run(e, &sound, 1, srcs), TN_EOVERFLOW);
    assert_int_equal(tn_expr_run(e, &sound, 2, srcs), TN_EARG);
    assert_int_equal(tn_expr_run(e, NULL, 2, srcs), TN_ENULL);
    tn_expr_free(e);
}

/* A text at each limit, and one beyond it. */
static void limits(void **state)
{
    (void)state;
    static char text[3 * TN_EXPR_TEXT];
    tn_expr *e;
    for (int depth = TN_EXPR_DEPTH; depth <= TN_EXPR_DEPTH + 1; depth++) {
        memset(text, '(', (size_t)depth);
        text[depth] = 'x';
        memset(text + depth + 1, ')', (size_t)depth);
        text[2 * depth + 1] = 0;
        const tn_status got = tn_expr_parse(&e, text);
        assert_int_equal(got, depth > TN_EXPR_DEPTH ? TN_EUNSUPPORTED : TN_OK);
        if (got == TN_OK)
            tn_expr_free(e);
        else
            assert_int_equal(tn_error_column(), depth);
    }
    for (int size = TN_EXPR_TEXT; size <= TN_EXPR_TEXT + 1; size++) {
        memset(text, ' ', (size_t)size);
        text[0] = 'x';
        text[size] = 0;
        const tn_status got = tn_expr_parse(&e, text);
        assert_int_equal(got, size > TN_EXPR_TEXT ? TN_EUNSUPPORTED : TN_OK);
        if (got == TN_OK)
            tn_expr_free(e);
    }
    for (int steps = TN_EXPR_STEPS; steps <= TN_EXPR_STEPS + 1; steps++) {
        char *at = text;
        *at++ = 'x';
        for (int k = 0; k < steps; k++)
            at += sprintf(at, "+%d", k);
        tn_tensor out;
        const tn_status got = tn_eval_copy(&out, text, 1, names, given);
        assert_int_equal(got, steps > TN_EXPR_STEPS ? TN_EUNSUPPORTED : TN_OK);
        if (got == TN_OK) {
            assert_float_equal(((float *)out.data)[0], 1 + 256 * 255 / 2, 0);
            tn_free(&out);
        }
    }
    char *at = text;
    for (int k = 0; k <= TN_EXPR_NAMES; k++)
        at += sprintf(at, "%sn%d", k ? "+" : "", k);
    assert_int_equal(tn_expr_parse(&e, text), TN_EUNSUPPORTED);
    strrchr(text, '+')[0] = 0;
    OK(tn_expr_parse(&e, text));
    assert_int_equal(tn_expr_count(e), TN_EXPR_NAMES);
    assert_string_equal(tn_expr_name(e, 15), "n15");
    assert_null(tn_expr_name(e, 16));
    assert_null(tn_expr_name(e, -1));
    tn_expr_free(e);
    tn_expr_free(NULL);
    assert_int_equal(tn_expr_count(NULL), 0);
}

/* dst is exactly a source, is larger than the sources, has another dtype, is filled. */
static void into(void **state)
{
    (void)state;
    float d[6] = {1, 2, 3, 4, 5, 6}, f[6];
    const int64_t shape[] = {2, 3};
    tn_tensor t, o;
    OK(tn_init(&t, d, TN_F32, 2, shape));
    const tn_tensor *both[] = {&t, &operand[1]};
    OK(tn_eval(&t, "x * x + y - x", 2, names, both));
    for (int k = 0; k < 6; k++)
        assert_float_equal(d[k], x[k] * x[k] + y[k % 3] - x[k], 0);
    OK(tn_init(&o, f, TN_F32, 2, shape));
    OK(tn_eval(&o, "0.5", 0, NULL, NULL));
    assert_float_equal(f[5], 0.5, 0);
    OK(tn_eval(&o, "y", 2, names, given));
    assert_float_equal(f[4], 20, 0);
    OK(tn_eval(&o, "u", 6, names, given));
    assert_float_equal(f[5], 255, 0);
    tn_tensor part = t;
    part.data = d + 1;
    part.shape[1] = 2;
    const tn_tensor *shares[] = {&t};
    assert_int_equal(tn_eval(&part, "x", 1, names, shares), TN_ESHAPE);
    part = t;
    part.stride[0] = -12;
    part.data = d + 3;
    assert_int_equal(tn_eval(&part, "x + 1", 1, names, shares), TN_EOVERLAP);
    part = t;
    part.flags = TN_READONLY;
    assert_int_equal(tn_eval(&part, "1", 0, NULL, NULL), TN_EARG);
}

static int steps_of(const char *text)
{
    tn_expr *e;
    tn_plan *plan;
    tn_facts f;
    OK(tn_expr_parse(&e, text));
    const tn_tensor *srcs[TN_EXPR_NAMES];
    for (int k = 0; k < tn_expr_count(e); k++)
        srcs[k] = &operand[0];
    OK(tn_plan_expr(&plan, e, &operand[0], tn_expr_count(e), srcs));
    tn_expr_free(e);
    OK(tn_plan_facts(&f, plan));
    tn_plan_free(plan);
    for (int k = 0; k < f.nmore; k++)
        if (!strcmp(f.more[k].name, "steps"))
            return atoi(f.more[k].text);
    return -1;
}

static void counted_steps(void **state)
{
    (void)state;
    assert_int_equal(steps_of("sqrt(x*x + 1) + (x*x + 1)"), 4);
    assert_int_equal(steps_of("exp(x) / (1 + exp(x))"), 3);
    assert_int_equal(steps_of("x * (2 * 3 + 1)"), 1);
    assert_int_equal(steps_of("x"), 0);
}

/* ---- random programs, fused and step by step ---- */

enum { TENSORS = 4, NODES = 24 };

typedef struct node {
    char text[1400];
    block value; /* what the step gives, in the common shape */
} node;

static const tn_op drawn[] = {TN_ADD,   TN_SUB,         TN_MUL,   TN_DIV,   TN_MIN,
                              TN_MAX,   TN_NEG,         TN_ABS,   TN_SQRT,  TN_EXP,
                              TN_TANH,  TN_LT,          TN_EQ,    TN_WHERE, TN_LERP,
                              TN_FLOOR, TN_LOGICAL_AND, TN_ISNAN, TN_POW,   TN_SILU};

static bool apply_step(rng *r, node *n, int have, int ndim, const int64_t *shape)
{
    node *out = &n[have];
    const tn_tensor *srcs[3];
    tn_dtype in[3], gives;
    const int what = (int)pick(r, 0, 5);
    const int from = (int)pick(r, 0, have - 1);
    if (what == 0) { /* a cast */
        gives = pick_dtype(r);
        out->value = block_make(r, gives, ndim, shape, false, false);
        OK(tn_cast(&out->value.t, &n[from].value.t));
        snprintf(out->text, sizeof out->text, "%s(%.1000s)", tn_dtype_name(gives),
                 n[from].text);
        return true;
    }
    const tn_op op = drawn[pick(r, 0, (int)(sizeof drawn / sizeof *drawn) - 1)];
    int used[3];
    size_t size = 0;
    for (int k = 0; k < tn_op_arity(op); k++) {
        used[k] = (int)pick(r, 0, have - 1);
        srcs[k] = &n[used[k]].value.t;
        in[k] = srcs[k]->dtype;
        size += strlen(n[used[k]].text);
    }
    if (size > 1200 || tn_op_result(op, in, tn_op_arity(op), &gives) != TN_OK)
        return false;
    out->value = block_make(r, gives, ndim, shape, false, false);
    OK(tn_apply(op, NULL, &out->value.t, tn_op_arity(op), srcs));
    char *at = out->text;
    at += sprintf(at, "%s(", tn_op_name(op));
    for (int k = 0; k < tn_op_arity(op); k++)
        at += sprintf(at, "%s%s", k ? ", " : "", n[used[k]].text);
    sprintf(at, ")");
    return true;
}

static void random_programs(void **state)
{
    (void)state;
    rng r = {77};
    static node n[NODES];
    static const char *const letters[] = {"p", "q", "s", "t"};
    for (int round = 0; round < (TEST_WATCHED ? 60 : 400); round++) {
        const int ndim = (int)pick(&r, 0, 3);
        int64_t shape[3];
        for (int k = 0; k < ndim; k++)
            shape[k] = pick(&r, 1, k == ndim - 1 ? 150 : 20);
        const tn_tensor *srcs[TENSORS];
        for (int k = 0; k < TENSORS; k++) {
            n[k].value = block_make(&r, pick_dtype(&r), ndim, shape, true, true);
            strcpy(n[k].text, letters[k]);
            srcs[k] = &n[k].value.t;
        }
        int have = TENSORS;
        for (int tries = 0; tries < 40 && have < NODES; tries++)
            have += apply_step(&r, n, have, ndim, shape);
        const node *last = &n[have - 1];
        block fused = block_make(&r, last->value.t.dtype, ndim, shape, true, false);
        for (int threads = 1; threads <= 3; threads += 2) {
            tn_handle *handle;
            OK(tn_handle_create(&handle, TN_CPU, 0, &(tn_config){.threads = threads}));
            OK(tn_handle_use(handle));
            if (tn_eval(&fused.t, last->text, TENSORS, letters, srcs) != TN_OK)
                fail_msg("%s: %s", last->text, tn_error());
            tn_handle_destroy(handle);
            int64_t at[3] = {0};
            do {
                if (memcmp(element(&fused.t, at), element(&last->value.t, at),
                           tn_dtype_size(fused.t.dtype)))
                    fail_msg("round %d, at %d %d %d: %s", round, (int)at[0], (int)at[1],
                             (int)at[2], last->text);
            } while (index_next(at, ndim, shape));
        }
        for (int k = 0; k < have; k++)
            block_free(&n[k].value);
        block_free(&fused);
    }
}

/* Every op through the text, on every dtype that it takes. */
static void every_op(void **state)
{
    (void)state;
    rng r = {5};
    const int64_t shape[] = {3, 37};
    static const char *const letters[] = {"p", "q", "s"};
    for (int op = 0; op < op_count(); op++)
        for (int t = TN_BOOL; t < TNI_DTYPES; t++) {
            const int arity = tn_op_arity((tn_op)op);
            const tn_dtype in[3] = {(tn_dtype)t, (tn_dtype)t, (tn_dtype)t};
            tn_dtype gives;
            if (tn_op_result((tn_op)op, in, arity, &gives) != TN_OK)
                continue;
            block s[3];
            const tn_tensor *srcs[3];
            for (int k = 0; k < 3; k++) {
                s[k] = block_make(&r, in[k], 2, shape, true, true);
                srcs[k] = &s[k].t;
            }
            block want = block_make(&r, gives, 2, shape, false, false), got = block_twin(&want);
            char text[64];
            snprintf(text, sizeof text, "%s(p%s%s)", tn_op_name((tn_op)op),
                     arity > 1 ? ", q" : "", arity > 2 ? ", s" : "");
            OK(tn_apply((tn_op)op, NULL, &want.t, arity, srcs));
            if (tn_eval(&got.t, text, 3, letters, srcs) != TN_OK)
                fail_msg("%s of %s: %s", text, tn_dtype_name(in[0]), tn_error());
            if (memcmp(want.bytes, got.bytes, want.size))
                fail_msg("%s of %s differs", text, tn_dtype_name(in[0]));
            for (int k = 0; k < 3; k++)
                block_free(&s[k]);
            block_free(&want);
            block_free(&got);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),        cmocka_unit_test(failures),
        cmocka_unit_test(limits),        cmocka_unit_test(into),
        cmocka_unit_test(counted_steps), cmocka_unit_test(random_programs),
        cmocka_unit_test(every_op),      cmocka_unit_test(order_of_faults),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
