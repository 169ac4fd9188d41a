/* test_stream_einsum.c - products of a stream: the bits of tn_einsum where a sum is one tile,
 * and of integers always; the same bits for any memory, layout and kind of source elsewhere. */
#include <math.h>

#include "layout.h"

#include "stream_sink.h"

static void draw(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    tn_tensor wide;
    OK(tn_alloc(&wide, TN_F32, ndim, shape));
    OK(tn_alloc(t, dtype, ndim, shape));
    OK(tn_randn(&wide, seed));
    if (dtype < TN_F8E4M3)
        OK(tn_eval(&wide, "x * 9", 1, (const char *[]){"x"}, (const tn_tensor *[]){&wide}));
    OK(tn_cast(t, &wide));
    tn_free(&wide);
}

/* Run the job with little memory and much, from memory and callbacks: want, every time. */
static void check_job(const char *spec, int n, tn_tensor *ts, const tn_tensor *want)
{
    static const int64_t memories[] = {1, 1 << 20, 6 << 20, 0};
    const tn_stream_einsum args = {spec};
    tn_stream_source sources[TN_EINSUM_SOURCES];
    sink s = {.bytes = calloc(1, (size_t)tn_nbytes(want) + 1)};
    tn_stream job = {.recipe = TN_STREAM_EINSUM,
                     .args = &args,
                     .out = *want,
                     .n = n,
                     .sources = sources,
                     .put = gather,
                     .progress = advance,
                     .user = &s};
    for (int m = 0; m < 4; m++)
        for (int called = 0; called < 2; called++) {
            tn_stream_facts facts;
            for (int k = 0; k < n; k++)
                sources[k] = called ? (tn_stream_source){.read = read_memory, .user = &ts[k]}
                                    : (tn_stream_source){.read = NULL};
            for (int k = 0; k < n; k++)
                sources[k].view = ts[k];
            job.max_mem = memories[m];
            s.size = s.calls = s.done = s.total = 0;
            OK(tn_stream_plan(&job, &facts));
            assert_string_equal(facts.recipe, "einsum");
            assert_int_equal(facts.written, tn_nbytes(want));
            OK(tn_stream_run(&job));
            assert_int_equal(s.calls, facts.boxes);
            assert_int_equal(s.size, tn_nbytes(want));
            assert_int_equal(s.done, s.total);
            assert_int_equal(facts.read, called ? s.total : 0);
            if (memcmp(s.bytes, want->data, (size_t)s.size))
                fail_msg("%s: other bytes, max_mem %lld", spec, (long long)memories[m]);
        }
    free(s.bytes);
}

/* The product of all sources at once. */
static void want_of(const char *spec, int n, tn_tensor *ts, tn_dtype dtype, tn_tensor *want)
{
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    for (int k = 0; k < n; k++)
        srcs[k] = &ts[k];
    OK(tn_einsum_shape(spec, n, srcs, &ndim, shape));
    OK(tn_alloc(want, dtype, ndim, shape));
    OK(tn_einsum(want, spec, n, srcs));
}

/* ---- one tile ---- */

static void test_small(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int n;
    } cases[] = {{"ij,jk->ik", 2},   {"ij,jk->ki", 2},      {"ij,jk,kl->il", 3},
                 {"ij->j", 1},       {"ij->", 1},           {"ij,jk->", 2},
                 {"ii->i", 1},       {"...j,jk->...k", 2},  {"ij,ij->ij", 2},
                 {"ij,kl->ijkl", 2}, {"a b, b c -> c a", 2}};
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_I32, TN_C64, TN_BOOL, TN_U8};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++)
        for (int d = 0; d < (int)(sizeof dtypes / sizeof *dtypes); d++) {
            tn_tensor ts[3], want;
            for (int k = 0; k < 3; k++)
                draw(&ts[k], dtypes[d], 2, (int64_t[]){7, 7}, (uint64_t)(k + 1));
            want_of(cases[i].spec, cases[i].n, ts, dtypes[d], &want);
            check_job(cases[i].spec, cases[i].n, ts, &want);
            tn_free(&want);
            for (int k = 0; k < 3; k++)
                tn_free(&ts[k]);
        }
}

/* Results that are wider than the sources, extents of 1 that repeat, and no elements. */
static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        tn_dtype from, to;
        int64_t a[3], b[3];
    } cases[] = {{"ij,jk->ik", TN_F16, TN_F32, {5, 9}, {9, 4}},
                 {"ij,jk->ik", TN_I8, TN_I64, {5, 9}, {9, 4}},
                 {"ij,ij->i", TN_F32, TN_F32, {5, 9}, {1, 9}},
                 {"ij,jk->ik", TN_F32, TN_F32, {5, 1}, {9, 4}},
                 {"ij,jk->ik", TN_F32, TN_F32, {0, 9}, {9, 4}},
                 {"ij,jk->ik", TN_F32, TN_F32, {5, 0}, {0, 4}}};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        tn_tensor ts[2], want;
        draw(&ts[0], cases[i].from, 2, cases[i].a, 1);
        draw(&ts[1], cases[i].from, 2, cases[i].b, 2);
        want_of(cases[i].spec, 2, ts, cases[i].to, &want);
        check_job(cases[i].spec, 2, ts, &want);
        tn_free(&want);
        tn_free(&ts[0]);
        tn_free(&ts[1]);
    }
}

/* ---- many tiles ---- */

/* Results and sums that are cut: integers, bool and single products are exact. */
static void test_exact(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        tn_dtype dtype;
        int64_t a[2], b[2];
    } cases[] = {{"ij,ij->", TN_I32, {700, 1000}, {700, 1000}},
                 {"ij,ik->jk", TN_I32, {180001, 3}, {180001, 3}},
                 {"ij,kj->ik", TN_I16, {300, 4001}, {9, 4001}},
                 {"ij,kl->ik", TN_U8, {3, 1200000}, {2, 5}},
                 {"ij,ij->", TN_BOOL, {1500, 2000}, {1500, 2000}},
                 {"ij,kl->ik", TN_F32, {1100, 1}, {1300, 1}},
                 {"ij,kj->kij", TN_F32, {800, 90}, {11, 90}}};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        tn_tensor ts[2], want;
        draw(&ts[0], cases[i].dtype, 2, cases[i].a, 1);
        draw(&ts[1], cases[i].dtype, 2, cases[i].b, 2);
        want_of(cases[i].spec, 2, ts, cases[i].dtype, &want);
        check_job(cases[i].spec, 2, ts, &want);
        tn_free(&want);
        tn_free(&ts[0]);
        tn_free(&ts[1]);
    }
}

/* One run of a job in memory, into a tensor that is to be freed. */
static void run_once(const char *spec, int n, const tn_tensor *ts, const tn_tensor *like,
                     tn_tensor *got)
{
    const tn_stream_einsum args = {spec};
    tn_stream_source sources[2];
    sink s = {0};
    OK(tn_alloc(got, like->dtype, like->ndim, like->shape));
    s.bytes = got->data;
    for (int k = 0; k < n; k++)
        sources[k] = (tn_stream_source){.view = ts[k]};
    const tn_stream job = {.recipe = TN_STREAM_EINSUM,
                           .args = &args,
                           .out = *like,
                           .n = n,
                           .sources = sources,
                           .put = gather,
                           .user = &s};
    OK(tn_stream_run(&job));
}

/* Long sums of floats: near the f64 ones, the same bits for every memory and layout; pieces of
 * f16 are added up in f32, so that only one rounding shows. */
static void test_long_sums(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_F32, TN_F16};
    for (int d = 0; d < 2; d++) {
        tn_tensor ts[2], wide[2], want, flipped, got, exact, as;
        tn_difference diff = {0};
        draw(&ts[0], dtypes[d], 2, (int64_t[]){150000, 8}, 1);
        draw(&ts[1], dtypes[d], 2, (int64_t[]){150000, 8}, 2);
        for (int k = 0; k < 2; k++) {
            OK(tn_alloc(&wide[k], TN_F64, 2, ts[k].shape));
            OK(tn_cast(&wide[k], &ts[k]));
        }
        want_of("ij,ik->jk", 2, wide, TN_F64, &exact);
        OK(tn_init(&want, NULL, dtypes[d], 2, exact.shape));
        run_once("ij,ik->jk", 2, ts, &want, &got);
        check_job("ij,ik->jk", 2, ts, &got);
        OK(tn_alloc(&as, TN_F64, 2, got.shape));
        OK(tn_cast(&as, &got));
        OK(tn_compare(&as, &exact, d ? 0.05 : 0.01, d ? 0.0006 : 1e-5, &diff));
        assert_int_equal(diff.beyond, 0);
        /* the same elements in columns */
        OK(tn_alloc(&flipped, dtypes[d], 2, (int64_t[]){8, 150000}));
        tn_tensor columns;
        OK(tn_transpose(&columns, &flipped, 0, 1));
        OK(tn_rearrange(&columns, &ts[0]));
        check_job("ij,ik->jk", 2, (tn_tensor[]){columns, ts[1]}, &got);
        tn_free(&flipped);
        tn_free(&as);
        tn_free(&got);
        tn_free(&exact);
        for (int k = 0; k < 2; k++) {
            tn_free(&wide[k]);
            tn_free(&ts[k]);
        }
    }
}

/* ---- files, plans ---- */

static void test_file(void **state)
{
    (void)state;
    tn_tensor ts[2], want, got;
    tn_file *f, *g;
    draw(&ts[0], TN_F32, 2, (int64_t[]){900, 40}, 1);
    draw(&ts[1], TN_F32, 2, (int64_t[]){40, 900}, 2);
    want_of("ij,jk->ik", 2, ts, TN_F32, &want);
    OK(tn_save("einsum_a.npy", &ts[0]));
    OK(tn_file_open(&f, "einsum_a.npy"));
    const tn_stream_einsum args = {"ij,jk->ik"};
    tn_stream_source sources[2] = {{.file = f}, {.view = ts[1]}};
    OK(tn_file_places(f, 0, &sources[0].view));
    tn_stream job = {.recipe = TN_STREAM_EINSUM,
                     .args = &args,
                     .out = want,
                     .n = 2,
                     .sources = sources,
                     .max_mem = 1 << 20};
    OK(tn_writer_open(&job.writer, "einsum_c.npy", 1, NULL, (const tn_tensor *[]){&want},
                      NULL));
    OK(tn_stream_run(&job));
    OK(tn_writer_commit(job.writer));
    run_once("ij,jk->ik", 2, ts, &want, &got);
    tn_free(&want);
    OK(tn_file_open(&g, "einsum_c.npy"));
    OK(tn_file_read(g, 0, &want));
    assert_memory_equal(got.data, want.data, (size_t)tn_nbytes(&want));
    tn_file_close(g);
    tn_file_close(f);
    remove("einsum_a.npy");
    remove("einsum_c.npy");
    tn_free(&got);
    tn_free(&want);
    tn_free(&ts[0]);
    tn_free(&ts[1]);
}

static void test_plan(void **state)
{
    (void)state;
    tn_tensor a;
    tn_stream_facts facts;
    tn_facts tile;
    tn_plan *plan;
    char text[1024];
    const tn_stream_einsum args = {"ij,kj->ik"};
    OK(tn_init(&a, NULL, TN_F32, 2, (int64_t[]){1400, 800}));
    const tn_stream_source sources[] = {{.read = read_memory, .view = a},
                                        {.read = read_memory, .view = a}};
    tn_stream job = {.recipe = TN_STREAM_EINSUM,
                     .args = &args,
                     .n = 2,
                     .sources = sources,
                     .max_mem = 32 << 20};
    OK(tn_init(&job.out, NULL, TN_F32, 2, (int64_t[]){1400, 1400}));
    OK(tn_stream_plan(&job, &facts));
    assert_string_equal(facts.way, "boxes");
    assert_true(facts.memory <= job.max_mem);
    assert_true(facts.read >= 2 * tn_nbytes(&a));
    const int64_t much = facts.read;
    job.max_mem = 8 << 20;
    OK(tn_stream_plan(&job, &facts));
    assert_int_equal(facts.boxes, 6);
    assert_int_equal(facts.box, 256 * 1400);
    assert_true(facts.read > much);
    OK(tn_stream_in_memory(&plan, &job));
    OK(tn_plan_facts(&tile, plan));
    assert_int_equal(tile.ndim, 2);
    assert_int_equal(tile.shape[0], 256);
    assert_int_equal(tile.shape[1], 350);
    tn_plan_free(plan);
    OK(tn_stream_explain(&job, text, sizeof text));
    assert_non_null(strstr(text, "stream einsum: boxes\n  why      "));
    OK(tn_stream_facts_json(&facts, text, sizeof text));
    assert_non_null(strstr(text, "{\"recipe\": \"einsum\", \"way\": \"boxes\", \"why\": \""));
    assert_non_null(strstr(text, "\"boxes\": 6, \"box\": 358400, "));
    assert_int_equal(text[strlen(text) - 1], '}');
    OK(tn_stream_facts_json(&facts, text, 4));
    assert_string_equal(text, "{\"r");
    assert_string_equal(tn_stream_why(NULL), "");
}

/* ---- failures ---- */

static tn_status read_fails(void *user, const tn_tensor *dst, const int64_t *at)
{
    (void)user;
    return at[0] < 300 ? tn_fill(dst, NULL) : tn_set_error(TN_EIO, "the source has gone");
}

static void test_failures(void **state)
{
    (void)state;
    tn_tensor a;
    const tn_stream_einsum args = {"ij,kj->ik"};
    OK(tn_init(&a, NULL, TN_F32, 2, (int64_t[]){1400, 3}));
    tn_stream_source sources[] = {{.read = read_fails, .view = a},
                                  {.read = read_fails, .view = a}};
    sink s = {.bytes = malloc(1400 * 1400 * 4)};
    tn_stream job = {.recipe = TN_STREAM_EINSUM,
                     .args = &args,
                     .n = 2,
                     .sources = sources,
                     .put = gather,
                     .progress = advance,
                     .user = &s,
                     .max_mem = 1};
    OK(tn_init(&job.out, NULL, TN_F32, 2, (int64_t[]){1400, 1400}));
    REFUSED(tn_stream_run(&job), TN_EIO, "the source has gone");
    for (int k = 0; k < 2; k++) {
        OK(tn_alloc(&sources[k].view, TN_F32, 2, a.shape));
        OK(tn_fill(&sources[k].view, NULL));
        sources[k].read = NULL;
    }
    s = (sink){.bytes = s.bytes, .fail_at = 2};
    assert_int_equal(tn_stream_run(&job), TN_EIO);
    assert_int_equal(s.calls, 2);
    s = (sink){.bytes = s.bytes, .stop_at = 40000};
    assert_int_equal(tn_stream_run(&job), TN_EDEVICE);
    for (int k = 0; k < 2; k++)
        tn_free(&sources[k].view);
    free(s.bytes);
}

/* Pieces of f16 sums, which need all that a job may allocate. */
static tn_status run_large(void)
{
    static const tn_stream_einsum args = {"ij,ik->jk"};
    static uint16_t x[600000][2];
    char bytes[8];
    tn_stream_source sources[2] = {{.read = NULL}, {.read = NULL}};
    sink s = {.bytes = bytes};
    for (int k = 0; k < 2; k++)
        OK(tn_init(&sources[k].view, x, TN_F16, 2, (int64_t[]){600000, 2}));
    tn_stream job = {.recipe = TN_STREAM_EINSUM,
                     .args = &args,
                     .n = 2,
                     .sources = sources,
                     .put = gather,
                     .user = &s,
                     .max_mem = 1 << 20};
    OK(tn_init(&job.out, NULL, TN_F16, 2, (int64_t[]){2, 2}));
    return tn_stream_run(&job);
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(fail_each_allocation(run_large) >= 8);
}

static void test_refused(void **state)
{
    (void)state;
    tn_tensor a;
    tn_plan *plan;
    tn_stream_facts facts;
    char text[4];
    sink s = {0};
    tn_stream_einsum args = {"ij,jk->ik"};
    OK(tn_alloc(&a, TN_F32, 2, (int64_t[]){4, 4}));
    const tn_stream_source sources[TN_EINSUM_SOURCES + 1] = {{.view = a}, {.view = a}};
    const tn_stream good = {.recipe = TN_STREAM_EINSUM,
                            .args = &args,
                            .out = a,
                            .n = 2,
                            .sources = sources,
                            .put = gather,
                            .user = &s};
    tn_stream job = good;
    job.args = NULL;
    REFUSED(tn_stream_run(&job), TN_ENULL, "args is NULL");
    job = good;
    args.spec = NULL;
    REFUSED(tn_stream_run(&job), TN_ENULL, "spec is NULL");
    args.spec = "ij,jk->iz";
    REFUSED(tn_stream_run(&job), TN_EFORMAT, "einsum: \"ij,jk->iz\": 'z' at column 9");
    args.spec = "ij,jk->ik";
    job.n = 0;
    REFUSED(tn_stream_run(&job), TN_EARG, "einsum: got 0 sources, expected 1 to 8");
    job.n = 1;
    REFUSED(tn_stream_run(&job), TN_EFORMAT, "einsum: ");
    job = good;
    job.ndim = 1;
    job.shape[0] = 16;
    REFUSED(tn_stream_run(&job), TN_EARG, "einsum: ndim is 1, expected 0");
    job = good;
    job.out.dtype = TN_I32;
    REFUSED(tn_stream_run(&job), TN_EDTYPE, "einsum: ");
    job = good;
    job.out.shape[1] = 5;
    REFUSED(tn_stream_run(&job), TN_ESHAPE, "einsum: ");
    job = good;
    job.put = NULL;
    REFUSED(tn_stream_run(&job), TN_ENULL, "expected a writer or put");
    OK(tn_stream_plan(&job, &facts));
    REFUSED(tn_stream_facts_json(NULL, text, 4), TN_ENULL, "facts is NULL");
    REFUSED(tn_stream_facts_json(&facts, NULL, 4), TN_ENULL, "buf is NULL");
    REFUSED(tn_stream_in_memory(NULL, &job), TN_ENULL, "plan is NULL");
    REFUSED(tn_stream_in_memory(&plan, NULL), TN_ENULL, "job is NULL");
    const tn_stream_sort sort = {.dim = 0};
    job = (tn_stream){
        .recipe = TN_STREAM_SORT, .args = &sort, .out = a, .n = 1, .sources = sources};
    REFUSED(tn_stream_in_memory(&plan, &job), TN_EUNSUPPORTED, "sort has no plan");
    assert_int_equal(s.calls, 0);
    tn_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),    cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_exact),    cmocka_unit_test(test_long_sums),
        cmocka_unit_test(test_file),     cmocka_unit_test(test_plan),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
