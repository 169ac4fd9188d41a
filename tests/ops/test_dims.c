/* test_dims.c - unsqueeze, squeeze and H/W padding in their three modes, by the eight
 * categories of the document that asks for them. */
#include "layout.h"

static bool has_shape(const tn_tensor *t, int ndim, const int64_t *shape)
{
    return t->ndim == ndim && !memcmp(t->shape, shape, sizeof *shape * (size_t)ndim);
}

/* ---- 1. Basic Operations ---- */

static void basic_operations(void **state)
{
    (void)state;
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
    tn_tensor a, u, s, p;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_unsqueeze_copy(&u, &a, 1));
    assert_true(has_shape(&u, 3, (int64_t[]){2, 1, 3}) && tn_is_contiguous(&u));
    assert_ptr_not_equal(u.data, a.data);
    assert_memory_equal(u.data, x, sizeof x);
    OK(tn_squeeze_copy(&s, &u, 1));
    assert_true(has_shape(&s, 2, (int64_t[]){2, 3}));
    assert_ptr_not_equal(s.data, u.data);
    assert_memory_equal(s.data, x, sizeof x);
    OK(tn_pad_hw_copy(&p, &a, 1));
    const float want[4][5] = {{0}, {0, 1, 2, 3, 0}, {0, 4, 5, 6, 0}, {0}};
    assert_true(has_shape(&p, 2, (int64_t[]){4, 5}));
    assert_memory_equal(p.data, want, sizeof want);
    tn_free(&u);
    tn_free(&s);
    tn_free(&p);
}

/* ---- 2. Dimension Variations ---- */

static void dimension_variations(void **state)
{
    (void)state;
    int8_t x[120];
    for (int i = 0; i < 120; i++)
        x[i] = (int8_t)i;
    const int64_t shape[5] = {2, 3, 4, 5, 1};
    for (int ndim = 0; ndim <= 5; ndim++)
        for (int dim = 0; dim <= ndim; dim++) {
            tn_tensor a, u, s;
            OK(tn_init(&a, x, TN_I8, ndim, shape));
            OK(tn_unsqueeze_copy(&u, &a, dim));
            assert_int_equal(u.ndim, ndim + 1);
            for (int i = 0; i <= ndim; i++)
                assert_int_equal(u.shape[i], i == dim ? 1 : shape[i - (i > dim)]);
            assert_memory_equal(u.data, x, (size_t)tn_nbytes(&a));
            OK(tn_squeeze_copy(&s, &u, dim));
            assert_true(has_shape(&s, ndim, shape));
            assert_memory_equal(s.data, x, (size_t)tn_nbytes(&a));
            tn_free(&u);
            tn_free(&s);
        }
    for (int ndim = 2; ndim <= 5; ndim++)
        for (int64_t padding = 0; padding <= 3; padding++) {
            tn_tensor a, p;
            OK(tn_init(&a, x, TN_I8, ndim, shape));
            OK(tn_pad_hw_copy(&p, &a, padding));
            for (int i = 0; i < ndim; i++)
                assert_int_equal(p.shape[i], shape[i] + (i >= ndim - 2 ? 2 * padding : 0));
            tn_free(&p);
        }
}

/* ---- 3. Edge Cases ---- */

static void edge_cases(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, z[20];
    memset(z, 0x5a, sizeof z);
    float before[20];
    memcpy(before, z, sizeof z);
    tn_tensor a, d, bad, out = {.ndim = 77};
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_init(&d, z, TN_F32, 3, (int64_t[]){2, 1, 3}));

    assert_int_equal(tn_unsqueeze_copy(NULL, &a, 0), TN_ENULL);
    assert_int_equal(tn_unsqueeze_copy(&out, NULL, 0), TN_ENULL);
    assert_int_equal(tn_unsqueeze_inplace(NULL, 0), TN_ENULL);
    assert_int_equal(tn_unsqueeze_into(NULL, &a), TN_ENULL);
    assert_int_equal(tn_unsqueeze_into(&d, NULL), TN_ENULL);
    assert_int_equal(tn_squeeze_copy(NULL, &a, 0), TN_ENULL);
    assert_int_equal(tn_squeeze_copy(&out, NULL, 0), TN_ENULL);
    assert_int_equal(tn_squeeze_inplace(NULL, 0), TN_ENULL);
    assert_int_equal(tn_squeeze_into(NULL, &a), TN_ENULL);
    assert_int_equal(tn_pad_hw_copy(NULL, &a, 0), TN_ENULL);
    assert_int_equal(tn_pad_hw_copy(&out, NULL, 0), TN_ENULL);
    assert_int_equal(tn_pad_hw_into(NULL, &a, 0), TN_ENULL);
    assert_int_equal(tn_pad_hw_inplace(NULL, 0), TN_ENULL);

    assert_int_equal(tn_unsqueeze_copy(&out, &a, -1), TN_EARG);
    assert_int_equal(tn_unsqueeze_copy(&out, &a, 3), TN_EARG);
    assert_int_equal(tn_squeeze_copy(&out, &a, -1), TN_EARG);
    assert_int_equal(tn_squeeze_copy(&out, &a, 2), TN_EARG);
    assert_int_equal(tn_squeeze_copy(&out, &a, 1), TN_ESHAPE);
    assert_non_null(strstr(tn_error(), "squeeze_copy: axis 1 has extent 3, expected 1"));
    assert_int_equal(tn_pad_hw_copy(&out, &a, -1), TN_EARG);
    assert_int_equal(tn_pad_hw_copy(&out, &a, INT64_MAX), TN_EOVERFLOW);
    assert_int_equal(tn_pad_hw_copy(&out, &a, INT64_MAX / 4), TN_EOVERFLOW);

    /* too few axes, also with a bad padding: the padding is reported first */
    OK(tn_init(&bad, x, TN_F32, 1, (int64_t[]){6}));
    assert_int_equal(tn_pad_hw_copy(&out, &bad, 1), TN_ESHAPE);
    assert_int_equal(tn_pad_hw_copy(&out, &bad, -1), TN_EARG);
    assert_int_equal(tn_pad_hw_inplace(&bad, 1), TN_ESHAPE);

    /* a tensor with elements but no data; a zero extent is no error */
    bad = a;
    bad.data = NULL;
    assert_int_equal(tn_unsqueeze_copy(&out, &bad, 0), TN_ENULL);
    assert_int_equal(tn_unsqueeze_into(&d, &bad), TN_ENULL);
    assert_int_equal(tn_pad_hw_copy(&out, &bad, 1), TN_ENULL);
    tn_tensor empty, made;
    OK(tn_init(&empty, NULL, TN_F32, 2, (int64_t[]){0, 3}));
    OK(tn_unsqueeze_copy(&made, &empty, 1));
    assert_true(has_shape(&made, 3, (int64_t[]){0, 1, 3}));
    tn_free(&made);
    OK(tn_pad_hw_copy(&made, &empty, 1));
    assert_true(has_shape(&made, 2, (int64_t[]){2, 5}));
    for (int i = 0; i < 10; i++)
        assert_true(((float *)made.data)[i] == 0);
    tn_free(&made);

    /* another device, an unknown dtype, dtypes that differ */
    bad = a;
    bad.device = 1;
    assert_int_equal(tn_unsqueeze_copy(&out, &bad, 0), TN_EDEVICE);
    assert_int_equal(tn_unsqueeze_into(&d, &bad), TN_EDEVICE);
    assert_int_equal(tn_squeeze_copy(&out, &bad, 1), TN_EDEVICE);
    assert_int_equal(tn_pad_hw_copy(&out, &bad, 1), TN_EDEVICE);
    assert_int_equal(tn_pad_hw_copy(&out, &bad, -1), TN_EARG);
    bad = a;
    bad.dtype = (tn_dtype)99;
    assert_int_equal(tn_squeeze_copy(&out, &bad, 1), TN_EDTYPE);
    bad.dtype = TN_I32;
    assert_int_equal(tn_unsqueeze_into(&d, &bad), TN_EDTYPE);

    /* 64 axes are the most */
    int64_t ones[64];
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    OK(tn_init(&bad, x, TN_F32, 64, ones));
    assert_int_equal(tn_unsqueeze_copy(&out, &bad, 0), TN_EARG);
    assert_int_equal(out.ndim, 77);
    assert_memory_equal(z, before, sizeof z);
}

/* ---- 4. Into Operations ---- */

static void into_operations(void **state)
{
    (void)state;
    rng r = {4};
    float x[6] = {1, 2, 3, 4, 5, 6}, z[40];
    tn_tensor a, d;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    const struct {
        int ndim;
        int64_t shape[4];
        tn_status want;
    } cases[] = {
        {3, {2, 1, 3}, TN_OK},     {3, {1, 2, 3}, TN_OK},     {4, {1, 2, 1, 3}, TN_OK},
        {2, {2, 3}, TN_OK},        {2, {3, 2}, TN_ESHAPE},    {1, {6}, TN_ESHAPE},
        {3, {1, 3, 2}, TN_ESHAPE}, {3, {2, 2, 3}, TN_ESHAPE}, {2, {1, 6}, TN_ESHAPE},
        {3, {2, 0, 3}, TN_ESHAPE}, {0, {0}, TN_ESHAPE},       {3, {2, -1, 3}, TN_ESHAPE},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        d = a;
        d.data = z;
        d.ndim = cases[c].ndim;
        int64_t step = 4;
        for (int i = d.ndim - 1; i >= 0; i--) {
            d.shape[i] = cases[c].shape[i];
            d.stride[i] = step;
            step *= d.shape[i];
        }
        memset(z, 0x5a, sizeof z);
        assert_int_equal(tn_unsqueeze_into(&d, &a), cases[c].want);
        if (cases[c].want == TN_OK)
            assert_memory_equal(z, x, sizeof x);
        else
            assert_int_equal(((char *)z)[0], 0x5a);
        memset(z, 0x5a, sizeof z);
        assert_int_equal(tn_squeeze_into(&d, &a), cases[c].want);
        if (cases[c].want == TN_OK)
            assert_memory_equal(z, x, sizeof x);
    }
    /* shared bytes, a dst that names an element twice */
    OK(tn_init(&d, x, TN_F32, 3, (int64_t[]){2, 1, 3}));
    assert_int_equal(tn_unsqueeze_into(&d, &a), TN_EOVERLAP);
    OK(tn_init_strided(&d, z, TN_F32, 3, (int64_t[]){2, 1, 3}, (int64_t[]){4, 4, 4}));
    assert_int_equal(tn_unsqueeze_into(&d, &a), TN_ESTRIDE);
    OK(tn_init(&d, z, TN_F32, 2, (int64_t[]){4, 4}));
    assert_int_equal(tn_pad_hw_into(&d, &a, 1), TN_ESHAPE);
    assert_int_equal(tn_pad_hw_into(&d, &a, -1), TN_EARG);
    OK(tn_init(&d, z, TN_F32, 2, (int64_t[]){4, 5}));
    OK(tn_pad_hw_into(&d, &a, 1));
    assert_true(z[0] == 0 && z[6] == 1 && z[13] == 6 && z[14] == 0 && z[19] == 0);

    /* strided on both sides, random unit axes */
    for (int round = 0; round < 3000; round++) {
        int64_t s_shape[8], d_shape[8];
        int s_ndim = 0, d_ndim = 0, n = (int)pick(&r, 0, 4);
        for (int i = 0; i < n; i++) {
            while (s_ndim < 7 - (n - i) && next(&r) % 3 == 0)
                s_shape[s_ndim++] = 1;
            while (d_ndim < 7 - (n - i) && next(&r) % 3 == 0)
                d_shape[d_ndim++] = 1;
            s_shape[s_ndim++] = d_shape[d_ndim++] = pick(&r, 0, 20) ? pick(&r, 2, 6) : 0;
        }
        tn_dtype dtype = pick_dtype(&r);
        block src = block_make(&r, dtype, s_ndim, s_shape, true, true);
        block dst = block_make(&r, dtype, d_ndim, d_shape, true, false);
        block want = block_twin(&dst);
        tn_tensor s, w;
        OK(tn_squeeze_all(&s, &src.t));
        OK(tn_squeeze_all(&w, &want.t));
        OK(tn_rearrange(&w, &s));
        OK((round % 2 ? tn_squeeze_into : tn_unsqueeze_into)(&dst.t, &src.t));
        SAME_BLOCKS(&dst, &want, "[%s] into [%s]\n", describe(&src.t), describe(&dst.t));
        block_free(&src);
        block_free(&dst);
        block_free(&want);
    }
}

/* ---- 5. Inplace Operations ---- */

static void inplace_operations(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6};
    tn_tensor t, before;
    OK(tn_init(&t, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_unsqueeze_inplace(&t, 1));
    assert_true(has_shape(&t, 3, (int64_t[]){2, 1, 3}) && t.data == x);
    OK(tn_squeeze_inplace(&t, 1));
    assert_true(has_shape(&t, 2, (int64_t[]){2, 3}) && t.data == x);
    before = t;
    assert_int_equal(tn_squeeze_inplace(&t, 0), TN_ESHAPE);
    assert_int_equal(tn_unsqueeze_inplace(&t, 4), TN_EARG);
    assert_memory_equal(&t, &before, sizeof t);

    /* padding replaces the storage */
    tn_tensor own;
    OK(tn_contiguous(&own, &t));
    OK(tn_pad_hw_inplace(&own, 1));
    const float want[4][5] = {{0}, {0, 1, 2, 3, 0}, {0, 4, 5, 6, 0}, {0}};
    assert_true(has_shape(&own, 2, (int64_t[]){4, 5}) && tn_is_contiguous(&own));
    assert_memory_equal(own.data, want, sizeof want);
    OK(tn_pad_hw_inplace(&own, 0));
    assert_memory_equal(own.data, want, sizeof want);
    before = own;
    assert_int_equal(tn_pad_hw_inplace(&own, -1), TN_EARG);
    own.flags = TN_READONLY;
    assert_int_equal(tn_pad_hw_inplace(&own, 1), TN_EARG);
    own.flags = 0;
    assert_memory_equal(&own, &before, sizeof own);
    tn_free(&own);
}

/* ---- 6. Complex Scenarios ---- */

static void complex_scenarios(void **state)
{
    (void)state;
    rng r = {6};
    /* squeeze of unsqueeze is the same, on random shapes, as copies and in place */
    for (int round = 0; round < 2000; round++) {
        int64_t shape[6];
        int ndim = (int)pick(&r, 0, 5);
        for (int i = 0; i < ndim; i++)
            shape[i] = pick(&r, 0, 5);
        int dim = (int)pick(&r, 0, ndim);
        block src = block_make(&r, pick_dtype(&r), ndim, shape, round % 2, true);
        tn_tensor u, s, dense, view = src.t;
        OK(tn_unsqueeze_copy(&u, &src.t, dim));
        OK(tn_squeeze_copy(&s, &u, dim));
        OK(tn_contiguous(&dense, &src.t));
        assert_true(has_shape(&s, ndim, shape));
        assert_memory_equal(s.data, dense.data, (size_t)tn_nbytes(&dense));
        OK(tn_unsqueeze_inplace(&view, dim));
        OK(tn_squeeze_inplace(&view, dim));
        assert_true(view.data == src.t.data && has_shape(&view, ndim, shape));
        assert_memory_equal(view.stride, src.t.stride, sizeof *shape * (size_t)ndim);
        tn_free(&u);
        tn_free(&s);
        tn_free(&dense);
        block_free(&src);
    }
    /* an image becomes a batch and gets a border */
    tn_tensor image, plane, batch, padded, back;
    OK(tn_alloc(&image, TN_F32, 2, (int64_t[]){224, 224}));
    OK(tn_randn(&image, 100));
    OK(tn_unsqueeze_copy(&plane, &image, 0));
    OK(tn_unsqueeze_copy(&batch, &plane, 0));
    OK(tn_pad_hw_copy(&padded, &batch, 2));
    assert_true(has_shape(&padded, 4, (int64_t[]){1, 1, 228, 228}));
    OK(tn_view(&back, &padded, (int64_t[]){1, 1, 224, 224}, (int64_t[]){0, 0, 2, 2},
               (int[]){0, 1}, 2));
    OK(tn_contiguous(&back, &back));
    assert_memory_equal(back.data, image.data, 4 * 224 * 224);
    tn_free(&image);
    tn_free(&plane);
    tn_free(&batch);
    tn_free(&padded);
    tn_free(&back);
}

/* ---- 7. Data Types ---- */

static void data_types(void **state)
{
    (void)state;
    rng r = {7};
    for (size_t k = 0; k < sizeof all_dtypes / sizeof *all_dtypes; k++) {
        block src = block_make(&r, all_dtypes[k], 3, (int64_t[]){2, 3, 4}, false, true);
        tn_tensor u, s, p, window, back;
        size_t bytes = (size_t)tn_nbytes(&src.t);
        OK(tn_unsqueeze_copy(&u, &src.t, 3));
        OK(tn_squeeze_copy(&s, &u, 3));
        OK(tn_pad_hw_copy(&p, &src.t, 2));
        assert_true(u.dtype == all_dtypes[k] && s.dtype == u.dtype && p.dtype == u.dtype);
        assert_memory_equal(u.data, src.bytes, bytes);
        assert_memory_equal(s.data, src.bytes, bytes);
        OK(tn_view(&window, &p, src.t.shape, (int64_t[]){0, 2, 2}, NULL, 0));
        OK(tn_contiguous(&back, &window));
        assert_memory_equal(back.data, src.bytes, bytes);
        tn_free(&u);
        tn_free(&s);
        tn_free(&p);
        tn_free(&back);
        block_free(&src);
    }
}

/* ---- 8. Padding Verification ---- */

static void padding_verification(void **state)
{
    (void)state;
    rng r = {8};
    for (int round = 0; round < 300; round++) {
        int64_t n = pick(&r, 1, 3), c = pick(&r, 1, 3), h = pick(&r, 1, 9), w = pick(&r, 1, 9);
        int64_t p = pick(&r, 0, 4);
        tn_tensor a, out;
        OK(tn_alloc(&a, TN_I16, 4, (int64_t[]){n, c, h, w}));
        OK(tn_randint(&a, (uint64_t)round, 1, 1000)); /* never 0 */
        OK(tn_pad_hw_copy(&out, &a, p));
        int64_t at[4] = {0};
        do {
            bool inside = at[2] >= p && at[2] < p + h && at[3] >= p && at[3] < p + w;
            int16_t got, want = 0;
            memcpy(&got, element(&out, at), 2);
            if (inside)
                memcpy(&want, element(&a, (int64_t[]){at[0], at[1], at[2] - p, at[3] - p}), 2);
            assert_int_equal(got, want);
            assert_true((got != 0) == inside);
        } while (index_next(at, 4, out.shape));
        tn_free(&a);
        tn_free(&out);
    }
}

/* ---- memory ---- */

static tn_status make_copies(void)
{
    float x[6] = {0};
    tn_tensor a, u = {.ndim = 77}, s = {.ndim = 77}, p = {.ndim = 77}, q = {.ndim = 77};
    OK(tn_init(&a, x, TN_F32, 3, (int64_t[]){2, 1, 3}));
    tn_status status = tn_unsqueeze_copy(&u, &a, 0);
    if (status == TN_OK)
        status = tn_squeeze_copy(&s, &a, 1);
    if (status == TN_OK)
        status = tn_pad_hw_copy(&p, &a, 1);
    if (status == TN_OK)
        status = tn_pattern_copy(&q, &a, "a b c -> c b a", NULL);
    tn_tensor *all[] = {&u, &s, &p, &q};
    for (int i = 0; i < 4; i++)
        if (all[i]->ndim != 77)
            tn_free(all[i]);
    return status;
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_int_equal(fail_each_allocation(make_copies), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"1. Basic Operations", basic_operations, NULL, NULL, NULL},
        {"2. Dimension Variations", dimension_variations, NULL, NULL, NULL},
        {"3. Edge Cases", edge_cases, NULL, NULL, NULL},
        {"4. Into Operations", into_operations, NULL, NULL, NULL},
        {"5. Inplace Operations", inplace_operations, NULL, NULL, NULL},
        {"6. Complex Scenarios", complex_scenarios, NULL, NULL, NULL},
        {"7. Data Types", data_types, NULL, NULL, NULL},
        {"8. Padding Verification", padding_verification, NULL, NULL, NULL},
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
