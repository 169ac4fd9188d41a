/* test_view_basic.c - the shortest walk through init, facts, views and overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "view/view.h"

#define OK(call) assert_int_equal((call), TN_OK)

static void views_of_a_matrix(void **state)
{
    (void)state;
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
    tn_tensor a, b;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    assert_true(tn_is_contiguous(&a));
    assert_int_equal(tn_numel(&a), 6);
    OK(tn_transpose(&b, &a, 0, 1));
    assert_ptr_equal(tn_at(&b, (int64_t[]){2, 1}), &x[1][2]);
    OK(tn_slice(&b, &b, 0, -1, INT64_MIN, -2));
    assert_ptr_equal(tn_at(&b, (int64_t[]){1, 1}), &x[1][0]);
    OK(tn_reshape(&b, &a, 2, (int64_t[]){3, -1}));
    assert_ptr_equal(tn_at(&b, (int64_t[]){2, 1}), &x[1][2]);
    OK(tni_check_once(&b, "b"));
    assert_int_equal(tni_check_apart(&a, &b, true, "x"), TN_EOVERLAP);
    OK(tni_check_apart(&a, &a, true, "x"));
}

static void memory_comes_and_goes(void **state)
{
    (void)state;
    tn_tensor t;
    OK(tn_alloc(&t, TN_I16, 3, (int64_t[]){3, 4, 5}));
    assert_int_equal((uintptr_t)t.data % 64, 0);
    tn_free(&t);
    assert_null(t.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_of_a_matrix),
        cmocka_unit_test(memory_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
