/* test_stream_reduce.c - reductions of a stream have the bits of tn_reduce, whatever memory and
 * threads they are given, for every layout, dtype, reduction and set of axes. */
#include <math.h>

#include "copy_oracle.h"
#include "reduce_draw.h"
#include "stream_refused.h"

#include <tenon/reduce.h>
#include <tenon/stream.h>

#include "core/core.h"

typedef struct sink {
    char *bytes;
    int64_t size, calls, done;
    const tn_tensor *want;
} sink;

/* Blocks arrive in order, each at the index that it says. */
static tn_status gather(void *user, const tn_tensor *block, const int64_t *at)
{
    sink *s = user;
    int64_t first = 0;
    assert_true(tn_is_contiguous(block));
    assert_int_equal(block->ndim, s->want->ndim);
    for (int i = 0; i < block->ndim; i++)
        first = first * s->want->shape[i] + at[i];
    assert_int_equal(first * (int64_t)tn_dtype_size(block->dtype), s->size);
    memcpy(s->bytes + s->size, block->data, (size_t)tn_nbytes(block));
    s->size += tn_nbytes(block);
    s->calls++;
    return TN_OK;
}

static tn_status advance(void *user, int64_t done, int64_t total)
{
    sink *s = user;
    assert_true(done >= s->done && done <= total);
    s->done = done;
    return TN_OK;
}

/* Floats that are no noise: sums of random bits are mostly NaN. */
static void fill_floats(rng *r, block *b)
{
    const tn_dtype t = b->t.dtype;
    int64_t at[TN_MAX_NDIM] = {0};
    if (tni_kind_of(t) < TNI_FLOAT || tn_numel(&b->t) == 0)
        return;
    const bool odd = next(r) % 2;
    do {
        double x[2] = {(double)pick(r, -1000000, 1000000) / (double)pick(r, 1, 1000000),
                       (double)pick(r, -1000, 1000)};
        tn_tensor from, to;
        if (odd && next(r) % 512 == 0)
            x[0] = next(r) % 2 ? NAN : INFINITY;
        const bool complex = t == TN_C64 || t == TN_C128;
        OK(tn_init(&from, x, complex ? TN_C128 : TN_F64, 0, NULL));
        OK(tn_init(&to, element(&b->t, at), t, 0, NULL));
        OK(tn_cast(&to, &from));
    } while (index_next(at, b->t.ndim, b->t.shape));
}

/* The same in pieces: two processes compute them alternately, and states meet in the first. */
static void in_pieces(const tn_stream *job, sink *s)
{
    tn_partial *at[2] = {NULL, NULL};
    s->size = 0;
    for (int k = 0; k < 2; k++)
        OK(tn_partial_create(&at[k], job));
    const int64_t n = tn_partial_count(at[0]), bytes = tn_partial_bytes(at[0]);
    void *sent = malloc((size_t)bytes + 1);
    for (int64_t i = 0; i < n; i++) {
        const void *states;
        OK(tn_partial_compute(at[i % 2], i, &states));
        memcpy(sent, states, (size_t)bytes);
        OK(tn_partial_merge(at[0], sent));
    }
    assert_int_equal(tn_partial_merge(at[0], sent), TN_EARG);
    free(sent);
    for (int k = 0; k < 2; k++)
        tn_partial_free(at[k]);
}

static void try_one(rng *r, tn_reduction op, const block *src, uint64_t folded, uint64_t seed)
{
    static const int64_t memories[] = {0, 1, 20 << 20};
    int axes[TN_MAX_NDIM], naxes = 0;
    tn_tensor want;
    const double param = op == TN_REDUCE_NORM ? 3 : 1;
    const bool keep = next(r) % 2;
    for (int i = 0; i < src->t.ndim; i++)
        if (folded >> i & 1)
            axes[naxes++] = i;
    if (tn_reduce_copy(&want, op, &param, &src->t, naxes, axes, keep) != TN_OK)
        return; /* the largest of no elements */
    tn_stream_source from = {.view = src->t};
    const tn_stream_reduce args = {op, &param, naxes, axes};
    sink s = {.bytes = calloc(1, (size_t)tn_nbytes(&want) + 1), .want = &want};
    tn_stream job = {.recipe = TN_STREAM_REDUCE,
                     .args = &args,
                     .out = want,
                     .n = 1,
                     .sources = &from,
                     .put = gather,
                     .progress = advance,
                     .user = &s};
    for (int m = 0; m < 3; m++)
        for (int threads = 0; threads < 4; threads++) {
            tn_stream_facts facts;
            job.max_mem = memories[m];
            job.threads = threads ? threads : 1;
            s.size = s.done = 0;
            OK(tn_stream_plan(&job, &facts));
            assert_string_equal(facts.recipe, "reduce");
            if (threads)
                OK(tn_stream_run(&job));
            else
                in_pieces(&job, &s);
            assert_int_equal(s.size, tn_nbytes(&want));
            if (memcmp(s.bytes, want.data, (size_t)s.size))
                fail_msg("%s of %s %s axes %llx, %lld bytes, %d threads: TEST_SEED=%llu",
                         tn_reduction_name(op), tn_dtype_name(src->t.dtype), describe(&src->t),
                         (unsigned long long)folded, (long long)memories[m], threads,
                         (unsigned long long)seed);
        }
    free(s.bytes);
    tn_free(&want);
}

static void random_case(uint64_t seed, int64_t budget)
{
    rng r = {seed};
    drawn_reduction d = draw_reduction(&r, budget);
    fill_floats(&r, &d.src);
    try_one(&r, d.op, &d.src, d.folded, seed);
    block_free(&d.src);
}

static void test_random(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked(),
                   cases = number_asked("TEST_CASES", TEST_WATCHED ? 40 : 250);
    for (uint64_t i = 0; i < cases; i++)
        random_case(seed + i, i % 8 ? 20000 : 200000);
}

/* Sequences of many runs: in order, down an axis, across two axes, from F order. */
static const struct {
    int64_t shape[3];
    int order[3]; /* memory, outermost first */
    uint64_t folded;
} large[] = {
    {{1, 1, 400001}, {0, 1, 2}, 7}, {{1, 50001, 7}, {0, 1, 2}, 2},
    {{1, 9000, 37}, {0, 2, 1}, 6},  {{4, 2, 50000}, {0, 1, 2}, 5},
    {{1, 700, 333}, {0, 2, 1}, 7},  {{3, 70000, 1}, {0, 1, 2}, 2},
};

static void test_large(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked();
    static const tn_reduction ops[] = {TN_REDUCE_SUM, TN_REDUCE_VAR, TN_REDUCE_ARGMAX,
                                       TN_REDUCE_MAX, TN_REDUCE_NANMEAN};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (size_t k = 0; k < (TEST_WATCHED ? 2 : 5); k++) {
            rng r = {seed + 16 * i + k};
            block src =
                block_ordered(&r, k % 2 ? TN_F64 : TN_F32, large[i].shape, large[i].order);
            fill_floats(&r, &src);
            try_one(&r, ops[k], &src, large[i].folded, seed);
            block_free(&src);
        }
}

/* Pieces of the least budget are not tiny where their reads would be short. */
static void test_short_reads(void **state)
{
    (void)state;
    tn_stream_facts facts;
    const int axis = 0;
    tn_stream_source from = {0};
    tn_stream_reduce args = {TN_REDUCE_SUM, NULL, 1, &axis};
    tn_stream job = {.recipe = TN_STREAM_REDUCE,
                     .args = &args,
                     .n = 1,
                     .sources = &from,
                     .max_mem = 1,
                     .threads = 1};
    OK(tn_init(&from.view, NULL, TN_F32, 2, (const int64_t[]){8000, 1250}));
    OK(tn_init(&job.out, NULL, TN_F32, 1, (const int64_t[]){1250}));
    OK(tn_stream_plan(&job, &facts));
    assert_true(facts.shortest_read >= 200 && facts.memory < 6 << 20);
    OK(tn_transpose(&from.view, &from.view, 0, 1));
    OK(tn_stream_stats_plan(&job, 0, &facts));
    assert_true(facts.shortest_read >= 128 && facts.memory < 6 << 20);
    OK(tn_init(&from.view, NULL, TN_F32, 2, (const int64_t[]){8000, 1250}));
    OK(tn_stream_stats_plan(&job, 0, &facts));
    assert_int_equal(facts.box, 16384); /* long reads: the least box */
}

static void test_refused(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, y[3];
    const int axis = 0, far = 2;
    sink s = {.bytes = (char *)y};
    tn_stream_source from = {0};
    tn_stream_reduce args = {TN_REDUCE_SUM, NULL, 1, &axis};
    tn_stream job = {.recipe = TN_STREAM_REDUCE,
                     .args = &args,
                     .n = 1,
                     .sources = &from,
                     .put = gather,
                     .user = &s};
    OK(tn_init(&from.view, x, TN_F32, 2, (const int64_t[]){2, 3}));
    OK(tn_init(&job.out, NULL, TN_F32, 1, (const int64_t[]){3}));
    s.want = &job.out;
    OK(tn_stream_run(&job));
    assert_true(y[0] == 5 && y[1] == 7 && y[2] == 9);
    tn_partial *p = NULL;
    const void *states = NULL;
    job.recipe = TN_STREAM_COPY;
    job.args = NULL;
    job.out = from.view;
    REFUSED(tn_partial_create(&p, &job), TN_EARG, "the recipe is copy, expected reduce");
    OK(tn_init(&job.out, NULL, TN_F32, 1, (const int64_t[]){3}));
    job.recipe = TN_STREAM_REDUCE;
    REFUSED(tn_partial_create(&p, &job), TN_ENULL, "args is NULL");
    REFUSED(tn_partial_create(&p, NULL), TN_ENULL, "job is NULL");
    job.args = &args;
    REFUSED(tn_partial_create(NULL, &job), TN_ENULL, "out is NULL");
    assert_null(p);
    job.put = NULL;
    OK(tn_partial_create(&p, &job));
    assert_int_equal(tn_partial_count(p), 1);
    REFUSED(tn_partial_compute(p, 1, &states), TN_EARG, "piece 1 is out of range [0, 1)");
    REFUSED(tn_partial_compute(NULL, 0, &states), TN_ENULL, "p is NULL");
    OK(tn_partial_compute(p, 0, &states));
    REFUSED(tn_partial_merge(p, NULL), TN_ENULL, "states is NULL");
    REFUSED(tn_partial_merge(p, states), TN_ENULL, "expected a writer or put");
    tn_partial_free(p);
    tn_partial_free(NULL);
    assert_int_equal(tn_partial_count(NULL) + tn_partial_bytes(NULL), 0);
    job.put = gather;
    job.args = NULL;
    REFUSED(tn_stream_run(&job), TN_ENULL, "args is NULL");
    job.args = &args;
    job.n = 0;
    REFUSED(tn_stream_run(&job), TN_EARG, "got 0 sources, expected 1");
    job.n = 1;
    args.axes = &far;
    REFUSED(tn_stream_run(&job), TN_EARG, "axis");
    args.axes = &axis;
    job.out.shape[0] = 4;
    REFUSED(tn_stream_run(&job), TN_ESHAPE, "got extent 4, expected 3");
    job.out.shape[0] = 3;
    job.out.dtype = TN_I32;
    REFUSED(tn_stream_run(&job), TN_EDTYPE, "got i32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_short_reads),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
