/* test_sort.c - sequences of every length that networks, partitions and digits meet at: what
 * comes out is a permutation, in order, equal ones in theirs; and orders that no pivot divides
 * well. */
#include "line_oracle.h"

#include "copy_oracle.h"
#include "draw.h"
#include "kernels/kernels.h"
#include "runtime/runtime.h"

/* Elements of one kind or another. */
enum { ANY, FEW_VALUES, RISING, FALLING, EQUAL, TIED, ODD, FILLS };

static void fill_line(rng *r, char *x, tn_dtype t, int64_t n, int fill)
{
    const size_t width = tn_dtype_size(t);
    static const double odd[] = {NAN, -0.0, 0.0, -INFINITY, INFINITY, 1.5};
    for (int64_t i = 0; i < n; i++) {
        uint64_t b = next(r);
        if (fill == TIED) /* keys that agree in all but their last or their first bits */
            b = (b & 7) << 61 | (b >> 8 & 7);
        if (fill == FEW_VALUES || fill == EQUAL)
            b = fill == EQUAL ? 3 : b % 3;
        if (fill == RISING || fill == FALLING)
            b = (uint64_t)(fill == RISING ? i : n - i);
        char *p = x + i * (int64_t)width;
        if (fill == ODD && !is_int(t))
            put_real(p, t, next(r) % 3 ? (double)pick(r, -9, 9) : odd[next(r) % 6]);
        else
            memcpy(p, &b, width);
        if (t == TN_BOOL && fill != ANY)
            *p &= 1;
    }
}

typedef struct line {
    tn_dtype t;
    int64_t n;
    unsigned flags;
    const char *x; /* dense */
} line;

static scalar at_line(const line *l, int64_t i)
{
    return scalar_at(l->x + i * (int64_t)tn_dtype_size(l->t), l->t);
}

/* Indices [0, k) are the first of the order. */
static void check_order(const line *l, const int64_t *at, int64_t k)
{
    char *seen = calloc((size_t)l->n, 1);
    for (int64_t i = 0; i < k; i++) {
        assert_in_range(at[i], 0, l->n - 1);
        assert_false(seen[at[i]]++);
        if (i == 0)
            continue;
        const scalar a = at_line(l, at[i - 1]), b = at_line(l, at[i]);
        const bool later =
            l->flags & TN_DESCENDING ? before(&a, &b, l->t) : before(&b, &a, l->t);
        const bool earlier =
            l->flags & TN_DESCENDING ? before(&b, &a, l->t) : before(&a, &b, l->t);
        if (later || (!earlier && at[i - 1] > at[i]))
            fail_msg("%s of %lld: places %lld and %lld are not in order", tn_dtype_name(l->t),
                     (long long)l->n, (long long)at[i - 1], (long long)at[i]);
    }
    const scalar last = k ? at_line(l, at[k - 1]) : (scalar){0};
    for (int64_t i = 0; i < l->n && k; i++) {
        const scalar x = at_line(l, i);
        const bool earlier =
            l->flags & TN_DESCENDING ? before(&last, &x, l->t) : before(&x, &last, l->t);
        assert_false(!seen[i] && earlier);
    }
    free(seen);
}

/* One line, dense or with a stride: values and indices, each alone, the first k, one of
 * them. */
static void sort_line(rng *r, const line *l, int64_t stride)
{
    const int64_t width = (int64_t)tn_dtype_size(l->t), n = l->n, k = pick(r, 1, n);
    char *x = malloc((size_t)(n * stride * width)), *v = malloc((size_t)(n * stride * width));
    int64_t *at = malloc((size_t)n * 8), *other = malloc((size_t)n * 8);
    tn_tensor src, values, indices, some, some_at, one;
    for (int64_t i = 0; i < n; i++)
        memcpy(x + i * stride * width, l->x + i * width, (size_t)width);
    OK(tn_init(&src, x, l->t, 1, &n));
    OK(tn_init(&values, v, l->t, 1, &n));
    src.stride[0] = values.stride[0] = stride * width;
    OK(tn_init(&indices, at, TN_I64, 1, &n));
    OK(tn_sort(&values, &indices, &src, 0, l->flags));
    check_order(l, at, n);
    for (int64_t i = 0; i < n; i++)
        assert_memory_equal(v + i * stride * width, l->x + at[i] * width, (size_t)width);
    OK(tn_init(&some_at, other, TN_I64, 1, &n));
    OK(tn_sort(NULL, &some_at, &src, 0, l->flags));
    assert_memory_equal(at, other, (size_t)n * 8);
    OK(tn_init(&some_at, other, TN_I64, 1, &k));
    OK(tn_sort(NULL, &some_at, &src, 0, l->flags));
    assert_memory_equal(at, other, (size_t)k * 8);
    OK(tn_init(&one, other, l->t, 0, NULL));
    OK(tn_kth(&one, NULL, &src, 0, k - 1, l->flags));
    assert_memory_equal(other, l->x + at[k - 1] * width, (size_t)width);
    OK(tn_init(&some, v, l->t, 1, &k));
    OK(tn_sort(&some, NULL, &src, 0, l->flags));
    for (int64_t i = 0; i < k; i++)
        assert_memory_equal(v + i * width, l->x + at[i] * width, (size_t)width);
    OK(tn_sort(&src, NULL, &src, 0, l->flags));
    for (int64_t i = 0; i < n; i++)
        assert_memory_equal(x + i * stride * width, l->x + at[i] * width, (size_t)width);
    free(x), free(v), free(at), free(other);
}

static const tn_dtype real_dtypes[] = {TN_BOOL,   TN_I8,  TN_I16,  TN_I32, TN_I64,
                                       TN_U8,     TN_U16, TN_U32,  TN_U64, TN_F8E4M3,
                                       TN_F8E5M2, TN_F16, TN_BF16, TN_F32, TN_F64};

static void test_lengths(void **state)
{
    (void)state;
    rng r = {seed_asked()};
    static const int64_t lengths[] = {1,   2,   3,   7,   8,   9,   15,  16,   17,
                                      31,  32,  33,  63,  64,  65,  100, 127,  128,
                                      129, 255, 256, 257, 511, 513, 700, 1025, 2500};
    for (size_t d = 0; d < sizeof real_dtypes / sizeof *real_dtypes; d++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i += TEST_WATCHED ? 4 : 1)
            for (int fill = 0; fill < FILLS; fill++) {
                char *x = malloc((size_t)lengths[i] * 8);
                fill_line(&r, x, real_dtypes[d], lengths[i], fill);
                const line l = {real_dtypes[d], lengths[i], next(&r) % 2 ? TN_DESCENDING : 0,
                                x};
                sort_line(&r, &l, next(&r) % 3 ? 1 : 3);
                free(x);
            }
}

/* Lines that threads share. */
static void test_long_lines(void **state)
{
    (void)state;
    enum { N = TEST_WATCHED ? 70001 : 150001 };
    rng r = {seed_asked()};
    char *x = malloc((size_t)N * 8);
    static const tn_dtype some[] = {TN_F32, TN_F64, TN_I64, TN_U16, TN_I8};
    OK(tn_handle_use(handle_of[THREAD_COUNTS - 1]));
    for (size_t d = 0; d < sizeof some / sizeof *some; d++)
        for (int fill = 0; fill < FILLS; fill += TEST_WATCHED ? 3 : 1) {
            fill_line(&r, x, some[d], N, fill);
            sort_line(&r, &(line){some[d], N, next(&r) % 2 ? TN_DESCENDING : 0, x},
                      next(&r) % 2 ? 1 : 2);
        }
    OK(tn_handle_use(NULL));
    free(x);
}

/* Columns, which are transposed in panels: as the lines of a dense copy. */
static void test_columns(void **state)
{
    (void)state;
    rng r = {seed_asked()};
    for (int c = 0; c < (TEST_WATCHED ? 20 : 150); c++) {
        const tn_dtype t = real_dtypes[next(&r) % 15];
        const int64_t shape[2] = {pick(&r, 2, c % 10 ? 90 : 1500), pick(&r, 1, 150)};
        const int64_t k = next(&r) % 2 ? shape[0] : pick(&r, 1, shape[0]);
        const int64_t first[2] = {k, shape[1]};
        tn_tensor src, values, indices, dense, turned, want, want_at;
        OK(tn_alloc(&src, t, 2, shape));
        fill_line(&r, src.data, t, shape[0] * shape[1], (int)(next(&r) % FILLS));
        OK(tn_alloc(&values, t, 2, first));
        OK(tn_alloc(&indices, TN_I32, 2, first));
        OK(tn_handle_use(handle_of[next(&r) % THREAD_COUNTS]));
        OK(tn_sort(&values, next(&r) % 2 ? &indices : NULL, &src, 0, 0));
        OK(tn_sort(NULL, &indices, &src, 0, 0));
        OK(tn_permute(&turned, &src, (int[]){1, 0}));
        OK(tn_alloc(&dense, t, 2, turned.shape));
        OK(tn_rearrange(&dense, &turned));
        OK(tn_alloc(&want, t, 2, (int64_t[]){shape[1], k}));
        OK(tn_alloc(&want_at, TN_I32, 2, (int64_t[]){shape[1], k}));
        OK(tn_sort(&want, &want_at, &dense, 1, 0));
        OK(tn_handle_use(NULL));
        for (int64_t i = 0; i < shape[1]; i++)
            for (int64_t j = 0; j < k; j++) {
                const int64_t at[2] = {j, i}, back[2] = {i, j};
                assert_memory_equal(element(&values, at), element(&want, back),
                                    tn_dtype_size(t));
                assert_memory_equal(element(&indices, at), element(&want_at, back), 4);
            }
        tn_free(&src), tn_free(&values), tn_free(&indices), tn_free(&dense), tn_free(&want),
            tn_free(&want_at);
    }
}

/* ---- the kernels ---- */

/* Words of which the sample that a pivot is taken of is always the lowest, so that partitions
 * hardly divide them and digits do the rest.  Higher words keep their order in a partition. */
static void worst_order(int64_t *x, int64_t n)
{
    int64_t *left = malloc((size_t)n * sizeof *left), count = n, value = 0;
    for (int64_t i = 0; i < n; i++) {
        left[i] = i;
        x[i] = INT64_MAX;
    }
    while (count > 256) {
        const int64_t some = count < 4096 ? 16 : 64, step = count / some, from = value;
        for (int64_t i = 0; i < some; i++)
            if (x[left[i * step + step / 2]] == INT64_MAX)
                x[left[i * step + step / 2]] = value++;
        int64_t kept = 0; /* of a sample's lower half nothing is left */
        for (int64_t i = 0; i < count; i++)
            if (x[left[i]] >= from)
                left[kept++] = left[i];
        count = value == from ? 0 : kept;
    }
    for (int64_t i = 0; i < count; i++)
        if (x[left[i]] == INT64_MAX)
            x[left[i]] = value++;
    free(left);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void test_worst(void **state)
{
    (void)state;
    enum { N = 20000 };
    int64_t *x = malloc(N * 8), *other = malloc(N * 8), *want = malloc(N * 8);
    int32_t *y = malloc(N * 4);
    for (int isa = 0; isa <= tni_isa_level(); isa++) {
        const tni_order_words *k = tni_kernels_of(isa)->order->words;
        worst_order(x, N);
        memcpy(want, x, N * 8);
        qsort(want, N, 8, by_value);
        for (int i = 0; i < N; i++)
            y[i] = x[i] > INT32_MAX ? INT32_MAX : (int32_t)x[i];
        k[1].sort(&(tni_order_run){.x = x, .other = other, .n = N, .high = N});
        assert_memory_equal(x, want, N * 8);
        k[0].sort(&(tni_order_run){.x = y, .other = other, .n = N, .high = N});
        for (int i = 0; i < N; i++)
            assert_int_equal(y[i], want[i] > INT32_MAX ? INT32_MAX : want[i]);
    }
    free(x), free(other), free(want), free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_worst),
    };
    return cmocka_run_group_tests(tests, make_handles, drop_handles);
}
