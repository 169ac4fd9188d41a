/* test_promises.c - what docs/promises.md says of memory: a thread with a small stack can make
 * every call, and only the calls that say so allocate. */
#include "layout.h"

#include <pthread.h>

/* A watched program has larger frames. */
enum { STACK = TEST_WATCHED ? 4 << 20 : 256 << 10, ROWS = 130, COLUMNS = 170 };

static const int64_t shape[2] = {ROWS, COLUMNS}, transposed[2] = {COLUMNS, ROWS};

/* Every kind of work on tensors that are there: transposed, staged, converted, padded,
 * joined. */
static tn_status all_work(void)
{
    static float a[ROWS * COLUMNS], d[4 * ROWS * COLUMNS];
    static uint16_t h[ROWS * COLUMNS];
    const int64_t side[2] = {3, 3}, wide[2] = {ROWS + 6, COLUMNS + 6};
    const int64_t twice[2] = {2 * ROWS, COLUMNS};
    tn_tensor src, view, back, dst, half, t;
    tn_status s = tn_init(&src, a, TN_F32, 2, shape);
    s = s ? s : tn_transpose(&view, &src, 0, 1);
    s = s ? s : tn_flip(&back, &src, 1);
    s = s ? s : tn_init(&t, d, TN_F32, 2, transposed);
    s = s ? s : tn_init(&dst, d, TN_F32, 2, shape);
    s = s ? s : tn_init(&half, h, TN_BF16, 2, shape);
    s = s ? s : tn_rearrange(&t, &view);
    s = s ? s : tn_rearrange(&dst, &back);
    s = s ? s : tn_binary(TN_ATAN2, &t, &view, &view);
    s = s ? s : tn_add(&dst, &back, &half);
    s = s ? s : tn_ternary(TN_WHERE, &dst, &half, &back, &half);
    s = s ? s : tn_cast(&half, &back);
    s = s ? s : tn_fill(&dst, a);
    s = s ? s : tn_roll(&dst, &back, 0, 5);
    s = s ? s : tn_pattern_into(&t, &src, "a b -> b a", NULL);
    s = s ? s : tn_randn(&t, 1);
    s = s ? s : tn_init(&t, d, TN_F32, 2, wide);
    s = s ? s : tn_pad_into(&t, &back, side, side, TN_PAD_REFLECT, NULL);
    s = s ? s : tn_init(&t, d, TN_F32, 2, twice);
    s = s ? s : tn_concat(&t, 0, 2, (const tn_tensor *const[]){&src, &back});
    s = s ? s : tn_init(&t, d, TN_F32, 2, shape);
    s = s ? s
          : tn_eval(&t, "where(x < 1, sqrt(x*x + y), f16(y) / 3) ** 2", 2,
                    (const char *const[]){"x", "y"}, (const tn_tensor *const[]){&back, &half});
    char text[200];
    return s ? s : tn_print(&back, text, sizeof text);
}

static void *in_thread(void *arg)
{
    *(tn_status *)arg = all_work();
    return NULL;
}

static void small_stack(void **state)
{
    (void)state;
    pthread_attr_t attr;
    pthread_t thread;
    tn_status status = TN_EARG;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, in_thread, &status), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    assert_int_equal(status, TN_OK);
}

/* The handle's allocator sees every block of the library. */
static void nothing_is_allocated(void **state)
{
    (void)state;
    tally t = {0};
    tn_handle *h;
    tn_config config = {.alloc = tally_alloc, .free = tally_free, .user = &t};
    static float a[ROWS * COLUMNS], d[ROWS * COLUMNS];
    tn_tensor src, view, dst;
    tn_plan *plan;
    OK(tn_handle_create(&h, TN_CPU, 0, &config));
    OK(tn_handle_use(h));
    int before = t.calls;
    OK(all_work());
    assert_int_equal(t.calls, before);

    OK(tn_init(&src, a, TN_F32, 2, shape));
    OK(tn_transpose(&view, &src, 0, 1));
    OK(tn_init(&dst, d, TN_F32, 2, transposed));
    OK(tn_plan_rearrange(&plan, &dst, &view));
    assert_int_equal(t.calls, before + 1);
    for (int i = 0; i < 10; i++)
        OK(tn_plan_run(plan, d, (const void *const[]){a}));
    assert_int_equal(t.calls, before + 1);
    tn_plan_free(plan);
    assert_int_equal(t.live, 0);
    tn_handle_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_stack),
        cmocka_unit_test(nothing_is_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
