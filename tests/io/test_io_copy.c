/* test_io_copy.c - elements that go from file to file as they are: by the system, by way of
 * memory where it refuses, and what fails in between. */
#include "io_folder.h"

#include <errno.h>
#include <fcntl.h>

#include "io/io.h"
#include "io/sys.h"
#include "io/write.h"
#include "weak_memory.h"

/* ---- calls of the system that fail, or do less ---- */

static const char *kind;
static int error, after,
    most; /* error once `after` calls are done; most bytes at a call, or 0 */
static int seen;

static int hook(const char *call, size_t *n)
{
    if (strcmp(call, kind) != 0)
        return 0;
    if (most && n && *n > (size_t)most)
        *n = (size_t)most;
    return seen++ >= after ? error : 0;
}

static tn_status stop_at; /* what the progress callback gives */
static int64_t reported;

static tn_status progress(void *user, int64_t done)
{
    (void)user;
    assert_true(done > reported);
    reported = done;
    return stop_at == TN_OK ? TN_OK : tni_fail(stop_at, "stopped");
}

enum { N = 1000 };

/* Copy in.npy to path, which then holds the same; or a failure that leaves no file. */
static tn_status copy_to(const char *path)
{
    tn_file *f = NULL;
    tn_writer *w = NULL;
    const tni_entry *e = NULL;
    tn_tensor t;
    OK(tn_file_open(&f, in_folder("in.npy")));
    OK(tn_file_info(f, 0, NULL, &t, NULL));
    const tn_file *g = f;
    OK(tni_file_entry(&g, 0, "copy", &e));
    OK(tn_writer_open(&w, in_folder(path), 1, NULL, (const tn_tensor *[]){&t}, NULL));
    assert_true(tni_writer_copies(w, e));
    reported = seen = 0;
    tni_sys_hook = hook;
    tn_status status = tni_writer_copy(w, f, e->offset, t.dtype, tn_numel(&t), progress, NULL);
    tni_sys_hook = NULL;
    if (status == TN_OK)
        status = tn_writer_commit(w);
    else
        tn_writer_abort(w);
    tn_file_close(f);
    return status;
}

static const struct {
    const char *what, *kind;
    int error, after, most;
    tn_status status, progress;
} rows[] = {
    {"all by the system", "copy", 0, 0, 0, TN_OK, TN_OK},
    {"in small pieces", "copy", 0, 0, 100, TN_OK, TN_OK},
    {"refused: by way of memory", "copy", EXDEV, 0, 0, TN_OK, TN_OK},
    {"refused after a piece", "copy", EXDEV, 2, 100, TN_OK, TN_OK},
    {"a full disk", "copy", ENOSPC, 0, 0, TN_EIO, TN_OK},
    {"a full disk after a piece", "copy", ENOSPC, 2, 100, TN_EIO, TN_OK},
    {"a bad disk", "copy", EIO, 0, 0, TN_EIO, TN_OK},
    {"a quota", "copy", EDQUOT, 0, 0, TN_EIO, TN_OK},
    {"a limit of files", "copy", EFBIG, 0, 0, TN_EIO, TN_OK},
    {"stopped by the caller", "none", 0, 0, 0, TN_EARG, TN_EARG},
};

static void elements_are_copied(void **state)
{
    (void)state;
    tn_tensor t;
    make_golden(&t, TN_F64, 1, (int64_t[]){N});
    OK(tn_save(in_folder("in.npy"), &t));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int k = 0; k < 2; k++) { /* not .npz: its checksum passes every byte */
            const char *path = k ? "x.safetensors" : "x.npy";
            kind = rows[i].kind;
            error = rows[i].error;
            after = rows[i].after;
            most = rows[i].most;
            stop_at = rows[i].progress;
            const tn_status got = copy_to(path);
            if (got != rows[i].status)
                fail_msg("%s: %s: %s", rows[i].what, tn_status_name(got), tn_error());
            if (got != TN_OK) {
                assert_int_equal(files_in_folder(), 1);
                continue;
            }
            assert_int_equal(reported, N * 8);
            assert_holds(in_folder(path), &t);
            unlink(in_folder(path));
        }
    tn_free(&t);
    clean();
}

/* More than is copied between two calls of progress; the elements are a hole. */
static void long_files_report_progress(void **state)
{
    (void)state;
    const int64_t n = (64 << 20) + 5;
    tn_tensor t;
    tn_writer *w = NULL;
    uint8_t x = 7;
    tn_tensor last;
    OK(tn_init(&t, NULL, TN_U8, 1, &n));
    OK(tn_init(&last, &x, TN_U8, 1, (int64_t[]){1}));
    OK(tn_writer_open(&w, in_folder("in.npy"), 1, NULL, (const tn_tensor *[]){&t},
                      &(tn_write_options){.no_sync = 1}));
    w->at += n - 1;
    w->left -= n - 1;
    OK(tn_writer_put(w, &last));
    OK(tn_writer_commit(w));
    kind = "copy";
    error = 0, after = 0, most = 0, stop_at = TN_OK;
    OK(copy_to("x.npy"));
    assert_int_equal(reported, n);
    error = EXDEV; /* several stages of memory */
    OK(copy_to("x.npy"));
    tn_file *f = NULL;
    tn_tensor got;
    OK(tn_file_open(&f, in_folder("x.npy")));
    OK(tn_file_map(f, 0, &got));
    assert_int_equal(((const uint8_t *)got.data)[n - 1], 7);
    tn_file_close(f);
    clean();
}

/* The source is shorter than when it was opened, or memory for the stage is missing. */
static void what_cannot_be_copied(void **state)
{
    (void)state;
    tn_tensor t, desc;
    tn_file *f = NULL;
    tn_writer *w = NULL;
    make_golden(&t, TN_F64, 1, (int64_t[]){N});
    OK(tn_save(in_folder("in.npy"), &t));
    OK(tn_file_open(&f, in_folder("in.npy")));
    OK(tn_file_info(f, 0, NULL, &desc, NULL));
    kind = "none";
    stop_at = TN_OK;
    assert_int_equal(truncate(in_folder("in.npy"), 1000), 0);
    OK(tn_writer_open(&w, in_folder("x.npy"), 1, NULL, (const tn_tensor *[]){&desc}, NULL));
    reported = 0;
    assert_int_equal(tni_writer_copy(w, f, 128, TN_F64, N, progress, NULL), TN_EIO);
    assert_non_null(strstr(tn_error(), "truncated: ends at byte 1000"));
    tn_writer_abort(w);
    tn_file_close(f);

    /* so does a long one, in the first of several stages */
    tn_tensor wide;
    OK(tn_full(&wide, TN_U8, 1, (int64_t[]){9 << 20}, NULL));
    OK(tn_save(in_folder("in.npy"), &wide));
    OK(tn_file_open(&f, in_folder("in.npy")));
    assert_int_equal(truncate(in_folder("in.npy"), 1000), 0);
    OK(tn_writer_open(&w, in_folder("x.npy"), 1, NULL, (const tn_tensor *[]){&wide}, NULL));
    reported = 0;
    assert_int_equal(tni_writer_copy(w, f, 128, TN_U8, 9 << 20, progress, NULL), TN_EIO);
    tn_writer_abort(w);
    tn_file_close(f);
    tn_free(&wide);

    OK(tn_save(in_folder("in.npy"), &t));
    OK(tn_file_open(&f, in_folder("in.npy")));
    tn_handle *h = NULL;
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.alloc = weak_alloc, .free = weak_free}));
    OK(tn_handle_use(h));
    OK(tn_writer_open(&w, in_folder("x.npy"), 1, NULL, (const tn_tensor *[]){&desc}, NULL));
    kind = "copy";
    error = EXDEV;
    after = 0;
    fail_at = calls;
    tni_sys_hook = hook;
    assert_int_equal(tni_writer_copy(w, f, 128, TN_F64, N, progress, NULL), TN_ENOMEM);
    tni_sys_hook = NULL;
    fail_at = -1;
    assert_int_equal(tni_writer_copy(w, f, 128, TN_F64, N, progress, NULL), TN_EARG);
    tn_writer_abort(w);
    assert_int_equal(held, 0);
    OK(tn_handle_use(NULL));
    tn_handle_destroy(h);
    tn_file_close(f);
    assert_int_equal(files_in_folder(), 1);
    tn_free(&t);
    clean();
}

/* What is packed, in another byte order, or goes to a pipe or an archive passes memory. */
static void what_passes_memory(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        bool copies;
    } cases[] = {{DATA("c_f32.npy"), "x.npy", true},  {DATA("c_f32.npy"), "x.npz", false},
                 {DATA("c_f32.npy"), NULL, false},    {DATA("deflated.npz"), "x.npy", false},
                 {DATA("stored.npz"), "x.npy", true}, {DATA("be_f32.npy"), "x.npy", false}};
    const int null = open("/dev/null", O_WRONLY);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_file *f = NULL;
        tn_writer *w = NULL;
        tn_tensor t;
        OK(tn_file_open(&f, cases[i].from));
        OK(tn_file_info(f, 0, NULL, &t, NULL));
        if (cases[i].to)
            OK(tn_writer_open(&w, in_folder(cases[i].to), 1, NULL, (const tn_tensor *[]){&t},
                              NULL));
        else
            OK(tn_writer_open_fd(&w, null, "null", &t));
        if (!host_is_big())
            assert_int_equal(tni_writer_copies(w, &f->entries[0]), cases[i].copies);
        tn_writer_abort(w);
        tn_file_close(f);
    }
    close(null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_copied),
        cmocka_unit_test(long_files_report_progress),
        cmocka_unit_test(what_cannot_be_copied),
        cmocka_unit_test(what_passes_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
