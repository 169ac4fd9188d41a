/* test_io_npy.c - headers of .npy: their text, versions and lengths, dtypes, byte order, many
 * axes. */
#include "io_made.h"

#include "io/io.h"

static void npy_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t data;
        tn_status status;
        int left;             /* bytes of the text after the one that is named */
        const char *sentence; /* after its byte, or a whole one */
    } rows[] = {
        {NPY("'<f4'", "(2,)"), 8, TN_OK, 0, NULL},
        {NPY("'0123456789012345678901'", "(2,)"), 8, TN_EUNSUPPORTED, 0,
         "x: dtype '0123456789012345678901' is not supported"},
        {NPY("'01234567890123456789012'", "(2,)"), 8, TN_EFORMAT, 41,
         "expected a short string for descr"},
        {NPY("'f 4'", "(2,)"), 8, TN_EUNSUPPORTED, 0, "x: dtype 'f 4' is not supported"},
        {NPY("'f\x1f"
             "4'",
             "(2,)"),
         8, TN_EFORMAT, 42, "expected a short string for descr"},
        {NPY("'<f4'", "(2"), 8, TN_EFORMAT, 1, "expected a comma or ) in shape"},
        {NPY("'<f4'", "(2, 3) ") "\t \n", 24, TN_OK, 0, NULL},
        {NPY("'<f4'", "(2, 3)") "x", 24, TN_EFORMAT, 1,
         "got text after the dictionary, expected its end"},
        {"{'descr': '<f4", 8, TN_EFORMAT, 0, "expected a short string for descr"},
        {"{'descr': '<f4'", 8, TN_EFORMAT, 0, "expected a key"},
        {"{'shape': (12", 8, TN_EFORMAT, 0, "expected a comma or ) in shape"},
        {"{'shape': (12L", 8, TN_EFORMAT, 0, "expected a comma or ) in shape"},
        {"{'shape': (", 8, TN_EFORMAT, 0, "expected an integer >= 0 in shape"},
        {"{'shape'   ", 8, TN_EFORMAT, 0, "expected a key"},
        {"{'fortran_order': Tru", 8, TN_EFORMAT, 3, "expected True or False for fortran_order"},
        {"", 8, TN_EFORMAT, 0, "expected a dictionary"},
        {"{'fortran_order': True, 'shape': (2,)}", 8, TN_EFORMAT, 0,
         "expected each of the keys descr, fortran_order and shape once"},
        {"{'descr': '<', 'fortran_order': False, 'shape': (2,)}", 8, TN_EUNSUPPORTED, 0, NULL},
        {"{'descr': '<f4', 'shape': (2,)}", 8, TN_EFORMAT, 0,
         "expected each of the keys descr, fortran_order and shape once"},
        {"{'descr': '<f4', 'fortran_order': True}", 8, TN_EFORMAT, 0,
         "expected each of the keys descr, fortran_order and shape once"},
    };
    for (int major = 1; major <= 3; major++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            npy(major, rows[i].text, strlen(rows[i].text));
            add_times(' ', rows[i].data); /* elements that would go on as blanks */
            const tn_status got = open_made(0, NULL);
            char want[200];
            const int head = major > 1 ? 12 : 10;
            if (rows[i].status == TN_EFORMAT)
                snprintf(want, sizeof want, "x: header, byte %d: %s",
                         head + (int)strlen(rows[i].text) - rows[i].left, rows[i].sentence);
            else
                snprintf(want, sizeof want, "%s", rows[i].sentence ? rows[i].sentence : "");
            if (got != rows[i].status || (want[0] && strcmp(tn_error(), want) != 0))
                fail_msg("%s: %s: %s", rows[i].text, tn_status_name(got), tn_error());
        }
}

static void npy_prefixes(void **state)
{
    (void)state;
    length = 0;
    add("\x93NUMPY\1\0\0\0", 10);
    REFUSED(TN_EFORMAT, "x: header, byte 10: expected a dictionary", open_made(0, NULL));
    REFUSED(TN_EFORMAT, "x: not a .npy: shorter than 10 bytes or wrong magic",
            open_made(1, NULL));
    length = 0;
    add("\x93NUMPY\2\0\0\0\0\0", 12);
    REFUSED(TN_EFORMAT, "x: header, byte 12: expected a dictionary", open_made(0, NULL));
    REFUSED(TN_EFORMAT, "x: truncated inside the header length", open_made(1, NULL));
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

static tn_status open_header(const char *header, size_t data, tn_file **f)
{
    char bytes[4096] = "\x93NUMPY\1\0";
    size_t n = strlen(header);
    bytes[8] = (char)(n & 255);
    bytes[9] = (char)(n >> 8);
    memcpy(bytes + 10, header, n);
    spit(in_folder("h.npy"), bytes, 10 + n + data);
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
        tn_status got = open_header(rows[i].header, rows[i].data, &f);
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

static void npy_lengths(void **state)
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
static void bytes_are_swapped(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_texts),
        cmocka_unit_test(npy_prefixes),
        cmocka_unit_test(npy_types_and_comments),
        cmocka_unit_test(npy_lengths),
        cmocka_unit_test(long_shapes_are_cut),
        cmocka_unit_test(bytes_are_swapped),
        cmocka_unit_test(long_npy_headers),
        cmocka_unit_test(headers_of_many_axes),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
