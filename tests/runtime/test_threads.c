/* test_threads.c - sixteen threads at once: one plan of each kind, a thousand calls each,
 * errors and handles of their own.
 *
 * "test_threads race" counts strips without a lock: under a thread sanitizer it must not end
 * well, which shows that the sanitizer sees into parallel work. */
#include "layout.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CROWD = 16, CALLS = 1000, ROWS = 24, COLUMNS = 40, BORDER = 2, PLANS = 4 };

typedef struct work {
    tn_plan *plan;
    int64_t out; /* bytes of its result */
} work;

static work works[PLANS], large;
static float shared_src[ROWS * COLUMNS], large_src[400 * 500];
static char expected[PLANS][(ROWS + 2 * BORDER) * (COLUMNS + 2 * BORDER) * 4];
static pthread_barrier_t gate;
static atomic_int wrong;

static void make_plans(void)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, transposed[2] = {COLUMNS, ROWS};
    const int64_t wide[2] = {ROWS + 2 * BORDER, COLUMNS + 2 * BORDER};
    const int64_t border[2] = {BORDER, BORDER};
    tn_tensor src, view, dst;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        shared_src[i] = (float)i - 100.5f;
    OK(tn_init(&src, NULL, TN_F32, 2, shape));
    OK(tn_transpose(&view, &src, 0, 1));
    OK(tn_init(&dst, NULL, TN_F32, 2, transposed));
    OK(tn_plan_rearrange(&works[0].plan, &dst, &view));
    works[0].out = tn_nbytes(&dst);
    OK(tn_init(&dst, NULL, TN_F32, 2, shape));
    OK(tn_plan_op(&works[1].plan, TN_TANH, NULL, &dst, 1, (const tn_tensor *const[]){&src}));
    works[1].out = tn_nbytes(&dst);
    OK(tn_init(&dst, NULL, TN_F32, 2, wide));
    OK(tn_plan_pad(&works[2].plan, &dst, &src, border, border, TN_PAD_REFLECT, NULL));
    works[2].out = tn_nbytes(&dst);
    OK(tn_init(&dst, NULL, TN_I16, 2, shape));
    OK(tn_plan_cast(&works[3].plan, &dst, &src));
    works[3].out = tn_nbytes(&dst);
    for (int k = 0; k < PLANS; k++)
        OK(tn_plan_run(works[k].plan, expected[k], (const void *const[]){shared_src}));

    OK(tn_init(&src, NULL, TN_F32, 2, (int64_t[]){500, 400}));
    OK(tn_transpose(&view, &src, 0, 1));
    OK(tn_init(&dst, NULL, TN_F32, 2, (int64_t[]){400, 500}));
    OK(tn_plan_rearrange(&large.plan, &dst, &view));
    large.out = tn_nbytes(&dst);
    for (int i = 0; i < 400 * 500; i++)
        large_src[i] = (float)i;
}

/* A failure of this thread, in a sentence that no other thread changes. */
static bool own_error(int me)
{
    tn_tensor t, out;
    char want[100];
    const int64_t shape[2] = {me + 2, 3};
    if (tn_init(&t, NULL, TN_F32, 2, shape) != TN_OK || tn_squeeze(&out, &t, 0) != TN_ESHAPE)
        return false;
    snprintf(want, sizeof want, "%d", me + 2);
    return strstr(tn_error(), want) != NULL;
}

/* Under a handle of two threads: a plan that is worth them. */
static bool large_call(const tn_config *config, float *d)
{
    tn_handle *h;
    if (tn_handle_create(&h, TN_CPU, 0, config) != TN_OK || tn_handle_use(h) != TN_OK)
        return false;
    bool good = tn_plan_run(large.plan, d, (const void *const[]){large_src}) == TN_OK;
    for (int i = 0; good && i < 400; i += 37)
        for (int j = 0; j < 500; j += 41)
            good = good && d[i * 500 + j] == large_src[j * 400 + i];
    tn_handle_destroy(h);
    return good;
}

static void *one_of_many(void *arg)
{
    const int me = (int)(intptr_t)arg;
    char *out = malloc(sizeof expected[0]);
    float *d = malloc((size_t)large.out);
    bool good = out && d;
    pthread_barrier_wait(&gate);
    for (int call = 0; good && call < CALLS; call++) {
        const int k = (me + call) % PLANS;
        good = tn_plan_run(works[k].plan, out, (const void *const[]){shared_src}) == TN_OK &&
               !memcmp(out, expected[k], (size_t)works[k].out);
        if (call % 50 == 0)
            good = good && own_error(me) && tn_error()[0];
        if (call % 250 == 0)
            good = good && large_call(&(tn_config){.threads = 2}, d);
    }
    if (!good)
        wrong++;
    free(out);
    free(d);
    return NULL;
}

static void shared_plans(void **state)
{
    (void)state;
    pthread_t crowd[CROWD];
    make_plans();
    assert_int_equal(pthread_barrier_init(&gate, NULL, CROWD), 0);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&crowd[i], NULL, one_of_many, (void *)(intptr_t)i), 0);
    for (int i = 0; i < CROWD; i++)
        pthread_join(crowd[i], NULL);
    assert_int_equal(wrong, 0);
    for (int k = 0; k < PLANS; k++)
        tn_plan_free(works[k].plan);
    tn_plan_free(large.plan);
    pthread_barrier_destroy(&gate);
}

static void count_strips(void *user, int64_t n, void *dst, int64_t dst_step,
                         const void *const *src, const int64_t *src_step)
{
    (void)dst, (void)dst_step, (void)src, (void)src_step;
    *(int64_t *)user += n; /* on purpose: no lock */
}

static int race(void)
{
    const int64_t shape[2] = {4000, 1000};
    int64_t count = 0;
    tn_tensor t;
    tn_handle *h;
    if (tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = 4}) != TN_OK ||
        tn_handle_use(h) != TN_OK || tn_alloc(&t, TN_F32, 2, shape) != TN_OK ||
        tn_map(count_strips, &count, &t, 0, NULL) != TN_OK)
        return 2;
    printf("%lld elements counted\n", (long long)count);
    tn_free(&t);
    tn_handle_destroy(h);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "race"))
        return race();
    const struct CMUnitTest tests[] = {cmocka_unit_test(shared_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
