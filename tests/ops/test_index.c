/* test_index.c - take, put, masks and order against plain loops. */
#include "line_oracle.h"

#include "copy_oracle.h"
#include "draw.h"

static const tn_dtype index_dtypes[] = {TN_I8, TN_I16, TN_I32, TN_I64,
                                        TN_U8, TN_U16, TN_U32, TN_U64};

static void put_int(char *d, tn_dtype t, int64_t x)
{
    const outcome o = {.u = (uint64_t)x};
    put_outcome(d, t, &o);
}

static void fill_indices(rng *r, const tn_tensor *t, int64_t n)
{
    int64_t at[TN_MAX_NDIM] = {0};
    const bool sign = t->dtype <= TN_I64;
    if (tn_numel(t))
        do
            put_int(element(t, at), t->dtype, pick(r, sign ? -n : 0, n - 1));
        while (index_next(at, t->ndim, t->shape));
}

static int64_t index_of(const tn_tensor *t, const int64_t *at, int64_t n)
{
    const int64_t v = scalar_at(element(t, at), t->dtype).i;
    return v < 0 ? v + n : v;
}

/* Numbers that floats of every width tell apart, with NaN and zeros. */
static void fill_values(rng *r, const tn_tensor *t)
{
    int64_t at[TN_MAX_NDIM] = {0};
    static const double odd[] = {NAN, -0.0, 0.0, -INFINITY};
    const int64_t half = (int64_t)tn_dtype_size(t->dtype) / 2;
    if (tn_numel(t) == 0)
        return;
    do
        if (has_parts(t->dtype))
            for (int64_t k = 0; k < 2; k++)
                put_real(element(t, at) + k * half, half == 4 ? TN_F32 : TN_F64,
                         (double)pick(r, -9, 9) / 4);
        else if (is_int(t->dtype))
            put_int(element(t, at), t->dtype, pick(r, -9, 9));
        else
            put_real(element(t, at), t->dtype,
                     next(r) % 8 ? (double)pick(r, -9, 9) / 4 : odd[next(r) % 4]);
    while (index_next(at, t->ndim, t->shape));
}

/* ---- take and put ---- */

static void test_take_put(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 200 : 1500); c++) {
        rng r = {seed + (uint64_t)c};
        const tn_dtype t = pick_dtype(&r), it = index_dtypes[next(&r) % 8];
        const int ndim = (int)pick(&r, 1, 3), dim = (int)pick(&r, 0, ndim - 1),
                  ni = (int)pick(&r, 0, 2);
        int64_t shape[3] = {pick(&r, 1, 6), pick(&r, 1, 7), pick(&r, 1, 9)}, idx[2], full[5];
        for (int i = 0; i < ni; i++)
            idx[i] = pick(&r, 0, 5);
        int nf = 0;
        for (int i = 0; i < ndim; i++)
            if (i != dim)
                full[nf++] = shape[i];
            else
                for (int k = 0; k < ni; k++)
                    full[nf++] = idx[k];
        block big = block_make(&r, t, ndim, shape, true, false),
              many = block_make(&r, t, nf, full, true, false),
              index = block_make(&r, it, ni, idx, true, true);
        fill_indices(&r, &index.t, shape[dim]);
        fill_values(&r, &big.t), fill_values(&r, &many.t);
        const bool put = next(&r) % 2;
        const tn_put_op op = !put || t == TN_BOOL ? TN_PUT_SET
                             : has_parts(t)       ? (tn_put_op)(next(&r) % 3)
                                                  : (tn_put_op)(next(&r) % 5);
        block want = block_twin(put ? &big : &many);
        int64_t at[5] = {0};
        if (tn_numel(&many.t))
            do { /* row-major: a, i, b */
                int64_t from[3], in[2];
                for (int i = 0, j = 0; i < ndim; i++)
                    if (i != dim)
                        from[i] = at[j++];
                    else
                        for (int k = 0; k < ni; k++)
                            in[k] = at[j++];
                from[dim] = index_of(&index.t, in, shape[dim]);
                char *m = element(put ? &many.t : &want.t, at),
                     *b = element(put ? &want.t : &big.t, from);
                if (!put)
                    memcpy(m, b, tn_dtype_size(t));
                else if (op == TN_PUT_SET)
                    memcpy(b, m, tn_dtype_size(t));
                else {
                    static const tn_op ops[] = {0, TN_ADD, TN_MUL, TN_MIN, TN_MAX};
                    tn_tensor x, y;
                    OK(tn_init(&x, b, t, 0, NULL));
                    OK(tn_init(&y, m, t, 0, NULL));
                    OK(tn_binary(ops[op], &x, &x, &y));
                }
            } while (index_next(at, nf, full));
        for (int k = 0; k < 2; k++) {
            block got = block_twin(put ? &big : &many);
            OK(tn_handle_use(handle_of[k * 3]));
            if (put)
                OK(tn_put(op, &got.t, dim, &index.t, &many.t));
            else
                OK(tn_take(&got.t, &big.t, dim, &index.t));
            if (memcmp(got.bytes, want.bytes, got.size))
                fail_msg("%s op %d of %s differs: src %s dim %d index %s TEST_SEED=%llu",
                         put ? "put" : "take", (int)op, tn_dtype_name(t), describe(&big.t), dim,
                         describe(&index.t), (unsigned long long)(seed + (uint64_t)c));
            block_free(&got);
        }
        OK(tn_handle_use(NULL));
        block_free(&big), block_free(&many), block_free(&index), block_free(&want);
    }
}

static void test_along(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 200 : 1500); c++) {
        rng r = {seed + (uint64_t)c};
        const tn_dtype t = pick_dtype(&r), it = index_dtypes[next(&r) % 8];
        const int ndim = (int)pick(&r, 1, 3), dim = (int)pick(&r, 0, ndim - 1);
        int64_t shape[3] = {pick(&r, 1, 6), pick(&r, 1, 7), pick(&r, 1, 9)}, walked[3], idx[3];
        memcpy(walked, shape, sizeof walked);
        walked[dim] = pick(&r, 0, 6);
        for (int i = 0; i < ndim; i++)
            idx[i] = i != dim && next(&r) % 3 == 0 ? 1 : walked[i];
        block big = block_make(&r, t, ndim, shape, true, false),
              many = block_make(&r, t, ndim, walked, true, false),
              index = block_make(&r, it, ndim, idx, true, true);
        fill_indices(&r, &index.t, shape[dim]);
        fill_values(&r, &big.t), fill_values(&r, &many.t);
        const bool put = next(&r) % 2;
        block want = block_twin(put ? &big : &many), got = block_twin(put ? &big : &many);
        int64_t at[3] = {0};
        if (tn_numel(&many.t))
            do {
                int64_t from[3], in[3];
                for (int i = 0; i < ndim; i++) {
                    from[i] = at[i];
                    in[i] = idx[i] == 1 ? 0 : at[i];
                }
                from[dim] = index_of(&index.t, in, shape[dim]);
                if (put)
                    memcpy(element(&want.t, from), element(&many.t, at), tn_dtype_size(t));
                else
                    memcpy(element(&want.t, at), element(&big.t, from), tn_dtype_size(t));
            } while (index_next(at, ndim, walked));
        if (put)
            OK(tn_put_along(TN_PUT_SET, &got.t, dim, &index.t, &many.t));
        else
            OK(tn_take_along(&got.t, &big.t, dim, &index.t));
        assert_memory_equal(got.bytes, want.bytes, got.size);
        block *all[] = {&big, &many, &index, &want, &got};
        for (int i = 0; i < 5; i++)
            block_free(all[i]);
    }
}

static void test_index_errors(void **state)
{
    (void)state;
    float x[5] = {0}, y[6];
    int8_t in[6] = {0, 1, 2, 3, 7, -6};
    tn_tensor a, b, i, f;
    OK(tn_init(&a, x, TN_F32, 1, (int64_t[]){5}));
    OK(tn_init(&b, y, TN_F32, 2, (int64_t[]){3, 2}));
    OK(tn_init(&i, in, TN_I8, 2, (int64_t[]){3, 2}));
    OK(tn_init(&f, x, TN_F32, 2, (int64_t[]){3, 1}));
    memset(y, 1, sizeof y);
    assert_int_equal(tn_take(&b, &a, 0, &i), TN_EARG);
    assert_string_equal(tn_error(), "take: index 7 at (2, 0) is not in [-5, 5)");
    assert_int_equal(((char *)y)[0], 1); /* nothing is written */
    in[4] = 0;
    assert_int_equal(tn_take(&b, &a, 0, &i), TN_EARG);
    assert_string_equal(tn_error(), "take: index -6 at (2, 1) is not in [-5, 5)");
    assert_int_equal(tn_take(&b, &a, 1, &i), TN_EARG);
    assert_int_equal(tn_take(&b, &a, 0, &f), TN_EDTYPE);
    assert_int_equal(tn_take(&a, &a, 0, &i), TN_ESHAPE);
    assert_int_equal(tn_put((tn_put_op)9, &a, 0, &i, &b), TN_EARG);
    assert_int_equal(tn_take(NULL, &a, 0, &i), TN_ENULL);
    tn_tensor none;
    OK(tn_init(&none, x, TN_F32, 1, (int64_t[]){0}));
    in[5] = 0;
    assert_int_equal(tn_take(&b, &none, 0, &i), TN_EARG); /* no index is in [0, 0) */
}

/* A dst without elements does not hide that an index, a mask or a source lacks data. */
static void test_no_data(void **state)
{
    (void)state;
    int64_t d[2] = {0};
    tn_tensor list, few, counts, data, mask, index, indices, none, whole;
    OK(tn_init(&list, d, TN_I64, 2, (int64_t[]){0, 2}));
    OK(tn_init(&few, d, TN_F32, 1, (int64_t[]){0}));
    OK(tn_init(&counts, d, TN_I64, 1, (int64_t[]){0}));
    OK(tn_init(&data, d, TN_F32, 2, (int64_t[]){3, 0}));
    OK(tn_init(&none, d, TN_F32, 2, (int64_t[]){2, 0}));
    OK(tn_init(&mask, NULL, TN_BOOL, 2, (int64_t[]){2, 4}));
    OK(tn_init(&whole, NULL, TN_F32, 2, (int64_t[]){2, 4}));
    OK(tn_init(&index, NULL, TN_I64, 1, (int64_t[]){3}));
    OK(tn_init(&indices, NULL, TN_I64, 2, (int64_t[]){3, 1}));
    for (int filled = 0; filled < 2; filled++, list.data = few.data = counts.data = NULL) {
        assert_int_equal(tn_nonzero(&list, &whole), TN_ENULL);
        assert_string_equal(tn_error(), "nonzero: src has 8 elements but data is NULL");
        assert_int_equal(tn_masked_select(&few, &whole, &mask), TN_ENULL);
        assert_int_equal(tn_take(&data, &none, 0, &index), TN_ENULL);
        assert_int_equal(tn_take_along(&data, &none, 0, &indices), TN_ENULL);
        assert_int_equal(tn_put(TN_PUT_SET, &none, 0, &index, &data), TN_ENULL);
        assert_int_equal(tn_put_along(TN_PUT_SET, &none, 0, &indices, &data), TN_ENULL);
        assert_int_equal(tn_bincount(&counts, &index), TN_ENULL);
    }
}

/* An index is reported with its value and position, the first one whichever part finds it. */
static void test_first_outside(void **state)
{
    (void)state;
    enum { N = 300000 };
    static int64_t in[N], out[N];
    static const struct {
        int64_t at[3];
        tn_dtype dtype;
        int64_t value;
        const char *text;
    } cases[] = {
        {{N - 1, N - 1, N - 1}, TN_I64, INT64_MIN, "-9223372036854775808"},
        {{7, 150001, N - 1}, TN_I64, 5, "5"},
        {{150000, 250000, 299999}, TN_I64, -6, "-6"},
        {{100000, 200000, 200001}, TN_U64, -1, "18446744073709551615"},
        {{0, 1, 2}, TN_U64, INT64_MIN, "9223372036854775808"},
    };
    int64_t x[5] = {0}, n = N, five = 5;
    tn_tensor src, dst;
    OK(tn_init(&src, x, TN_I64, 1, &five));
    OK(tn_init(&dst, out, TN_I64, 1, &n));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int threads = 1; threads < 4; threads++) {
            tn_tensor index;
            tn_handle *h;
            char want[100];
            OK(tn_init(&index, in, cases[c].dtype, 1, &n));
            memset(in, 0, sizeof in);
            memset(out, 1, sizeof out);
            for (int k = 0; k < 3; k++)
                in[cases[c].at[k]] = k ? 77 : cases[c].value;
            if (cases[c].at[0] == cases[c].at[1])
                in[cases[c].at[0]] = cases[c].value;
            OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = threads}));
            OK(tn_handle_use(h));
            assert_int_equal(tn_take(&dst, &src, 0, &index), TN_EARG);
            snprintf(want, sizeof want, "take: index %s at (%lld) is not in [-5, 5)",
                     cases[c].text, (long long)cases[c].at[0]);
            assert_string_equal(tn_error(), want);
            for (int64_t i = 0; i < N; i += 1000)
                assert_int_equal(out[i], 0x0101010101010101);
            OK(tn_handle_use(NULL));
            tn_handle_destroy(h);
        }
}

/* ---- masks ---- */

static void test_masks(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 100 : 600); c++) {
        rng r = {seed + (uint64_t)c};
        const tn_dtype t = pick_dtype(&r), mt = next(&r) % 2 ? TN_BOOL : pick_dtype(&r);
        const int ndim = (int)pick(&r, 0, 3);
        int64_t shape[3] = {pick(&r, 1, 6), pick(&r, 1, 7), pick(&r, 0, 9)}, mshape[3];
        if (c % 8 == 0) /* more than one piece, and whole words of bits */
            shape[next(&r) % 3] = pick(&r, 60, 3000);
        for (int i = 0; i < ndim; i++)
            mshape[i] = next(&r) % 4 == 0 ? 1 : shape[i];
        block src = block_make(&r, t, ndim, shape, true, false),
              mask = block_make(&r, mt, ndim, mshape, true, true);
        fill_values(&r, &src.t), fill_values(&r, &mask.t);
        tn_tensor out, at_out, wide;
        OK(tn_broadcast_to(&wide, &mask.t, ndim, shape));
        OK(tn_masked_select_copy(&out, &src.t, &mask.t));
        OK(tn_nonzero_copy(&at_out, &wide));
        int64_t n = 0, at[3] = {0};
        block put = block_twin(&src);
        if (tn_numel(&src.t))
            do {
                const scalar m = scalar_at(element(&wide, at), mt);
                if (is_int(mt) ? m.i == 0 : m.re == 0 && m.im == 0)
                    continue;
                assert_memory_equal((char *)out.data + n * out.stride[0], element(&src.t, at),
                                    tn_dtype_size(t));
                for (int i = 0; i < ndim; i++)
                    assert_int_equal(((int64_t *)at_out.data)[n * ndim + i], at[i]);
                memset(element(&put.t, at), 0x55, tn_dtype_size(t));
                n++;
            } while (index_next(at, ndim, shape));
        assert_int_equal(out.shape[0], n);
        assert_int_equal(at_out.shape[0], n);
        memset(out.data, 0x55, (size_t)n * tn_dtype_size(t));
        OK(tn_masked_put(&src.t, &mask.t, &out));
        assert_memory_equal(src.bytes, put.bytes, put.size);
        const int64_t other = n + 1;
        tn_tensor wrong;
        OK(tn_init(&wrong, out.data, t, 1, &other));
        assert_int_equal(tn_masked_select(&wrong, &put.t, &mask.t), TN_ESHAPE);
        tn_free(&out), tn_free(&at_out);
        block_free(&src), block_free(&mask), block_free(&put);
    }
}

/* ---- order ---- */

static void test_sort(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    for (int c = 0; c < (TEST_WATCHED ? 100 : 600); c++) {
        rng r = {seed + (uint64_t)c};
        tn_dtype t = pick_dtype(&r);
        while (has_parts(t))
            t = pick_dtype(&r);
        const int ndim = (int)pick(&r, 1, 3), dim = (int)pick(&r, 0, ndim - 1);
        int64_t shape[3] = {pick(&r, 1, 5), pick(&r, 1, 6), pick(&r, 0, 9)}, some[3];
        shape[dim] = pick(&r, 0, c % 4 ? 60 : 400);
        memcpy(some, shape, sizeof some);
        if (next(&r) % 2)
            some[dim] = pick(&r, 0, shape[dim]);
        if (c % 32 == 0) { /* the first few of a long line */
            shape[dim] = pick(&r, 1024, 3000);
            some[dim] = pick(&r, 1, 100);
        }
        const unsigned flags = next(&r) % 2 ? TN_DESCENDING : 0;
        block src = block_make(&r, t, ndim, shape, true, true),
              values = block_make(&r, t, ndim, some, true, false),
              indices = block_make(&r, next(&r) % 2 ? TN_I64 : TN_I32, ndim, some, true, false);
        if (next(&r) % 2)
            fill_values(&r, &src.t);
        block want = block_twin(&values), want_at = block_twin(&indices);
        int64_t line[3], at[3] = {0};
        memcpy(line, some, sizeof line);
        line[dim] = 1;
        scalar *x = malloc(((size_t)shape[dim] + 1) * sizeof *x);
        int64_t *order = malloc(((size_t)shape[dim] + 1) * sizeof *order);
        if (tn_numel(&values.t))
            do {
                int64_t i[3];
                memcpy(i, at, sizeof i);
                for (i[dim] = 0; i[dim] < shape[dim]; i[dim]++)
                    x[i[dim]] = scalar_at(element(&src.t, i), t);
                naive_order(order, x, shape[dim], t, flags);
                for (int64_t k = 0; k < some[dim]; k++) {
                    int64_t from[3];
                    memcpy(from, at, sizeof from);
                    from[dim] = order[k], i[dim] = k;
                    memcpy(element(&want.t, i), element(&src.t, from), tn_dtype_size(t));
                    put_int(element(&want_at.t, i), indices.t.dtype, order[k]);
                }
            } while (index_next(at, ndim, line));
        for (int k = 0; k < 2; k++) {
            OK(tn_handle_use(handle_of[k * 3]));
            OK(tn_sort(&values.t, &indices.t, &src.t, dim, flags));
            assert_memory_equal(values.bytes, want.bytes, want.size);
            assert_memory_equal(indices.bytes, want_at.bytes, want_at.size);
        }
        OK(tn_handle_use(NULL));
        if (shape[dim] > 0 && some[dim] == shape[dim] && tn_numel(&src.t)) {
            const int64_t k = pick(&r, 0, shape[dim] - 1);
            block value = block_make(&r, t, ndim, line, true, false);
            OK(tn_kth(&value.t, NULL, &src.t, dim, k, flags));
            memset(at, 0, sizeof at);
            do {
                int64_t i[3];
                memcpy(i, at, sizeof i);
                i[dim] = k;
                assert_memory_equal(element(&value.t, at), element(&want.t, i),
                                    tn_dtype_size(t));
            } while (index_next(at, ndim, line));
            block_free(&value);
        }
        free(x), free(order);
        block *all[] = {&src, &values, &indices, &want, &want_at};
        for (int i = 0; i < 5; i++)
            block_free(all[i]);
    }
}

/* A few of many: the first of the whole order, which test_sort compares with the oracle. */
static void test_first_of_many(void **state)
{
    (void)state;
    enum { N = 20011, MOST = 200 };
    static const int64_t few[] = {1, 7, 50, MOST};
    float *x = malloc(N * sizeof *x), *all = malloc(N * sizeof *all), some[MOST];
    int64_t *all_at = malloc(N * sizeof *all_at), some_at[MOST];
    rng r = {seed_asked()};
    tn_tensor src, values, indices, first, first_at;
    OK(tn_init(&src, x, TN_F32, 1, (int64_t[]){N}));
    OK(tn_init(&values, all, TN_F32, 1, (int64_t[]){N}));
    OK(tn_init(&indices, all_at, TN_I64, 1, (int64_t[]){N}));
    for (int kind = 0; kind < 7; kind++) {
        for (int64_t i = 0; i < N; i++) {
            const float any = (float)pick(&r, -1000000, 1000000) / 1000;
            x[i] = kind == 1   ? (float)pick(&r, -2, 2) /* many equal ones */
                   : kind == 2 ? (float)i               /* in order, and backwards */
                   : kind == 3 ? (float)(N - i)
                   : kind == 4 ? (pick(&r, 0, 400) ? any : NAN)
                   : kind == 5 ? (pick(&r, 0, 1) ? 0.0f : -0.0f)
                   : kind == 6 ? NAN
                               : any;
        }
        for (unsigned flags = 0; flags <= TN_DESCENDING; flags++) {
            OK(tn_sort(&values, &indices, &src, 0, flags));
            for (size_t k = 0; k < sizeof few / sizeof *few; k++) {
                OK(tn_init(&first, some, TN_F32, 1, &few[k]));
                OK(tn_init(&first_at, some_at, TN_I64, 1, &few[k]));
                OK(tn_sort(&first, &first_at, &src, 0, flags));
                assert_memory_equal(some, all, (size_t)few[k] * sizeof *some);
                assert_memory_equal(some_at, all_at, (size_t)few[k] * sizeof *some_at);
            }
        }
    }
    free(x), free(all), free(all_at);
}

static void test_search_unique(void **state)
{
    (void)state;
    float x[8] = {3, 1, NAN, 1, -0.0f, 0, NAN, 3};
    tn_tensor a, values, first, inverse, counts;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 4}));
    OK(tn_unique_copy(&values, &first, &inverse, &counts, &a));
    assert_int_equal(values.shape[0], 4); /* 0, 1, 3, NaN */
    const int64_t want_first[] = {4, 1, 0, 2}, want_counts[] = {2, 2, 2, 2},
                  want_inverse[] = {2, 1, 3, 1, 0, 0, 3, 2};
    assert_memory_equal(first.data, want_first, sizeof want_first);
    assert_memory_equal(counts.data, want_counts, sizeof want_counts);
    assert_memory_equal(inverse.data, want_inverse, sizeof want_inverse);
    assert_int_equal(inverse.ndim, 2);
    float sorted[4] = {0, 1, 3, NAN};
    int64_t found[8];
    const int64_t left[] = {2, 1, 3, 1, 0, 0, 3, 2}, right[] = {3, 2, 4, 2, 1, 1, 4, 3};
    tn_tensor s, d;
    OK(tn_init(&s, sorted, TN_F32, 1, (int64_t[]){4}));
    OK(tn_init(&d, found, TN_I64, 2, (int64_t[]){2, 4}));
    OK(tn_searchsorted(&d, &s, &a, false));
    assert_memory_equal(found, left, sizeof left);
    OK(tn_searchsorted(&d, &s, &a, true));
    assert_memory_equal(found, right, sizeof right);
    tn_free(&values), tn_free(&first), tn_free(&inverse), tn_free(&counts);
    OK(tn_unique_each_copy(&values, NULL, NULL, &counts, &a));
    assert_int_equal(values.shape[0], 5);
    tn_free(&values), tn_free(&counts);
}

/* By real part, then imaginary part; -0 equals +0; a NaN in either part comes last. */
static void test_unique_complex(void **state)
{
    (void)state;
    float x[9][2] = {{1, 2},   {NAN, 0}, {0, 3}, {1, -5}, {-0.0f, 3},
                     {1, NAN}, {2, 0},   {1, 2}, {-1, 9}};
    const float want[6][2] = {{-1, 9}, {0, 3}, {1, -5}, {1, 2}, {2, 0}, {NAN, 0}};
    const int64_t want_first[] = {8, 2, 3, 0, 6, 1}, want_counts[] = {1, 2, 1, 2, 1, 2},
                  want_inverse[] = {3, 5, 1, 2, 1, 5, 4, 3, 0};
    double wide[9][2];
    for (int i = 0; i < 18; i++)
        wide[i / 2][i % 2] = (double)x[i / 2][i % 2];
    for (int k = 0; k < 2; k++) {
        tn_tensor a, values, first, inverse, counts;
        OK(tn_init(&a, k ? (void *)wide : (void *)x, k ? TN_C128 : TN_C64, 2,
                   (int64_t[]){3, 3}));
        OK(tn_unique_copy(&values, &first, &inverse, &counts, &a));
        assert_int_equal(values.shape[0], 6);
        for (int i = 0; i < 10; i++) /* all but the NaN */
            assert_true((k ? ((double *)values.data)[i] : (double)((float *)values.data)[i]) ==
                        (double)want[i / 2][i % 2]);
        assert_memory_equal(first.data, want_first, sizeof want_first);
        assert_memory_equal(counts.data, want_counts, sizeof want_counts);
        assert_memory_equal(inverse.data, want_inverse, sizeof want_inverse);
        tn_free(&values), tn_free(&first), tn_free(&inverse), tn_free(&counts);
        OK(tn_unique_each_copy(&values, NULL, NULL, NULL, &a));
        assert_int_equal(values.shape[0], 7);
        tn_free(&values);
        a.shape[0] = 0;
        OK(tn_unique_copy(&values, NULL, NULL, NULL, &a));
        assert_int_equal(values.shape[0], 0);
        tn_free(&values);
    }
}

static void test_counts(void **state)
{
    (void)state;
    uint8_t x[6] = {0, 2, 2, 4, 0, 2};
    int64_t bins[5], want[5] = {2, 0, 3, 0, 1};
    tn_tensor a, b, h;
    OK(tn_init(&a, x, TN_U8, 2, (int64_t[]){2, 3}));
    OK(tn_init(&b, bins, TN_I64, 1, (int64_t[]){5}));
    OK(tn_bincount(&b, &a));
    assert_memory_equal(bins, want, sizeof want);
    b.shape[0] = 4;
    assert_int_equal(tn_bincount(&b, &a), TN_EARG);
    assert_string_equal(tn_error(), "bincount: element 4 at (1, 0) is not in [0, 4)");
    double y[7] = {0, 0.24, 0.25, 1, NAN, -1, 1.5};
    int64_t parts[4], want_parts[4] = {2, 1, 0, 1};
    OK(tn_init(&a, y, TN_F64, 1, (int64_t[]){7}));
    OK(tn_init(&h, parts, TN_I64, 1, (int64_t[]){4}));
    OK(tn_histogram(&h, &a, 0, 1));
    assert_memory_equal(parts, want_parts, sizeof parts);
    assert_int_equal(tn_histogram(&h, &a, 1, 1), TN_EARG);
    assert_int_equal(tn_histogram(&h, &a, 0, INFINITY), TN_EARG);
}

static tn_tensor faulty;
static tn_status sort_once(void)
{
    tn_tensor values = faulty;
    return tn_sort(&values, NULL, &faulty, 0, 0);
}
static tn_status unique_once(void)
{
    tn_tensor values, first, inverse, counts;
    const tn_status status = tn_unique_copy(&values, &first, &inverse, &counts, &faulty);
    if (status == TN_OK)
        tn_free(&values), tn_free(&first), tn_free(&inverse), tn_free(&counts);
    return status;
}
static tn_status reduce_once(void)
{
    tn_tensor out;
    const tn_status status = tn_reduce_copy(&out, TN_REDUCE_SUM, NULL, &faulty, 0, NULL, false);
    if (status == TN_OK)
        tn_free(&out);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    float x[9] = {3, 1, 2, 2, 9, 1, 0, 4, 4};
    OK(tn_init(&faulty, x, TN_F32, 1, (int64_t[]){9}));
    assert_int_equal(fail_each_allocation(sort_once), 1);
    assert_true(fail_each_allocation(unique_once) >= 7);
    float pairs[3][2] = {{1, 2}, {0, 0}, {1, 2}};
    OK(tn_init(&faulty, pairs, TN_C64, 1, (int64_t[]){3}));
    assert_true(fail_each_allocation(unique_once) >= 11);
    assert_int_equal(fail_each_allocation(reduce_once), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_take_put),      cmocka_unit_test(test_along),
        cmocka_unit_test(test_index_errors),  cmocka_unit_test(test_masks),
        cmocka_unit_test(test_no_data),       cmocka_unit_test(test_first_outside),
        cmocka_unit_test(test_sort),          cmocka_unit_test(test_first_of_many),
        cmocka_unit_test(test_search_unique), cmocka_unit_test(test_unique_complex),
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_handles, drop_handles);
}
