/* test_io_open.c - files of no format, paths that name none, missing arguments; two threads
 * that map a file at once, and a file that becomes shorter while it is open. */
#include "io_made.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "io/sys.h"

static void short_files(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *sentence;
    } rows[] = {
        {"\x93NUMP", 5, "x: not a .npy, .npz, .safetensors, .gguf or .pt file"},
        {"\x93NUMPY", 6, "x: not a .npy: shorter than 10 bytes or wrong magic"},
        {"PK\3", 3, "x: not a .npy, .npz, .safetensors, .gguf or .pt file"},
        {"PK\3\4", 4, "x: central directory is missing or damaged"},
        {"PK\5\6", 4, "x: central directory is missing or damaged"},
        {"GGU", 3, "x: not a .npy, .npz, .safetensors, .gguf or .pt file"},
        {"GGUF", 4, "x: header extends past the end of the file at byte 4"},
        {"\1\0\0\0\0\0\0\0", 8, "x: not a .npy, .npz, .safetensors, .gguf or .pt file"},
        {"\1\0\0\0\0\0\0\0[", 9, "x: not a .npy, .npz, .safetensors, .gguf or .pt file"},
        {"\1\0\0\0\0\0\0\0{", 9, "x: header, byte 9: expected a string"},
        {"\2\0\0\0\0\0\0\0{", 9,
         "x: header has 2 bytes, the file has 9; at most 100000000 are supported"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        length = 0;
        add(rows[i].bytes, rows[i].n);
        assert_int_equal(open_made(0, NULL), TN_EFORMAT);
        assert_string_equal(tn_error(), rows[i].sentence);
    }
}

/* Of a long name a sentence shows the last 200 bytes. */
static void long_names_of_files(void **state)
{
    (void)state;
    for (size_t n = 199; n <= 300; n += n < 202 ? 1 : 98) {
        char name[301], want[400];
        tn_file *f = NULL;
        for (size_t i = 0; i < n; i++)
            name[i] = (char)('a' + i % 26);
        name[n] = 0;
        snprintf(want, sizeof want, "%s: not a .npy, .npz, .safetensors, .gguf or .pt file",
                 name + (n > 200 ? n - 200 : 0));
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(tn_file_open_fd(&f, fd, name), TN_EFORMAT);
        assert_string_equal(tn_error(), want);
        assert_int_equal(tn_file_open_fd(&f, -1, name), TN_EIO);
        snprintf(want, sizeof want, "%s: Bad file descriptor", name + (n > 200 ? n - 200 : 0));
        assert_string_equal(tn_error(), want);
    }
}

static void no_file_has_no_facts(void **state)
{
    (void)state;
    tn_file *f = NULL;
    int64_t i = 7;
    int ndim = 7;
    tn_tensor t, dst;
    assert_null(tn_file_format(NULL));
    assert_null(tn_file_metadata(NULL));
    assert_null(tn_file_name(NULL, 0));
    assert_null(tn_file_type(NULL, 0));
    assert_null(tn_file_shape(NULL, 0, &ndim));
    assert_int_equal(tn_file_find(NULL, "a", &i), TN_ENULL);
    assert_string_equal(tn_error(), "file_find: f is NULL");
    assert_int_equal(tn_file_open_fd(NULL, 0, "x"), TN_ENULL);
    assert_string_equal(tn_error(), "file_open_fd: f is NULL");
    assert_int_equal(tn_file_open_fd(&f, 0, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "file_open_fd: name is NULL");
    assert_null(f);
    OK(tn_file_open(&f, DATA("stored.npz")));
    assert_int_equal(tn_file_find(f, NULL, &i), TN_ENULL);
    assert_string_equal(tn_error(), "file_find: name is NULL");
    assert_int_equal(tn_file_find(f, "a", NULL), TN_ENULL);
    assert_string_equal(tn_error(), "file_find: i is NULL");
    assert_null(tn_file_name(f, -1));
    assert_null(tn_file_type(f, tn_file_count(f)));
    assert_null(tn_file_shape(f, -1, &ndim));
    OK(tn_alloc(&dst, TN_F32, 1, (int64_t[]){2}));
    assert_int_equal(tn_file_places(f, -1, &t), TN_EARG);
    assert_int_equal(tn_file_fetch(f, tn_file_count(f), &dst, &dst), TN_EARG);
    assert_int_equal(i, 7);
    assert_int_equal(ndim, 7);
    tn_free(&dst);
    tn_file_close(f);
}

/* Sentences show the end of a long path. */
static void long_paths_are_cut_in_sentences(void **state)
{
    (void)state;
    char path[1000], deep[300];
    tn_tensor t;
    tn_file *f = NULL;
    tn_writer *w = NULL;
    memset(deep, 'd', sizeof deep);
    deep[120] = '/';
    deep[240] = 0;
    strcpy(path, in_folder(""));
    strncat(path, deep, 120);
    assert_int_equal(mkdir(path, 0700), 0);
    strcpy(path, in_folder(deep));
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/x.npy");
    make_golden(&t, TN_F32, 2, (int64_t[]){5, 4});
    assert_int_equal(tn_file_open(&f, path), TN_EIO);
    assert_int_equal(strlen(tn_error()), 200 + strlen(": No such file or directory"));
    assert_non_null(strstr(tn_error(), "/x.npy: No such file or directory"));
    OK(tn_save(path, &t));
    OK(tn_file_open(&f, path));
    tn_file_close(f);
    f = NULL;
    spit(path, "nothing", 7);
    assert_int_equal(tn_file_open(&f, path), TN_EFORMAT);
    assert_int_equal(strlen(tn_error()),
                     200 + strlen(": not a .npy, .npz, .safetensors, .gguf or .pt file"));
    const tn_tensor *ts[] = {&t, &t};
    assert_int_equal(tn_writer_open(&w, path, 2, (const char *[]){"a", "b"}, ts, NULL),
                     TN_EUNSUPPORTED);
    assert_int_equal(strlen(tn_error()), 200 + strlen(": .npy holds one tensor, got 2"));
    unlink(path);
    tn_free(&t);
}

static void paths_that_name_no_file(void **state)
{
    (void)state;
    char path[PATH_MAX + 20];
    float x[2] = {1, 2};
    tn_tensor t;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){2}));
    memset(path, 'x', sizeof path);
    strcpy(path + sizeof path - 5, ".npy");
    assert_int_equal(tn_save(path, &t), TN_EIO);
    assert_non_null(strstr(tn_error(), "File name too long"));
    /* the name fits, that of the temporary file beside it does not */
    snprintf(path, sizeof path, "%s/", folder);
    while (strlen(path) < PATH_MAX - 8)
        strcat(path, "./");
    strcpy(path + PATH_MAX - 8, "/xx.npy");
    assert_int_equal(strlen(path), PATH_MAX - 1);
    assert_int_equal(tn_save(path, &t), TN_EIO);
    assert_non_null(strstr(tn_error(), "File name too long"));
    assert_int_equal(tn_save("y", &t), TN_EUNSUPPORTED);
    assert_int_equal(symlink("nowhere/at/all", in_folder("link.npy")), 0);
    assert_int_equal(tn_save(in_folder("link.npy"), &t), TN_EIO);
    assert_non_null(strstr(tn_error(), "No such file or directory"));
    unlink(in_folder("link.npy"));
}

static tn_file *shared;

static const void *first;

static int map_before(const char *call, size_t *n)
{
    (void)n;
    if (!strcmp(call, "mmap")) {
        tn_tensor t;
        tni_sys_hook = NULL;
        OK(tn_file_map(shared, 0, &t));
        first = t.data;
    }
    return 0;
}

static void one_mapping_stays(void **state)
{
    (void)state;
    uint8_t x[5] = {1, 2, 3, 4, 5};
    tn_tensor t;
    OK(tn_init(&t, x, TN_U8, 1, (int64_t[]){5}));
    OK(tn_save(in_folder("x.npy"), &t));
    OK(tn_file_open(&shared, in_folder("x.npy")));
    tni_sys_hook = map_before;
    OK(tn_file_map(shared, 0, &t));
    assert_null(tni_sys_hook);
    assert_ptr_equal(t.data, first);
    assert_memory_equal(t.data, x, 5);
    tn_file_close(shared);
    unlink(in_folder("x.npy"));
}

/* An error of long ago is not that of a file which has become short. */
static void a_shorter_file(void **state)
{
    (void)state;
    static const int errors[] = {0, EINTR, EACCES};
    tn_tensor t;
    make_golden(&t, TN_F32, 1, (int64_t[]){1000});
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        tn_file *f = NULL;
        tn_tensor got;
        OK(tn_save(in_folder("x.npy"), &t));
        OK(tn_file_open(&f, in_folder("x.npy")));
        assert_int_equal(truncate(in_folder("x.npy"), 200), 0);
        errno = errors[i];
        assert_int_equal(tn_file_read(f, 0, &got), TN_EIO);
        assert_non_null(
            strstr(tn_error(), ": truncated: ends at byte 200, had 4128 bytes when opened"));
        tn_file_close(f);
    }
    unlink(in_folder("x.npy"));
    tn_free(&t);
}

/* Whoever shortens a file that is mapped makes the view fault; fetching reports it. */
static void a_shorter_file_that_is_mapped(void **state)
{
    (void)state;
    const int64_t n = 20000;
    tn_file *f = NULL;
    tn_tensor t, view, places, dst;
    int status = 0;
    make_golden(&t, TN_U8, 1, &n);
    OK(tn_save(in_folder("x.npy"), &t));
    OK(tn_file_open(&f, in_folder("x.npy")));
    OK(tn_file_map(f, 0, &view));
    OK(tn_file_places(f, 0, &places));
    OK(tn_alloc(&dst, TN_U8, 1, &n));
    assert_same_elements(&view, &t);
    assert_int_equal(truncate(in_folder("x.npy"), 200), 0);
    assert_int_equal(tn_file_fetch(f, 0, &dst, &places), TN_EIO);
    OK(tn_flip(&places, &places, 0));
    assert_int_equal(tn_file_fetch(f, 0, &dst, &places), TN_EIO);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGBUS, SIG_DFL);
        _exit(((const volatile uint8_t *)view.data)[n - 1]);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    tn_file_close(f);
    tn_free(&dst);
    tn_free(&t);
    unlink(in_folder("x.npy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_files),
        cmocka_unit_test(long_names_of_files),
        cmocka_unit_test(no_file_has_no_facts),
        cmocka_unit_test(long_paths_are_cut_in_sentences),
        cmocka_unit_test(paths_that_name_no_file),
        cmocka_unit_test(one_mapping_stays),
        cmocka_unit_test(a_shorter_file),
        cmocka_unit_test(a_shorter_file_that_is_mapped),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
