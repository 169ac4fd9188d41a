/* test_search.c - searches and groups of equal elements, and masks by several threads. */
#include "copy_oracle.h"
#include "draw.h"
#include "line_oracle.h"

/* Parts of threads begin where those before them end. */
static void test_masks_threads(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    uint16_t *x = malloc(N * sizeof *x), *want = malloc(N * sizeof *want);
    char *set = malloc(N);
    int64_t *at = malloc(N * sizeof *at);
    assert_true(x && want && set && at);
    for (int threads = 1; threads <= 5; threads += 2) {
        rng r = {seed_asked() + (uint64_t)threads};
        int64_t count = 0;
        for (int64_t i = 0; i < N; i++) {
            x[i] = (uint16_t)next(&r);
            set[i] = next(&r) % (1 + (uint64_t)(i >> 17)) == 0; /* dense first, then rare */
            if (set[i])
                want[count] = x[i], at[count++] = i;
        }
        tn_handle *h;
        tn_tensor src, mask, out, index;
        OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = threads}));
        OK(tn_handle_use(h));
        OK(tn_init(&src, x, TN_U16, 1, (int64_t[]){N}));
        OK(tn_init(&mask, set, TN_BOOL, 1, (int64_t[]){N}));
        OK(tn_masked_select_copy(&out, &src, &mask));
        OK(tn_nonzero_copy(&index, &mask));
        assert_int_equal(out.shape[0], count);
        assert_memory_equal(out.data, want, (size_t)count * sizeof *want);
        assert_memory_equal(index.data, at, (size_t)count * sizeof *at);
        memset(out.data, 0x77, (size_t)count * sizeof *want);
        OK(tn_masked_put(&src, &mask, &out));
        for (int64_t i = 0, k = 0; i < N; i++)
            if (set[i] && k++ < count)
                assert_int_equal(x[i], 0x7777);
        tn_free(&out), tn_free(&index);
        OK(tn_handle_use(NULL));
        tn_handle_destroy(h);
    }
    free(x), free(want), free(set), free(at);
}

/* Threads divide what is put by its place: the order of what meets in one element stays. */
static void test_put_threads(void **state)
{
    (void)state;
    enum { N = 1 << 18, PLACES = 3000 };
    static const int64_t widths[] = {1, 3, 16, 40};
    int64_t *at = malloc(N * sizeof *at);
    assert_non_null(at);
    for (int c = 0; c < 4 * 5 * 2; c++) {
        rng r = {seed_asked() + (uint64_t)c};
        const int64_t w = widths[c % 4], n = N / w, shape[2] = {n, w}, places[2] = {PLACES, w};
        const tn_put_op op = (tn_put_op)(c / 4 % 5);
        tn_tensor src, index, dst, want, turned;
        tn_handle *h;
        OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = 1 + c % 5}));
        OK(tn_handle_use(h));
        OK(tn_alloc(&src, TN_F32, w > 1 ? 2 : 1, shape));
        OK(tn_alloc(&dst, TN_F32, w > 1 ? 2 : 1, places));
        OK(tn_alloc(&want, TN_F32, w > 1 ? 2 : 1, places));
        OK(tn_randn(&src, (uint64_t)c));
        OK(tn_randn(&dst, 1));
        memcpy(want.data, dst.data, (size_t)tn_nbytes(&dst));
        OK(tn_init(&index, at, TN_I64, 1, &n));
        OK(tn_flip(&turned, &dst, 0));
        const bool back = c >= 20;
        const float *x = src.data;
        float *y = want.data;
        for (int64_t i = 0; i < n; i++) {
            at[i] = pick(&r, -PLACES, PLACES - 1);
            const int64_t to = at[i] < 0 ? at[i] + PLACES : at[i];
            float *d = y + (back ? PLACES - 1 - to : to) * w;
            for (int64_t k = 0; k < w; k++) {
                const float v = x[i * w + k];
                d[k] = op == TN_PUT_SET   ? v
                       : op == TN_PUT_ADD ? d[k] + v
                       : op == TN_PUT_MUL ? d[k] * v
                       : op == TN_PUT_MIN ? (v < d[k] ? v : d[k])
                                          : (v > d[k] ? v : d[k]);
            }
        }
        OK(tn_put(op, back ? &turned : &dst, 0, &index, &src));
        assert_memory_equal(dst.data, want.data, (size_t)tn_nbytes(&dst));
        if (op == TN_PUT_SET) { /* what was put, taken again: the last of each place */
            OK(tn_take(&src, back ? &turned : &dst, 0, &index));
            for (int64_t i = 0; i < n; i++) {
                const int64_t to = at[i] < 0 ? at[i] + PLACES : at[i];
                assert_memory_equal(x + i * w, y + (back ? PLACES - 1 - to : to) * w,
                                    (size_t)w * 4);
            }
        }
        tn_free(&src), tn_free(&dst), tn_free(&want);
        OK(tn_handle_use(NULL));
        tn_handle_destroy(h);
    }
    free(at);
}

/* Numbers of which some are equal, with NaN and zeros. */
static void fill_values(rng *r, const tn_tensor *t)
{
    int64_t at[TN_MAX_NDIM] = {0};
    static const double odd[] = {NAN, -0.0, 0.0, -INFINITY};
    if (tn_numel(t) == 0)
        return;
    do {
        const int64_t x = pick(r, -900, 900);
        const outcome o = {.u = (uint64_t)x};
        if (is_int(t->dtype))
            put_outcome(element(t, at), t->dtype, &o);
        else
            put_real(element(t, at), t->dtype, next(r) % 8 ? (double)x / 4 : odd[next(r) % 4]);
    } while (index_next(at, t->ndim, t->shape));
}

/* Searches in sequences of more and of fewer elements than there are samples, of any strides,
 * and groups of the same sequences. */
static void test_search_many(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 31, 64, 700, 2048, 2049, 5000};
    for (int c = 0; c < (TEST_WATCHED ? 40 : 200); c++) {
        rng r = {seed_asked() + (uint64_t)c};
        tn_dtype t = pick_dtype(&r);
        while (has_parts(t) || t == TN_U64) /* scalars hold i64 */
            t = pick_dtype(&r);
        const int64_t n = sizes[next(&r) % 9], m[2] = {pick(&r, 1, 90), pick(&r, 1, 40)};
        block sorted = block_make(&r, t, 1, &n, true, false);
        block values = block_make(&r, t, 2, m, true, true);
        block found = block_make(&r, TN_I64, 2, m, true, false);
        fill_values(&r, &sorted.t), fill_values(&r, &values.t);
        if (n)
            OK(tn_sort(&sorted.t, NULL, &sorted.t, 0, 0));
        for (int right = 0; right < 2; right++) {
            int64_t at[2] = {0};
            OK(tn_searchsorted(&found.t, &sorted.t, &values.t, right));
            do {
                const scalar x = scalar_at(element(&values.t, at), t);
                int64_t low = 0, high = n, got;
                while (low < high) {
                    const int64_t mid = (low + high) / 2;
                    const scalar y = scalar_at(element(&sorted.t, &mid), t);
                    if (right ? !before(&x, &y, t) : before(&y, &x, t))
                        low = mid + 1;
                    else
                        high = mid;
                }
                memcpy(&got, element(&found.t, at), sizeof got);
                assert_int_equal(got, low);
            } while (index_next(at, 2, m));
        }
        tn_tensor different, first, inverse, counts;
        OK(tn_unique_copy(&different, &first, &inverse, &counts, &sorted.t));
        int64_t groups = 0, begun = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t last = i - 1;
            const scalar x = scalar_at(element(&sorted.t, &i), t);
            const scalar w = i ? scalar_at(element(&sorted.t, &last), t) : x;
            if (i == 0 || before(&w, &x, t)) {
                assert_true(groups < different.shape[0]);
                assert_memory_equal(element(&different, &groups), element(&sorted.t, &i),
                                    tn_dtype_size(t));
                assert_int_equal(((int64_t *)first.data)[groups], i);
                if (groups)
                    assert_int_equal(((int64_t *)counts.data)[groups - 1], i - begun);
                begun = i;
                groups++;
            }
            assert_int_equal(((int64_t *)inverse.data)[i], groups - 1);
        }
        assert_int_equal(different.shape[0], groups);
        tn_free(&different), tn_free(&first), tn_free(&inverse), tn_free(&counts);
        OK(tn_unique_copy(&different, NULL, NULL, NULL, &sorted.t));
        assert_int_equal(different.shape[0], groups);
        tn_free(&different);
        block_free(&sorted), block_free(&values), block_free(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_masks_threads),
                                       cmocka_unit_test(test_put_threads),
                                       cmocka_unit_test(test_search_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
