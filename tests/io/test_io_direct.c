/* test_io_direct.c - results appended past the page cache: the bytes are those of the other
 * way, whatever the pieces, their addresses and the refusals of the system. */
#include "io_folder.h"

#include <errno.h>
#include <fcntl.h>

#include "io/io.h"
#include "io/sys.h"
#include "weak_memory.h"

enum { N = 20 << 20 };

static uint8_t *bytes;

static const char *kind;
static int error;
static int64_t seen, from, to; /* calls that fail */

static int hook(const char *call, size_t *n)
{
    (void)n;
    if (strcmp(call, kind) != 0)
        return 0;
    const int64_t now = seen++;
    return now >= from && now < to ? error : 0;
}

static void refuse(const char *call, int with, int64_t first, int64_t end)
{
    kind = call;
    error = with;
    from = first;
    to = end;
    seen = 0;
    tni_sys_hook = call ? hook : NULL;
}

static tn_status open_writer(tn_writer **w, const char *path, int64_t n)
{
    tn_tensor t;
    OK(tn_init(&t, NULL, TN_U8, 1, &n));
    return tn_writer_open(w, in_folder(path), 1, NULL, (const tn_tensor *[]){&t},
                          &(tn_write_options){.no_sync = true});
}

/* n bytes in pieces, from memory at `skew` bytes past what the file has there modulo a
 * block. */
static tn_status put_pieces(tn_writer *w, int64_t n, int64_t piece, int64_t skew, char *memory)
{
    tn_status status = TN_OK;
    for (int64_t at = 0; at < n && status == TN_OK; at += piece) {
        tn_tensor t;
        const int64_t now = n - at < piece ? n - at : piece;
        char *data = memory + (tni_writer_position(w) + skew) % TNI_DISK_BLOCK;
        memcpy(data, bytes + at, (size_t)now);
        OK(tn_init(&t, data, TN_U8, 1, &now));
        status = tn_writer_put(w, &t);
    }
    return status;
}

/* Write n bytes directly; the file then holds them, or the failure is TN_EIO. */
static tn_status write_direct(int64_t n, int64_t piece, int64_t skew)
{
    tn_writer *w = NULL;
    char *memory = aligned_alloc(TNI_DISK_BLOCK, (size_t)(piece + 2 * TNI_DISK_BLOCK) &
                                                     ~(size_t)(TNI_DISK_BLOCK - 1));
    OK(open_writer(&w, "x.npy", n));
    const int64_t first = tni_writer_position(w);
    OK(tni_writer_reserve(w, n));
    const bool direct = tni_writer_begin_direct(w);
    assert_false(tni_writer_begin_direct(w) && direct);
    tn_status status = put_pieces(w, n, piece, skew, memory);
    if (status == TN_OK)
        assert_int_equal(tni_writer_position(w), first + n);
    tn_status end = tni_writer_end_direct(w, status == TN_OK);
    status = status == TN_OK ? end : status;
    free(memory);
    if (status != TN_OK) {
        tn_writer_abort(w);
        assert_int_equal(files_in_folder(), 0);
        return status;
    }
    OK(tn_writer_commit(w));
    size_t got;
    uint8_t *file = slurp(in_folder("x.npy"), &got);
    assert_int_equal(got, n + 128);
    assert_memory_equal(file + 128, bytes, (size_t)n);
    free(file);
    clean();
    return TN_OK;
}

static void every_piece(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1,        100,          3967,    3968,    3969,
                                    4096 * 3, 4096 * 5 - 7, 1 << 20, 9000001, N};
    static const int64_t pieces[] = {1000, 4096, 40960, 4096 * 3 + 1, 5 << 20, N};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++)
            for (int64_t skew = 0; skew < 2; skew++)
                OK(write_direct(sizes[i], pieces[k], skew));
}

static void systems_that_refuse(void **state)
{
    (void)state;
    for (int64_t k = 0; k < 12; k++) { /* for good, or in between */
        refuse("direct", EINVAL, k, INT64_MAX);
        OK(write_direct(9000001, 3 << 20, k % 2));
        refuse("direct", EINVAL, k, k + 1);
        OK(write_direct(9000001, 3 << 20, k % 2));
    }
    for (int64_t k = 1; k < 5; k++) /* the first write is the header's */
        for (int64_t skew = 0; skew < 2; skew++) {
            refuse("write", EIO, k, k + 1);
            const tn_status status = write_direct(9000001, 3 << 20, skew);
            assert_int_equal(status, seen > k ? TN_EIO : TN_OK);
        }
    refuse("write", EIO, 1, 2); /* all bytes are held until the end */
    assert_int_equal(write_direct(100, 100, 1), TN_EIO);
    refuse("write", EIO, 2, 3);
    assert_int_equal(write_direct(4096 * 3, 1000, 1), TN_EIO);
    refuse(NULL, 0, 0, 0);
}

/* A disk that is full, by each of its names; a system without the call goes on. */
static void space_is_taken_first(void **state)
{
    (void)state;
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG, EOPNOTSUPP};
    for (int i = 0; i < 4; i++) {
        tn_writer *w = NULL;
        OK(open_writer(&w, "x.npy", 1000));
        refuse("fallocate", errors[i], 0, 1);
        const tn_status status = tni_writer_reserve(w, 1000);
        refuse(NULL, 0, 0, 0);
        assert_int_equal(status, i < 3 ? TN_EIO : TN_OK);
        if (i < 3)
            assert_non_null(strstr(tn_error(), "x.npy: no space for 1000 bytes: "));
        tn_writer_abort(w);
    }
}

/* Pipes, archives and layouts are written in order and through the page cache. */
static void writers_that_have_no_such_way(void **state)
{
    (void)state;
    tn_writer *w = NULL;
    tn_tensor t;
    OK(tn_init(&t, bytes, TN_U8, 1, (int64_t[]){100}));
    OK(open_writer(&w, "x.npz", 100));
    OK(tni_writer_reserve(w, 100));
    assert_false(tni_writer_begin_direct(w));
    tn_writer_abort(w);
    int fd = open("/dev/null", O_WRONLY);
    OK(tn_writer_open_fd(&w, fd, "pipe", &t));
    OK(tni_writer_reserve(w, 100));
    assert_false(tni_writer_begin_direct(w));
    tn_writer *s = NULL;
    OK(tni_writer_open_scratch(&s, w, 1, (const char *[]){"a"}, (const tn_tensor *[]){&t}));
    tn_writer_abort(s);
    refuse("fadvise", EIO, 0, INT64_MAX);
    tni_writer_forget(w);
    assert_int_equal(seen, 0);
    tn_writer_abort(w);
    close(fd);
    /* what the page cache is to forget: of a file, of a set, of a result */
    tn_file *f = NULL;
    for (int set = 0; set < 2; set++) {
        OK(tn_file_open(&f, set ? DATA("set") : DATA("c_f32.npy")));
        tni_file_forget(f, 0);
        assert_int_equal(seen, 1 + set);
        tn_file_close(f);
    }
    OK(open_writer(&w, "x.npy", 100));
    tni_writer_forget(w);
    assert_int_equal(seen, 3);
    refuse(NULL, 0, 0, 0);
    tn_writer_abort(w);
}

/* A file without a name, beside another or where temporary files go. */
static void scratch(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "a"};
    tn_tensor t;
    tn_writer *w = NULL, *s = NULL;
    tn_file *f = NULL;
    OK(tn_init(&t, bytes, TN_U8, 1, (int64_t[]){100}));
    const tn_tensor *ts[] = {&t, &t};
    OK(open_writer(&w, "x.npy", 100));
    for (int k = 0; k < 4; k++) {
        if (k & 2) /* a file system without O_TMPFILE: the name is gone at once */
            refuse("tmpfile", EOPNOTSUPP, 0, 1);
        OK(tni_writer_open_scratch(&s, k & 1 ? w : NULL, 1, names, ts));
        refuse(NULL, 0, 0, 0);
        OK(tn_writer_put(s, &t));
        OK(tni_writer_reopen(s, &f));
        tn_tensor got;
        OK(tn_file_read(f, 0, &got));
        assert_same_elements(&got, &t);
        tn_free(&got);
        tn_file_close(f);
        tn_writer_abort(s);
    }
    assert_int_equal(tni_writer_open_scratch(&s, w, 2, names, ts), TN_EARG);
    assert_non_null(strstr(tn_error(), "two tensors are named \"a\""));
    refuse("scratch", EACCES, 0, 1);
    assert_int_equal(tni_writer_open_scratch(&s, w, 1, names, ts), TN_EIO);
    refuse(NULL, 0, 0, 0);
    tn_writer_abort(w);
    assert_int_equal(files_in_folder(), 0);
}

static void without_memory(void **state)
{
    (void)state;
    tn_handle *weak = NULL;
    tn_tensor t;
    OK(tn_init(&t, bytes, TN_U8, 1, (int64_t[]){100}));
    OK(tn_handle_create(&weak, TN_CPU, 0,
                        &(tn_config){.alloc = weak_alloc, .free = weak_free}));
    OK(tn_handle_use(weak));
    for (fail_at = 0;; fail_at++) {
        tn_writer *s = NULL;
        calls = 0;
        tn_status status = tni_writer_open_scratch(&s, NULL, 1, (const char *[]){"a"},
                                                   (const tn_tensor *[]){&t});
        if (status == TN_OK)
            tn_writer_abort(s);
        assert_int_equal(held, 0);
        if (calls <= fail_at)
            break;
        assert_int_equal(status, TN_ENOMEM);
    }
    tn_writer *w = NULL;
    fail_at = -1;
    OK(open_writer(&w, "x.npy", 100));
    for (int k = 0; k < 2; k++) { /* no memory: through the page cache */
        fail_at = calls + k;
        assert_false(tni_writer_begin_direct(w));
    }
    fail_at = -1;
    tn_writer_abort(w);
    assert_int_equal(held, 0);
    OK(tn_handle_use(NULL));
    tn_handle_destroy(weak);
}

/* What is asked for ahead is read as well; whether a file is memory is told for each tensor. */
static void files_are_asked_for_ahead(void **state)
{
    (void)state;
    tn_file *f = NULL;
    tn_tensor t;
    OK(tn_init(&t, bytes, TN_U8, 1, (int64_t[]){N}));
    OK(tn_save(in_folder("x.npy"), &t));
    OK(tn_file_open(&f, in_folder("x.npy")));
    for (int64_t i = -1; i < 2; i++)
        assert_int_equal(tni_file_in_memory(f, i), tni_file_in_memory(f, 0));
    tni_file_ahead(f, 0, 0);
    tni_file_ahead(f, 0, (128 << 10) + 1);
    tn_file_close(f);
    clean();
}

static int make(void **state)
{
    bytes = malloc(N);
    for (int64_t i = 0; i < N; i++)
        bytes[i] = (uint8_t)(i * 13 + (i >> 7));
    return make_folder(state);
}

static int drop(void **state)
{
    free(bytes);
    return drop_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece),
        cmocka_unit_test(systems_that_refuse),
        cmocka_unit_test(space_is_taken_first),
        cmocka_unit_test(writers_that_have_no_such_way),
        cmocka_unit_test(scratch),
        cmocka_unit_test(files_are_asked_for_ahead),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
