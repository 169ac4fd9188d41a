/* test_view_reshape.c - a reshape succeeds exactly when strides can express it.
 *
 * The slow decision lists the address of every element in row-major order and looks for strides
 * of the new shape that give the same list: each stride is the distance of two neighbours. */
#include "view_oracle.h"

static bool some_layout_exists(const tn_tensor *in, int ndim, const int64_t *shape)
{
    const int64_t count = slow_count(in->ndim, in->shape);
    int64_t at[TN_MAX_NDIM], stride[TN_MAX_NDIM], pass = 1;
    uint64_t list[4096];
    assert_true(count <= 4096);
    for (int64_t flat = 0; flat < count; flat++) {
        slow_index(flat, in->ndim, in->shape, at);
        list[flat] = slow_address(in, at) - (uintptr_t)in->data;
    }
    if (count == 0)
        return true;
    for (int i = ndim - 1; i >= 0; i--) {
        stride[i] = shape[i] > 1 ? (int64_t)list[pass] : 0;
        pass *= shape[i];
    }
    for (int64_t flat = 0; flat < count; flat++) {
        uint64_t sum = 0;
        slow_index(flat, ndim, shape, at);
        for (int i = 0; i < ndim; i++)
            sum += (uint64_t)(at[i] * stride[i]);
        if (sum != list[flat])
            return false;
    }
    return true;
}

/* A shape of count elements: divisors in random order, with ones between. */
static int random_shape(dice *d, int64_t count, int64_t *shape)
{
    int ndim = 0;
    while (count > 1) {
        int64_t n = between(d, 2, count);
        while (count % n != 0)
            n = n > 6 ? n / 2 : n + 1;
        if (ndim > 6)
            n = count;
        shape[ndim++] = n;
        count /= n;
        if (once_in(d, 5))
            shape[ndim++] = 1;
    }
    if (count == 0) {
        shape[ndim++] = 0;
        shape[ndim++] = between(d, 0, 5);
    }
    if (once_in(d, 4))
        shape[ndim++] = 1;
    return ndim;
}

static void succeeds_exactly_when_strides_exist(void **state)
{
    (void)state;
    dice d = {11};
    int yes = 0, no = 0;
    for (int k = 0; k < 100000; k++) {
        tn_tensor t, out;
        random_layout(&d, &t, once_in(&d, 3) ? 4 : 6);
        const int64_t count = slow_count(t.ndim, t.shape);
        if (count > 4096)
            continue;
        int64_t shape[TN_MAX_NDIM] = {0}, given[TN_MAX_NDIM];
        const int ndim = random_shape(&d, count, shape);
        memset(given, 0x99, sizeof given); /* what is behind ndim is not read */
        memcpy(given, shape, sizeof(int64_t) * (size_t)ndim);
        if (ndim > 0 && count > 0 && once_in(&d, 3))
            given[between(&d, 0, ndim - 1)] = -1;
        memset(&out, 0x33, sizeof out);
        const tn_tensor before = out;
        const tn_status status = tn_reshape(&out, &t, ndim, given);
        if (!some_layout_exists(&t, ndim, shape)) {
            if (status != TN_ESTRIDE)
                fail_msg("reshape of%s: status %d, not TN_ESTRIDE", layout_text(&t), status);
            assert_memory_equal(&out, &before, sizeof out);
            no++;
            continue;
        }
        if (status != TN_OK)
            fail_msg("reshape of%s: %s", layout_text(&t), tn_error());
        assert_int_equal(out.ndim, ndim);
        assert_memory_equal(out.shape, shape, sizeof(int64_t) * (size_t)ndim);
        assert_ptr_equal(out.data, t.data);
        assert_int_equal(ndim < TN_MAX_NDIM ? out.shape[ndim] : before.shape[0],
                         before.shape[0]);
        assert_int_equal(tni_check_sound(&out, "out"), TN_OK);
        for (int64_t flat = 0; flat < count; flat++) {
            int64_t at[TN_MAX_NDIM];
            slow_index(flat, t.ndim, t.shape, at);
            const uint64_t want = slow_address(&t, at);
            slow_index(flat, ndim, shape, at);
            assert_int_equal(slow_address(&out, at), want);
        }
        tn_tensor same = t;
        assert_int_equal(tn_reshape(&same, &same, ndim, given), TN_OK);
        assert_true(tni_same(&same, &out));
        yes++;
    }
    assert_true(yes > 10000 && no > 10000);
}

/* As NumPy answers when a copy is forbidden; sizes that do not fit are our own. */
static const struct {
    const char *says;
    int in_ndim;
    int64_t in_shape[5], in_stride[5];
    int ndim;
    int64_t shape[5];
    tn_status status;
    int64_t stride[5];
} rows[] = {
    {"a dense matrix flat", 2, {3, 4}, {32, 8}, 1, {12}, TN_OK, {8}},
    {"a vector as a matrix", 1, {12}, {8}, 2, {3, 4}, TN_OK, {32, 8}},
    {"a transposed matrix flat", 2, {4, 3}, {8, 32}, 1, {12}, TN_ESTRIDE, {0}},
    {"a gapped matrix flat", 2, {3, 4}, {40, 8}, 1, {12}, TN_ESTRIDE, {0}},
    {"a gapped matrix, rows split", 2, {3, 4}, {40, 8}, 3, {3, 2, 2}, TN_OK, {40, 16, 8}},
    {"every second element, split", 1, {6}, {16}, 2, {2, 3}, TN_OK, {48, 16}},
    {"reversed, split", 1, {6}, {-8}, 2, {3, 2}, TN_OK, {-16, -8}},
    {"all axes reversed, flat", 2, {3, 4}, {-32, -8}, 1, {12}, TN_OK, {-8}},
    {"one axis reversed, flat", 2, {3, 4}, {-32, 8}, 1, {12}, TN_ESTRIDE, {0}},
    {"a repeated number, flat", 2, {3, 4}, {0, 0}, 1, {12}, TN_OK, {0}},
    {"a repeated row, flat", 2, {3, 4}, {0, 8}, 1, {12}, TN_ESTRIDE, {0}},
    {"a repeated column, regrouped", 3, {2, 3, 4}, {24, 8, 0}, 2, {6, 4}, TN_OK, {8, 0}},
    {"unit axes with garbage", 3, {1, 6, 1}, {7, 8, -3}, 2, {2, 3}, TN_OK, {24, 8}},
    {"as far as strides go", 1, {2}, {INT64_MAX / 2}, 2, {1, 2}, TN_OK, {0, INT64_MAX / 2}},
    {"a column, whose whole does not fit",
     1,
     {2},
     {INT64_MAX / 2 + 9},
     3,
     {1, 2, 1},
     TN_OK,
     {0, INT64_MAX / 2 + 9, 0}},
    {"a unit axis between", 1, {6}, {8}, 3, {2, 1, 3}, TN_OK, {24, 0, 8}},
    {"the -1 is what is left", 2, {3, 4}, {32, 8}, 2, {-1, 6}, TN_OK, {48, 8}},
    {"a scalar as (1, 1)", 0, {0}, {0}, 2, {1, 1}, TN_OK, {0, 0}},
    {"one element as a scalar", 2, {1, 1}, {5, 5}, 0, {0}, TN_OK, {0}},
    {"nothing as nothing", 2, {0, 4}, {1, 1}, 3, {2, 0, 3}, TN_OK, {24, 24, 8}},
    {"nothing with -1", 2, {0, 4}, {1, 1}, 2, {-1, 3}, TN_OK, {24, 8}},
    {"another count", 1, {6}, {8}, 1, {7}, TN_ESHAPE, {0}},
    {"one element as more than any count", 1, {1}, {8}, 2, {INT64_MAX, 2}, TN_ESHAPE, {0}},
    {"a first -1 that does not divide", 1, {6}, {8}, 2, {-1, 4}, TN_ESHAPE, {0}},
    {"-1 that does not divide", 1, {6}, {8}, 2, {4, -1}, TN_ESHAPE, {0}},
    {"two -1", 1, {6}, {8}, 2, {-1, -1}, TN_ESHAPE, {0}},
    {"-2", 1, {6}, {8}, 1, {-2}, TN_ESHAPE, {0}},
    {"-1 beside 0", 2, {0, 4}, {1, 1}, 2, {0, -1}, TN_ESHAPE, {0}},
    {"some as nothing", 1, {6}, {8}, 1, {0}, TN_ESHAPE, {0}},
    {"nothing as some", 1, {0}, {8}, 1, {6}, TN_ESHAPE, {0}},
    {"more than any count", 1, {6}, {8}, 2, {INT64_MAX, 2}, TN_ESHAPE, {0}},
    {"nothing, too large", 1, {0}, {8}, 3, {0, INT64_MAX, 2}, TN_EOVERFLOW, {0}},
    {"nothing by -1, too large", 1, {0}, {8}, 3, {-1, INT64_MAX, 2}, TN_EOVERFLOW, {0}},
    {"nothing, too wide", 1, {0}, {8}, 2, {0, INT64_MAX}, TN_EOVERFLOW, {0}},
};

static void takes_as_many_axes_as_there_are(void **state)
{
    (void)state;
    tn_tensor t, out;
    int64_t shape[TN_MAX_NDIM + 1];
    for (int i = 0; i <= TN_MAX_NDIM; i++)
        shape[i] = i == 7 ? 6 : 1;
    assert_int_equal(tn_init(&t, NULL, TN_F64, 1, shape + 7), TN_OK);
    assert_int_equal(tn_reshape(&out, &t, TN_MAX_NDIM, shape), TN_OK);
    assert_int_equal(out.stride[7], 8);
    assert_int_equal(tn_reshape(&out, &out, 1, (int64_t[]){-1}), TN_OK);
    assert_true(tni_same(&out, &t));
}

static void answers_as_in_the_table(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(rows); k++) {
        tn_tensor t, out;
        assert_int_equal(tn_init_strided(&t, NULL, TN_F64, rows[k].in_ndim, rows[k].in_shape,
                                         rows[k].in_stride),
                         TN_OK);
        const tn_status status = tn_reshape(&out, &t, rows[k].ndim, rows[k].shape);
        if (status != rows[k].status)
            fail_msg("%s: %s", rows[k].says, tn_status_name(status));
        for (int i = 0; status == TN_OK && i < rows[k].ndim; i++)
            if (out.stride[i] != rows[k].stride[i])
                fail_msg("%s: stride %d is %lld", rows[k].says, i, (long long)out.stride[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(succeeds_exactly_when_strides_exist),
        cmocka_unit_test(takes_as_many_axes_as_there_are),
        cmocka_unit_test(answers_as_in_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
