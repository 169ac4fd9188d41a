/* test_faults_io.c - the k-th system call of the library fails, for every k: the old file or
 * the whole new one is there, nothing besides, no descriptor is kept, and the failure is TN_EIO
 * with its reason. */
#include "io_gates.h"

#include <limits.h>

#include "io/io.h"
#include "io/sys.h"

static tn_tensor t;

static tn_status read_all(const char *path)
{
    tn_file *f = NULL;
    tn_status status = tn_file_open(&f, path);
    for (int64_t i = 0; status == TN_OK && i < tn_file_count(f); i++) {
        tn_tensor got, m, places, dst;
        if (tn_file_info(f, i, NULL, &got, NULL) == TN_EUNSUPPORTED)
            continue;
        status = tn_file_read(f, i, &got);
        if (status != TN_OK)
            break;
        status = tn_file_map(f, i, &m);
        if (status == TN_EUNSUPPORTED)
            status = TN_OK;
        if (status == TN_OK)
            status = tn_file_places(f, i, &places);
        if (status == TN_OK) {
            OK(tn_alloc(&dst, got.dtype, got.ndim, got.shape));
            status = tn_file_fetch(f, i, &dst, &places);
            tn_free(&dst);
        } else if (status == TN_EUNSUPPORTED) {
            status = TN_OK;
        }
        tn_free(&got);
    }
    tn_file_close(f);
    return status;
}

static tn_status save(const char *path)
{
    return tn_save(path, &t);
}

static tn_status save_many(const char *path)
{
    return tn_save_many(path, 2, (const char *[]){"a", "b"}, (const tn_tensor *[]){&t, &t},
                        NULL);
}

static int data_fd = -1, null_fd = -1; /* a file to read, a place to write */

static tn_status read_descriptor(const char *path)
{
    tn_file *f = NULL;
    tn_tensor got;
    tn_status status = tn_file_open_fd(&f, data_fd, path);
    if (status == TN_OK)
        status = tn_file_read(f, 0, &got);
    if (status == TN_OK)
        tn_free(&got);
    tn_file_close(f);
    return status;
}

static tn_status write_descriptor(const char *path)
{
    tn_writer *w = NULL;
    tn_status status = tn_writer_open_fd(&w, null_fd, path, &t);
    if (status == TN_OK)
        status = tn_writer_put(w, &t);
    if (status == TN_OK)
        return tn_writer_commit(w);
    tn_writer_abort(w);
    return status;
}

static tn_status unpack(const char *path)
{
    tn_file *f = NULL;
    tn_status status = tn_file_open(&f, path);
    if (status == TN_OK)
        status = tn_file_unpack(f, 0, null_fd);
    tn_file_close(f);
    return status;
}

static tn_status progress(void *user, int64_t done)
{
    (void)user;
    (void)done;
    return TN_OK;
}

/* The elements of a file go to another one as they are. */
static tn_status copy(const char *path)
{
    tn_file *f = NULL;
    tn_writer *w = NULL;
    tn_tensor got;
    int64_t at;
    tn_status status = tn_file_open(&f, DATA("c_f32.npy"));
    if (status == TN_OK)
        status = tn_file_info(f, 0, NULL, &got, &at);
    if (status == TN_OK)
        status = tn_writer_open(&w, path, 1, NULL, (const tn_tensor *[]){&got}, NULL);
    if (status == TN_OK)
        status = tni_writer_copy(w, f, at, got.dtype, tn_numel(&got), progress, NULL);
    if (status == TN_OK) {
        status = tn_writer_commit(w);
        w = NULL;
    }
    tn_writer_abort(w);
    tn_file_close(f);
    return status;
}

static tn_status save_with(const char *path, tn_write_options options)
{
    tn_writer *w = NULL;
    tn_status status = tn_writer_open(&w, path, 1, NULL, (const tn_tensor *[]){&t}, &options);
    if (status == TN_OK)
        status = tn_writer_put(w, &t);
    if (status == TN_OK)
        return tn_writer_commit(w);
    tn_writer_abort(w);
    return status;
}

static tn_status save_deflated(const char *path)
{
    return save_with(path, (tn_write_options){.compress = 1});
}

static const struct scenario {
    const char *what;
    tn_status (*run)(const char *path);
    const char *path;
    bool writes;
} scenarios[] = {
    {"read .npy", read_all, DATA("be_f64.npy"), false},
    {"read stored .npz", read_all, DATA("stored.npz"), false},
    {"read deflated .npz", read_all, DATA("deflated.npz"), false},
    {"read .safetensors", read_all, DATA("many.safetensors"), false},
    {"read .gguf", read_all, DATA("some.gguf"), false},
    {"read a descriptor", read_descriptor, "x", false},
    {"write a descriptor", write_descriptor, "x", false},
    {"unpack", unpack, DATA("deflated.npz"), false},
    {"save .npy", save, "x.npy", true},
    {"save .npz", save, "x.npz", true},
    {"save .safetensors", save, "x.safetensors", true},
    {"save deflated .npz", save_deflated, "x.npz", true},
    {"copy .npy", copy, "x.npy", true},
    {"save many .npz", save_many, "x.npz", true},
    {"save many .safetensors", save_many, "x.safetensors", true},
};

/* The file after a call that gave status; want is the new one. */
static void check_written(const struct scenario *s, bool done, const uint8_t *want, size_t n)
{
    bool new = holds(s->path, want, n), old = holds(s->path, (const uint8_t *)"old", 3);
    if (files() != 1 || !(done ? new : renamed ? new : old))
        fail_msg("%s: %s fails: %s, %d files, the file is %s", s->what, failed ? failed : "-",
                 done ? "done" : "refused", files(),
                 old   ? "old"
                 : new ? "new"
                       : "torn");
}

static int fail_each(const struct scenario *s, int error)
{
    uint8_t *want = NULL;
    size_t n = 0;
    if (s->writes) {
        OK(s->run(s->path));
        want = slurp(s->path, &n);
    }
    int k = 0;
    for (bool reached = true; reached; k++) {
        if (s->writes)
            put_old(s->path);
        int before = open_fds();
        arm(k, error);
        tn_status status = s->run(s->path);
        armed = false;
        reached = calls > k;
        if (status != TN_OK && (status != TN_EIO || !reached || !*tn_error()))
            fail_msg("%s: %s: %s", s->what, tn_status_name(status), tn_error());
        if (status != TN_OK && !strstr(tn_error(), strerror(error)))
            fail_msg("%s: %s fails: the reason is not said: %s", s->what, failed, tn_error());
        if (status == TN_OK && failed && error != EINTR && strcmp(failed, "close") != 0)
            fail_msg("%s: %s fails, and nothing reports it", s->what, failed);
        assert_int_equal(open_fds(), before);
        if (s->writes)
            check_written(s, status == TN_OK, want, n);
    }
    if (s->writes)
        unlink(s->path);
    free(want);
    return k - 1;
}

static void each_system_call_of_the_library(void **state)
{
    (void)state;
    int points = 0;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        for (int way = 0; way < 6; way++) {
            no_tmpfile = way >= 3;
            if (scenarios[i].writes || !no_tmpfile)
                points += fail_each(&scenarios[i], troubles[way % 3]);
        }
    no_tmpfile = false;
    printf("%d system calls of the library failed\n", points);
    assert_true(points > 400);
}

/* Cut, every transfer goes on; so does one that is interrupted. */
static void interrupted_and_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const struct scenario *s = &scenarios[i];
        uint8_t *want = NULL;
        size_t n = 0;
        OK(s->run(s->path));
        if (s->writes)
            want = slurp(s->path, &n);
        for (int k = 0, reached = 1; reached; k++) {
            short_transfers = true;
            arm(k, EINTR);
            tn_status status = s->run(s->path);
            armed = short_transfers = false;
            reached = calls > k;
            if (!failed || strstr("pread64 pwrite64 write copy_file_range", failed))
                OK(status);
            if (s->writes && status == TN_OK && !holds(s->path, want, n))
                fail_msg("%s: not the bytes of whole transfers", s->what);
            if (s->writes)
                unlink(s->path);
        }
        free(want);
    }
}

/* A pipe in the way is never replaced, also when the system does not say what it is. */
static void what_cannot_be_looked_at_stays(void **state)
{
    (void)state;
    struct stat s;
    for (int k = 0, reached = 1; reached; k++) {
        assert_int_equal(mkfifo("x.npy", 0600), 0);
        arm(k, EIO);
        tn_status status = tn_save("x.npy", &t);
        armed = false;
        reached = calls > k;
        assert_int_equal(status, TN_EIO);
        assert_true(lstat("x.npy", &s) == 0 && S_ISFIFO(s.st_mode));
        assert_int_equal(files(), 1);
        unlink("x.npy");
    }
}

/* A name for the new file that is taken is tried no more than some times. */
static void names_that_are_taken(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        no_tmpfile = named;
        always = named ? "create" : "linkat";
        arm(-1, EEXIST);
        assert_int_equal(tn_save("x.npy", &t), TN_EIO);
        armed = false;
        assert_non_null(strstr(tn_error(), strerror(EEXIST)));
        assert_true(calls > 50);
        assert_int_equal(files(), 0);
        always = NULL;
        for (int k = 0, reached = 1; reached; k++) { /* the next name is free */
            arm(k, EEXIST);
            tn_status status = tn_save("x.npy", &t);
            armed = false;
            reached = calls > k;
            if (!failed || !strcmp(failed, named ? "create" : "linkat"))
                OK(status);
            unlink("x.npy");
        }
    }
    no_tmpfile = false;
}

/* A folder that cannot be synced holds the new file all the same. */
static void folders_that_cannot_be_synced(void **state)
{
    (void)state;
    int bad = 0;
    for (int k = 0, reached = 1; reached; k++) {
        arm(k, EINVAL);
        tn_status status = tn_save("x.npy", &t);
        armed = false;
        reached = calls > k;
        if (failed && !strcmp(failed, "fsync") && renamed) {
            OK(status);
            bad++;
        }
        unlink("x.npy");
    }
    assert_int_equal(bad, 1);
}

/* The name fits, that of a named temporary file beside it does not. */
static void long_names_without_tmpfile(void **state)
{
    (void)state;
    char path[PATH_MAX];
    for (size_t i = 0; i < PATH_MAX - 8; i++)
        path[i] = i % 2 ? '/' : '.';
    strcpy(path + PATH_MAX - 8, "/xx.npy");
    no_tmpfile = true;
    arm(-1, 0);
    assert_int_equal(tn_save(path, &t), TN_EIO);
    armed = no_tmpfile = false;
    assert_non_null(strstr(tn_error(), strerror(ENAMETOOLONG)));
    assert_int_equal(files(), 0);
}

/* What is there stays; without a rename that refuses to replace, a link does the same. */
static void exclusive_names(void **state)
{
    (void)state;
    const tn_write_options exclusive = {.exclusive = 1};
    for (int links = 0; links < 2; links++) {
        always = links ? "renameat2" : NULL;
        arm(-1, EINVAL);
        OK(save_with("x.npy", exclusive));
        assert_int_equal(save_with("x.npy", exclusive), TN_EIO);
        armed = false;
        assert_non_null(strstr(tn_error(), strerror(EEXIST)));
        assert_int_equal(files(), 1);
        unlink("x.npy");
    }
    no_unlink = true; /* the new file is there, and its temporary name, too */
    arm(-1, ENOSYS);
    assert_int_equal(save_with("x.npy", exclusive), TN_EIO);
    armed = no_unlink = false;
    assert_int_equal(files(), 2);
    arm(-1, EACCES);
    unlink("x.npy");
    assert_int_equal(save_with("x.npy", exclusive), TN_EIO);
    armed = false;
    assert_non_null(strstr(tn_error(), strerror(EACCES)));
    always = NULL;
    assert_int_equal(system("rm -f -- * .[!.]*"), 0);
    assert_int_equal(files(), 0);
}

static int listed;

static bool list_one(void *user, const char *name)
{
    (void)user;
    listed += name[0] != '.';
    return listed < 2;
}

static int no_folder(const char *call, size_t *n)
{
    (void)n;
    return strcmp(call, "opendir") ? 0 : EMFILE;
}

/* A folder is listed until the caller has enough. */
static void folders_are_listed(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        spit((const char *[]){"a", "b", "c"}[i], "x", 1);
    listed = 0;
    assert_int_equal(tni_sys_list(".", list_one, NULL), 0);
    assert_int_equal(listed, 2);
    assert_int_equal(tni_sys_list("none", list_one, NULL), ENOENT);
    tni_sys_hook = no_folder;
    assert_int_equal(tni_sys_list(".", list_one, NULL), EMFILE);
    tni_sys_hook = NULL;
    for (int i = 0; i < 3; i++)
        unlink((const char *[]){"a", "b", "c"}[i]);
}

/* A link that leads to what cannot be looked at. */
static void links_to_what_cannot_be_looked_at(void **state)
{
    (void)state;
    spit("real.npy", "old", 3);
    assert_int_equal(symlink("real.npy", "x.npy"), 0);
    always = "stat64";
    arm(-1, EIO);
    assert_int_equal(tn_save("x.npy", &t), TN_EIO);
    armed = false;
    always = NULL;
    assert_true(holds("real.npy", (const uint8_t *)"old", 3));
    unlink("x.npy");
    unlink("real.npy");
}

static int hooked(const char *call, size_t *n)
{
    (void)n;
    return strcmp(call, "close") ? 0 : ENOSPC;
}

/* The first reason is reported; a read of more than the system takes at a time goes on. */
static void ends_of_files(void **state)
{
    (void)state;
    size_t got = 0;
    char place; /* nothing is put there */
    int fd = __real_open64(DATA("c_u8.npy"), O_RDONLY, 0);
    assert_int_equal(tni_sys_pread(fd, &place, (size_t)3 << 29, 0, &got), 0);
    assert_int_equal(got, (size_t)3 << 29);
    tni_sys_hook = hooked;
    arm(0, EIO);
    assert_int_equal(tni_sys_close(fd), ENOSPC);
    armed = false;
    tni_sys_hook = NULL;
}

static int setup(void **state)
{
    static float numbers[24] = {1, 2, 3};
    strcpy(folder, "/dev/shm/tenon-test-XXXXXX"); /* quick, where it is there */
    data_fd = open(DATA("be_f64.npy"), O_RDONLY);
    null_fd = open("/dev/null", O_WRONLY);
    return (!mkdtemp(folder) && make_folder(state)) || chdir(folder) ||
           tn_init(&t, numbers, TN_F32, 2, (int64_t[]){4, 6}) || tn_transpose(&t, &t, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_system_call_of_the_library),
        cmocka_unit_test(interrupted_and_short),
        cmocka_unit_test(what_cannot_be_looked_at_stays),
        cmocka_unit_test(names_that_are_taken),
        cmocka_unit_test(folders_that_cannot_be_synced),
        cmocka_unit_test(long_names_without_tmpfile),
        cmocka_unit_test(exclusive_names),
        cmocka_unit_test(folders_are_listed),
        cmocka_unit_test(links_to_what_cannot_be_looked_at),
        cmocka_unit_test(ends_of_files),
    };
    return cmocka_run_group_tests(tests, setup, drop_folder);
}
