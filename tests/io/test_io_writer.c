/* test_io_writer.c - what a writer refuses, the order and the lengths of tensors, the layout of
 * a file before it is written, and where its temporary file is. */
#include "io_fail.h"
#include "io_oracle.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

#include "io/write.h"

static void writers_name_what_is_missing(void **state)
{
    (void)state;
    float x[4] = {0};
    tn_tensor t, broken;
    tn_writer *w = NULL;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){4}));
    broken = t;
    broken.ndim = 65;
    const tn_tensor *ts[] = {&t, &t, &t}, *bad[] = {&t, &broken}, *holes[] = {&t, NULL};
    const char *names[] = {"a", "a", "b"}, *unnamed[] = {"a", NULL};
    const char *path = in_folder("x.npz");
    assert_int_equal(tn_writer_open(&w, path, 2, unnamed, ts, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "writer_open: name 1 is NULL");
    assert_int_equal(tn_writer_open(&w, path, 2, names, holes, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "writer_open: tensor 1 is NULL");
    assert_int_equal(tn_writer_open(&w, path, 2, names, bad, NULL), TN_EARG);
    assert_string_equal(tn_error(), "writer_open: tensor 1: ndim 65 is out of range [0, 64]");
    assert_int_equal(tn_writer_open(&w, path, 3, names, ts, NULL), TN_EARG);
    assert_non_null(strstr(tn_error(), "two tensors are named \"a\""));
    assert_int_equal(tn_save_many(path, 2, names, holes, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "save_many: tensor 1 is NULL");
    assert_int_equal(tn_save_many(path, 2, unnamed, ts, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "save_many: name 1 is NULL");
    assert_int_equal(tn_save_many(path, -1, names, ts, NULL), TN_EARG);
    assert_string_equal(tn_error(), "save_many: n: negative, got -1");
    assert_int_equal(tn_save_many(path, 2, names, bad, NULL), TN_EARG);
    assert_string_equal(tn_error(), "save_many: tensor 1: ndim 65 is out of range [0, 64]");
    assert_int_equal(tn_save(in_folder("x.npy"), &broken), TN_EARG);
    assert_string_equal(tn_error(), "save: t: ndim 65 is out of range [0, 64]");
    const tn_write_options wide = {.align = (1 << 20) + 1}, most = {.align = 1 << 20};
    const tn_write_options minus = {.align = -1}, future = {.reserved = {x}};
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, &wide), TN_EARG);
    assert_string_equal(tn_error(),
                        "writer_open: options: align: got 1048577, expected 0 to 2^20");
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, &minus), TN_EARG);
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, &future), TN_EARG);
    assert_string_equal(tn_error(), "writer_open: options: reserved[0] is not NULL");
    assert_int_equal(tn_writer_open_fd(&w, 1, "-", &broken), TN_EARG);
    assert_string_equal(tn_error(),
                        "writer_open_fd: tensor 0: ndim 65 is out of range [0, 64]");
    assert_null(w);
    OK(tn_writer_open(&w, in_folder("x.safetensors"), 1, names, ts, &most));
    assert_int_equal(tn_writer_put(w, &broken), TN_EARG);
    OK(tn_writer_put(w, &t));
    OK(tn_writer_commit(w));
    tn_file *f = NULL;
    int64_t offset = 0;
    OK(tn_file_open(&f, in_folder("x.safetensors")));
    OK(tn_file_info(f, 0, NULL, NULL, &offset));
    assert_int_equal(offset, 1 << 20);
    tn_file_close(f);
    unlink(in_folder("x.safetensors"));
}

static int tmpfile_error, link_error;

static int refuse(const char *call, size_t *n)
{
    (void)n;
    return !strcmp(call, "tmpfile") ? tmpfile_error : !strcmp(call, "link") ? link_error : 0;
}

static void file_systems_without_tmpfile(void **state)
{
    (void)state;
    static const int errors[] = {EOPNOTSUPP, EISDIR, EINVAL};
    float x[2] = {1, 2};
    tn_tensor t;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){2}));
    tni_sys_hook = refuse;
    for (int i = 0; i < 3; i++) {
        tmpfile_error = errors[i];
        OK(tn_save(in_folder("x.npy"), &t));
        assert_int_equal(unlink(in_folder("x.npy")), 0);
        assert_int_equal(tn_save(in_folder("none/x.npy"), &t), TN_EIO);
    }
    tmpfile_error = EACCES;
    assert_int_equal(tn_save(in_folder("x.npy"), &t), TN_EIO);
    assert_non_null(strstr(tn_error(), "Permission denied"));
    tmpfile_error = 0;
    link_error = EPERM;
    assert_int_equal(tn_save(in_folder("x.npy"), &t), TN_EIO);
    assert_non_null(strstr(tn_error(), "Operation not permitted"));
    link_error = 0;
    tni_sys_hook = NULL;
    assert_int_equal(access(in_folder("x.npy"), F_OK), -1);
    assert_int_equal(tni_sys_close(-1), EBADF);
}

/* Tensors without elements are left when they are entered; each write may fail. */
static void empty_tensors_fail_too(void **state)
{
    (void)state;
    tn_tensor none, one;
    float x = 1;
    OK(tn_init(&none, NULL, TN_F32, 1, (int64_t[]){0}));
    OK(tn_init(&one, &x, TN_F32, 0, NULL));
    for (int k = 0, more = 1; more; k++) {
        arm("write", k);
        tn_status status = tn_save_many(in_folder("x.npz"), 3, (const char *[]){"a", "b", "c"},
                                        (const tn_tensor *[]){&none, &one, &none}, NULL);
        tni_sys_hook = NULL;
        more = seen > k;
        assert_int_equal(status, more ? TN_EIO : TN_OK);
        assert_int_equal(access(in_folder("x.npz"), F_OK), more ? -1 : 0);
    }
    unlink(in_folder("x.npz"));
}

static void sizes_that_do_not_fit(void **state)
{
    (void)state;
    const int64_t most = INT64_MAX - 100;
    tn_tensor t;
    tn_writer *w = NULL;
    OK(tn_init(&t, NULL, TN_U8, 1, &most));
    const tn_tensor *two[] = {&t, &t};
    const char *names[] = {"a", "b"};
    assert_int_equal(tn_writer_open(&w, in_folder("x.npz"), 1, names, two, NULL), TN_EOVERFLOW);
    assert_int_equal(tn_writer_open(&w, in_folder("x.safetensors"), 2, names, two, NULL),
                     TN_EOVERFLOW);
    assert_null(w);
}

static void long_targets_are_refused(void **state)
{
    (void)state;
    char target[PATH_MAX] = "as before";
    const char *path = in_folder("x.npy");
    assert_int_equal(tni_sys_target(path, target, strlen(path)), ENAMETOOLONG);
    assert_string_equal(target, "as before");
    assert_int_equal(tni_sys_target(path, target, strlen(path) + 1), 0);
    assert_string_equal(target, path);
}

/* A tensor and its header together have at most INT64_MAX bytes. */
static void lengths_of_members(void **state)
{
    (void)state;
    tn_writer *w = NULL;
    for (int more = 0; more < 2; more++) {
        const int64_t n = INT64_MAX - 128 + more;
        tn_tensor t;
        OK(tn_init(&t, NULL, TN_U8, 1, &n));
        const tn_tensor *ts = &t;
        assert_int_equal(tn_writer_open(&w, in_folder("x.npz"), 1, NULL, &ts, NULL),
                         more ? TN_EOVERFLOW : TN_OK);
        if (!more)
            tn_writer_abort(w);
    }
    assert_int_equal(access(in_folder("x.npz"), F_OK), -1);
}

/* In .safetensors the lengths together fit 64 bits, too. */
static void lengths_of_all(void **state)
{
    (void)state;
    tn_writer *w = NULL;
    tn_tensor t[2];
    OK(tn_init(&t[0], NULL, TN_U8, 1, (int64_t[]){INT64_MAX - 3}));
    for (int64_t n = 3; n <= 4; n++) {
        OK(tn_init(&t[1], NULL, TN_U8, 1, &n));
        assert_int_equal(tn_writer_open(&w, in_folder("x.safetensors"), 2,
                                        (const char *const[]){"a", "b"},
                                        (const tn_tensor *const[]){&t[0], &t[1]}, NULL),
                         n == 3 ? TN_OK : TN_EOVERFLOW);
        if (n == 3)
            tn_writer_abort(w);
    }
}

/* Tensors keep the order of the call; in .safetensors wider ones come first. */
static void order_of_tensors(void **state)
{
    (void)state;
    enum { N = 5 };
    static const tn_dtype dtypes[N] = {TN_I16, TN_F64, TN_I16, TN_U64, TN_F16};
    static const char *const names[N] = {"d", "e", "b", "c", "a"};
    static const struct {
        const char *path, *order;
        tn_status status;
    } rows[] = {{"x.npz", "debca", TN_OK},
                {"x.safetensors", "ecdba", TN_OK},
                {".safetensors", "ecdba", TN_OK},
                {"x.npy", "", TN_EUNSUPPORTED}};
    double x = 1;
    tn_tensor t[N];
    const tn_tensor *ts[N];
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    for (int i = 0; i < N; i++) {
        OK(tn_init(&t[i], &x, dtypes[i], 0, NULL));
        ts[i] = &t[i];
    }
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tn_file *f = NULL;
        assert_int_equal(tn_save_many(rows[k].path, N, names, ts, NULL), rows[k].status);
        if (rows[k].status != TN_OK)
            continue;
        OK(tn_file_open(&f, rows[k].path));
        for (int i = 0; i < N; i++)
            assert_int_equal(tn_file_name(f, i)[0], rows[k].order[i]);
        tn_file_close(f);
        unlink(rows[k].path);
    }
    assert_int_equal(chdir(before), 0);
}

/* A name that is nothing but its suffix is one; so is one without a folder. */
static void short_paths(void **state)
{
    (void)state;
    static const char *const names[] = {".npy", ".npz", ".safetensors", "x.npy"};
    static const struct {
        const char *name;
        tn_status status;
    } refused[] = {{"npy", TN_EUNSUPPORTED}, {"", TN_EUNSUPPORTED}, {"/.npy/x.npy", TN_EIO}};
    char before[4096];
    float x = 1;
    tn_tensor t, got;
    OK(tn_init(&t, &x, TN_F32, 0, NULL));
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tn_file *f = NULL;
        OK(tn_save(names[i], &t));
        OK(tn_file_open(&f, names[i]));
        OK(tn_file_read(f, 0, &got));
        assert_same_elements(&got, &t);
        tn_free(&got);
        tn_file_close(f);
        assert_int_equal(unlink(in_folder(names[i])), 0);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_int_equal(tn_save(refused[i].name, &t), refused[i].status);
    assert_int_equal(chdir(before), 0);
}

static int no_tmpfile(const char *call, size_t *n)
{
    (void)n;
    return strcmp(call, "tmpfile") == 0 ? EOPNOTSUPP : 0;
}

/* Make or remove the files that temporary names [from, to) would be. */
static void occupy(const char *name, unsigned from, unsigned to, bool make)
{
    const int stem = (int)(strrchr(name, '-') - name);
    for (unsigned i = from; i < to; i++) {
        char other[256];
        snprintf(other, sizeof other, "%.*s-%u.tmp", stem, name, i);
        if (make)
            spit(other, "", 0);
        else
            unlink(other);
    }
}

/* A hundred names are tried for a temporary file, or for one that had none. */
static void temporary_names(void **state)
{
    (void)state;
    const char *path = in_folder("x.npy");
    char target[256], name[256], next[256];
    int fd;
    strcpy(target, path);
    tni_sys_hook = no_tmpfile;
    assert_int_equal(tni_sys_temp(target, name, sizeof name, &fd), 0);
    close(fd);
    unlink(name);
    const size_t room = strlen(name);
    assert_int_equal(tni_sys_temp(target, next, room, &fd), ENAMETOOLONG);
    assert_string_equal(next, "");
    unsigned last = (unsigned)strtoul(strrchr(name, '-') + 1, NULL, 10) + 1;
    for (int named = 0; named < 2; named++)
        for (unsigned taken = 99; taken <= 100; taken++) {
            int error;
            tni_sys_hook = named ? NULL : no_tmpfile;
            if (named)
                assert_int_equal(tni_sys_temp(target, next, sizeof next, &fd), 0);
            occupy(name, last + 1, last + 1 + taken, true);
            error = named ? tni_sys_publish(fd, next, sizeof next, target, false, false)
                          : tni_sys_temp(target, next, sizeof next, &fd);
            assert_int_equal(error, taken < 100 ? 0 : EEXIST);
            assert_int_equal(next[0] == 0, named || taken == 100);
            occupy(name, last + 1, last + 1 + taken, false);
            if (named || taken < 100)
                close(fd);
            if (!named && taken < 100)
                unlink(next);
            last += taken < 100 ? taken + 1 : taken;
        }
    unlink(target);
    tni_sys_hook = NULL;
}

static void targets_fit(void **state)
{
    (void)state;
    char path[256], target[256];
    strcpy(path, in_folder("none.npy"));
    const size_t n = strlen(path);
    assert_int_equal(tni_sys_target(path, target, n + 1), 0);
    assert_string_equal(target, path);
    assert_int_equal(tni_sys_target(path, target, n), ENAMETOOLONG);
}

/* The descriptor 0 is one like another, and is given back. */
static void descriptor_zero(void **state)
{
    (void)state;
    static const char *const names[] = {"x.npy", "x.npz", "x.safetensors"};
    float x = 1;
    tn_tensor t, got;
    const int in = open("/dev/null", O_RDONLY), before = dup(0);
    OK(tn_init(&t, &x, TN_F32, 0, NULL));
    for (int named = 0; named < 2; named++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            tn_file *f = NULL;
            close(0);
            tni_sys_hook = named ? no_tmpfile : NULL;
            OK(tn_save(in_folder(names[i]), &t));
            assert_int_equal(fcntl(0, F_GETFD), -1);
            tn_writer *w = NULL;
            const tn_tensor *ts = &t;
            OK(tn_writer_open(&w, in_folder(names[i]), 1, NULL, &ts, NULL));
            assert_int_not_equal(fcntl(0, F_GETFD), -1);
            tn_writer_abort(w);
            assert_int_equal(fcntl(0, F_GETFD), -1);
            dup2(in, 0); /* free again when the folder is opened */
            OK(tn_writer_open(&w, in_folder(names[i]), 1, NULL, &ts, NULL));
            OK(tn_writer_put(w, &t));
            close(0);
            OK(tn_writer_commit(w));
            assert_int_equal(fcntl(0, F_GETFD), -1);
            tni_sys_hook = NULL;
            OK(tn_file_open(&f, in_folder(names[i])));
            OK(tn_file_read(f, 0, &got));
            assert_same_elements(&got, &t);
            tn_free(&got);
            tn_file_close(f);
            assert_int_equal(fcntl(0, F_GETFD), -1);
            assert_int_equal(tn_file_open(&f, in_folder("none")), TN_EIO);
            unlink(in_folder(names[i]));
        }
    close(in);
    if (before >= 0) {
        dup2(before, 0);
        close(before);
    }
}

/* ---- the layout of a file that others write ---- */

/* The header is the one that the file would have, as much of it as fits; so are the offsets. */
static void layouts_are_those_of_files(void **state)
{
    (void)state;
    static const char *const paths[] = {"x.npy", "x.safetensors"};
    tn_tensor a, b;
    make_golden(&a, TN_F32, 2, (int64_t[]){3, 5});
    make_golden(&b, TN_I16, 1, (int64_t[]){7});
    const tn_tensor *ts[] = {&a, &b};
    const char *names[] = {"a", "b"};
    for (int k = 0; k < 2; k++) {
        const int n = k + 1;
        const tn_write_options options = {.align = k ? 64 : 0};
        uint8_t header[4096], part[10];
        int64_t bytes = 0, some = 0, offsets[2];
        size_t size;
        OK(tn_writer_layout(paths[k], n, names, ts, k ? &options : NULL, header, sizeof header,
                            &bytes, offsets));
        OK(tn_writer_layout(paths[k], n, names, ts, k ? &options : NULL, part, sizeof part,
                            &some, offsets));
        assert_int_equal(some, bytes);
        assert_memory_equal(part, header, sizeof part);
        OK(tn_writer_layout(paths[k], n, names, ts, k ? &options : NULL, NULL, 0, &some,
                            offsets));
        tn_writer *w = NULL;
        OK(tn_writer_open(&w, in_folder(paths[k]), n, names, ts, k ? &options : NULL));
        for (int i = 0; i < n; i++)
            OK(tn_writer_put(w, ts[i]));
        OK(tn_writer_commit(w));
        uint8_t *whole = slurp(in_folder(paths[k]), &size);
        assert_memory_equal(whole, header, (size_t)bytes);
        free(whole);
        tn_file *f = NULL;
        OK(tn_file_open(&f, in_folder(paths[k])));
        for (int i = 0; i < n; i++) {
            int64_t at, index = 0;
            if (n > 1)
                OK(tn_file_find(f, names[i], &index));
            OK(tn_file_info(f, index, NULL, NULL, &at));
            assert_int_equal(offsets[i], at);
        }
        tn_file_close(f);
        unlink(in_folder(paths[k]));
    }
    tn_free(&a);
    tn_free(&b);
}

static void layouts_that_are_refused(void **state)
{
    (void)state;
    uint8_t header[64];
    float x = 1;
    tn_tensor t;
    int64_t bytes = 7, offset = 7;
    OK(tn_init(&t, &x, TN_F32, 0, NULL));
    const tn_tensor *ts[] = {&t};
    static const struct {
        const char *path, *sentence;
        int n;
        bool header, bytes, offsets;
        tn_status status;
    } rows[] = {
        {NULL, "writer_layout: path is NULL", 1, true, true, true, TN_ENULL},
        {"x.npy", "writer_layout: bytes is NULL", 1, true, false, true, TN_ENULL},
        {"x.npy", "writer_layout: header is NULL", 1, false, true, true, TN_ENULL},
        {"x.npy", "writer_layout: offsets is NULL", 1, true, true, false, TN_ENULL},
        {"x.npy", "writer_layout: n: negative, got -1", -1, true, true, true, TN_EARG},
        {"x.txt", NULL, 1, true, true, true, TN_EUNSUPPORTED},
        {"x.npz", NULL, 1, true, true, true, TN_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(tn_writer_layout(rows[i].path, rows[i].n, NULL, ts, NULL,
                                          rows[i].header ? header : NULL, sizeof header,
                                          rows[i].bytes ? &bytes : NULL,
                                          rows[i].offsets ? &offset : NULL),
                         rows[i].status);
        if (rows[i].sentence)
            assert_string_equal(tn_error(), rows[i].sentence);
    }
    const tn_write_options refused[] = {{.align = -1}, {.align = 1 << 21}, {.reserved = {&x}}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_int_equal(tn_writer_layout("x.safetensors", 1, NULL, ts, &refused[i], header,
                                          sizeof header, &bytes, &offset),
                         TN_EARG);
    assert_true(bytes == 7 && offset == 7);
    OK(tn_writer_layout("x.safetensors", 0, NULL, NULL, NULL, NULL, 0, &bytes, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_are_those_of_files),
        cmocka_unit_test(layouts_that_are_refused),
        cmocka_unit_test(writers_name_what_is_missing),
        cmocka_unit_test(file_systems_without_tmpfile),
        cmocka_unit_test(empty_tensors_fail_too),
        cmocka_unit_test(sizes_that_do_not_fit),
        cmocka_unit_test(long_targets_are_refused),
        cmocka_unit_test(lengths_of_members),
        cmocka_unit_test(lengths_of_all),
        cmocka_unit_test(order_of_tensors),
        cmocka_unit_test(short_paths),
        cmocka_unit_test(temporary_names),
        cmocka_unit_test(targets_fit),
        cmocka_unit_test(descriptor_zero),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
