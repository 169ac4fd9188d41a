/* test_reduce_promises.c - what docs/promises.md says of reductions, scans, rows and indexing
 * as calls: their stack, what they allocate, many threads at once, forked children.
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

static void run_on_small_stack(void *(*calls)(void *))
{
    pthread_attr_t attr;
    pthread_t thread;
    work *w = work_make();
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, calls, w), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    OK(w->status);
    free(w);
}

static void small_stack(void **state)
{
    (void)state;
    run_on_small_stack(every_call);
}

/* ---- the stack of every way ---- */

/* A tensor of two axes on the memory of w. */
static tn_tensor shaped(work *w, float *data, tn_dtype dtype, int64_t rows, int64_t columns)
{
    tn_tensor t = w->src;
    if (w->status == TN_OK)
        w->status = tn_init(&t, data, dtype, 2, (int64_t[]){rows, columns});
    return t;
}

/* A call that does not take the dtype returns TN_EDTYPE. */
static void note_unless_dtype(work *w, tn_status status)
{
    if (status != TN_OK && status != TN_EDTYPE && w->status == TN_OK)
        w->status = status;
}

static void reduce_shape(work *w, tn_dtype dtype, int64_t rows, int64_t columns, int axis)
{
    const tn_tensor src = shaped(w, w->x, dtype, rows, columns);
    for (int op = 0; op < TNI_REDUCTIONS; op++) {
        tn_dtype out;
        if (tn_reduction_result((tn_reduction)op, dtype, &out) != TN_OK)
            continue;
        const tn_tensor dst = shaped(w, w->y, out, axis ? rows : 1, axis ? 1 : columns);
        note_unless_dtype(w, tn_reduce((tn_reduction)op, NULL, &dst, &src, 1, &axis));
    }
    const tn_tensor low = shaped(w, w->y, dtype, axis ? rows : 1, axis ? 1 : columns);
    tn_tensor high = low;
    high.data = w->z;
    note_unless_dtype(w, tn_minmax(&low, &high, &src, 1, &axis));
}

static void rows_shape(work *w, tn_dtype dtype, int64_t rows, int64_t columns, int axis)
{
    const tn_tensor src = shaped(w, w->x, dtype, rows, columns);
    tn_tensor dst = src;
    dst.data = w->y;
    for (int op = 0; op <= TN_SCAN_LOGSUMEXP; op++)
        note_unless_dtype(w, tn_scan((tn_scan_op)op, &dst, &src, axis));
    note_unless_dtype(w, tn_softmax(&dst, &src, axis));
    note_unless_dtype(w, tn_log_softmax(&dst, &src, axis));
    if (axis == 1) {
        note_unless_dtype(w, tn_rms_norm(&dst, &src, NULL, 1e-6));
        note_unless_dtype(w, tn_layer_norm(&dst, &src, NULL, NULL, 1e-6));
    }
}

static void *every_way(void *arg)
{
    static const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F32, TN_F64, TN_F8E4M3,
                                      TN_I8,  TN_U16,  TN_I32, TN_I64, TN_C64};
    static const int64_t shapes[][2] = {{64, 2},   {64, 7},    {64, 16},   {64, 33},
                                        {64, 64},  {64, 127},  {2049, 2},  {2049, 9},
                                        {300, 64}, {100, 250}, {2049, 31}, {9, 4097}};
    work *w = arg;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const int64_t rows = shapes[k][0], columns = shapes[k][1];
            /* a watched program has less memory */
            if (rows * columns * (int64_t)tn_dtype_size(dtypes[i]) > (int64_t)sizeof w->x)
                continue;
            for (int axis = 0; axis < 2; axis++) {
                reduce_shape(w, dtypes[i], rows, columns, axis);
                rows_shape(w, dtypes[i], rows, columns, axis);
            }
        }
    return NULL;
}

static void small_stack_for_ways(void **state)
{
    (void)state;
    run_on_small_stack(every_way);
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
        cmocka_unit_test(small_stack_for_ways),
        cmocka_unit_test(only_order_allocates),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
