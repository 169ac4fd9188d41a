/* test_io_npz_members.c - members of a .npz: deflated ones that are long or damaged, the bytes
 * that are written, and more and longer members than 16 and 32 bits count, whose elements are
 * holes. */
#include "io_oracle.h"

#include <fcntl.h>

#include <zlib.h>

#include "io/sys.h"
#include "io/write.h"

static uint8_t *little(uint8_t *at, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (uint8_t)(i < 8 ? x >> 8 * i : 0);
    return at;
}

/* A deflated member of many pieces; its bytes hardly shrink. */
static void long_deflated_members(void **state)
{
    (void)state;
    enum { N = 300000, HEADER = 128, ROOM = N + 4096 };
    uint8_t *plain = calloc(1, ROOM), *zip = calloc(1, ROOM), *at = zip;
    memcpy(plain, "\x93NUMPY\1\0", 8);
    little(plain + 8, HEADER - 10, 2);
    memset(plain + 10, ' ', HEADER - 10);
    const char *text = "{'descr': '|u1', 'fortran_order': False, 'shape': (300000,)}";
    memcpy(plain + 10, text, strlen(text));
    uint32_t x = 1;
    for (int i = 0; i < N; i++, x = x * 1664525u + 1013904223u)
        plain[HEADER + i] = (uint8_t)(x >> 24);
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = plain;
    z.avail_in = HEADER + N;
    z.next_out = zip + 35;
    z.avail_out = ROOM - 200;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const uint64_t packed = z.total_out, crc = crc32(0, plain, HEADER + N);
    deflateEnd(&z);
    assert_true(packed > N * 9 / 10);
    for (int central = 0; central < 2; central++) {
        at = little(at, central ? 0x02014b50 : 0x04034b50, 4);
        at = central ? little(at, 20, 2) : at;
        at = little(little(little(at, 20, 2), 0, 2), 8, 2); /* deflated */
        at = little(little(at, 0, 4), crc, 4);              /* no time */
        at = little(little(at, packed, 4), HEADER + N, 4);
        at = little(little(at, 5, 2), 0, 2); /* name, no extra field */
        at = central ? little(at, 0, 14) : at;
        memcpy(at, "a.npy", 5);
        at += 5 + (central ? 0 : packed);
    }
    const uint64_t list = 35 + packed;
    at = little(little(little(at, 0x06054b50, 4), 0, 4), 1, 2);
    at = little(little(little(little(at, 1, 2), 51, 4), list, 4), 0, 2);
    spit(in_folder("x.npz"), zip, (size_t)(at - zip));
    tn_file *f = NULL;
    tn_tensor t;
    OK(tn_file_open(&f, in_folder("x.npz")));
    OK(tn_file_read(f, 0, &t));
    assert_int_equal(tn_nbytes(&t), N);
    assert_memory_equal(t.data, plain + HEADER, N);
    tn_free(&t);
    tn_file_close(f);
    free(zip);
    free(plain);
    unlink(in_folder("x.npz"));
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

/* A .npy of n bytes that are i * i, with a header of `header` bytes. */
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

static uint64_t number(const uint8_t *at, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)at[i] << 8 * i;
    return x;
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_deflated_members),
        cmocka_unit_test(deflated_members),
        cmocka_unit_test(deflated_members_that_break),
        cmocka_unit_test(npz_bytes),
        cmocka_unit_test(members_beyond_32_bits),
        cmocka_unit_test(members_beyond_16_bits),
        cmocka_unit_test(names_of_members),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
