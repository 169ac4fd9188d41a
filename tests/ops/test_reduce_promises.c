/* test_reduce_promises.c - what docs/promises.md says of reductions, scans, rows and indexing as
 * calls: their stack, what they allocate, many threads at once, forked children.
 *
 * The calls are those of reduce_calls.h. */
#include "reduce_calls.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* A watched program has larger frames. */
enum { STACK = TEST_WATCHED ? 4 << 20 : 256 << 10 };

static void *quiet_calls(void *arg)
{
    work *w = arg;
    reduce_all(w);
    rows_all(w);
    index_all(w);
    return NULL;
}

static void *every_call(void *arg)
{
    quiet_calls(arg);
    order_all(arg);
    made_all(arg);
    return NULL;
}

static uint64_t digest_by(int threads)
{
    tn_handle *h;
    work *w = work_make();
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = threads}));
    OK(tn_handle_use(h));
    every_call(w);
    OK(w->status);
    const uint64_t digest = w->digest;
    tn_handle_destroy(h);
    free(w);
    return digest;
}

static void small_stack(void **state)
{
    (void)state;
    pthread_attr_t attr;
    pthread_t thread;
    work *w = work_make();
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, every_call, w), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    OK(w->status);
    free(w);
}

static void only_order_allocates(void **state)
{
    (void)state;
    tally t = {0};
    tn_handle *h;
    work *w = work_make();
    OK(tn_handle_create(&h, TN_CPU, 0,
                        &(tn_config){.alloc = tally_alloc, .free = tally_free, .user = &t}));
    OK(tn_handle_use(h));
    const int before = t.calls;
    quiet_calls(w);
    OK(w->status);
    assert_int_equal(t.calls, before);
    order_all(w);
    OK(w->status);
    assert_true(t.calls > before);
    assert_int_equal(t.live, 0);
    made_all(w);
    OK(w->status);
    assert_int_equal(t.live, 0);
    tn_handle_destroy(h);
    free(w);
}

static void many_at_once(void **state)
{
    (void)state;
    enum { N = 4 };
    pthread_t thread[N];
    work *w[N];
    for (int i = 0; i < N; i++)
        w[i] = work_make();
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, every_call, w[i]), 0);
    for (int i = 0; i < N; i++)
        pthread_join(thread[i], NULL);
    const uint64_t want = digest_by(1);
    for (int i = 0; i < N; i++) {
        OK(w[i]->status);
        assert_true(w[i]->digest == want);
        free(w[i]);
    }
}

static void children(void **state)
{
    (void)state;
    const uint64_t want = digest_by(4);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60);
        _exit(digest_by(4) == want ? 0 : 1);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(digest_by(1) == want && digest_by(3) == want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_stack),
        cmocka_unit_test(only_order_allocates),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
