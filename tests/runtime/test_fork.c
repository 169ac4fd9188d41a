/* test_fork.c - calls in a child of a process that worked in parallel, and calls under a storm
 * of signals: both end in time and are right.
 *
 * A child has five seconds to live. */
#include "layout.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 1200, COLUMNS = 900, SIZE = ROWS * COLUMNS };

static float src[SIZE], dst[SIZE], sum[SIZE];

/* A transposed copy and a sum, large enough for threads; right, and without failure. */
static bool work_is_right(int threads)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, transposed[2] = {COLUMNS, ROWS};
    tn_tensor a, t, d, s;
    tn_handle *h = NULL;
    memset(dst, 0, sizeof dst);
    memset(sum, 0, sizeof sum);
    bool good = tn_init(&a, src, TN_F32, 2, shape) == TN_OK &&
                tn_init(&d, dst, TN_F32, 2, transposed) == TN_OK &&
                tn_init(&s, sum, TN_F32, 2, shape) == TN_OK &&
                tn_transpose(&t, &a, 0, 1) == TN_OK;
    if (threads)
        good = good &&
               tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = threads}) == TN_OK &&
               tn_handle_use(h) == TN_OK;
    good = good && tn_rearrange(&d, &t) == TN_OK && tn_add(&s, &a, &a) == TN_OK;
    float total = 0; /* an expression, and one that reduces */
    tn_tensor one;
    const char *const name[] = {"x"};
    const tn_tensor *const x[] = {&a};
    good = good && tn_init(&one, &total, TN_F32, 0, NULL) == TN_OK &&
           tn_eval(&s, "(x + x) * 1", 1, name, x) == TN_OK &&
           tn_eval(&one, "sum(x*0 + 1)", 1, name, x) == TN_OK && total == SIZE;
    for (int i = 0; good && i < SIZE; i++)
        good = dst[i % COLUMNS * ROWS + i / COLUMNS] == src[i] && sum[i] == 2 * src[i];
    tn_handle_destroy(h);
    return good;
}

static bool right_in_child(int threads)
{
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60);
        _exit(work_is_right(threads) ? 0 : 1);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void children_of_parallel_work(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        assert_true(work_is_right(4));
        assert_true(right_in_child(4)); /* asks for threads */
        assert_true(right_in_child(0)); /* asks for nothing */
        assert_true(right_in_child(1));
    }
    assert_true(work_is_right(4)); /* the parent goes on */
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals = signals + 1;
}

/* SIGALRM ten thousand times a second, without SA_RESTART. */
static void storm(bool on)
{
    struct sigaction act = {.sa_handler = on ? count_signal : SIG_IGN};
    const struct itimerval often = {{0, on ? 100 : 0}, {0, on ? 100 : 0}};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void work_under_signals(void **state)
{
    (void)state;
    storm(true);
    bool good = true;
    for (int round = 0; good && (round < 5 || (signals < 100 && round < 500)); round++)
        good = work_is_right(4);
    storm(false);
    assert_true(good);
    assert_true(signals >= 100);
}

static int fill_source(void **state)
{
    (void)state;
    for (int i = 0; i < SIZE; i++)
        src[i] = (float)i;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_of_parallel_work),
        cmocka_unit_test(work_under_signals),
    };
    return cmocka_run_group_tests(tests, fill_source, NULL);
}
