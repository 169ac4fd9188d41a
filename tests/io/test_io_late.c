/* test_io_late.c - what goes wrong late: a read in the midst of a long header, a write behind
 * the last element, a file that changes while it is open, two threads that map at once. */
#include "io_oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include <zlib.h>

#include "io/io.h"
#include "io/sys.h"

/* ---- the k-th call of a kind fails ---- */

static const char *kind;
static int seen, fail_at;

static int fail_one(const char *call, size_t *n)
{
    (void)n;
    return !strcmp(call, kind) && seen++ == fail_at ? EIO : 0;
}

static void arm(const char *call, int k)
{
    kind = call;
    fail_at = k;
    seen = 0;
    tni_sys_hook = fail_one;
}

/* Each read of an opening file fails once: TN_EIO, and no file. */
static int fail_reads(const char *path)
{
    for (int k = 0;; k++) {
        tn_file *f = NULL;
        arm("pread", k);
        tn_status status = tn_file_open(&f, path);
        tni_sys_hook = NULL;
        if (seen <= k) {
            OK(status);
            tn_file_close(f);
            return k;
        }
        assert_int_equal(status, TN_EIO);
        assert_null(f);
    }
}

/* A name that is longer than what .gguf is read by. */
static void long_names_of_gguf(void **state)
{
    (void)state;
    enum { NAME = 40000, DATA_AT = (24 + 8 + NAME + 24 + 31) / 32 * 32 };
    uint8_t *bytes = calloc(1, DATA_AT + 8), *at = bytes + 24;
    assert_non_null(bytes);
    memcpy(bytes, "GGUF\3\0\0\0\1", 9); /* version 3, one tensor */
    at[0] = NAME & 255;
    at[1] = NAME >> 8;
    memset(at + 8, 'n', NAME);
    at += 8 + NAME;
    at[0] = 1; /* one axis */
    at[4] = 2; /* of two f32 */
    spit(in_folder("x.gguf"), bytes, DATA_AT + 8);
    free(bytes);
    assert_int_equal(fail_reads(in_folder("x.gguf")), 4);
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

/* ---- two threads map at once: one mapping stays ---- */

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

/* ---- deflated members ---- */

static uint8_t *little(uint8_t *at, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (uint8_t)(i < 8 ? x >> 8 * i : 0);
    return at;
}

/* x.npz with one deflated member. */
static void put_zip(const uint8_t *packed, uint64_t n, uint64_t length, uint64_t crc)
{
    uint8_t *zip = calloc(1, (size_t)n + 200), *at = zip;
    assert_non_null(zip);
    for (int central = 0; central < 2; central++) {
        at = little(at, central ? 0x02014b50 : 0x04034b50, 4);
        at = central ? little(at, 20, 2) : at;
        at = little(little(little(at, 20, 2), 0, 2), 8, 2); /* deflated */
        at = little(little(at, 0, 4), crc, 4);              /* no time */
        at = little(little(at, n, 4), length, 4);
        at = little(little(at, 5, 2), 0, 2); /* name, no extra field */
        at = central ? little(at, 0, 14) : at;
        memcpy(at, "a.npy", 5);
        at += 5;
        if (!central) {
            memcpy(at, packed, (size_t)n);
            at += n;
        }
    }
    at = little(little(little(at, 0x06054b50, 4), 0, 4), 1, 2);
    at = little(little(little(little(at, 1, 2), 51, 4), 35 + n, 4), 0, 2);
    spit(in_folder("x.npz"), zip, (size_t)(at - zip));
    free(zip);
}

/* A .npy of n bytes that are i * i, with a header of so many bytes. */
static uint8_t *plain_npy(uint64_t header, uint64_t n)
{
    uint8_t *plain = calloc(1, (size_t)(header + n));
    char text[100];
    assert_non_null(plain);
    memcpy(plain, "\x93NUMPY\1\0", 8);
    little(plain + 8, header - 10, 2);
    memset(plain + 10, ' ', (size_t)header - 10);
    snprintf(text, sizeof text, "{'descr': '|u1', 'fortran_order': False, 'shape': (%llu,)}",
             (unsigned long long)n);
    memcpy(plain + 10, text, strlen(text));
    for (uint64_t i = 0; i < n; i++)
        plain[header + i] = (uint8_t)(i * i);
    return plain;
}

/* Deflated, but not packed: blocks of at most 65535 bytes, all but the last marked as such. */
static uint64_t stored_blocks(uint8_t *out, const uint8_t *in, uint64_t n, bool ends)
{
    uint8_t *at = out;
    for (uint64_t done = 0; done < n;) {
        uint64_t some = n - done < 65535 ? n - done : 65535;
        *at++ = ends && done + some == n;
        at = little(little(at, some, 2), ~some, 2);
        memcpy(at, in + done, (size_t)some);
        at += some;
        done += some;
    }
    return (uint64_t)(at - out);
}

static void deflated_members(void **state)
{
    (void)state;
    /* a header longer than what is passed over at a time; more than zlib makes at a call */
    static const struct {
        uint64_t header, n;
    } rows[] = {{128, 10}, {1024, 70000}, {3008, 70000}, {128, (1 << 24) + 1000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t header = rows[i].header, n = rows[i].n;
        uint8_t *plain = plain_npy(header, n), *packed = malloc((size_t)(header + n) * 2);
        uint64_t bytes = stored_blocks(packed, plain, header + n, true);
        tn_file *f = NULL;
        tn_tensor t;
        put_zip(packed, bytes, header + n, crc32_z(0, plain, (size_t)(header + n)));
        OK(tn_file_open(&f, in_folder("x.npz")));
        OK(tn_file_read(f, 0, &t));
        assert_int_equal(tn_nbytes(&t), n);
        assert_memory_equal(t.data, plain + header, (size_t)n);
        tn_free(&t);
        FILE *copy = tmpfile();
        assert_non_null(copy);
        OK(tn_file_unpack(f, 0, fileno(copy)));
        assert_int_equal(pread(fileno(copy), packed, (size_t)(header + n + 1), 0), header + n);
        assert_memory_equal(packed, plain, (size_t)(header + n));
        fclose(copy);
        tn_file_close(f);
        free(packed);
        free(plain);
    }
    unlink(in_folder("x.npz"));
}

/* What the opened file says no longer holds, or its last block is none. */
static void deflated_members_that_break(void **state)
{
    (void)state;
    enum { HEADER = 128, N = 140000, LENGTH = HEADER + N - 10 };
    uint8_t *plain = plain_npy(HEADER, N), *packed = calloc(1, 2 * N);
    memcpy(strstr((char *)plain + 10, "140000"), "139980", 6); /* ten bytes are behind them */
    const uint64_t crc = crc32_z(0, plain, LENGTH);
    const int nowhere = open("/dev/null", O_WRONLY);
    tn_file *f = NULL;
    tn_tensor t;
    assert_non_null(packed);
    uint64_t bytes = stored_blocks(packed, plain, LENGTH, false);
    packed[bytes++] = 7; /* the last block, of no kind */
    put_zip(packed, bytes, LENGTH, crc);
    OK(tn_file_open(&f, in_folder("x.npz")));
    assert_int_equal(tn_file_read(f, 0, &t), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "deflated data is damaged"));
    assert_int_equal(tn_file_unpack(f, 0, nowhere), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "deflated data is damaged"));
    packed[0] = 7; /* so is the first */
    put_zip(packed, bytes, LENGTH, crc);
    assert_int_equal(tn_file_unpack(f, 0, nowhere), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "deflated data is damaged"));
    memcpy(packed, "\3", 2); /* an empty stream */
    put_zip(packed, bytes, LENGTH, crc);
    assert_int_equal(tn_file_read(f, 0, &t), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "member ends inside its header"));
    assert_int_equal(tn_file_unpack(f, 0, nowhere), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "member ends inside its elements"));
    close(nowhere);
    tn_file_close(f);
    free(packed);
    free(plain);
    unlink(in_folder("x.npz"));
}

/* ---- sizes that no memory holds, headers that no reader takes ---- */

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

static void a_header_of_more_than_100_mb(void **state)
{
    (void)state;
    enum { LONG = 100000000 / 6 }; /* each letter becomes six */
    uint8_t x = 1;
    tn_tensor t;
    tn_writer *w = NULL;
    if (TEST_WATCHED)
        skip();
    char *name = malloc(LONG + 1);
    assert_non_null(name);
    memset(name, 1, LONG);
    name[LONG] = 0;
    OK(tn_init(&t, &x, TN_U8, 0, NULL));
    assert_int_equal(tn_writer_open(&w, in_folder("x.safetensors"), 1, (const char *[]){name},
                                    (const tn_tensor *[]){&t}, NULL),
                     TN_EUNSUPPORTED);
    assert_null(w);
    assert_int_equal(access(in_folder("x.safetensors"), F_OK), -1);
    free(name);
}

static void metadata_end_with_the_object(void **state)
{
    (void)state;
    uint8_t x = 1;
    tn_tensor t;
    OK(tn_init(&t, &x, TN_U8, 0, NULL));
    const char *path = in_folder("x.safetensors"), *names[] = {"a"};
    const tn_tensor *ts[] = {&t};
    assert_int_equal(tn_save_many(path, 1, names, ts, "{\"a\":\"b\"} x"), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "text behind the object"));
    OK(tn_save_many(path, 1, names, ts, "{\"a\":\"b\"} \n"));
    unlink(path);
}

static void targets_fit_their_place(void **state)
{
    (void)state;
    char target[PATH_MAX] = "as before";
    const char *path = in_folder("x.npy");
    assert_int_equal(tni_sys_target(path, target, strlen(path)), ENAMETOOLONG);
    assert_string_equal(target, "as before");
    assert_int_equal(tni_sys_target(path, target, strlen(path) + 1), 0);
    assert_string_equal(target, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_names_of_gguf),
        cmocka_unit_test(empty_tensors_fail_too),
        cmocka_unit_test(one_mapping_stays),
        cmocka_unit_test(deflated_members),
        cmocka_unit_test(deflated_members_that_break),
        cmocka_unit_test(sizes_that_do_not_fit),
        cmocka_unit_test(a_header_of_more_than_100_mb),
        cmocka_unit_test(metadata_end_with_the_object),
        cmocka_unit_test(targets_fit_their_place),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
