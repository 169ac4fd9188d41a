/* test_io_safetensors.c - headers of .safetensors: their text, offsets, order, dtypes, metadata
 * and the longest ones. */
#include "io_made.h"

#include "io/safetensors/json.h"

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
         "x: tensor \"a\": invalid offsets 2 to 0"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", 3,
         "x: tensor \"a\" begins at 1, expected 0"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 1,
         "x: tensor \"a\" ends at byte 2 of the data, which has 1"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 3,
         "x: the tensors end at byte 63, the file has 64"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}x", 2,
         "x: header, byte 61: trailing text after the object"},
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
                               : "x: header has 100000001 bytes, the file has 100000009; at "
                                 "most 100000000 are supported",
                tn_file_open_fd(&f, fd, "x"));
    }
    assert_int_equal(ftruncate(fd, 0), 0);
}

static tn_status open_header(const char *header, size_t data)
{
    uint8_t bytes[4096] = {0};
    size_t n = strlen(header);
    bytes[0] = (uint8_t)n;
    bytes[1] = (uint8_t)(n >> 8);
    memcpy(bytes + 8, header, n);
    spit(in_folder("h.safetensors"), bytes, 8 + n + data);
    tn_file *f = NULL;
    tn_status status = tn_file_open(&f, in_folder("h.safetensors"));
    tn_file_close(f);
    return status;
}

static void safetensors_offsets(void **state)
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
        tn_status got = open_header(rows[i].header, rows[i].data);
        if (got != rows[i].status)
            fail_msg("%s gives %s: %s", rows[i].header, tn_status_name(got), tn_error());
    }
    /* a header of no bytes, and the brace behind it */
    spit(in_folder("h.safetensors"), "\0\0\0\0\0\0\0\0{}", 10);
    tn_file *f = NULL;
    assert_int_equal(tn_file_open(&f, in_folder("h.safetensors")), TN_EFORMAT);
    unlink(in_folder("h.safetensors"));
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
    assert_non_null(strstr(tn_error(), "trailing text after the object"));
    OK(tn_save_many(path, 1, names, ts, "{\"a\":\"b\"} \n"));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors_sentences),
        cmocka_unit_test(safetensors_axes),
        cmocka_unit_test(safetensors_types),
        cmocka_unit_test(safetensors_order),
        cmocka_unit_test(safetensors_longest),
        cmocka_unit_test(safetensors_offsets),
        cmocka_unit_test(a_header_of_more_than_100_mb),
        cmocka_unit_test(metadata_end_with_the_object),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
