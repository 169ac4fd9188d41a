/* test_view_errors.c - broken tensors, another device, and which of several failures comes
 * first: the status, the sentence, and nothing changed. */
#include <stdlib.h>

#include "view_refused.h"

/* ---- every call that takes one tensor, with everything that can be wrong with it ---- */

static tn_status unsqueeze(const tn_tensor *in)
{
    return tn_unsqueeze(&out, in, 0);
}
static tn_status squeeze(const tn_tensor *in)
{
    return tn_squeeze(&out, in, 1);
}
static tn_status squeeze_all(const tn_tensor *in)
{
    return tn_squeeze_all(&out, in);
}
static tn_status permute(const tn_tensor *in)
{
    return tn_permute(&out, in, (int[]){1, 0});
}
static tn_status transpose(const tn_tensor *in)
{
    return tn_transpose(&out, in, 0, 1);
}
static tn_status slice(const tn_tensor *in)
{
    return tn_slice(&out, in, 0, 0, 1, 1);
}
static tn_status window(const tn_tensor *in)
{
    return tn_view(&out, in, (int64_t[]){0, 0}, (int64_t[]){0, 0}, NULL, 0);
}
static tn_status broadcast_to(const tn_tensor *in)
{
    const int64_t n = in && in->ndim == 2 ? in->shape[0] : 1;
    return tn_broadcast_to(&out, in, 2, (int64_t[]){n, 2});
}
static tn_status reshape(const tn_tensor *in)
{
    return tn_reshape(&out, in, 1, (int64_t[]){-1});
}
static tn_status flip(const tn_tensor *in)
{
    return tn_flip(&out, in, 0);
}
static tn_status diagonal(const tn_tensor *in)
{
    return tn_diagonal(&out, in, 0, 1);
}
static tn_status windows(const tn_tensor *in)
{
    return tn_windows(&out, in, 1, 1, 1);
}
static tn_status extent(const tn_tensor *t)
{
    int64_t low = 5, high = 6;
    const tn_status status = tn_extent(t, &low, &high);
    assert_true(low == 5 && high == 6);
    return status;
}
static tn_status print(const tn_tensor *t)
{
    char text[8] = "as was";
    const tn_status status = tn_print(t, text, sizeof text);
    assert_string_equal(text, "as was");
    return status;
}
static tn_status broadcast_shape(const tn_tensor *t)
{
    int ndim = 9;
    int64_t shape[TN_MAX_NDIM] = {7, 8};
    const tn_status status = tn_broadcast_shape(1, &t, &ndim, shape);
    assert_true(ndim == 9 && shape[0] == 7 && shape[1] == 8);
    return status;
}

static const struct {
    const char *name; /* call and operand */
    tn_status (*call)(const tn_tensor *);
    const char *null; /* the sentence about NULL */
} calls[] = {
    {"unsqueeze: in", unsqueeze, "unsqueeze: in is NULL"},
    {"squeeze: in", squeeze, "squeeze: in is NULL"},
    {"squeeze_all: in", squeeze_all, "squeeze_all: in is NULL"},
    {"permute: in", permute, "permute: in is NULL"},
    {"transpose: in", transpose, "transpose: in is NULL"},
    {"slice: in", slice, "slice: in is NULL"},
    {"view: in", window, "view: in is NULL"},
    {"broadcast_to: in", broadcast_to, "broadcast_to: in is NULL"},
    {"reshape: in", reshape, "reshape: in is NULL"},
    {"flip: in", flip, "flip: in is NULL"},
    {"diagonal: in", diagonal, "diagonal: in is NULL"},
    {"windows: in", windows, "windows: in is NULL"},
    {"extent: t", extent, "extent: t is NULL"},
    {"print: t", print, "print: t is NULL"},
    {"broadcast_shape: src", broadcast_shape, "broadcast_shape: src is NULL"},
};

/* A (2, 1) f32 tensor, as each row spoils it; all that comes later in the order is spoilt
 * too. */
static const struct {
    tn_status status;
    int ndim, dtype;
    int64_t shape[2], stride[2];
    const char *sentence; /* after the operand's name */
} broken[] = {
    {TN_EARG, -1, 0, {-1, 1}, {0, 0}, ": ndim -1 is out of range [0, 64]"},
    {TN_EARG, 65, 0, {-1, 1}, {0, 0}, ": ndim 65 is out of range [0, 64]"},
    {TN_EDTYPE, 2, 0, {2, 1}, {4, 4}, ": dtype 0 is out of range [1, 17]"},
    {TN_EDTYPE, 2, 18, {INT64_MAX, 1}, {4, 4}, ": dtype 18 is out of range [1, 17]"},
    {TN_EDTYPE, 2, -1, {INT64_MAX, 1}, {4, 4}, ": dtype -1 is out of range [1, 17]"},
    {TN_EOVERFLOW, 2, TN_F32, {INT64_MAX, 1}, {0, 0}, ": size exceeds 2^63 - 1 bytes"},
    {TN_EOVERFLOW,
     2,
     TN_F32,
     {3, 1},
     {INT64_MAX / 2, 0},
     ": strides span more than 2^63 - 1 bytes"},
    {TN_EOVERFLOW,
     2,
     TN_F32,
     {2, 1},
     {INT64_MIN, 0},
     ": strides span more than 2^63 - 1 bytes"},
    {TN_EOVERFLOW,
     2,
     TN_F32,
     {2, 1},
     {INT64_MAX - 3, 0},
     ": strides span more than 2^63 - 1 bytes"},
};

static tn_tensor spoilt(int k)
{
    tn_tensor t = {.dtype = (tn_dtype)broken[k].dtype, .ndim = broken[k].ndim};
    memcpy(t.shape, broken[k].shape, sizeof broken[k].shape);
    memcpy(t.stride, broken[k].stride, sizeof broken[k].stride);
    return t;
}

static void broken_tensors_are_told_by_every_call(void **state)
{
    (void)state;
    reset();
    for (int c = 0; c < COUNT(calls); c++) {
        refused(calls[c].call(NULL), TN_ENULL, calls[c].null, calls[c].name);
        for (int k = 0; k < COUNT(broken); k++) {
            const tn_tensor t = spoilt(k);
            char sentence[200];
            snprintf(sentence, sizeof sentence, "%s%s", calls[c].name, broken[k].sentence);
            refused(calls[c].call(&t), broken[k].status, sentence, calls[c].name);
        }
    }
}

/* A negative extent is a bad shape; a window or an index cannot be inside such an axis, and
 * that comes first. */
static void negative_extents_are_told_by_every_call(void **state)
{
    (void)state;
    reset();
    const tn_tensor t = {.dtype = TN_F32, .ndim = 2, .shape = {1, -5}, .stride = {4, 4}};
    for (int c = 0; c < COUNT(calls); c++)
        refused(calls[c].call(&t), calls[c].call == window ? TN_EARG : TN_ESHAPE, NULL,
                calls[c].name);
    REFUSED(tn_select(&out, &t, 0, 0), TN_ESHAPE,
            "select: in: axis 1 has a negative extent, got -5");
    REFUSED(tn_select(&out, &t, 1, 0), TN_EARG,
            "select: index 0 of axis 1 is out of range [0, -5)");
    assert_int_equal(tn_numel(&t), 0);
    assert_string_equal(tn_error(), "numel: t: axis 1 has a negative extent, got -5");
    const tn_tensor first = {.dtype = TN_F32, .ndim = 2, .shape = {-2, -5}};
    const tn_tensor zero = {.dtype = TN_F32, .ndim = 2, .shape = {0, -5}};
    const tn_tensor only = {.dtype = TN_F32, .ndim = 1, .shape = {-2, 5}};
    REFUSED(tni_check(&first, "x"), TN_ESHAPE, "x: axis 0 has a negative extent, got -2");
    REFUSED(tni_check(&zero, "x"), TN_ESHAPE, "x: axis 1 has a negative extent, got -5");
    REFUSED(tni_check(&only, "x"), TN_ESHAPE, "x: axis 0 has a negative extent, got -2");
}

static void facts_of_broken_tensors_are_nothing(void **state)
{
    (void)state;
    const int64_t index[2] = {0, 0};
    assert_int_equal(tn_numel(NULL), 0);
    assert_string_equal(tn_error(), "numel: t is NULL");
    assert_int_equal(tn_nbytes(NULL), 0);
    assert_false(tn_is_contiguous(NULL));
    assert_false(tn_has_broadcast(NULL));
    assert_false(tn_is_mergeable(NULL, 0, 0));
    assert_null(tn_at(NULL, index));
    for (int k = 0; k < COUNT(broken); k++) {
        const tn_tensor t = spoilt(k);
        assert_int_equal(tn_numel(&t), 0);
        assert_non_null(strstr(tn_error(), broken[k].sentence));
        assert_int_equal(tn_nbytes(&t), 0);
        assert_false(tn_is_contiguous(&t));
        assert_false(tn_has_broadcast(&t));
        assert_false(tn_is_mergeable(&t, 0, 0));
        assert_null(tn_at(&t, index));
    }
}

/* ---- the device matters only where elements are touched ---- */

static void another_device_is_refused_by_those_that_touch_elements(void **state)
{
    (void)state;
    reset();
    float x[2] = {1, 2};
    tn_tensor t;
    assert_int_equal(tn_init(&t, x, TN_F32, 2, (int64_t[]){2, 1}), TN_OK);
    t.device = 3;
    for (int c = 0; c < COUNT(calls); c++)
        if (calls[c].call != print && calls[c].call != extent &&
            calls[c].call != broadcast_shape)
            assert_int_equal(calls[c].call(&t), TN_OK);
    assert_int_equal(tn_numel(&t), 2);
    assert_non_null(tn_at(&t, (int64_t[]){1, 0}));
    reset();
    REFUSED(print(&t), TN_EDEVICE, "print: t: device 3 is not TN_CPU (0)");
    REFUSED(tni_check(&t, "x"), TN_EDEVICE, "x: device 3 is not TN_CPU (0)");
    t.dtype = (tn_dtype)0;
    REFUSED(print(&t), TN_EDEVICE, NULL);
}

/* ---- which failure comes first ---- */

static void the_first_of_the_list_is_told(void **state)
{
    (void)state;
    reset();
    tn_tensor all = {.dtype = (tn_dtype)77, .ndim = 2, .shape = {-1, INT64_MAX}};
    all.stride[1] = INT64_MAX;
    tn_tensor ranked = all;
    ranked.ndim = 99;
    /* NULL before ndim */
    REFUSED(tn_permute(&out, &ranked, NULL), TN_ENULL, NULL);
    REFUSED(tn_view(&out, &ranked, NULL, NULL, NULL, 1), TN_ENULL, NULL);
    REFUSED(tn_view(&out, &ranked, all.shape, all.shape, NULL, 1), TN_ENULL, NULL);
    REFUSED(tn_reshape(&out, &ranked, 1, NULL), TN_ENULL, NULL);
    REFUSED(tn_broadcast_to(&out, &ranked, 1, NULL), TN_ENULL, NULL);
    REFUSED(tn_extent(&ranked, NULL, NULL), TN_ENULL, NULL);
    REFUSED(tn_print(&ranked, NULL, 0), TN_ENULL, NULL);
    /* axes and numbers before dtype, extents and size */
    REFUSED(tn_unsqueeze(&out, &all, 3), TN_EARG, NULL);
    REFUSED(tn_squeeze(&out, &all, 2), TN_EARG, NULL);
    REFUSED(tn_permute(&out, &all, (int[]){0, 0}), TN_EARG, NULL);
    REFUSED(tn_transpose(&out, &all, 0, 2), TN_EARG, NULL);
    REFUSED(tn_slice(&out, &all, 0, 0, 0, 0), TN_EARG, NULL);
    REFUSED(tn_select(&out, &all, 1, INT64_MAX), TN_EARG, NULL);
    REFUSED(tn_view(&out, &all, (int64_t[]){0, 1}, (int64_t[]){0, INT64_MAX}, NULL, 0), TN_EARG,
            NULL);
    REFUSED(tn_broadcast_to(&out, &all, 65, all.shape), TN_EARG, NULL);
    REFUSED(tn_reshape(&out, &all, 65, all.shape), TN_EARG, NULL);
    REFUSED(tn_flip(&out, &all, 2), TN_EARG, NULL);
    REFUSED(tn_diagonal(&out, &all, 0, 0), TN_EARG, NULL);
    REFUSED(tn_windows(&out, &all, 0, 1, 0), TN_EARG, NULL);
    REFUSED(tn_print(&all, (char *)&all, 0), TN_EARG, NULL);
    /* dtype before shapes */
    all.shape[0] = 2;
    const int64_t window[] = {2, 2}, nil[] = {0, 0};
    REFUSED(tn_squeeze(&out, &all, 0), TN_EDTYPE, NULL);
    REFUSED(tn_view(&out, &all, window, nil, (int[]){0}, 1), TN_EDTYPE, NULL);
    REFUSED(tn_broadcast_to(&out, &all, 1, window), TN_EDTYPE, NULL);
    REFUSED(tn_reshape(&out, &all, 2, (int64_t[]){-1, -1}), TN_EDTYPE, NULL);
    REFUSED(tn_windows(&out, &all, 0, 5, 1), TN_EDTYPE, NULL);
    /* shapes before size */
    all.dtype = TN_F64;
    REFUSED(tn_squeeze(&out, &all, 0), TN_ESHAPE, NULL);
    REFUSED(tn_view(&out, &all, window, nil, (int[]){0}, 1), TN_ESHAPE, NULL);
    REFUSED(tn_broadcast_to(&out, &all, 1, window), TN_ESHAPE, NULL);
    REFUSED(tn_reshape(&out, &all, 2, (int64_t[]){-1, -1}), TN_ESHAPE, NULL);
    REFUSED(tn_windows(&out, &all, 0, 5, 1), TN_ESHAPE, NULL);
    REFUSED(tn_squeeze_all(&out, &all), TN_EOVERFLOW, NULL);
}

/* Each rule for each of three operands: the first rule that any operand breaks is reported. */
static void several_operands_follow_one_order(void **state)
{
    (void)state;
    reset();
    float x[6];
    tn_tensor good, rank, device, dtype, shape, size, readonly;
    assert_int_equal(tn_init(&good, x, TN_F32, 2, (int64_t[]){2, 3}), TN_OK);
    rank = device = dtype = shape = size = readonly = good;
    rank.ndim = 65;
    device.device = 1;
    dtype.dtype = (tn_dtype)0;
    shape.shape[1] = -4;
    size.shape[1] = INT64_MAX;
    readonly.flags = TN_READONLY;
    const struct {
        const tn_tensor *t;
        tn_status status;
        const char *sentence;
    } rules[] = {
        {NULL, TN_ENULL, " is NULL"},
        {&rank, TN_EARG, ": ndim 65 is out of range [0, 64]"},
        {&device, TN_EDEVICE, ": device 1 is not TN_CPU (0)"},
        {&dtype, TN_EDTYPE, ": dtype 0 is out of range [1, 17]"},
        {&shape, TN_ESHAPE, ": axis 1 has a negative extent, got -4"},
        {&size, TN_EOVERFLOW, ": size exceeds 2^63 - 1 bytes"},
    };
    static const char *const operands[] = {"x: dst", "x: src 0", "x: src 1"};
    for (int a = 0; a < COUNT(rules); a++)
        for (int b = a; b < COUNT(rules); b++)
            for (int at = 0; at < 3; at++)
                for (int other = 0; other < 3; other++) {
                    if (other == at)
                        continue;
                    const tn_tensor *ts[3] = {&good, &good, &good};
                    ts[other] = rules[b].t;
                    ts[at] = rules[a].t;
                    char sentence[200];
                    snprintf(sentence, sizeof sentence, "%s%s",
                             operands[a == b && other < at ? other : at], rules[a].sentence);
                    refused(tni_check_all(TNI_EVERY, "x", ts[0], 2, ts + 1), rules[a].status,
                            sentence, "check_all");
                }
    const tn_tensor **one = malloc(sizeof *one); /* one place, no more */
    assert_non_null(one);
    one[0] = &good;
    assert_int_equal(tni_check_all(TNI_EVERY, "x", &good, 1, one), TN_OK);
    assert_int_equal(tni_check_all(TNI_EVERY, "x", &good, 0, NULL), TN_OK);
    REFUSED(tni_check_all(TNI_EVERY, "x", &good, 2, NULL), TN_ENULL,
            "x: srcs is NULL, expected 2 tensors");
    REFUSED(tni_check_all(TNI_EVERY, "x", &readonly, 1, one), TN_EARG,
            "x: dst is read-only (TN_READONLY)");
    one[0] = &dtype;
    REFUSED(tni_check_all(TNI_EVERY, "x", &readonly, 1, one), TN_EARG, NULL);
    REFUSED(tni_check_all(TNI_EVERY, "x", &good, 1, one), TN_EDTYPE,
            "x: src: dtype 0 is out of range [1, 17]");
    assert_int_equal(tni_check_all(TNI_NULL | TNI_NDIM | TNI_DEVICE, "x", &good, 1, one),
                     TN_OK);
    REFUSED(tni_check_srcs(TNI_DTYPE, "x", 1, one), TN_EDTYPE,
            "x: src: dtype 0 is out of range [1, 17]");
    one[0] = &readonly;
    assert_int_equal(tni_check_all(TNI_EVERY, "x", &good, 1, one), TN_OK);
    REFUSED(tni_check_dst(&readonly, "x: dst"), TN_EARG, "x: dst is read-only (TN_READONLY)");
    assert_int_equal(tni_check_dst(&good, "x: dst"), TN_OK);
    readonly.dtype = (tn_dtype)0; /* a source may be read only, whatever else is wrong */
    REFUSED(tni_check(&readonly, "x"), TN_EDTYPE, NULL);
    REFUSED(tni_check_all(TNI_EVERY, "x", &good, 1, one), TN_EDTYPE, NULL);
    readonly.ndim = -1;
    REFUSED(tni_check_given(&readonly, "x"), TN_EARG, "x: ndim -1 is out of range [0, 64]");
    REFUSED(tni_check_all(TNI_EVERY, "x", &readonly, 1, one), TN_EARG,
            "x: dst: ndim -1 is out of range [0, 64]");
    readonly = good;
    readonly.flags = TN_READONLY;
    REFUSED(tni_check_all(TNI_EVERY, "x", &good, 1, NULL), TN_ENULL,
            "x: srcs is NULL, expected 1 tensors");
    assert_int_equal(tni_check_all(TNI_EVERY, "x", &good, -3, NULL), TN_OK);
    assert_int_equal(tni_check_all(TNI_NULL, "x", &good, 0, NULL), TN_OK);
    assert_int_equal(tni_check(&readonly, "x: src"), TN_OK);
    free(one);
}

static void shapes_and_data_of_operands(void **state)
{
    (void)state;
    reset();
    tn_tensor a, b;
    assert_int_equal(tn_init(&a, NULL, TN_F32, 3, (int64_t[]){2, 3, 6}), TN_OK);
    assert_int_equal(tn_init(&b, NULL, TN_F32, 3, (int64_t[]){2, 3, 5}), TN_OK);
    REFUSED(tni_check_shape(&a, b.ndim, b.shape, "x", "a"), TN_ESHAPE,
            "x: a: axis 2: got extent 6, expected 5");
    b.shape[0] = 7;
    REFUSED(tni_check_shape(&a, b.ndim, b.shape, "x", "a"), TN_ESHAPE,
            "x: a: axis 0: got extent 2, expected 7");
    b.ndim = a.ndim = 1;
    b.shape[0] = 2;
    b.shape[1] = 99;
    assert_int_equal(tni_check_shape(&a, b.ndim, b.shape, "x", "a"), TN_OK);
    a.ndim = 3;
    b.ndim = 2;
    REFUSED(tni_check_shape(&a, b.ndim, b.shape, "x", "a"), TN_ESHAPE,
            "x: a: got 3 axes, expected 2");
    assert_int_equal(tni_check_shape(&a, a.ndim, a.shape, "x", "a"), TN_OK);
    REFUSED(tni_check_data(&a, "x: a"), TN_ENULL, "x: a has 36 elements but data is NULL");
    a.shape[1] = 0;
    assert_int_equal(tni_check_data(&a, "x: a"), TN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_tensors_are_told_by_every_call),
        cmocka_unit_test(negative_extents_are_told_by_every_call),
        cmocka_unit_test(facts_of_broken_tensors_are_nothing),
        cmocka_unit_test(another_device_is_refused_by_those_that_touch_elements),
        cmocka_unit_test(the_first_of_the_list_is_told),
        cmocka_unit_test(several_operands_follow_one_order),
        cmocka_unit_test(shapes_and_data_of_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
