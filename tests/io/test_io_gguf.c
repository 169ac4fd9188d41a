/* test_io_gguf.c - headers of .gguf: values, alignment, shapes, names, types and versions.
 *
 * The last byte that is read is the last that is there, and one fewer is an error. */
#include "io_fail.h"
#include "io_made.h"

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
        spit(in_folder("x.gguf"), bytes, (size_t)data + 8);
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
            spit(in_folder("x.gguf"), bytes, (size_t)(64 + 2 * rows[k].bytes - less));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gguf_values),   cmocka_unit_test(gguf_alignments),
        cmocka_unit_test(gguf_shapes),   cmocka_unit_test(gguf_names),
        cmocka_unit_test(gguf_versions), cmocka_unit_test(gguf_data_are_aligned),
        cmocka_unit_test(gguf_types),    cmocka_unit_test(long_names_of_gguf),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
