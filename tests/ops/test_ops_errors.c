/* test_ops_errors.c - facts about ops, and calls that are refused: status, sentence, and
 * nothing written. */
#include "layout.h"

static float a_data[20], b_data[20], d_data[20];
static uint8_t t_data[20];
static tn_tensor a, b, d, t;

static int setup(void **state)
{
    (void)state;
    const int64_t shape[] = {4, 5};
    for (int i = 0; i < 20; i++) {
        a_data[i] = (float)i;
        b_data[i] = (float)(2 * i);
        d_data[i] = -1;
    }
    OK(tn_init(&a, a_data, TN_F32, 2, shape));
    OK(tn_init(&b, b_data, TN_F32, 2, shape));
    OK(tn_init(&d, d_data, TN_F32, 2, shape));
    OK(tn_init(&t, t_data, TN_BOOL, 2, shape));
    return 0;
}

/* The call fails so, its sentence has these words, and dst is as it was. */
static void refused(tn_status got, tn_status want, const char *words)
{
    if (got != want || !strstr(tn_error(), words))
        fail_msg("%s (%s), not %s with \"%s\"", tn_status_name(got), tn_error(),
                 tn_status_name(want), words);
    for (int i = 0; i < 20; i++)
        assert_true(d_data[i] == -1);
}

static void names(void **state)
{
    (void)state;
    tn_op op;
    int n = 0;
    for (int i = 0; tn_op_name((tn_op)i); i++, n++) {
        OK(tn_op_parse(&op, tn_op_name((tn_op)i)));
        assert_int_equal(op, i);
        assert_in_range(tn_op_arity((tn_op)i), 1, 3);
    }
    assert_string_equal(tn_op_name(TN_HARD_SWISH), "hard_swish");
    assert_string_equal(tn_op_name(TN_ADD), "add");
    assert_true(n > TN_FMA);
    assert_int_equal(tn_op_arity((tn_op)n), 0);
    assert_null(tn_op_name((tn_op)-1));
    assert_int_equal(tn_op_arity((tn_op)1000), 0);
    assert_int_equal(tn_op_arity(TN_WHERE), 3);
    assert_int_equal(tn_op_params(TN_SOFTPLUS), 2);
    assert_int_equal(tn_op_params(TN_ELU), 1);
    assert_int_equal(tn_op_params(TN_ADD), 0);
    assert_int_equal(tn_op_parse(&op, "plus"), TN_EARG);
    assert_int_equal(tn_op_parse(NULL, "add"), TN_ENULL);
    assert_int_equal(tn_op_parse(&op, NULL), TN_ENULL);
}

static void results(void **state)
{
    (void)state;
    static const struct {
        tn_op op;
        tn_dtype in[3], out; /* out 0: refused */
    } rows[] = {
        {TN_ADD, {TN_I8, TN_U8}, TN_I16},
        {TN_ADD, {TN_F16, TN_BF16}, TN_F32},
        {TN_ADD, {TN_I64, TN_F16}, TN_F16},
        {TN_ADD, {TN_BOOL, TN_I32}, TN_I32},
        {TN_ADD, {TN_U64, TN_I8}, 0},
        {TN_MUL, {TN_C64, TN_F64}, TN_C128},
        {TN_LT, {TN_C64, TN_C64}, 0},
        {TN_EQ, {TN_I8, TN_F32}, TN_BOOL},
        {TN_ABS, {TN_C64}, TN_F32},
        {TN_ABS, {TN_C128}, TN_F64},
        {TN_EXP, {TN_I32}, 0},
        {TN_SHL, {TN_F32, TN_F32}, 0},
        {TN_SHL, {TN_I32, TN_U8}, TN_I32},
        {TN_BIT_AND, {TN_BOOL, TN_BOOL}, TN_BOOL},
        {TN_LOGICAL_AND, {TN_U64, TN_I8}, TN_BOOL},
        {TN_WHERE, {TN_C64, TN_F16, TN_F32}, TN_F32},
        {TN_LDEXP, {TN_F16, TN_I64}, TN_F16},
        {TN_LDEXP, {TN_F16, TN_I8}, 0},
        {TN_LDEXP, {TN_I32, TN_I32}, 0},
        {TN_FLOAT_POWER, {TN_F32, TN_I8}, TN_F64},
        {TN_CLIP, {TN_I8, TN_I8, TN_I8}, TN_I8},
        {TN_RELU, {TN_I32}, TN_I32},
        {TN_GELU, {TN_I32}, 0},
        {TN_GELU, {TN_BF16}, TN_BF16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tn_dtype out = (tn_dtype)99;
        tn_status s = tn_op_result(rows[i].op, rows[i].in, tn_op_arity(rows[i].op), &out);
        if (s != (rows[i].out ? TN_OK : TN_EDTYPE) ||
            out != (rows[i].out ? rows[i].out : (tn_dtype)99))
            fail_msg("row %zu, %s: %s, %s", i, tn_op_name(rows[i].op), tn_status_name(s),
                     tn_dtype_name(out));
    }
    tn_dtype in = TN_F32, out;
    assert_int_equal(tn_op_result(TN_EXP, NULL, 1, &out), TN_ENULL);
    assert_int_equal(tn_op_result(TN_EXP, &in, 1, NULL), TN_ENULL);
    assert_int_equal(tn_op_result(TN_EXP, &in, 2, &out), TN_EARG);
    assert_int_equal(tn_op_result((tn_op)500, &in, 1, &out), TN_EARG);
    in = (tn_dtype)77;
    assert_int_equal(tn_op_result(TN_EXP, &in, 1, &out), TN_EDTYPE);
}

static void bad_arguments(void **state)
{
    (void)state;
    const tn_tensor *two[] = {&a, &b}, *hole[] = {&a, NULL};
    refused(tn_add(NULL, &a, &b), TN_ENULL, "dst");
    refused(tn_add(&d, NULL, &b), TN_ENULL, "src 0");
    refused(tn_add(&d, &a, NULL), TN_ENULL, "src 1");
    refused(tn_apply(TN_ADD, NULL, &d, 2, NULL), TN_ENULL, "srcs is NULL, expected 2 tensors");
    refused(tn_apply(TN_ADD, NULL, &d, 2, hole), TN_ENULL, "src 1");
    refused(tn_apply((tn_op)999, NULL, &d, 2, two), TN_EARG, "999");
    refused(tn_apply(TN_ADD, NULL, &d, 1, two), TN_EARG, "takes 2 tensors, got 1");
    refused(tn_apply(TN_ADD, NULL, &d, -3, two), TN_EARG, "got -3");
    refused(tn_unary(TN_ADD, &d, &a), TN_EARG, "op add takes 2");
    refused(tn_binary(TN_EXP, &d, &a, &b), TN_EARG, "op exp takes 1 tensor");
    refused(tn_ternary(TN_ADD, &d, &a, &b, &a), TN_EARG, "op add");
    tn_plan *plan = NULL;
    refused(tn_plan_op(NULL, TN_ADD, NULL, &d, 2, two), TN_ENULL, "plan");
    refused(tn_plan_op(&plan, TN_ADD, NULL, &d, 3, two), TN_EARG, "op add");
    assert_null(plan);
    tn_tensor locked = d;
    locked.flags = TN_READONLY;
    refused(tn_add(&locked, &a, &b), TN_EARG, "dst");
    tn_tensor away = a;
    away.device = 3;
    refused(tn_add(&d, &away, &b), TN_EDEVICE, "src 0");
    refused(tn_map(NULL, NULL, &d, 0, NULL), TN_ENULL, "fn");
}

static void bad_dtypes(void **state)
{
    (void)state;
    tn_tensor odd = a;
    odd.dtype = (tn_dtype)50;
    refused(tn_add(&d, &odd, &b), TN_EDTYPE, "src 0");
    refused(tn_binary(TN_SHL, &d, &a, &b), TN_EDTYPE,
            "src 0: got f32, expected an integer for shl");
    refused(tn_binary(TN_LT, &d, &a, &b), TN_EDTYPE, "got f32, expected bool");
    tn_tensor half = d;
    half.dtype = TN_F16;
    half.stride[0] = 10;
    half.stride[1] = 2;
    refused(tn_add(&half, &a, &b), TN_EDTYPE, "got f16, expected f32");
    tn_tensor u64 = t, i8 = t;
    u64.dtype = TN_U64;
    i8.dtype = TN_I8;
    refused(tn_add(&i8, &u64, &i8), TN_EDTYPE, "u64 and i8");
}

static void bad_shapes(void **state)
{
    (void)state;
    tn_tensor six;
    const int64_t other[] = {4, 6}, one_more[] = {2, 4, 5};
    OK(tn_init(&six, a_data, TN_F32, 2, other));
    refused(tn_add(&d, &a, &six), TN_ESHAPE, "axis 1: extents 5 and 6 do not broadcast");
    refused(tn_add(&six, &a, &b), TN_ESHAPE, "axis 1: dst has extent 6, src 0 has 5");
    tn_tensor deep;
    OK(tn_init(&deep, a_data, TN_F32, 3, one_more));
    refused(tn_add(&d, &deep, &a), TN_ESHAPE, "dst has 2 axes, the sources broadcast to 3");
    /* dst is a shape that each source broadcasts to, also a larger one, never a smaller */
    static float wide[24], two = 2, three = 3;
    const int64_t more[] = {2, 3, 4}, flat[] = {1, 5};
    tn_tensor big, x, y, small;
    OK(tn_init(&big, wide, TN_F32, 3, more));
    OK(tn_init(&x, &two, TN_F32, 0, NULL));
    OK(tn_init(&y, &three, TN_F32, 0, NULL));
    OK(tn_mul(&big, &x, &y));
    for (int i = 0; i < 24; i++)
        assert_true(wide[i] == 6);
    OK(tn_init(&small, wide, TN_F32, 2, flat));
    refused(tn_add(&small, &a, &b), TN_ESHAPE, "axis 0: dst has extent 1, src 0 has 4");
    tn_tensor negative = a;
    negative.shape[1] = -5;
    refused(tn_add(&d, &negative, &b), TN_ESHAPE, "src 0");
}

static void bad_memory(void **state)
{
    (void)state;
    tn_tensor twice = d, none = d, shifted, flipped;
    twice.stride[0] = 0;
    refused(tn_add(&twice, &a, &b), TN_ESTRIDE,
            "add: two indices of dst share an element (self-overlap)");
    none.data = NULL;
    refused(tn_add(&none, &a, &b), TN_ENULL, "dst");
    refused(tn_add(&d, &none, &b), TN_ENULL, "src 0");
    shifted = d;
    shifted.data = d_data + 1;
    shifted.shape[0] = 3;
    tn_tensor d3 = d, a3 = a;
    d3.shape[0] = a3.shape[0] = 3;
    refused(tn_add(&d3, &a3, &shifted), TN_EOVERLAP, "share bytes");
    OK(tn_flip(&flipped, &d, 1));
    refused(tn_add(&d, &flipped, &a), TN_EOVERLAP, "share bytes");
    for (int i = 0; i < 20; i++)
        d_data[i] = 1;
    OK(tn_add(&d, &d, &a)); /* exactly dst is fine */
    for (int i = 0; i < 20; i++)
        assert_true(d_data[i] == 1 + (float)i);
    tn_plan *plan;
    const tn_tensor *two[] = {&a, &b};
    OK(tn_plan_op(&plan, TN_ADD, NULL, &d, 2, two));
    assert_int_equal(tn_plan_run(plan, d_data, (const void *const[]){a_data, d_data + 1}),
                     TN_EOVERLAP);
    assert_int_equal(tn_plan_run(plan, d_data, (const void *const[]){a_data, NULL}), TN_ENULL);
    OK(tn_plan_run(plan, d_data, (const void *const[]){d_data, b_data}));
    assert_true(d_data[3] == 4 + 6);
    tn_plan_free(plan);
}

/* Of several faults the first of the rules' order is reported. */
static void precedence(void **state)
{
    (void)state;
    tn_tensor odd = a, bent = b;
    odd.dtype = (tn_dtype)50;
    odd.shape[1] = 6;
    bent.ndim = 99;
    refused(tn_add(&d, &odd, NULL), TN_ENULL, "src 1");
    refused(tn_add(&d, &odd, &bent), TN_EARG, "src 1");
    refused(tn_binary((tn_op)-1, &d, &odd, &b), TN_EARG, "op -1");
    refused(tn_add(&d, &odd, &b), TN_EDTYPE, "src 0");
    tn_tensor both = a;
    both.shape[1] = 6;
    both.data = NULL;
    refused(tn_add(&d, &both, &b), TN_ESHAPE, "axis 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names, setup),         cmocka_unit_test_setup(results, setup),
        cmocka_unit_test_setup(bad_arguments, setup), cmocka_unit_test_setup(bad_dtypes, setup),
        cmocka_unit_test_setup(bad_shapes, setup),    cmocka_unit_test_setup(bad_memory, setup),
        cmocka_unit_test_setup(precedence, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
