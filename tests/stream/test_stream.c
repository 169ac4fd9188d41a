/* test_stream.c - a job gives the bytes of the same work in memory, whatever max_mem, box and
 * threads; sinks are called in order; bad jobs are refused before anything is read. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>

#include "io_oracle.h"

#include "stream_sink.h"

#include "io/sys.h"

static tn_status count(void *user, int64_t done, int64_t total)
{
    sink *s = user;
    assert_int_equal(done, s->size);
    assert_true(done <= total);
    s->reported++;
    return TN_OK;
}

/* Run the job in several ways; the result is want, dense, every time. */
static void check_job(tn_stream job, const tn_tensor *want)
{
    static const int64_t memories[] = {0, 1, 20 << 20}, boxes[] = {0, 1, 7, 1000};
    sink s = {.bytes = calloc(1, (size_t)tn_nbytes(want) + 1)};
    job.put = gather;
    job.progress = count;
    job.user = &s;
    for (int m = 0; m < 3; m++)
        for (int b = 0; b < 4; b++)
            for (int threads = 1; threads < 4; threads++) {
                tn_stream_facts facts;
                job.max_mem = memories[m];
                job.box = boxes[b];
                job.threads = threads;
                s.size = s.calls = s.reported = 0;
                OK(tn_stream_plan(&job, &facts));
                OK(tn_stream_run(&job));
                assert_int_equal(s.size, tn_nbytes(want));
                assert_int_equal(s.calls, facts.boxes);
                assert_int_equal(s.reported, facts.boxes);
                assert_int_equal(facts.written, tn_nbytes(want));
                assert_memory_equal(s.bytes, want->data, (size_t)tn_nbytes(want));
            }
    free(s.bytes);
}

static void make_input(tn_tensor *t, int ndim, const int64_t *shape)
{
    OK(tn_alloc(t, TN_F32, ndim, shape));
    OK(tn_randn(t, 7));
}

/* ---- recipes, sources from files, callbacks and memory ---- */

static void test_view(void **state)
{
    (void)state;
    int64_t shape[] = {33, 5, 14};
    int axes[] = {2, 0, 1};
    tn_tensor t, v, want, places;
    tn_file *f;
    make_input(&t, 3, shape);
    OK(tn_permute(&v, &t, axes));
    OK(tn_flip(&v, &v, 1));
    OK(tn_alloc(&want, TN_F32, 3, v.shape));
    OK(tn_rearrange(&want, &v));
    OK(tn_save("stream.npy", &t));
    OK(tn_file_open(&f, "stream.npy"));
    OK(tn_file_places(f, 0, &places));
    OK(tn_permute(&places, &places, axes));
    OK(tn_flip(&places, &places, 1));
    tn_stream_source sources[] = {
        {.file = f, .view = places}, {.read = read_memory, .user = &v, .view = v}, {.view = v}};
    for (int i = 0; i < 3; i++) {
        tn_stream job = {.n = 1, .sources = &sources[i], .out = want};
        check_job(job, &want);
        job.ndim = 3; /* the result as one axis, made in the axes of the view */
        memcpy(job.shape, v.shape, sizeof job.shape);
        OK(tn_init(&job.out, NULL, TN_F32, 1, (int64_t[]){33 * 5 * 14}));
        check_job(job, &want);
    }
    tn_file_close(f);
    remove("stream.npy");
    tn_free(&want);
    tn_free(&t);
}

/* Two sources side by side inside a border, converted. */
static void test_copy(void **state)
{
    (void)state;
    int64_t shape[] = {20, 30}, outer[] = {45, 31};
    tn_tensor t, wide, window, want;
    float border = -1.5f;
    make_input(&t, 2, shape);
    OK(tn_full(&wide, TN_F32, 2, outer, &border));
    tn_stream_source sources[2] = {{.view = t, .at = {1, 1}}, {.view = t, .at = {22, 0}}};
    for (int i = 0; i < 2; i++) {
        OK(tn_view(&window, &wide, shape, sources[i].at, NULL, 0));
        OK(tn_rearrange(&window, &t));
    }
    OK(tn_alloc(&want, TN_F64, 2, outer));
    OK(tn_cast(&want, &wide));
    tn_stream_fill fill = {TN_F32, &border};
    tn_stream job = {.n = 2, .sources = sources, .args = &fill, .out = want};
    check_job(job, &want);
    job.n = 0;
    OK(tn_fill(&want, &(double){-1.5}));
    check_job(job, &want);
    tn_free(&want);
    tn_free(&wide);
    tn_free(&t);
}

static tn_status half_sum(void *user, const tn_tensor *out, int n, const tn_tensor *const *srcs,
                          const int64_t *at)
{
    (void)at;
    atomic_fetch_add((atomic_int *)user, n);
    tn_status status = tn_add(out, srcs[0], srcs[1]);
    return status == TN_OK ? tn_apply(TN_ABS, NULL, out, 1, (const tn_tensor *[]){out})
                           : status;
}

static void test_operands(void **state)
{
    (void)state;
    int64_t shape[] = {40, 1, 9}, row[] = {6, 1}, both[] = {40, 6, 9};
    tn_tensor a, b, want;
    atomic_int calls = 0;
    make_input(&a, 3, shape);
    make_input(&b, 2, row);
    OK(tn_alloc(&want, TN_F32, 3, both));
    tn_stream_source sources[2] = {0};
    OK(tn_broadcast_to(&sources[0].view, &a, 3, both));
    OK(tn_broadcast_to(&sources[1].view, &b, 3, both));
    OK(tn_mul(&want, &sources[0].view, &sources[1].view));
    tn_stream_op op = {.op = TN_MUL};
    tn_stream job = {TN_STREAM_APPLY, &op, .out = want, .n = 2, .sources = sources};
    check_job(job, &want);

    OK(tn_add(&want, &sources[0].view, &sources[1].view));
    OK(tn_apply(TN_ABS, NULL, &want, 1, (const tn_tensor *[]){&want}));
    tn_stream_map map = {half_sum, &calls};
    job.recipe = TN_STREAM_MAP;
    job.args = &map;
    check_job(job, &want);
    assert_true(calls > 0);
    tn_free(&want);
    tn_free(&b);
    tn_free(&a);
}

static void test_corners(void **state)
{
    (void)state;
    tn_tensor t, want;
    float x = 3;
    OK(tn_full(&t, TN_F32, 0, NULL, &x)); /* no axes: one element */
    tn_stream_source s = {.view = t};
    tn_stream job = {.n = 1, .sources = &s, .out = t};
    check_job(job, &t);
    tn_free(&t);
    OK(tn_alloc(&want, TN_U8, 3, (int64_t[]){4, 0, 2})); /* no elements: no box */
    s.view = want;
    job.out = want;
    check_job(job, &want);
    tn_stream_facts facts;
    OK(tn_stream_plan(&job, &facts));
    assert_string_equal(facts.way, "nothing");
    assert_int_equal(facts.boxes, 0);
    tn_free(&want);
}

/* ---- elements that stay as they are ---- */

static int copy_error, copies;

static int refuse_copy(const char *call, size_t *n)
{
    (void)n;
    if (strcmp(call, "copy") != 0)
        return 0;
    copies++;
    return copy_error;
}

/* Copied by the system, or by way of memory where it refuses: the same bytes. */
static void test_copied(void **state)
{
    (void)state;
    static const int errors[] = {0, EXDEV, ENOSYS, ENOSPC};
    tn_tensor t, view, got;
    tn_file *f = NULL;
    make_input(&t, 2, (int64_t[]){3000, 1000});
    OK(tn_save("from.npy", &t));
    OK(tn_file_open(&f, "from.npy"));
    OK(tn_file_places(f, 0, &view));
    OK(tn_slice(&view, &view, 0, 5, 2900, 1));
    tn_stream_source source = {.file = f, .view = view};
    tn_stream job = {.n = 1, .sources = &source};
    OK(tn_init(&job.out, NULL, TN_F32, 2, view.shape));
    tni_sys_hook = refuse_copy;
    for (int k = 0; k < 4; k++) {
        copies = 0;
        copy_error = errors[k];
        OK(tn_writer_open(&job.writer, "to.safetensors", 1, NULL,
                          (const tn_tensor *[]){&job.out}, NULL));
        tn_status status = tn_stream_run(&job);
        assert_true(copies > 0);
        if (errors[k] == ENOSPC) {
            assert_int_equal(status, TN_EIO);
            assert_string_equal(tn_error(), "to.safetensors: No space left on device");
            tn_writer_abort(job.writer);
            continue;
        }
        OK(status);
        OK(tn_writer_commit(job.writer));
        tn_file *to = NULL;
        OK(tn_file_open(&to, "to.safetensors"));
        OK(tn_file_read(to, 0, &got));
        assert_memory_equal(got.data, (char *)t.data + 5 * 4000, 2895 * 4000);
        tn_free(&got);
        tn_file_close(to);
        remove("to.safetensors");
    }
    tni_sys_hook = NULL;
    tn_file_close(f);
    remove("from.npy");
    tn_free(&t);
}

/* A file that appears while another is made stays, when it was asked to. */
static void test_exclusive(void **state)
{
    (void)state;
    tn_tensor t;
    OK(tn_full(&t, TN_U8, 1, (int64_t[]){4}, NULL));
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        tn_writer *w = NULL;
        OK(tn_writer_open(&w, "late.npy", 1, NULL, (const tn_tensor *[]){&t},
                          &(tn_write_options){.exclusive = exclusive}));
        OK(tn_writer_put(w, &t));
        spit("late.npy", "mine", 4);
        assert_int_equal(tn_writer_commit(w), exclusive ? TN_EIO : TN_OK);
        if (exclusive)
            assert_string_equal(tn_error(), "late.npy: File exists");
        size_t n;
        free(slurp("late.npy", &n));
        assert_int_equal(n, exclusive ? 4 : 132);
        remove("late.npy");
    }
    tn_free(&t);
}

/* ---- comparing ---- */

/* Against a loop in this file; strided and cut into pieces the same numbers. */
static void test_compare(void **state)
{
    (void)state;
    tn_tensor a, b, transposed, t;
    make_input(&a, 2, (int64_t[]){57, 61});
    make_input(&b, 2, (int64_t[]){57, 61});
    float *x = a.data, *y = b.data;
    for (int i = 0; i < 57 * 61; i++)
        y[i] = i % 5 ? x[i] : x[i] * 1.5f + 0.25f;
    x[3] = y[3] = NAN;
    x[4] = NAN;
    y[7] = NAN;
    x[8] = y[8] = INFINITY;
    tn_difference want = {.at = -1}, d = {0}, parts = {0};
    for (int i = 0; i < 57 * 61; i++) {
        double p = x[i], q = y[i];
        want.unequal += memcmp(&x[i], &y[i], 4) != 0;
        want.nan_a += isnan(p) && !isnan(q);
        want.nan_b += !isnan(p) && isnan(q);
        double gap = p == q || isnan(p) || isnan(q) ? 0 : fabs(p - q);
        want.sum_abs += gap;
        want.beyond += gap > 0.1 + 0.01 * fabs(q) || isnan(p) != isnan(q);
        want.max_rel =
            fabs(q) > 0 && gap / fabs(q) > want.max_rel ? gap / fabs(q) : want.max_rel;
        if (gap > want.max_abs) {
            want.max_abs = gap;
            want.at = i;
        }
    }
    OK(tn_compare(&a, &b, 0.1, 0.01, &d));
    for (int64_t r = 0; r < 57; r++) {
        tn_tensor p, q;
        OK(tn_slice(&p, &a, 0, r, r + 1, 1));
        OK(tn_slice(&q, &b, 0, r, r + 1, 1));
        OK(tn_compare(&p, &q, 0.1, 0.01, &parts));
    }
    OK(tn_alloc(&t, TN_F32, 2, (int64_t[]){61, 57}));
    OK(tn_transpose(&transposed, &t, 0, 1));
    OK(tn_rearrange(&transposed, &b));
    tn_difference strided = {0};
    OK(tn_compare(&a, &transposed, 0.1, 0.01, &strided));
    const tn_difference *all[] = {&d, &parts, &strided};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(all[k]->n, 57 * 61);
        assert_int_equal(all[k]->unequal, want.unequal);
        assert_int_equal(all[k]->beyond, want.beyond);
        assert_int_equal(all[k]->nan_a, 1);
        assert_int_equal(all[k]->nan_b, 1);
        assert_int_equal(all[k]->at, want.at);
        assert_true(all[k]->max_abs == want.max_abs && all[k]->max_rel == want.max_rel);
        assert_true(all[k]->sum_abs == want.sum_abs);
    }
    tn_tensor wide; /* other dtypes by value */
    OK(tn_alloc(&wide, TN_F64, 2, a.shape));
    OK(tn_cast(&wide, &a));
    d = (tn_difference){0};
    OK(tn_compare(&wide, &a, 0, 0, &d));
    assert_int_equal(d.unequal, 0);
    assert_int_equal(d.at, -1);
    REFUSED(tn_compare(&a, &t, 0, 0, &d), TN_ESHAPE, "compare");
    REFUSED(tn_compare(&a, &b, 0, 0, NULL), TN_ENULL, "d is NULL");
    wide.dtype = TN_C64;
    REFUSED(tn_compare(&a, &wide, 0, 0, &d), TN_EARG, "f32 and c64 cannot be compared");
    wide.dtype = TN_F64;
    tn_free(&wide);
    tn_free(&t);
    tn_free(&b);
    tn_free(&a);
}

/* ---- plans ---- */

static void test_plan(void **state)
{
    (void)state;
    tn_tensor t, v;
    tn_stream_facts facts;
    char text[512];
    OK(tn_init(&t, NULL, TN_F32, 2, (int64_t[]){1 << 14, 1 << 14})); /* 1 GiB */
    tn_stream_source s = {.read = read_memory, .view = t};
    tn_stream job = {.n = 1, .sources = &s, .out = t, .max_mem = 64 << 20, .threads = 1};
    OK(tn_stream_plan(&job, &facts));
    assert_string_equal(facts.recipe, "copy");
    assert_string_equal(facts.way, "in order");
    assert_int_equal(facts.box, (8 << 20) / 4);
    assert_int_equal(facts.boxes, 128);
    assert_int_equal(facts.read, 1 << 30);
    assert_true(facts.memory <= job.max_mem);

    OK(tn_transpose(&v, &t, 0, 1)); /* larger boxes make longer reads */
    s.view = v;
    OK(tn_stream_plan(&job, &facts));
    assert_string_equal(facts.way, "boxes");
    assert_true(facts.box > (8 << 20) / 4);
    assert_true(facts.memory <= job.max_mem);
    assert_true(facts.shortest_read >= 3 << 10);
    OK(tn_stream_explain(&job, text, sizeof text));
    assert_non_null(strstr(text, "stream copy: boxes\n"));
    OK(tn_stream_explain(&job, text, 7));
    assert_string_equal(text, "stream");
    assert_int_equal(tn_stream_budget(5), 5);
    assert_true(tn_stream_budget(0) >= 256 << 20);
}

/* ---- failures ---- */

static tn_status read_fails(void *user, const tn_tensor *dst, const int64_t *at)
{
    (void)user;
    if (at[0] < 50)
        return tn_fill(dst, NULL);
    tn_tensor none;
    return tn_init(&none, NULL, 0, 1, dst->shape); /* leaves a sentence */
}

/* The worker's sentence is the caller's; a sink that fails ends the job. */
static void test_failures(void **state)
{
    (void)state;
    tn_tensor t;
    sink s = {.bytes = calloc(1, 400)};
    OK(tn_init(&t, NULL, TN_F32, 1, (int64_t[]){100}));
    tn_stream_source source = {.read = read_fails, .view = t};
    tn_stream job = {
        .n = 1, .sources = &source, .out = t, .put = gather, .user = &s, .box = 10};
    for (job.threads = 1; job.threads < 4; job.threads++) {
        s.calls = s.size = s.fail_at = 0;
        assert_int_equal(tn_stream_run(&job), TN_EDTYPE);
        assert_non_null(strstr(tn_error(), "dtype"));
        assert_int_equal(s.calls, 5);
        s = (sink){.bytes = s.bytes, .fail_at = 3};
        assert_int_equal(tn_stream_run(&job), TN_EIO);
        assert_int_equal(s.calls, 3);
    }
    free(s.bytes);
}

static void test_refused(void **state)
{
    (void)state;
    tn_tensor t, other, data;
    OK(tn_init(&t, NULL, TN_F32, 1, (int64_t[]){8}));
    OK(tn_init(&other, NULL, TN_F64, 1, (int64_t[]){8}));
    OK(tn_alloc(&data, TN_F32, 1, (int64_t[]){8}));
    sink s = {0};
    tn_stream_source source = {.view = data};
    const tn_stream good = {.n = 1, .sources = &source, .out = t, .put = gather, .user = &s};
    tn_stream job = good;
    tn_stream_facts facts;
    REFUSED(tn_stream_run(NULL), TN_ENULL, "job is NULL");
    job.recipe = (tn_stream_recipe)99;
    REFUSED(tn_stream_run(&job), TN_EARG, "unknown recipe 99");
    job = good;
    job.max_mem = -1;
    REFUSED(tn_stream_run(&job), TN_EARG, "max_mem: negative, got -1");
    job = good;
    job.reserved[3] = &s;
    REFUSED(tn_stream_run(&job), TN_EARG, "reserved[3]: expected NULL");
    job = good;
    job.ndim = 1;
    job.shape[0] = 9;
    REFUSED(tn_stream_run(&job), TN_ESHAPE, "shape: got 9 elements, expected out's 8");
    job = good;
    job.sources = NULL;
    REFUSED(tn_stream_run(&job), TN_ENULL, "sources is NULL");
    job = good;
    job.put = NULL;
    REFUSED(tn_stream_run(&job), TN_ENULL, "expected a writer or put");
    job = good;
    source.at[0] = 1;
    REFUSED(tn_stream_run(&job), TN_EARG, "source 0 covers [1, 9) of axis 0");
    source.at[0] = 0;
    tn_stream_fill fill = {TN_F64, "12345678"};
    job.args = &fill;
    REFUSED(tn_stream_run(&job), TN_EDTYPE, "the fill value is f64, the sources are f32");
    job = good;
    job.recipe = TN_STREAM_APPLY;
    REFUSED(tn_stream_run(&job), TN_ENULL, "args is NULL");
    tn_stream_op op = {.op = TN_ABS};
    job.args = &op;
    job.out = other;
    REFUSED(tn_stream_run(&job), TN_EDTYPE, "abs gives f32, out is f64");
    job = good;
    source.view = t; /* without data a plan can be made, and not run */
    OK(tn_stream_plan(&job, &facts));
    REFUSED(tn_stream_run(&job), TN_ENULL, "source");
    REFUSED(tn_stream_plan(&job, NULL), TN_ENULL, "facts is NULL");
    tn_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view),     cmocka_unit_test(test_copy),
        cmocka_unit_test(test_operands), cmocka_unit_test(test_corners),
        cmocka_unit_test(test_plan),     cmocka_unit_test(test_copied),
        cmocka_unit_test(test_compare),  cmocka_unit_test(test_exclusive),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
