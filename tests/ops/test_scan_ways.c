/* test_scan_ways.c - the way and the class of a running reduction, as its plan names them, and
 * sums of floats that are moved as they are. */
#include "reduce_oracle.h"

/* Parts one after the other: no machine has too few threads. */
static void in_order(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    (void)user;
    for (int i = 0; i < parts; i++)
        body(arg, i);
}

/* The text of a fact that scans have, or "". */
static const char *fact_named(const tn_facts *f, const char *name)
{
    for (int i = 0; i < f->nmore; i++)
        if (!strcmp(f->more[i].name, name))
            return f->more[i].text;
    return "";
}

static const struct {
    const char *way, *elements;
    tn_scan_op op;
    tn_dtype dtype, dst;
    int threads, dim;
    int64_t shape[2];
} rows[] = {
    {"nothing", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 0, {0, 7}},
    {"columns", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 0, {500, 100}},
    {"columns", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 0, {500, 2}},
    {"columns", "f64 in a buffer", TN_SCAN_PROD, TN_F32, TN_F32, 1, 0, {500, 16}},
    {"line", "f64 in a buffer", TN_SCAN_PROD, TN_F32, TN_F32, 1, 0, {500, 15}},
    {"columns", "keys", TN_SCAN_MAX, TN_F64, TN_F64, 1, 0, {500, 4}},
    {"columns", "keys", TN_SCAN_MIN, TN_U8, TN_U8, 1, 0, {500, 4}},
    {"columns", "keys", TN_SCAN_MIN, TN_U8, TN_U8, 1, 0, {500, 2}},
    {"columns", "keys", TN_SCAN_MIN, TN_U8, TN_U8, 3, 0, {24000, 7}},
    {"column rounds", "keys", TN_SCAN_MIN, TN_U8, TN_U8, 3, 0, {30000, 7}},
    {"column rounds", "keys", TN_SCAN_MAX, TN_F64, TN_F64, 3, 0, {30000, 512}},
    {"columns", "integers in a buffer", TN_SCAN_SUM, TN_I8, TN_I64, 1, 0, {500, 4}},
    {"columns", "words as they are", TN_SCAN_SUM, TN_U64, TN_I64, 1, 0, {500, 2}},
    {"column rounds", "words as they are", TN_SCAN_SUM, TN_U64, TN_I64, 3, 0, {30000, 7}},
    {"column rounds", "words as they are", TN_SCAN_SUM, TN_I64, TN_I64, 3, 0, {30000, 512}},
    {"columns", "words as they are", TN_SCAN_SUM, TN_I64, TN_I64, 3, 0, {30000, 513}},
    {"columns", "words as they are", TN_SCAN_SUM, TN_I64, TN_I64, 3, 0, {24000, 7}},
    {"short rows", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 1, {500, 12}},
    {"short rows", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 1, {32, 47}},
    {"short rows", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 1, {32, 511}},
    {"short rows", "keys", TN_SCAN_MIN, TN_F64, TN_F64, 1, 1, {500, 12}},
    {"short rows", "words as they are", TN_SCAN_SUM, TN_I64, TN_I64, 1, 1, {500, 12}},
    {"transpose", "f64 in a buffer", TN_SCAN_PROD, TN_F32, TN_F32, 1, 1, {500, 12}},
    {"line", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 1, {31, 47}},
    {"line", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 1, {500, 513}},
    {"line", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 1, {500, 64}},
    {"line", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 1, 1, {1, 1 << 20}},
    {"rounds", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 3, 1, {1, 1 << 20}},
    {"rounds", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 3, 1, {2, 1 << 20}},
    {"line", "floats as they are", TN_SCAN_SUM, TN_F32, TN_F32, 3, 1, {3, 1 << 20}},
    {"rounds", "keys", TN_SCAN_MAX, TN_F32, TN_F32, 3, 1, {1, 1 << 20}},
    {"line", "keys", TN_SCAN_MAX, TN_F32, TN_F32, 3, 1, {3, 1 << 20}},
    {"rounds", "products of integers", TN_SCAN_PROD, TN_I8, TN_I64, 3, 1, {1, 1 << 20}},
    {"line", "complex products", TN_SCAN_PROD, TN_C64, TN_C64, 3, 1, {1, 1 << 20}},
    {"line", "logsumexp", TN_SCAN_LOGSUMEXP, TN_F32, TN_F32, 3, 0, {100, 100}},
    {"line", "bool", TN_SCAN_MAX, TN_BOOL, TN_BOOL, 3, 0, {100, 100}},
};

/* Each layout takes the way that is meant for it, and each dtype the class. */
static void test_ways(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(rows); k++) {
        tn_tensor src, dst;
        tn_plan *plan;
        tn_facts facts;
        tn_handle *handle;
        OK(tn_handle_create(
            &handle, TN_CPU, 0,
            &(tn_config){.threads = rows[k].threads, .parallel_for = in_order}));
        OK(tn_handle_use(handle));
        OK(tn_init(&src, NULL, rows[k].dtype, 2, rows[k].shape));
        OK(tn_init(&dst, NULL, rows[k].dst, 2, rows[k].shape));
        OK(tn_plan_scan(&plan, rows[k].op, &dst, &src, rows[k].dim));
        OK(tn_plan_facts(&facts, plan));
        const char *way = rows[k].way;
        if (!strcmp(way, "short rows") && !strcmp(tn_isa(), "base")) /* has no kernels */
            way = rows[k].shape[1] < 48 ? "transpose" : "line";
        if (strcmp(facts.way, way) != 0 ||
            strcmp(fact_named(&facts, "elements"), rows[k].elements) != 0)
            fail_msg("row %d: %s of %s", (int)k, facts.way, fact_named(&facts, "elements"));
        assert_true(facts.why[0] != 0);
        tn_plan_free(plan);
        OK(tn_handle_use(NULL));
        tn_handle_destroy(handle);
    }
}

/* Normal numbers times 2^power, with a -0 and a NaN among them. */
static void fill_numbers(const tn_tensor *numbers, uint64_t seed, int power)
{
    float *x = numbers->data;
    const int64_t n = tn_numel(numbers);
    OK(tn_randn(numbers, seed));
    for (int64_t i = 0; i < n; i++)
        x[i] = ldexpf(x[i], power);
    x[0] = -0.0f;
    x[n - 3] = NAN;
}

/* Sums in f64, rounded once: few columns, and rows, of floats that are moved as they are; also
 * of numbers that are near the smallest and the largest of the dtype. */
static void test_moved(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16};
    static const int64_t widths[] = {1, 2, 3, 7, 8, 9, 15, 17, 40};
    static const int powers[][3] = {{0, -140, 124}, {0, -20, 13}, {0, -131, 124}};
    for (size_t c = 0; c < COUNT(widths) * COUNT(dtypes) * 12; c++) {
        const size_t k = c % COUNT(dtypes);
        const int64_t w = widths[c / 12 / COUNT(dtypes)], n = c & 1 ? 4099 : 13;
        const int dim = c / COUNT(dtypes) & 1;
        const int64_t shape[2] = {dim ? w : n, dim ? n : w};
        tn_tensor numbers, src, wide, want, got;
        OK(tn_alloc(&numbers, TN_F32, 2, shape));
        OK(tn_alloc(&src, dtypes[k], 2, shape));
        OK(tn_alloc(&wide, TN_F64, 2, shape));
        OK(tn_alloc(&want, dtypes[k], 2, shape));
        OK(tn_alloc(&got, dtypes[k], 2, shape));
        fill_numbers(&numbers, c, powers[k][c / 4 % 3]);
        OK(tn_cast(&src, &numbers));
        OK(tn_scan(TN_SCAN_SUM, &wide, &src, dim));
        OK(tn_cast(&want, &wide));
        OK(tn_scan(TN_SCAN_SUM, &got, &src, dim));
        assert_memory_equal(want.data, got.data, (size_t)tn_nbytes(&got));
        tn_free(&numbers), tn_free(&src), tn_free(&wide), tn_free(&want), tn_free(&got);
    }
}

/* Columns whose blocks threads divide have the bits of one thread, also longer by one and in
 * place. */
static void test_column_rounds(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16, TN_F64, TN_I64};
    static const int64_t widths[] = {2, 3, 7, 31, 129};
    tn_handle *one, *three;
    OK(tn_handle_create(&one, TN_CPU, 0, &(tn_config){.threads = 1}));
    OK(tn_handle_create(&three, TN_CPU, 0,
                        &(tn_config){.threads = 3, .parallel_for = in_order}));
    for (size_t c = 0; c < COUNT(dtypes) * COUNT(widths) * 2; c++) {
        const tn_dtype t = dtypes[c % COUNT(dtypes)];
        const bool longer = c >= COUNT(dtypes) * COUNT(widths);
        const int64_t shape[2] = {26001, widths[c / COUNT(dtypes) % COUNT(widths)]};
        const int64_t made[2] = {shape[0] + longer, shape[1]};
        tn_tensor numbers, src, want, got;
        OK(tn_alloc(&numbers, TN_F32, 2, shape));
        OK(tn_alloc(&src, t, 2, shape));
        OK(tn_alloc(&want, t, 2, made));
        OK(tn_alloc(&got, t, 2, made));
        fill_numbers(&numbers, c, 3);
        if (t == TN_I64)
            ((float *)numbers.data)[tn_numel(&numbers) - 3] = 0;
        OK(tn_cast(&src, &numbers));
        OK(tn_handle_use(one));
        OK(tn_scan(TN_SCAN_SUM, &want, &src, 0));
        OK(tn_handle_use(three));
        OK(tn_scan(TN_SCAN_SUM, &got, &src, 0));
        assert_memory_equal(want.data, got.data, (size_t)tn_nbytes(&got));
        if (!longer) {
            OK(tn_scan(TN_SCAN_SUM, &src, &src, 0));
            assert_memory_equal(want.data, src.data, (size_t)tn_nbytes(&got));
        }
        OK(tn_handle_use(NULL));
        tn_free(&numbers), tn_free(&src), tn_free(&want), tn_free(&got);
    }
    tn_handle_destroy(one);
    tn_handle_destroy(three);
}

/* Whether y follows x in a running maximum, or minimum: NaN follows all, +0 is larger than
 * -0. */
static bool follows(scalar y, scalar x, bool least)
{
    if (isnan(x.re) || isnan(y.re))
        return !isnan(x.re);
    if (x.re == y.re)
        return signbit(least ? y.re : x.re) && !signbit(least ? x.re : y.re);
    return least ? y.re < x.re : y.re > x.re;
}

/* Running maxima and minima of several blocks, one element after the other: down any number of
 * columns, with gaps and in place, by one thread and by three. */
static void test_extremes(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_F8E5M2, TN_F16, TN_F32, TN_F64, TN_I8, TN_I64};
    static const int64_t widths[] = {1, 2, 3, 7, 15, 16, 17, 129};
    const size_t some = COUNT(widths) - TEST_WATCHED;
    tn_handle *handles[2];
    for (int i = 0; i < 2; i++)
        OK(tn_handle_create(&handles[i], TN_CPU, 0,
                            &(tn_config){.threads = 1 + 2 * i, .parallel_for = in_order}));
    for (size_t c = 0; c < COUNT(dtypes) * some * 2; c += TEST_WATCHED ? 7 : 1) {
        const tn_dtype t = dtypes[c % COUNT(dtypes)];
        const bool least = c >= COUNT(dtypes) * some;
        const int64_t w = widths[c / COUNT(dtypes) % some], n = 26001, shape[2] = {n, w},
                      wide[2] = {n, w + 1};
        const size_t width = tn_dtype_size(t);
        tn_tensor numbers, src, want, got, gaps, part;
        OK(tn_alloc(&numbers, TN_F32, 2, shape));
        OK(tn_alloc(&src, t, 2, shape));
        OK(tn_alloc(&want, t, 2, shape));
        OK(tn_alloc(&got, t, 2, shape));
        OK(tn_alloc(&gaps, t, 2, wide));
        fill_numbers(&numbers, c, 2);
        if (is_int(t))
            ((float *)numbers.data)[tn_numel(&numbers) - 3] = 0;
        OK(tn_cast(&src, &numbers));
        const char *x = src.data;
        char *y = want.data;
        memcpy(y, x, (size_t)w * width);
        for (int64_t i = w; i < n * w; i++) {
            const char *last = y + (size_t)(i - w) * width, *own = x + (size_t)i * width;
            scalar a = scalar_at(last, t), b = scalar_at(own, t);
            if (is_int(t))
                a.re = (double)a.i, b.re = (double)b.i;
            memcpy(y + (size_t)i * width, follows(b, a, least) ? own : last, width);
        }
        const tn_scan_op op = least ? TN_SCAN_MIN : TN_SCAN_MAX;
        for (int i = 0; i < 2; i++) {
            OK(tn_handle_use(handles[i]));
            OK(tn_scan(op, &got, &src, 0));
            assert_memory_equal(want.data, got.data, (size_t)tn_nbytes(&got));
            OK(tn_slice(&part, &gaps, 1, 1, w + 1, 1));
            OK(tn_scan(op, &part, &src, 0));
            OK(tn_rearrange(&got, &part));
            assert_memory_equal(want.data, got.data, (size_t)tn_nbytes(&got));
        }
        OK(tn_scan(op, &src, &src, 0));
        assert_memory_equal(want.data, src.data, (size_t)tn_nbytes(&got));
        OK(tn_handle_use(NULL));
        tn_free(&numbers), tn_free(&src), tn_free(&want), tn_free(&got), tn_free(&gaps);
    }
    for (int i = 0; i < 2; i++)
        tn_handle_destroy(handles[i]);
}

/* The bits of short rows that follow one another are those of each by itself, also in place and
 * by three threads. */
static void test_short_rows(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16, TN_F64, TN_F8E5M2,
                                      TN_I8,  TN_U16, TN_I32,  TN_I64};
    static const int64_t widths[] = {2,  3,  4,  5,  6,  7,  8,   9,   10,  12, 15,
                                     16, 17, 31, 32, 33, 47, 100, 127, 511, 512};
    static const tn_scan_op ops[] = {TN_SCAN_SUM, TN_SCAN_MAX, TN_SCAN_MIN};
    tn_handle *three;
    OK(tn_handle_create(&three, TN_CPU, 0,
                        &(tn_config){.threads = 3, .parallel_for = in_order}));
    for (size_t c = 0; c < COUNT(dtypes) * COUNT(widths) * 6; c += TEST_WATCHED ? 5 : 1) {
        const tn_dtype t = dtypes[c % COUNT(dtypes)];
        const int64_t n = widths[c / 6 / COUNT(dtypes)],
                      rows_of = n > 50 ? 37 : 9 * (int)(c % 4) + 35;
        const tn_scan_op op = ops[c / COUNT(dtypes) % 3];
        const int64_t shape[2] = {rows_of, n};
        tn_tensor numbers, src, want, got, from, to;
        OK(tn_alloc(&numbers, TN_F32, 2, shape));
        OK(tn_alloc(&src, t, 2, shape));
        OK(tn_alloc(&want, t, 2, shape));
        OK(tn_alloc(&got, t, 2, shape));
        fill_numbers(&numbers, c, 4);
        if (is_int(t))
            ((float *)numbers.data)[tn_numel(&numbers) - 3] = 0;
        OK(tn_cast(&src, &numbers));
        for (int64_t i = 0; i < rows_of; i++) {
            OK(tn_slice(&from, &src, 0, i, i + 1, 1));
            OK(tn_slice(&to, &want, 0, i, i + 1, 1));
            OK(tn_scan(op, &to, &from, 1));
        }
        OK(tn_scan(op, &got, &src, 1));
        assert_memory_equal(want.data, got.data, (size_t)tn_nbytes(&got));
        OK(tn_handle_use(three));
        OK(tn_scan(op, &src, &src, 1));
        assert_memory_equal(want.data, src.data, (size_t)tn_nbytes(&got));
        OK(tn_handle_use(NULL));
        tn_free(&numbers), tn_free(&src), tn_free(&want), tn_free(&got);
    }
    tn_handle_destroy(three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways), cmocka_unit_test(test_moved),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_column_rounds),
        cmocka_unit_test(test_short_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
