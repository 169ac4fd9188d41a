/* test_reduce_golden.c - reductions, scans and indexing beside NumPy's results, which are
 * numbers in tests/data/reduce_golden.h. */
#include "reduce_oracle.h"

enum { N = 60, MOST = 200 };

typedef struct golden {
    const char *call, *source;
    unsigned axes;
    double param;
    int64_t n;
    double values[MOST];
} golden;

static const golden rows[] = {
#include "../data/reduce_golden.h"
};

static double floats[N], nans[N];
static int32_t ints[N];

static tn_tensor source_of(const golden *g)
{
    tn_tensor t;
    const bool whole = !strcmp(g->source, "i32");
    OK(tn_init(&t,
               whole                       ? (void *)ints
               : !strcmp(g->source, "nan") ? nans
                                           : floats,
               whole ? TN_I32 : TN_F64, 3, (int64_t[]){3, 4, 5}));
    return t;
}

/* The call of a row, into new memory. */
static tn_tensor result_of(const golden *g, const tn_tensor *src)
{
    tn_tensor out, mask, line, sorted;
    int axes[3], naxes = 0;
    tn_reduction op;
    tn_scan_op scan;
    tn_dtype dtype = src->dtype;
    int64_t shape[3] = {3, 4, 5};
    for (int i = 0; i < 3; i++)
        if (g->axes >> i & 1)
            axes[naxes++] = i;
    const int dim = axes[0];
    if (tn_reduction_parse(&op, g->call) == TN_OK) {
        const double *params = tn_reduction_params(op) ? &g->param : NULL;
        OK(tn_reduce_copy(&out, op, params, src, naxes, axes, false));
    } else if (tn_scan_parse(&scan, g->call) == TN_OK) {
        if (scan == TN_SCAN_SUM && dtype == TN_I32)
            dtype = TN_I64;
        OK(tn_alloc(&out, dtype, 3, shape));
        OK(tn_scan(scan, &out, src, dim));
    } else if (!strcmp(g->call, "diff")) {
        shape[dim]--;
        OK(tn_alloc(&out, dtype, 3, shape));
        OK(tn_diff(&out, src, dim));
    } else if (!strcmp(g->call, "sort")) {
        OK(tn_alloc(&out, dtype, 3, shape));
        OK(tn_sort(&out, NULL, src, dim, 0));
    } else if (!strcmp(g->call, "argsort")) {
        OK(tn_alloc(&out, TN_I64, 3, shape));
        OK(tn_sort(NULL, &out, src, dim, 0));
    } else if (!strcmp(g->call, "take")) {
        int8_t at[4] = {2, -1, 0, 1};
        tn_tensor index;
        shape[dim] = 4;
        OK(tn_init(&index, at, TN_I8, 1, (int64_t[]){4}));
        OK(tn_alloc(&out, dtype, 3, shape));
        OK(tn_take(&out, src, dim, &index));
    } else if (!strcmp(g->call, "nonzero")) {
        OK(tn_nonzero_copy(&out, src));
    } else if (!strcmp(g->call, "unique")) {
        OK(tn_unique_copy(&out, NULL, NULL, NULL, src));
    } else if (!strcmp(g->call, "histogram")) {
        OK(tn_alloc(&out, TN_I64, 1, (int64_t[]){7}));
        OK(tn_histogram(&out, src, -5, 5));
    } else if (!strcmp(g->call, "searchsorted")) {
        OK(tn_init(&line, src->data, dtype, 1, (int64_t[]){20}));
        OK(tn_alloc(&sorted, dtype, 1, line.shape));
        OK(tn_sort(&sorted, NULL, &line, 0, 0));
        OK(tn_alloc(&out, TN_I64, 3, shape));
        OK(tn_searchsorted(&out, &sorted, src, false));
        tn_free(&sorted);
    } else {
        bool above[N];
        assert_string_equal(g->call, "masked_select");
        for (int i = 0; i < N; i++)
            above[i] = (dtype == TN_I32 ? ints[i] : floats[i]) > 1;
        OK(tn_init(&mask, above, TN_BOOL, 3, shape));
        OK(tn_masked_select_copy(&out, src, &mask));
    }
    return out;
}

static void numbers_of_numpy(void **state)
{
    (void)state;
    for (int k = 0; k < N; k++) {
        ints[k] = 37 * k % 101 - 50;
        floats[k] = ints[k] / 8.0;
        nans[k] = k % 13 == 5 ? (double)NAN : floats[k];
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const golden *g = &rows[i];
        const tn_tensor src = source_of(g);
        tn_tensor out = result_of(g, &src);
        assert_int_equal(tn_numel(&out), g->n);
        const int64_t width = (int64_t)tn_dtype_size(out.dtype);
        for (int64_t k = 0; k < g->n; k++) {
            const scalar x = scalar_at((char *)out.data + k * width, out.dtype);
            const double got = x.re, want = g->values[k];
            /* sums, powers and logarithms may be rounded in another order */
            if (!(isnan(want) ? isnan(got)
                              : got == want || fabs(got - want) <= 1e-13 * (1 + fabs(want))))
                fail_msg("%s of %s over axes %x, element %lld: got %.17g, expected %.17g",
                         g->call, g->source, g->axes, (long long)k, got, want);
        }
        tn_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_of_numpy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
