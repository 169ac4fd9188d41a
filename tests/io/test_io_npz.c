/* test_io_npz.c - the list of a .npz and the headers of its members: extra fields, names,
 * comments, ratios of deflated members, what is damaged and what belongs to others. */
#include "io_made.h"

#include <zlib.h>

/* The same for a .npz of one member, whose damage counts as that of the file. */
static tn_status open_member(tn_file **out)
{
    tn_file *f = NULL;
    tn_status status = open_made(0, &f);
    if (status == TN_OK && tn_file_count(f) &&
        tn_file_info(f, 0, NULL, NULL, NULL) == TN_EFORMAT) {
        assert_string_equal(tn_file_type(f, 0), "damaged");
        status = TN_EFORMAT;
    }
    if (status != TN_OK || !out) {
        tn_file_close(f);
        f = NULL;
    }
    if (out)
        *out = f;
    return status;
}

/* A .npz of one stored member that holds what is made; what its record says besides. */
typedef struct zip {
    const char *name, *extra;
    size_t extra_length;
    int wide;         /* bits: its length, its packed length stand in extra */
    uint32_t local;   /* UINT32_MAX: stands in extra; else 0 */
    size_t more_name; /* what the record adds to its name's length */
    bool deflated;
    uint64_t unpacked; /* of a deflated one: the claimed length, or 0 */
} zip;

static size_t packed_bytes; /* of the last one */

static void wrap(const zip *z)
{
    static uint8_t payload[sizeof made];
    const size_t name_length = strlen(z->name);
    size_t n = length, unpacked = length;
    const uLong crc = crc32(0, made, (uInt)n);
    if (z->deflated) {
        z_stream s = {.next_in = made, .avail_in = (uInt)n, .next_out = payload};
        s.avail_out = sizeof payload;
        assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
        n = s.total_out;
        unpacked = z->unpacked ? (size_t)z->unpacked : unpacked;
        deflateEnd(&s);
    } else {
        memcpy(payload, made, n);
    }
    packed_bytes = n;
    length = 0;
    for (int central = 0; central < 2; central++) {
        add_number(central ? 0x02014b50 : 0x04034b50, 4);
        add_times(0, central ? 2 : 0);
        add_number(20, 2);
        add_number(0, 2);
        add_number(z->deflated ? 8 : 0, 2);
        add_times(0, 4); /* no time */
        add_number(crc, 4);
        add_number(central && (z->wide & 2) ? UINT32_MAX : n, 4);
        add_number(central && (z->wide & 1) ? UINT32_MAX : unpacked, 4);
        add_number(name_length + (central ? z->more_name : 0), 2);
        add_number(central ? z->extra_length : 0, 2);
        add_times(0, central ? 10 : 0);
        if (central)
            add_number(z->local, 4);
        add(z->name, name_length);
        if (central)
            add(z->extra, z->extra_length);
        else
            add(payload, n);
    }
    const size_t list = 30 + name_length + n, end = length;
    add_number(0x06054b50, 4);
    add_times(0, 4);
    add_number(1, 2);
    add_number(1, 2);
    add_number(end - list, 4);
    add_number(list, 4);
    add_number(0, 2);
}

static void wrap_in_zip(const char *name)
{
    wrap(&(zip){.name = name, .extra = ""});
}

static void npy_of_one_byte(void)
{
    npy(1, NPY("'|u1'", "()"), strlen(NPY("'|u1'", "()")));
    add("7", 1);
}

/* Long numbers stand in the field of number 1, wherever that is, as many as are asked for. */
static void npz_extras(void **state)
{
    (void)state;
#define EIGHT(X) X "\0\0\0\0\0\0\0"
    static const struct {
        const char *extra;
        size_t n;
        int wide;
        uint32_t local;
        tn_status status;
    } rows[] = {
        {"", 0, 0, 0, TN_OK},
        {"UT\4\0abcd", 8, 0, 0, TN_OK},
        {"UT\5\0abcd", 8, 0, 0, TN_OK}, /* broken, and not asked for */
        {"\1\0\x10\0" EIGHT("\x40") EIGHT("\x40"), 20, 3, 0, TN_OK},
        {"\1\0\x18\0" EIGHT("\x40") EIGHT("\x40") EIGHT("\0"), 28, 3, UINT32_MAX, TN_OK},
        {"\1\0\x8\0" EIGHT("\0"), 12, 0, UINT32_MAX, TN_OK},
        {"UT\4\0abcd\1\0\x8\0" EIGHT("\0"), 20, 0, UINT32_MAX, TN_OK},
        {"UT\0\0\1\0\x8\0" EIGHT("\0"), 16, 0, UINT32_MAX, TN_OK},
        {"\1\0\x8\0" EIGHT("\1"), 12, 0, UINT32_MAX, TN_EFORMAT},
        {"\1\0\x7\0" EIGHT("\0"), 11, 0, UINT32_MAX, TN_EFORMAT},
        {"\1\0\x9\0" EIGHT("\0"), 12, 0, UINT32_MAX, TN_EFORMAT},
        {"\1\0\x10\0" EIGHT("\x40") EIGHT("\x40"), 20, 3, UINT32_MAX, TN_EFORMAT},
        {"\1\0\x10\0" EIGHT("\x41") EIGHT("\x40"), 20, 3, 0, TN_EFORMAT},
        {"UT\4\0abcd", 8, 0, UINT32_MAX, TN_EFORMAT},
        {"UT\5\0abcd", 8, 0, UINT32_MAX, TN_EFORMAT},
        {"UT\0\0", 4, 0, UINT32_MAX, TN_EFORMAT},
        {"\1\0\0", 3, 0, UINT32_MAX, TN_EFORMAT},
        {"", 0, 0, UINT32_MAX, TN_EFORMAT},
        {"", 0, 3, 0, TN_EFORMAT},
        {"\1\0\x8\0" EIGHT("\x40"), 12, 1, 0, TN_OK},
        {"\1\0\x8\0" EIGHT("\x40"), 12, 2, 0, TN_OK},
        {"\1\0\x8\0" EIGHT("\x41"), 12, 1, 0, TN_EFORMAT},
        {"\1\0\x8\0" EIGHT("\x41"), 12, 2, 0, TN_EFORMAT},
        {"", 0, 1, 0, TN_EFORMAT},
        {"", 0, 2, 0, TN_EFORMAT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_file *f = NULL;
        npy_of_one_byte();
        assert_int_equal(length, 0x40);
        wrap(&(zip){.name = "m",
                    .extra = rows[i].extra,
                    .extra_length = rows[i].n,
                    .wide = rows[i].wide,
                    .local = rows[i].local});
        const tn_status got = open_member(&f);
        if (got != rows[i].status)
            fail_msg("row %zu: %s: %s", i, tn_status_name(got), tn_error());
        if (f) {
            tn_tensor t;
            OK(tn_file_read(f, 0, &t));
            assert_int_equal(*(char *)t.data, '7');
            tn_free(&t);
        }
        tn_file_close(f);
    }
}

/* Deflate makes at most 1032 bytes of one, and a larger claim is refused. */
static void npz_ratios(void **state)
{
    (void)state;
    npy_of_one_byte();
    wrap(&(zip){.name = "m", .extra = "", .deflated = true});
    const uint64_t most = 1032 * (packed_bytes + 2) - 1;
    for (uint64_t more = 0; more < 2; more++) {
        npy_of_one_byte();
        wrap(&(zip){.name = "m", .extra = "", .deflated = true, .unpacked = most + more});
        assert_int_equal(open_member(NULL), more ? TN_EFORMAT : TN_OK);
    }
}

/* Deflated members of every length around that of the pieces in which they pass; one that ends
 * too early, in its header or in its elements, or that is longer than it says, is broken. */
static void npz_deflated(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 900, 960, 961, 1984, 1985, 65472, 65473, 200000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int tail = 0; tail <= 3000; tail += 1500) {
            char text[100];
            tn_file *f = NULL;
            tn_tensor t;
            snprintf(text, sizeof text, NPY("'|u1'", "(%lld,)"), (long long)sizes[i]);
            npy(1, text, strlen(text));
            uint32_t x = 1;
            for (int64_t k = 0; k < sizes[i] + tail; k++, x = x * 1664525u + 1013904223u)
                made[length++] = (uint8_t)(x >> 24);
            wrap(&(zip){.name = "m", .extra = "", .deflated = true});
            OK(open_made(0, &f));
            OK(tn_file_read(f, 0, &t));
            x = 1;
            for (int64_t k = 0; k < sizes[i]; k++, x = x * 1664525u + 1013904223u)
                assert_int_equal(((uint8_t *)t.data)[k], (uint8_t)(x >> 24));
            tn_free(&t);
            tn_file_close(f);
            f = NULL;
            made[31 + packed_bytes / 2] ^= 4;
            if (open_made(0, &f) == TN_OK)
                assert_int_equal(tn_file_read(f, 0, &t), TN_EFORMAT);
            tn_file_close(f);
        }
    npy(1, NPY("'|u1'", "(100,)"), strlen(NPY("'|u1'", "(100,)")));
    add_times('e', 50); /* elements are missing, though the length says that they are there */
    const size_t n = length;
    wrap(&(zip){.name = "m", .extra = "", .deflated = true, .unpacked = n + 50});
    tn_file *f = NULL;
    tn_tensor t;
    OK(open_made(0, &f));
    assert_int_equal(tn_file_read(f, 0, &t), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "member ends inside its elements"));
    tn_file_close(f);
}

/* Bytes behind the elements belong to the checksum. */
static void npz_tails(void **state)
{
    (void)state;
    for (size_t more = 0; more <= 2050; more += 1025)
        for (int wrong = 0; wrong < 2; wrong++) {
            tn_file *f = NULL;
            tn_tensor t;
            npy_of_one_byte();
            add_times('x', more);
            wrap_in_zip("m");
            made[31 + 64 + more - 1] ^= (uint8_t)wrong;
            OK(open_made(0, &f));
            assert_int_equal(tn_file_read(f, 0, &t), wrong ? TN_EFORMAT : TN_OK);
            if (!wrong)
                tn_free(&t);
            tn_file_close(f);
        }
}

/* Headers are passed in pieces of 1024 bytes, and not a byte further. */
static void npz_long_headers(void **state)
{
    (void)state;
    const char *text = NPY("'|u1'", "(3,)");
    for (size_t whole = 1022; whole <= 2051; whole += whole == 1026 ? 1020 : 1)
        for (int deflated = 0; deflated < 2; deflated++) {
            static char padded[4096];
            tn_file *f = NULL;
            tn_tensor t;
            memset(padded, ' ', whole);
            memcpy(padded, text, strlen(text));
            npy(1, padded, whole - 10);
            add("abc", 3);
            wrap(&(zip){.name = "m", .extra = "", .deflated = deflated});
            OK(open_made(0, &f));
            OK(tn_file_read(f, 0, &t));
            assert_memory_equal(t.data, "abc", 3);
            tn_free(&t);
            tn_file_close(f);
        }
}

/* A record whose name goes on behind the end of the file. */
static void npz_long_records(void **state)
{
    (void)state;
    for (size_t more = 1; more < 120; more++) {
        npy_of_one_byte();
        wrap(&(zip){.name = "m", .extra = "", .more_name = more});
        assert_int_equal(open_made(0, NULL), TN_EFORMAT);
    }
}

/* The elements lie behind the header in memory, and are not taken for a part of it. */
static void npz_headers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *data;
        tn_status status;
        const char *sentence; /* or the type */
        tn_dtype dtype;
    } rows[] = {
        {NPY("'<f4'", "(2,)"), "        ", TN_OK, "<f4", TN_F32},
        {NPY("'<f4'", "(2,)"), "       ", TN_EFORMAT,
         "x: member \"m\": header says (2,) f32 = 8 bytes, the member has 7", 0},
        {NPY("'<f4'", "(2,)"), "", TN_EFORMAT,
         "x: member \"m\": header says (2,) f32 = 8 bytes, the member has 0", 0},
        {NPY("'<V2'", "(2,)") "#float16", "xxxx", TN_OK, "<V2", TN_F16},
        {NPY("'<V2'", "(2,)") "#   ", "  float16", TN_OK, "<V2", TN_BF16},
        {NPY("'<V2'", "(2,)") "#float16 ", "\n\n\n\n", TN_OK, "<V2", TN_F16},
        {"{'shape': (1", "2,)}", TN_EFORMAT,
         "x: member \"m\": header, byte 22: expected a comma or ) in shape", 0},
        {"{'shape': (1", "L,)}", TN_EFORMAT,
         "x: member \"m\": header, byte 22: expected a comma or ) in shape", 0},
        {"{'descr': '<f", "4'  ", TN_EFORMAT,
         "x: member \"m\": header, byte 23: expected a short string for descr", 0},
        {NPY("'|O'", "(2,)"), "", TN_OK, "|O", 0},
        {NPY("'O'", "(2,)"), "", TN_OK, "O", 0},
        {"{'descr': [('a', '<f4')]", "", TN_OK, "records", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_file *f = NULL;
        npy(1, rows[i].text, strlen(rows[i].text));
        add(rows[i].data, strlen(rows[i].data));
        wrap_in_zip("m.npy");
        const tn_status got = open_member(&f);
        if (got != rows[i].status || (f && strcmp(tn_file_type(f, 0), rows[i].sentence) != 0) ||
            (!f && strcmp(tn_error(), rows[i].sentence) != 0))
            fail_msg("%s: %s: %s", rows[i].text, tn_status_name(got),
                     f ? tn_file_type(f, 0) : tn_error());
        if (!f)
            continue;
        tn_tensor t = {.dtype = 0};
        assert_int_equal(tn_file_info(f, 0, NULL, &t, NULL),
                         rows[i].dtype ? TN_OK : TN_EUNSUPPORTED);
        assert_int_equal(t.dtype, rows[i].dtype);
        tn_file_close(f);
    }
}

/* What is too short for a .npy, or another thing, is listed and not read. */
static void npz_strangers(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        tn_status status;
    } rows[] = {
        {"", 0, TN_OK},
        {"\x93NUMP", 5, TN_OK},
        {"\x93NUMPY", 6, TN_EFORMAT},
        {"\x93NUMPZ", 6, TN_OK},
        {"\x93NUMPY\1\0\0\0", 10, TN_EFORMAT},
        {"\x93NUMPY\7\0\0\0", 10, TN_OK},
        {"\x93NUMPY\1\0\1\0", 10, TN_EFORMAT},
    };
    static const char outside[] = "x: member \"m\": header needs 11 bytes, the member has 10";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_file *f = NULL;
        int ndim;
        length = 0;
        add(rows[i].bytes, rows[i].n);
        wrap_in_zip("m");
        assert_int_equal(open_member(&f), rows[i].status);
        if (f) {
            assert_string_equal(tn_file_name(f, 0), "m");
            assert_string_equal(tn_file_type(f, 0), "?");
            assert_null(tn_file_shape(f, 0, &ndim));
        }
        if (i == sizeof rows / sizeof rows[0] - 1)
            assert_string_equal(tn_error(), outside);
        tn_file_close(f);
    }
    tn_file *f;
    int ndim = 0;
    OK(tn_file_open(&f, DATA("deflated.npz"))); /* what is an array has a shape */
    int64_t at = -1;
    OK(tn_file_find(f, "f", &at));
    const int64_t *shape = tn_file_shape(f, at, &ndim);
    assert_int_equal(ndim, 3);
    assert_true(shape && shape[0] == 2 && shape[1] == 3 && shape[2] == 5);
    tn_file_close(f);
}

/* A member loses the suffix of its name, but not all of it. */
static void npz_names(void **state)
{
    (void)state;
    static char longest[4097];
    memset(longest, 'n', 4096);
    const struct {
        const char *name, *shown;
    } rows[] = {{"a.npy", "a"},        {".npy", ".npy"},           {"npy", "npy"},
                {"a.npY", "a.npY"},    {longest + 1, longest + 1}, {longest, NULL},
                {"a.npy.npy", "a.npy"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_file *f = NULL;
        npy_of_one_byte();
        wrap_in_zip(rows[i].name);
        assert_int_equal(open_made(0, &f), rows[i].shown ? TN_OK : TN_EFORMAT);
        if (f)
            assert_string_equal(tn_file_name(f, 0), rows[i].shown);
        else
            assert_string_equal(tn_error(), "x: a member's name is too long");
        tn_file_close(f);
    }
}

/* The end record may have a comment of up to 65535 bytes behind it. */
static void npz_comments(void **state)
{
    (void)state;
    static const size_t comments[] = {0, 1, 22, 65534, 65535, 65536};
    for (size_t i = 0; i < sizeof comments / sizeof comments[0]; i++) {
        npy_of_one_byte();
        wrap_in_zip("m");
        made[length - 2] = (uint8_t)comments[i];
        made[length - 1] = (uint8_t)(comments[i] >> 8);
        add_times('c', comments[i]);
        assert_int_equal(open_made(0, NULL), comments[i] > 65535 ? TN_EFORMAT : TN_OK);
        if (comments[i] > 0 && comments[i] < 65536)
            assert_int_equal(open_made(1, NULL), TN_EFORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npz_extras),       cmocka_unit_test(npz_ratios),
        cmocka_unit_test(npz_deflated),     cmocka_unit_test(npz_tails),
        cmocka_unit_test(npz_long_headers), cmocka_unit_test(npz_long_records),
        cmocka_unit_test(npz_headers),      cmocka_unit_test(npz_strangers),
        cmocka_unit_test(npz_names),        cmocka_unit_test(npz_comments),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
