/* test_runtime.c - the machine's facts and work in parts: levels, caches, threads, fork.
 *
 * What is read once per process is asked of fresh processes: this program runs itself with a
 * word and the answer is its exit code or what it prints. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <tenon/tenon.h>

#include "runtime/runtime.h"
#ifdef _OPENMP
#include <omp.h>
#endif

static const char *self;

/* ---- a fresh process, and a forked child with five seconds to live ---- */

static int ask_self(const char *env, const char *word, char *answer, size_t size)
{
    char command[4096];
    const char *emulator = getenv("TEST_EMULATOR");
    snprintf(command, sizeof command, "%s %s '%s' %s", env, emulator ? emulator : "", self,
             word);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    if (!fgets(answer, (int)size, f))
        answer[0] = 0;
    answer[strcspn(answer, "\n")] = 0;
    return pclose(f);
}

static bool true_in_child(bool (*fact)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60);
        _exit(fact() ? 0 : 1);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- work in parts whose execution is written down ---- */

enum { MOST = 64 };

typedef struct record {
    atomic_int times[MOST]; /* how often each part ran */
    pthread_t by[MOST];
    int threads[MOST]; /* what tni_threads said inside the part */
} record;

static void note(void *arg, int part)
{
    record *r = arg;
    r->times[part]++;
    r->by[part] = pthread_self();
    r->threads[part] = tni_threads();
}

static bool each_once(const record *r, int parts)
{
    for (int i = 0; i < MOST; i++)
        if (r->times[i] != (i < parts))
            return false;
    return true;
}

static int workers(const record *r, int parts)
{
    int n = 0;
    for (int i = 0; i < parts; i++) {
        int j = 0;
        while (j < i && !pthread_equal(r->by[i], r->by[j]))
            j++;
        n += j == i;
    }
    return n;
}

static tn_handle *use_threads(int threads)
{
    tn_handle *h = NULL;
    assert_int_equal(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = threads}), TN_OK);
    assert_int_equal(tn_handle_use(h), TN_OK);
    return h;
}

/* ---- levels and caches ---- */

static int rank(const char *isa)
{
    static const char *const order[] = {"base", "avx2", "avx512"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(isa, order[i]))
            return i;
    return -1;
}

static void test_isa_values(void **state)
{
    (void)state;
    char best[64], got[64];
    assert_int_equal(ask_self("env -u TENON_ISA", "isa", best, sizeof best), 0);
    if (!strcmp(best, "neon")) {
        assert_int_equal(ask_self("TENON_ISA=base", "isa", got, sizeof got), 0);
        assert_string_equal(got, "neon");
        return;
    }
    assert_in_range(rank(best), 0, 2);
    static const struct {
        const char *env;
        int rank; /* -1: ignored */
    } cases[] = {
        {"TENON_ISA=base", 0},     {"TENON_ISA=avx2", 1},  {"TENON_ISA=avx512", 2},
        {"TENON_ISA=", -1},        {"TENON_ISA=AVX2", -1}, {"TENON_ISA=avx", -1},
        {"TENON_ISA=avx5120", -1}, {"TENON_ISA=neon", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ask_self(cases[i].env, "isa", got, sizeof got), 0);
        int want = cases[i].rank < 0 || cases[i].rank > rank(best) ? rank(best) : cases[i].rank;
        assert_int_equal(rank(got), want);
    }
}

static void test_isa_is_what_the_level_says(void **state)
{
    (void)state;
    static const char *const names[TNI_ISA_COUNT] = {"base", "avx2", "avx512"};
    if (strcmp(tn_isa(), "neon") != 0)
        assert_string_equal(tn_isa(), names[tni_isa_level()]);
#if defined(__x86_64__) && defined(__GNUC__)
    if (tni_isa_level() >= TNI_ISA_AVX2)
        assert_true(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    if (tni_isa_level() >= TNI_ISA_AVX512)
        assert_true(__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"));
#endif
}

static void test_caches_are_plausible(void **state)
{
    (void)state;
    const tni_caches *c = tni_cache_sizes();
    assert_true(c->l1 >= 4 << 10 && c->l1 <= 4 << 20);
    assert_true(c->l2 >= c->l1 && c->l3 >= c->l2);
    assert_true(c->stream >= c->l2 && c->stream <= c->l3);
    assert_ptr_equal(c, tni_cache_sizes());
}

static void test_stream_values(void **state)
{
    (void)state;
    char usual[64], got[64];
    assert_int_equal(ask_self("env -u TENON_STREAM", "stream", usual, sizeof usual), 0);
    static const char *const cases[][2] = {
        {"0", "0"},   {"123456", "123456"},           {"", NULL},  {"-5", NULL},
        {"4k", NULL}, {"99999999999999999999", NULL}, {"x", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char env[64];
        snprintf(env, sizeof env, "TENON_STREAM=%s", cases[i][0]);
        assert_int_equal(ask_self(env, "stream", got, sizeof got), 0);
        assert_string_equal(got, cases[i][1] ? cases[i][1] : usual);
    }
}

/* ---- parts ---- */

static void test_every_part_runs_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; t++) {
        tn_handle *h = use_threads(threads[t]);
        for (int parts = 0; parts <= MOST; parts++) {
            record r = {0};
            tni_parallel(parts, note, &r);
            assert_true(each_once(&r, parts));
            assert_true(workers(&r, parts) <= threads[t]);
        }
        tn_handle_destroy(h);
    }
}

static void test_threads_of_the_handle(void **state)
{
    (void)state;
    tn_handle *h = use_threads(3);
#ifdef _OPENMP
    assert_int_equal(tni_threads(), 3);
    record r = {0};
    tni_parallel(3, note, &r);
    assert_int_equal(workers(&r, 3), 3);
#else
    assert_int_equal(tni_threads(), 1);
#endif
    tn_handle_destroy(h);
    h = use_threads(1000000);
    assert_in_range(tni_threads(), 1, 1024);
    tn_handle_destroy(h);
}

static void test_a_part_starts_no_parts(void **state)
{
    (void)state;
    tn_handle *h = use_threads(4);
    record r = {0};
    tni_parallel(4, note, &r);
    for (int i = 0; i < 4; i++)
        assert_int_equal(r.threads[i], 1);
    tn_handle_destroy(h);
}

static void test_default_threads(void **state)
{
    (void)state;
    char got[64];
    assert_int_equal(ask_self("OMP_NUM_THREADS=5", "threads", got, sizeof got), 0);
#ifdef _OPENMP
    assert_string_equal(got, "5");
    assert_int_equal(ask_self("OMP_NUM_THREADS=1000000", "threads", got, sizeof got), 0);
    assert_string_equal(got, "1024");
#else
    assert_string_equal(got, "1");
#endif
}

static void test_serial_inside_a_parallel_region(void **state)
{
    (void)state;
#ifdef _OPENMP
    tn_handle *h = NULL;
    assert_int_equal(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = 4}), TN_OK);
    int said[2] = {0}, team[2] = {0};
    bool once[2] = {false};
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        bool ok = tn_handle_use(h) == TN_OK;
        said[me] = tni_threads();
        record r = {0};
        tni_parallel(8, note, &r);
        once[me] = ok && each_once(&r, 8);
        team[me] = workers(&r, 8);
        ok = tn_handle_use(NULL) == TN_OK;
        once[me] = once[me] && ok;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(said[i], 1);
        assert_int_equal(team[i], 1);
        assert_true(once[i]);
    }
    tn_handle_destroy(h);
#else
    skip();
#endif
}

/* ---- fork ---- */

static bool works_alone(void)
{
    record r = {0};
    tni_parallel(16, note, &r);
    return tni_threads() == 1 && each_once(&r, 16) && workers(&r, 16) == 1;
}

static bool works_alone_in_grandchild(void)
{
    return works_alone() && true_in_child(works_alone);
}

static void test_fork_after_parallel_work(void **state)
{
    (void)state;
    tn_handle *h = use_threads(4);
    for (int i = 0; i < 3; i++) {
        record r = {0};
        tni_parallel(4, note, &r);
        assert_true(each_once(&r, 4));
        assert_true(true_in_child(works_alone_in_grandchild));
    }
    record r = {0};
    tni_parallel(4, note, &r); /* the parent keeps its team */
    assert_true(each_once(&r, 4));
#ifdef _OPENMP
    assert_int_equal(workers(&r, 4), 4);
#endif
    tn_handle_destroy(h);
}

static void test_fork_of_a_single_thread_keeps_the_team(void **state)
{
    (void)state;
#if defined(_OPENMP) && !defined(__SANITIZE_THREAD__)
    char got[64];
    assert_int_equal(ask_self("OMP_NUM_THREADS=3", "fork", got, sizeof got), 0);
    assert_string_equal(got, "3");
#else
    skip();
#endif
}

/* ---- first use ---- */

enum { CROWD = 16 };
static pthread_barrier_t gate;

static void *first_use(void *arg)
{
    const void **seen = arg;
    pthread_barrier_wait(&gate);
    int n = tni_threads();
    seen[0] = tn_isa();
    const tni_caches *c = tni_cache_sizes();
    seen[1] = n > 0 && c->l1 > 0 && c->stream > 0 ? c : NULL;
    return NULL;
}

static int first_use_by_a_crowd(void)
{
    pthread_t crowd[CROWD];
    const void *seen[CROWD][2];
    if (pthread_barrier_init(&gate, NULL, CROWD))
        return 2;
    for (int i = 0; i < CROWD; i++)
        if (pthread_create(&crowd[i], NULL, first_use, seen[i]))
            return 2;
    for (int i = 0; i < CROWD; i++)
        pthread_join(crowd[i], NULL);
    for (int i = 0; i < CROWD; i++)
        if (seen[i][0] != tn_isa() || seen[i][1] != tni_cache_sizes())
            return 1;
    return 0;
}

static void test_first_use_by_a_crowd(void **state)
{
    (void)state;
    char nothing[8];
    for (int i = 0; i < 10; i++)
        assert_int_equal(ask_self("", "crowd", nothing, sizeof nothing), 0);
}

/* ---- */

static bool say_threads(void)
{
    printf("%d\n", tni_threads());
    return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1 && !strcmp(argv[1], "isa"))
        return puts(tn_isa()) < 0;
    if (argc > 1 && !strcmp(argv[1], "stream"))
        return printf("%lld\n", (long long)tni_cache_sizes()->stream) < 0;
    if (argc > 1 && !strcmp(argv[1], "threads"))
        return !say_threads();
    if (argc > 1 && !strcmp(argv[1], "fork"))
        return !true_in_child(say_threads);
    if (argc > 1 && !strcmp(argv[1], "crowd"))
        return first_use_by_a_crowd();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isa_values),
        cmocka_unit_test(test_isa_is_what_the_level_says),
        cmocka_unit_test(test_caches_are_plausible),
        cmocka_unit_test(test_stream_values),
        cmocka_unit_test(test_every_part_runs_once),
        cmocka_unit_test(test_threads_of_the_handle),
        cmocka_unit_test(test_a_part_starts_no_parts),
        cmocka_unit_test(test_default_threads),
        cmocka_unit_test(test_serial_inside_a_parallel_region),
        cmocka_unit_test(test_fork_after_parallel_work),
        cmocka_unit_test(test_fork_of_a_single_thread_keeps_the_team),
        cmocka_unit_test(test_first_use_by_a_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
