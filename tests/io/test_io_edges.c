/* test_io_edges.c - headers that end where something in them ends: the last byte that is read
 * is the last that is there, and one fewer is a sentence.  Bytes are made by hand. */
#include "io_oracle.h"

#include <errno.h>
#include <sys/mman.h>

#include <zlib.h>

#include "io/safetensors/json.h"

static int fd = -1;

/* ---- bytes that grow ---- */

static uint8_t made[2 << 20];
static size_t length;

static void add(const void *bytes, size_t n)
{
    assert_true(length + n <= sizeof made);
    memcpy(made + length, bytes, n);
    length += n;
}

static void add_number(uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        made[length++] = (uint8_t)(x >> 8 * i);
}

static void add_times(int byte, size_t n)
{
    assert_true(length + n <= sizeof made);
    memset(made + length, byte, n);
    length += n;
}

/* Open what was made, but for the last `less` bytes; the file is closed again unless f. */
static tn_status open_made(size_t less, tn_file **f)
{
    tn_file *mine = NULL;
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, made, length - less, 0), length - less);
    const tn_status status = tn_file_open_fd(f ? f : &mine, fd, "x");
    tn_file_close(mine);
    return status;
}

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

#define REFUSED(status, sentence, call)                                                        \
    do {                                                                                       \
        assert_int_equal(call, status);                                                        \
        assert_string_equal(tn_error(), sentence);                                             \
    } while (0)

/* ---- .gguf ---- */

static void gguf(uint64_t tensors, uint64_t pairs)
{
    length = 0;
    add("GGUF\3\0\0", 8);
    add_number(tensors, 8);
    add_number(pairs, 8);
}

static void gguf_text(const char *text, size_t n)
{
    add_number(n, 8);
    add(text, n);
}

/* A value of each type, alone and three in a list, is as long as its type says. */
static void gguf_values(void **state)
{
    (void)state;
    static const int bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, -1, 0, 8, 8, 8, 0};
    for (uint32_t type = 0; type < sizeof bytes / sizeof bytes[0]; type++)
        for (int list = 0; list < 2; list++) {
            gguf(0, 1);
            gguf_text("k", 1);
            if (list) {
                add_number(9, 4);
                add_number(type, 4);
                add_number(3, 8);
            } else if (type == 9) {
                continue;
            } else {
                add_number(type, 4);
            }
            for (int i = 0; i < (list ? 3 : 1); i++)
                if (bytes[type] < 0)
                    gguf_text("word", 4);
                else
                    add_times(1, (size_t)bytes[type]);
            if (bytes[type] == 0) {
                add_times(1, 40);
                assert_int_equal(open_made(0, NULL), TN_EFORMAT);
                continue;
            }
            assert_int_equal(open_made(0, NULL), TN_OK);
            char want[80];
            snprintf(want, sizeof want,
                     "x: header extends past the end of the file at byte %zu", length - 1);
            REFUSED(TN_EFORMAT, want, open_made(1, NULL));
        }
}

static void gguf_alignments(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        uint32_t type, value;
        tn_status status;
    } rows[] = {
        {"general.alignment", 4, 1, TN_OK},       {"general.alignment", 4, 64, TN_OK},
        {"general.alignment", 4, 1 << 20, TN_OK}, {"general.alignment", 4, 1 << 21, TN_EFORMAT},
        {"general.alignment", 4, 0, TN_EFORMAT},  {"general.alignment", 4, 48, TN_EFORMAT},
        {"general.alignment", 5, 64, TN_EFORMAT}, {"general.alignmenT", 4, 48, TN_OK},
        {"general.alignmen", 4, 48, TN_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gguf(0, 1);
        gguf_text(rows[i].key, strlen(rows[i].key));
        add_number(rows[i].type, 4);
        add_number(rows[i].value, 4);
        assert_int_equal(open_made(0, NULL), rows[i].status);
        assert_int_equal(open_made(1, NULL), TN_EFORMAT);
    }
}

static void gguf_tensor(const char *name, size_t n, uint32_t ndim, const uint64_t *shape,
                        uint32_t type, uint64_t offset)
{
    gguf_text(name, n);
    add_number(ndim, 4);
    for (uint32_t i = 0; i < ndim; i++)
        add_number(shape[i], 8);
    add_number(type, 4);
    add_number(offset, 8);
}

static void gguf_data(size_t n)
{
    add_times(0, (32 - length % 32) % 32 + n);
}

static void gguf_shapes(void **state)
{
    (void)state;
    enum { I8 = 24, F32 = 0 };
    static const struct {
        uint32_t ndim;
        uint64_t shape[2];
        uint32_t type;
        size_t data;
        tn_status status;
    } rows[] = {
        {0, {0}, I8, 1, TN_OK},
        {2, {3, 5}, I8, 15, TN_OK},
        {2, {3, 5}, I8, 14, TN_EFORMAT},
        {2, {0, 5}, I8, 0, TN_OK},
        {2, {0, INT64_MAX}, I8, 0, TN_OK},
        {2, {INT64_MAX, 0}, I8, 0, TN_OK},
        {2, {0, (uint64_t)INT64_MAX + 1}, I8, 0, TN_EFORMAT},
        {2, {0, INT64_MAX}, F32, 0, TN_EFORMAT},
        {1, {0}, 99, 0, TN_OK}, /* a type of another day has no bytes that are known */
        {64, {0}, I8, 1, TN_OK},
        {65, {0}, I8, 1, TN_EFORMAT},
    };
    uint64_t ones[65];
    for (int i = 0; i < 65; i++)
        ones[i] = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_file *f = NULL;
        gguf(1, 0);
        gguf_tensor("n", 1, rows[i].ndim, rows[i].ndim > 2 ? ones : rows[i].shape, rows[i].type,
                    0);
        gguf_data(rows[i].data);
        const tn_status got = open_made(0, &f);
        if (got != rows[i].status)
            fail_msg("row %zu: %s: %s", i, tn_status_name(got), tn_error());
        if (got != TN_OK)
            continue;
        int ndim = -1;
        const int64_t *shape = tn_file_shape(f, 0, &ndim);
        assert_int_equal(ndim, rows[i].ndim);
        for (int k = 0; k < ndim && ndim <= 2; k++) /* ggml's first axis is NumPy's last */
            assert_int_equal(shape[k], rows[i].shape[ndim - 1 - k]);
        tn_file_close(f);
    }
}

/* Names up to 65535 bytes, shorter and longer than the window through which they are read. */
static void gguf_names(void **state)
{
    (void)state;
    static char name[65536];
    memset(name, 'n', sizeof name);
    static const struct {
        size_t n;
        tn_status status;
    } rows[] = {{0, TN_OK},     {1, TN_OK},     {16383, TN_OK},     {16384, TN_OK},
                {16385, TN_OK}, {65535, TN_OK}, {65536, TN_EFORMAT}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_file *f = NULL;
        gguf(2, 1);
        gguf_text("key", 3);
        add_number(8, 4);
        gguf_text(name, rows[i].n); /* where the window stands varies */
        gguf_tensor(name, rows[i].n, 1, (uint64_t[]){2}, 24, 0);
        gguf_tensor("last", 4, 1, (uint64_t[]){2}, 24, 32);
        gguf_data(34);
        assert_int_equal(open_made(0, &f), rows[i].status);
        if (f) {
            assert_int_equal(strlen(tn_file_name(f, 0)), rows[i].n);
            assert_string_equal(tn_file_name(f, 1), "last");
            tn_file_close(f);
            assert_int_equal(open_made(1, NULL), TN_EFORMAT);
        }
    }
    gguf(1, 0);
    gguf_tensor("a\0b", 3, 1, (uint64_t[]){2}, 24, 0);
    gguf_data(2);
    assert_int_equal(open_made(0, NULL), TN_EFORMAT);
    gguf(1, 0);
    gguf_tensor("a", 1, 1, (uint64_t[]){0}, 24, 32); /* no elements, at the very end */
    gguf_data(32);
    assert_int_equal(open_made(0, NULL), TN_OK);
    assert_int_equal(open_made(1, NULL), TN_EFORMAT);
    gguf(1, 0);
    gguf_tensor("a", 1, 1, (uint64_t[]){1}, 24, 16);
    gguf_data(64);
    REFUSED(TN_EFORMAT, "x: tensor \"a\" begins at 16, not aligned to 32", open_made(0, NULL));
}

static void gguf_versions(void **state)
{
    (void)state;
    for (uint8_t version = 0; version < 6; version++) {
        gguf(0, 0);
        made[4] = version;
        assert_int_equal(open_made(0, NULL),
                         version == 2 || version == 3 ? TN_OK : TN_EUNSUPPORTED);
    }
    gguf(0, 0);
    REFUSED(TN_EFORMAT, "x: header extends past the end of the file at byte 23",
            open_made(1, NULL));
}

/* ---- .npy ---- */

/* A .npy of the given version and header text. */
static void npy(int major, const char *text, size_t n)
{
    length = 0;
    add("\x93NUMPY", 6);
    add_number((uint64_t)major, 2);
    add_number(n, major > 1 ? 4 : 2);
    add(text, n);
}

#define NPY(DESCR, SHAPE) "{'descr': " DESCR ", 'fortran_order': False, 'shape': " SHAPE "}"

static void npy_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t data;
        tn_status status;
        const char *sentence;
    } rows[] = {
        {NPY("'<f4'", "(2,)"), 8, TN_OK, NULL},
        {NPY("'0123456789012345678901'", "(2,)"), 8, TN_EUNSUPPORTED,
         "x: dtype '0123456789012345678901' is not supported"},
        {NPY("'01234567890123456789012'", "(2,)"), 8, TN_EFORMAT,
         "x: header, 41 bytes before its end: descr is not a short string"},
        {NPY("'f 4'", "(2,)"), 8, TN_EUNSUPPORTED, "x: dtype 'f 4' is not supported"},
        {NPY("'f\x1f"
             "4'",
             "(2,)"),
         8, TN_EFORMAT, "x: header, 42 bytes before its end: descr is not a short string"},
        {NPY("'<f4'", "(2"), 8, TN_EFORMAT,
         "x: header, 1 bytes before its end: shape lacks a comma"},
        {NPY("'<f4'", "(2, 3) ") "\t \n", 24, TN_OK, NULL},
        {NPY("'<f4'", "(2, 3)") "x", 24, TN_EFORMAT,
         "x: header, 1 bytes before its end: text after the dictionary"},
        {"{'descr': '<f4", 8, TN_EFORMAT,
         "x: header, 0 bytes before its end: descr is not a short string"},
        {"{'descr': '<f4'", 8, TN_EFORMAT, "x: header, 0 bytes before its end: no key"},
        {"{'shape': (12", 8, TN_EFORMAT,
         "x: header, 0 bytes before its end: shape lacks a comma"},
        {"{'shape': (12L", 8, TN_EFORMAT,
         "x: header, 0 bytes before its end: shape lacks a comma"},
        {"{'shape': (", 8, TN_EFORMAT,
         "x: header, 0 bytes before its end: shape has a non-integer extent"},
        {"{'shape'   ", 8, TN_EFORMAT, "x: header, 0 bytes before its end: no key"},
        {"{'fortran_order': Tru", 8, TN_EFORMAT,
         "x: header, 3 bytes before its end: fortran_order is neither True nor False"},
        {"", 8, TN_EFORMAT, "x: header, 0 bytes before its end: no dictionary"},
        {"{'fortran_order': True, 'shape': (2,)}", 8, TN_EFORMAT,
         "x: header, 0 bytes before its end: descr, fortran_order or shape is missing"},
        {"{'descr': '<f4', 'shape': (2,)}", 8, TN_EFORMAT,
         "x: header, 0 bytes before its end: descr, fortran_order or shape is missing"},
        {"{'descr': '<f4', 'fortran_order': True}", 8, TN_EFORMAT,
         "x: header, 0 bytes before its end: descr, fortran_order or shape is missing"},
    };
    for (int major = 1; major <= 3; major++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            npy(major, rows[i].text, strlen(rows[i].text));
            add_times(' ', rows[i].data); /* elements that would go on as blanks */
            const tn_status got = open_made(0, NULL);
            if (got != rows[i].status ||
                (rows[i].sentence && strcmp(tn_error(), rows[i].sentence) != 0))
                fail_msg("%s: %s: %s", rows[i].text, tn_status_name(got), tn_error());
        }
}

static void npy_prefixes(void **state)
{
    (void)state;
    length = 0;
    add("\x93NUMPY\1\0\0\0", 10);
    REFUSED(TN_EFORMAT, "x: header, 0 bytes before its end: no dictionary", open_made(0, NULL));
    REFUSED(TN_EFORMAT, "x: not a .npy: shorter than 10 bytes or wrong magic",
            open_made(1, NULL));
    length = 0;
    add("\x93NUMPY\2\0\0\0\0\0", 12);
    REFUSED(TN_EFORMAT, "x: header, 0 bytes before its end: no dictionary", open_made(0, NULL));
    REFUSED(TN_EFORMAT, "x: ends within the length of the header", open_made(1, NULL));
    made[6] = 0;
    REFUSED(TN_EUNSUPPORTED, "x: .npy version 0.0 is not supported; 1.0 to 3.0 are",
            open_made(0, NULL));
    made[6] = 4;
    REFUSED(TN_EUNSUPPORTED, "x: .npy version 4.0 is not supported; 1.0 to 3.0 are",
            open_made(0, NULL));

    const char *text = NPY("'|u1'", "(3,)"); /* the longest header, and one more */
    for (size_t more = 0; more < 2; more++) {
        length = 0;
        add("\x93NUMPY\2\0", 8);
        add_number(1048576 + more, 4);
        add(text, strlen(text));
        add_times(' ', 1048576 + more - strlen(text));
        add("abc", 3);
        if (more)
            REFUSED(TN_EFORMAT, "x: header has 1048577 bytes, at most 1048576 are supported",
                    open_made(0, NULL));
        else
            assert_int_equal(open_made(0, NULL), TN_OK);
    }
}

/* ---- .npz ---- */

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
         "x: member \"m\": header, 0 bytes before its end: shape lacks a comma", 0},
        {"{'shape': (1", "L,)}", TN_EFORMAT,
         "x: member \"m\": header, 0 bytes before its end: shape lacks a comma", 0},
        {"{'descr': '<f", "4'  ", TN_EFORMAT,
         "x: member \"m\": header, 0 bytes before its end: descr is not a short string", 0},
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
    static const char outside[] = "x: member \"m\": header has 11 bytes, the member 10";
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

/* ---- .safetensors ---- */

static void safetensors(const char *text, size_t data)
{
    length = 0;
    add_number(strlen(text), 8);
    add(text, strlen(text));
    add_times(0, data);
}

#define MISSING "x: tensor \"a\": dtype, shape or data_offsets is missing or invalid"

static void safetensors_sentences(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t data;
        const char *sentence; /* NULL: it is fine */
    } rows[] = {
        {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,2]}}", 2, MISSING},
        {"{\"a\":{\"shape\":[2],\"data_offsets\":[0,2]}}", 2, MISSING},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2]}}", 2, MISSING},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0]}}", 2, MISSING},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2,2]}}", 2, MISSING},
        {"{\"a\":{}}", 2, MISSING},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"x\":[{}]}}", 2, NULL},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
         "x: header, byte 35: duplicate key"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
         "x: header, byte 47: duplicate key"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"data_offsets\":[0,2]}"
         "}",
         2, "x: header, byte 75: duplicate key"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2,-1],\"data_offsets\":[0,2]}}", 2,
         "x: tensor \"a\": axis 1: invalid extent"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0,1152921504606846975],\"data_offsets\":[0,0]}}",
         0, NULL},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0,1152921504606846976],\"data_offsets\":[0,0]}}",
         0, "x: tensor \"a\": size exceeds 2^63 - 1 bits"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2,
         "x: tensor \"a\": (3,) U8 = 3 bytes, its offsets span 2"},
        {"{\"a\":{\"dtype\":\"F4\",\"shape\":[5],\"data_offsets\":[0,2]}}", 2,
         "x: tensor \"a\": (5,) F4 = 2 bytes, its offsets span 2"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,0]}}", 2,
         "x: tensor \"a\": offsets 2 to 0"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", 3,
         "x: tensor \"a\" begins at 1, expected 0"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 1,
         "x: tensor \"a\" ends at 2, the data at 1"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 3,
         "x: the tensors end at byte 63, the file has 64"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}x", 2,
         "x: header, byte 61: text behind the object"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}", 2,
         "x: header, byte 60: expected ',' or '}'"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]", 2,
         "x: header, byte 59: expected ',' or '}'"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2", 2,
         "x: header, byte 58: expected ',' or ']'"},
        {"{\"a\" 7}", 0, "x: header, byte 13: expected \"name\":"},
        {"{\"a\":7}", 0, "x: header, byte 13: expected an object"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":7}}", 0, "x: header, byte 35: expected an array"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "x: duplicate __metadata__"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        safetensors(rows[i].text, rows[i].data);
        const tn_status got = open_made(0, NULL);
        if (got != (rows[i].sentence ? TN_EFORMAT : TN_OK) ||
            (rows[i].sentence && strcmp(tn_error(), rows[i].sentence) != 0))
            fail_msg("%s: %s: %s", rows[i].text, tn_status_name(got), tn_error());
    }
}

/* 64 axes pass; of 65, of which only the header knows, a sentence speaks. */
static void safetensors_axes(void **state)
{
    (void)state;
    for (int n = 63; n <= 66; n++) {
        char text[400] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1";
        for (int i = 1; i < n; i++)
            strcat(text, ",1");
        strcat(text, "],\"data_offsets\":[0,1]}}");
        safetensors(text, 1);
        if (n <= 64)
            assert_int_equal(open_made(0, NULL), TN_OK);
        else
            REFUSED(TN_EFORMAT, "x: tensor \"a\" has more than 64 axes", open_made(0, NULL));
    }
}

/* Types that no dtype is are listed with their bytes, and not read. */
static void safetensors_types(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int bits;
    } rows[] = {{"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
                {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"F4", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200];
        tn_file *f = NULL;
        tn_tensor t;
        int ndim;
        snprintf(text, sizeof text,
                 "{\"a\":{\"dtype\":\"%s\",\"shape\":[8],\"data_offsets\":[0,%d]}}",
                 rows[i].name, rows[i].bits);
        safetensors(text, (size_t)rows[i].bits);
        OK(open_made(0, &f));
        assert_string_equal(tn_file_type(f, 0), rows[i].name);
        assert_int_equal(tn_file_shape(f, 0, &ndim)[0], 8);
        assert_int_equal(tn_file_info(f, 0, NULL, &t, NULL), TN_EUNSUPPORTED);
        tn_file_close(f);
    }
}

/* Tensors of one place keep the order of the header; many are held. */
static void safetensors_order(void **state)
{
    (void)state;
    enum { N = 100 };
    static char text[N * 70];
    size_t n = 0;
    for (int i = 0; i < N; i++)
        n +=
            (size_t)snprintf(text + n, sizeof text - n,
                             "%s\"t%02d\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,"
                             "%d]}",
                             i ? "," : "{", i * 37 % N, i == 50, i == 50);
    strcat(text, "}");
    safetensors(text, 1);
    tn_file *f = NULL;
    OK(open_made(0, &f));
    assert_int_equal(tn_file_count(f), N);
    for (int i = 0, k = 0; i < N; i++) {
        char want[8];
        int64_t at;
        snprintf(want, sizeof want, "t%02d", i * 37 % N);
        OK(tn_file_find(f, want, &at));
        assert_int_equal(at, i == 50 ? N - 1 : k++); /* what has a byte ends behind the empty */
    }
    tn_file_close(f);
}

/* The longest header that is read, of zeros that take no room. */
static void safetensors_longest(void **state)
{
    (void)state;
    for (int64_t n = 100000000; n <= 100000001; n++) {
        tn_file *f = NULL;
        length = 0;
        add_number((uint64_t)n, 8);
        add("{", 1);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, made, length, 0), length);
        assert_int_equal(ftruncate(fd, 8 + n), 0);
        REFUSED(TN_EFORMAT,
                n == 100000000 ? "x: header, byte 9: expected a string"
                               : "x: header has 100000001 bytes, the file 100000009, at most "
                                 "100000000 are supported",
                tn_file_open_fd(&f, fd, "x"));
    }
    assert_int_equal(ftruncate(fd, 0), 0);
}

/* ---- what is no file of ours ---- */

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
         "x: header has 2 bytes, the file 9, at most 100000000 are supported"},
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

static int setup(void **state)
{
    (void)state;
    fd = memfd_create("edges", MFD_CLOEXEC);
    return fd < 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gguf_values),       cmocka_unit_test(gguf_alignments),
        cmocka_unit_test(gguf_shapes),       cmocka_unit_test(gguf_names),
        cmocka_unit_test(gguf_versions),     cmocka_unit_test(npy_texts),
        cmocka_unit_test(npy_prefixes),      cmocka_unit_test(npz_headers),
        cmocka_unit_test(npz_strangers),     cmocka_unit_test(npz_names),
        cmocka_unit_test(npz_extras),        cmocka_unit_test(npz_long_headers),
        cmocka_unit_test(npz_ratios),        cmocka_unit_test(npz_deflated),
        cmocka_unit_test(npz_tails),         cmocka_unit_test(npz_long_records),
        cmocka_unit_test(npz_comments),      cmocka_unit_test(safetensors_sentences),
        cmocka_unit_test(safetensors_axes),  cmocka_unit_test(safetensors_types),
        cmocka_unit_test(safetensors_order), cmocka_unit_test(safetensors_longest),
        cmocka_unit_test(short_files),       cmocka_unit_test(long_names_of_files),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
