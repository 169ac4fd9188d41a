/* test_pad.c - pads in every mode against the formula, one index at a time.
 *
 * test_pad_stream.c runs the same with streaming stores from the first byte on. */
#include "dims_oracle.h"
#include "runtime/runtime.h"

#ifndef ROUNDS
#define ROUNDS (TEST_WATCHED ? 1000 : 40000)
#endif

enum { AXES = 5 };

static const char *const mode_names[] = {"constant", "edge", "reflect", "symmetric", "wrap"};

/* One pad: plain call, then a plan on the same data, both against the formula. */
static void check_pad(rng *r, tn_dtype dtype, int ndim, const int64_t *shape,
                      const int64_t *before, const int64_t *after, tn_pad_mode mode, bool wild)
{
    int64_t whole[AXES];
    char value[16];
    for (int i = 0; i < ndim; i++)
        whole[i] = before[i] + shape[i] + after[i];
    for (size_t i = 0; i < sizeof value; i++)
        value[i] = (char)next(r);
    const void *given = next(r) % 4 ? value : NULL;
    block src = block_make(r, dtype, ndim, shape, wild, true);
    block dst = block_make(r, dtype, ndim, whole, wild, false), want = block_twin(&dst);
    const char zero[16] = {0};
    oracle(&want.t, &src.t, from_pad, &(padded){ndim, shape, before, mode},
           given ? given : zero);
    block twin = block_twin(&dst);
    OK(tn_pad_into(&dst.t, &src.t, before, after, mode, given));
    SAME_BLOCKS(&dst, &want, "%s %s: [%s] to [%s], before %lld %lld\n", mode_names[mode],
                tn_dtype_name(dtype), describe(&src.t), describe(&dst.t), (long long)before[0],
                (long long)before[1]);
    if (next(r) % 4 == 0) {
        tn_plan *plan;
        tn_tensor d = twin.t, s = src.t;
        d.data = s.data = NULL;
        OK(tn_plan_pad(&plan, &d, &s, before, after, mode, given));
        OK(tn_plan_run(plan, twin.t.data, (const void *const[]){src.t.data}));
        SAME_BLOCKS(&twin, &want, "plan of %s\n", mode_names[mode]);
        tn_plan_free(plan);
    }
    block_free(&src);
    block_free(&dst);
    block_free(&want);
    block_free(&twin);
}

static void random_pads(void **state)
{
    (void)state;
    rng r = {2025};
    for (int round = 0; round < ROUNDS; round++) {
        int64_t shape[AXES] = {0}, before[AXES] = {0}, after[AXES] = {0};
        int ndim = (int)pick(&r, 0, round % 8 ? 4 : AXES);
        tn_pad_mode mode = (tn_pad_mode)(next(&r) % 5);
        for (int i = 0; i < ndim; i++) {
            shape[i] = pick(&r, 1, ndim > 3 ? 4 : 7);
            int64_t most = next(&r) % 16 ? 2 : 20;
            if (next(&r) % 2) {
                before[i] = pick(&r, 0, most);
                after[i] = pick(&r, 0, most);
            }
            if (next(&r) % 40 == 0) {
                shape[i] = 0;
                if (mode != TN_PAD_CONSTANT)
                    before[i] = after[i] = 0;
            }
        }
        check_pad(&r, pick_dtype(&r), ndim, shape, before, after, mode, round % 4 != 0);
    }
}

/* Large enough for threads, for blocks of rows, for rows that are cut. */
static void large_pads(void **state)
{
    (void)state;
    rng r = {7};
    static const struct {
        int ndim;
        int64_t shape[4], width[4];
    } cases[] = {
        {4, {4, 8, 56, 56}, {0, 0, 1, 1}},
        {4, {2, 3, 60, 61}, {0, 0, 3, 3}},
        {4, {3, 50, 40, 3}, {0, 2, 2, 0}},
        {2, {3, 70001}, {1, 8}},
        {1, {200003}, {70007}},
        {3, {300, 20, 30}, {5, 0, 0}},
        {2, {5000, 2}, {3, 31}},
        {2, {700, 1500}, {8, 8}},
        {4, {30, 1, 20, 33}, {2, 2, 0, 0}},
        {3, {33, 65, 129}, {40, 70, 140}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int mode = 0; mode < 5; mode++) {
            static const tn_dtype dtypes[] = {TN_I8, TN_F16, TN_F32, TN_F64, TN_C128};
            tn_dtype dtype = dtypes[(c + (size_t)mode) % 5];
            check_pad(&r, dtype, cases[c].ndim, cases[c].shape, cases[c].width, cases[c].width,
                      (tn_pad_mode)mode, false);
            check_pad(&r, TN_F32, cases[c].ndim, cases[c].shape, cases[c].width,
                      (const int64_t[4]){0}, (tn_pad_mode)mode, true);
        }
}

/* A source that is transposed: each image is a pad of its own where it fits the cache, and the
 * axes that can be parted so lie outside in src, too. */
static void turned_pads(void **state)
{
    (void)state;
    rng r = {11};
    static const struct {
        int64_t shape[4],
            width[4]; /* of what is transposed, and of the borders of the result */
        int axes[4];
        int64_t images;
    } cases[] = {
        {{7, 60, 50, 24}, {0, 0, 1, 2}, {0, 3, 1, 2}, 7},
        {{3, 4, 150, 170}, {0, 0, 3, 1}, {0, 1, 3, 2}, 12},
        {{60, 7, 50, 24}, {0, 0, 2, 1}, {1, 3, 0, 2}, 1},
        {{7, 60, 50, 24}, {1, 0, 1, 2}, {0, 3, 1, 2}, 1},
    };
    for (int c = 0; c < 4; c++)
        for (int mode = 0; mode < 5; mode++) {
            const int64_t *width = cases[c].width;
            block src = block_make(&r, TN_F32, 4, cases[c].shape, mode == 2, true);
            OK(tn_permute(&src.t, &src.t, cases[c].axes));
            int64_t whole[4];
            for (int i = 0; i < 4; i++)
                whole[i] = src.t.shape[i] + 2 * width[i];
            block dst = block_make(&r, TN_F32, 4, whole, false, false), want = block_twin(&dst);
            const float zero = 0;
            oracle(&want.t, &src.t, from_pad,
                   &(padded){4, src.t.shape, width, (tn_pad_mode)mode}, &zero);
            OK(tn_pad_into(&dst.t, &src.t, width, width, (tn_pad_mode)mode, NULL));
            SAME_BLOCKS(&dst, &want, "transposed %d, %s\n", c, mode_names[mode]);
            tn_plan *plan;
            tn_facts f;
            OK(tn_plan_pad(&plan, &dst.t, &src.t, width, width, (tn_pad_mode)mode, NULL));
            OK(tn_plan_facts(&f, plan));
            const bool fits = tn_nbytes(&dst.t) <= tni_cache_sizes()->l2 / 2;
            if (mode != 2 && f.tiles != (fits ? 1 : cases[c].images))
                fail_msg("%lld images, %s", (long long)f.tiles, f.way);
            tn_plan_free(plan);
            block_free(&src);
            block_free(&dst);
            block_free(&want);
        }
}

/* Planes of the value between blocks without narrow borders: both go through one buffer. */
static void planes_of_the_value(void **state)
{
    (void)state;
    for (int64_t rows = 20; rows < 140; rows += 7) {
        const int64_t shape[3] = {3, rows, 60}, wide[3] = {1, 1, 40}, high = rows + 2;
        tn_tensor src, dst;
        const float one = 1;
        OK(tn_full(&src, TN_F32, 3, shape, &one));
        OK(tn_pad_copy(&dst, &src, wide, wide, TN_PAD_CONSTANT, NULL));
        const float *x = dst.data;
        for (int64_t i = 0; i < 5 * high * 140; i++) {
            const int64_t plane = i / (high * 140), row = i / 140 % high, column = i % 140;
            const bool inside = plane > 0 && plane < 4 && row > 0 && row <= rows &&
                                column >= 40 && column < 100;
            assert_true(x[i] == (inside ? 1 : 0));
        }
        tn_free(&src);
        tn_free(&dst);
    }
}

/* What numpy.pad gives for its own examples, and for widths beyond the extent. */
static void known_pads(void **state)
{
    (void)state;
    static const struct {
        tn_pad_mode mode;
        int n, before, after;
        const char *want; /* digits: places of "0123…" */
    } cases[] = {
        {TN_PAD_EDGE, 5, 2, 3, "0001234444"},
        {TN_PAD_REFLECT, 5, 2, 3, "2101234321"},
        {TN_PAD_SYMMETRIC, 5, 2, 3, "1001234432"},
        {TN_PAD_WRAP, 5, 2, 3, "3401234012"},
        {TN_PAD_REFLECT, 3, 7, 7, "12101210121012101"},
        {TN_PAD_SYMMETRIC, 3, 7, 7, "00122100122100122"},
        {TN_PAD_WRAP, 3, 7, 7, "20120120120120120"},
        {TN_PAD_REFLECT, 2, 3, 3, "10101010"},
        {TN_PAD_SYMMETRIC, 2, 3, 3, "11001100"},
        {TN_PAD_REFLECT, 1, 3, 3, "0000000"},
        {TN_PAD_SYMMETRIC, 1, 3, 3, "0000000"},
        {TN_PAD_WRAP, 1, 3, 3, "0000000"},
        {TN_PAD_EDGE, 1, 3, 3, "0000000"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tn_tensor src, out;
        OK(tn_init(&src, "0123456789", TN_I8, 1, (int64_t[]){cases[c].n}));
        OK(tn_pad_copy(&out, &src, (int64_t[]){cases[c].before}, (int64_t[]){cases[c].after},
                       cases[c].mode, NULL));
        assert_int_equal(out.shape[0], (int64_t)strlen(cases[c].want));
        assert_memory_equal(out.data, cases[c].want, strlen(cases[c].want));
        tn_free(&out);
    }
}

/* The window of the interior undoes every pad. */
static void unpad_of_pad(void **state)
{
    (void)state;
    rng r = {8};
    for (int round = 0; round < (TEST_WATCHED ? 500 : 3000); round++) {
        int64_t shape[AXES], before[AXES], after[AXES];
        int ndim = (int)pick(&r, 0, 4);
        for (int i = 0; i < ndim; i++) {
            shape[i] = pick(&r, 1, 6);
            before[i] = pick(&r, 0, 8);
            after[i] = pick(&r, 0, 8);
        }
        block src = block_make(&r, pick_dtype(&r), ndim, shape, false, true);
        tn_tensor out, window, back;
        OK(tn_pad_copy(&out, &src.t, before, after, (tn_pad_mode)(round % 5), NULL));
        OK(tn_view(&window, &out, shape, before, NULL, 0));
        OK(tn_contiguous(&back, &window));
        assert_memory_equal(back.data, src.bytes, src.size);
        tn_free(&out);
        tn_free(&back);
        block_free(&src);
    }
}

static void extents_of_zero(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6};
    tn_tensor src, out;
    OK(tn_init(&src, NULL, TN_F32, 2, (int64_t[]){0, 3}));
    const int64_t one[] = {1, 1}, none[] = {0, 0}, columns[] = {0, 2};
    OK(tn_pad_copy(&out, &src, one, one, TN_PAD_CONSTANT, &(float){7}));
    assert_int_equal(tn_numel(&out), 10);
    for (int i = 0; i < 10; i++)
        assert_true(((float *)out.data)[i] == 7);
    /* a plan on a source without memory */
    tn_plan *plan;
    OK(tn_plan_pad(&plan, &out, &src, one, one, TN_PAD_CONSTANT, NULL));
    OK(tn_plan_run(plan, out.data, (const void *const[]){NULL}));
    assert_true(((float *)out.data)[9] == 0);
    tn_plan_free(plan);
    tn_free(&out);
    for (int mode = TN_PAD_EDGE; mode <= TN_PAD_WRAP; mode++) {
        assert_int_equal(tn_pad_copy(&out, &src, one, none, (tn_pad_mode)mode, NULL),
                         TN_ESHAPE);
        assert_int_equal(tn_pad_copy(&out, &src, none, one, (tn_pad_mode)mode, NULL),
                         TN_ESHAPE);
        OK(tn_pad_copy(&out, &src, columns, columns, (tn_pad_mode)mode, NULL));
        assert_true(out.shape[0] == 0 && out.shape[1] == 7);
        tn_free(&out);
    }
    OK(tn_init(&src, x, TN_F32, 0, NULL));
    OK(tn_pad_copy(&out, &src, NULL, NULL, TN_PAD_WRAP, NULL));
    assert_true(*(float *)out.data == 1);
    tn_free(&out);
}

static void bad_pads(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, z[20], before_z[20];
    memset(z, 0x5a, sizeof z);
    memcpy(before_z, z, sizeof z);
    tn_tensor src, dst, bad, out = {.ndim = 99};
    OK(tn_init(&src, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_init(&dst, z, TN_F32, 2, (int64_t[]){4, 5}));
    const int64_t one[] = {1, 1}, less[] = {1, -1}, huge[] = {1, INT64_MAX},
                  large[] = {1, INT64_MAX / 8};
    const tn_pad_mode mode = TN_PAD_EDGE;
    tn_plan *plan = NULL;

    assert_int_equal(tn_pad_into(NULL, &src, one, one, mode, NULL), TN_ENULL);
    assert_int_equal(tn_pad_into(&dst, NULL, one, one, mode, NULL), TN_ENULL);
    assert_int_equal(tn_pad_into(&dst, &src, NULL, one, mode, NULL), TN_ENULL);
    assert_int_equal(tn_pad_into(&dst, &src, one, NULL, mode, NULL), TN_ENULL);
    assert_int_equal(tn_pad_copy(NULL, &src, one, one, mode, NULL), TN_ENULL);
    assert_int_equal(tn_pad_copy(&out, NULL, one, one, mode, NULL), TN_ENULL);
    assert_int_equal(tn_plan_pad(NULL, &dst, &src, one, one, mode, NULL), TN_ENULL);
    assert_int_equal(tn_plan_pad(&plan, NULL, &src, one, one, mode, NULL), TN_ENULL);
    assert_int_equal(tn_plan_pad(&plan, &dst, NULL, one, one, mode, NULL), TN_ENULL);

    assert_int_equal(tn_pad_into(&dst, &src, less, one, mode, NULL), TN_EARG);
    assert_int_equal(tn_pad_into(&dst, &src, one, less, mode, NULL), TN_EARG);
    assert_int_equal(tn_pad_into(&dst, &src, one, one, (tn_pad_mode)5, NULL), TN_EARG);
    assert_int_equal(tn_pad_into(&dst, &src, one, one, (tn_pad_mode)-1, NULL), TN_EARG);
    bad = dst;
    bad.flags = TN_READONLY;
    assert_int_equal(tn_pad_into(&bad, &src, one, one, mode, NULL), TN_EARG);
    bad = src;
    bad.ndim = 65;
    assert_int_equal(tn_pad_copy(&out, &bad, one, one, mode, NULL), TN_EARG);
    bad = src;
    bad.device = 1;
    assert_int_equal(tn_pad_into(&dst, &bad, one, one, mode, NULL), TN_EDEVICE);
    assert_int_equal(tn_pad_copy(&out, &bad, one, one, mode, NULL), TN_EDEVICE);
    assert_int_equal(tn_pad_copy(&out, &bad, less, one, mode, NULL), TN_EARG);
    bad = src;
    bad.dtype = TN_I32;
    assert_int_equal(tn_pad_into(&dst, &bad, one, one, mode, NULL), TN_EDTYPE);
    bad.dtype = (tn_dtype)0;
    assert_int_equal(tn_pad_copy(&out, &bad, one, one, mode, NULL), TN_EDTYPE);
    bad = dst;
    bad.shape[0] = 3;
    assert_int_equal(tn_pad_into(&bad, &src, one, one, mode, NULL), TN_ESHAPE);
    assert_int_equal(tn_pad_into(&bad, &src, one, huge, mode, NULL), TN_ESHAPE);
    bad = dst;
    bad.ndim = 1;
    assert_int_equal(tn_pad_into(&bad, &src, one, one, mode, NULL), TN_ESHAPE);
    bad = src;
    bad.shape[1] = -1;
    assert_int_equal(tn_pad_copy(&out, &bad, one, one, mode, NULL), TN_ESHAPE);
    assert_int_equal(tn_pad_copy(&out, &src, one, huge, mode, NULL), TN_EOVERFLOW);
    assert_int_equal(tn_pad_copy(&out, &src, large, large, mode, NULL), TN_EOVERFLOW);
    assert_int_equal(tn_pad_into(&dst, &src, one, huge, mode, NULL), TN_EOVERFLOW);
    bad = dst;
    bad.stride[0] = 4;
    assert_int_equal(tn_pad_into(&bad, &src, one, one, mode, NULL), TN_ESTRIDE);
    assert_int_equal(tn_plan_pad(&plan, &bad, &src, one, one, mode, NULL), TN_ESTRIDE);
    bad = dst;
    bad.data = NULL;
    assert_int_equal(tn_pad_into(&bad, &src, one, one, mode, NULL), TN_ENULL);
    bad = src;
    bad.data = NULL;
    assert_int_equal(tn_pad_into(&dst, &bad, one, one, mode, NULL), TN_ENULL);
    assert_int_equal(tn_pad_copy(&out, &bad, one, one, mode, NULL), TN_ENULL);
    bad.data = z + 6;
    assert_int_equal(tn_pad_into(&dst, &bad, one, one, mode, NULL), TN_EOVERLAP);
    const int64_t none[] = {0, 0};
    assert_int_equal(tn_pad_into(&dst, &dst, none, none, mode, NULL), TN_EOVERLAP);

    OK(tn_plan_pad(&plan, &dst, &src, one, one, mode, NULL));
    assert_int_equal(tn_plan_run(plan, NULL, (const void *const[]){x}), TN_ENULL);
    assert_int_equal(tn_plan_run(plan, z, (const void *const[]){NULL}), TN_ENULL);
    assert_int_equal(tn_plan_run(plan, z, (const void *const[]){z + 6}), TN_EOVERLAP);
    tn_plan_free(plan);
    assert_int_equal(out.ndim, 99);
    assert_memory_equal(z, before_z, sizeof z);
}

/* A plan says which way it goes. */
static void ways(void **state)
{
    (void)state;
    tn_tensor src, dst, transposed;
    tn_plan *plan;
    tn_facts f;
    const int64_t one[] = {1, 1};
    OK(tn_init(&src, NULL, TN_F32, 2, (int64_t[]){30, 40}));
    OK(tn_init(&dst, NULL, TN_F32, 2, (int64_t[]){32, 42}));
    OK(tn_plan_pad(&plan, &dst, &src, one, one, TN_PAD_REFLECT, NULL));
    OK(tn_plan_facts(&f, plan));
    assert_string_equal(f.way, "rows");
    assert_true(f.read == 4800 && f.written == 32 * 42 * 4 && f.shape[1] == 42);
    tn_plan_free(plan);
    OK(tn_init(&transposed, NULL, TN_F32, 2, (int64_t[]){40, 30}));
    OK(tn_transpose(&transposed, &transposed, 0, 1));
    OK(tn_plan_pad(&plan, &dst, &transposed, one, one, TN_PAD_CONSTANT, NULL));
    OK(tn_plan_facts(&f, plan));
    assert_string_equal(f.way, "interior first");
    tn_plan_free(plan);
}

static tn_status make_pads(void)
{
    float x[6] = {0};
    tn_tensor src, out = {.ndim = 99};
    tn_plan *plan = NULL;
    const int64_t one[] = {1, 1};
    OK(tn_init(&src, x, TN_F32, 2, (int64_t[]){2, 3}));
    tn_status status = tn_pad_copy(&out, &src, one, one, TN_PAD_EDGE, NULL);
    if (status != TN_OK) {
        assert_int_equal(out.ndim, 99);
        return status;
    }
    status = tn_plan_pad(&plan, &out, &src, one, one, TN_PAD_EDGE, NULL);
    if (status == TN_OK) {
        OK(tn_plan_run(plan, out.data, (const void *const[]){x}));
        OK(tn_pad_into(&out, &src, one, one, TN_PAD_EDGE, NULL));
        tn_plan_free(plan);
    } else {
        assert_null(plan);
    }
    tn_tensor t = out;
    tn_status inplace = status == TN_OK ? tn_pad_hw_inplace(&t, 2) : TN_OK;
    if (inplace != TN_OK)
        assert_memory_equal(&t, &out, sizeof t);
    tn_free(&t);
    return status != TN_OK ? status : inplace;
}

/* Three allocations are asked for: running a plan and tn_pad_into ask for none. */
static void memory_runs_out(void **state)
{
    (void)state;
    assert_int_equal(fail_each_allocation(make_pads), 3);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    rng r = {12};
    const int64_t shape[] = {7, 200, 211}, width[] = {1, 2, 3}, whole[] = {9, 204, 217};
    block src = block_make(&r, TN_F32, 3, shape, false, true);
    for (int mode = 0; mode < 5; mode++) {
        block one = block_make(&r, TN_F32, 3, whole, false, false), many = block_twin(&one);
        for (int k = 0; k < 2; k++) {
            tn_handle *h;
            OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = k ? 7 : 1}));
            OK(tn_handle_use(h));
            OK(tn_pad_into(k ? &many.t : &one.t, &src.t, width, width, (tn_pad_mode)mode,
                           NULL));
            tn_handle_destroy(h);
        }
        SAME_BLOCKS(&many, &one, "%s with 7 threads\n", mode_names[mode]);
        block_free(&one);
        block_free(&many);
    }
    block_free(&src);
}

int main(void)
{
#ifdef STREAM
    setenv("TENON_STREAM", "0", 1);
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_pads),
        cmocka_unit_test(random_pads),
        cmocka_unit_test(large_pads),
        cmocka_unit_test(turned_pads),
        cmocka_unit_test(planes_of_the_value),
        cmocka_unit_test(unpad_of_pad),
        cmocka_unit_test(bad_pads),
        cmocka_unit_test(extents_of_zero),
        cmocka_unit_test(ways),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
