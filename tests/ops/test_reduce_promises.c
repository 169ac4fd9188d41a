/* test_reduce_promises.c - what docs/promises.md says of reductions, scans, rows and indexing as
 * calls: their stack, what they allocate, many threads at once, forked children.
 *
 * Every call is made on a matrix large enough for several threads; its results make a digest. */
#include "layout.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* A watched program has larger frames. */
enum {
    STACK = TEST_WATCHED ? 4 << 20 : 256 << 10,
    ROWS = TEST_WATCHED ? 96 : 300,
    COLUMNS = 530
};

typedef struct work {
    float x[ROWS * COLUMNS], y[ROWS * COLUMNS], z[ROWS * COLUMNS];
    int64_t at[ROWS * COLUMNS];
    bool mask[ROWS * COLUMNS];
    uint64_t digest;
    tn_tensor src, turned, dst, other, index, chosen, rows, row, column, place;
    tn_status status;
} work;

static void note(work *w, const tn_tensor *t)
{
    const unsigned char *p = t->data;
    for (int64_t i = 0; i < tn_nbytes(t); i++)
        w->digest = (w->digest ^ p[i]) * 0x100000001b3u;
}

static work *work_make(void)
{
    const int64_t shape[2] = {ROWS, COLUMNS};
    work *w = calloc(1, sizeof *w);
    rng r = {1};
    assert_non_null(w);
    OK(tn_init(&w->src, w->x, TN_F32, 2, shape));
    OK(tn_init(&w->dst, w->y, TN_F32, 2, shape));
    OK(tn_init(&w->other, w->z, TN_F32, 2, shape));
    OK(tn_init(&w->index, w->at, TN_I64, 2, shape));
    OK(tn_init(&w->chosen, w->mask, TN_BOOL, 2, shape));
    OK(tn_init(&w->rows, w->at, TN_I64, 1, &shape[0]));
    OK(tn_init(&w->row, w->y, TN_F32, 1, &shape[1]));
    OK(tn_init(&w->column, w->y, TN_F32, 1, &shape[0]));
    OK(tn_init(&w->place, w->at, TN_I64, 1, &shape[1]));
    OK(tn_init(&w->turned, w->x, TN_F32, 2, (int64_t[]){COLUMNS, ROWS}));
    OK(tn_transpose(&w->turned, &w->turned, 0, 1));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        w->x[i] = (float)pick(&r, -1000, 1000) / 64;
        w->mask[i] = next(&r) % 3 == 0;
    }
    return w;
}

#define STEP(call, made)                                                                       \
    do {                                                                                       \
        w->status = w->status ? w->status : (call);                                            \
        note(w, made);                                                                         \
    } while (0)

/* The calls that allocate nothing. */
static void reduce_all(work *w)
{
    const int first[] = {0}, last[] = {1};
    for (int op = 0; op <= TN_REDUCE_NANMAX; op++) {
        tn_dtype out;
        w->status = w->status ? w->status : tn_reduction_result((tn_reduction)op, TN_F32, &out);
        tn_tensor down = w->place, across = w->rows;
        down.dtype = across.dtype = out;
        down.stride[0] = across.stride[0] = (int64_t)tn_dtype_size(out);
        STEP(tn_reduce((tn_reduction)op, NULL, &down, &w->src, 1, first), &down);
        STEP(tn_reduce((tn_reduction)op, NULL, &across, &w->src, 1, last), &across);
        STEP(tn_reduce((tn_reduction)op, NULL, &across, &w->turned, 1, last), &across);
    }
    STEP(tn_minmax(&w->row, NULL, &w->src, 1, first), &w->row);
    STEP(tn_dot(&w->column, &w->src, &w->src, 1, last), &w->column);
    STEP(tn_pattern_reduce(TN_REDUCE_MEAN, NULL, &w->row, &w->src, "i j -> j", NULL), &w->row);
    for (int op = 0; op <= TN_SCAN_LOGSUMEXP; op++)
        for (int dim = 0; dim < 2; dim++)
            STEP(tn_scan((tn_scan_op)op, &w->dst, dim ? &w->src : &w->turned, dim), &w->dst);
}

static void rows_all(work *w)
{
    tn_tensor square, weight = w->row;
    weight.data = w->z;
    STEP(tn_softmax(&w->dst, &w->src, 1), &w->dst);
    STEP(tn_softmax(&w->dst, &w->src, 0), &w->dst);
    STEP(tn_log_softmax(&w->dst, &w->turned, 1), &w->dst);
    STEP(tn_slice(&square, &w->src, 0, 0, 90, 1), &square);
    tn_tensor made = w->dst;
    made.shape[0] = square.shape[0];
    STEP(tn_causal_softmax(&made, &square), &made);
    memcpy(w->z, w->x, COLUMNS * sizeof *w->z);
    STEP(tn_rms_norm(&w->dst, &w->src, &weight, 1e-6), &w->dst);
    STEP(tn_layer_norm(&w->dst, &w->turned, &weight, &weight, 1e-6), &w->dst);
    STEP(tn_add_rms_norm(&w->dst, &w->other, &w->src, &w->turned, NULL, 1e-6), &w->dst);
    tn_tensor table = weight;
    table.shape[0] = w->src.shape[1] / 2;
    STEP(tn_rotate(&w->dst, &w->src, &table, &table, false), &w->dst);
    STEP(tn_rotate(&w->dst, &w->turned, &table, &table, true), &w->dst);
}

static void index_all(work *w)
{
    tn_tensor some, bins = w->rows;
    int64_t n = 0;
    bins.data = w->z;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        w->at[i] = i % 977 * 31 % ROWS;
        n += w->mask[i];
    }
    STEP(tn_take(&w->dst, &w->src, 0, &w->rows), &w->dst);
    STEP(tn_take_along(&w->dst, &w->src, 0, &w->index), &w->dst);
    w->status = w->status ? w->status : tn_init(&some, w->y, TN_F32, 1, &n);
    STEP(tn_masked_select(&some, &w->src, &w->chosen), &some);
    STEP(tn_masked_put(&w->other, &w->chosen, &some), &w->other);
    STEP(tn_bincount(&bins, &w->place), &bins);
    STEP(tn_histogram(&bins, &w->src, -8, 8), &bins);
    STEP(tn_searchsorted(&w->index, &some, &w->src, true), &w->index);
}

/* Those that may take scratch. */
static void order_all(work *w)
{
    tn_tensor top, where, one, place, values, counts;
    OK(tn_slice(&top, &w->dst, 1, 0, 9, 1));
    OK(tn_slice(&where, &w->index, 1, 0, 9, 1));
    one = w->column;
    place = w->rows;
    for (int i = 0; i < ROWS; i++)
        w->at[i] = i * i % ROWS;
    STEP(tn_put(TN_PUT_ADD, &w->dst, 0, &w->rows, &w->src), &w->dst);
    STEP(tn_put(TN_PUT_SET, &w->dst, 0, &w->rows, &w->turned), &w->dst);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        w->at[i] = i * 31 % ROWS;
    STEP(tn_put_along(TN_PUT_MUL, &w->dst, 0, &w->index, &w->src), &w->dst);
    STEP(tn_sort(&w->dst, &w->index, &w->src, 1, 0), &w->dst);
    STEP(tn_sort(&top, &where, &w->turned, 1, TN_DESCENDING), &w->dst);
    STEP(tn_kth(&one, &place, &w->src, 1, 100, 0), &one);
    OK(tn_unique_copy(&values, NULL, NULL, &counts, &w->src));
    note(w, &counts);
    tn_free(&values);
    tn_free(&counts);
}

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
