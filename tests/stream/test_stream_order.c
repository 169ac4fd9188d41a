/* test_stream_order.c - scans, orders, takes and facts of a stream are those of the calls in
 * memory, whatever memory and threads they are given. */
#include <math.h>

#include "copy_oracle.h"
#include "draw.h"
#include "stream_refused.h"

#include <tenon/index.h>
#include <tenon/stream.h>

#include "core/core.h"

static const int64_t memories[] = {0, 1, 20 << 20};

typedef struct sink {
    char *bytes;
    int64_t size;
} sink;

static tn_status gather(void *user, const tn_tensor *block, const int64_t *at)
{
    sink *s = user;
    (void)at;
    assert_true(tn_is_contiguous(block));
    memcpy(s->bytes + s->size, block->data, (size_t)tn_nbytes(block));
    s->size += tn_nbytes(block);
    return TN_OK;
}

static tn_status watch(void *user, int64_t done, int64_t total)
{
    (void)user;
    assert_true(done >= 0 && done <= total);
    return TN_OK;
}

/* Run the job with several budgets and threads; the bytes are those of want, dense. */
static void check_job(tn_stream job, const tn_stream_source *from, const tn_tensor *want,
                      const char *what, uint64_t seed)
{
    sink s = {.bytes = calloc(1, (size_t)tn_nbytes(want) + 1)};
    job.n = 1;
    job.sources = from;
    job.out = *want;
    job.put = gather;
    job.progress = watch;
    job.user = &s;
    for (int m = 0; m < 3; m++)
        for (int threads = 1; threads < 4; threads += 2) {
            tn_stream_facts facts;
            job.max_mem = memories[m];
            job.threads = threads;
            s.size = 0;
            OK(tn_stream_plan(&job, &facts));
            OK(tn_stream_run(&job));
            assert_int_equal(s.size, tn_nbytes(want));
            if (memcmp(s.bytes, want->data, (size_t)s.size))
                fail_msg("%s of %s, %lld bytes, %d threads: TEST_SEED=%llu", what,
                         describe(&from->view), (long long)memories[m], threads,
                         (unsigned long long)seed);
        }
    free(s.bytes);
}

/* Numbers of which some are equal, some not finite. */
static void fill_numbers(rng *r, block *b)
{
    int64_t at[TN_MAX_NDIM] = {0};
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0};
    if (tni_kind_of(b->t.dtype) < TNI_FLOAT || tn_numel(&b->t) == 0)
        return;
    do {
        double x[2] = {(double)pick(r, -300, 300) / 16, 0};
        tn_tensor from, to;
        if (next(r) % 64 == 0)
            x[0] = odd[next(r) % 5];
        const bool complex = b->t.dtype == TN_C64 || b->t.dtype == TN_C128;
        OK(tn_init(&from, x, complex ? TN_C128 : TN_F64, 0, NULL));
        OK(tn_init(&to, element(&b->t, at), b->t.dtype, 0, NULL));
        OK(tn_cast(&to, &from));
    } while (index_next(at, b->t.ndim, b->t.shape));
}

static void try_scan(const tn_stream_source *from, int dim, uint64_t seed)
{
    static const tn_reduction like[] = {TN_REDUCE_SUM, TN_REDUCE_PROD, TN_REDUCE_MAX,
                                        TN_REDUCE_MIN, TN_REDUCE_LOGSUMEXP};
    for (int op = 0; op <= TN_SCAN_LOGSUMEXP; op++) {
        tn_dtype t;
        tn_tensor want;
        if (tn_reduction_result(like[op], from->view.dtype, &t) != TN_OK)
            continue;
        OK(tn_alloc(&want, t, from->view.ndim, from->view.shape));
        OK(tn_scan((tn_scan_op)op, &want, &from->view, dim));
        const tn_stream_scan args = {(tn_scan_op)op, dim};
        check_job((tn_stream){.recipe = TN_STREAM_SCAN, .args = &args}, from, &want,
                  tn_scan_name((tn_scan_op)op), seed);
        tn_free(&want);
    }
}

static void try_sort(const tn_stream_source *from, int dim, uint64_t seed)
{
    const tn_dtype t = from->view.dtype;
    if (t == TN_C64 || t == TN_C128)
        return;
    for (unsigned k = 0; k < 4; k++) {
        const tn_stream_sort args = {dim, k & 1 ? TN_DESCENDING : 0, k & 2};
        tn_tensor want;
        OK(tn_alloc(&want, args.indices ? TN_I64 : t, from->view.ndim, from->view.shape));
        OK(tn_sort(args.indices ? NULL : &want, args.indices ? &want : NULL, &from->view, dim,
                   args.flags));
        check_job((tn_stream){.recipe = TN_STREAM_SORT, .args = &args}, from, &want, "sort",
                  seed);
        tn_free(&want);
    }
}

static void try_take(rng *r, const tn_stream_source *from, int dim, uint64_t seed)
{
    const tn_tensor *v = &from->view;
    const int64_t n = v->shape[dim];
    int64_t extents[2] = {n ? pick(r, 0, 40) : 0, pick(r, 1, 3)}, shape[TN_MAX_NDIM + 2];
    const int ndim = (int)(n ? pick(r, 0, 2) : 1);
    tn_tensor index, want;
    int k = 0;
    if (v->ndim + 2 > TN_MAX_NDIM)
        return;
    OK(tn_alloc(&index, TN_I64, ndim, extents));
    if (tn_numel(&index) && next(r) % 2)
        OK(tn_randint(&index, next(r), -n, n));
    else if (tn_numel(&index))
        OK(tn_randint(&index, next(r), 0, n < 4 ? n : 4));
    for (int i = 0; i < v->ndim; i++)
        for (int j = 0; j < (i == dim ? ndim : 1); j++)
            shape[k++] = i == dim ? extents[j] : v->shape[i];
    OK(tn_alloc(&want, v->dtype, k, shape));
    OK(tn_take(&want, v, dim, &index));
    const tn_stream_take args = {dim, &index};
    check_job((tn_stream){.recipe = TN_STREAM_TAKE, .args = &args}, from, &want, "take", seed);
    tn_free(&index);
    tn_free(&want);
}

/* One number of the elements that are finite, or NaN. */
static double number_of(tn_reduction op, const tn_tensor *finite)
{
    double x = NAN;
    tn_tensor made, d;
    if (tn_numel(finite) == 0)
        return x;
    OK(tn_reduce_copy(&made, op, NULL, finite, TN_ALL_AXES, NULL, false));
    OK(tn_init(&d, &x, TN_F64, 0, NULL));
    OK(tn_cast(&d, &made));
    tn_free(&made);
    return x;
}

static bool near(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-3 * (1 + fabs(b));
}

static void try_stats(const tn_stream_source *from, uint64_t seed)
{
    enum { BINS = 5 };
    const tn_dtype t = from->view.dtype;
    tn_stats first = {0};
    int64_t counts[BINS], other[BINS];
    tn_tensor mask, finite;
    tn_stream job = {.n = 1, .sources = from, .progress = watch};
    for (int m = 0; m < 3; m++) {
        tn_stats s;
        job.max_mem = memories[m];
        job.threads = m + 1;
        OK(tn_stream_stats(&job, &s, BINS, m ? other : counts));
        if (m == 0)
            first = s;
        if (memcmp(&s, &first, sizeof s) || (m && memcmp(counts, other, sizeof other)))
            fail_msg("stats of %s: TEST_SEED=%llu", describe(&from->view),
                     (unsigned long long)seed);
    }
    assert_int_equal(first.n, tn_numel(&from->view));
    assert_int_equal(first.finite, first.n - first.nan - first.inf);
    if (t == TN_C64 || t == TN_C128)
        return;
    OK(tn_apply_copy(&mask, TN_ISFINITE, NULL, 1, (const tn_tensor *const[]){&from->view}));
    OK(tn_masked_select_copy(&finite, &from->view, &mask));
    assert_int_equal(first.finite, tn_numel(&finite));
    assert_true(near(first.min, number_of(TN_REDUCE_MIN, &finite)));
    assert_true(near(first.max, number_of(TN_REDUCE_MAX, &finite)));
    if (!tni_is_narrow(t)) { /* narrow floats round what they reduce to */
        assert_true(near(first.mean, number_of(TN_REDUCE_MEAN, &finite)));
        assert_true(near(first.std, number_of(TN_REDUCE_STD, &finite)));
    }
    tn_tensor all, zero;
    int64_t nonzero, sum = 0;
    OK(tn_init(&zero, &nonzero, TN_I64, 0, NULL));
    all = from->view;
    OK(tn_reduce(TN_REDUCE_COUNT_NONZERO, NULL, &zero, &all, TN_ALL_AXES, NULL));
    assert_int_equal(first.zeros, first.n - nonzero);
    for (int i = 0; i < BINS; i++)
        sum += counts[i];
    assert_int_equal(sum, first.finite);
    tn_free(&mask);
    tn_free(&finite);
}

static void random_case(uint64_t seed, int64_t budget)
{
    rng r = {seed};
    int64_t shape[TN_MAX_NDIM];
    const int ndim = pick_shape(&r, shape, budget);
    if (ndim == 0 || ndim > 8)
        return;
    block src = block_make(&r, pick_dtype(&r), ndim, shape, next(&r) % 4 != 0, true);
    fill_numbers(&r, &src);
    const tn_stream_source from = {.view = src.t};
    const int dim = (int)pick(&r, 0, ndim - 1);
    switch (next(&r) % 4) {
    case 0:
        try_scan(&from, dim, seed);
        break;
    case 1:
        try_sort(&from, dim, seed);
        break;
    case 2:
        try_take(&r, &from, dim, seed);
        break;
    default:
        try_stats(&from, seed);
    }
    block_free(&src);
}

static void test_random(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked(),
                   cases = number_asked("TEST_CASES", TEST_WATCHED ? 10 : 120);
    for (uint64_t i = 0; i < cases; i++)
        random_case(seed + i, i % 8 ? 6000 : 100000);
}

/* Lines that are cut, in one piece and side by side; with equal elements in every run. */
static void test_long_lines(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{100000, 1}, {40000, 3}, {5000, 40}, {3, 70000}};
    static const tn_dtype dtypes[] = {TN_F32, TN_I8, TN_F64, TN_C64};
    const uint64_t seed = seed_asked();
    for (int i = 0; i < (TEST_WATCHED ? 1 : 4); i++)
        for (int k = i % 2; k < 4; k += 2) {
            rng r = {seed + 4 * (uint64_t)i + (uint64_t)k};
            block src = block_make(&r, dtypes[k], 2, shapes[i], false, true);
            fill_numbers(&r, &src);
            const tn_stream_source from = {.view = src.t};
            for (int dim = 0; dim < 2; dim++) {
                try_scan(&from, dim, seed);
                try_sort(&from, dim, seed);
            }
            block_free(&src);
        }
}

static void test_refused(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6};
    int64_t i[2] = {0, 7}, counts[4];
    tn_stream_source from = {0};
    tn_stream_scan scan = {TN_SCAN_SUM, 2};
    tn_stream_sort sort = {0, 8, false};
    tn_tensor index;
    tn_stream_take take = {0, &index};
    sink s = {0};
    tn_stream job = {.n = 1, .sources = &from, .put = gather, .user = &s};
    tn_stats stats;
    OK(tn_init(&from.view, x, TN_F32, 2, (const int64_t[]){2, 3}));
    OK(tn_init(&job.out, NULL, TN_F32, 2, (const int64_t[]){2, 3}));
    OK(tn_init(&index, i, TN_I64, 1, (const int64_t[]){2}));
    job.recipe = TN_STREAM_SCAN;
    REFUSED(tn_stream_run(&job), TN_ENULL, "args is NULL");
    job.args = &scan;
    REFUSED(tn_stream_run(&job), TN_EARG, "scan: ");
    job.recipe = TN_STREAM_SORT;
    job.args = &sort;
    REFUSED(tn_stream_run(&job), TN_EARG, "flags are 0x8");
    job.recipe = TN_STREAM_TAKE;
    job.args = &take;
    REFUSED(tn_stream_run(&job), TN_EARG, "take: index 7 at (1) is not in [-2, 2)");
    i[1] = -2;
    job.out.shape[0] = 3;
    REFUSED(tn_stream_run(&job), TN_ESHAPE, "axis 0: got extent 3, expected 2");
    assert_int_equal(s.size, 0);
    REFUSED(tn_stream_stats(NULL, &stats, 0, NULL), TN_ENULL, "job is NULL");
    REFUSED(tn_stream_stats(&job, &stats, 4, NULL), TN_ENULL, "counts is NULL");
    REFUSED(tn_stream_stats(&job, &stats, 5000, counts), TN_EARG, "5000 bins");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
