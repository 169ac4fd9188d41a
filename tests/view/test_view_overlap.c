/* test_view_overlap.c - which tensors name a byte twice, which share one: against a map of
 * bytes. */
#include "view_oracle.h"

enum { BYTES = 1 << 14 };

/* Count each byte that t touches, around data as the middle; the highest count. */
static int mark(const tn_tensor *t, uint8_t *map)
{
    int most = 0;
    const int64_t count = slow_count(t->ndim, t->shape);
    for (int64_t flat = 0; flat < count; flat++) {
        int64_t at[TN_MAX_NDIM];
        slow_index(flat, t->ndim, t->shape, at);
        const int64_t first = (int64_t)slow_address(t, at);
        for (int64_t b = first; b < first + (int64_t)tn_dtype_size(t->dtype); b++) {
            assert_in_range(b, 0, BYTES - 1);
            if (map[b] < 255)
                map[b]++;
            most = map[b] > most ? map[b] : most;
        }
    }
    return most;
}

/* A small layout in the map, strides without any order. */
static void random_tensor(dice *d, tn_tensor *t)
{
    memset(t, 0, sizeof *t);
    t->dtype = (tn_dtype)between(d, TN_BOOL, TN_C128);
    t->ndim = (int)between(d, 0, 4);
    const int64_t reach = once_in(d, 2) ? 20 : 120;
    const int64_t grain = once_in(d, 2) ? (int64_t)tn_dtype_size(t->dtype) : 1;
    for (int i = 0; i < t->ndim; i++) {
        t->shape[i] = between(d, once_in(d, 20) ? 0 : 1, 5);
        t->stride[i] = t->shape[i] < 2 ? garbage(d) : grain * between(d, -reach, reach);
        if (t->shape[i] > 1 && once_in(d, 4) && i > 0 && t->shape[i - 1] > 1)
            t->stride[i] = t->stride[i - 1] * t->shape[i - 1];
        if (t->shape[i] > 1 && (t->stride[i] > 400 || t->stride[i] < -400))
            t->stride[i] = grain;
    }
    t->data = (void *)(uintptr_t)(BYTES / 2);
}

static void a_byte_named_twice_is_found(void **state)
{
    (void)state;
    static uint8_t map[BYTES];
    dice d = {21};
    int twice = 0, once = 0;
    for (int k = 0; k < 60000; k++) {
        tn_tensor t;
        if (once_in(&d, 4))
            random_layout(&d, &t, 3);
        else
            random_tensor(&d, &t);
        t.data = (void *)(uintptr_t)(BYTES / 2);
        int64_t low, high;
        tni_extent(&t, &low, &high);
        if (low < -BYTES / 2 || high > BYTES / 2 || slow_count(t.ndim, t.shape) > 5000)
            continue;
        memset(map, 0, sizeof map);
        const bool want = mark(&t, map) > 1;
        const tn_status got = tni_check_injective(&t, "t", "dst");
        if (got != (want ? TN_ESTRIDE : TN_OK))
            fail_msg("%s x %s%s: %s", tn_dtype_name(t.dtype), want ? "twice" : "once",
                     layout_text(&t), tn_status_name(got));
        if (want)
            assert_string_equal(tn_error(),
                                "t: two indices of dst share an element (self-overlap)");
        twice += want;
        once += !want;
    }
    assert_true(twice > 10000 && once > 10000);
}

static void a_shared_byte_is_found(void **state)
{
    (void)state;
    static uint8_t map[BYTES], other[BYTES];
    dice d = {22};
    int shared = 0, disjoint = 0, met = 0;
    for (int k = 0; k < 60000; k++) {
        tn_tensor a, b;
        random_tensor(&d, &a);
        random_tensor(&d, &b);
        if (once_in(&d, 3)) {
            const tn_dtype dtype = b.dtype;
            b = a;
            b.dtype = once_in(&d, 2) ? a.dtype : dtype;
        }
        b.data = (void *)((uintptr_t)b.data + (uintptr_t)(roll(&d) % 64));
        memset(map, 0, sizeof map);
        memset(other, 0, sizeof other);
        mark(&a, map);
        mark(&b, other);
        bool want = false;
        for (int i = 0; i < BYTES; i++)
            want |= map[i] && other[i];
        const tn_status got = tni_check_disjoint(&a, &b, false, "x", NULL);
        if (got != (want ? TN_EOVERLAP : TN_OK))
            fail_msg("%s at %p%s: not %s", tn_dtype_name(a.dtype), a.data, layout_text(&a),
                     want ? "shared" : "disjoint");
        if (want)
            assert_string_equal(tn_error(), "x: dst and src share bytes");
        assert_int_equal(tni_check_disjoint(&b, &a, false, "x", NULL), got);
        int64_t a_low, a_high, b_low, b_high;
        tni_extent(&a, &a_low, &a_high);
        tni_extent(&b, &b_low, &b_high);
        const int64_t gap = (int64_t)((uintptr_t)b.data - (uintptr_t)a.data);
        met += !want && a_low < b_high + gap && b_low + gap < a_high;
        shared += want;
        disjoint += !want;
    }
    assert_true(shared > 10000 && disjoint > 5000 && met > 1000);
}

typedef struct layout {
    int ndim;
    int64_t shape[5], stride[5];
} layout;

/* Tensors of real sizes; f32, in one buffer. */
static const struct {
    const char *says;
    layout dst, src;
    int64_t src_at;
    tn_status status;
} pairs[] = {
    {"left and right half of a wide matrix",
     {2, {1000000, 300}, {4096, 4}},
     {2, {1000000, 724}, {4096, 4}},
     1200,
     TN_OK},
    {"halves that meet in one column",
     {2, {1000000, 301}, {4096, 4}},
     {2, {1000000, 724}, {4096, 4}},
     1200,
     TN_EOVERLAP},
    {"every second row of the right half",
     {2, {1000000, 300}, {4096, 4}},
     {2, {500000, 724}, {8192, 4}},
     1200,
     TN_OK},
    {"even and odd elements", {1, {1 << 30}, {8}}, {1, {1 << 30}, {8}}, 4, TN_OK},
    {"even and odd, one backwards",
     {1, {1 << 30}, {8}},
     {1, {1 << 30}, {-8}},
     (INT64_C(8) << 30) - 4,
     TN_OK},
    {"every second and every third meet", {1, {1000}, {8}}, {1, {1000}, {12}}, 4, TN_EOVERLAP},
    {"a block and the block below it",
     {3, {64, 512, 512}, {4194304, 4096, 4}},
     {3, {64, 512, 512}, {4194304, 4096, 4}},
     2097152,
     TN_OK},
    {"a block and itself, transposed",
     {3, {64, 512, 512}, {4194304, 4096, 4}},
     {3, {64, 512, 512}, {4194304, 4, 4096}},
     0,
     TN_EOVERLAP},
    {"channels 0 and 2 of pixels",
     {3, {1080, 1920, 1}, {5760 * 4, 12, 4}},
     {3, {1080, 1920, 1}, {5760 * 4, 12, 4}},
     8,
     TN_OK},
    {"a shifted copy of itself", {1, {1 << 20}, {4}}, {1, {1 << 20}, {4}}, 4, TN_EOVERLAP},
    {"one byte of misalignment", {1, {100}, {8}}, {1, {100}, {8}}, 5, TN_EOVERLAP},
    {"unit axes with garbage", {2, {1, 8}, {-1, 8}}, {2, {8, 1}, {8, INT64_MIN}}, 4, TN_OK},
    {"an empty source", {1, {100}, {4}}, {2, {0, 100}, {4, 4}}, 8, TN_OK},
    {"a repeated source inside dst", {1, {100}, {4}}, {2, {5, 2}, {0, 4}}, 8, TN_EOVERLAP},
    {"an element in a gap of a lattice that nobody could walk",
     {2, {INT64_C(1) << 40, 3}, {40, 28}},
     {0, {0}, {0}},
     (INT64_C(40) << 39) + 8,
     TN_OK},
    {"rows between rows, whose planes are far apart",
     {3, {100, 1000, 100}, {10000000, 1004, 4}},
     {3, {100, 1000, 100}, {10000000, 1004, 4}},
     500,
     TN_OK},
    {"an element in the gap that three steps leave",
     {4, {2, 2, 3, 61}, {2400, 1600, 400, 4}},
     {0, {0}, {0}},
     1320,
     TN_OK},
    {"an element in the row behind that gap",
     {4, {2, 2, 3, 61}, {2400, 1600, 400, 4}},
     {0, {0}, {0}},
     1720,
     TN_EOVERLAP},
};

static void make(tn_tensor *t, const layout *l, int64_t at)
{
    assert_int_equal(tn_init_strided(t, (void *)(uintptr_t)(0x10000000000 + at), TN_F32,
                                     l->ndim, l->shape, l->stride),
                     TN_OK);
}

static void real_sizes_are_decided(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(pairs); k++) {
        tn_tensor dst, src;
        make(&dst, &pairs[k].dst, 0);
        make(&src, &pairs[k].src, pairs[k].src_at);
        const tn_status status = tni_check_disjoint(&dst, &src, true, "x", NULL);
        if (status != pairs[k].status)
            fail_msg("%s: %s, %s", pairs[k].says, tn_status_name(status), tn_error());
    }
}

static const struct {
    const char *says;
    layout t;
    tn_status status;
} singles[] = {
    {"dense", {3, {100, 200, 300}, {240000, 1200, 4}}, TN_OK},
    {"transposed", {3, {300, 100, 200}, {4, 240000, 1200}}, TN_OK},
    {"reversed", {2, {100, 200}, {-800, -4}}, TN_OK},
    {"repeated", {2, {100, 200}, {0, 4}}, TN_ESTRIDE},
    {"repeated once", {2, {1, 200}, {0, 4}}, TN_OK},
    {"windows", {2, {100, 3}, {4, 4}}, TN_ESTRIDE},
    {"windows that do not touch", {2, {100, 3}, {12, 4}}, TN_OK},
    {"elements that lie over each other", {1, {10}, {3}}, TN_ESTRIDE},
    {"a skewed lattice without a common point", {2, {3, 5}, {20, 12}}, TN_OK},
    {"a skewed lattice with a common point", {2, {4, 6}, {20, 12}}, TN_ESTRIDE},
    {"a large lattice without", {2, {1000, 1001}, {4004, 4000}}, TN_OK},
    {"a large lattice with", {2, {1001, 1002}, {4004, 4000}}, TN_ESTRIDE},
    {"empty", {3, {0, 100, 200}, {0, 0, 0}}, TN_OK},
    {"a scalar", {0, {0}, {0}}, TN_OK},
    {"strides as wide as they go", {2, {2, 2}, {INT64_MAX / 2, INT64_MAX / 2 - 8}}, TN_OK},
};

static void layouts_name_a_byte_twice_or_not(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(singles); k++) {
        tn_tensor t;
        make(&t, &singles[k].t, 0);
        const tn_status status = tni_check_injective(&t, "t", "dst");
        if (status != singles[k].status)
            fail_msg("%s: %s, %s", singles[k].says, tn_status_name(status), tn_error());
    }
}

static void what_takes_too_long_is_refused(void **state)
{
    (void)state;
    /* strides that are nearly equal, coprime and many: a knapsack */
    dice d = {23};
    int refused = 0;
    for (int k = 0; k < 20; k++) {
        tn_tensor t = {.data = &d, .dtype = TN_U8, .ndim = 40};
        for (int i = 0; i < t.ndim; i++) {
            t.shape[i] = 2;
            t.stride[i] = (INT64_C(1) << 52) + between(&d, 0, INT64_C(1) << 51);
        }
        const tn_status status = tni_check_injective(&t, "t", "dst");
        if (status == TN_ESTRIDE && strstr(tn_error(), "undecided"))
            refused++;
    }
    assert_true(refused > 0);
}

/* The sum of two spans beyond 2^62 does not fit, and nothing is guessed. */
static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    const int64_t two[] = {2, 2}, wide[] = {INT64_MAX / 4 * 3, 8};
    tn_tensor a, b;
    assert_int_equal(tn_init_strided(&a, (void *)4096, TN_I8, 2, two, wide), TN_OK);
    assert_int_equal(tn_init_strided(&b, (void *)4100, TN_I8, 2, two, wide), TN_OK);
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    assert_string_equal(
        tn_error(), "x: overlap of dst and src is undecided within the work limit; refused");

    /* strides that differ: each span fits, their sum does not */
    a.stride[0] -= 64;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    assert_string_equal(
        tn_error(), "x: overlap of dst and src is undecided within the work limit; refused");

    /* equal strides: the extents together do not fit */
    const int64_t long_axis[] = {(INT64_C(1) << 62) + 1};
    assert_int_equal(tn_init(&a, (void *)4096, TN_I8, 1, long_axis), TN_OK);
    assert_int_equal(tn_init(&b, (void *)4100, TN_I8, 1, long_axis), TN_OK);
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    assert_string_equal(
        tn_error(), "x: overlap of dst and src is undecided within the work limit; refused");

    /* side by side they share nothing, however long they are */
    if (sizeof(void *) == sizeof *long_axis) {
        b.data = (void *)(uintptr_t)(4096 + long_axis[0]);
        assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_OK);
        assert_int_equal(tni_check_disjoint(&b, &a, true, "x", NULL), TN_OK);
    }

    /* the distance to the end of src does not fit */
    const int64_t all[] = {INT64_MAX - 1}, half[] = {INT64_C(1) << 62};
    assert_int_equal(tn_init_strided(&a, (void *)4096, TN_I8, 1, two, all), TN_OK);
    assert_int_equal(tn_init_strided(&b, (void *)(4196 + half[0]), TN_I8, 1, two, half), TN_OK);
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    assert_string_equal(
        tn_error(), "x: overlap of dst and src is undecided within the work limit; refused");

    /* an axis below the top, counted twice, does not fit */
    const int64_t rows[] = {2, 3}, skewed[] = {half[0] / 2 + 8, half[0] / 2};
    assert_int_equal(tn_init_strided(&a, (void *)4096, TN_F32, 2, rows, skewed), TN_OK);
    assert_int_equal(tni_check_injective(&a, "x", "dst"), TN_ESTRIDE);
    assert_string_equal(tn_error(),
                        "x: self-overlap of dst is undecided within the work limit; refused");
}

static void the_same_is_fine_when_asked(void **state)
{
    (void)state;
    float x[12];
    tn_tensor a, b;
    assert_int_equal(tn_init(&a, x, TN_F32, 3, (int64_t[]){3, 1, 4}), TN_OK);
    b = a;
    b.stride[1] = -99;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_OK);
    assert_int_equal(tni_check_disjoint(&a, &b, false, "x", NULL), TN_EOVERLAP);
    b.dtype = TN_I32;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    b = a;
    b.ndim = 1;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    b = a;
    b.shape[2] = 3;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    b = a;
    b.shape[0] = 2;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    a.shape[0] = 2;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_OK);
    b.stride[0] = 20;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    b = a;
    b.stride[2] = 8;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
    b = a;
    b.data = x + 1;
    assert_int_equal(tni_check_disjoint(&a, &b, true, "x", NULL), TN_EOVERLAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_named_twice_is_found),
        cmocka_unit_test(a_shared_byte_is_found),
        cmocka_unit_test(real_sizes_are_decided),
        cmocka_unit_test(layouts_name_a_byte_twice_or_not),
        cmocka_unit_test(what_takes_too_long_is_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(the_same_is_fine_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
