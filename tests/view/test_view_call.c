/* test_view_call.c - the order in which a call checks its arguments, and how sources are
 * brought to dst's shape. */
#include <stdlib.h>

#include "view_oracle.h"

#include "view/view.h"

static float cells[64];

static tn_tensor matrix(void)
{
    tn_tensor t;
    assert_int_equal(tn_init(&t, cells, TN_F32, 2, (int64_t[]){2, 3}), TN_OK);
    return t;
}

/* ---- the order of failures ---- */

static tn_status no_nulls(const tni_call *call)
{
    (void)call;
    return tni_fail(TN_ENULL, "own: a pointer is NULL");
}

static tn_status no_args(const tni_call *call)
{
    (void)call;
    return tni_fail(TN_EARG, "own: an argument");
}

/* What is wrong with the operands, one thing more in each row; the first that is reported. */
enum {
    SRC_NULL = 1,
    SRC_NDIM = 2,
    DST_READONLY = 4,
    SRC_DEVICE = 8,
    SRC_DTYPE = 16,
    OTHER_DTYPE = 32,
    NEGATIVE = 64,
    OTHER_SHAPE = 128,
    TOO_LARGE = 256,
    SELF_OVERLAP = 512,
    DST_NO_DATA = 1024,
    SRC_NO_DATA = 2048,
    OVERLAP = 4096,
    OWN_NULLS = 8192,
    OWN_ARGS = 16384
};

static const struct {
    unsigned wrong;
    tn_status status;
    const char *sentence;
} order[] = {
    {0, TN_OK, NULL},
    {OVERLAP, TN_EOVERLAP, "x: dst and src 0 share bytes"},
    {SRC_NO_DATA | OVERLAP, TN_ENULL, "x: src 0 has 6 elements but data is NULL"},
    {DST_NO_DATA | SRC_NO_DATA, TN_ENULL, "x: dst has 6 elements but data is NULL"},
    {SELF_OVERLAP | DST_NO_DATA, TN_ESTRIDE, NULL},
    {TOO_LARGE | SELF_OVERLAP, TN_EOVERFLOW, NULL},
    {OTHER_SHAPE | TOO_LARGE, TN_ESHAPE, NULL},
    {NEGATIVE | OTHER_SHAPE, TN_ESHAPE, "x: src 0: axis 1 has a negative extent, got -3"},
    {OTHER_DTYPE | NEGATIVE, TN_EDTYPE,
     "x: src 0: dtype differs from dst, got f64, expected f32; tn_cast converts"},
    {SRC_DTYPE | NEGATIVE, TN_EDTYPE, NULL},
    {SRC_DEVICE | SRC_DTYPE, TN_EDEVICE, NULL},
    {OWN_ARGS | SRC_DEVICE, TN_EARG, "own: an argument"},
    {DST_READONLY | OWN_ARGS, TN_EARG, "x: dst is read-only (TN_READONLY)"},
    {SRC_NDIM | OWN_ARGS, TN_EARG, "x: src 0: ndim 65 is out of range [0, 64]"},
    {OWN_NULLS | SRC_NDIM, TN_ENULL, "own: a pointer is NULL"},
    {SRC_NULL | OWN_NULLS, TN_ENULL, "x: src 0 is NULL"},
};

static void failures_come_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const unsigned wrong = order[i].wrong;
        tn_tensor dst = matrix(), src = matrix(), second = matrix();
        dst.data = wrong & DST_NO_DATA ? NULL : cells + 32;
        second.data = cells + 16;
        src.data = wrong & SRC_NO_DATA ? NULL : wrong & OVERLAP ? cells + 33 : cells;
        if (wrong & OVERLAP && wrong & SRC_NO_DATA)
            second.data = cells + 33;
        src.ndim = wrong & SRC_NDIM ? 65 : 2;
        dst.flags = wrong & DST_READONLY ? TN_READONLY : 0;
        src.device = wrong & SRC_DEVICE ? (tn_device)77 : TN_CPU;
        src.dtype = wrong & SRC_DTYPE ? (tn_dtype)99 : wrong & OTHER_DTYPE ? TN_F64 : TN_F32;
        if (wrong & (NEGATIVE | OTHER_SHAPE))
            src.shape[1] = wrong & NEGATIVE ? -3 : 4;
        if (wrong & TOO_LARGE)
            second.stride[0] = INT64_MAX / 2, second.stride[1] = INT64_MAX / 2;
        if (wrong & SELF_OVERLAP)
            dst.stride[0] = 4;
        const tn_tensor *srcs[] = {wrong & SRC_NULL ? NULL : &src, &second};
        const tni_call call = {.name = "x",
                               .dst = &dst,
                               .n = 2,
                               .srcs = srcs,
                               .nulls = wrong & OWN_NULLS ? no_nulls : NULL,
                               .args = wrong & OWN_ARGS ? no_args : NULL,
                               .dtypes = tni_call_same_dtypes,
                               .shapes = tni_call_same_shapes};
        const tn_status got = tni_check_call(&call);
        if (got != order[i].status)
            fail_msg("row %zu: %s: %s", i, tn_status_name(got), tn_error());
        if (order[i].sentence)
            assert_string_equal(tn_error(), order[i].sentence);
    }
}

/* Without a dst, without sources, without data; aliases that are allowed. */
static void calls_of_other_kinds(void **state)
{
    (void)state;
    tn_tensor a = matrix(), b = matrix(), none = matrix(), empty = matrix();
    none.data = empty.data = NULL;
    empty.shape[1] = 0;
    const tn_tensor *srcs[] = {&b}, *bare[] = {&none}, *nothing[] = {NULL}, *zero[] = {&empty};
    tni_call call = {.name = "x", .flags = TNI_NO_DST, .n = 1, .srcs = srcs};
    assert_int_equal(tni_check_call(&call), TN_OK);
    call.srcs = bare;
    assert_int_equal(tni_check_call(&call), TN_ENULL);
    call.srcs = zero;
    assert_int_equal(tni_check_call(&call), TN_OK);
    call.srcs = nothing;
    assert_int_equal(tni_check_call(&call), TN_ENULL);
    call.srcs = NULL;
    assert_int_equal(tni_check_call(&call), TN_ENULL);
    call.n = 0;
    assert_int_equal(tni_check_call(&call), TN_OK);

    call = (tni_call){.name = "x", .dst = &a, .n = 1, .srcs = srcs};
    assert_int_equal(tni_check_call(&call), TN_EOVERLAP);
    call.flags = TNI_ALLOW_ALIAS;
    assert_int_equal(tni_check_call(&call), TN_OK);
    call.srcs = bare;
    call.flags = TNI_NO_DATA;
    assert_int_equal(tni_check_call(&call), TN_OK);
    call.dst = NULL;
    assert_int_equal(tni_check_call(&call), TN_ENULL);

    call = (tni_call){.name = "x", .dst = &empty, .n = 1, .srcs = bare}; /* may be read */
    assert_int_equal(tni_check_call(&call), TN_ENULL);
    empty.data = cells;
    assert_int_equal(tni_check_call(&call), TN_ENULL);
    call.srcs = zero;
    assert_int_equal(tni_check_call(&call), TN_OK);
    empty.data = NULL;
    assert_int_equal(tni_check_call(&call), TN_OK);
    call.srcs = bare;
    call.dst = &a;
    assert_int_equal(tni_check_call(&call), TN_ENULL);
    none.ndim = 0; /* one element is one that is read */
    assert_int_equal(tni_check_call(&call), TN_ENULL);
    assert_string_equal(tn_error(), "x: src has 1 elements but data is NULL");
}

/* ---- sources brought to dst's shape ---- */

static const struct {
    const char *dst, *a, *b; /* extents, one digit each */
    const char *sentence;    /* NULL: they broadcast */
} rows[] = {
    {"234", "234", "234", NULL},
    {"234", "34", "1", NULL},
    {"234", "214", "4", NULL},
    {"234", "", "31", NULL},
    {"234", "235", "4", "x: axis 2: extents 5 and 4 do not broadcast"},
    {"34", "234", "34", "x: dst has 2 axes, the sources broadcast to 3"},
    {"234", "334", "1", "x: axis 0: dst has extent 2, src 0 has 3"},
    {"234", "34", "254", "x: axis 1: extents 3 and 5 do not broadcast"},
    {"234", "334", "234", "x: axis 0: extents 3 and 2 do not broadcast"},
    {"234", "1", "254", "x: axis 1: dst has extent 3, src 1 has 5"},
    {"234", "254", "254", "x: axis 1: dst has extent 3, src 0 has 5"},
    {"234", "235", "254", "x: axis 1: extents 3 and 5 do not broadcast"},
    {"134", "134", "234", "x: axis 0: dst has extent 1, src 1 has 2"},
};

static tn_tensor of_digits(const char *digits)
{
    tn_tensor t;
    int64_t shape[4];
    int n = 0;
    for (; digits[n]; n++)
        shape[n] = digits[n] - '0';
    assert_int_equal(tn_init(&t, cells, TN_F32, n, shape), TN_OK);
    return t;
}

static void sources_broadcast_to_dst(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_tensor dst = of_digits(rows[i].dst), a = of_digits(rows[i].a),
                  b = of_digits(rows[i].b), repeated[2];
        const tn_tensor **srcs = malloc(2 * sizeof *srcs), *ts[3]; /* two places, no more */
        assert_non_null(srcs);
        srcs[0] = &a;
        srcs[1] = &b;
        const tn_status got = tni_broadcast_operands(ts, repeated, "x", &dst, 2, srcs);
        assert_int_equal(got, rows[i].sentence ? TN_ESHAPE : TN_OK);
        assert_int_equal(tni_broadcast_check("x", &dst, 2, srcs), got);
        if (rows[i].sentence) {
            assert_string_equal(tn_error(), rows[i].sentence);
            free(srcs);
            continue;
        }
        assert_ptr_equal(ts[0], &dst);
        for (int k = 0; k < 2; k++) {
            tn_tensor want;
            assert_int_equal(tn_broadcast_to(&want, srcs[k], dst.ndim, dst.shape), TN_OK);
            const bool same = tni_has_shape(srcs[k], dst.ndim, dst.shape);
            assert_ptr_equal(ts[k + 1], same ? srcs[k] : &repeated[k]);
            assert_int_equal(ts[k + 1]->ndim, dst.ndim);
            for (int j = 0; j < dst.ndim; j++) {
                assert_int_equal(ts[k + 1]->shape[j], dst.shape[j]);
                if (dst.shape[j] > 1)
                    assert_int_equal(ts[k + 1]->stride[j], want.stride[j]);
            }
        }
        free(srcs);
    }
}

/* Operands may have names of their own; each is named where it fails. */
static void operands_have_names(void **state)
{
    (void)state;
    static const char *const list[] = {"not a name", "out", "a", "b"}, *const *names = list + 1;
    tn_tensor dst = matrix(), a = matrix(), b = matrix();
    const tn_tensor *srcs[] = {&a, &b};
    dst.data = cells + 32;
    tni_call call = {.name = "x",
                     .dst = &dst,
                     .n = 2,
                     .srcs = srcs,
                     .names = names,
                     .shapes = tni_call_same_shapes};
    b.shape[1] = 4;
    assert_int_equal(tni_check_call(&call), TN_ESHAPE);
    assert_string_equal(tn_error(), "x: b: axis 1: got extent 4, expected 3");
    call.names = NULL;
    assert_int_equal(tni_check_call(&call), TN_ESHAPE);
    assert_string_equal(tn_error(), "x: src 1: axis 1: got extent 4, expected 3");
    call.names = names;
    a.shape[1] = 4;
    assert_int_equal(tni_check_call(&call), TN_ESHAPE);
    assert_string_equal(tn_error(), "x: out: axis 1: got extent 3, expected 4");
    dst.flags = TN_READONLY;
    assert_int_equal(tni_check_call(&call), TN_EARG);
    assert_string_equal(tn_error(), "x: out is read-only (TN_READONLY)");
    dst.data = NULL;
    assert_int_equal(tni_call_data(&call), TN_ENULL);
    assert_string_equal(tn_error(), "x: out has 6 elements but data is NULL");
    assert_int_equal(tni_check_disjoint(&a, &b, false, "x", names), TN_EOVERLAP);
    assert_string_equal(tn_error(), "x: out and a share bytes");
    assert_int_equal(tni_check_disjoint(&a, &b, false, "x", NULL), TN_EOVERLAP);
    assert_string_equal(tn_error(), "x: dst and src share bytes");
    assert_int_equal(tni_call_sizes(&call), TN_OK);
    b.stride[0] = b.stride[1] = INT64_MAX / 2;
    assert_int_equal(tni_call_sizes(&call), TN_EOVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_come_in_order),
        cmocka_unit_test(calls_of_other_kinds),
        cmocka_unit_test(sources_broadcast_to_dst),
        cmocka_unit_test(operands_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
