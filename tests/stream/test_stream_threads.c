/* test_stream_threads.c - where a job starts threads and where it must not: inside a parallel
 * region, in a forked child, beside an executor; what its threads allocate with. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "io_oracle.h"

#include <tenon/stream.h>

#include "stream/stream.h"

enum {
    ROWS = 4096,
    COLUMNS = 2048,
    SMALL = 256 << 10 /* bytes of what is not elements: handles, buffers' heads, alignment */
};

static tn_tensor matrix;
static tn_file *file;

/* Threads of this process. */
static int tasks(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2; /* "." and ".." */
}

/* What the boxes of a job saw. */
typedef struct sight {
    pthread_t caller;
    int before; /* threads before the job */
    /* boxes: all, on other threads, beside more threads, on a handle of several threads */
    atomic_int boxes, elsewhere, more, wide;
    tn_status status;
    tn_stream_facts facts;
    char plan[1024];
} sight;

static tn_status look(void *user, const tn_tensor *out, int n, const tn_tensor *const *srcs,
                      const int64_t *at)
{
    sight *s = user;
    (void)n;
    (void)at;
    s->boxes++;
    s->elsewhere += !pthread_equal(pthread_self(), s->caller);
    s->more += tasks() > s->before;
    s->wide += tni_threads() > 1;
    return tn_rearrange(out, srcs[0]);
}

static tn_status drop(void *user, const tn_tensor *block, const int64_t *at)
{
    (void)user;
    (void)block;
    (void)at;
    return TN_OK;
}

/* Jobs that start threads where they may. */
static const struct {
    const char *name, *way;
    bool transposed; /* some of the rows; else some of the columns */
    int64_t max_mem, box, unused;
    bool queued;
} jobs[] = {
    {"a direct job", "direct", true, 1, 0, INT64_MAX, true},
    {"a job of scattered reads", "boxes", false, 256 << 20, 0, 0, true},
    {"a job of many boxes", "boxes", false, 256 << 20, 500000, INT64_MAX, false},
};

static void job_run(int k, int threads, sight *s)
{
    const tn_stream_map map = {.fn = look, .user = s};
    tn_stream_source in = {.file = file};
    tn_stream job = {.recipe = TN_STREAM_MAP,
                     .args = &map,
                     .n = 1,
                     .sources = &in,
                     .put = drop,
                     .max_mem = jobs[k].max_mem,
                     .box = jobs[k].box,
                     .threads = threads};
    tn_tensor places;
    *s = (sight){.caller = pthread_self(), .before = tasks()};
    tni_free_memory = jobs[k].unused;
    tn_status status = tn_file_places(file, 0, &places);
    if (status == TN_OK && jobs[k].transposed)
        status = tn_slice(&places, &places, 0, 0, 1024, 1);
    if (status == TN_OK)
        status = jobs[k].transposed ? tn_transpose(&in.view, &places, 0, 1)
                                    : tn_slice(&in.view, &places, 1, 500, 1600, 1);
    if (status == TN_OK)
        status = tn_init(&job.out, NULL, in.view.dtype, in.view.ndim, in.view.shape);
    status = status ? status : tn_stream_plan(&job, &s->facts);
    status = status ? status : tn_stream_explain(&job, s->plan, sizeof s->plan);
    if (status == TN_OK && strcmp(s->facts.way, jobs[k].way) != 0)
        status = TN_EARG;
    s->status = status ? status : tn_stream_run(&job);
    tni_free_memory = -1;
}

/* ---- places ---- */

static void by_itself(int k, int threads, sight *s)
{
    tn_handle *h = NULL;
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = 4}));
    OK(tn_handle_use(h));
    job_run(k, threads, s);
    tn_handle_destroy(h);
}

static void in_parallel_region(int k, int threads, sight *s)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
#endif
        job_run(k, threads, s);
}

/* A child of this process, which has threads; the sight is the child's. */
static void in_forked_child(int k, int threads, sight *s)
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60);
        job_run(k, threads, s);
        _exit(write(ends[1], s, sizeof *s) != sizeof *s);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], s, sizeof *s), sizeof *s);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int parts_run;

static void in_turn(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    (void)user;
    for (int i = 0; i < parts; i++)
        body(arg, i);
    parts_run += parts;
}

static void beside_executor(int k, int threads, sight *s)
{
    tn_handle *h = NULL;
    parts_run = 0;
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = 4, .parallel_for = in_turn}));
    OK(tn_handle_use(h));
    job_run(k, threads, s);
    tn_handle_destroy(h);
    if (s->boxes < 10) /* they are long enough to divide */
        assert_true(parts_run > 0);
}

static const struct {
    const char *name;
    void (*run)(int k, int threads, sight *s);
    bool starts;
} places[] = {
#ifdef _OPENMP
    {"by itself", by_itself, true},
#else
    {"by itself", by_itself, false},
#endif
    {"in a parallel region", in_parallel_region, false},
    {"in a forked child", in_forked_child, false},
    {"beside an executor", beside_executor, false},
};

static void check(int place, int k, int threads, const char *queue)
{
    sight s;
    tni_queue_prefer = queue;
    places[place].run(k, threads, &s);
    tni_queue_prefer = NULL;
    const bool starts = places[place].starts;
    /* io_uring may add threads of the kernel */
    const bool more = s.more > 0 && (starts || queue);
    if (s.status != TN_OK || s.boxes == 0 || (s.elsewhere > 0) != starts || more != starts)
        fail_msg("%s %s, threads %d, queue %s: status %s, %d boxes, %d on other threads, %d "
                 "beside more threads",
                 jobs[k].name, places[place].name, threads, queue ? queue : "any",
                 tn_status_name(s.status), s.boxes, s.elsewhere, s.more);
}

static void test_where_threads_start(void **state)
{
    (void)state;
    for (int place = 0; place < COUNT(places); place++)
        for (int k = 0; k < COUNT(jobs); k++)
            for (int threads = 0; threads < 4; threads += 3)
                for (int q = 0; q < 2; q++)
                    check(place, k, threads, q ? "threads" : NULL);
}

/* A job of one thread starts none: not even with a queue. */
static void test_one_thread(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(jobs); k++) {
        sight s;
        by_itself(k, 1, &s);
        OK(s.status);
        assert_int_equal(s.elsewhere, 0);
    }
}

/* ---- the allocator of the caller ---- */

typedef struct purse {
    pthread_t caller;
    atomic_llong held, most;
    atomic_int elsewhere; /* blocks of other threads */
} purse;

static void *purse_alloc(void *user, size_t size, size_t align)
{
    purse *p = user;
    const long long held = atomic_fetch_add(&p->held, (long long)size) + (long long)size;
    long long most = p->most;
    while (most < held && !atomic_compare_exchange_weak(&p->most, &most, held))
        ;
    p->elsewhere += !pthread_equal(pthread_self(), p->caller);
    return aligned_alloc(align, size);
}

static void purse_free(void *user, void *ptr, size_t size)
{
    purse *p = user;
    p->held -= (long long)size;
    free(ptr);
}

/* Workers allocate by the caller's allocator, and each computes on one thread. */
static void test_allocator(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(jobs); k++)
        for (int threads = 0; threads < 4; threads += 3) {
            purse p = {.caller = pthread_self()};
            sight s;
            tn_handle *h = NULL;
            OK(tn_handle_create(
                &h, TN_CPU, 0,
                &(tn_config){
                    .threads = 4, .alloc = purse_alloc, .free = purse_free, .user = &p}));
            OK(tn_handle_use(h));
            job_run(k, threads, &s);
            tn_handle_destroy(h);
            OK(s.status);
            assert_int_equal(p.held, 0);
            assert_int_equal(p.elsewhere > 0, places[0].starts);
            assert_int_equal(s.wide, 0);
            assert_true(p.most <= s.facts.memory + SMALL);
            assert_int_equal(s.facts.queue, jobs[k].queued ? TNI_QUEUE_DEPTH : 0);
            if (jobs[k].queued)
                assert_int_equal(s.facts.threads, 1);
            assert_int_equal(strstr(s.plan, "reads in flight") != NULL, jobs[k].queued);
            assert_int_equal(strstr(s.plan, "  time ") != NULL,
                             strcmp(jobs[k].way, "direct") == 0);
            assert_true(!jobs[k].queued || p.most > TNI_QUEUE_BYTES);
        }
}

static int make_file(void **state)
{
    (void)state;
    OK(tn_alloc(&matrix, TN_U8, 2, (int64_t[]){ROWS, COLUMNS}));
    OK(tn_fill(&matrix, NULL));
    OK(tn_save("threads.npy", &matrix));
    OK(tn_file_open(&file, "threads.npy"));
    return 0;
}

static int drop_file(void **state)
{
    (void)state;
    tn_file_close(file);
    tn_free(&matrix);
    unlink("threads.npy");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_threads_start),
        cmocka_unit_test(test_one_thread),
        cmocka_unit_test(test_allocator),
    };
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
