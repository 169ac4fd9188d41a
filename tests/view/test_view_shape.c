/* test_view_shape.c - the arithmetic of extents and strides against 128-bit numbers.
 *
 * Extents and strides are drawn from the edges of what fits; entries behind ndim are poison. */
#include "view_oracle.h"

__extension__ typedef __int128 wide;

static const int64_t extents[] = {0,  1,         1,
                                  2,  2,         3,
                                  5,  1 << 14,   (1 << 14) + 1,
                                  -1, INT32_MAX, (int64_t)INT32_MAX + 1,
                                  1,  INT64_MIN, INT64_C(1) << 44,
                                  1,  INT64_MAX, INT64_MAX / 2,
                                  2,  3,         INT64_MAX / 2 + 1};
static const int64_t strides[] = {0,
                                  1,
                                  -1,
                                  4,
                                  -4,
                                  8,
                                  INT32_MAX,
                                  INT64_C(1) << 44,
                                  -(INT64_C(1) << 44),
                                  (INT64_C(1) << 44) + 1,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MAX / 2,
                                  INT64_MIN / 2,
                                  INT64_MAX - 1,
                                  INT64_MAX - 8,
                                  INT64_MIN + 8,
                                  INT64_MAX / 4};

typedef struct sample {
    int ndim;
    int64_t shape[8], stride[8], width;
} sample;

static sample draw(dice *d, bool may_be_negative)
{
    sample s = {.ndim = (int)between(d, 0, 6), .width = INT64_C(1) << between(d, 0, 4)};
    const bool easy = once_in(d, 2);
    for (int i = 0; i < 8; i++) {
        s.shape[i] = extents[roll(d) % (easy ? 7 : COUNT(extents))];
        s.stride[i] = strides[roll(d) % (easy ? 6 : COUNT(strides))];
        if (s.shape[i] < 0 && !may_be_negative)
            s.shape[i] = 1;
    }
    for (int i = s.ndim; i < 8; i++) { /* poison */
        s.shape[i] = once_in(d, 2) ? INT64_MAX : once_in(d, 2) ? -7 : 0;
        s.stride[i] = INT64_MAX;
    }
    return s;
}

static bool fits(wide x)
{
    return x >= INT64_MIN && x <= INT64_MAX;
}

/* The product, or more than fits. */
static wide slow_size(const sample *s)
{
    wide size = s->width;
    for (int i = 0; i < s->ndim && fits(size); i++)
        size *= s->shape[i] == 0 ? 1 : s->shape[i];
    return size;
}

static wide slow_reach(const sample *s)
{
    wide reach = s->width;
    for (int i = 0; i < s->ndim && fits(reach); i++)
        if (s->shape[i] > 1) {
            const wide step = s->stride[i] < 0 ? -(wide)s->stride[i] : s->stride[i];
            reach += (s->shape[i] - 1) * step;
        }
    return reach;
}

static void sizes_and_reaches_are_exact_or_refused(void **state)
{
    (void)state;
    dice d = {31};
    int both = 0, no_size = 0, no_reach = 0;
    for (int k = 0; k < 300000; k++) {
        const sample s = draw(&d, false);
        const wide size = slow_size(&s), reach = slow_reach(&s);
        int64_t got = -5;
        assert_int_equal(tni_shape_size(s.ndim, s.shape, s.width, &got), fits(size));
        assert_int_equal(got, fits(size) ? (int64_t)size : -5);
        got = -5;
        assert_int_equal(tni_shape_reach(s.ndim, s.shape, s.stride, s.width, &got),
                         fits(reach));
        assert_int_equal(got, fits(reach) ? (int64_t)reach : -5);
        both += fits(size) && fits(reach);
        no_size += !fits(size) && fits(reach);
        no_reach += fits(size) && !fits(reach);
    }
    assert_true(both > 1000 && no_size > 1000 && no_reach > 1000);
}

static void sound_is_what_fits_and_is_not_negative(void **state)
{
    (void)state;
    dice d = {32};
    int yes = 0, no = 0;
    for (int k = 0; k < 300000; k++) {
        const sample s = draw(&d, true);
        bool want = true;
        for (int i = 0; i < s.ndim; i++)
            want &= s.shape[i] >= 0;
        want = want && fits(slow_size(&s)) && fits(slow_reach(&s));
        if (tni_shape_fits(s.ndim, s.shape, s.stride, s.width) != want)
            fail_msg("row %d: fits is not %d", k, want);
        static const tn_dtype of[] = {
            [1] = TN_I8, [2] = TN_F16, [4] = TN_F32, [8] = TN_F64, [16] = TN_C128};
        tn_tensor t = {.dtype = of[s.width], .ndim = s.ndim};
        memcpy(t.shape, s.shape, sizeof s.shape);
        memcpy(t.stride, s.stride, sizeof s.stride);
        if (tni_sound(&t) != want)
            fail_msg("%s: sound is not %d", layout_text(&t), want);
        yes += want;
        no += !want;
    }
    assert_true(yes > 10000 && no > 10000);
}

static void dense_strides_counts_and_ranges(void **state)
{
    (void)state;
    dice d = {33};
    for (int k = 0; k < 300000; k++) {
        const sample s = draw(&d, false);
        if (!fits(slow_size(&s)) || !fits(slow_reach(&s)))
            continue;
        int64_t stride[8] = {0}, count = 1, low, high;
        tni_shape_dense(s.ndim, s.shape, s.width, stride);
        bool empty = false;
        wide from = 0, to = s.width, step = s.width;
        for (int i = s.ndim - 1; i >= 0; i--) {
            assert_int_equal(stride[i], (int64_t)step);
            step *= s.shape[i] > 0 ? s.shape[i] : 1;
            empty |= s.shape[i] == 0;
            const wide far = s.shape[i] > 1 ? (wide)(s.shape[i] - 1) * s.stride[i] : 0;
            from += far < 0 ? far : 0;
            to += far > 0 ? far : 0;
        }
        assert_int_equal(stride[s.ndim], 0);
        for (int i = 0; i < s.ndim; i++)
            count *= s.shape[i] == 0 ? 1 : s.shape[i];
        assert_int_equal(tni_shape_count(s.ndim, s.shape), empty ? 0 : count);
        tni_shape_range(s.ndim, s.shape, s.stride, s.width, &low, &high);
        assert_int_equal(low, empty ? 0 : (int64_t)from);
        assert_int_equal(high, empty ? 0 : (int64_t)to);
    }
}

static const struct {
    const char *says;
    int ndim;
    int64_t shape[4], stride[4];
    bool merges;
} rows[] = {
    {"no axes", 0, {0}, {0}, true},
    {"one axis", 1, {5}, {3}, true},
    {"dense", 2, {2, 3}, {12, 4}, true},
    {"gapped", 2, {2, 3}, {16, 4}, false},
    {"the first axis matters", 3, {2, 3, 4}, {50, 16, 4}, false},
    {"the last axis matters", 3, {2, 3, 4}, {48, 16, 8}, false},
    {"a unit axis between", 3, {2, 1, 3}, {12, INT64_MIN, 4}, true},
    {"a unit axis first", 2, {1, 3}, {1, 4}, true},
    {"reversed", 2, {2, 3}, {-12, -4}, true},
    {"repeated", 2, {2, 3}, {0, 0}, true},
    {"a whole that does not fit", 2, {2, 2}, {0, INT64_MIN / 2 * -1}, false},
    {"a whole that does not fit, transposed", 2, {2, 4}, {0, INT64_MIN / 2}, false},
};

static void axes_merge_when_they_walk_as_one(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(rows); k++)
        if (tni_shape_merges(rows[k].ndim, rows[k].shape, rows[k].stride) != rows[k].merges)
            fail_msg("%s", rows[k].says);
}

/* Row-major order counts like an odometer; the offset of an element is a walk along its
 * axes. */
static void elements_are_counted_like_an_odometer(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        int64_t shape[4], stride[4];
    } counted[] = {
        {0, {9}, {9}},
        {1, {5}, {4}},
        {2, {3, 2}, {-8, 100}},
        {3, {2, 1, 3}, {12, INT64_MAX, 4}},
        {4, {2, 3, 1, 4}, {1, -7, INT64_MIN, 0}},
    };
    for (int k = 0; k < COUNT(counted); k++) {
        tn_tensor t = {.ndim = counted[k].ndim};
        memcpy(t.shape, counted[k].shape, sizeof counted[k].shape);
        memcpy(t.stride, counted[k].stride, sizeof counted[k].stride);
        int64_t want[4] = {0};
        for (int64_t flat = 0; flat < slow_count(t.ndim, t.shape); flat++) {
            int64_t index[5] = {77, 77, 77, 77, 77};
            tni_unravel(t.ndim, t.shape, flat, index);
            for (int i = 0; i < 4; i++)
                assert_int_equal(index[i], i < t.ndim ? want[i] : 77);
            assert_int_equal((uint64_t)tni_element_offset(&t, index), slow_address(&t, index));
            int i = t.ndim - 1;
            while (i >= 0 && ++want[i] == t.shape[i])
                want[i--] = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_reaches_are_exact_or_refused),
        cmocka_unit_test(sound_is_what_fits_and_is_not_negative),
        cmocka_unit_test(dense_strides_counts_and_ranges),
        cmocka_unit_test(elements_are_counted_like_an_odometer),
        cmocka_unit_test(axes_merge_when_they_walk_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
