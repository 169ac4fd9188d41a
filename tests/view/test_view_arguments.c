/* test_view_arguments.c - each argument that a call of the views refuses: the status, the
 * sentence, and nothing changed. */
#include "view_refused.h"

/* ---- making ---- */

static void *poor(void *user, size_t size, size_t align)
{
    (void)user;
    (void)size;
    (void)align;
    return NULL;
}

static void unused(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    assert_null(ptr);
}

static void making_refuses(void **state)
{
    (void)state;
    reset();
    const int64_t two[] = {2, 3}, negative[] = {2, -3}, far[] = {INT64_MAX / 2, 4};
    const int64_t large[] = {INT64_MAX, 2}, beside[] = {0, INT64_MAX, 2}, wide[] = {INT64_MAX};
    const tn_dtype unknown = (tn_dtype)99;

    REFUSED(tn_init(NULL, NULL, unknown, -1, NULL), TN_ENULL, "init: t is NULL");
    REFUSED(tn_init(&out, NULL, unknown, 2, NULL), TN_ENULL,
            "init: shape is NULL, expected 2 entries");
    REFUSED(tn_init(&out, NULL, unknown, 65, NULL), TN_ENULL,
            "init: shape is NULL, expected 65 entries");
    REFUSED(tn_init(&out, NULL, unknown, -1, NULL), TN_EARG,
            "init: ndim -1 is out of range [0, 64]");
    REFUSED(tn_init(&out, NULL, unknown, 65, two), TN_EARG,
            "init: ndim 65 is out of range [0, 64]");
    REFUSED(tn_init(&out, NULL, unknown, 2, negative), TN_EDTYPE,
            "init: dtype 99 is out of range [1, 17]");
    REFUSED(tn_init(&out, NULL, TN_F32, 2, negative), TN_ESHAPE,
            "init: axis 1 has a negative extent, got -3");
    REFUSED(tn_init(&out, NULL, TN_F32, 1, negative + 1), TN_ESHAPE,
            "init: axis 0 has a negative extent, got -3");
    REFUSED(tn_init(&out, NULL, TN_F32, 2, large), TN_EOVERFLOW,
            "init: size exceeds 2^63 - 1 bytes");
    REFUSED(tn_init(&out, NULL, TN_I8, 3, beside), TN_EOVERFLOW, NULL);
    REFUSED(tn_init(&out, NULL, TN_I16, 1, wide), TN_EOVERFLOW, NULL);

    REFUSED(tn_init_strided(NULL, NULL, TN_F32, 2, two, two), TN_ENULL,
            "init_strided: t is NULL");
    REFUSED(tn_init_strided(&out, NULL, TN_F32, 2, NULL, two), TN_ENULL,
            "init_strided: shape is NULL, expected 2 entries");
    REFUSED(tn_init_strided(&out, NULL, TN_F32, 2, two, NULL), TN_ENULL,
            "init_strided: stride is NULL, expected 2 entries");
    REFUSED(tn_init_strided(&out, NULL, unknown, -3, NULL, NULL), TN_EARG,
            "init_strided: ndim -3 is out of range [0, 64]");
    REFUSED(tn_init_strided(&out, NULL, unknown, 2, negative, far), TN_EDTYPE,
            "init_strided: dtype 99 is out of range [1, 17]");
    REFUSED(tn_init_strided(&out, NULL, TN_F32, 2, negative, far), TN_ESHAPE,
            "init_strided: axis 1 has a negative extent, got -3");
    REFUSED(tn_init_strided(&out, NULL, TN_F32, 2, (int64_t[]){4, 3}, far), TN_EOVERFLOW,
            "init_strided: strides span more than 2^63 - 1 bytes");
    REFUSED(tn_init_strided(&out, NULL, TN_F32, 2, large, (int64_t[]){0, 0}), TN_EOVERFLOW,
            "init_strided: size exceeds 2^63 - 1 bytes");

    REFUSED(tn_init_const(NULL, NULL, TN_F32, 2, two, two), TN_ENULL, "init_const: t is NULL");
    REFUSED(tn_init_const(&out, NULL, TN_F32, 2, NULL, NULL), TN_ENULL,
            "init_const: shape is NULL, expected 2 entries");
    REFUSED(tn_init_const(&out, NULL, TN_F32, 70, two, NULL), TN_EARG,
            "init_const: ndim 70 is out of range [0, 64]");
    REFUSED(tn_init_const(&out, NULL, unknown, 2, negative, far), TN_EDTYPE,
            "init_const: dtype 99 is out of range [1, 17]");
    REFUSED(tn_init_const(&out, NULL, TN_F32, 2, negative, NULL), TN_ESHAPE,
            "init_const: axis 1 has a negative extent, got -3");
    REFUSED(tn_init_const(&out, NULL, TN_F32, 2, (int64_t[]){4, 3}, far), TN_EOVERFLOW,
            "init_const: strides span more than 2^63 - 1 bytes");

    REFUSED(tn_alloc(NULL, TN_F32, 2, two), TN_ENULL, "alloc: t is NULL");
    REFUSED(tn_alloc(&out, TN_F32, 2, NULL), TN_ENULL,
            "alloc: shape is NULL, expected 2 entries");
    REFUSED(tn_alloc(&out, TN_F32, -1, two), TN_EARG, "alloc: ndim -1 is out of range [0, 64]");
    REFUSED(tn_alloc(&out, unknown, 2, two), TN_EDTYPE,
            "alloc: dtype 99 is out of range [1, 17]");
    REFUSED(tn_alloc(&out, TN_F32, 2, negative), TN_ESHAPE,
            "alloc: axis 1 has a negative extent, got -3");
    REFUSED(tn_alloc(&out, TN_F32, 2, large), TN_EOVERFLOW,
            "alloc: size exceeds 2^63 - 1 bytes");
    tni_allocator_use(&(tni_allocator){poor, unused, NULL});
    REFUSED(tn_alloc(&out, TN_I8, 1, wide), TN_ENOMEM,
            "alloc: cannot allocate 9223372036854775807 bytes");
    tni_allocator_use(NULL);
}

/* ---- arguments of the facts and the geometry ---- */

static void facts_refuse(void **state)
{
    (void)state;
    reset();
    tn_tensor t;
    float x[6];
    assert_int_equal(tn_init(&t, x, TN_F32, 2, (int64_t[]){2, 3}), TN_OK);
    int64_t number = 0;
    REFUSED(tn_extent(&t, NULL, &number), TN_ENULL, "extent: low is NULL");
    REFUSED(tn_extent(&t, &number, NULL), TN_ENULL, "extent: high is NULL");
    assert_false(tn_is_mergeable(&t, -1, 0));
    assert_string_equal(tn_error(), "is_mergeable: axes -1 to 0 are out of range [0, 2)");
    t.shape[2] = 1;
    assert_false(tn_is_mergeable(&t, 0, 2));
    assert_false(tn_is_mergeable(&t, 1, 0));
    assert_null(tn_at(&t, NULL));
    assert_string_equal(tn_error(), "at: index is NULL, expected 2 entries");
    assert_null(tn_at(&t, (int64_t[]){0, 3}));
    assert_string_equal(tn_error(), "at: index 3 of axis 1 is out of range [0, 3)");
    assert_null(tn_at(&t, (int64_t[]){-1, 0}));
    assert_null(tn_at(&t, (int64_t[]){INT64_MAX, INT64_MIN}));
    t.data = NULL;
    assert_null(tn_at(&t, (int64_t[]){1, 1}));

    char text[4] = "abc";
    REFUSED(tn_print(NULL, text, 0), TN_ENULL, "print: t is NULL");
    REFUSED(tn_print(NULL, NULL, 0), TN_ENULL, "print: t is NULL");
    REFUSED(tn_print(&t, NULL, 0), TN_ENULL, "print: buf is NULL");
    REFUSED(tn_print(&t, text, 0), TN_EARG, "print: size is 0, expected at least 1");
    REFUSED(tn_print(&t, text, 4), TN_ENULL, "print: t has 6 elements but data is NULL");
    assert_string_equal(text, "abc");

    int ndim = 3;
    int64_t shape[TN_MAX_NDIM];
    const tn_tensor *ts[] = {&t, NULL};
    REFUSED(tn_broadcast_shape(1, ts, NULL, shape), TN_ENULL, "broadcast_shape: ndim is NULL");
    REFUSED(tn_broadcast_shape(1, ts, &ndim, NULL), TN_ENULL, "broadcast_shape: shape is NULL");
    REFUSED(tn_broadcast_shape(2, NULL, &ndim, shape), TN_ENULL,
            "broadcast_shape: srcs is NULL, expected 2 tensors");
    REFUSED(tn_broadcast_shape(2, ts, &ndim, shape), TN_ENULL,
            "broadcast_shape: src 1 is NULL");
    REFUSED(tn_broadcast_shape(-1, NULL, &ndim, shape), TN_EARG,
            "broadcast_shape: n is -1, expected at least 0");
    tn_tensor u = t;
    u.shape[1] = 4;
    ts[1] = &u;
    REFUSED(tn_broadcast_shape(2, ts, &ndim, shape), TN_ESHAPE,
            "broadcast_shape: axis 1: tensor 1 has extent 4, those before it have 3");
    u.shape[0] = 5;
    u.shape[1] = 3;
    REFUSED(tn_broadcast_shape(2, ts, &ndim, shape), TN_ESHAPE,
            "broadcast_shape: axis 0: tensor 1 has extent 5, those before it have 2");
    u.shape[1] = -1;
    REFUSED(tn_broadcast_shape(2, ts, &ndim, shape), TN_ESHAPE,
            "broadcast_shape: src 1: axis 1 has a negative extent, got -1");
    assert_int_equal(tn_init(&u, NULL, TN_I8, 2, (int64_t[]){INT64_MAX, 1}), TN_OK);
    t.shape[0] = 1;
    REFUSED(tn_broadcast_shape(2, ts, &ndim, shape), TN_EOVERFLOW,
            "broadcast_shape: the shape exceeds 2^63 - 1 elements");
    assert_int_equal(ndim, 3);
    t.shape[1] = 1;
    assert_int_equal(tn_broadcast_shape(2, ts, &ndim, shape), TN_OK);
    assert_true(ndim == 2 && shape[0] == INT64_MAX && shape[1] == 1);
    t.ndim = TN_MAX_NDIM;
    for (int i = 0; i < TN_MAX_NDIM; i++)
        t.shape[i] = 1 + (i == 5);
    ts[1] = &t;
    ts[0] = &(tn_tensor){.dtype = TN_I8, .ndim = 1, .shape = {7}};
    assert_int_equal(tn_broadcast_shape(2, ts, &ndim, shape), TN_OK);
    assert_int_equal(ndim, TN_MAX_NDIM);
    for (int i = 0; i < TN_MAX_NDIM; i++)
        assert_int_equal(shape[i], i == TN_MAX_NDIM - 1 ? 7 : t.shape[i]);
}

static void geometry_refuses(void **state)
{
    (void)state;
    reset();
    const int64_t shape[] = {2, 3, 4}, stride[] = {48, 16, 4}, negative[] = {2, -3, 4};
    const int64_t pads[] = {1, 1}, minus[] = {-1, 0}, huge[] = {INT64_MAX / 2 + 1};
    int64_t result = 77, grown[4] = {7, 7, 7, 7};

    REFUSED(tn_index_to_offset(0, 3, shape, stride, NULL), TN_ENULL,
            "index_to_offset: offset is NULL");
    REFUSED(tn_index_to_offset(0, 3, NULL, stride, &result), TN_ENULL,
            "index_to_offset: shape is NULL, expected 3 entries");
    REFUSED(tn_index_to_offset(0, 3, shape, NULL, &result), TN_ENULL,
            "index_to_offset: stride is NULL, expected 3 entries");
    REFUSED(tn_index_to_offset(0, 65, shape, stride, &result), TN_EARG,
            "index_to_offset: ndim 65 is out of range [0, 64]");
    REFUSED(tn_index_to_offset(-1, 3, negative, stride, &result), TN_EARG,
            "index_to_offset: flat index -1 is negative");
    REFUSED(tn_index_to_offset(24, 3, shape, stride, &result), TN_EARG,
            "index_to_offset: flat index 24 is out of range [0, 24)");
    REFUSED(tn_index_to_offset(0, 2, (int64_t[]){0, 3}, stride, &result), TN_EARG,
            "index_to_offset: flat index 0 is out of range [0, 0)");
    REFUSED(tn_index_to_offset(1, 0, NULL, NULL, &result), TN_EARG,
            "index_to_offset: flat index 1 is out of range [0, 1)");
    REFUSED(tn_index_to_offset(0, 3, negative, stride, &result), TN_ESHAPE,
            "index_to_offset: axis 1 has a negative extent, got -3");
    REFUSED(tn_index_to_offset(0, 1, (int64_t[]){-2}, stride, &result), TN_ESHAPE,
            "index_to_offset: axis 0 has a negative extent, got -2");
    REFUSED(tn_index_to_offset(5, 2, (int64_t[]){INT64_MAX, 2}, stride, &result), TN_EOVERFLOW,
            "index_to_offset: the shape has more than 2^63 - 1 elements");
    REFUSED(tn_index_to_offset(0, 3, (int64_t[]){0, INT64_MAX, 2}, stride, &result), TN_EARG,
            NULL);
    REFUSED(tn_index_to_offset(8, 2, (int64_t[]){3, 3}, (int64_t[]){1, INT64_MAX}, &result),
            TN_EOVERFLOW, "index_to_offset: the offset of flat index 8 exceeds 2^63 - 1");
    REFUSED(tn_index_to_offset(2, 1, shape + 1, (int64_t[]){INT64_MAX}, &result), TN_EOVERFLOW,
            "index_to_offset: the offset of flat index 2 exceeds 2^63 - 1");
    REFUSED(tn_index_to_offset(3, 2, (int64_t[]){2, 2}, (int64_t[]){INT64_MAX, 1}, &result),
            TN_EOVERFLOW, NULL);

    REFUSED(tn_padded_shape(3, shape, pads, NULL), TN_ENULL, "padded_shape: out is NULL");
    REFUSED(tn_padded_shape(3, NULL, pads, grown), TN_ENULL,
            "padded_shape: shape is NULL, expected 3 entries");
    REFUSED(tn_padded_shape(3, shape, NULL, grown), TN_ENULL,
            "padded_shape: pads is NULL, expected 1 entries");
    REFUSED(tn_padded_shape(-1, shape, pads, grown), TN_EARG,
            "padded_shape: ndim -1 is out of range [0, 64]");
    REFUSED(tn_padded_shape(3, negative, minus, grown), TN_EARG,
            "padded_shape: pads[0] is -1, expected at least 0");
    REFUSED(tn_padded_shape(3, negative, huge, grown), TN_ESHAPE,
            "padded_shape: axis 1 has a negative extent, got -3");
    REFUSED(tn_padded_shape(3, shape, huge, grown), TN_EOVERFLOW,
            "padded_shape: axis 2: 4 plus 4611686018427387904 on both sides exceeds 2^63 - 1");
    REFUSED(tn_padded_shape(3, shape, (int64_t[]){INT64_MAX / 2}, grown), TN_EOVERFLOW, NULL);
    assert_true(grown[0] == 7 && grown[1] == 7 && grown[2] == 7);

    REFUSED(tn_padded_size(3, shape, pads, NULL), TN_ENULL, "padded_size: count is NULL");
    REFUSED(tn_padded_size(3, shape, NULL, &result), TN_ENULL,
            "padded_size: pads is NULL, expected 1 entries");
    REFUSED(tn_padded_size(65, shape, pads, &result), TN_EARG,
            "padded_size: ndim 65 is out of range [0, 64]");
    REFUSED(tn_padded_size(3, shape, minus, &result), TN_EARG,
            "padded_size: pads[0] is -1, expected at least 0");
    REFUSED(tn_padded_size(3, negative, pads, &result), TN_ESHAPE,
            "padded_size: axis 1 has a negative extent, got -3");
    REFUSED(tn_padded_size(3, shape, huge, &result), TN_EOVERFLOW, NULL);
    REFUSED(tn_padded_size(3, (int64_t[]){0, INT64_MAX, 2}, pads, &result), TN_EOVERFLOW,
            "padded_size: the result has more than 2^63 - 1 elements");
    assert_int_equal(result, 77);
}

/* ---- arguments of the views ---- */

static void views_refuse_their_arguments(void **state)
{
    (void)state;
    reset();
    tn_tensor t, full;
    int64_t ones[TN_MAX_NDIM];
    for (int i = 0; i < TN_MAX_NDIM; i++)
        ones[i] = 1;
    assert_int_equal(tn_init(&t, NULL, TN_F32, 2, (int64_t[]){2, 3}), TN_OK);
    assert_int_equal(tn_init(&full, NULL, TN_F32, TN_MAX_NDIM, ones), TN_OK);
    const int64_t zero[] = {0, 0}, one[] = {1, 1};

    REFUSED(tn_unsqueeze(NULL, &t, 0), TN_ENULL, "unsqueeze: out is NULL");
    REFUSED(tn_unsqueeze(&out, &t, -1), TN_EARG, "unsqueeze: axis -1 is out of range [0, 2]");
    REFUSED(tn_unsqueeze(&out, &t, 3), TN_EARG, "unsqueeze: axis 3 is out of range [0, 2]");
    REFUSED(tn_unsqueeze(&out, &full, 0), TN_EARG,
            "unsqueeze: in has 64 axes, out would have 65");

    REFUSED(tn_squeeze(NULL, &t, 0), TN_ENULL, "squeeze: out is NULL");
    REFUSED(tn_squeeze(&out, &t, -1), TN_EARG, "squeeze: axis -1 is out of range [0, 2)");
    REFUSED(tn_squeeze(&out, &t, 2), TN_EARG, "squeeze: axis 2 is out of range [0, 2)");
    REFUSED(tn_squeeze(&out, &t, 1), TN_ESHAPE, "squeeze: axis 1 has extent 3, expected 1");
    REFUSED(tn_squeeze_all(NULL, &t), TN_ENULL, "squeeze_all: out is NULL");

    REFUSED(tn_permute(NULL, &t, (int[]){0, 1}), TN_ENULL, "permute: out is NULL");
    REFUSED(tn_permute(&out, &t, NULL), TN_ENULL, "permute: axes is NULL, expected 2 entries");
    REFUSED(tn_permute(&out, &t, (int[]){0, 2}), TN_EARG,
            "permute: axis 2 is out of range [0, 2)");
    REFUSED(tn_permute(&out, &t, (int[]){-1, 0}), TN_EARG,
            "permute: axis -1 is out of range [0, 2)");
    REFUSED(tn_permute(&out, &t, (int[]){1, 1}), TN_EARG, "permute: axes[1] repeats axis 1");

    REFUSED(tn_transpose(NULL, &t, 0, 1), TN_ENULL, "transpose: out is NULL");
    REFUSED(tn_transpose(&out, &t, 0, 2), TN_EARG, "transpose: axis 2 is out of range [0, 2)");
    REFUSED(tn_transpose(&out, &t, -1, 0), TN_EARG,
            "transpose: axis -1 is out of range [0, 2)");

    REFUSED(tn_slice(NULL, &t, 0, 0, 1, 1), TN_ENULL, "slice: out is NULL");
    REFUSED(tn_slice(&out, &t, 2, 0, 1, 1), TN_EARG, "slice: axis 2 is out of range [0, 2)");
    REFUSED(tn_slice(&out, &t, 0, 0, 1, 0), TN_EARG, "slice: step is 0");

    REFUSED(tn_select(NULL, &t, 0, 0), TN_ENULL, "select: out is NULL");
    REFUSED(tn_select(&out, NULL, 0, 0), TN_ENULL, "select: in is NULL");
    REFUSED(tn_select(&out, &t, 5, 0), TN_EARG, "select: axis 5 is out of range [0, 2)");
    REFUSED(tn_select(&out, &t, 0, 2), TN_EARG,
            "select: index 2 of axis 0 is out of range [0, 2)");
    REFUSED(tn_select(&out, &t, 0, -1), TN_EARG,
            "select: index -1 of axis 0 is out of range [0, 2)");
    REFUSED(tn_select(&out, &t, 0, INT64_MAX), TN_EARG, NULL);

    REFUSED(tn_view(NULL, &t, one, zero, NULL, 0), TN_ENULL, "view: out is NULL");
    REFUSED(tn_view(&out, &t, NULL, zero, NULL, 0), TN_ENULL,
            "view: shape is NULL, expected 2 entries");
    REFUSED(tn_view(&out, &t, one, NULL, NULL, 0), TN_ENULL,
            "view: offset is NULL, expected 2 entries");
    REFUSED(tn_view(&out, &t, one, zero, NULL, 1), TN_ENULL,
            "view: drop_dims is NULL, expected 1 entries");
    REFUSED(tn_view(&out, &t, one, zero, NULL, -1), TN_EARG,
            "view: num_drop_dims -1 is out of range [0, 2]");
    REFUSED(tn_view(&out, &t, one, zero, (int[]){0, 1, 0}, 3), TN_EARG,
            "view: num_drop_dims 3 is out of range [0, 2]");
    REFUSED(tn_view(&out, &t, one, zero, (int[]){2}, 1), TN_EARG,
            "view: axis 2 is out of range [0, 2)");
    REFUSED(tn_view(&out, &t, one, zero, (int[]){-1}, 1), TN_EARG,
            "view: axis -1 is out of range [0, 2)");
    REFUSED(tn_view(&out, &t, one, zero, (int[]){1, 1}, 2), TN_EARG,
            "view: drop_dims[1] repeats axis 1");
    REFUSED(tn_view(&out, &t, one, (int64_t[]){0, -1}, NULL, 0), TN_EARG,
            "view: axis 1: offset -1 plus extent 1 exceeds 3");
    REFUSED(tn_view(&out, &t, one, (int64_t[]){0, 3}, NULL, 0), TN_EARG,
            "view: axis 1: offset 3 plus extent 1 exceeds 3");
    REFUSED(tn_view(&out, &t, zero, (int64_t[]){0, 4}, NULL, 0), TN_EARG,
            "view: axis 1: offset 4 plus extent 0 exceeds 3");
    REFUSED(tn_view(&out, &t, one, (int64_t[]){0, INT64_MAX}, NULL, 0), TN_EARG, NULL);
    REFUSED(tn_view(&out, &t, (int64_t[]){INT64_MAX, 1}, one, NULL, 0), TN_EARG, NULL);
    REFUSED(tn_view(&out, &t, (int64_t[]){1, -1}, zero, NULL, 0), TN_ESHAPE,
            "view: axis 1 has a negative extent, got -1");
    REFUSED(tn_view(&out, &t, (int64_t[]){2, 1}, zero, (int[]){1, 0}, 2), TN_ESHAPE,
            "view: dropped axis 0 has extent 2, expected 1");
    REFUSED(tn_view(&out, &t, (int64_t[]){0, 1}, zero, (int[]){0}, 1), TN_ESHAPE,
            "view: dropped axis 0 has extent 0, expected 1");

    REFUSED(tn_broadcast_to(NULL, &t, 2, one), TN_ENULL, "broadcast_to: out is NULL");
    REFUSED(tn_broadcast_to(&out, &t, 2, NULL), TN_ENULL,
            "broadcast_to: shape is NULL, expected 2 entries");
    REFUSED(tn_broadcast_to(&out, &t, 65, ones), TN_EARG,
            "broadcast_to: ndim 65 is out of range [0, 64]");
    REFUSED(tn_broadcast_to(&out, &t, -1, NULL), TN_EARG,
            "broadcast_to: ndim -1 is out of range [0, 64]");
    REFUSED(tn_broadcast_to(&out, &t, 1, (int64_t[]){3}), TN_ESHAPE,
            "broadcast_to: in has 2 axes, the shape has 1");
    REFUSED(tn_broadcast_to(&out, &t, 2, (int64_t[]){2, 4}), TN_ESHAPE,
            "broadcast_to: axis 1: 3 does not broadcast to 4");
    REFUSED(tn_broadcast_to(&out, &t, 2, (int64_t[]){1, 3}), TN_ESHAPE,
            "broadcast_to: axis 0: 2 does not broadcast to 1");
    REFUSED(tn_broadcast_to(&out, &t, 3, (int64_t[]){-1, 2, 3}), TN_ESHAPE,
            "broadcast_to: axis 0 has a negative extent, got -1");
    REFUSED(tn_broadcast_to(&out, &t, 2, (int64_t[]){2, -1}), TN_ESHAPE,
            "broadcast_to: axis 1 has a negative extent, got -1");
    REFUSED(tn_broadcast_to(&out, &t, 2, (int64_t[]){5, -1}), TN_ESHAPE,
            "broadcast_to: axis 0: 2 does not broadcast to 5");
    REFUSED(tn_broadcast_to(&out, &t, 3, (int64_t[]){INT64_MAX, 2, 3}), TN_EOVERFLOW,
            "broadcast_to: the result exceeds 2^63 - 1 bytes");
    REFUSED(tn_broadcast_to(&out, &t, 4, (int64_t[]){0, INT64_MAX, 2, 3}), TN_EOVERFLOW, NULL);

    REFUSED(tn_reshape(NULL, &t, 1, (int64_t[]){6}), TN_ENULL, "reshape: out is NULL");
    REFUSED(tn_reshape(&out, &t, 1, NULL), TN_ENULL,
            "reshape: shape is NULL, expected 1 entries");
    REFUSED(tn_reshape(&out, &t, 2, (int64_t[]){-1, 4}), TN_ESHAPE,
            "reshape: the product of the extents, 4, does not divide 6 elements");
    tn_tensor hollow = t;
    hollow.shape[0] = 0;
    REFUSED(tn_reshape(&out, &hollow, 2, (int64_t[]){-1, 0}), TN_ESHAPE,
            "reshape: the product of the extents, 0, does not divide 0 elements");
    REFUSED(tn_reshape(&out, &t, -1, NULL), TN_EARG,
            "reshape: ndim -1 is out of range [0, 64]");
    REFUSED(tn_reshape(&out, &t, 65, ones), TN_EARG,
            "reshape: ndim 65 is out of range [0, 64]");
    REFUSED(tn_reshape(&out, &t, 1, (int64_t[]){7}), TN_ESHAPE,
            "reshape: in has 6 elements, out 7");
    REFUSED(tn_reshape(&out, &t, 2, (int64_t[]){4, -1}), TN_ESHAPE,
            "reshape: the product of the extents, 4, does not divide 6 elements");
    REFUSED(tn_reshape(&out, &t, 2, (int64_t[]){-1, -1}), TN_ESHAPE,
            "reshape: axis 1 has extent -1, only one extent may be -1");
    REFUSED(tn_reshape(&out, &t, 2, (int64_t[]){INT64_MAX, 2}), TN_ESHAPE,
            "reshape: in has 6 elements, out more than 2^63 - 1");
    REFUSED(tn_reshape(&out, &(tn_tensor){.dtype = TN_F32}, 2, (int64_t[]){INT64_MAX, 2}),
            TN_ESHAPE, "reshape: in has 1 elements, out more than 2^63 - 1");
    t.stride[0] = 100;
    REFUSED(tn_reshape(&out, &t, 1, (int64_t[]){6}), TN_ESTRIDE,
            "reshape: in: strides of ndim 2 cannot express a shape of ndim 1; copy with "
            "tn_contiguous");

    REFUSED(tn_flip(NULL, &t, 0), TN_ENULL, "flip: out is NULL");
    REFUSED(tn_flip(&out, &t, 2), TN_EARG, "flip: axis 2 is out of range [0, 2)");
    REFUSED(tn_diagonal(NULL, &t, 0, 1), TN_ENULL, "diagonal: out is NULL");
    REFUSED(tn_diagonal(&out, &t, 0, 2), TN_EARG, "diagonal: axis 2 is out of range [0, 2)");
    REFUSED(tn_diagonal(&out, &t, -1, 1), TN_EARG, "diagonal: axis -1 is out of range [0, 2)");
    REFUSED(tn_diagonal(&out, &t, 1, 1), TN_EARG, "diagonal: the axes 1 and 1 are the same");

    REFUSED(tn_windows(NULL, &t, 0, 1, 1), TN_ENULL, "windows: out is NULL");
    REFUSED(tn_windows(&out, &t, 2, 1, 1), TN_EARG, "windows: axis 2 is out of range [0, 2)");
    REFUSED(tn_windows(&out, &full, 0, 1, 1), TN_EARG,
            "windows: in has 64 axes, out would have 65");
    REFUSED(tn_windows(&out, &t, 0, -1, 1), TN_EARG,
            "windows: size -1 and step 1, expected at least 0 and 1");
    REFUSED(tn_windows(&out, &t, 0, 9, 0), TN_EARG,
            "windows: size 9 and step 0, expected at least 0 and 1");
    REFUSED(tn_windows(&out, &t, 1, 4, 1), TN_ESHAPE,
            "windows: size 4 exceeds the extent 3 of axis 1");
    assert_int_equal(tn_init_strided(&t, NULL, TN_I8, 1, (int64_t[]){INT64_MAX}, zero), TN_OK);
    REFUSED(tn_windows(&out, &t, 0, 0, 1), TN_EOVERFLOW,
            "windows: axis 0 would have 2^63 windows");
    REFUSED(tn_windows(&out, &t, 0, INT64_MAX / 2, 1), TN_EOVERFLOW,
            "windows: 4611686018427387905 windows of 4611686018427387903 make more than "
            "2^63 - 1 bytes");
}

/* Lists without entries may be NULL, those with one may not. */
static void lists_may_be_null_when_they_are_empty(void **state)
{
    (void)state;
    reset();
    tn_tensor scalar, vector, made;
    assert_int_equal(tn_init(&scalar, NULL, TN_F32, 0, NULL), TN_OK);
    assert_int_equal(tn_init(&vector, NULL, TN_F32, 1, (int64_t[]){1}), TN_OK);
    assert_int_equal(tn_permute(&made, &scalar, NULL), TN_OK);
    assert_int_equal(tn_view(&made, &scalar, NULL, NULL, NULL, 0), TN_OK);
    assert_int_equal(tn_broadcast_to(&made, &scalar, 0, NULL), TN_OK);
    assert_int_equal(tn_reshape(&made, &vector, 0, NULL), TN_OK);
    assert_int_equal(made.ndim, 0);
    int64_t none, count = 0, offset = 1;
    assert_int_equal(tn_padded_shape(0, NULL, NULL, &none), TN_OK);
    assert_int_equal(tn_padded_size(0, NULL, NULL, &count), TN_OK);
    assert_int_equal(tn_index_to_offset(0, 0, NULL, NULL, &offset), TN_OK);
    assert_true(count == 1 && offset == 0);
    assert_non_null(tn_at(&(tn_tensor){.data = &none, .dtype = TN_I8}, NULL));

    const int64_t one[] = {1}, three[] = {1, 1, 1};
    REFUSED(tn_init(&out, NULL, TN_F32, 1, NULL), TN_ENULL, NULL);
    REFUSED(tn_init_strided(&out, NULL, TN_F32, 1, one, NULL), TN_ENULL, NULL);
    REFUSED(tn_permute(&out, &vector, NULL), TN_ENULL, NULL);
    REFUSED(tn_view(&out, &vector, NULL, one, NULL, 0), TN_ENULL, NULL);
    REFUSED(tn_view(&out, &vector, one, NULL, NULL, 0), TN_ENULL, NULL);
    REFUSED(tn_view(&out, &vector, one, (int64_t[]){0}, NULL, 1), TN_ENULL, NULL);
    REFUSED(tn_broadcast_to(&out, &vector, 1, NULL), TN_ENULL, NULL);
    REFUSED(tn_reshape(&out, &vector, 1, NULL), TN_ENULL, NULL);
    REFUSED(tn_padded_shape(1, NULL, NULL, &none), TN_ENULL, NULL);
    REFUSED(tn_padded_shape(3, three, NULL, &none), TN_ENULL, NULL);
    REFUSED(tn_padded_size(1, NULL, NULL, &none), TN_ENULL, NULL);
    REFUSED(tn_padded_size(3, three, NULL, &none), TN_ENULL, NULL);
    REFUSED(tn_index_to_offset(0, 1, NULL, one, &none), TN_ENULL, NULL);
    REFUSED(tn_index_to_offset(0, 1, one, NULL, &none), TN_ENULL, NULL);
    assert_null(tn_at(&vector, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making_refuses),
        cmocka_unit_test(facts_refuse),
        cmocka_unit_test(geometry_refuses),
        cmocka_unit_test(views_refuse_their_arguments),
        cmocka_unit_test(lists_may_be_null_when_they_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
