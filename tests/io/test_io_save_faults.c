/* test_io_save_faults.c - a failed write leaves the old file, short transfers are continued,
 * and a failed read is an error. */
#include "io_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "io/sys.h"

static const char *fail_call;

static int fail_after, calls, short_by;

static int fault(const char *call, size_t *n)
{
    if (n && short_by && *n > 1)
        *n = (*n + 1) / 2;
    if (strcmp(call, fail_call) != 0)
        return 0;
    return calls++ == fail_after ? ENOSPC : 0;
}

/* Fail the k-th call of each kind, k = 0, 1, …, until the save passes: the old file stays, no
 * other file is left. */
static void failed_writes_leave_the_old_file(void **state)
{
    (void)state;
    static const char *const kinds[] = {"create", "write", "fsync", "link", "rename", "stat"};
    tn_tensor old, t;
    make_golden(&old, TN_I16, 1, (int64_t[]){9});
    make_golden(&t, TN_F32, 2, (int64_t[]){5, 4});
    for (int s = 0; s < 3; s++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            for (fail_after = 0;; fail_after++) {
                OK(tn_save(in_folder(suffixes[s]), &old));
                fail_call = kinds[k];
                calls = 0;
                tni_sys_hook = fault;
                tn_status status = tn_save(in_folder(suffixes[s]), &t);
                tni_sys_hook = NULL;
                assert_int_equal(files_in_folder(), 1);
                if (calls <= fail_after) {
                    OK(status);
                    unlink(in_folder(suffixes[s]));
                    break;
                }
                assert_int_equal(status, TN_EIO);
                assert_non_null(strstr(tn_error(), "No space left"));
                /* The second fsync is that of the folder: the new file is in place by then. */
                bool in_place = !strcmp(kinds[k], "fsync") && fail_after == 1;
                assert_holds(in_folder(suffixes[s]), in_place ? &t : &old);
                unlink(in_folder(suffixes[s]));
            }
    tn_free(&old);
    tn_free(&t);
    clean();
}

/* After a failed write the writer only repeats that it has failed. */
static void a_broken_writer_stays_broken(void **state)
{
    (void)state;
    tn_tensor t;
    tn_writer *w = NULL;
    make_golden(&t, TN_F32, 2, (int64_t[]){5, 4});
    const tn_tensor *ts = &t;
    tni_sys_hook = fault;
    fail_call = "write";
    calls = 0;
    fail_after = 1; /* the header passes */
    OK(tn_writer_open(&w, in_folder("x.npy"), 1, NULL, &ts, NULL));
    assert_int_equal(tn_writer_put(w, &t), TN_EIO);
    tni_sys_hook = NULL;
    assert_int_equal(tn_writer_put(w, &t), TN_EARG);
    assert_int_equal(tn_writer_commit(w), TN_EARG);
    assert_int_equal(files_in_folder(), 0);
    tn_free(&t);
}

static int refuse_tmpfile(const char *call, size_t *n)
{
    (void)n;
    return !strcmp(call, "tmpfile") ? EOPNOTSUPP : !strcmp(call, fail_call) ? EIO : 0;
}

static void a_named_temporary_file_goes_too(void **state)
{
    (void)state;
    tn_tensor t;
    make_golden(&t, TN_F32, 2, (int64_t[]){5, 4});
    tni_sys_hook = refuse_tmpfile;
    fail_call = "";
    OK(tn_save(in_folder("x.npy"), &t));
    assert_holds(in_folder("x.npy"), &t);
    assert_int_equal(files_in_folder(), 1);
    fail_call = "rename";
    assert_int_equal(tn_save(in_folder("y.npy"), &t), TN_EIO);
    tni_sys_hook = NULL;
    assert_int_equal(files_in_folder(), 1);
    tn_free(&t);
    clean();
}

static void short_transfers_are_continued(void **state)
{
    (void)state;
    tn_tensor t, v;
    make_golden(&t, TN_F32, 3, (int64_t[]){50, 4, 9});
    OK(tn_transpose(&v, &t, 0, 2));
    tni_sys_hook = fault;
    fail_call = "";
    short_by = 1;
    for (int s = 0; s < 3; s++) {
        OK(tn_save(in_folder(suffixes[s]), &v));
        assert_holds(in_folder(suffixes[s]), &v);
    }
    short_by = 0;
    tni_sys_hook = NULL;
    tn_free(&t);
    clean();
}

/* Reads that fail or find a shorter file are TN_EIO, and nothing is given out. */
static void failed_reads(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA("c_f32.npy"), DATA("stored.npz"),
                                        DATA("deflated.npz"), DATA("many.safetensors"),
                                        DATA("some.gguf")};
    tni_sys_hook = fault;
    fail_call = "pread";
    for (int k = 0; k < 5; k++)
        for (fail_after = 0;; fail_after++) {
            tn_file *f = NULL;
            tn_tensor t = {.data = &calls};
            calls = 0;
            tn_status status = tn_file_open(&f, paths[k]);
            if (status == TN_OK) {
                status = tn_file_read(f, 0, &t);
                if (status == TN_OK)
                    tn_free(&t);
                else
                    assert_ptr_equal(t.data, &calls);
                tn_file_close(f);
            }
            if (calls <= fail_after) {
                OK(status);
                break;
            }
            assert_int_equal(status, TN_EIO);
        }
    tn_file *f = NULL;
    tn_tensor t;
    fail_call = "mmap";
    OK(tn_file_open(&f, host_is_big() ? DATA("be_f32.npy") : DATA("c_f32.npy")));
    fail_after = 0;
    calls = 0;
    assert_int_equal(tn_file_map(f, 0, &t), TN_EIO);
    fail_after = 1;
    assert_int_equal(tn_file_places(f, 0, &t), TN_EIO);
    assert_int_equal(tn_file_places(f, 0, NULL), TN_ENULL);
    tn_file_close(f);
    fail_call = "open";
    calls = 0;
    fail_after = 0;
    assert_int_equal(tn_file_open(&f, DATA("c_f32.npy")), TN_EIO);
    fail_call = "fstat";
    calls = 0;
    assert_int_equal(tn_file_open(&f, DATA("c_f32.npy")), TN_EIO);
    assert_int_equal(tn_file_open_fd(&f, -1, "nothing"), TN_EIO);
    assert_int_equal(tn_file_open_fd(&f, 0, NULL), TN_ENULL);
    tni_sys_hook = NULL;

    make_golden(&t, TN_F32, 1, (int64_t[]){1000});
    OK(tn_save(in_folder("x.npy"), &t));
    tn_free(&t);
    OK(tn_file_open(&f, in_folder("x.npy")));
    assert_int_equal(truncate(in_folder("x.npy"), 200), 0);
    assert_int_equal(tn_file_read(f, 0, &t), TN_EIO);
    tn_file_close(f);
    clean();
}

static void a_full_disk(void **state)
{
    (void)state;
    struct rlimit limit, old;
    tn_tensor t;
    make_golden(&t, TN_F32, 2, (int64_t[]){100, 100});
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 10000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    tn_status got[3];
    for (int s = 0; s < 3; s++)
        got[s] = tn_save(in_folder(suffixes[s]), &t);
    setrlimit(RLIMIT_FSIZE, &old);
    for (int s = 0; s < 3; s++)
        assert_int_equal(got[s], TN_EIO);
    assert_int_equal(files_in_folder(), 0);
    tn_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_writes_leave_the_old_file),
        cmocka_unit_test(a_broken_writer_stays_broken),
        cmocka_unit_test(a_named_temporary_file_goes_too),
        cmocka_unit_test(short_transfers_are_continued),
        cmocka_unit_test(failed_reads),
        cmocka_unit_test(a_full_disk),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
