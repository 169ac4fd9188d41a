/* test_rearrange_rules.c - what a copy refuses and in which words, what it leaves alone, and
 * document 002's own case. */
#include "copy_oracle.h"

static tn_tensor f32(void *data, int ndim, const int64_t *shape, const char *words)
{
    tn_tensor t = layout_of(TN_F32, ndim, shape, words);
    t.data = data;
    return t;
}

#define SHAPE(...)                                                                             \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[])                          \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }

/* ---- document 002 ---- */

static void the_transposition_of_document_002(void **state)
{
    (void)state;
    float x[] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    static const float want[] = {1, 4, 2, 5, 3, 6};
    tn_tensor src, dst;
    OK(tn_init(&src, x, TN_F32, SHAPE(2, 3)));
    OK(tn_init_strided(&dst, y, TN_F32, 2, (int64_t[]){2, 3}, (int64_t[]){4, 8}));
    OK(tn_rearrange(&dst, &src));
    assert_memory_equal(y, want, sizeof want);
}

/* The document's example gives dst the shape (3, 2), which its own rule of equal shapes
 * forbids. */
static void another_shape_is_refused(void **state)
{
    (void)state;
    float x[] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    tn_tensor src, dst;
    tn_plan *plan = NULL;
    OK(tn_init(&src, x, TN_F32, SHAPE(2, 3)));
    OK(tn_init_strided(&dst, y, TN_F32, 2, (int64_t[]){3, 2}, (int64_t[]){4, 12}));
    assert_int_equal(tn_rearrange(&dst, &src), TN_ESHAPE);
    assert_string_equal(tn_error(), "rearrange: dst: axis 0: got extent 3, expected 2");
    assert_int_equal(tn_plan_rearrange(&plan, &dst, &src), TN_ESHAPE);
    assert_null(plan);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == 0);
}

/* ---- refusals ---- */

typedef struct broken {
    const char *what;
    tn_status status;
    const char *sentence; /* NULL: any that begins with "rearrange: " */
    void (*spoil)(tn_tensor *dst, tn_tensor *src);
} broken;

static void other_dtype(tn_tensor *dst, tn_tensor *src)
{
    (void)dst;
    src->dtype = TN_I32;
}
static void unknown_dtype(tn_tensor *dst, tn_tensor *src)
{
    (void)src;
    dst->dtype = (tn_dtype)99;
}
static void other_extent(tn_tensor *dst, tn_tensor *src)
{
    (void)dst;
    src->shape[2] = 5;
}
static void other_rank(tn_tensor *dst, tn_tensor *src)
{
    (void)dst;
    src->ndim = 2;
}
static void negative_extent(tn_tensor *dst, tn_tensor *src)
{
    (void)dst;
    src->shape[1] = -5;
}
static void rank_of_65(tn_tensor *dst, tn_tensor *src)
{
    (void)dst;
    src->ndim = 65;
}
static void readonly_dst(tn_tensor *dst, tn_tensor *src)
{
    (void)src;
    dst->flags = TN_READONLY;
}
static void other_device(tn_tensor *dst, tn_tensor *src)
{
    (void)dst;
    src->device = 1;
}
static void too_large(tn_tensor *dst, tn_tensor *src)
{
    for (int i = 0; i < 3; i++)
        dst->shape[i] = src->shape[i] = INT64_MAX / 4;
}
static void repeated_dst(tn_tensor *dst, tn_tensor *src)
{
    (void)src;
    dst->stride[1] = 0;
}
static void overlapping_dst(tn_tensor *dst, tn_tensor *src)
{
    (void)src;
    dst->stride[1] = 4;
}
static void no_dst_data(tn_tensor *dst, tn_tensor *src)
{
    (void)src;
    dst->data = NULL;
}
static void no_src_data(tn_tensor *dst, tn_tensor *src)
{
    (void)dst;
    src->data = NULL;
}
static void same_memory_turned(tn_tensor *dst, tn_tensor *src)
{
    OK(tn_transpose(src, dst, 0, 1));
}
static void one_element_shared(tn_tensor *dst, tn_tensor *src)
{
    src->data = (char *)dst->data + (4 * 4 * 4 - 1) * 4;
}
static void one_byte_shared(tn_tensor *dst, tn_tensor *src)
{
    src->data = (char *)dst->data + 4 * 4 * 4 * 4 - 1;
}
static void same_memory_reversed(tn_tensor *dst, tn_tensor *src)
{
    OK(tn_flip(src, dst, 0));
}
static void dtype_before_shape(tn_tensor *dst, tn_tensor *src)
{
    other_dtype(dst, src);
    other_extent(dst, src);
}
static void shape_before_stride(tn_tensor *dst, tn_tensor *src)
{
    other_extent(dst, src);
    repeated_dst(dst, src);
}
static void stride_before_data(tn_tensor *dst, tn_tensor *src)
{
    repeated_dst(dst, src);
    no_src_data(dst, src);
}

static const broken refusals[] = {
    {"another dtype", TN_EDTYPE,
     "rearrange: src: dtype differs from dst, got i32, expected f32; tn_cast converts",
     other_dtype},
    {"an unknown dtype", TN_EDTYPE, "rearrange: dst: dtype 99 is out of range [1, 17]",
     unknown_dtype},
    {"another extent", TN_ESHAPE, "rearrange: dst: axis 2: got extent 4, expected 5",
     other_extent},
    {"another rank", TN_ESHAPE, "rearrange: dst: got 3 axes, expected 2", other_rank},
    {"a negative extent", TN_ESHAPE, "rearrange: src: axis 1 has a negative extent, got -5",
     negative_extent},
    {"65 axes", TN_EARG, "rearrange: src: ndim 65 is out of range [0, 64]", rank_of_65},
    {"a dst that is only read", TN_EARG, "rearrange: dst is read-only (TN_READONLY)",
     readonly_dst},
    {"another device", TN_EDEVICE, "rearrange: src: device 1 is not TN_CPU (0)", other_device},
    {"sizes beyond int64", TN_EOVERFLOW, NULL, too_large},
    {"a repeated dst", TN_ESTRIDE, NULL, repeated_dst},
    {"a dst whose rows overlap", TN_ESTRIDE, NULL, overlapping_dst},
    {"dst without data", TN_ENULL, "rearrange: dst has 64 elements but data is NULL",
     no_dst_data},
    {"src without data", TN_ENULL, "rearrange: src has 64 elements but data is NULL",
     no_src_data},
    {"a transposition in place", TN_EOVERLAP, "rearrange: dst and src share bytes",
     same_memory_turned},
    {"a reversal in place", TN_EOVERLAP, "rearrange: dst and src share bytes",
     same_memory_reversed},
    {"one shared element", TN_EOVERLAP, "rearrange: dst and src share bytes",
     one_element_shared},
    {"one shared byte", TN_EOVERLAP, "rearrange: dst and src share bytes", one_byte_shared},
    {"dtype is reported before shape", TN_EDTYPE, NULL, dtype_before_shape},
    {"shape is reported before stride", TN_ESHAPE, NULL, shape_before_stride},
    {"stride is reported before data", TN_ESTRIDE, NULL, stride_before_data},
};

static void refused(void **state)
{
    (void)state;
    static float room[3 * 64], before[3 * 64];
    for (int i = 0; i < 3 * 64; i++)
        before[i] = room[i] = (float)i;
    for (size_t c = 0; c < sizeof refusals / sizeof *refusals; c++) {
        tn_tensor dst = f32(room, SHAPE(4, 4, 4), "012");
        tn_tensor src = f32(room + 128, SHAPE(4, 4, 4), "210");
        refusals[c].spoil(&dst, &src);
        tn_status status = tn_rearrange(&dst, &src);
        if (status != refusals[c].status)
            fail_msg("%s: %s (%s)", refusals[c].what, tn_status_name(status), tn_error());
        const char *want = refusals[c].sentence;
        if (want ? strcmp(tn_error(), want) : strncmp(tn_error(), "rearrange", 9))
            fail_msg("%s: \"%s\"", refusals[c].what, tn_error());
        assert_memory_equal(room, before, sizeof room);
    }
    tn_tensor dst = f32(room, SHAPE(4, 4, 4), "012");
    assert_int_equal(tn_rearrange(NULL, &dst), TN_ENULL);
    assert_string_equal(tn_error(), "rearrange: dst is NULL");
    assert_int_equal(tn_rearrange(&dst, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "rearrange: src is NULL");
}

/* ---- what shares memory and is fine ---- */

static void exactly_itself_is_left_alone(void **state)
{
    (void)state;
    rng r = {4};
    tn_tensor t = layout_of(TN_F32, SHAPE(5, 7, 9), "2-01+");
    ground g = ground_make(&r, &t, 4), before = ground_twin(&g);
    OK(tn_rearrange(&g.t, &g.t));
    assert_true(same_ground(&g, &before));
    tn_tensor again = g.t; /* strides of unit axes mean nothing */
    OK(tn_unsqueeze(&again, &again, 1));
    tn_tensor other = again;
    other.stride[1] = 12345;
    OK(tn_rearrange(&again, &other));
    tn_plan *plan;
    OK(tn_plan_rearrange(&plan, &g.t, &g.t));
    OK(tn_plan_run(plan, g.t.data, (const void *const[]){g.t.data}));
    tn_plan_free(plan);
    assert_true(same_ground(&g, &before));
    ground_free(&g);
    ground_free(&before);
}

/* Even places take what odd places have: the byte ranges meet, no byte is shared. */
static void interleaved_is_fine(void **state)
{
    (void)state;
    enum { N = 50000 };
    static float room[2 * N];
    for (int i = 0; i < 2 * N; i++)
        room[i] = (float)i;
    tn_tensor dst, src;
    const int64_t stride[] = {8};
    OK(tn_init_strided(&dst, room, TN_F32, 1, (int64_t[]){N}, stride));
    OK(tn_init_strided(&src, room + 1, TN_F32, 1, (int64_t[]){N}, stride));
    OK(tn_rearrange(&dst, &src));
    for (int i = 0; i < N; i++)
        assert_true(room[2 * i] == (float)(2 * i + 1) && room[2 * i + 1] == room[2 * i]);
}

static void nothing_needs_no_data(void **state)
{
    (void)state;
    tn_tensor dst = f32(NULL, SHAPE(3, 0, 5), "012"), src = f32(NULL, SHAPE(3, 0, 5), "210");
    OK(tn_rearrange(&dst, &src));
    OK(tn_fill(&dst, NULL));
    tn_plan *plan;
    OK(tn_plan_rearrange(&plan, &dst, &src));
    OK(tn_plan_run(plan, NULL, (const void *const[]){NULL}));
    tn_plan_free(plan);
    dst.stride[0] = 0; /* no element is named at all */
    OK(tn_rearrange(&dst, &src));
}

/* A source that is only read may be. */
static void readonly_src(void **state)
{
    (void)state;
    static const float x[] = {1, 2, 3, 4};
    float y[4];
    tn_tensor src, dst;
    OK(tn_init_const(&src, x, TN_F32, SHAPE(4), NULL));
    OK(tn_init(&dst, y, TN_F32, SHAPE(4)));
    OK(tn_rearrange(&dst, &src));
    assert_memory_equal(x, y, sizeof x);
}

/* ---- fill and contiguous are copies, too ---- */

static void fills(void **state)
{
    (void)state;
    static const char *const layouts[] = {"012", "210", "01+2", "012+", "-0-1-2", "012'"};
    rng r = {6};
    for (size_t c = 0; c < sizeof layouts / sizeof *layouts; c++)
        for (int w = 0; w < WIDTHS; w++)
            for (int zero = 0; zero < 2; zero++) {
                char value[16], nothing[16] = {0};
                scatter_bytes(&r, value, sizeof value);
                tn_tensor t = layout_of(dtype_of_width[w], SHAPE(11, 13, 37), layouts[c]),
                          one = t;
                ground dst = ground_make(&r, &t, pick(&r, 0, 63)), want = ground_twin(&dst);
                for (int i = 0; i < 3; i++)
                    one.stride[i] = 0;
                one.data = zero ? nothing : value;
                copy_oracle(&want.t, &one);
                OK(tn_fill(&dst.t, zero ? NULL : value));
                if (!same_ground(&dst, &want))
                    fail_msg("fill of %s, %d bytes", layouts[c], 1 << w);
                ground_free(&dst);
                ground_free(&want);
            }
    float x[4];
    tn_tensor bad = f32(x, SHAPE(4), "0*");
    assert_int_equal(tn_fill(&bad, NULL), TN_ESTRIDE);
    bad = f32(NULL, SHAPE(4), "0");
    assert_int_equal(tn_fill(&bad, NULL), TN_ENULL);
    assert_int_equal(tn_fill(NULL, NULL), TN_ENULL);
}

static void dense_copies(void **state)
{
    (void)state;
    static const char *const layouts[] = {"012", "210", "0*12", "012+", "-0-1-2", "102'"};
    rng r = {8};
    for (size_t c = 0; c < sizeof layouts / sizeof *layouts; c++)
        for (int w = 0; w < WIDTHS; w++) {
            tn_tensor t = layout_of(dtype_of_width[w], SHAPE(11, 13, 37), layouts[c]), out;
            tn_tensor dense = layout_of(dtype_of_width[w], SHAPE(11, 13, 37), "012");
            ground src = ground_make(&r, &t, pick(&r, 0, 63)),
                   want = ground_make(&r, &dense, 0);
            copy_oracle(&want.t, &src.t);
            OK(tn_contiguous(&out, &src.t));
            assert_true(tn_is_contiguous(&out) && (uintptr_t)out.data % 64 == 0);
            assert_memory_equal(out.data, want.t.data, (size_t)tn_nbytes(&out));
            tn_free(&out);
            ground_free(&src);
            ground_free(&want);
        }
}

static tn_status copy_and_plan(void)
{
    static float x[6];
    tn_tensor src = f32(x, SHAPE(2, 3), "10"), out = {.ndim = 77};
    tn_plan *plan = NULL;
    tn_status status = tn_contiguous(&out, &src);
    if (status != TN_OK) {
        assert_int_equal(out.ndim, 77);
        return status;
    }
    status = tn_plan_rearrange(&plan, &out, &src);
    if (status == TN_OK) {
        OK(tn_plan_run(plan, out.data, (const void *const[]){x}));
        OK(tn_rearrange(&out, &src));
        tn_plan_free(plan);
    } else {
        assert_null(plan);
    }
    tn_free(&out);
    return status;
}

/* Two allocations are asked for: running a plan and tn_rearrange ask for none. */
static void memory_runs_out(void **state)
{
    (void)state;
    assert_int_equal(fail_each_allocation(copy_and_plan), 2);
}

/* A plan needs no data: its rows may be as far apart as an int64_t says. */
static void rows_far_apart(void **state)
{
    (void)state;
    const int64_t far = (int64_t)1 << 62, shape[] = {2, 2, 90000};
    const int64_t strides[][3] = {{far, 4, 8}, {-far, 4, 8}, {4, far, 8}, {4, -far, 8}};
    tn_tensor dense, wide;
    tn_plan *plan;
    OK(tn_init(&dense, NULL, TN_F32, 3, shape));
    for (int c = 0; c < 4; c++) {
        OK(tn_init_strided(&wide, NULL, TN_F32, 3, shape, strides[c]));
        OK(tn_plan_rearrange(&plan, &dense, &wide));
        tn_plan_free(plan);
        OK(tn_plan_rearrange(&plan, &wide, &dense));
        tn_plan_free(plan);
        OK(tn_plan_pad(&plan, &dense, &wide, (int64_t[3]){0}, (int64_t[3]){0}, TN_PAD_EDGE,
                       NULL));
        tn_plan_free(plan);
    }
}

static void in_turn(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    (void)user;
    for (int part = 0; part < parts; part++)
        body(arg, part);
}

/* What a plan says of itself: threads for all that there is, and no number that wrapped. */
static void says_eight(tn_plan *plan)
{
    tn_facts f;
    OK(tn_plan_facts(&f, plan));
    if (f.threads != 8 || f.read < 0 || f.written < 0 || f.tiles < 0 || f.units < 0)
        fail_msg("%d threads, %lld bytes", f.threads, (long long)f.written);
    tn_plan_free(plan);
}

/* Nor is there a limit to their number, below that of an int64_t. */
static void as_many_as_fit(void **state)
{
    (void)state;
    const int64_t most = INT64_MAX, less = most - 2, third = most / 3, one = 1;
    tn_tensor d, s, scalar;
    const tn_tensor *const twice[] = {&s, &s}, *const scalars[] = {&scalar, &scalar};
    tn_plan *plan;
    tn_handle *eight;
    OK(tn_handle_create(&eight, TN_CPU, 0,
                        &(tn_config){.threads = 8, .parallel_for = in_turn}));
    OK(tn_handle_use(eight));
    OK(tn_init(&d, NULL, TN_U8, 1, &most));
    s = d;
    OK(tn_plan_rearrange(&plan, &d, &s));
    says_eight(plan);
    OK(tn_plan_op(&plan, TN_BIT_XOR, NULL, &d, 2, twice));
    says_eight(plan);
    OK(tn_init(&s, NULL, TN_U8, 1, &less));
    OK(tn_plan_pad(&plan, &d, &s, &one, &one, TN_PAD_EDGE, NULL));
    says_eight(plan);
    OK(tn_init(&d, NULL, TN_BOOL, 1, &most));
    OK(tn_init(&scalar, NULL, TN_F64, 0, NULL));
    OK(tn_plan_op(&plan, TN_EQ, NULL, &d, 2, scalars));
    says_eight(plan);
    OK(tn_init(&d, NULL, TN_U8, 2, (int64_t[]){3, third}));
    OK(tn_init_strided(&s, NULL, TN_U8, 2, (int64_t[]){3, third}, (int64_t[]){1, 3}));
    OK(tn_plan_rearrange(&plan, &d, &s));
    says_eight(plan);
    tn_handle_destroy(eight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_transposition_of_document_002),
        cmocka_unit_test(another_shape_is_refused),
        cmocka_unit_test(refused),
        cmocka_unit_test(exactly_itself_is_left_alone),
        cmocka_unit_test(interleaved_is_fine),
        cmocka_unit_test(nothing_needs_no_data),
        cmocka_unit_test(readonly_src),
        cmocka_unit_test(fills),
        cmocka_unit_test(dense_copies),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(rows_far_apart),
        cmocka_unit_test(as_many_as_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
