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
            if (kind != 1 && want < 0x1p-120)
                most_off = 0x1p-119;
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
        cmocka_unit_test(test_softmax),  cmocka_unit_test(test_norms),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_nan_bits),
    };
    return cmocka_run_group_tests(tests, make_handles, drop_handles);
}
