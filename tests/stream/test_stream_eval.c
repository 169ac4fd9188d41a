/* test_stream_eval.c - expressions of a stream, with reductions and without, have the bits of
 * tn_eval, whatever memory and threads they are given, from memory, callbacks and files. */
#include <math.h>

#include "layout.h"

#include "stream_sink.h"

/* x, y: f32 (60, 70, 5), y transposed in memory; row: f32 (5,); i: i32 (70, 1). */
enum { NAMES = 4 };
static const char *const names[NAMES] = {"x", "y", "row", "i"};
static tn_tensor ts[NAMES], memory[NAMES], common[NAMES];
static tn_file *files[NAMES];

static int set_up(void **state)
{
    (void)state;
    const int64_t shapes[NAMES][3] = {{60, 70, 5}, {5, 70, 60}, {5}, {70, 1}};
    const int ndim[NAMES] = {3, 3, 1, 2};
    for (int k = 0; k < NAMES; k++) {
        tn_tensor wide;
        char path[24];
        OK(tn_alloc(&wide, TN_F32, ndim[k], shapes[k]));
        OK(tn_randn(&wide, (uint64_t)k + 1));
        OK(tn_alloc(&memory[k], k == 3 ? TN_I32 : TN_F32, ndim[k], shapes[k]));
        if (k == 3)
            OK(tn_eval(&wide, "x * 9", 1, names, (const tn_tensor *[]){&wide}));
        OK(tn_cast(&memory[k], &wide));
        tn_free(&wide);
        snprintf(path, sizeof path, "eval_%s.npy", names[k]);
        OK(tn_save(path, &memory[k]));
        OK(tn_file_open(&files[k], path));
        ts[k] = memory[k];
    }
    OK(tn_transpose(&ts[1], &memory[1], 0, 2));
    for (int k = 0; k < NAMES; k++)
        OK(tn_broadcast_to(&common[k], &ts[k], 3, shapes[0]));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++) {
        char path[24];
        tn_file_close(files[k]);
        tn_free(&memory[k]);
        snprintf(path, sizeof path, "eval_%s.npy", names[k]);
        remove(path);
    }
    return 0;
}

/* A callback gets the indices of the view; the tensor behind it has extent 1 where it
 * repeats. */
static tn_tensor squeezed[NAMES];

static void make_source(tn_stream_source *s, int k, int kind)
{
    *s = (tn_stream_source){.view = common[k]};
    if (kind == 1) {
        squeezed[k] = common[k];
        for (int i = 0; i < 3; i++)
            squeezed[k].shape[i] = common[k].stride[i] ? common[k].shape[i] : 1;
        s->read = read_memory;
        s->user = &squeezed[k];
        s->view.data = NULL;
    } else if (kind == 2) {
        s->file = files[k];
        OK(tn_file_places(files[k], 0, &s->view));
        if (k == 1)
            OK(tn_transpose(&s->view, &s->view, 0, 2));
        OK(tn_broadcast_to(&s->view, &s->view, 3, common[k].shape));
    }
}

static int number_of(const char *name)
{
    for (int k = 0; k < NAMES; k++)
        if (!strcmp(names[k], name))
            return k;
    return -1;
}

/* The job of a text, without a sink. */
static void make_job(tn_stream *job, tn_stream_source *sources, const tn_stream_eval *args,
                     int kind)
{
    const tn_tensor *srcs[NAMES];
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    *job = (tn_stream){.recipe = TN_STREAM_EVAL,
                       .args = args,
                       .n = tn_expr_count(args->expr),
                       .sources = sources};
    for (int j = 0; j < job->n; j++) {
        make_source(&sources[j], number_of(tn_expr_name(args->expr, j)), kind);
        srcs[j] = &sources[j].view;
    }
    OK(tn_expr_result(args->expr, job->n, srcs, &dtype, &ndim, shape));
    OK(tn_init(&job->out, NULL, dtype, ndim, shape));
}

static void check_text(const char *text)
{
    static const int64_t memories[] = {1, 40000, 30 << 20, 0}, boxes[] = {0, 1, 7};
    tn_stream_source sources[NAMES];
    const tn_tensor *srcs[NAMES];
    tn_expr *expr;
    tn_tensor want;
    tn_stream job;
    OK(tn_expr_parse(&expr, text));
    assert_string_equal(tn_expr_text(expr), text);
    for (int k = 0; k < NAMES; k++)
        srcs[k] = &common[k];
    OK(tn_eval_copy(&want, text, NAMES, names, srcs));
    const tn_stream_eval args = {expr};
    sink s = {.bytes = calloc(1, (size_t)tn_nbytes(&want) + 1)};
    for (int kind = 0; kind < 3; kind++)
        for (int m = 0; m < 4; m++)
            for (int b = 0; b < (TEST_WATCHED || tn_numel(&want) > 1000 ? 1 : 3); b++) {
                tn_stream_facts facts;
                make_job(&job, sources, &args, kind);
                job.put = gather;
                job.progress = advance;
                job.user = &s;
                job.max_mem = memories[m];
                job.box = boxes[b];
                job.threads = m + b;
                s.size = s.calls = s.done = s.total = 0;
                OK(tn_stream_plan(&job, &facts));
                assert_string_equal(facts.recipe, "eval");
                OK(tn_stream_run(&job));
                assert_int_equal(s.calls, facts.boxes);
                assert_int_equal(s.size, tn_nbytes(&want));
                assert_int_equal(s.done, s.total);
                if (memcmp(s.bytes, want.data, (size_t)s.size))
                    fail_msg("%s: other bytes, max_mem %lld, kind %d", text,
                             (long long)memories[m], kind);
            }
    free(s.bytes);
    tn_free(&want);
    tn_expr_free(expr);
}

static void test_bits(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x * 2 + row",
        "sum(x)",
        "sum(x, axis=0)",
        "sum(x, axis=(0, 2))",
        "mean(x * y, axis=1)",
        "max(x + row, axis=-1) - min(x + row, axis=-1)",
        "sqrt(mean((x - y) ** 2))",
        "any(x > 2, axis=0) and all(x > -4, axis=0)",
        "sum(x*y, axis=1) / sqrt(sum(x*x, axis=1) * sum( y *\ty, axis=1))",
        "prod(max(x, y) * 0.9, axis=2)",
        "sum(i, axis=0)",
        "where(sum(x, axis=0) > 0, sum(x, axis=0), -sum( x , axis = 0 ))",
        "f16(sum(x * i, axis=0))",
        "(1 + sum(x, axis=1)) ** 2 // 1",
    };
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        check_text(texts[i]);
}

/* The value is converted to out's dtype. */
static void test_result(void **state)
{
    (void)state;
    tn_expr *expr;
    tn_stream job;
    tn_stream_source sources[NAMES];
    tn_tensor want;
    double got[5];
    sink s = {.bytes = (char *)got};
    OK(tn_expr_parse(&expr, "sum(x, axis=(0, 1))"));
    const tn_stream_eval args = {expr};
    make_job(&job, sources, &args, 0);
    OK(tn_init(&job.out, NULL, TN_F64, 1, (int64_t[]){5}));
    job.put = gather;
    job.user = &s;
    OK(tn_alloc(&want, TN_F64, 1, (int64_t[]){5}));
    OK(tn_eval(&want, tn_expr_text(expr), 1, names, (const tn_tensor *[]){&ts[0]}));
    OK(tn_stream_run(&job));
    assert_memory_equal(got, want.data, sizeof got);
    tn_free(&want);
    tn_expr_free(expr);
    assert_null(tn_expr_text(NULL));
}

static void test_plan(void **state)
{
    (void)state;
    tn_expr *expr;
    tn_stream job;
    tn_stream_facts facts;
    tn_stream_source sources[NAMES];
    tn_plan *plan;
    tn_facts what;
    OK(tn_expr_parse(&expr, "sum(x * y, axis=0)"));
    const tn_stream_eval args = {expr};
    make_job(&job, sources, &args, 1);
    job.max_mem = 64 << 20;
    OK(tn_stream_plan(&job, &facts));
    assert_string_equal(facts.way, "boxes");
    assert_int_equal(facts.boxes, 1);
    assert_int_equal(facts.read, 2 * 60 * 70 * 5 * 4);
    assert_int_equal(facts.written, 70 * 5 * 4);
    assert_true(facts.memory <= job.max_mem);
    OK(tn_stream_in_memory(&plan, &job));
    OK(tn_plan_facts(&what, plan));
    assert_string_equal(what.call, "eval");
    assert_int_equal(what.ndim, 2);
    tn_plan_free(plan);
    tn_expr_free(expr);
}

/* ---- failures ---- */

static tn_status read_fails(void *user, const tn_tensor *dst, const int64_t *at)
{
    (void)user;
    return at[0] < 28 ? tn_fill(dst, NULL) : tn_set_error(TN_EIO, "the source has gone");
}

static void test_failures(void **state)
{
    (void)state;
    tn_expr *expr;
    tn_stream job;
    tn_stream_source sources[NAMES];
    char bytes[60 * 4];
    OK(tn_expr_parse(&expr, "sum(x, axis=(1, 2)) + 1"));
    const tn_stream_eval args = {expr};
    for (int threads = 1; threads < 4; threads++) {
        sink s = {.bytes = bytes};
        make_job(&job, sources, &args, 1);
        job.put = gather;
        job.progress = advance;
        job.user = &s;
        job.box = 7;
        job.threads = threads;
        sources[0].read = read_fails;
        REFUSED(tn_stream_run(&job), TN_EIO, "the source has gone");
        assert_int_equal(s.calls, 4);
        sources[0].read = read_memory;
        s = (sink){.bytes = bytes, .fail_at = 3};
        assert_int_equal(tn_stream_run(&job), TN_EIO);
        assert_int_equal(s.calls, 3);
        s = (sink){.bytes = bytes, .stop_at = 2 * 7 * 70 * 5 * 4};
        assert_int_equal(tn_stream_run(&job), TN_EDEVICE);
        assert_int_equal(s.calls, 1);
    }
    tn_expr_free(expr);
}

static tn_expr *weak_expr;

static tn_status run_alone(void)
{
    tn_stream job;
    tn_stream_source sources[NAMES];
    const tn_stream_eval args = {weak_expr};
    char bytes[70 * 5 * 4];
    sink s = {.bytes = bytes};
    make_job(&job, sources, &args, 0);
    job.put = gather;
    job.user = &s;
    job.threads = 1;
    return tn_stream_run(&job);
}

static void test_memory(void **state)
{
    (void)state;
    OK(tn_expr_parse(&weak_expr, "max(x + y, axis=0) - min(x + y, axis=0)"));
    assert_true(fail_each_allocation(run_alone) >= 8);
    tn_expr_free(weak_expr);
}

static void test_refused(void **state)
{
    (void)state;
    tn_expr *expr, *seventeen;
    tn_stream good, job;
    tn_stream_source sources[NAMES];
    sink s = {0};
    char text[1200] = "";
    OK(tn_expr_parse(&expr, "sum(x + y, axis=0)"));
    tn_stream_eval args = {expr};
    make_job(&good, sources, &args, 0);
    good.put = gather;
    good.user = &s;
    job = good;
    job.args = NULL;
    REFUSED(tn_stream_run(&job), TN_ENULL, "args is NULL");
    job = good;
    job.n = 1;
    REFUSED(tn_stream_run(&job), TN_EARG, "the text has 2 names, got 1 sources");
    job = good;
    job.ndim = 1;
    job.shape[0] = 350;
    REFUSED(tn_stream_run(&job), TN_EARG, "eval: ndim is 1, expected 0");
    job = good;
    job.out.shape[0] = 71;
    REFUSED(tn_stream_run(&job), TN_ESHAPE, "stream: out");
    job = good;
    sources[1].view = ts[2];
    REFUSED(tn_stream_run(&job), TN_ESHAPE, "source 1 and source 0 have different shapes");
    make_source(&sources[1], 1, 0);
    args.expr = NULL;
    REFUSED(tn_stream_run(&job), TN_ENULL, "expr is NULL");
    /* one reduction in 17 spellings */
    for (int i = 0; i < 17; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%ssum(%.*sx%.*s + y%s)",
                 i ? " + " : "", i, "((((((((((((((((", i, "))))))))))))))))", ", axis=0");
    OK(tn_expr_parse(&seventeen, text));
    args.expr = seventeen;
    REFUSED(tn_stream_run(&job), TN_EUNSUPPORTED, "more than 16 reductions");
    assert_int_equal(s.calls, 0);
    tn_expr_free(seventeen);
    tn_expr_free(expr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),   cmocka_unit_test(test_result),
        cmocka_unit_test(test_plan),   cmocka_unit_test(test_failures),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
