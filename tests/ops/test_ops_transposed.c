/* test_ops_transposed.c - ops whose sources disagree about the dense axis: blocks of whole
 * lines, at every address of dst that an element may have, with the bytes around it
 * untouched. */
#include <string.h>

#include "layout.h"

enum { ROWS = 67, COLUMNS = 1300, MARGIN = 64, MOST = ROWS * (COLUMNS + 64) * 16 + 256 };

static _Alignas(64) char a_data[MOST], b_data[MOST], t_data[MOST], got[MOST], want[MOST];

/* Numbers that are exact in every dtype, rows of any width: the step of rows in bytes. */
static tn_tensor rows_of(char *data, tn_dtype dtype, int64_t rows, int64_t columns,
                         int64_t step)
{
    tn_tensor t;
    OK(tn_init(&t, data, dtype, 2, (int64_t[]){rows, columns}));
    t.stride[0] = step;
    return t;
}

static void numbers(const tn_tensor *t, int seed)
{
    tn_tensor column, row;
    OK(tn_alloc(&column, TN_I64, 2, (int64_t[]){t->shape[0], 1}));
    OK(tn_alloc(&row, TN_I64, 1, (int64_t[]){t->shape[1]}));
    for (int64_t i = 0; i < t->shape[0]; i++)
        ((int64_t *)column.data)[i] = i * seed % 23;
    for (int64_t i = 0; i < t->shape[1]; i++)
        ((int64_t *)row.data)[i] = i * seed % 29;
    tn_tensor sum;
    OK(tn_apply_copy(&sum, TN_ADD, NULL, 2, (const tn_tensor *const[]){&column, &row}));
    OK(tn_cast(t, &sum));
    tn_free(&sum);
    tn_free(&row);
    tn_free(&column);
}

/* a + b.T into dst, `into` bytes behind a line, beside a + (a dense copy of b.T). */
static void sum_at(tn_dtype dtype, int64_t rows, int64_t columns, int64_t gap, int64_t into)
{
    const int64_t width = (int64_t)tn_dtype_size(dtype), step = columns * width + gap;
    tn_tensor a = rows_of(a_data, dtype, rows, columns, columns * width), turned;
    tn_tensor b = rows_of(b_data, dtype, columns, rows, rows * width);
    const tn_tensor t = rows_of(t_data, dtype, rows, columns, columns * width);
    const tn_tensor d = rows_of(got + MARGIN + into, dtype, rows, columns, step);
    const tn_tensor w = rows_of(want + MARGIN + into, dtype, rows, columns, step);
    memset(got, 0x5a, sizeof got);
    memset(want, 0x5a, sizeof want);
    OK(tn_transpose(&turned, &b, 0, 1));
    OK(tn_rearrange(&t, &turned));
    OK(tn_add(&w, &a, &t));
    OK(tn_add(&d, &a, &turned));
    assert_memory_equal(got, want, sizeof got);
    assert_memory_not_equal(got + MARGIN + into, t_data, (size_t)(columns * width));
}

static void addresses(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_U8, TN_F16, TN_F32, TN_F64, TN_C128};
    for (int i = 0; i < 5; i++) {
        const int64_t width = (int64_t)tn_dtype_size(dtypes[i]);
        tn_tensor a = rows_of(a_data, dtypes[i], ROWS, COLUMNS, COLUMNS * width);
        tn_tensor b = rows_of(b_data, dtypes[i], COLUMNS, ROWS, ROWS * width);
        numbers(&a, 3);
        numbers(&b, 5);
        for (int64_t into = 0; into < 64; into += width < 8 ? 3 * width : width) {
            sum_at(dtypes[i], ROWS, 1280, 0, into); /* rows of dst are lines apart */
            sum_at(dtypes[i], ROWS, COLUMNS - 7, 0, into);
            sum_at(dtypes[i], 33, 1216, 64 * width, into);
        }
        sum_at(dtypes[i], ROWS, COLUMNS, 0, width == 1 ? 0 : 1); /* inside an element */
        sum_at(dtypes[i], 1, COLUMNS, 0, 0);
        sum_at(dtypes[i], ROWS, 97, 0, 0);
    }
}

/* An expression of several steps, and a comparison, whose result is narrower. */
static void programs(void **state)
{
    (void)state;
    enum { N = 160 };
    tn_tensor a = rows_of(a_data, TN_F32, N, N, N * 4),
              b = rows_of(b_data, TN_F32, N, N, N * 4);
    tn_tensor t = rows_of(t_data, TN_F32, N, N, N * 4), turned;
    numbers(&a, 3);
    numbers(&b, 5);
    OK(tn_transpose(&turned, &b, 0, 1));
    OK(tn_rearrange(&t, &turned));
    for (int64_t into = 0; into < 64; into += 4) {
        memset(got, 1, sizeof got);
        memset(want, 1, sizeof want);
        tn_tensor d = rows_of(got + into, TN_F32, N, N, N * 4), w = d;
        w.data = want + into;
        OK(tn_eval(&d, "sqrt(x*x + y) - y/3", 2, (const char *const[]){"x", "y"},
                   (const tn_tensor *const[]){&a, &turned}));
        OK(tn_eval(&w, "sqrt(x*x + y) - y/3", 2, (const char *const[]){"x", "y"},
                   (const tn_tensor *const[]){&a, &t}));
        assert_memory_equal(got, want, sizeof got);
        d = rows_of(got + into + 1, TN_BOOL, N, N, N);
        w = rows_of(want + into + 1, TN_BOOL, N, N, N);
        OK(tn_binary(TN_LT, &d, &a, &turned));
        OK(tn_binary(TN_LT, &w, &a, &t));
        assert_memory_equal(got, want, sizeof got);
    }
}

/* A conversion into narrower elements: a line of dst is several lines of the buffer, at every
 * address, where blocks end with the rows. */
static void narrower(void **state)
{
    (void)state;
    static const tn_dtype to[] = {TN_F16, TN_U8};
    enum { N = 1280 };
    tn_tensor b = rows_of(b_data, TN_F32, N, ROWS, ROWS * 4), turned;
    tn_tensor t = rows_of(t_data, TN_F32, ROWS, N, N * 4);
    numbers(&b, 5);
    OK(tn_transpose(&turned, &b, 0, 1));
    OK(tn_rearrange(&t, &turned));
    for (int i = 0; i < 2; i++)
        for (int64_t into = 0; into < 64; into += (int64_t)tn_dtype_size(to[i]))
            for (int64_t gap = 0; gap < 128; gap += 62) {
                const int64_t step = N * (int64_t)tn_dtype_size(to[i]) + gap;
                memset(got, 1, sizeof got);
                memset(want, 1, sizeof want);
                const tn_tensor d = rows_of(got + into, to[i], ROWS, N, step);
                const tn_tensor w = rows_of(want + into, to[i], ROWS, N, step);
                OK(tn_cast(&d, &turned));
                OK(tn_cast(&w, &t));
                assert_memory_equal(got, want, sizeof got);
            }
}

/* Two sources of three are transposed, rows and columns of any number. */
static void two_of_three(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{67, 1293}, {64, 1024}, {1, 97}, {65, 127}, {16, 1030}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t m = shapes[i][0], n = shapes[i][1];
        tn_tensor a = rows_of(a_data, TN_F32, m, n, n * 4),
                  b = rows_of(b_data, TN_F32, n, m, m * 4), turned;
        tn_tensor t = rows_of(t_data, TN_F32, m, n, n * 4);
        const tn_tensor d = rows_of(got, TN_F32, m, n, n * 4),
                        w = rows_of(want, TN_F32, m, n, n * 4);
        numbers(&a, 3);
        numbers(&b, 5);
        OK(tn_transpose(&turned, &b, 0, 1));
        OK(tn_rearrange(&t, &turned));
        memset(got, 1, sizeof got);
        memset(want, 1, sizeof want);
        OK(tn_ternary(TN_FMA, &d, &turned, &a, &turned));
        OK(tn_ternary(TN_FMA, &w, &t, &a, &t));
        assert_memory_equal(got, want, sizeof got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(programs),
        cmocka_unit_test(narrower),
        cmocka_unit_test(two_of_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
