/* test_view_examples.c - worked examples: shapes of squeeze and pad, flat indices and padded
 * shapes, slices that drop axes, Python's slices, facts, broadcast shapes. */
#include "view_oracle.h"

#define OK(call) assert_int_equal((call), TN_OK)

typedef struct dims {
    int ndim;
    int64_t n[6];
} dims;

static void shape_is(const tn_tensor *t, const dims *want, const char *says)
{
    if (t->ndim != want->ndim)
        fail_msg("%s: %d axes, not %d", says, t->ndim, want->ndim);
    for (int i = 0; i < want->ndim; i++)
        if (t->shape[i] != want->n[i])
            fail_msg("%s: axis %d is %lld", says, i, (long long)t->shape[i]);
}

/* ---- inserting and dropping axes ---- */

static const struct {
    const char *says;
    bool insert;
    dims in;
    int dim;
    tn_status status;
    dims out;
} axes[] = {
    {"a scalar becomes (1)", true, {0, {0}}, 0, TN_OK, {1, {1}}},
    {"(3) becomes (1, 3)", true, {1, {3}}, 0, TN_OK, {2, {1, 3}}},
    {"(2, 3) becomes (2, 1, 3)", true, {2, {2, 3}}, 1, TN_OK, {3, {2, 1, 3}}},
    {"(2, 3) becomes (2, 3, 1)", true, {2, {2, 3}}, 2, TN_OK, {3, {2, 3, 1}}},
    {"no axis before the first", true, {2, {2, 3}}, -1, TN_EARG, {0, {0}}},
    {"no axis behind the end", true, {2, {2, 3}}, 3, TN_EARG, {0, {0}}},
    {"(1) becomes a scalar", false, {1, {1}}, 0, TN_OK, {0, {0}}},
    {"(1, 3) becomes (3)", false, {2, {1, 3}}, 0, TN_OK, {1, {3}}},
    {"(2, 1, 3) becomes (2, 3)", false, {3, {2, 1, 3}}, 1, TN_OK, {2, {2, 3}}},
    {"(2, 3, 1) becomes (2, 3)", false, {3, {2, 3, 1}}, 2, TN_OK, {2, {2, 3}}},
    {"an axis of 2 stays", false, {2, {2, 3}}, 0, TN_ESHAPE, {0, {0}}},
    {"a scalar has no axis", false, {0, {0}}, 0, TN_EARG, {0, {0}}},
    {"no axis -1", false, {2, {1, 3}}, -1, TN_EARG, {0, {0}}},
};

static void axes_come_and_go(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(axes); k++) {
        tn_tensor t, out;
        OK(tn_init(&t, NULL, TN_F32, axes[k].in.ndim, axes[k].in.n));
        const tn_status status = axes[k].insert ? tn_unsqueeze(&out, &t, axes[k].dim)
                                                : tn_squeeze(&out, &t, axes[k].dim);
        if (status != axes[k].status)
            fail_msg("%s: %s", axes[k].says, tn_status_name(status));
        if (status == TN_OK)
            shape_is(&out, &axes[k].out, axes[k].says);
    }
    tn_tensor image, there;
    OK(tn_init(&image, NULL, TN_F32, 2, (int64_t[]){224, 224}));
    OK(tn_unsqueeze(&there, &image, 0));
    OK(tn_unsqueeze(&there, &there, 0));
    shape_is(&there, &(dims){4, {1, 1, 224, 224}}, "an image with channel and batch");
    assert_true(tn_is_contiguous(&there));
    OK(tn_squeeze_all(&there, &there));
    assert_true(tni_same(&there, &image));
}

/* ---- flat indices and padded shapes ---- */

static void a_flat_index_finds_its_offset(void **state)
{
    (void)state;
    const int64_t shape[] = {2, 3, 4}, stride[] = {48, 16, 4};
    int64_t offset = 0;
    OK(tn_index_to_offset(5, 3, shape, stride, &offset));
    assert_int_equal(offset, 20);
    OK(tn_index_to_offset(23, 3, shape, stride, &offset));
    assert_int_equal(offset, 92);
    OK(tn_index_to_offset(5, 3, shape, (int64_t[]){-48, 0, 4}, &offset));
    assert_int_equal(offset, 4);
    OK(tn_index_to_offset(0, 0, NULL, NULL, &offset));
    assert_int_equal(offset, 0);
    OK(tn_index_to_offset(3, 3, (int64_t[]){1, 4, 1}, (int64_t[]){INT64_MIN, 8, INT64_MAX},
                          &offset));
    assert_int_equal(offset, 24);
}

static const struct {
    const char *says;
    dims shape;
    int64_t pads[4];
    int64_t out[6], count;
} padded[] = {
    {"nchw grows in h and w", {4, {1, 3, 32, 32}}, {1, 1}, {1, 3, 34, 34}, 3468},
    {"nhwc grows in w and c", {4, {1, 32, 32, 3}}, {1, 1}, {1, 32, 34, 5}, 5440},
    {"different pads", {4, {2, 3, 4, 5}}, {1, 2}, {2, 3, 6, 9}, 324},
    {"three axes", {3, {2, 3, 4}}, {2}, {2, 3, 8}, 48},
    {"a pad of 0", {4, {1, 2, 3, 4}}, {0, 1}, {1, 2, 3, 6}, 36},
    {"as many as fit", {1, {INT64_MAX}}, {0}, {INT64_MAX}, INT64_MAX},
    {"two axes stay", {2, {5, 6}}, {9}, {5, 6}, 30},
    {"no axes", {0, {0}}, {0}, {0}, 1},
    {"an empty axis grows too", {3, {2, 3, 0}}, {1}, {2, 3, 2}, 12},
    {"an empty batch stays", {3, {0, 3, 4}}, {1}, {0, 3, 6}, 0},
};

static void shapes_grow_from_axis_two(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(padded); k++) {
        int64_t out[7] = {0}, in_place[6], count = -1;
        out[padded[k].shape.ndim] = -77;
        const dims *shape = &padded[k].shape;
        const int64_t *pads = shape->ndim > 2 ? padded[k].pads : NULL;
        OK(tn_padded_shape(shape->ndim, shape->n, pads, out));
        OK(tn_padded_size(shape->ndim, shape->n, pads, &count));
        memcpy(in_place, shape->n, sizeof in_place);
        OK(tn_padded_shape(shape->ndim, in_place, pads, in_place));
        for (int i = 0; i < shape->ndim; i++)
            if (out[i] != padded[k].out[i] || in_place[i] != out[i])
                fail_msg("%s: axis %d is %lld", padded[k].says, i, (long long)out[i]);
        assert_int_equal(count, padded[k].count);
        assert_int_equal(out[shape->ndim], -77);
    }
}

/* ---- slices that drop axes ---- */

/* C of shape (4, 5, 6, 7): each element holds its own place as a number. */
static int32_t cube[4][5][6][7];

static void fill_cube(tn_tensor *c)
{
    for (int i = 0; i < 4 * 5 * 6 * 7; i++)
        (&cube[0][0][0][0])[i] = i;
    OK(tn_init(c, cube, TN_I32, 4, (int64_t[]){4, 5, 6, 7}));
}

static void indexing_drops_axes(void **state)
{
    (void)state;
    tn_tensor c, v, w;
    fill_cube(&c);
    /* C[2] */
    OK(tn_view(&v, &c, (int64_t[]){1, 5, 6, 7}, (int64_t[]){2, 0, 0, 0}, (int[]){0}, 1));
    shape_is(&v, &(dims){3, {5, 6, 7}}, "C[2]");
    assert_ptr_equal(v.data, &cube[2]);
    assert_true(tn_is_contiguous(&v));
    OK(tn_select(&w, &c, 0, 2));
    assert_true(tni_same(&v, &w));
    /* C[2, 3, :, :] */
    OK(tn_view(&v, &c, (int64_t[]){1, 1, 6, 7}, (int64_t[]){2, 3, 0, 0}, (int[]){1, 0}, 2));
    shape_is(&v, &(dims){2, {6, 7}}, "C[2, 3]");
    assert_ptr_equal(v.data, &cube[2][3]);
    OK(tn_reshape(&w, &v, 1, (int64_t[]){42}));
    assert_ptr_equal(tn_at(&w, (int64_t[]){41}), &cube[2][3][5][6]);
    /* C[:, 3, 1:4, 6]: dropped axes in the middle and at the end, a gapped rest */
    OK(tn_view(&v, &c, (int64_t[]){4, 1, 3, 1}, (int64_t[]){0, 3, 1, 6}, (int[]){1, 3}, 2));
    shape_is(&v, &(dims){2, {4, 3}}, "C[:, 3, 1:4, 6]");
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 3; j++)
            assert_ptr_equal(tn_at(&v, (int64_t[]){i, j}), &cube[i][3][1 + j][6]);
    assert_false(tn_is_contiguous(&v));
    assert_int_equal(tn_reshape(&w, &v, 1, (int64_t[]){12}), TN_ESTRIDE);
    OK(tn_reshape(&w, &v, 3, (int64_t[]){2, 2, 3}));
    assert_ptr_equal(tn_at(&w, (int64_t[]){1, 0, 2}), &cube[2][3][3][6]);
    /* all axes */
    OK(tn_view(&v, &c, (int64_t[]){1, 1, 1, 1}, (int64_t[]){3, 4, 5, 6}, (int[]){3, 1, 0, 2},
               4));
    assert_int_equal(v.ndim, 0);
    assert_ptr_equal(v.data, &cube[3][4][5][6]);
    /* none: a plain window */
    OK(tn_view(&v, &c, (int64_t[]){2, 2, 2, 2}, (int64_t[]){1, 1, 1, 1}, NULL, 0));
    assert_ptr_equal(tn_at(&v, (int64_t[]){1, 1, 1, 1}), &cube[2][2][2][2]);
}

static void views_of_views_drop_axes_too(void **state)
{
    (void)state;
    tn_tensor c, v;
    fill_cube(&c);
    /* permuted: P[i][j][k][l] = C[l][i][k][j] */
    OK(tn_permute(&v, &c, (int[]){1, 3, 2, 0}));
    OK(tn_view(&v, &v, (int64_t[]){1, 7, 1, 4}, (int64_t[]){4, 0, 5, 0}, (int[]){0, 2}, 2));
    assert_ptr_equal(tn_at(&v, (int64_t[]){6, 3}), &cube[3][4][5][6]);
    /* flipped */
    OK(tn_flip(&v, &c, 1));
    OK(tn_view(&v, &v, (int64_t[]){4, 1, 6, 7}, (int64_t[]){0, 1, 0, 0}, (int[]){1}, 1));
    assert_ptr_equal(tn_at(&v, (int64_t[]){1, 2, 3}), &cube[1][3][2][3]);
    /* sliced, then a window that drops, then again */
    OK(tn_slice(&v, &c, 2, 1, 6, 2));
    OK(tn_view(&v, &v, (int64_t[]){3, 4, 1, 7}, (int64_t[]){1, 1, 2, 0}, (int[]){2}, 1));
    OK(tn_view(&v, &v, (int64_t[]){1, 3, 1}, (int64_t[]){2, 1, 4}, (int[]){2, 0}, 2));
    shape_is(&v, &(dims){1, {3}}, "a window of a window");
    assert_ptr_equal(tn_at(&v, (int64_t[]){2}), &cube[3][4][5][4]);
    /* broadcast: the repeated axis is dropped, or kept */
    tn_tensor row;
    OK(tn_select(&row, &c, 0, 1));
    OK(tn_select(&row, &row, 0, 2));
    OK(tn_broadcast_to(&row, &row, 3, (int64_t[]){9, 6, 7}));
    OK(tn_view(&v, &row, (int64_t[]){1, 6, 1}, (int64_t[]){8, 0, 6}, (int[]){0, 2}, 2));
    assert_ptr_equal(tn_at(&v, (int64_t[]){5}), &cube[1][2][5][6]);
    OK(tn_view(&v, &row, (int64_t[]){9, 1, 1}, (int64_t[]){0, 3, 4}, (int[]){1, 2}, 2));
    assert_true(tn_has_broadcast(&v));
    assert_ptr_equal(tn_at(&v, (int64_t[]){7}), &cube[1][2][3][4]);
}

static void empty_windows_begin_anywhere(void **state)
{
    (void)state;
    tn_tensor c, v;
    fill_cube(&c);
    OK(tn_view(&v, &c, (int64_t[]){0, 5, 6, 7}, (int64_t[]){4, 0, 0, 0}, NULL, 0));
    assert_int_equal(tn_numel(&v), 0);
    OK(tn_view(&v, &c, (int64_t[]){1, 0, 0, 7}, (int64_t[]){3, 5, 6, 0}, (int[]){0}, 1));
    shape_is(&v, &(dims){3, {0, 0, 7}}, "an empty window");
    OK(tn_init(&c, NULL, TN_I8, 1, (int64_t[]){0}));
    OK(tn_view(&v, &c, (int64_t[]){0}, (int64_t[]){0}, NULL, 0));
    assert_null(v.data);
}

/* ---- Python's slices of range(10) and of a few others ---- */

static const struct {
    int64_t n, start, stop, step;
    int count;
    int64_t want[12];
} slices[] = {
    {10, 0, 10, 1, 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {10, 2, 7, 2, 3, {2, 4, 6}},
    {10, 2, 8, 2, 3, {2, 4, 6}},
    {10, 2, 9, 2, 4, {2, 4, 6, 8}},
    {10, -3, INT64_MAX, 1, 3, {7, 8, 9}},
    {10, 0, -7, 1, 3, {0, 1, 2}},
    {10, -100, 2, 1, 2, {0, 1}},
    {10, 5, 5, 1, 0, {0}},
    {10, 7, 2, 1, 0, {0}},
    {10, 20, 30, 1, 0, {0}},
    {10, 9, INT64_MIN, -1, 10, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
    {10, INT64_MAX, INT64_MIN, -4, 3, {9, 5, 1}},
    {10, 9, -1, -1, 0, {0}},
    {10, -1, -4, -1, 3, {9, 8, 7}},
    {10, 3, 8, -1, 0, {0}},
    {10, 8, 3, -2, 3, {8, 6, 4}},
    {10, 0, INT64_MIN, -1, 1, {0}},
    {10, -11, INT64_MIN, -1, 0, {0}},
    {10, 3, 10, INT64_MAX, 1, {3}},
    {10, 3, INT64_MIN, INT64_MIN, 1, {3}},
    {0, 0, 10, 1, 0, {0}},
    {0, -1, INT64_MIN, -1, 0, {0}},
    {1, -1, 1, 5, 1, {0}},
    {3, -3, -1, 1, 2, {0, 1}},
};

static void slices_are_pythons(void **state)
{
    (void)state;
    int64_t x[10];
    for (int k = 0; k < COUNT(slices); k++) {
        tn_tensor t;
        OK(tn_init(&t, x, TN_I64, 1, &slices[k].n));
        OK(tn_slice(&t, &t, 0, slices[k].start, slices[k].stop, slices[k].step));
        if (t.shape[0] != slices[k].count)
            fail_msg("row %d has %lld elements", k, (long long)t.shape[0]);
        for (int64_t i = 0; i < slices[k].count; i++)
            if (tn_at(&t, &i) != &x[slices[k].want[i]])
                fail_msg("row %d: element %lld", k, (long long)i);
    }
}

/* ---- facts ---- */

static const struct {
    const char *says;
    dims shape;
    int64_t stride[6];
    bool contiguous, broadcast;
    int64_t low, high;
} facts[] = {
    {"dense", {2, {2, 3}}, {12, 4}, true, false, 0, 24},
    {"transposed", {2, {3, 2}}, {4, 12}, false, false, 0, 24},
    {"gapped", {2, {2, 3}}, {16, 4}, false, false, 0, 28},
    {"reversed", {2, {2, 3}}, {-12, -4}, false, false, -20, 4},
    {"one axis reversed", {2, {2, 3}}, {12, -4}, false, false, -8, 16},
    {"repeated", {2, {2, 3}}, {0, 4}, false, true, 0, 12},
    {"repeated once", {2, {1, 3}}, {0, 4}, true, false, 0, 12},
    {"unit axes with garbage", {3, {1, 3, 1}}, {INT64_MIN, 4, INT64_MAX}, true, false, 0, 12},
    {"empty", {2, {0, 3}}, {-7, 0}, true, true, 0, 0},
    {"a scalar", {0, {0}}, {0}, true, false, 0, 4},
    {"one element", {2, {1, 1}}, {9, 9}, true, false, 0, 4},
};

static void facts_are_as_in_the_table(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(facts); k++) {
        tn_tensor t;
        int64_t low, high;
        OK(tn_init_strided(&t, NULL, TN_F32, facts[k].shape.ndim, facts[k].shape.n,
                           facts[k].stride));
        t.shape[t.ndim] = 5; /* what is behind ndim means nothing */
        t.stride[t.ndim] = 0;
        OK(tn_extent(&t, &low, &high));
        if (tn_is_contiguous(&t) != facts[k].contiguous ||
            tn_has_broadcast(&t) != facts[k].broadcast || low != facts[k].low ||
            high != facts[k].high)
            fail_msg("%s", facts[k].says);
    }
}

static void making_fills_every_field(void **state)
{
    (void)state;
    static const int64_t shape[] = {2, 0, 3}, stride[] = {-8, 1, 99};
    float x[6];
    tn_tensor t;
    memset(&t, 0xff, sizeof t);
    OK(tn_init(&t, x, TN_F32, 3, shape));
    assert_true(t.data == x && t.dtype == TN_F32 && t.ndim == 3 && t.device == TN_CPU &&
                t.flags == 0);
    assert_true(t.stride[2] == 4 && t.stride[1] == 12 && t.stride[0] == 12);
    memset(&t, 0xff, sizeof t);
    OK(tn_init_strided(&t, x, TN_BF16, 3, shape, stride));
    assert_true(t.data == x && t.dtype == TN_BF16 && t.device == TN_CPU && t.flags == 0);
    assert_memory_equal(t.stride, stride, sizeof stride);
    memset(&t, 0xff, sizeof t);
    OK(tn_init_const(&t, x, TN_F32, 3, shape, stride));
    assert_true(t.flags == TN_READONLY && t.data == x && t.device == TN_CPU);
    assert_memory_equal(t.stride, stride, sizeof stride);
    OK(tn_init_const(&t, x, TN_F32, 3, shape, NULL));
    assert_true(t.flags == TN_READONLY && t.stride[0] == 12);
    OK(tn_init(&t, NULL, TN_F64, 0, NULL));
    assert_int_equal(tn_numel(&t), 1);
    OK(tn_init_strided(&t, NULL, TN_F64, 0, NULL, NULL));
    /* its own shape, once more */
    OK(tn_init(&t, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_init(&t, x, TN_F64, t.ndim, t.shape));
    assert_true(t.shape[0] == 2 && t.shape[1] == 3 && t.stride[0] == 24 && t.stride[1] == 8);
    OK(tn_alloc(&t, TN_C128, 2, (int64_t[]){3, 5}));
    assert_int_equal((uintptr_t)t.data % 64, 0);
    assert_true(t.stride[0] == 80 && t.flags == 0 && t.device == TN_CPU);
    memset(t.data, 1, (size_t)tn_nbytes(&t));
    tn_free(&t);
    OK(tn_alloc(&t, TN_F32, 1, (int64_t[]){0}));
    tn_free(&t);
    assert_null(t.data);
}

/* ---- broadcast shapes ---- */

static const struct {
    int n;
    dims in[3], out;
} meetings[] = {
    {0, {{0, {0}}}, {0, {0}}},
    {1, {{2, {3, 4}}}, {2, {3, 4}}},
    {2, {{2, {3, 4}}, {1, {4}}}, {2, {3, 4}}},
    {2, {{1, {4}}, {2, {3, 1}}}, {2, {3, 4}}},
    {3, {{3, {8, 1, 6}}, {2, {7, 1}}, {4, {5, 1, 1, 6}}}, {4, {5, 8, 7, 6}}},
    {2, {{0, {0}}, {2, {2, 3}}}, {2, {2, 3}}},
    {2, {{2, {0, 1}}, {2, {1, 5}}}, {2, {0, 5}}},
    {2, {{1, {1}}, {1, {0}}}, {1, {0}}},
    {2, {{1, {INT64_MAX / 4}}, {2, {2, 1}}}, {2, {2, INT64_MAX / 4}}},
};

static void shapes_meet_as_in_numpy(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(meetings); k++) {
        tn_tensor t[3];
        const tn_tensor *ts[3] = {&t[0], &t[1], &t[2]};
        for (int i = 0; i < meetings[k].n; i++)
            OK(tn_init(&t[i], NULL, TN_F32, meetings[k].in[i].ndim, meetings[k].in[i].n));
        int ndim = -1;
        int64_t shape[TN_MAX_NDIM];
        shape[meetings[k].out.ndim] = -77;
        OK(tn_broadcast_shape(meetings[k].n, ts, &ndim, shape));
        assert_int_equal(shape[ndim], -77);
        assert_int_equal(ndim, meetings[k].out.ndim);
        assert_memory_equal(shape, meetings[k].out.n, sizeof(int64_t) * (size_t)ndim);
        for (int i = 0; i < meetings[k].n; i++) {
            t[i].dtype = TN_I8;
            OK(tn_broadcast_to(&t[i], &t[i], ndim, shape));
            shape_is(&t[i], &meetings[k].out, "broadcast");
        }
    }
}

/* ---- windows of size 0 are empty, and their strides stay in range ---- */

static void windows_without_elements(void **state)
{
    (void)state;
    tn_tensor t, out;
    OK(tn_init_strided(&t, NULL, TN_I8, 1, (int64_t[]){2}, (int64_t[]){INT64_MAX / 2}));
    OK(tn_windows(&out, &t, 0, 0, 1));
    shape_is(&out, &(dims){2, {3, 0}}, "windows of nothing");
    OK(tni_check_sound(&out, "out"));
    OK(tn_windows(&out, &t, 0, 0, INT64_MAX));
    shape_is(&out, &(dims){2, {1, 0}}, "one window of nothing");
    /* what counts is the size of out: few windows of a long axis fit, many of a short one not
     */
    const int64_t zero[] = {0, 0}, tall[] = {INT64_C(1) << 46, 1 << 10};
    OK(tn_init_strided(&t, NULL, TN_I8, 1, (int64_t[]){INT64_C(1) << 40}, zero));
    OK(tn_windows(&out, &t, 0, 1 << 24, INT64_C(1) << 39));
    shape_is(&out, &(dims){2, {2, 1 << 24}}, "two long windows");
    OK(tn_init_strided(&t, NULL, TN_I8, 2, tall, zero));
    assert_int_equal(tn_windows(&out, &t, 1, 1 << 9, 1), TN_EOVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_come_and_go),
        cmocka_unit_test(a_flat_index_finds_its_offset),
        cmocka_unit_test(shapes_grow_from_axis_two),
        cmocka_unit_test(indexing_drops_axes),
        cmocka_unit_test(views_of_views_drop_axes_too),
        cmocka_unit_test(empty_windows_begin_anywhere),
        cmocka_unit_test(slices_are_pythons),
        cmocka_unit_test(facts_are_as_in_the_table),
        cmocka_unit_test(making_fills_every_field),
        cmocka_unit_test(shapes_meet_as_in_numpy),
        cmocka_unit_test(windows_without_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
