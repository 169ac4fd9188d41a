/* test_io_corners.c - long paths, missing arguments, headers at the edge of what is read. */
#include "io_oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <zlib.h>

#include "io/io.h"
#include "io/sys.h"

static void put_file(const char *path, const void *bytes, size_t n)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
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
    put_file(path, "nothing", 7);
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
    assert_string_equal(tn_error(), "save: name 1 is NULL");
    assert_int_equal(tn_writer_open(&w, path, 2, names, holes, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "save: tensor 1 is NULL");
    assert_int_equal(tn_writer_open(&w, path, 2, names, bad, NULL), TN_EARG);
    assert_int_equal(tn_writer_open(&w, path, 3, names, ts, NULL), TN_EARG);
    assert_non_null(strstr(tn_error(), "two tensors are named \"a\""));
    assert_int_equal(tn_save_many(path, 2, names, holes, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "save_many: tensor 1 is NULL");
    assert_int_equal(tn_save_many(path, 2, unnamed, ts, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "save_many: name 1 is NULL");
    const tn_write_options wide = {.align = (1 << 20) + 1}, most = {.align = 1 << 20};
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, &wide), TN_EARG);
    assert_int_equal(tn_writer_open_fd(&w, 1, "-", &broken), TN_EARG);
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

/* ---- .npy ---- */

static tn_status open_npy(const char *header, size_t data, tn_file **f)
{
    char bytes[4096] = "\x93NUMPY\1\0";
    size_t n = strlen(header);
    bytes[8] = (char)(n & 255);
    bytes[9] = (char)(n >> 8);
    memcpy(bytes + 10, header, n);
    put_file(in_folder("h.npy"), bytes, 10 + n + data);
    return tn_file_open(f, in_folder("h.npy"));
}

static void npy_types_and_comments(void **state)
{
    (void)state;
#define H(DESCR, SHAPE) "{'descr': '" DESCR "', 'fortran_order': True, 'shape': " SHAPE "}"
    static const struct {
        const char *header;
        size_t data;
        tn_status status;
        tn_dtype dtype;
    } rows[] = {
        {H("bool", "(2,)"), 2, TN_OK, TN_BOOL},
        {H("complex64", "(2,)"), 16, TN_OK, TN_C64},
        {H("=f4", "(2,)"), 8, TN_OK, TN_F32},
        {H(">u1", "(2,)"), 2, TN_OK, TN_U8},
        {H("|V2", "(2,)"), 4, TN_OK, TN_U16},
        {H("=V2", "(2,)"), 4, TN_OK, TN_U16},
        {H("V2", "(2,)"), 4, TN_OK, TN_U16},
        {H("<V2", "(2,)"), 4, TN_OK, TN_BF16},
        {H("<V2", "(2,)") "#float16", 4, TN_OK, TN_F16},
        {H("<V2", "(2,)") "#  float16 of something\n", 4, TN_OK, TN_F16},
        {H("<V2", "(2,)") "#   ", 4, TN_OK, TN_BF16},
        {H("<V2", "(2,)") "# float32\n", 4, TN_OK, TN_BF16},
        {H("<V2", "(2,)") "# nothing-that-is-a-name", 4, TN_OK, TN_BF16},
        {H("<f2", "(2,)") "# bfloat16\n", 4, TN_OK, TN_F16},
        {H("<f4", "(2, 2)"), 16, TN_OK, TN_F32},
        {"{'fortran_order': True, 'shape': (2,)}", 8, TN_EFORMAT, 0},
        {"{'descr': '<f4', 'shape': (2,)}", 8, TN_EFORMAT, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_file *f = NULL;
        tn_tensor t = {.dtype = 0};
        tn_status got = open_npy(rows[i].header, rows[i].data, &f);
        if (got != rows[i].status)
            fail_msg("%s gives %s: %s", rows[i].header, tn_status_name(got), tn_error());
        if (got != TN_OK)
            continue;
        OK(tn_file_info(f, 0, NULL, &t, NULL));
        if (t.dtype != rows[i].dtype)
            fail_msg("%s is %s", rows[i].header, tn_dtype_name(t.dtype));
        tn_file_close(f);
    }
    unlink(in_folder("h.npy"));
}

static void npy_prefixes(void **state)
{
    (void)state;
    int64_t n = 7;
    const uint8_t good[12] = "\x93NUMPY\1\0\5", bad[12] = "\x93NUMPX\1\0\5";
    OK(tni_npy_length("x", good, 10, &n));
    assert_int_equal(n, 15);
    assert_int_equal(tni_npy_length("x", bad, 10, &n), TN_EFORMAT);
    assert_int_equal(tni_npy_length("x", good, 9, &n), TN_EFORMAT);
}

/* A shape that is too long for a sentence ends with dots. */
static void long_shapes_are_cut(void **state)
{
    (void)state;
    int64_t shape[64];
    char text[TNI_SHAPE_TEXT];
    for (int i = 0; i < 64; i++)
        shape[i] = INT64_MAX;
    tni_shape_text(text, 64, shape, "complex128");
    assert_non_null(strstr(text, "9223372036854775807, "));
    assert_string_equal(text + strlen(text) - strlen(", …) complex128"), ", …) complex128");
    assert_string_equal(tni_shape_text(text, 1, (int64_t[]){3}, "f32"), "(3,) f32");
    for (int i = 0; i < 64; i++)
        shape[i] = 1;
    for (shape[0] = 100; shape[0] <= 1000; shape[0] *= 10) { /* 112 bytes before axis 37, 113 */
        tni_shape_text(text, 38, shape, "f32");
        assert_int_equal(strlen(text), 112 + strlen(", 1) f32") + (shape[0] == 1000 ? 3 : 0));
        assert_int_equal(strstr(text, ", …) f32") != NULL, shape[0] == 1000);
    }
    assert_string_equal(tni_shape_text(text, 0, NULL, "f32"), "() f32");
}

/* Every width is swapped, and a byte stays. */
static void bytes_are_turned(void **state)
{
    (void)state;
    static const struct {
        tn_dtype dtype;
        const char *swapped;
    } rows[] = {{TN_U8, "0123456789abcdef"},  {TN_BF16, "1032547698badcfe"},
                {TN_F32, "32107654ba98fedc"}, {TN_F64, "76543210fedcba98"},
                {TN_C64, "32107654ba98fedc"}, {TN_C128, "76543210fedcba98"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char bytes[17] = "0123456789abcdef";
        tni_swap(bytes, 16 / tn_dtype_size(rows[i].dtype), rows[i].dtype);
        assert_string_equal(bytes, rows[i].swapped);
    }
}

/* ---- .safetensors ---- */

static tn_status open_safetensors(const char *header, size_t data)
{
    uint8_t bytes[4096] = {0};
    size_t n = strlen(header);
    bytes[0] = (uint8_t)n;
    bytes[1] = (uint8_t)(n >> 8);
    memcpy(bytes + 8, header, n);
    put_file(in_folder("h.safetensors"), bytes, 8 + n + data);
    tn_file *f = NULL;
    tn_status status = tn_file_open(&f, in_folder("h.safetensors"));
    tn_file_close(f);
    return status;
}

static void safetensors_edges(void **state)
{
    (void)state;
#define R(NAME, N, BEGIN, END)                                                                 \
    "\"" NAME "\":{\"dtype\":\"U8\",\"shape\":[" N "],\"data_offsets\":[" BEGIN "," END "]}"
    static const struct {
        const char *header;
        size_t data;
        tn_status status;
    } rows[] = {
        {"{}", 0, TN_OK},
        {"", 0, TN_EFORMAT},
        {"x", 0, TN_EFORMAT},
        {"{" R("a", "2", "0", "2") "," R("b", "0", "0", "0") "," R("c", "0", "0", "0") "}", 2,
         TN_OK},
        {"{" R("b", "0", "0", "0") "," R("a", "2", "0", "2") "," R("c", "0", "2", "2") "}", 2,
         TN_OK},
        {"{" R("a", "2", "0", "2") "," R("b", "1", "0", "1") "}", 3, TN_EFORMAT},
        {"{" R("a", "2", "0", "2") "," R("b", "1", "1", "2") "}", 3, TN_EFORMAT},
        {"{\"a\":{}}", 0, TN_EFORMAT},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0, TN_EFORMAT},
        {"{\"a\":{\"shape\":[1],\"shape\":[1]}}", 0, TN_EFORMAT},
        {"{\"a\":{\"data_offsets\":[0,1],\"data_offsets\":[0,1]}}", 0, TN_EFORMAT},
        {"{" R("a", "1", "0", "1,1,1") "}", 1, TN_EFORMAT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn_status got = open_safetensors(rows[i].header, rows[i].data);
        if (got != rows[i].status)
            fail_msg("%s gives %s: %s", rows[i].header, tn_status_name(got), tn_error());
    }
    /* a header of no bytes, and the brace behind it */
    put_file(in_folder("h.safetensors"), "\0\0\0\0\0\0\0\0{}", 10);
    tn_file *f = NULL;
    assert_int_equal(tn_file_open(&f, in_folder("h.safetensors")), TN_EFORMAT);
    unlink(in_folder("h.safetensors"));
}

/* ---- .gguf ---- */

/* The data begin at the next multiple of 32 behind the header, wherever that ends. */
static void gguf_data_are_aligned(void **state)
{
    (void)state;
    for (uint8_t length = 1; length <= 40; length++) {
        uint8_t bytes[256] = {'G', 'G', 'U', 'F', 3, 0, 0, 0, 1}; /* version 3, one tensor */
        uint8_t *at = bytes + 24;
        *at = length;
        memset(at + 8, 'n', length);
        at += 8 + length;
        at[0] = 1;           /* one axis */
        at[4] = 2;           /* of two */
        at += 4 + 8 + 4 + 8; /* type 0, f32, at 0 */
        int64_t data = (at - bytes + 31) / 32 * 32;
        put_file(in_folder("x.gguf"), bytes, (size_t)data + 8);
        tn_file *f = NULL;
        tn_tensor t;
        int64_t offset = 0;
        OK(tn_file_open(&f, in_folder("x.gguf")));
        OK(tn_file_info(f, 0, NULL, &t, &offset));
        assert_int_equal(offset, data);
        assert_int_equal(t.dtype, TN_F32);
        assert_int_equal(t.shape[0], 2);
        tn_file_close(f);
    }
    unlink(in_folder("x.gguf"));
}

/* Two blocks of every type take what ggml gives them, and not a byte less. */
static void gguf_types(void **state)
{
    (void)state;
    static const struct {
        uint8_t type;
        const char *name;
        int block, bytes;
        tn_dtype dtype;
    } rows[] = {
        {0, "F32", 1, 4, TN_F32},    {1, "F16", 1, 2, TN_F16},    {2, "Q4_0", 32, 18, 0},
        {3, "Q4_1", 32, 20, 0},      {6, "Q5_0", 32, 22, 0},      {7, "Q5_1", 32, 24, 0},
        {8, "Q8_0", 32, 34, 0},      {9, "Q8_1", 32, 36, 0},      {10, "Q2_K", 256, 84, 0},
        {11, "Q3_K", 256, 110, 0},   {12, "Q4_K", 256, 144, 0},   {13, "Q5_K", 256, 176, 0},
        {14, "Q6_K", 256, 210, 0},   {15, "Q8_K", 256, 292, 0},   {16, "IQ2_XXS", 256, 66, 0},
        {17, "IQ2_XS", 256, 74, 0},  {18, "IQ3_XXS", 256, 98, 0}, {19, "IQ1_S", 256, 50, 0},
        {20, "IQ4_NL", 32, 18, 0},   {21, "IQ3_S", 256, 110, 0},  {22, "IQ2_S", 256, 82, 0},
        {23, "IQ4_XS", 256, 136, 0}, {24, "I8", 1, 1, TN_I8},     {25, "I16", 1, 2, TN_I16},
        {26, "I32", 1, 4, TN_I32},   {27, "I64", 1, 8, TN_I64},   {28, "F64", 1, 8, TN_F64},
        {29, "IQ1_M", 256, 56, 0},   {30, "BF16", 1, 2, TN_BF16}, {34, "TQ1_0", 256, 54, 0},
        {35, "TQ2_0", 256, 66, 0},   {39, "MXFP4", 32, 17, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int less = 0; less < 2; less++) {
            uint8_t bytes[2048] = {'G', 'G', 'U', 'F', 3, 0, 0, 0, 1};
            uint8_t *at = bytes + 24;
            memcpy(at, "\1\0\0\0\0\0\0\0n\1\0\0\0", 13);
            at[13] = (uint8_t)(2 * rows[k].block);
            at[14] = (uint8_t)(2 * rows[k].block >> 8);
            at[21] = rows[k].type; /* its data are at 64 */
            put_file(in_folder("x.gguf"), bytes, (size_t)(64 + 2 * rows[k].bytes - less));
            tn_file *f = NULL;
            tn_tensor t;
            tn_status got = tn_file_open(&f, in_folder("x.gguf"));
            if (got != (less ? TN_EFORMAT : TN_OK))
                fail_msg("%s: %s: %s", rows[k].name, tn_status_name(got), tn_error());
            if (less)
                continue;
            assert_string_equal(tn_file_type(f, 0), rows[k].name);
            got = tn_file_info(f, 0, NULL, &t, NULL);
            assert_int_equal(got, rows[k].dtype ? TN_OK : TN_EUNSUPPORTED);
            if (rows[k].dtype)
                assert_int_equal(t.dtype, rows[k].dtype);
            tn_file_close(f);
        }
    unlink(in_folder("x.gguf"));
}

/* ---- .npz ---- */

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
    put_file(in_folder("x.npz"), zip, (size_t)(at - zip));
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

/* ---- long headers ---- */

static void headers_of_many_axes(void **state)
{
    (void)state;
    static const char *const files[] = {"x.npy", "x.npz", "x.safetensors"};
    int64_t shape[64];
    for (int i = 0; i < 64; i++)
        shape[i] = i % 20 ? 1 : 2;
    tn_tensor t, got;
    make_golden(&t, TN_F64, 64, shape);
    for (int k = 0; k < 3; k++) {
        tn_file *f = NULL;
        OK(tn_save(in_folder(files[k]), &t));
        OK(tn_file_open(&f, in_folder(files[k])));
        OK(tn_file_read(f, 0, &got));
        assert_int_equal(got.ndim, 64);
        assert_golden(&got, files[k]);
        tn_free(&got);
        tn_file_close(f);
        unlink(in_folder(files[k]));
    }
    tn_free(&t);
}

/* ---- temporary files ---- */

static int nameless_error, link_error;

static int refuse(const char *call, size_t *n)
{
    (void)n;
    return !strcmp(call, "nameless") ? nameless_error : !strcmp(call, "link") ? link_error : 0;
}

static void file_systems_without_nameless_files(void **state)
{
    (void)state;
    static const int errors[] = {EOPNOTSUPP, EISDIR, EINVAL};
    float x[2] = {1, 2};
    tn_tensor t;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){2}));
    tni_sys_hook = refuse;
    for (int i = 0; i < 3; i++) {
        nameless_error = errors[i];
        OK(tn_save(in_folder("x.npy"), &t));
        assert_int_equal(unlink(in_folder("x.npy")), 0);
        assert_int_equal(tn_save(in_folder("none/x.npy"), &t), TN_EIO);
    }
    nameless_error = EACCES;
    assert_int_equal(tn_save(in_folder("x.npy"), &t), TN_EIO);
    assert_non_null(strstr(tn_error(), "Permission denied"));
    nameless_error = 0;
    link_error = EPERM;
    assert_int_equal(tn_save(in_folder("x.npy"), &t), TN_EIO);
    assert_non_null(strstr(tn_error(), "Operation not permitted"));
    link_error = 0;
    tni_sys_hook = NULL;
    assert_int_equal(access(in_folder("x.npy"), F_OK), -1);
    assert_int_equal(tni_sys_close(-1), EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file_has_no_facts),
        cmocka_unit_test(long_paths_are_cut_in_sentences),
        cmocka_unit_test(paths_that_name_no_file),
        cmocka_unit_test(writers_name_what_is_missing),
        cmocka_unit_test(npy_types_and_comments),
        cmocka_unit_test(npy_prefixes),
        cmocka_unit_test(long_shapes_are_cut),
        cmocka_unit_test(bytes_are_turned),
        cmocka_unit_test(safetensors_edges),
        cmocka_unit_test(gguf_data_are_aligned),
        cmocka_unit_test(gguf_types),
        cmocka_unit_test(long_deflated_members),
        cmocka_unit_test(headers_of_many_axes),
        cmocka_unit_test(file_systems_without_nameless_files),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
