/* test_io_damaged.c - damaged and malicious files are an error or a right answer: every
 * truncation and every flipped bit of the golden files, and headers made to hurt. */
#include "io_oracle.h"

#include <fcntl.h>
#include <sys/mman.h>

static const char *const goldens[] = {
    DATA("c_f32.npy"),        DATA("be_f64.npy"), DATA("f_u8.npy"),     DATA("scalar.npy"),
    DATA("empty.npy"),        DATA("npint.npy"),  DATA("v3.npy"),       DATA("c_bf16.npy"),
    DATA("x_object.npy"),     DATA("stored.npz"), DATA("deflated.npz"), DATA("zip64.npz"),
    DATA("many.safetensors"), DATA("some.gguf"),  DATA("big.gguf"),
};

/* ---- memory that the library takes is counted ---- */

static size_t held, most;

static void *count_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    held += size;
    most = held > most ? held : most;
    return aligned_alloc(align, size);
}

static void count_free(void *user, void *ptr, size_t size)
{
    (void)user;
    held -= size;
    free(ptr);
}

static int fd = -1;

static void put_bytes(const void *bytes, size_t n)
{
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, bytes, n, 0), n);
}

/* Read what is there; an open file must be consistent.  Gives the number of tensors read. */
static int use_bytes(const uint8_t *bytes, size_t n, bool checksums)
{
    tn_file *f = NULL;
    int good = 0;
    put_bytes(bytes, n);
    most = held = 0;
    tn_status status = tn_file_open_fd(&f, fd, "x");
    if (status != TN_OK) {
        assert_null(f);
        assert_true(status == TN_EFORMAT || status == TN_EUNSUPPORTED);
        assert_memory_equal(tn_error(), "x: ", 3);
    }
    for (int64_t i = 0; i < tn_file_count(f); i++) {
        tn_tensor desc, t, m;
        int64_t offset;
        status = tn_file_info(f, i, NULL, &desc, &offset);
        if (status != TN_OK) {
            assert_true(status == TN_EUNSUPPORTED || (checksums && status == TN_EFORMAT));
            continue;
        }
        if (offset >= 0)
            assert_true(offset + tn_nbytes(&desc) <= (int64_t)n);
        status = tn_file_read(f, i, &t);
        bool mapped = tn_file_map(f, i, &m) == TN_OK;
        if (status != TN_OK) {
            assert_int_equal(status, TN_EFORMAT);
            assert_true(checksums);
            continue;
        }
        if (mapped)
            assert_same_elements(&m, &t);
        if (checksums)
            assert_golden(&t, "member");
        tn_free(&t);
        good++;
    }
    tn_file_close(f);
    assert_int_equal(held, 0);
    assert_true(most <= 2 * n + (1 << 20));
    return good;
}

static bool is_npz(const char *path)
{
    return strstr(path, ".npz") != NULL;
}

static void every_truncation(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof goldens / sizeof goldens[0]; k++) {
        size_t n;
        uint8_t *bytes = slurp(goldens[k], &n);
        int whole = use_bytes(bytes, n, is_npz(goldens[k]));
        /* Bytes at the end that nothing depends on: the end record, the padding. */
        size_t idle = is_npz(goldens[k]) ? 26 : strstr(goldens[k], ".gguf") ? 64 : 0;
        for (size_t cut = 0; cut < n; cut++) {
            int good = use_bytes(bytes, cut, is_npz(goldens[k]));
            if (good > 0 && !(good == whole && cut + idle > n))
                fail_msg("%s cut to %zu of %zu bytes gives %d of %d tensors", goldens[k], cut,
                         n, good, whole);
        }
        free(bytes);
    }
}

static void every_flipped_bit(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof goldens / sizeof goldens[0]; k++) {
        size_t n, header;
        uint8_t *bytes = slurp(goldens[k], &n);
        bool zip = is_npz(goldens[k]);
        header = strstr(goldens[k], ".safetensors") ? 8 + bytes[0] + 256u * bytes[1]
                 : strstr(goldens[k], ".npy")       ? 128
                                                    : n;
        for (size_t i = 0; i < header && i < n; i++)
            for (int bit = TEST_WATCHED ? (int)(i % 3) : 0; bit < 8;
                 bit += TEST_WATCHED ? 3 : 1) {
                bytes[i] ^= (uint8_t)(1 << bit);
                use_bytes(bytes, n, zip);
                bytes[i] ^= (uint8_t)(1 << bit);
            }
        free(bytes);
    }
}

/* ---- headers made to hurt ---- */

static tn_status open_bytes(const void *bytes, size_t n)
{
    tn_file *f = NULL;
    put_bytes(bytes, n);
    most = held = 0;
    tn_status status = tn_file_open_fd(&f, fd, "x");
    tn_file_close(f);
    assert_int_equal(held, 0);
    assert_true(most <= 2 * n + (1 << 20));
    return status;
}

static tn_status open_npy(const char *header, size_t data)
{
    char bytes[4096] = "\x93NUMPY\1\0";
    size_t n = strlen(header);
    bytes[8] = (char)(n & 255);
    bytes[9] = (char)(n >> 8);
    memcpy(bytes + 10, header, n);
    return open_bytes(bytes, 10 + n + data);
}

#define NPY(DESCR, ORDER, SHAPE)                                                               \
    "{'descr': " DESCR ", 'fortran_order': " ORDER ", 'shape': " SHAPE ", }\n"

static void npy_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        tn_status status;
    } rows[] = {
        {NPY("'<f4'", "False", "(2, 3)"), 24, TN_OK},
        {NPY("'<f4'", "False", "(2, 3)"), 23, TN_EFORMAT},
        {NPY("'<f4'", "False", "(2, 3)"), 30, TN_OK}, /* NumPy appends arrays to a file */
        {NPY("'<f4'", "True", "(2, 3)"), 24, TN_OK},
        {NPY("'<f4'", "false", "(2, 3)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(6)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(6,)"), 24, TN_OK},
        {NPY("'<f4'", "False", "()"), 4, TN_OK},
        {NPY("'<f4'", "False", "(,)"), 4, TN_EFORMAT},
        {NPY("'<f4'", "False", "(2 3)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(2, 3"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "[2, 3]"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(-2, 3)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(2.0, 3)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(np.int64(2), 3)"), 24, TN_OK},
        {NPY("'<f4'", "False", "(np.int64(2, 3)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(np.float64(2), 3)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(numpy.int32(2), np.intp(3))"), 24, TN_OK},
        {NPY("'<f4'", "False", "(2L, 3L)"), 24, TN_OK},
        {NPY("'<f4'", "False", "(4294967296, 4294967296)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(0, 4294967296, 4294967296)"), 24, TN_EFORMAT},
        {NPY("'<f4'", "False", "(2305843009213693952, 0)"), 24, TN_EFORMAT},
        {NPY("'|u1'", "False", "(9223372036854775807,)"), 24, TN_EFORMAT},
        {NPY("'|u1'", "False", "(9223372036854775808,)"), 24, TN_EFORMAT},
        {NPY("'|u1'", "False", "(99999999999999999999999,)"), 24, TN_EFORMAT},
        {NPY("\"<f4\"", "False", "(2, 3)"), 24, TN_OK},
        {NPY("'float32'", "False", "(2, 3)"), 24, TN_OK},
        {"{'descr': '<f4", 24, TN_EFORMAT},
        {NPY("'<f\\x34'", "False", "(2, 3)"), 24, TN_EFORMAT},
        {NPY("'<f3'", "False", "(2, 3)"), 24, TN_EUNSUPPORTED},
        {NPY("'<f16'", "False", "(2, 3)"), 96, TN_EUNSUPPORTED},
        {NPY("''", "False", "(2, 3)"), 24, TN_EUNSUPPORTED},
        {NPY("'|O'", "False", "(2, 3)"), 24, TN_EUNSUPPORTED},
        {NPY("'|O8'", "False", "(2, 3)"), 48, TN_EUNSUPPORTED},
        {NPY("'O'", "False", "(2, 3)"), 48, TN_EUNSUPPORTED},
        {NPY("'<O8'", "False", "(2, 3)"), 48, TN_EUNSUPPORTED},
        {NPY("[('a', '|O')]", "False", "(2, 3)"), 48, TN_EUNSUPPORTED},
        {NPY("('<f4', (2,))", "False", "(2, 3)"), 48, TN_EFORMAT},
        {NPY("'<V2'", "False", "(2, 3)") "# bfloat16\n", 12, TN_OK},
        {NPY("'<V2'", "False", "(2, 3)") "bfloat16\n", 12, TN_EFORMAT},
        {"{'descr': '<f4', 'fortran_order': False}\n", 24, TN_EFORMAT},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}\n", 24,
         TN_EFORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}\n", 24, TN_EFORMAT},
        {"{'shape': (2, 3,), 'fortran_order': False, 'descr': '<f4'}", 24, TN_OK},
        {"{{{{{{{{{{{{{{{{{{{{{{", 24, TN_EFORMAT},
        {"", 24, TN_EFORMAT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_status got = open_npy(rows[i].header, rows[i].data);
        if (got != rows[i].status)
            fail_msg("%s gives %s: %s", rows[i].header, tn_status_name(got), tn_error());
    }
}

static void npy_axes_and_lengths(void **state)
{
    (void)state;
    char header[1024] = "{'descr': '|u1', 'fortran_order': False, 'shape': (";
    size_t n = strlen(header);
    for (int axes = 1; axes <= 65; axes++) {
        strcpy(header + n, "1,");
        n += 2;
        char whole[1100];
        snprintf(whole, sizeof whole, "%s)}", header);
        assert_int_equal(open_npy(whole, 1), axes <= 64 ? TN_OK : TN_EFORMAT);
    }
    assert_int_equal(open_bytes("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14), TN_EFORMAT);
    assert_int_equal(open_bytes("\x93NUMPY\2\0\xff\xff\xff\x7f{}", 14), TN_EFORMAT);
    assert_int_equal(open_bytes("\x93NUMPY\1\0\xff\xff{}", 12), TN_EFORMAT);
    assert_int_equal(open_bytes("\x93NUMPY\4\0\1\0{}", 12), TN_EUNSUPPORTED);
    assert_int_equal(open_bytes("\x93NUMPY\1\1\1\0{}", 12), TN_EUNSUPPORTED);
    assert_int_equal(open_bytes("\x93NUMPY", 6), TN_EFORMAT);
    assert_int_equal(open_bytes("PK\5\6", 4), TN_EFORMAT);
    assert_int_equal(open_bytes("GGUF", 4), TN_EFORMAT);
    assert_int_equal(open_bytes("", 0), TN_EFORMAT);
    assert_int_equal(open_npy(NPY("'<f4'", "False", "(7, 33)"), 72), TN_EFORMAT);
    assert_string_equal(tn_error(), "x: header says (7, 33) f32 = 924 bytes, the file has 72");
}

static tn_status open_safetensors(const char *header, size_t data)
{
    uint8_t bytes[4096] = {0};
    size_t n = strlen(header);
    bytes[0] = (uint8_t)n;
    bytes[1] = (uint8_t)(n >> 8);
    memcpy(bytes + 8, header, n);
    return open_bytes(bytes, 8 + n + data);
}

#define ST(NAME, DTYPE, SHAPE, OFFSETS)                                                        \
    "\"" NAME "\":{\"dtype\":\"" DTYPE "\",\"shape\":" SHAPE ",\"data_offsets\":" OFFSETS "}"

static void safetensors_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        tn_status status;
    } rows[] = {
        {"{}", 0, TN_OK},
        {"{}    ", 0, TN_OK},
        {"{}", 1, TN_EFORMAT},
        {"{} x", 0, TN_EFORMAT},
        {"{\"__metadata__\":{\"a\":\"b\"}}", 0, TN_OK},
        {"{\"__metadata__\":{\"a\":1}}", 0, TN_EFORMAT},
        {"{\"__metadata__\":[]}", 0, TN_EFORMAT},
        {"{" ST("a", "F32", "[2,3]", "[0,24]") "}", 24, TN_OK},
        {"{" ST("a", "F32", "[2,3]", "[0,24]") "}", 23, TN_EFORMAT},
        {"{" ST("a", "F32", "[2,3]", "[0,24]") "}", 25, TN_EFORMAT},
        {"{" ST("a", "F32", "[2,3]", "[1,25]") "}", 25, TN_EFORMAT},
        {"{" ST("a", "F32", "[2,3]", "[0,23]") "}", 23, TN_EFORMAT},
        {"{" ST("a", "F32", "[2,3]", "[24,0]") "}", 24, TN_EFORMAT},
        {"{" ST("a", "F32", "[2,3]", "[-24,0]") "}", 24, TN_EFORMAT},
        {"{" ST("a", "F32", "[]", "[0,4]") "}", 4, TN_OK},
        {"{" ST("a", "F32", "[0,3]", "[0,0]") "}", 0, TN_OK},
        {"{" ST("a", "F32", "[0,3]", "[0,0]") "," ST("b", "U8", "[3]", "[0,3]") "}", 3, TN_OK},
        {"{" ST("a", "F32", "[0,3]", "[1,1]") "," ST("b", "U8", "[3]", "[0,3]") "}", 3,
         TN_EFORMAT},
        {"{" ST("a", "U8", "[2]", "[0,2]") "," ST("b", "U8", "[2]", "[1,3]") "}", 3,
         TN_EFORMAT},
        {"{" ST("a", "U8", "[2]", "[0,2]") "," ST("b", "U8", "[2]", "[3,5]") "}", 5,
         TN_EFORMAT},
        {"{" ST("b", "U8", "[2]", "[2,4]") "," ST("a", "U8", "[2]", "[0,2]") "}", 4, TN_OK},
        {"{" ST("a", "U8", "[2]", "[0,2]") "," ST("a", "U8", "[2]", "[2,4]") "}", 4,
         TN_EFORMAT},
        {"{" ST("a", "U8", "[4294967296,4294967296]", "[0,0]") "}", 0, TN_EFORMAT},
        {"{" ST("a", "U8", "[0,4294967296,4294967296]", "[0,0]") "}", 0, TN_EFORMAT},
        {"{" ST("a", "U8", "[9223372036854775808]", "[0,0]") "}", 0, TN_EFORMAT},
        {"{" ST("a", "U8", "[-1]", "[0,0]") "}", 0, TN_EFORMAT},
        {"{" ST("a", "U8", "[2.0]", "[0,2]") "}", 2, TN_EFORMAT},
        {"{" ST("a", "U8", "2", "[0,2]") "}", 2, TN_EFORMAT},
        {"{" ST("a", "U8", "[2]", "[0,2,2]") "}", 2, TN_EFORMAT},
        {"{" ST("a", "U8", "[2]", "[0,\"2\"]") "}", 2, TN_EFORMAT},
        {"{" ST("a", "X9", "[2]", "[0,2]") "}", 2, TN_EUNSUPPORTED},
        {"{" ST("a", "F4", "[4]", "[0,2]") "}", 2, TN_OK},
        {"{" ST("a", "F4", "[3]", "[0,2]") "}", 2, TN_EFORMAT},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2]}}", 2, TN_EFORMAT},
        {"{\"a\":{\"dtype\":7,\"shape\":[2],\"data_offsets\":[0,2]}}", 2, TN_EFORMAT},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"\\ud800}}", 2,
         TN_EFORMAT},
        {"{\"a\":7}", 0, TN_EFORMAT},
        {"{7:{}}", 0, TN_EFORMAT},
        {"{\"a\" {}}", 0, TN_EFORMAT},
        {"{\"__metadata__\":{} \"a\":{}}", 0, TN_EFORMAT},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, TN_EFORMAT},
        {"{\"__metadata__\":{},}", 0, TN_EFORMAT},
        {"{" ST("a", "F32", "[0]", "[0,0]") "," ST("b", "F32", "[2,0]", "[0,0]") "}", 0, TN_OK},
        {"{\"a\\u0000b\":{}}", 0, TN_EFORMAT},
        {"{", 0, TN_EFORMAT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_status got = open_safetensors(rows[i].header, rows[i].data);
        if (got != rows[i].status)
            fail_msg("%s gives %s: %s", rows[i].header, tn_status_name(got), tn_error());
    }
    assert_int_equal(open_bytes("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), TN_EFORMAT);
    assert_int_equal(open_bytes("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10), TN_EFORMAT);
    assert_int_equal(open_bytes("\3\0\0\0\0\0\0\0{}", 10), TN_EFORMAT);
    assert_int_equal(open_bytes("\2\0\0\0\0\0\0\0[]", 10), TN_EFORMAT);

    char axes[600] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1";
    for (int i = 1; i < 65; i++)
        strcat(axes, ",1");
    strcat(axes, "],\"data_offsets\":[0,1]}}");
    assert_int_equal(open_safetensors(axes, 1), TN_EFORMAT);

    /* Nesting beyond any stack is the parser's error, not a crash. */
    size_t deep = 200000;
    char *text = malloc(8 + deep);
    memset(text, '[', 8 + deep);
    for (int i = 0; i < 8; i++)
        text[i] = (char)(deep >> 8 * i);
    memcpy(text + 8, "{\"a\":", 5);
    assert_int_equal(open_bytes(text, 8 + deep), TN_EFORMAT);
    free(text);
}

/* A .gguf of version 3 with `pairs` and `tensors` announced and the given bytes behind. */
static tn_status open_gguf(uint64_t tensors, uint64_t pairs, const void *rest, size_t n)
{
    uint8_t bytes[512] = "GGUF\3\0\0";
    for (int i = 0; i < 8; i++) {
        bytes[8 + i] = (uint8_t)(tensors >> 8 * i);
        bytes[16 + i] = (uint8_t)(pairs >> 8 * i);
    }
    memcpy(bytes + 24, rest, n);
    return open_bytes(bytes, 24 + n);
}

static void gguf_headers(void **state)
{
    (void)state;
    static const char list_in_list[] = "\1\0\0\0\0\0\0\0k\x9\0\0\0\x9\0\0\0\1\0\0\0\0\0\0\0";
    static const char huge_list[] = "\1\0\0\0\0\0\0\0k\x9\0\0\0\xa\0\0\0\0\0\0\0\0\0\0\x80";
    static const char huge_text[] = "\xff\xff\xff\xff\xff\xff\xff\xff";
    static const char no_type[] = "\1\0\0\0\0\0\0\0k\x63\0\0\0\0\0\0\0";
    static const char align[] = "\x11\0\0\0\0\0\0\0general.alignment\4\0\0\0\3\0\0\0";
    static const char axes[] = "\1\0\0\0\0\0\0\0t\xff\xff\0\0";
    static const char wraps[] = "\1\0\0\0\0\0\0\0t\2\0\0\0"
                                "\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0";
    static const char far[] = "\1\0\0\0\0\0\0\0t\1\0\0\0\1\0\0\0\0\0\0\0"
                              "\0\0\0\0\0\0\0\0\0\0\0\x80";
    assert_int_equal(open_gguf(0, 0, "", 0), TN_OK);
    assert_int_equal(open_gguf(1, 0, "", 0), TN_EFORMAT);
    assert_int_equal(open_gguf(UINT64_MAX, 0, "", 0), TN_EFORMAT);
    assert_int_equal(open_gguf(0, UINT64_MAX, "", 0), TN_EFORMAT);
    assert_int_equal(open_gguf(0, 1, list_in_list, sizeof list_in_list), TN_EFORMAT);
    assert_int_equal(open_gguf(0, 1, huge_list, sizeof huge_list), TN_EFORMAT);
    assert_int_equal(open_gguf(0, 1, huge_text, sizeof huge_text), TN_EFORMAT);
    assert_int_equal(open_gguf(0, 1, no_type, sizeof no_type), TN_EFORMAT);
    assert_int_equal(open_gguf(0, 1, align, sizeof align - 1), TN_EFORMAT);
    assert_int_equal(open_gguf(1, 0, huge_text, sizeof huge_text), TN_EFORMAT);
    assert_int_equal(open_gguf(1, 0, axes, sizeof axes), TN_EFORMAT);
    assert_int_equal(open_gguf(1, 0, wraps, sizeof wraps), TN_EFORMAT);
    assert_int_equal(open_gguf(1, 0, far, sizeof far), TN_EFORMAT);
    size_t whole = 24 + 8 + 20000 + 4 + 8 + 4 + 8, data = (whole + 31) / 32 * 32;
    uint8_t *bytes = calloc(1, data + 1);
    memcpy(bytes, "GGUF\3", 5);
    bytes[8] = 1;
    bytes[24] = (uint8_t)20000;
    bytes[25] = (uint8_t)(20000 >> 8);
    memset(bytes + 32, 'n', 20000); /* a name longer than the window */
    bytes[32 + 20000] = 1;
    bytes[36 + 20000] = 1;
    bytes[44 + 20000] = 24; /* one I8 */
    assert_int_equal(open_bytes(bytes, data + 1), TN_OK);
    free(bytes);
    assert_int_equal(open_bytes("GGUF\1\0\0\0\0\0\0\0\0\0\0\0", 16), TN_EUNSUPPORTED);
}

static tn_handle *counting;

static int setup(void **state)
{
    (void)state;
    tn_config config = {.alloc = count_alloc, .free = count_free};
    fd = memfd_create("damaged", MFD_CLOEXEC);
    return fd < 0 || tn_handle_create(&counting, TN_CPU, 0, &config) != TN_OK ||
           tn_handle_use(counting) != TN_OK;
}

static int teardown(void **state)
{
    (void)state;
    tn_handle_destroy(counting);
    return close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_headers),         cmocka_unit_test(npy_axes_and_lengths),
        cmocka_unit_test(safetensors_headers), cmocka_unit_test(gguf_headers),
        cmocka_unit_test(every_truncation),    cmocka_unit_test(every_flipped_bit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
