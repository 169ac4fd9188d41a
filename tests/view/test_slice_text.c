/* test_slice_text.c - Python's subscripts on a tensor of shape (4, 5, 6), as NumPy has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <tenon/tenon.h>

static int32_t data[4 * 5 * 6];

/* text, then what NumPy gives for np.arange(120).reshape(4, 5, 6): shape, first and last. */
static const struct {
    const char *text;
    int ndim;
    int64_t shape[5];
    int32_t first, last;
} good[] = {
    {"[0]", 2, {5, 6}, 0, 29},
    {"0", 2, {5, 6}, 0, 29},
    {"[-1]", 2, {5, 6}, 90, 119},
    {"[1, 2, 3]", 0, {0}, 45, 45},
    {"[::2]", 3, {2, 5, 6}, 0, 89},
    {"[:, ::2, 2:5]", 3, {4, 3, 3}, 2, 118},
    {"[..., 0]", 2, {4, 5}, 0, 114},
    {"[..., -2:]", 3, {4, 5, 2}, 4, 119},
    {"[0, ..., 1]", 1, {5}, 1, 25},
    {"[...]", 3, {4, 5, 6}, 0, 119},
    {"Ellipsis", 3, {4, 5, 6}, 0, 119},
    {"[None]", 4, {1, 4, 5, 6}, 0, 119},
    {"[0, None, ..., newaxis]", 4, {1, 5, 6, 1}, 0, 29},
    {"[:, np.newaxis, 3]", 3, {4, 1, 6}, 18, 113},
    {"[::-1]", 3, {4, 5, 6}, 90, 29},
    {"[::-1, ::-1, ::-1]", 3, {4, 5, 6}, 119, 0},
    {"[3:0:-2]", 3, {2, 5, 6}, 90, 59},
    {"[:1:-1]", 3, {2, 5, 6}, 90, 89},
    {"[-3:-1]", 3, {2, 5, 6}, 30, 89},
    {"[-100:100]", 3, {4, 5, 6}, 0, 119},
    {"[1:]", 3, {3, 5, 6}, 30, 119},
    {"[:99999999999999999999]", 3, {4, 5, 6}, 0, 119},
    {"[-99999999999999999999:]", 3, {4, 5, 6}, 0, 119},
    {"[::99999999999999999999]", 3, {1, 5, 6}, 0, 29},
    {" [ 1 : 3 : 1 , 0 , ] ", 2, {2, 6}, 30, 65},
    {"[\t1:3,\n0]", 2, {2, 6}, 30, 65},
    {"[:9223372036854775808]", 3, {4, 5, 6}, 0, 119},
    {"[-9223372036854775809:]", 3, {4, 5, 6}, 0, 119},
    {"1:3,0", 2, {2, 6}, 30, 65},
    {"[+1, 0_4]", 1, {6}, 54, 59},
    {"[:1_0]", 3, {4, 5, 6}, 0, 119},
    {"[:1_9, 0]", 2, {4, 6}, 0, 95},
    {"[None:3]", 3, {3, 5, 6}, 0, 89},
    {"[1:None]", 3, {3, 5, 6}, 30, 119},
    {"[None:None:None, 0]", 2, {4, 6}, 0, 95},
    {"[None : None : -1]", 3, {4, 5, 6}, 90, 29},
    {"[None, None:1]", 4, {1, 1, 5, 6}, 0, 29},
    {"[:,:,:,...]", 3, {4, 5, 6}, 0, 119},
};

static void as_in_numpy(void **state)
{
    (void)state;
    tn_tensor t, v;
    for (int i = 0; i < 120; i++)
        data[i] = i;
    assert_int_equal(tn_init(&t, data, TN_I32, 3, (int64_t[]){4, 5, 6}), TN_OK);
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
        if (tn_slice_text(&v, &t, good[k].text) != TN_OK)
            fail_msg("%s: %s", good[k].text, tn_error());
        if (v.ndim != good[k].ndim)
            fail_msg("%s gives %d axes", good[k].text, v.ndim);
        int64_t last[5] = {0}, first[5] = {0};
        for (int i = 0; i < v.ndim; i++) {
            if (v.shape[i] != good[k].shape[i])
                fail_msg("%s: axis %d has %d", good[k].text, i, (int)v.shape[i]);
            last[i] = v.shape[i] - 1;
        }
        if (*(int32_t *)tn_at(&v, first) != good[k].first ||
            *(int32_t *)tn_at(&v, last) != good[k].last)
            fail_msg("%s begins with %d, ends with %d", good[k].text,
                     *(int32_t *)tn_at(&v, first), *(int32_t *)tn_at(&v, last));
    }
    assert_int_equal(tn_slice_text(&v, &t, "[2:2, 9:]"), TN_OK);
    assert_int_equal(v.shape[0], 0);
    assert_int_equal(v.shape[1], 0);
    assert_int_equal(tn_slice_text(&t, &t, "[1, 1]"), TN_OK);
    assert_int_equal(t.ndim, 1);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tn_status status;
        int column;
    } bad[] = {
        {"", TN_EFORMAT, 1},
        {"[]", TN_EFORMAT, 2},
        {" ", TN_EFORMAT, 2},
        {"[", TN_EFORMAT, 2},
        {"]", TN_EFORMAT, 1},
        {"[0", TN_EFORMAT, 3},
        {"0]", TN_EFORMAT, 2},
        {"[0]]", TN_EFORMAT, 4},
        {"[0] x", TN_EFORMAT, 5},
        {"[,]", TN_EFORMAT, 2},
        {"[0,,1]", TN_EFORMAT, 4},
        {"[0 1]", TN_EFORMAT, 4},
        {"[a]", TN_EFORMAT, 2},
        {"[1.5]", TN_EFORMAT, 3},
        {"[-]", TN_EFORMAT, 2},
        {"[::0]", TN_EFORMAT, 5},
        {"[:::]", TN_EFORMAT, 4},
        {"[1:2:3:4]", TN_EFORMAT, 7},
        {"[..]", TN_EFORMAT, 2},
        {"[..., ...]", TN_EFORMAT, 7},
        {"[[0]]", TN_EFORMAT, 2},
        {"[(0)]", TN_EFORMAT, 2},
        {"[True]", TN_EFORMAT, 2},
        {"[newaxis:3]", TN_EFORMAT, 9},
        {"[None 3]", TN_EFORMAT, 7},
        {"[- 1]", TN_EFORMAT, 2},
        {"[0x1]", TN_EFORMAT, 3},
        {"[1+1]", TN_EFORMAT, 3},
        {"[1_]", TN_EFORMAT, 3},
        {"[1_ ]", TN_EFORMAT, 3},
        {"[4]", TN_EARG, 2},
        {"[-5]", TN_EARG, 2},
        {"[0, 5]", TN_EARG, 5},
        {"[99999999999999999999]", TN_EARG, 2},
        {"[-99999999999999999999]", TN_EARG, 2},
        {"[0, 0, 0, 0]", TN_ESHAPE, 11},
        {"[:, :, :, :]", TN_ESHAPE, 11},
    };
    tn_tensor t, v = {.ndim = 7};
    assert_int_equal(tn_init(&t, data, TN_I32, 3, (int64_t[]){4, 5, 6}), TN_OK);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        tn_status got = tn_slice_text(&v, &t, bad[k].text);
        if (got != bad[k].status || tn_error_column() != bad[k].column)
            fail_msg("%s gives %s at %d: %s", bad[k].text, tn_status_name(got),
                     tn_error_column(), tn_error());
        assert_int_equal(v.ndim, 7);
    }
    assert_int_equal(tn_slice_text(&v, &t, NULL), TN_ENULL);
    assert_int_equal(tn_slice_text(NULL, &t, "0"), TN_ENULL);
    assert_int_equal(tn_slice_text(&v, NULL, "0"), TN_ENULL);
    tn_tensor large = t;
    large.stride[0] = large.stride[1] = INT64_MAX / 2;
    assert_int_equal(tn_slice_text(&v, &large, "0"), TN_EOVERFLOW);
    assert_int_equal(tn_slice_text(&v, &t, "[0, 5]"), TN_EARG);
    assert_string_equal(tn_error(), "slice_text: index 5 of axis 1 is out of range [-5, 5)");

    char many[70 * 5 + 1] = "";
    for (int i = 0; i < 62; i++)
        strcat(many, "None,");
    assert_int_equal(tn_slice_text(&v, &t, many), TN_ESHAPE);
    assert_string_equal(tn_error(), "slice_text: the result has 65 axes, expected at most 64");
    assert_int_equal(tn_error_column(), 0);
    strcat(many, "0");
    assert_int_equal(tn_slice_text(&v, &t, many), TN_OK);
    assert_int_equal(v.ndim, 64);
    many[61 * 5] = 0;
    assert_int_equal(tn_slice_text(&v, &t, many), TN_OK);
    assert_int_equal(v.ndim, 64);
    for (int i = 61; i < 65; i++)
        strcat(many, "None,");
    v.ndim = 7;
    assert_int_equal(tn_slice_text(&v, &t, many), TN_ESHAPE);
    many[64 * 5] = 0;
    tn_tensor one;
    assert_int_equal(tn_init(&one, data, TN_I32, 0, NULL), TN_OK);
    assert_int_equal(tn_slice_text(&one, &one, many), TN_OK);
    assert_int_equal(one.ndim, 64);
    assert_int_equal(tn_slice_text(&one, &one, "None, 0"), TN_OK);
    assert_int_equal(one.ndim, 64);
    t.device = 99; /* no element is touched */
    assert_int_equal(tn_slice_text(&v, &t, "0"), TN_OK);
    assert_int_equal(v.device, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_in_numpy),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
