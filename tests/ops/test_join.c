/* test_join.c - concat, stack, tile, repeat and roll against slow oracles, on random
 * layouts. */
#include "dims_oracle.h"

enum { AXES = 4 };

static int pick_shape(rng *r, int least, int64_t *shape)
{
    int ndim = (int)pick(r, least, AXES);
    for (int i = 0; i < ndim; i++)
        shape[i] = next(r) % 12 ? pick(r, 1, 6) : 0;
    return ndim;
}

/* ---- concat and stack ---- */

static void random_joins(void **state)
{
    rng r = {1 + (uint64_t)(*state != NULL)};
    const bool stacked = *state != NULL;
    for (int round = 0; round < 5000; round++) {
        int64_t shape[AXES + 1], whole[AXES + 1];
        int ndim = pick_shape(&r, stacked ? 0 : 1, shape), n = (int)pick(&r, 1, 5);
        int dim = (int)pick(&r, 0, ndim - !stacked);
        tn_dtype dtype = pick_dtype(&r);
        block srcs[5];
        const tn_tensor *list[5];
        int64_t total = 0;
        for (int k = 0; k < n; k++) {
            if (!stacked)
                shape[dim] = pick(&r, 0, 5);
            srcs[k] = block_make(&r, dtype, ndim, shape, true, true);
            list[k] = &srcs[k].t;
            total += stacked ? 1 : shape[dim];
        }
        for (int i = 0, k = 0; i < ndim + stacked; i++)
            whole[i] = i == dim ? (k += !stacked, total) : shape[k++];
        block dst = block_make(&r, dtype, ndim + stacked, whole, true, false);
        block want = block_twin(&dst);
        join_oracle(&want.t, &(joined){dim, n, stacked, srcs});
        OK((stacked ? tn_stack : tn_concat)(&dst.t, dim, n, list));
        SAME_BLOCKS(&dst, &want, "%d of [%s] to [%s] along %d\n", n, describe(list[0]),
                    describe(&dst.t), dim);
        for (int k = 0; k < n; k++)
            block_free(&srcs[k]);
        block_free(&dst);
        block_free(&want);
    }
}

/* Sources above and below the grain of threads, few and many. */
static void large_joins(void **state)
{
    (void)state;
    rng r = {3};
    static const struct {
        int n;
        int64_t rows, columns;
    } sizes[] = {{300, 16, 33}, {3, 700, 301}, {2, 1, 300000}, {40, 100, 100}};
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++)
        for (int dim = 0; dim < 2; dim++) {
            int n = sizes[c].n;
            block *srcs = calloc((size_t)n, sizeof *srcs);
            const tn_tensor **list = calloc((size_t)n, sizeof *list);
            int64_t shape[2] = {sizes[c].rows, sizes[c].columns};
            for (int k = 0; k < n; k++) {
                srcs[k] = block_make(&r, TN_F32, 2, shape, false, true);
                list[k] = &srcs[k].t;
            }
            shape[dim] *= n;
            block dst = block_make(&r, TN_F32, 2, shape, false, false), want = block_twin(&dst);
            join_oracle(&want.t, &(joined){dim, n, false, srcs});
            OK(tn_concat(&dst.t, dim, n, list));
            SAME_BLOCKS(&dst, &want, "%d sources along %d\n", n, dim);
            for (int k = 0; k < n; k++)
                block_free(&srcs[k]);
            block_free(&dst);
            block_free(&want);
            free(srcs);
            free(list);
        }
}

/* ---- tile, repeat, roll ---- */

static void random_tiles(void **state)
{
    (void)state;
    rng r = {4};
    for (int round = 0; round < 5000; round++) {
        int64_t shape[AXES], whole[AXES], reps[AXES];
        int ndim = pick_shape(&r, 0, shape);
        for (int i = 0; i < ndim; i++) {
            reps[i] = pick(&r, next(&r) % 8 != 0, 4);
            whole[i] = shape[i] * reps[i];
        }
        tn_dtype dtype = pick_dtype(&r);
        block src = block_make(&r, dtype, ndim, shape, true, true);
        block dst = block_make(&r, dtype, ndim, whole, true, false), want = block_twin(&dst);
        oracle(&want.t, &src.t, from_tile, &(moved){.ndim = ndim, .shape = shape}, NULL);
        OK(tn_tile(&dst.t, &src.t, reps));
        SAME_BLOCKS(&dst, &want, "tile [%s] to [%s]\n", describe(&src.t), describe(&dst.t));
        block_free(&src);
        block_free(&dst);
        block_free(&want);
    }
}

static void random_repeats(void **state)
{
    (void)state;
    rng r = {5};
    for (int round = 0; round < 5000; round++) {
        int64_t shape[AXES], whole[AXES];
        int ndim = pick_shape(&r, 1, shape), dim = (int)pick(&r, 0, ndim - 1);
        int64_t reps = pick(&r, 0, 5);
        for (int i = 0; i < ndim; i++)
            whole[i] = shape[i] * (i == dim ? reps : 1);
        tn_dtype dtype = pick_dtype(&r);
        block src = block_make(&r, dtype, ndim, shape, true, true);
        block dst = block_make(&r, dtype, ndim, whole, true, false), want = block_twin(&dst);
        oracle(&want.t, &src.t, from_repeat, &(moved){ndim, dim, shape, reps}, NULL);
        OK(tn_repeat(&dst.t, &src.t, dim, reps));
        SAME_BLOCKS(&dst, &want, "repeat [%s] %d times along %d\n", describe(&src.t), (int)reps,
                    dim);
        block_free(&src);
        block_free(&dst);
        block_free(&want);
    }
}

static void random_rolls(void **state)
{
    (void)state;
    rng r = {6};
    for (int round = 0; round < 5000; round++) {
        int64_t shape[AXES];
        int ndim = pick_shape(&r, 1, shape), dim = (int)pick(&r, 0, ndim - 1);
        int64_t shift = next(&r) % 8 ? pick(&r, -14, 14) : (int64_t)next(&r);
        tn_dtype dtype = pick_dtype(&r);
        block src = block_make(&r, dtype, ndim, shape, true, true);
        block dst = block_make(&r, dtype, ndim, shape, true, false), want = block_twin(&dst);
        oracle(&want.t, &src.t, from_roll, &(moved){ndim, dim, shape, shift}, NULL);
        OK(tn_roll(&dst.t, &src.t, dim, shift));
        SAME_BLOCKS(&dst, &want, "roll [%s] by %lld along %d\n", describe(&src.t),
                    (long long)shift, dim);
        block_free(&src);
        block_free(&dst);
        block_free(&want);
    }
}

static void roll_and_back(void **state)
{
    (void)state;
    rng r = {7};
    for (int round = 0; round < 1000; round++) {
        int64_t shape[AXES], shift = pick(&r, -9, 9);
        int ndim = pick_shape(&r, 1, shape), dim = (int)pick(&r, 0, ndim - 1);
        block a = block_make(&r, TN_I16, ndim, shape, false, false);
        block b = block_make(&r, TN_I16, ndim, shape, false, false);
        block c = block_make(&r, TN_I16, ndim, shape, false, false);
        OK(tn_roll(&b.t, &a.t, dim, shift));
        OK(tn_roll(&c.t, &b.t, dim, -shift));
        SAME_BLOCKS(&c, &a, "roll by %d and back\n", (int)shift);
        block_free(&a);
        block_free(&b);
        block_free(&c);
    }
}

/* ---- bad input: the status, and dst as it was ---- */

static void bad_joins(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, z[12], before[12];
    memset(z, 0x5a, sizeof z);
    memcpy(before, z, sizeof z);
    tn_tensor a, d, bad;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_init(&d, z, TN_F32, 2, (int64_t[]){4, 3}));
    const tn_tensor *two[] = {&a, &a}, *none[] = {&a, NULL}, *odd[] = {&a, &bad};
    assert_int_equal(tn_concat(NULL, 0, 2, two), TN_ENULL);
    assert_int_equal(tn_concat(&d, 0, 2, NULL), TN_ENULL);
    assert_int_equal(tn_concat(&d, 0, 2, none), TN_ENULL);
    assert_int_equal(tn_concat(&d, 0, 0, NULL), TN_EARG);
    assert_int_equal(tn_concat(&d, 0, -1, two), TN_EARG);
    assert_int_equal(tn_concat(&d, -1, 2, two), TN_EARG);
    assert_int_equal(tn_concat(&d, 2, 2, two), TN_EARG);
    assert_int_equal(tn_concat(&d, 0, 1, two), TN_ESHAPE);
    assert_int_equal(tn_concat(&d, 1, 2, two), TN_ESHAPE);
    bad = a;
    bad.ndim = 1;
    assert_int_equal(tn_concat(&d, 0, 2, odd), TN_ESHAPE);
    bad = a;
    bad.shape[1] = 2;
    assert_int_equal(tn_concat(&d, 0, 2, odd), TN_ESHAPE);
    bad = a;
    bad.shape[0] = INT64_MAX;
    assert_int_equal(tn_concat(&d, 0, 2, odd), TN_ESHAPE);
    bad = a;
    bad.dtype = TN_I32;
    assert_int_equal(tn_concat(&d, 0, 2, odd), TN_EDTYPE);
    bad.device = 1;
    assert_int_equal(tn_concat(&d, 0, 2, odd), TN_EDEVICE);
    bad = a;
    bad.data = NULL;
    assert_int_equal(tn_concat(&d, 0, 2, odd), TN_ENULL);
    bad.data = z + 3;
    assert_int_equal(tn_concat(&d, 0, 2, odd), TN_EOVERLAP);
    bad = d;
    bad.flags = TN_READONLY;
    assert_int_equal(tn_concat(&bad, 0, 2, two), TN_EARG);
    bad = d;
    bad.stride[0] = 4;
    assert_int_equal(tn_concat(&bad, 0, 2, two), TN_ESTRIDE);
    bad = d;
    bad.data = NULL;
    assert_int_equal(tn_concat(&bad, 0, 2, two), TN_ENULL);

    tn_tensor stacked;
    OK(tn_init(&stacked, z, TN_F32, 3, (int64_t[]){2, 2, 3}));
    OK(tn_init(&d, z, TN_F32, 2, (int64_t[]){2, 3}));
    assert_int_equal(tn_stack(&stacked, 3, 2, two), TN_EARG);
    assert_int_equal(tn_stack(&stacked, 0, 1, two), TN_ESHAPE);
    assert_int_equal(tn_stack(&stacked, 2, 2, two), TN_ESHAPE);
    assert_int_equal(tn_stack(&d, 0, 2, two), TN_ESHAPE);
    assert_memory_equal(z, before, sizeof z);
}

static void bad_tiles_and_rolls(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, z[12], before[12];
    memset(z, 0x5a, sizeof z);
    memcpy(before, z, sizeof z);
    tn_tensor a, d, bad;
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_init(&d, z, TN_F32, 2, (int64_t[]){4, 3}));
    const int64_t twice[] = {2, 1}, wrong[] = {1, 2}, less[] = {-2, 1},
                  huge[] = {2, INT64_MAX / 2};
    assert_int_equal(tn_tile(&d, &a, NULL), TN_ENULL);
    assert_int_equal(tn_tile(NULL, &a, twice), TN_ENULL);
    assert_int_equal(tn_tile(&d, NULL, twice), TN_ENULL);
    assert_int_equal(tn_tile(&d, &a, less), TN_EARG);
    assert_int_equal(tn_tile(&d, &a, wrong), TN_ESHAPE);
    assert_int_equal(tn_tile(&d, &a, huge), TN_EOVERFLOW);
    bad = d;
    bad.ndim = 1;
    assert_int_equal(tn_tile(&bad, &a, twice), TN_ESHAPE);
    bad = d;
    bad.data = x;
    assert_int_equal(tn_tile(&bad, &a, twice), TN_EOVERLAP);
    bad = d;
    bad.dtype = TN_I8;
    assert_int_equal(tn_tile(&bad, &a, twice), TN_EDTYPE);

    assert_int_equal(tn_repeat(&d, &a, 2, 2), TN_EARG);
    assert_int_equal(tn_repeat(&d, &a, -1, 2), TN_EARG);
    assert_int_equal(tn_repeat(&d, &a, 0, -2), TN_EARG);
    assert_int_equal(tn_repeat(&d, &a, 1, 2), TN_ESHAPE);
    assert_int_equal(tn_repeat(&d, &a, 0, INT64_MAX), TN_EOVERFLOW);

    assert_int_equal(tn_roll(&d, &a, 0, 1), TN_ESHAPE);
    OK(tn_init(&d, z, TN_F32, 2, (int64_t[]){2, 3}));
    assert_int_equal(tn_roll(&d, &a, 2, 1), TN_EARG);
    assert_int_equal(tn_roll(&a, &a, 0, 1), TN_EOVERLAP);
    bad = a;
    bad.data = NULL;
    assert_int_equal(tn_roll(&d, &bad, 0, 1), TN_ENULL);
    assert_memory_equal(z, before, sizeof z);
}

int main(void)
{
    static int stacked;
    const struct CMUnitTest tests[] = {
        {"random concats", random_joins, NULL, NULL, NULL},
        {"random stacks", random_joins, NULL, NULL, &stacked},
        cmocka_unit_test(large_joins),
        cmocka_unit_test(random_tiles),
        cmocka_unit_test(random_repeats),
        cmocka_unit_test(random_rolls),
        cmocka_unit_test(roll_and_back),
        cmocka_unit_test(bad_joins),
        cmocka_unit_test(bad_tiles_and_rolls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
