/* test_view_print.c - tensors as text: every dtype, long axes, cuts at every size. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "view_oracle.h"

#define OK(call) assert_int_equal((call), TN_OK)

static void prints(const tn_tensor *t, const char *want)
{
    char text[8000];
    memset(text, 'X', sizeof text);
    OK(tn_print(t, text, sizeof text));
    assert_string_equal(text, want);
    assert_int_equal(tn_print_size(t), strlen(want) + 1);
}

static void every_dtype(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0, 127, 255, 1};
    static const int16_t i16[] = {-32768, 5, 32767};
    static const uint16_t u16[] = {65535, 0, 10};
    static const int32_t i32[] = {INT32_MIN, 12};
    static const uint32_t u32[] = {UINT32_MAX, 12};
    static const int64_t i64[] = {INT64_MIN, INT64_MAX};
    static const uint64_t u64[] = {UINT64_MAX, 0};
    static const struct {
        tn_dtype dtype;
        const void *data;
        int64_t n;
        const char *text;
    } rows[] = {
        {TN_BOOL, bytes, 4, "[false,  true,  true,  true]"},
        {TN_I8, bytes, 4, "[  0, 127,  -1,   1]"},
        {TN_U8, bytes, 4, "[  0, 127, 255,   1]"},
        {TN_I16, i16, 3, "[-32768,      5,  32767]"},
        {TN_U16, u16, 3, "[65535,     0,    10]"},
        {TN_I32, i32, 2, "[-2147483648,          12]"},
        {TN_U32, u32, 2, "[4294967295,         12]"},
        {TN_I64, i64, 2, "[-9223372036854775808,  9223372036854775807]"},
        {TN_U64, u64, 2, "[18446744073709551615,                    0]"},
    };
    tn_tensor t;
    for (int k = 0; k < COUNT(rows); k++) {
        OK(tn_init_const(&t, rows[k].data, rows[k].dtype, 1, &rows[k].n, NULL));
        prints(&t, rows[k].text);
    }
    const uint8_t e4m3[] = {0x38, 0x7e, 0xb8, 0x01, 0x7f};
    OK(tn_init_const(&t, e4m3, TN_F8E4M3, 1, (int64_t[]){5}, NULL));
    prints(&t, "[  1.   , 448.   ,  -1.   ,   0.002, nan    ]");
    const uint8_t e5m2[] = {0x3c, 0x7b, 0xfc, 0x01};
    OK(tn_init_const(&t, e5m2, TN_F8E5M2, 1, (int64_t[]){4}, NULL));
    prints(&t, "[    1.   , 57344.   ,  -inf    ,     2e-05]");
    const uint16_t half[] = {0x3c00, 0x3555, 0x7bff, 0xfc00};
    OK(tn_init_const(&t, half, TN_F16, 1, (int64_t[]){4}, NULL));
    prints(&t, "[    1.    ,     0.3333, 65504.    ,  -inf     ]");
    const uint16_t brain[] = {0x3f80, 0x4049, 0xff80};
    OK(tn_init_const(&t, brain, TN_BF16, 1, (int64_t[]){3}, NULL));
    prints(&t, "[   1.  ,    3.14, -inf   ]");
    const float f[] = {0.1f, -2.5f, 1e10f, 16777216.0f, 1e-7f, NAN};
    OK(tn_init_const(&t, f, TN_F32, 2, (int64_t[]){2, 3}, NULL));
    prints(&t, "[[          0.1  ,          -2.5  , 10000000000.   ],\n"
               " [   16777216.   ,           1e-07,         nan    ]]");
    const double d[] = {0.1 + 0.2, -0.0, 123456789.0, 1e300};
    OK(tn_init_const(&t, d, TN_F64, 1, (int64_t[]){4}, NULL));
    prints(&t, "[        0.3   ,        -0.    , 123456789.    ,         1e+300]");
    const double edge[] = {1e15, 1e16, 1e-4, 1e-5, INFINITY, 123456.789};
    OK(tn_init_const(&t, edge, TN_F64, 2, (int64_t[]){3, 2}, NULL));
    prints(&t, "[[1000000000000000.    ,                1e+16 ],\n"
               " [               0.0001,                1e-05 ],\n"
               " [             inf     ,           123456.79  ]]");
    const float c[] = {1, 2, -0.5f, -3};
    OK(tn_init_const(&t, c, TN_C64, 1, (int64_t[]){2}, NULL));
    prints(&t, "[  1.+2.j, -0.5-3.j]");
    OK(tn_init_const(&t, d, TN_C128, 0, NULL, NULL));
    prints(&t, "0.3-0.j");
}

static void every_shape(void **state)
{
    (void)state;
    int32_t x[2000];
    for (int i = 0; i < 2000; i++)
        x[i] = i;
    tn_tensor t;
    OK(tn_init(&t, x + 7, TN_I32, 0, NULL));
    prints(&t, "7");
    OK(tn_init(&t, x, TN_I32, 2, (int64_t[]){2, 3}));
    prints(&t, "[[0, 1, 2],\n [3, 4, 5]]");
    OK(tn_transpose(&t, &t, 0, 1));
    OK(tn_flip(&t, &t, 0));
    prints(&t, "[[2, 5],\n [1, 4],\n [0, 3]]");
    OK(tn_init(&t, x, TN_I32, 3, (int64_t[]){2, 1, 2}));
    prints(&t, "[[[0, 1]],\n\n [[2, 3]]]");
    OK(tn_init(&t, x, TN_I32, 1, (int64_t[]){12}));
    prints(&t, "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11]");
    OK(tn_init(&t, x, TN_I32, 1, (int64_t[]){13}));
    prints(&t, "[ 0,  1,  2, ..., 10, 11, 12]");
    OK(tn_init(&t, x, TN_I32, 2, (int64_t[]){200, 7}));
    prints(&t, "[[   0,    1,    2, ...,    4,    5,    6],\n"
               " [   7,    8,    9, ...,   11,   12,   13],\n"
               " [  14,   15,   16, ...,   18,   19,   20],\n"
               " ...,\n"
               " [1379, 1380, 1381, ..., 1383, 1384, 1385],\n"
               " [1386, 1387, 1388, ..., 1390, 1391, 1392],\n"
               " [1393, 1394, 1395, ..., 1397, 1398, 1399]]");
    char text[8000];
    OK(tn_init(&t, x, TN_I32, 3, (int64_t[]){10, 10, 10}));
    OK(tn_print(&t, text, sizeof text));
    assert_null(strstr(text, "..."));
    OK(tn_init(&t, x, TN_I32, 3, (int64_t[]){11, 10, 10}));
    OK(tn_print(&t, text, sizeof text));
    assert_non_null(strstr(text, "..."));
    OK(tn_init(&t, x, TN_I32, 4, (int64_t[]){6, 6, 6, 6}));
    OK(tn_print(&t, text, sizeof text));
    assert_null(strstr(text, "..."));
    OK(tn_init(&t, NULL, TN_I32, 1, (int64_t[]){0}));
    prints(&t, "[]");
    OK(tn_init(&t, NULL, TN_I32, 2, (int64_t[]){2, 0}));
    prints(&t, "[[],\n []]");
    OK(tn_init(&t, NULL, TN_I32, 2, (int64_t[]){0, 2}));
    prints(&t, "[]");
    OK(tn_init_strided(&t, x, TN_I32, 2, (int64_t[]){1, 2}, (int64_t[]){INT64_MIN, 4}));
    prints(&t, "[[0, 1]]");
    OK(tn_broadcast_to(&t, &t, 2, (int64_t[]){2, 2}));
    prints(&t, "[[0, 1],\n [0, 1]]");
}

static void the_text_is_cut_to_any_size(void **state)
{
    (void)state;
    const float x[] = {1.5f, 2, 3, 4, 5, 1000};
    tn_tensor t;
    OK(tn_init_const(&t, x, TN_F32, 2, (int64_t[]){2, 3}, NULL));
    char whole[100];
    OK(tn_print(&t, whole, sizeof whole));
    for (size_t size = 1; size <= strlen(whole) + 2; size++) {
        char *text = malloc(size); /* exactly, so that a byte too far is seen */
        assert_non_null(text);
        memset(text, 'X', size);
        OK(tn_print(&t, text, size));
        assert_true(strlen(text) < size);
        assert_int_equal(strlen(text), size > strlen(whole) ? strlen(whole) : size - 1);
        free(text);
    }
}

/* A cut text does not cost the work of the whole one. */
static void huge_tensors_print_at_once(void **state)
{
    (void)state;
    const float one = 1;
    tn_tensor t;
    int64_t twos[TN_MAX_NDIM], zeros[TN_MAX_NDIM] = {0};
    for (int i = 0; i < TN_MAX_NDIM; i++)
        twos[i] = i < 60 ? 2 : 1;
    OK(tn_init_const(&t, &one, TN_F32, TN_MAX_NDIM, twos, zeros));
    char text[1000];
    OK(tn_print(&t, text, sizeof text));
    assert_int_equal(strlen(text), sizeof text - 1);
    twos[63] = 0;
    OK(tn_init_const(&t, NULL, TN_F32, TN_MAX_NDIM, twos, zeros));
    OK(tn_print(&t, text, sizeof text));
    OK(tn_init_const(&t, &one, TN_F32, 1, (int64_t[]){INT64_MAX / 4}, zeros));
    prints(&t, "[1., 1., 1., ..., 1., 1., 1.]");
}

/* The size is that of the whole text, and of nothing for what cannot be printed. */
static void the_size_fits_exactly(void **state)
{
    (void)state;
    float x[1200];
    for (int i = 0; i < COUNT(x); i++)
        x[i] = (float)i / 7;
    tn_tensor t;
    for (int n = 0; n <= COUNT(x); n += 25) {
        OK(tn_init(&t, x, TN_F32, 2, (int64_t[]){n / 25, 25}));
        const size_t size = tn_print_size(&t);
        char *text = malloc(size);
        assert_non_null(text);
        OK(tn_print(&t, text, size));
        assert_int_equal(strlen(text), size - 1);
        free(text);
    }
    t.data = NULL;
    assert_int_equal(tn_print_size(&t), 0);
    assert_int_equal(tn_print_size(NULL), 0);
    assert_string_equal(tn_error(), "print_size: t is NULL");
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    const float x = 1.5f;
    tn_tensor t;
    OK(tn_init_const(&t, &x, TN_F32, 0, NULL, NULL));
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        prints(&t, "1.5");
    setlocale(LC_NUMERIC, "C");
    prints(&t, "1.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype),
        cmocka_unit_test(every_shape),
        cmocka_unit_test(the_text_is_cut_to_any_size),
        cmocka_unit_test(huge_tensors_print_at_once),
        cmocka_unit_test(the_size_fits_exactly),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
