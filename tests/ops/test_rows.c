/* test_rows.c - softmax and norms of rows against plain loops, on every layout. */
#include "line_oracle.h"

#include "copy_oracle.h"
#include "draw.h"

static const tn_dtype floats[] = {TN_F32, TN_F64, TN_F16, TN_BF16, TN_F8E4M3, TN_F8E5M2};

static void fill_rows(rng *r, const tn_tensor *t, bool special)
{
    int64_t at[TN_MAX_NDIM] = {0};
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0};
    if (tn_numel(t) == 0)
        return;
    do {
        double x = (double)pick(r, -100000, 100000) / 10000;
        if (special && next(r) % 64 == 0)
            x = odd[next(r) % 4];
        put_real(element(t, at), t->dtype, x);
    } while (index_next(at, t->ndim, t->shape));
}

static double ulp_of(tn_dtype t, double x)
{
    static const int digits[] = {[TN_F8E4M3] = 4, [TN_F8E5M2] = 3, [TN_F16] = 11,
                                 [TN_BF16] = 8,   [TN_F32] = 24,   [TN_F64] = 53};
    static const int least[] = {[TN_F8E4M3] = -9, [TN_F8E5M2] = -16, [TN_F16] = -24,
                                [TN_BF16] = -133, [TN_F32] = -149,   [TN_F64] = -1074};
    int e;
    frexp(x, &e);
    const int by = e - digits[t];
    return ldexp(1, by > least[t] ? by : least[t]);
}

static void compare_softmax(const tn_tensor *dst, const tn_tensor *src, int dim, int kind)
{
    int64_t at[TN_MAX_NDIM] = {0}, lines[TN_MAX_NDIM];
    const int64_t n = src->shape[dim];
    memcpy(lines, src->shape, sizeof lines);
    lines[dim] = 1;
    if (tn_numel(src) == 0)
        return;
    long double *y = malloc((size_t)n * sizeof *y);
    do {
        double *x = row_of(src, at, dim);
        const int64_t seen = kind == 2 ? at[dim - 1] + 1 + n - src->shape[dim - 1] : n;
        softmax_row(y, x, n, seen, kind == 1);
        double most = -(double)INFINITY;
        for (int64_t i = 0; i < seen; i++)
            most = x[i] > most ? x[i] : most;
        int64_t i[TN_MAX_NDIM];
        memcpy(i, at, sizeof i);
        for (i[dim] = 0; i[dim] < n; i[dim]++) {
            const double got = scalar_at(element(dst, i), dst->dtype).re;
            const double want = (double)y[i[dim]], far = fabs(x[i[dim]] - most);
            double size = fabs(want);
            if (kind == 1) {
                size = fabs(x[i[dim]]) > size ? fabs(x[i[dim]]) : size;
                size = size > 1 ? size : 1;
            }
            double most_off = ulp_of(dst->dtype, size) * (4 + (kind == 1 ? 0 : far));
            if (kind != 1 && want < 0x1p-126)
                most_off = 0x1p-126;
            if (!(isnan(want) ? isnan(got) : got == want || fabs(got - want) <= most_off))
                fail_msg("softmax %d of %s: %.17g, expected %.17g (x - max %g)", kind,
                         tn_dtype_name(dst->dtype), got, want, far);
        }
        free(x);
    } while (index_next(at, src->ndim, lines));
    free(y);
}

static void test_softmax(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 60 : 400); c++) {
        rng r = {seed + (uint64_t)c};
        const int ndim = (int)pick(&r, 1, 3), kind = (int)(next(&r) % (ndim > 1 ? 3 : 2));
        int64_t shape[3] = {pick(&r, 1, 5), pick(&r, 1, 9), pick(&r, 0, 40)};
        const int dim = kind == 2 ? ndim - 1 : (int)pick(&r, 0, ndim - 1);
        if (c % 8 == 0)
            shape[dim] = pick(&r, 2000, 4500);
        if (kind == 2 && shape[dim] < shape[dim - 1])
            shape[dim] = shape[dim - 1] + pick(&r, 0, 3);
        const tn_dtype t = floats[next(&r) % 6];
        block src = block_make(&r, t, ndim, shape, true, true),
              dst = block_make(&r, t, ndim, shape, true, false);
        fill_rows(&r, &src.t, next(&r) % 4 == 0);
        block first = block_twin(&dst);
        for (int k = 0; k < THREAD_COUNTS; k++) {
            OK(tn_handle_use(handle_of[k]));
            if (kind == 2)
                OK(tn_causal_softmax(&dst.t, &src.t));
            else if (kind == 1)
                OK(tn_log_softmax(&dst.t, &src.t, dim));
            else
                OK(tn_softmax(&dst.t, &src.t, dim));
            if (k == 0) {
                compare_softmax(&dst.t, &src.t, dim, kind);
                memcpy(first.bytes, dst.bytes, dst.size);
            }
            assert_memory_equal(first.bytes, dst.bytes, dst.size);
        }
        OK(tn_handle_use(NULL));
        block_free(&first);
        block_free(&src);
        block_free(&dst);
    }
}

/* Rows whose results come close to the bound, or to the least number that may not be 0, as one
 * row and as many, and down columns. */
static void test_softmax_bounds(void **state)
{
    (void)state;
    enum { ROWS = 40, MOST = 3 };
    static const float rows[][MOST] = {{87.2f, 0, 87.2f},
                                       {87.336f, 0, 0.1f},
                                       {0x1p+6f, 0x1.fbad4ap+5f, -0x1.3fbffap-8f},
                                       {-0x1.3fbffap-8f, 0x1p+6f, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int64_t n = 2; n <= MOST; n++) {
            float x[ROWS * MOST], y[ROWS * MOST];
            tn_tensor src, dst;
            for (int k = 0; k < ROWS * MOST; k++)
                x[k] = rows[i][k % n];
            for (int64_t many = 1; many <= ROWS; many += ROWS - 1) {
                OK(tn_init(&src, x, TN_F32, 2, (int64_t[]){many, n}));
                OK(tn_init(&dst, y, TN_F32, 2, (int64_t[]){many, n}));
                OK(tn_softmax(&dst, &src, 1));
                compare_softmax(&dst, &src, 1, 0);
                OK(tn_transpose(&src, &src, 0, 1));
                OK(tn_transpose(&dst, &dst, 0, 1));
                OK(tn_softmax(&dst, &src, 0));
                compare_softmax(&dst, &src, 0, 0);
            }
        }
}

/* ---- norms: bit for bit ---- */

/* Equal bytes, but any NaN for NaN. */
static bool same_numbers(const block *want, const block *got)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (!memcmp(want->bytes, got->bytes, got->size))
        return true;
    do {
        const char *a = element(&want->t, at), *b = element(&got->t, at);
        if (memcmp(a, b, tn_dtype_size(got->t.dtype)) &&
            !(isnan(scalar_at(a, got->t.dtype).re) && isnan(scalar_at(b, got->t.dtype).re)))
            return false;
    } while (index_next(at, got->t.ndim, got->t.shape));
    return true;
}

/* Rows that stand side by side, and rows of dense dst of a transposed src: longer than a block,
 * with a NaN in one and infinities in another. */
static void test_softmax_columns(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_F32, TN_BF16, TN_F64, TN_F32, TN_F16,
                                      TN_F32, TN_BF16, TN_F64, TN_F16};
    for (int c = 0; c < 72; c++) {
        rng r = {seed_asked() + (uint64_t)c};
        const bool few = c >= 40; /* columns, and rows of many blocks */
        const int64_t n = few     ? pick(&r, 1024, 9000)
                          : c % 2 ? pick(&r, 2, 300)
                                  : pick(&r, 2049, 2200);
        const int64_t w = few ? pick(&r, 1, 9) : pick(&r, c < 20 ? 64 : 8, 200);
        const int64_t shape[3] = {c % 8 == 7 ? 1 : 2, n, w};
        const tn_dtype t = dtypes[c / 8];
        const int back[3] = {0, 2, 1};
        const bool logs = c & 2, dense = c & 4;
        int64_t dst_shape[3] = {shape[0], shape[1], shape[2]};
        tn_tensor numbers, src, dst, first, x;
        OK(tn_alloc(&numbers, TN_F32, 3, shape));
        OK(tn_alloc(&src, t, 3, shape));
        OK(tn_randn(&numbers, (uint64_t)c));
        float *at = numbers.data;
        at[(n / 2) * shape[2] + 3] = NAN;
        at[(n / 2) * shape[2] + 5] = INFINITY;
        at[(n / 2) * shape[2] + 7] = -INFINITY;
        OK(tn_cast(&src, &numbers));
        tn_free(&numbers);
        x = src;
        if (dense) {
            OK(tn_permute(&x, &src, back));
            memcpy(dst_shape, x.shape, sizeof dst_shape);
        }
        OK(tn_alloc(&dst, t, 3, dst_shape));
        OK(tn_alloc(&first, t, 3, dst_shape));
        for (int k = 0; k < THREAD_COUNTS; k++) {
            OK(tn_handle_use(handle_of[k]));
            OK((logs ? tn_log_softmax : tn_softmax)(&dst, &x, dense ? 2 : 1));
            if (k == 0) {
                compare_softmax(&dst, &x, dense ? 2 : 1, logs);
                memcpy(first.data, dst.data, (size_t)tn_nbytes(&dst));
            }
            assert_memory_equal(first.data, dst.data, (size_t)tn_nbytes(&dst));
        }
        if (!dense) { /* the bits of dense rows, and in place the same */
            tn_tensor turned, rows, back_again;
            OK(tn_permute(&turned, &src, back));
            OK(tn_contiguous(&rows, &turned));
            OK((logs ? tn_log_softmax : tn_softmax)(&rows, &rows, 2));
            OK(tn_permute(&turned, &rows, back));
            OK(tn_contiguous(&back_again, &turned));
            assert_memory_equal(first.data, back_again.data, (size_t)tn_nbytes(&dst));
            tn_free(&rows), tn_free(&back_again);
            OK((logs ? tn_log_softmax : tn_softmax)(&src, &src, 1));
            assert_memory_equal(first.data, src.data, (size_t)tn_nbytes(&dst));
        }
        OK(tn_handle_use(NULL));
        tn_free(&src), tn_free(&dst), tn_free(&first);
    }
}

/* Short rows in groups, long ones, and what is left of a vector: rows with gaps have the same
 * bits. */
static void dense_rows(tn_dtype t, int64_t n)
{
    enum { ROWS = 37 };
    const int64_t wide[] = {2, ROWS, n, 2}, shape[] = {2, ROWS, n};
    rng r = {seed_asked() + (uint64_t)n};
    tn_tensor src, gaps, dst, want, w[2], x, y;
    OK(tn_alloc(&src, t, 3, shape));
    OK(tn_alloc(&gaps, t, 4, wide));
    OK(tn_alloc(&dst, t, 3, shape));
    OK(tn_alloc(&want, t, 4, wide));
    OK(tn_select(&x, &gaps, 3, 0));
    OK(tn_select(&y, &want, 3, 0));
    for (int k = 0; k < 2; k++) {
        OK(tn_alloc(&w[k], k ? TN_F32 : t, 1, &n));
        fill_rows(&r, &w[k], false);
    }
    fill_rows(&r, &src, false);
    const double odd[] = {NAN, INFINITY,
                          -INFINITY}; /* in the second row, the fourth, the sixth */
    for (int k = 0; k < 3; k++)
        put_real(element(&src, (int64_t[]){0, 1 + 2 * k, n / (k + 2)}), t, odd[k]);
    OK(tn_rearrange(&x, &src));
    for (int kind = 0; kind < 5; kind++) {
        const tn_tensor *const pair[2][2] = {{&dst, &src}, {&y, &x}};
        tn_tensor packed;
        if (kind == 2 && n < ROWS)
            continue;
        for (int k = 0; k < 2; k++) {
            const tn_tensor *d = pair[k][0], *s = pair[k][1];
            OK(kind == 0   ? tn_softmax(d, s, 2)
               : kind == 1 ? tn_log_softmax(d, s, 2)
               : kind == 2 ? tn_causal_softmax(d, s)
               : kind == 3 ? tn_rms_norm(d, s, &w[0], 1e-5)
                           : tn_layer_norm(d, s, &w[0], &w[1], 1e-5));
        }
        OK(tn_contiguous(&packed, &y));
        if (memcmp(packed.data, dst.data, (size_t)tn_nbytes(&dst)))
            fail_msg("function %d of rows of %lld %s differs", kind, (long long)n,
                     tn_dtype_name(t));
        tn_free(&packed);
    }
    tn_tensor *all[] = {&src, &gaps, &dst, &want, &w[0], &w[1]};
    for (int i = 0; i < 6; i++)
        tn_free(all[i]);
}

static void test_dense_rows(void **state)
{
    (void)state;
    static const int64_t extents[] = {1,  2,  3,  5,   7,   8,   15,  16,   17,   33,
                                      48, 49, 65, 100, 127, 128, 700, 2048, 2049, 4500};
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16, TN_F64};
    for (size_t e = 0; e < COUNT(extents); e++)
        for (size_t t = 0; t < COUNT(dtypes); t++)
            dense_rows(dtypes[t], extents[e]);
}

static void test_norms(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 60 : 400); c++) {
        rng r = {seed + (uint64_t)c};
        const int ndim = (int)pick(&r, 1, 3), kind = (int)(next(&r) % 3);
        int64_t shape[3] = {pick(&r, 1, 4), pick(&r, 1, 7), pick(&r, 1, 90)};
        const int last = ndim - 1;
        if (c % 8 == 0)
            shape[last] = pick(&r, 2000, 4500);
        const tn_dtype t = floats[next(&r) % 6], wt = next(&r) % 2 ? t : TN_F32;
        block a = block_make(&r, t, ndim, shape, true, true),
              b = block_make(&r, t, ndim, shape, true, true),
              dst = block_make(&r, t, ndim, shape, true, false),
              sum = block_make(&r, t, ndim, shape, true, false),
              w = block_make(&r, wt, 1, &shape[last], true, true),
              bias = block_make(&r, wt, 1, &shape[last], true, true);
        fill_rows(&r, &a.t, false), fill_rows(&r, &b.t, false);
        fill_rows(&r, &w.t, false), fill_rows(&r, &bias.t, false);
        const tn_tensor *weight = next(&r) % 3 ? &w.t : NULL,
                        *shift = next(&r) % 2 ? &bias.t : NULL;
        block want = block_twin(&dst), want_sum = block_twin(&sum);
        const double eps = next(&r) % 2 ? 1e-5 : 0;
        if (kind == 2) {
            int64_t at[TN_MAX_NDIM] = {0};
            do
                put_real(element(&want_sum.t, at), t,
                         scalar_at(element(&a.t, at), t).re +
                             scalar_at(element(&b.t, at), t).re);
            while (index_next(at, ndim, shape));
            norm_all(&want.t, &want_sum.t, weight, NULL, eps, 0);
        } else {
            norm_all(&want.t, &a.t, weight, kind ? shift : NULL, eps, kind);
        }
        for (int k = 0; k < THREAD_COUNTS; k++) {
            OK(tn_handle_use(handle_of[k]));
            if (kind == 2)
                OK(tn_add_rms_norm(&dst.t, &sum.t, &a.t, &b.t, weight, eps));
            else if (kind == 1)
                OK(tn_layer_norm(&dst.t, &a.t, weight, shift, eps));
            else
                OK(tn_rms_norm(&dst.t, &a.t, weight, eps));
            if (!same_numbers(&want, &dst))
                fail_msg("norm %d of %s differs, shape %s TEST_SEED=%llu", kind,
                         tn_dtype_name(t), describe(&a.t),
                         (unsigned long long)(seed + (uint64_t)c));
            if (kind == 2)
                assert_memory_equal(want_sum.bytes, sum.bytes, sum.size);
        }
        OK(tn_handle_use(NULL));
        block *all[] = {&a, &b, &dst, &sum, &w, &bias, &want, &want_sum};
        for (int i = 0; i < 8; i++)
            block_free(all[i]);
    }
}

/* ---- rotations: bit for bit ---- */

static void test_rotate(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 60 : 400); c++) {
        rng r = {seed + (uint64_t)c};
        const int ndim = (int)pick(&r, 1, 3);
        const bool pairs = next(&r) % 2, shared = next(&r) % 2;
        int64_t shape[3] = {pick(&r, 1, 4), pick(&r, 1, 7), pick(&r, 0, 90)}, half[3];
        shape[ndim - 1] = 2 * (c % 8 ? pick(&r, 0, 45) : pick(&r, 1000, 2300));
        memcpy(half, shape, sizeof half);
        half[ndim - 1] /= 2;
        if (shared && ndim > 1)
            half[ndim - 2] = 1;
        const tn_dtype t = floats[next(&r) % 6], wt = next(&r) % 2 ? t : TN_F32;
        block src = block_make(&r, t, ndim, shape, true, true),
              dst = block_make(&r, t, ndim, shape, true, false),
              sine = block_make(&r, wt, ndim, half, true, true),
              cosine = block_make(&r, wt, ndim, half, true, true);
        fill_rows(&r, &src.t, false), fill_rows(&r, &sine.t, false);
        fill_rows(&r, &cosine.t, false);
        block want = block_twin(&dst);
        tn_tensor s, w;
        half[0] = ndim > 1 ? shape[0] : half[0];
        half[1] = ndim > 2 ? shape[1] : half[1];
        OK(tn_broadcast_to(&s, &sine.t, ndim, half));
        OK(tn_broadcast_to(&w, &cosine.t, ndim, half));
        rotate_all(&want.t, &src.t, &s, &w, pairs);
        for (int k = 0; k < THREAD_COUNTS; k++) {
            OK(tn_handle_use(handle_of[k]));
            OK(tn_rotate(&dst.t, &src.t, &sine.t, &cosine.t, pairs));
            if (!same_numbers(&want, &dst))
                fail_msg("%s of %s differ, shape %s TEST_SEED=%llu", pairs ? "pairs" : "halves",
                         tn_dtype_name(t), describe(&src.t),
                         (unsigned long long)(seed + (uint64_t)c));
        }
        OK(tn_handle_use(NULL));
        OK(tn_rotate(&want.t, &dst.t, &sine.t, &cosine.t, pairs)); /* and in place */
        OK(tn_rotate(&dst.t, &dst.t, &sine.t, &cosine.t, pairs));
        assert_true(same_numbers(&want, &dst));
        block *all[] = {&src, &dst, &sine, &cosine, &want};
        for (int i = 0; i < 5; i++)
            block_free(all[i]);
    }
}

static void test_in_place(void **state)
{
    (void)state;
    float x[3][5], y[3][5];
    rng r = {7};
    for (int i = 0; i < 15; i++)
        x[i / 5][i % 5] = (float)pick(&r, -50, 50) / 8;
    tn_tensor a, b;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){3, 5}));
    OK(tn_init(&b, y, TN_F32, 2, (int64_t[]){3, 5}));
    OK(tn_softmax(&b, &a, 0));
    OK(tn_softmax(&a, &a, 0));
    assert_memory_equal(x, y, sizeof x);
}

static void test_errors(void **state)
{
    (void)state;
    float x[6] = {0}, y[6];
    int32_t n[6] = {0};
    tn_tensor a, b, i, w;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){3, 2}));
    OK(tn_init(&b, y, TN_F32, 2, (int64_t[]){3, 2}));
    OK(tn_init(&i, n, TN_I32, 2, (int64_t[]){3, 2}));
    OK(tn_init(&w, x, TN_F32, 1, (int64_t[]){3}));
    assert_int_equal(tn_softmax(&b, &a, 2), TN_EARG);
    assert_int_equal(tn_softmax(NULL, &a, 0), TN_ENULL);
    assert_int_equal(tn_softmax(&i, &i, 0), TN_EDTYPE);
    assert_int_equal(tn_causal_softmax(&b, &a), TN_ESHAPE);
    assert_int_equal(tn_rms_norm(&b, &a, NULL, -1), TN_EARG);
    assert_int_equal(tn_rms_norm(&b, &a, NULL, NAN), TN_EARG);
    assert_int_equal(tn_rms_norm(&b, &a, &w, 0), TN_ESHAPE);
    assert_int_equal(tn_layer_norm(&b, &a, NULL, &i, 0), TN_EDTYPE);
    assert_int_equal(tn_add_rms_norm(&b, &b, &a, &a, NULL, 0), TN_EOVERLAP);
    assert_int_equal(tn_add_rms_norm(&b, NULL, &a, &a, NULL, 0), TN_ENULL);
    tn_tensor one, wide;
    OK(tn_init(&one, &x[1], TN_F32, 1, (int64_t[]){1}));
    OK(tn_init(&wide, n, TN_F64, 1, (int64_t[]){1}));
    assert_int_equal(tn_rotate(&b, &a, &one, NULL, false), TN_ENULL);
    assert_int_equal(tn_rotate(&b, &a, &w, &w, false), TN_ESHAPE);
    assert_int_equal(tn_rotate(&b, &a, &one, &wide, false), TN_EDTYPE);
    assert_int_equal(tn_rotate(&a, &a, &one, &one, false), TN_EOVERLAP);
    assert_int_equal(tn_rotate(&i, &i, &one, &one, false), TN_EDTYPE);
    a.ndim = b.ndim = 1; /* three elements are no pairs */
    assert_int_equal(tn_rotate(&b, &a, &one, &one, true), TN_ESHAPE);
}

/* Infinities and NaN of either sign: what is computed is the positive quiet one. */
static void test_nan_bits(void **state)
{
    (void)state;
    enum { N = 40 };
    uint32_t x[N], y[N], sum[N];
    float w[N];
    tn_tensor src, dst, weight, both;
    for (int i = 0; i < N; i++) {
        const float one = (float)i - 20;
        memcpy(&x[i], &one, sizeof one);
        w[i] = i % 3 ? 1.0f : -INFINITY;
    }
    x[3] = 0xff800000; /* -inf */
    x[20] = 0;         /* 0 * inf */
    OK(tn_init(&src, x, TN_F32, 2, (const int64_t[]){2, N / 2}));
    OK(tn_init(&dst, y, TN_F32, 2, (const int64_t[]){2, N / 2}));
    OK(tn_init(&both, sum, TN_F32, 2, (const int64_t[]){2, N / 2}));
    OK(tn_init(&weight, w, TN_F32, 1, (const int64_t[]){N / 2}));
    for (int k = 0; k < 6; k++) {
        int nans = 0;
        if (k == 4)
            x[5] = 0xffc12345; /* a negative NaN with a payload */
        OK(k == 0   ? tn_rms_norm(&dst, &src, &weight, 1e-5)
           : k == 1 ? tn_layer_norm(&dst, &src, &weight, &weight, 1e-5)
           : k == 2 ? tn_softmax(&dst, &src, 1)
           : k == 3 ? tn_add_rms_norm(&dst, &both, &src, &src, &weight, 1e-5)
           : k == 4 ? tn_add_rms_norm(&dst, &both, &src, &src, NULL, 1e-5)
                    : tn_log_softmax(&dst, &src, 1));
        for (int i = 0; i < N; i++) {
            if ((y[i] & 0x7fffffff) > 0x7f800000 && y[i] != 0x7fc00000)
                fail_msg("call %d: element %d is %08x", k, i, y[i]);
            nans += y[i] == 0x7fc00000;
            if (k == 4 && (sum[i] & 0x7fffffff) > 0x7f800000)
                assert_int_equal(sum[i], 0x7fc00000);
        }
        assert_true(nans > 0 || k == 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax),         cmocka_unit_test(test_softmax_bounds),
        cmocka_unit_test(test_softmax_columns), cmocka_unit_test(test_dense_rows),
        cmocka_unit_test(test_norms),           cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_errors),          cmocka_unit_test(test_rotate),
        cmocka_unit_test(test_nan_bits),
    };
    return cmocka_run_group_tests(tests, make_handles, drop_handles);
}
