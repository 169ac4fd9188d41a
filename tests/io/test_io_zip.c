/* test_io_zip.c - the records of .npz: numbers of more than 32 bits, lists that say what is not
 * so, members that share bytes, members unpacked
 * to a descriptor.
 *
 * Files of more than 4 GiB are nearly all hole: the writer is moved on where the elements would
 * be. */
#include "io_oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "io/sys.h"
#include "io/write.h"

#define GIB (INT64_C(1) << 30)

static uint64_t number(const uint8_t *at, int n)
{
    uint64_t x = 0;
    for (int i = n - 1; i >= 0; i--)
        x = x << 8 | at[i];
    return x;
}

static void put_number(uint8_t *at, uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = (uint8_t)(x >> 8 * i);
}

/* ---- beyond 4 GiB ---- */

static void put_u8(tn_writer *w, int64_t n, int first)
{
    uint8_t bytes[8];
    tn_tensor t;
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(first + i);
    OK(tn_init(&t, bytes, TN_U8, 1, &n));
    OK(tn_writer_put(w, &t));
}

/* n elements of the present tensor as a hole. */
static void put_hole(tn_writer *w, int64_t n)
{
    w->at += n;
    w->left -= n;
}

static void assert_ends(const tn_file *f, const char *name, int64_t n, int first, int last)
{
    int64_t i, offset;
    tn_tensor t, map;
    OK(tn_file_find(f, name, &i));
    OK(tn_file_info(f, i, NULL, &t, &offset));
    assert_int_equal(t.shape[0], n);
    assert_int_equal(offset % 64, 0);
    OK(tn_file_map(f, i, &map));
    assert_int_equal(*(const uint8_t *)map.data, first);
    assert_int_equal(((const uint8_t *)map.data)[n - 1], last);
}

/* The same file by a second look at its bytes: from the end record to the local headers. */
static void assert_records(int fd, int64_t size, const int64_t *lengths, int n)
{
    uint8_t end[98], raw[512], local[80];
    assert_int_equal(pread(fd, end, 98, size - 98), 98);
    assert_memory_equal(end, "PK\6\6", 4);
    assert_memory_equal(end + 56, "PK\6\7", 4);
    assert_memory_equal(end + 76, "PK\5\6", 4);
    assert_int_equal(number(end + 4, 8), 44);
    assert_int_equal(number(end + 24, 8), n);
    assert_int_equal(number(end + 32, 8), n);
    assert_int_equal(number(end + 64, 8), size - 98);
    assert_int_equal(number(end + 76 + 10, 2), n);
    assert_int_equal(number(end + 76 + 16, 4), UINT32_MAX);
    int64_t at = (int64_t)number(end + 48, 8), bytes = (int64_t)number(end + 40, 8);
    assert_int_equal(at + bytes, size - 98);
    assert_int_equal(pread(fd, raw, (size_t)bytes, at), bytes);
    for (const uint8_t *r = raw, *next; n-- > 0; r = next, lengths++) {
        const uint8_t *extra = r + 46 + number(r + 28, 2), *longs = extra + 4;
        int64_t place = (int64_t)number(r + 42, 4), length = (int64_t)number(r + 24, 4);
        next = extra + number(r + 30, 2);
        assert_int_equal(number(r + 20, 4), length);
        if (length == UINT32_MAX) {
            length = (int64_t)number(longs, 8);
            assert_int_equal(number(longs + 8, 8), length);
            longs += 16;
        }
        if (place == UINT32_MAX) {
            place = (int64_t)number(longs, 8);
            longs += 8;
        }
        assert_ptr_equal(longs > extra + 4 ? longs : extra, next);
        assert_int_equal(number(r + 6, 2), longs > extra + 4 ? 45 : 20);
        assert_int_equal(length, *lengths);
        assert_int_equal(pread(fd, local, sizeof local, place), sizeof local);
        assert_memory_equal(local, "PK\3\4", 4);
        bool wide = length >= UINT32_MAX;
        assert_int_equal(number(local + 18, 4), wide ? UINT32_MAX : length);
        assert_int_equal(number(local + 22, 4), wide ? UINT32_MAX : length);
        if (wide)
            assert_int_equal(number(local + 30 + number(local + 26, 2) + 4, 8), length);
    }
}

/* With a header of 128 bytes "fits" is the longest that 32 bits count. */
static const int64_t shapes[] = {8, UINT32_MAX - 1 - 128, UINT32_MAX - 128, 8};

/* What the end of writing says. */
static tn_status write_long(const char *path)
{
    static const char *const names[] = {"plain", "fits", "long", "last"};
    tn_tensor ts[4];
    const tn_tensor *list[4];
    tn_writer *w = NULL;
    for (int i = 0; i < 4; i++) {
        OK(tn_init(&ts[i], NULL, TN_U8, 1, &shapes[i]));
        list[i] = &ts[i];
    }
    OK(tn_writer_open(&w, path, 4, names, list, &(tn_write_options){.no_sync = true}));
    put_u8(w, 8, 1);
    for (int i = 1; i < 3; i++) {
        put_u8(w, 4, 10 * i);
        put_hole(w, shapes[i] - 8);
        put_u8(w, 4, 10 * i + 4);
    }
    put_u8(w, 8, 31);
    return tn_writer_commit(w);
}

static void members_beyond_4_gib_are_written_and_mapped(void **state)
{
    (void)state;
    const int64_t lengths[] = {136, UINT32_MAX - 1, UINT32_MAX, 136};
    const char *path = in_folder("x.npz");
    tn_file *f = NULL;
    struct stat s;
    if (sizeof(void *) < 8)
        skip();
    OK(write_long(path));
    OK(tn_file_open(&f, path));
    assert_ends(f, "plain", 8, 1, 8);
    assert_ends(f, "fits", shapes[1], 10, 17);
    assert_ends(f, "long", shapes[2], 20, 27);
    assert_ends(f, "last", 8, 31, 38);
    int fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &s), 0);
    assert_true(s.st_size > 8 * GIB - 1024);
    assert_records(fd, s.st_size, lengths, 4);
    close(fd);
    tn_tensor read;
    int64_t i;
    OK(tn_file_find(f, "last", &i));
    OK(tn_file_read(f, i, &read)); /* compares the checksum */
    assert_int_equal(((const uint8_t *)read.data)[7], 38);
    tn_free(&read);
    tn_file_close(f);
    unlink(path);
}

static const char *kind;
static int seen, fail_at;

static int fail_one(const char *call, size_t *n)
{
    (void)n;
    return !strcmp(call, kind) && seen++ == fail_at ? EIO : 0;
}

/* The long records are written last and read first: each of these calls fails once. */
static void long_records_may_fail(void **state)
{
    (void)state;
    const char *path = in_folder("x.npz");
    if (sizeof(void *) < 8)
        skip();
    tni_sys_hook = fail_one;
    kind = "write";
    seen = 0, fail_at = -1;
    OK(write_long(path));
    const int writes = seen;
    kind = "pread";
    for (int k = 0, more = 1; more; k++) {
        tn_file *f = NULL;
        seen = 0, fail_at = k;
        tn_status status = tn_file_open(&f, path);
        more = seen > k;
        assert_int_equal(status, more ? TN_EIO : TN_OK);
        tn_file_close(f);
    }
    unlink(path);
    kind = "write";
    for (int back = 1; back <= 3; back++) { /* end, locator, long end */
        seen = 0, fail_at = writes - back;
        assert_int_equal(write_long(path), TN_EIO);
        assert_int_equal(access(path, F_OK), -1);
    }
    tni_sys_hook = NULL;
}

/* ---- lists that lie ---- */

typedef struct bytes {
    uint8_t at[4096];
    int64_t n;
    uint8_t *records[3], *end;
} bytes;

/* An archive of three small members, and where its records are. */
static bytes *three_members(void)
{
    static bytes b;
    static const char *const names[] = {"a", "b", "c"};
    const char *path = in_folder("x.npz");
    int8_t data[5] = {1, 2, 3, 4, 5};
    tn_tensor t;
    const tn_tensor *ts[] = {&t, &t, &t};
    int found = 0;
    OK(tn_init(&t, data, TN_I8, 1, (int64_t[]){5}));
    OK(tn_save_many(path, 3, names, ts, NULL));
    size_t n;
    uint8_t *got = slurp(path, &n);
    assert_true(n <= sizeof b.at);
    memcpy(b.at, got, n);
    free(got);
    b.n = (int64_t)n;
    for (int64_t i = 0; i + 4 <= b.n; i++) {
        if (!memcmp(b.at + i, "PK\1\2", 4))
            b.records[found++] = b.at + i;
        if (!memcmp(b.at + i, "PK\5\6", 4))
            b.end = b.at + i;
    }
    assert_int_equal(found, 3);
    return &b;
}

static tn_status open_bytes(const bytes *b, tn_file **f)
{
    spit(in_folder("y.npz"), b->at, (size_t)b->n);
    return tn_file_open(f, in_folder("y.npz"));
}

static void assert_refused(const bytes *b, const char *why)
{
    tn_file *f = NULL;
    if (open_bytes(b, &f) != TN_EFORMAT || !strstr(tn_error(), why))
        fail_msg("wanted \"%s\", got \"%s\"", why, tn_error());
    assert_null(f);
}

static void a_list_is_as_long_as_it_says(void **state)
{
    (void)state;
    static const int counts[] = {0, 1, 2, 4, 65535};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        bytes *b = three_members();
        put_number(b->end + 10, (uint64_t)counts[k], 2);
        assert_refused(b, counts[k] > 3 ? "damaged" : "does not have the length it states");
    }
    for (int more = -1; more <= 1; more += 2) {
        bytes *b = three_members();
        put_number(b->end + 12, number(b->end + 12, 4) + (uint64_t)more, 4);
        assert_refused(b, more > 0 ? "damaged" : "does not have the length it states");
    }
}

static void members_share_no_bytes(void **state)
{
    (void)state;
    bytes *b = three_members();
    /* "c" is "a" once more: the same local header under the same name. */
    put_number(b->records[2] + 42, number(b->records[0] + 42, 4), 4);
    b->records[2][46] = 'a';
    b->records[0][46] = 'a';
    assert_refused(b, "overlapping bytes: member \"a.npy\"");

    b = three_members(); /* "b" is so long that it reaches into "c" */
    put_number(b->records[1] + 20, 300, 4);
    put_number(b->records[1] + 24, 300, 4);
    assert_refused(b, "overlapping bytes: member \"c.npy\"");

    b = three_members(); /* "c" reaches into the list */
    put_number(b->records[2] + 20, 134, 4);
    put_number(b->records[2] + 24, 134, 4);
    assert_refused(b, "overlapping bytes: member \"c.npy\"");
}

/* One damaged or unreadable member is named; the others are read. */
static void the_rest_is_read(void **state)
{
    (void)state;
    static const struct {
        int at; /* in the record of "b" */
        uint8_t value;
        tn_status status;
        const char *type, *sentence;
    } rows[] = {
        {42, 1, TN_EFORMAT, "damaged",
         "no local header at the offset in the central directory: "},
        {10, 12, TN_EUNSUPPORTED, "compressed by method 12", "compressed by method 12"},
        {8, 1, TN_EUNSUPPORTED, "encrypted", "encrypted"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tn_file *f = NULL;
        tn_tensor t;
        bytes *b = three_members();
        b->records[1][rows[k].at] = rows[k].value;
        OK(open_bytes(b, &f));
        assert_int_equal(tn_file_count(f), 3);
        assert_string_equal(tn_file_name(f, 1), "b");
        assert_string_equal(tn_file_type(f, 1), rows[k].type);
        assert_int_equal(tn_file_info(f, 1, NULL, NULL, NULL), rows[k].status);
        assert_int_equal(tn_file_read(f, 1, &t), rows[k].status);
        if (!strstr(tn_error(), rows[k].sentence))
            fail_msg("\"%s\"", tn_error());
        for (int i = 0; i < 3; i += 2) {
            OK(tn_file_read(f, i, &t));
            tn_free(&t);
        }
        tn_file_close(f);
    }
    tn_file *f = NULL;
    bytes *b = three_members(); /* a header that lies: the shape of "b" is no tuple */
    uint8_t *local = b->at + number(b->records[1] + 42, 4);
    uint8_t *data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
    memset(data + 20, '!', 8);
    OK(open_bytes(b, &f));
    assert_int_equal(tn_file_info(f, 0, NULL, NULL, NULL), TN_OK);
    assert_int_equal(tn_file_info(f, 1, NULL, NULL, NULL), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), ": member \"b\": header, "));
    tn_file_close(f);
}

/* Deflated on request: the same elements, shorter, with checksums that hold; tensors without
 * elements stay stored. */
static void members_are_deflated(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 1000, 65536, 300000, 1300000};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const char *names[] = {"a", "b"};
        tn_tensor t, even, got;
        tn_file *f = NULL;
        tn_writer *w = NULL;
        int64_t offset;
        OK(tn_alloc(&t, TN_I32, 1, &sizes[k]));
        for (int64_t i = 0; i < sizes[k]; i++)
            ((int32_t *)t.data)[i] = (int32_t)(k < 5 ? i * i % 1000 : i * 2654435761);
        OK(tn_slice(&even, &t, 0, 0, sizes[k], 2));
        OK(tn_writer_open(&w, in_folder("z.npz"), 2, names, (const tn_tensor *[]){&t, &even},
                          &(tn_write_options){.compress = 1}));
        OK(tn_writer_put(w, &t));
        OK(tn_writer_put(w, &even));
        OK(tn_writer_commit(w));
        OK(tn_file_open(&f, in_folder("z.npz")));
        for (int i = 0; i < 2; i++) {
            OK(tn_file_info(f, i, NULL, NULL, &offset));
            assert_int_equal(offset<0, sizes[k]> 0);
            OK(tn_file_read(f, i, &got));
            assert_same_elements(&got, i ? &even : &t);
            tn_free(&got);
        }
        tn_file_close(f);
        tn_free(&t);
    }
    /* one that is given up leaves nothing, in memory or on the disk */
    tn_writer *w = NULL;
    tn_tensor t;
    OK(tn_full(&t, TN_F64, 1, (int64_t[]){1000}, NULL));
    OK(tn_writer_open(&w, in_folder("gone.npz"), 1, NULL, (const tn_tensor *[]){&t},
                      &(tn_write_options){.compress = 1}));
    tn_tensor part;
    OK(tn_slice(&part, &t, 0, 0, 10, 1));
    OK(tn_writer_put(w, &part));
    tn_writer_abort(w);
    assert_int_not_equal(access(in_folder("gone.npz"), F_OK), 0);
    tn_free(&t);
}

/* Lengths of a deflated member that need 64 bits stand in the extra field; the elements would
 * be a hole. */
static void a_long_member_is_deflated(void **state)
{
    (void)state;
    const int64_t n = 4 * GIB + 5;
    uint8_t x = 7;
    tn_tensor t, one;
    tn_writer *w = NULL;
    OK(tn_init(&t, NULL, TN_U8, 1, &n));
    OK(tn_init(&one, &x, TN_U8, 1, (int64_t[]){1}));
    OK(tn_writer_open(&w, in_folder("l.npz"), 1, NULL, (const tn_tensor *[]){&t},
                      &(tn_write_options){.compress = 1, .no_sync = 1}));
    w->left = 1;
    OK(tn_writer_put(w, &one));
    OK(tn_writer_commit(w));
    size_t size;
    uint8_t *bytes = slurp(in_folder("l.npz"), &size);
    const uint8_t *extra = bytes + 30 + number(bytes + 26, 2);
    assert_int_equal(number(bytes + 18, 4), UINT32_MAX);
    assert_int_equal(number(extra, 2), 1);
    assert_int_equal(number(extra + 4, 8), n + 128);
    assert_in_range(number(extra + 12, 8), 20, 300);
    free(bytes);
    unlink(in_folder("l.npz"));
}

/* A name without .npy is kept whole, also one that is shorter than that. */
static void names_of_members(void **state)
{
    (void)state;
    tn_file *f = NULL;
    bytes *b = three_members();
    uint8_t *local = b->at + number(b->records[0] + 42, 4);
    memcpy(local + 30, "a.txt", 5);
    memcpy(b->records[0] + 46, "a.txt", 5);
    local = b->at + number(b->records[1] + 42, 4);
    put_number(local + 26, 1, 2); /* "b", and ".npy" is of the extra field */
    put_number(local + 28, number(local + 28, 2) + 4, 2);
    put_number(b->records[1] + 28, 1, 2);
    put_number(b->records[1] + 30, 4, 2);
    OK(open_bytes(b, &f));
    assert_string_equal(tn_file_name(f, 0), "a.txt");
    assert_string_equal(tn_file_name(f, 1), "b");
    assert_string_equal(tn_file_name(f, 2), "c");
    tn_file_close(f);

    /* a comment makes room for a name of 5000 bytes */
    b = three_members();
    uint8_t *more = calloc(1, (size_t)b->n + 6000);
    assert_non_null(more);
    put_number(b->records[0] + 28, 5000, 2);
    put_number(b->end + 20, 6000, 2);
    memcpy(more, b->at, (size_t)b->n);
    spit(in_folder("y.npz"), more, (size_t)b->n + 6000);
    free(more);
    f = NULL;
    assert_int_equal(tn_file_open(&f, in_folder("y.npz")), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "name is too long"));
}

/* One axis has one order. */
static void the_order_of_one_axis(void **state)
{
    (void)state;
    tn_file *f = NULL;
    tn_tensor t;
    bytes *b = three_members();
    for (int64_t i = 0; i + 5 < b->n; i++)
        if (!memcmp(b->at + i, "False", 5))
            memcpy(b->at + i, "True ", 5);
    OK(open_bytes(b, &f));
    OK(tn_file_map(f, 0, &t));
    assert_true(tn_is_contiguous(&t));
    assert_memory_equal(t.data, "\1\2\3\4\5", 5);
    tn_file_close(f);
}

static void what_cannot_be_unpacked_is_listed(void **state)
{
    (void)state;
    static const struct {
        int flags, method;
        const char *type;
    } cases[] = {
        {1, 0, "encrypted"},
        {0x41, 8, "encrypted"},
        {0x20, 0, "encrypted"},
        {0x2000, 8, "encrypted"},
        {0, 12, "compressed by method 12"},
        {0, 65535, "compressed by method 65535"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        bytes *b = three_members();
        tn_file *f = NULL;
        tn_tensor t;
        int ndim;
        put_number(b->records[1] + 8, (uint64_t)cases[k].flags, 2);
        put_number(b->records[1] + 10, (uint64_t)cases[k].method, 2);
        OK(open_bytes(b, &f));
        assert_int_equal(tn_file_count(f), 3);
        assert_string_equal(tn_file_type(f, 1), cases[k].type);
        assert_null(tn_file_shape(f, 1, &ndim));
        assert_int_equal(tn_file_read(f, 1, &t), TN_EUNSUPPORTED);
        OK(tn_file_read(f, 2, &t));
        tn_free(&t);
        tn_file_close(f);
    }
}

/* ---- unpacking to a descriptor ---- */

static int temporary(void)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    int fd = dup(fileno(f));
    assert_true(fd >= 0);
    fclose(f);
    return fd;
}

static void a_compressed_tensor_is_unpacked_to_a_descriptor(void **state)
{
    (void)state;
    tn_file *f = NULL, *npy = NULL;
    tn_tensor want, got;
    int64_t count = 0;
    OK(tn_file_open(&f, DATA("deflated.npz")));
    for (int64_t i = 0; i < tn_file_count(f); i++) {
        int fd = temporary();
        if (tn_file_read(f, i, &want) == TN_OK) {
            OK(tn_file_unpack(f, i, fd));
            OK(tn_file_open_fd(&npy, fd, "unpacked"));
            OK(tn_file_read(npy, 0, &got));
            assert_same_elements(&got, &want);
            tn_free(&got);
            tn_free(&want);
            tn_file_close(npy);
            count++;
        }
        close(fd);
    }
    assert_true(count > 1);
    assert_int_equal(tn_file_unpack(f, 0, -1), TN_EIO);
    assert_string_equal(strrchr(tn_error(), ':'), ": Bad file descriptor");
    assert_int_equal(tn_file_unpack(f, -1, 1), TN_EARG);
    assert_int_equal(tn_file_unpack(NULL, 0, 1), TN_ENULL);
    tn_file_close(f);
    OK(tn_file_open(&f, DATA("stored.npz")));
    assert_int_equal(tn_file_unpack(f, 0, 1), TN_EUNSUPPORTED);
    tn_file_close(f);
}

static void what_is_unpacked_has_its_checksum(void **state)
{
    (void)state;
    size_t n, i = 0;
    tn_file *f = NULL;
    uint8_t *all = slurp(DATA("deflated.npz"), &n);
    while (memcmp(all + i, "PK\1\2", 4) != 0)
        i++;
    all[i + 16] ^= 1;
    spit(in_folder("z.npz"), all, n);
    free(all);
    OK(tn_file_open(&f, in_folder("z.npz")));
    int fd = temporary();
    assert_int_equal(tn_file_unpack(f, 0, fd), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "checksum mismatch"));
    close(fd);
    tn_file_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_beyond_4_gib_are_written_and_mapped),
        cmocka_unit_test(long_records_may_fail),
        cmocka_unit_test(a_list_is_as_long_as_it_says),
        cmocka_unit_test(members_share_no_bytes),
        cmocka_unit_test(the_rest_is_read),
        cmocka_unit_test(members_are_deflated),
        cmocka_unit_test(names_of_members),
        cmocka_unit_test(the_order_of_one_axis),
        cmocka_unit_test(what_cannot_be_unpacked_is_listed),
        cmocka_unit_test(a_compressed_tensor_is_unpacked_to_a_descriptor),
        cmocka_unit_test(a_long_member_is_deflated),
        cmocka_unit_test(what_is_unpacked_has_its_checksum),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
