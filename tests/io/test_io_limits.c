/* test_io_limits.c - sizes at which a format or a sentence changes: the last that passes, the
 * first that does not, and files beyond 4 GiB, whose elements are holes. */
#include "io_oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "io/sys.h"
#include "io/write.h"

static uint64_t number(const uint8_t *at, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)at[i] << 8 * i;
    return x;
}

/* ---- what is written ---- */

/* The bytes of a small .npz, field by field. */
static void npz_bytes(void **state)
{
    (void)state;
    tn_tensor a, b;
    make_golden(&a, TN_F32, 2, (int64_t[]){3, 5});
    make_golden(&b, TN_I16, 1, (int64_t[]){7});
    OK(tn_save_many(in_folder("x.npz"), 2, (const char *const[]){"a", "long name"},
                    (const tn_tensor *const[]){&a, &b}, NULL));
    tn_free(&a);
    tn_free(&b);
    size_t n;
    uint8_t *bytes = slurp(in_folder("x.npz"), &n);
    /* local headers are at 0 and 252, their elements at 192 and 448; the list is at 462 */
    static const struct {
        size_t at;
        int bytes;
        uint64_t value;
    } rows[] = {
        {0, 4, 0x04034b50},   {4, 2, 20},    {6, 2, 1 << 11},     {8, 2, 0},
        {10, 2, 0},           {12, 2, 33},   {18, 4, 188},        {22, 4, 188},
        {26, 2, 5},           {28, 2, 29},   {252, 4, 0x4034b50}, {256, 2, 20},
        {258, 2, 2048},       {260, 2, 0},   {262, 4, 33 << 16},  {270, 4, 142},
        {274, 4, 142},        {278, 2, 13},  {280, 2, 25},        {462, 4, 0x02014b50},
        {466, 2, 0},          {468, 2, 20},  {470, 2, 2048},      {472, 2, 0},
        {474, 4, 33 << 16},   {482, 4, 188}, {486, 4, 188},       {490, 2, 5},
        {492, 8, 0},          {500, 4, 0},   {504, 4, 0},         {555, 4, 252},
        {572, 4, 0x06054b50},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (number(bytes + rows[i].at, rows[i].bytes) != rows[i].value)
            fail_msg("byte %zu: %llu", rows[i].at,
                     (unsigned long long)number(bytes + rows[i].at, rows[i].bytes));
    free(bytes);
    unlink(in_folder("x.npz"));
}

/* A .npz of a tensor of n bytes that are a hole, but for the last, and of one behind it. */
static void save_hole(int64_t n)
{
    tn_tensor a, b, last;
    tn_writer *w = NULL;
    uint8_t x = 7;
    OK(tn_init(&a, NULL, TN_U8, 1, &n));
    OK(tn_init(&b, &x, TN_U8, 0, NULL));
    OK(tn_init(&last, &x, TN_U8, 1, (int64_t[]){1}));
    OK(tn_writer_open(&w, in_folder("x.npz"), 2, (const char *const[]){"a", "b"},
                      (const tn_tensor *const[]){&a, &b}, &(tn_write_options){.no_sync = 1}));
    w->at += n - 1;
    w->left -= n - 1;
    OK(tn_writer_put(w, &last));
    OK(tn_writer_put(w, &b));
    OK(tn_writer_commit(w));
}

/* Numbers that 32 bits do not hold, or that are all ones in them, stand in extra fields of 64
 * bits, in the local header, in the list and at the end. */
static void members_beyond_32_bits(void **state)
{
    (void)state;
    if (sizeof(size_t) < 8)
        skip();
    for (int64_t wide = 0; wide < 2; wide++) {
        const int64_t n = UINT32_MAX - 1 + wide - 128; /* 128: the header of .npy */
        save_hole(n);
        tn_file *f = NULL;
        tn_tensor t;
        int64_t first, second;
        OK(tn_file_open(&f, in_folder("x.npz")));
        assert_int_equal(tn_file_count(f), 2);
        OK(tn_file_info(f, 0, NULL, &t, &first));
        assert_int_equal(t.shape[0], n);
        assert_int_equal(first, 192);
        OK(tn_file_info(f, 1, NULL, NULL, &second));
        assert_int_equal(second, 4294967552);
        OK(tn_file_read(f, 1, &t));
        assert_int_equal(*(uint8_t *)t.data, 7);
        tn_free(&t);
        tn_file_close(f);

        uint8_t head[64], tail[400];
        const int fd = open(in_folder("x.npz"), O_RDONLY);
        const int64_t size = lseek(fd, 0, SEEK_END), list = second + 1;
        assert_int_equal(pread(fd, head, sizeof head, 0), sizeof head);
        const ssize_t rest = pread(fd, tail, sizeof tail, list);
        close(fd);
        unlink(in_folder("x.npz"));
        assert_int_equal(rest, size - list);
        assert_int_equal(number(head + 4, 2), wide ? 45 : 20);
        assert_int_equal(number(head + 18, 4), UINT32_MAX - 1 + wide);
        assert_int_equal(number(head + 22, 4), UINT32_MAX - 1 + wide);
        if (wide) {
            assert_int_equal(number(head + 35, 4), 1 | 16 << 16);
            assert_int_equal(number(head + 39, 8), UINT32_MAX);
            assert_int_equal(number(head + 47, 8), UINT32_MAX);
        }
        const uint8_t *at = tail; /* the record of a */
        assert_int_equal(number(at + 6, 2), wide ? 45 : 20);
        assert_int_equal(number(at + 30, 2), wide ? 20 : 0);
        if (wide) {
            assert_int_equal(number(at + 51, 4), 1 | 16 << 16);
            assert_int_equal(number(at + 55, 8), UINT32_MAX);
            assert_int_equal(number(at + 63, 8), UINT32_MAX);
        }
        at += 51 + 20 * wide; /* that of b, which begins beyond 32 bits */
        assert_int_equal(number(at, 4), 0x02014b50);
        assert_int_equal(number(at + 6, 2), 45);
        assert_int_equal(number(at + 20, 4), 129);
        assert_int_equal(number(at + 30, 2), 12);
        assert_int_equal(number(at + 42, 4), UINT32_MAX);
        assert_int_equal(number(at + 51, 4), 1 | 8 << 16);
        assert_int_equal(number(at + 55, 8), 63 + (int64_t)UINT32_MAX + wide);
        at += 51 + 12; /* the long end record, its locator, the end record */
        assert_int_equal(number(at, 4), 0x06064b50);
        assert_int_equal(number(at + 4, 8), 44);
        assert_int_equal(number(at + 12, 4), 45 | 45 << 16);
        assert_int_equal(number(at + 16, 8), 0);
        assert_int_equal(number(at + 24, 8), 2);
        assert_int_equal(number(at + 32, 8), 2);
        assert_int_equal(number(at + 40, 8), at - tail);
        assert_int_equal(number(at + 48, 8), list);
        assert_int_equal(number(at + 56, 4), 0x07064b50);
        assert_int_equal(number(at + 60, 4), 0);
        assert_int_equal(number(at + 64, 8), list + (at - tail));
        assert_int_equal(number(at + 72, 4), 1);
        assert_int_equal(number(at + 76, 4), 0x06054b50);
        assert_int_equal(number(at + 80, 4), 0);
        assert_int_equal(number(at + 84, 4), 2 | 2 << 16);
        assert_int_equal(number(at + 88, 4), at - tail);
        assert_int_equal(number(at + 92, 4), UINT32_MAX);
        assert_int_equal(number(at + 96, 2), 0);
        assert_int_equal(at + 98 - tail, rest);
    }
}

/* Up to 65534 members the end record is short; 65535 is what it says when the long one counts
 * them. */
static void members_beyond_16_bits(void **state)
{
    (void)state;
    enum { MOST = 66000 };
    static const int counts[] = {65534, 65535, MOST};
    char(*names)[8] = malloc(MOST * sizeof *names);
    const char **list = malloc(MOST * sizeof *list);
    const tn_tensor **ts = malloc(MOST * sizeof *ts);
    uint8_t x = 7;
    tn_tensor t, got;
    assert_true(names && list && ts);
    OK(tn_init(&t, &x, TN_U8, 0, NULL));
    for (int i = 0; i < MOST; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        list[i] = names[i];
        ts[i] = &t;
    }
    for (int k = 0; k < 3; k++) {
        const int n = counts[k], said = n < UINT16_MAX ? n : UINT16_MAX;
        uint8_t end[98];
        tn_file *f = NULL;
        int64_t last;
        OK(tn_save_many(in_folder("x.npz"), n, list, ts, NULL));
        const int fd = open(in_folder("x.npz"), O_RDONLY);
        assert_int_equal(pread(fd, end, 98, lseek(fd, 0, SEEK_END) - 98), 98);
        close(fd);
        assert_int_equal(number(end + 56, 4) == 0x07064b50, n >= UINT16_MAX);
        assert_int_equal(number(end + 76 + 8, 4), said | (int64_t)said << 16);
        if (n >= UINT16_MAX)
            assert_int_equal(number(end + 24, 8), n);
        OK(tn_file_open(&f, in_folder("x.npz")));
        assert_int_equal(tn_file_count(f), n);
        OK(tn_file_find(f, names[n - 1], &last));
        OK(tn_file_read(f, last, &got));
        assert_same_elements(&got, &t);
        tn_free(&got);
        tn_file_close(f);
        unlink(in_folder("x.npz"));
    }
    free(ts);
    free(list);
    free(names);
}

/* ---- names, paths and lengths ---- */

static void names_of_members(void **state)
{
    (void)state;
    static char name[4002];
    memset(name, 'n', 4001);
    float x = 1;
    tn_tensor t;
    tn_file *f = NULL;
    int64_t at;
    OK(tn_init(&t, &x, TN_F32, 0, NULL));
    const char *list = name;
    const tn_tensor *ts = &t;
    assert_int_equal(tn_save_many(in_folder("x.npz"), 1, &list, &ts, NULL), TN_EARG);
    name[4000] = 0;
    OK(tn_save_many(in_folder("x.npz"), 1, &list, &ts, NULL));
    OK(tn_file_open(&f, in_folder("x.npz")));
    OK(tn_file_find(f, name, &at));
    tn_file_close(f);
    unlink(in_folder("x.npz"));
}

/* A header of .npy whose length takes two bytes. */
static void long_npy_headers(void **state)
{
    (void)state;
    static const char *const names[] = {"x.npy", "x.npz"};
    int64_t shape[64] = {0, 1000000000, 1000000000};
    for (int i = 3; i < 64; i++)
        shape[i] = 1;
    tn_tensor t, got;
    OK(tn_init(&t, NULL, TN_U8, 64, shape));
    for (int k = 0; k < 2; k++) {
        tn_file *f = NULL;
        OK(tn_save(in_folder(names[k]), &t));
        OK(tn_file_open(&f, in_folder(names[k])));
        OK(tn_file_info(f, 0, NULL, &got, NULL));
        assert_same_elements(&got, &t);
        tn_file_close(f);
        unlink(in_folder(names[k]));
    }
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

/* ---- the system ---- */

static int no_nameless(const char *call, size_t *n)
{
    (void)n;
    return strcmp(call, "nameless") == 0 ? EOPNOTSUPP : 0;
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
    tni_sys_hook = no_nameless;
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
            tni_sys_hook = named ? NULL : no_nameless;
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
            tni_sys_hook = named ? no_nameless : NULL;
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
            strstr(tn_error(), ": file ends at byte 200, it had 4128 bytes when opened"));
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
        cmocka_unit_test(npz_bytes),
        cmocka_unit_test(members_beyond_32_bits),
        cmocka_unit_test(members_beyond_16_bits),
        cmocka_unit_test(names_of_members),
        cmocka_unit_test(long_npy_headers),
        cmocka_unit_test(lengths_of_members),
        cmocka_unit_test(lengths_of_all),
        cmocka_unit_test(order_of_tensors),
        cmocka_unit_test(short_paths),
        cmocka_unit_test(temporary_names),
        cmocka_unit_test(targets_fit),
        cmocka_unit_test(descriptor_zero),
        cmocka_unit_test(a_shorter_file),
        cmocka_unit_test(a_shorter_file_that_is_mapped),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
