/* test_stream_ways.c - every way to read and write a file gives the same bytes: buffered,
 * direct, two-pass; by io_uring and by threads; with system calls that are refused, cut short
 * or fail. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "io_oracle.h"

#include <tenon/index.h>
#include <tenon/reduce.h>
#include <tenon/stream.h>

#include "io/queue.h"
#include "io/sys.h"
#include "stream/stream.h"

enum { HEADER = 128 };

typedef struct setting {
    const char *name, *queue; /* the way of the queue */
    const char *refused;      /* a system call that the system does not have */
} setting;

static const setting settings[] = {
    {"io_uring", NULL, NULL},
    {"threads", "threads", NULL},
    {"io_uring refused", NULL, "io_uring"},
    {"O_DIRECT refused", NULL, "direct"},
};

static const char *refused;
static int64_t calls, fail_at, cut_at;
static const char *watched;

/* Refuse one call for good, or let call number fail_at of those watched fail, or be short. */
static int hook(const char *call, size_t *n)
{
    if (refused && !strcmp(call, refused))
        return strcmp(call, "fallocate") ? ENOSYS : ENOSPC;
    if (!watched || strcmp(call, watched) != 0)
        return 0;
    const int64_t now = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (now == cut_at && n && *n > 1)
        *n /= 2;
    return now == fail_at ? EIO : 0;
}

/* The view of the file at ways.npy, written to out.npy within max_mem. */
static tn_status convert(const tn_tensor *view, const tn_file *f, int64_t max_mem, int threads,
                         tn_stream_facts *facts)
{
    tn_stream_source in = {.file = f, .view = *view};
    tn_stream job = {.n = 1, .sources = &in, .max_mem = max_mem, .threads = threads};
    OK(tn_init(&job.out, NULL, view->dtype, view->ndim, view->shape));
    OK(tn_stream_plan(&job, facts));
    tn_status status =
        tn_writer_open(&job.writer, "out.npy", 1, NULL, (const tn_tensor *[]){&job.out},
                       &(tn_write_options){.no_sync = true});
    if (status != TN_OK)
        return status;
    status = tn_stream_run(&job);
    if (status != TN_OK) {
        tn_writer_abort(job.writer);
        return status;
    }
    return tn_writer_commit(job.writer);
}

typedef struct matrix {
    tn_tensor t, view, want;
    tn_file *f;
} matrix;

static void matrix_make(matrix *m, tn_dtype dtype, int ndim, const int64_t *shape,
                        const int *axes)
{
    tn_tensor places, v;
    OK(tn_alloc(&m->t, dtype, ndim, shape));
    for (int64_t i = 0; i < tn_nbytes(&m->t); i++)
        ((unsigned char *)m->t.data)[i] = (unsigned char)(i * 31 + (i >> 8) * 17 + (i >> 16));
    OK(tn_save("ways.npy", &m->t));
    OK(tn_file_open(&m->f, "ways.npy"));
    OK(tn_file_places(m->f, 0, &places));
    OK(tn_permute(&m->view, &places, axes));
    OK(tn_permute(&v, &m->t, axes));
    OK(tn_alloc(&m->want, dtype, ndim, v.shape));
    OK(tn_rearrange(&m->want, &v));
}

static void matrix_free(matrix *m)
{
    tn_file_close(m->f);
    tn_free(&m->t);
    tn_free(&m->want);
    unlink("ways.npy");
    unlink("out.npy");
}

static void check_out(const matrix *m)
{
    size_t size;
    uint8_t *bytes = slurp("out.npy", &size);
    assert_int_equal(size, HEADER + tn_nbytes(&m->want));
    assert_memory_equal(bytes + HEADER, m->want.data, (size_t)tn_nbytes(&m->want));
    free(bytes);
}

static void use(const setting *s)
{
    refused = s->refused;
    tni_queue_prefer = s->queue;
    tni_sys_hook = hook;
    watched = NULL;
}

static void use_none(void)
{
    refused = watched = tni_queue_prefer = NULL;
    tni_sys_hook = NULL;
}

/* Which way the queue takes here. */
static void test_ways(void **state)
{
    (void)state;
    tni_queue *q;
    for (int i = 0; i < COUNT(settings); i++) {
        use(&settings[i]);
        OK(tni_queue_open(&q, true));
        const char *way = tni_queue_way(q);
        if (settings[i].queue)
            assert_string_equal(way, settings[i].queue);
        if (settings[i].refused && !strcmp(settings[i].refused, "io_uring"))
            assert_string_equal(way, "threads");
        if (i == 0 && strcmp(way, "io_uring") != 0)
            print_message("not run: io_uring\n");
        tni_queue_close(q);
    }
    use_none();
}

static void test_layouts(void **state)
{
    (void)state;
    static const struct {
        tn_dtype dtype;
        int ndim;
        int64_t shape[4];
        int axes[4];
    } cases[] = {
        {TN_U32, 2, {1031, 517}, {1, 0}},           {TN_U8, 2, {3000, 1111}, {1, 0}},
        {TN_U16, 3, {64, 77, 130}, {2, 0, 1}},      {TN_F64, 3, {130, 41, 63}, {2, 1, 0}},
        {TN_U32, 4, {9, 31, 40, 33}, {3, 1, 0, 2}}, {TN_C128, 2, {300, 411}, {1, 0}},
    };
    static const int64_t memories[] = {1, 9 << 20, (8 << 20) + (200 << 10)};
    int direct = 0, two = 0;
    for (int c = 0; c < COUNT(cases); c++) {
        matrix m;
        matrix_make(&m, cases[c].dtype, cases[c].ndim, cases[c].shape, cases[c].axes);
        for (int i = 0; i < COUNT(settings); i++)
            for (int k = 0; k < COUNT(memories); k++)
                for (int threads = 1; threads < 3; threads++) {
                    tn_stream_facts facts;
                    if (TEST_WATCHED && (c + i + k + threads) % 4)
                        continue;
                    tni_free_memory = (i + k + threads) % 2 ? INT64_MAX : 0;
                    use(&settings[i]);
                    OK(convert(&m.view, m.f, memories[k], threads, &facts));
                    use_none();
                    direct += !strcmp(facts.way, "direct");
                    two += !strcmp(facts.way, "two-pass");
                    check_out(&m);
                }
        matrix_free(&m);
    }
    tni_free_memory = -1;
    assert_true(direct > 0);
    print_message("direct %d times, two-pass %d times\n", direct, two);
}

/* Budgets that leave pieces of a few rows, and strips of a few bytes; or nothing, but boxes of
 * short reads are not tiny. */
static void test_two_pass(void **state)
{
    (void)state;
    matrix m;
    tn_stream_facts facts;
    matrix_make(&m, TN_U32, 2, (int64_t[]){4099, 1500}, (int[]){1, 0});
    for (int k = 0; k < 4; k++)
        for (int threads = 1; threads < 3; threads++) {
            tni_free_memory = k % 2 ? INT64_MAX : 0;
            OK(convert(&m.view, m.f, k / 2 ? 1 : (8 << 20) + (1 << 20), threads, &facts));
            assert_string_equal(facts.way, "two-pass");
            assert_true(facts.shortest_read > 4 * facts.boxes);
            check_out(&m);
        }
    tni_free_memory = -1;
    refused = "scratch"; /* no temporary file: the job fails, and says where */
    tni_sys_hook = hook;
    assert_int_equal(convert(&m.view, m.f, 9 << 20, 1, &facts), TN_EIO);
    assert_non_null(strstr(tn_error(), "out.npy"));
    use_none();
    matrix_free(&m);
}

/* A sort that needs a temporary file has it beside its result, and says why there is none. */
static void test_sort(void **state)
{
    (void)state;
    matrix m;
    tn_stream_facts facts;
    matrix_make(&m, TN_U32, 2, (int64_t[]){500, 200}, (int[]){1, 0});
    for (int reordered = 0; reordered < 2; reordered++) {
        tn_stream_source in = {.view = m.t, .file = reordered ? m.f : NULL};
        const tn_stream_sort args = {0};
        tn_stream job = {.recipe = TN_STREAM_SORT,
                         .args = &args,
                         .out = m.t,
                         .n = 1,
                         .sources = &in,
                         .max_mem = 1};
        if (reordered)
            OK(tn_file_places(m.f, 0, &in.view));
        OK(tn_stream_plan(&job, &facts));
        assert_string_equal(facts.way, reordered ? "reordered" : "temporary file");
        OK(tn_writer_open(&job.writer, "out.npy", 1, NULL, (const tn_tensor *[]){&m.t}, NULL));
        refused = "scratch";
        tni_sys_hook = hook;
        assert_int_equal(tn_stream_run(&job), TN_EIO);
        assert_string_equal(tn_error(), "out.npy: Function not implemented");
        use_none();
        tn_writer_abort(job.writer);
    }
    matrix_free(&m);
}

/* A job whose source is a view of a file gives what it gives in memory, and its reads are not
 * short. */
static void check_reordered(tn_stream_recipe recipe, const void *args, const tn_tensor *view,
                            const tn_file *f, const tn_tensor *want, int64_t max_mem)
{
    tn_stream_facts facts;
    const tn_stream_source in = {.file = f, .view = *view};
    tn_stream job = {.recipe = recipe,
                     .args = args,
                     .n = 1,
                     .sources = &in,
                     .max_mem = max_mem,
                     .threads = 1};
    OK(tn_init(&job.out, NULL, want->dtype, want->ndim, want->shape));
    OK(tn_stream_plan(&job, &facts));
    assert_string_equal(facts.way, "reordered");
    assert_non_null(strstr(tn_stream_why(&facts), "short"));
    assert_true(facts.shortest_read > 4096);
    OK(tn_writer_open(&job.writer, "out.npy", 1, NULL, (const tn_tensor *[]){&job.out}, NULL));
    watched = "pread";
    calls = 0;
    tni_sys_hook = hook;
    OK(tn_stream_run(&job));
    use_none();
    assert_true(calls < tn_numel(view) / 60);
    OK(tn_writer_commit(job.writer));
    check_out(&(matrix){.want = *want});
}

static void check_sort(const tn_tensor *view, const tn_file *f, const tn_tensor *t, int dim,
                       unsigned flags, int64_t max_mem)
{
    const tn_stream_sort args = {dim, flags, false};
    tn_tensor want;
    OK(tn_alloc(&want, t->dtype, t->ndim, t->shape));
    OK(tn_sort(&want, NULL, t, dim, flags));
    check_reordered(TN_STREAM_SORT, &args, view, f, &want, max_mem);
    tn_free(&want);
}

/* n indices of axis 0, in no order. */
static void check_take(const tn_tensor *view, const tn_file *f, const tn_tensor *t, int64_t n)
{
    tn_tensor index, want;
    const tn_stream_take args = {0, &index};
    OK(tn_alloc(&index, TN_I64, 1, &n));
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)index.data)[i] = i * 7 % t->shape[0];
    OK(tn_alloc(&want, t->dtype, 2, (const int64_t[]){n, t->shape[1]}));
    OK(tn_take(&want, t, 0, &index));
    check_reordered(TN_STREAM_TAKE, &args, view, f, &want, 1 << 20);
    tn_free(&want);
    tn_free(&index);
}

/* What lies across the rows of a file is put in order first: sequences to sort, whole ones and
 * ones that are merged, in boxes of the result and not; rows to scan; indices to take. */
static void test_reordered(void **state)
{
    (void)state;
    static const int64_t memories[] = {1, 9 << 20};
    const tn_stream_scan scan = {TN_SCAN_MAX, 0};
    matrix m;
    tn_tensor places, want;
    matrix_make(&m, TN_U32, 2, (int64_t[]){2000, 1500}, (int[]){1, 0});
    OK(tn_file_places(m.f, 0, &places));
    for (int k = 0; k < 2; k++)
        for (unsigned flags = 0; flags <= TN_DESCENDING; flags += TN_DESCENDING) {
            check_sort(&places, m.f, &m.t, 0, flags, memories[k]);
            check_sort(&m.view, m.f, &m.want, 1, flags, memories[k]);
        }
    check_take(&m.view, m.f, &m.want, 500);
    check_take(&m.view, m.f, &m.want, 1500);
    OK(tn_alloc(&want, TN_U32, 2, m.view.shape));
    OK(tn_scan(TN_SCAN_MAX, &want, &m.want, 0));
    check_reordered(TN_STREAM_SCAN, &scan, &m.view, m.f, &want, 1);
    tn_free(&want);
    matrix_free(&m);
}

/* Every system call of one kind fails once, or is cut short: a status, or the right bytes. */
static void test_faults(void **state)
{
    (void)state;
    static const char *const kinds[] = {"pread", "write", "direct", "fallocate", "io_uring"};
    matrix m;
    tn_stream_facts facts;
    matrix_make(&m, TN_U32, 2, (int64_t[]){2500, 1300}, (int[]){1, 0});
    for (int q = 0; q < 2; q++)
        for (int k = 0; k < COUNT(kinds); k++)
            for (int cut = 0; cut < 2; cut++)
                for (int64_t at = 1; at < 2000; at = at * 3 + 1) {
                    use(&settings[q]);
                    watched = kinds[k];
                    calls = 0;
                    fail_at = cut ? 0 : at;
                    cut_at = cut ? at : 0;
                    unlink("out.npy");
                    tn_status status = convert(&m.view, m.f, 9 << 20, 0, &facts);
                    const bool none = calls < at;
                    use_none();
                    fail_at = cut_at = 0;
                    if (status == TN_OK)
                        check_out(&m);
                    else
                        assert_int_equal(status, TN_EIO);
                    if (cut || !strcmp(kinds[k], "direct") || !strcmp(kinds[k], "io_uring"))
                        OK(status);
                    if (none)
                        break;
                }
    matrix_free(&m);
}

/* A disk that is full says so before the work. */
static void test_reserve(void **state)
{
    (void)state;
    matrix m;
    tn_stream_facts facts;
    matrix_make(&m, TN_U32, 2, (int64_t[]){2500, 2100}, (int[]){1, 0});
    refused = "fallocate";
    watched = "write";
    calls = 0;
    tni_sys_hook = hook;
    assert_int_equal(convert(&m.view, m.f, 9 << 20, 0, &facts), TN_EIO);
    assert_non_null(strstr(tn_error(), "no space for 21000000 bytes"));
    assert_int_equal(calls, 1); /* the header */
    use_none();
    assert_int_not_equal(access("out.npy", F_OK), 0);
    matrix_free(&m);
}

/* long.npy: u8 of this shape, all of it a hole. */
static void make_hole(const char *shape, int64_t bytes)
{
    char head[HEADER];
    const int fd = open("long.npy", O_RDWR | O_CREAT | O_TRUNC, 0666);
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    head[10 + snprintf(head + 10, sizeof head - 10,
                       "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", shape)] = ' ';
    head[HEADER - 1] = '\n';
    assert_int_equal(pwrite(fd, head, HEADER, 0), HEADER);
    assert_int_equal(ftruncate(fd, HEADER + bytes), 0);
    close(fd);
}

/* Calls of a system call while columns of the file are written.  The plan says whether they are
 * read with many reads in flight, as the job then does. */
static int64_t count_calls(const char *call, const tn_tensor *view, const tn_file *f,
                           int threads, bool queued)
{
    tn_stream_facts facts;
    use(&settings[0]);
    watched = call;
    calls = 0;
    OK(convert(view, f, 256 << 20, threads, &facts));
    const int64_t n = calls;
    use_none();
    assert_string_equal(facts.way, "boxes");
    assert_int_equal(facts.queue, queued ? TNI_QUEUE_DEPTH : 0);
    assert_int_equal(strstr(tn_stream_why(&facts), "in flight") != NULL, queued);
    assert_true(facts.seconds <= 0);
    return n;
}

static bool has_io_uring(void)
{
    tni_queue *q = NULL;
    OK(tni_queue_open(&q, true));
    const bool has = !strcmp(tni_queue_way(q), "io_uring");
    tni_queue_close(q);
    return has;
}

/* Columns of a matrix that fits: the system reads ahead where it can hold the file, else many
 * reads are in flight. */
static void test_columns(void **state)
{
    (void)state;
    matrix m;
    tn_tensor places;
    tn_file *f = NULL;
    const int64_t n = INT64_C(8192) * 9000;
    matrix_make(&m, TN_U8, 2, (int64_t[]){4096, 2048}, (int[]){0, 1});
    OK(tn_slice(&m.view, &m.view, 1, 500, 1600, 1));
    tn_free(&m.want);
    OK(tn_slice(&places, &m.t, 1, 500, 1600, 1));
    OK(tn_alloc(&m.want, TN_U8, 2, places.shape));
    OK(tn_rearrange(&m.want, &places));
    for (int threads = 1; threads < 3; threads++) {
        tni_free_memory = INT64_MAX;
        assert_int_equal(count_calls("fadvise", &m.view, m.f, threads, false),
                         64); /* of 8 MiB */
        check_out(&m);
        tni_free_memory = 0;
        const int64_t queues = count_calls("io_uring", &m.view, m.f, threads, true);
        check_out(&m);
        if (!has_io_uring()) /* where it is refused threads read, as above */
            continue;
        assert_int_equal(queues, 1);
        assert_int_equal(count_calls("fadvise", &m.view, m.f, threads, true), 0);
    }
    matrix_free(&m);
    make_hole("(8192, 9000)", n);
    OK(tn_file_open(&f, "long.npy"));
    OK(tn_file_places(f, 0, &places));
    OK(tn_slice(&places, &places, 1, 0, 530, 1));
    tni_free_memory = INT64_MAX;
    assert_int_equal(count_calls("io_uring", &places, f, 2, true),
                     1); /* too far from each other */
    tni_free_memory = -1;
    tn_file_close(f);
    unlink("long.npy");
    unlink("out.npy");
}

/* The page cache forgets the files of jobs that are longer than the budget, and of no
 * others. */
static void test_tidy(void **state)
{
    (void)state;
    const int64_t n = 70 << 20, budgets[] = {16 << 20, 1 << 30};
    tn_tensor places;
    tn_file *f = NULL;
    make_hole("(73400320,)", n);
    OK(tn_file_open(&f, "long.npy"));
    OK(tn_file_places(f, 0, &places));
    for (int i = 0; i < 2; i++) {
        tn_stream_facts facts;
        tn_tensor view;
        OK(tn_flip(&view, &places, 0));
        watched = "fadvise";
        calls = 0;
        tni_sys_hook = hook;
        OK(convert(&view, f, budgets[i], 1, &facts));
        use_none();
        assert_string_equal(facts.way, "boxes");
        assert_int_equal(calls, i == 0 ? 2 : 0); /* both files, each 64 MiB */
    }
    tn_file_close(f);
    unlink("long.npy");
    unlink("out.npy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),      cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_two_pass),  cmocka_unit_test(test_sort),
        cmocka_unit_test(test_faults),    cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_tidy),      cmocka_unit_test(test_columns),
        cmocka_unit_test(test_reordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
