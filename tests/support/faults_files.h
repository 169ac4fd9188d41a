/* faults_files.h - one call of every function for files, for tests in which an allocation
 * fails. */
#ifndef TENON_TEST_FAULTS_FILES_H
#define TENON_TEST_FAULTS_FILES_H

#include "faults_calls.h"

#include <fcntl.h>

static tn_status call_file_open(void)
{
    return tn_file_open(&out.file, path);
}

static tn_status call_file_open_fd(void)
{
    return tn_file_open_fd(&out.file, fd, "x");
}

static void open_fd(void)
{
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
}

static void drop_fd(void)
{
    tn_file_close(out.file);
    close(fd);
}

static void open_path(void)
{
    OK(tn_file_open(&opened, path));
}

static void close_path(void)
{
    tn_free(&out.t);
    tn_file_close(opened);
}

static void close_view(void)
{
    tn_file_close(opened);
}

static tn_status call_file_read(void)
{
    return tn_file_read(opened, 0, &out.t);
}

static tn_status call_file_map(void)
{
    return tn_file_map(opened, 0, &out.t);
}

static tn_status call_file_places(void)
{
    return tn_file_places(opened, 0, &out.t);
}

/* Reversed, so that the elements pass through a stage. */
static tn_status call_file_fetch(void)
{
    tn_tensor places, dst;
    OK(tn_file_places(opened, 0, &places));
    OK(tn_flip(&places, &places, places.ndim - 1));
    OK(tn_init(&dst, block, places.dtype, places.ndim, places.shape));
    return tn_file_fetch(opened, 0, &dst, &places);
}

static tn_status take_block(void *user, const tn_tensor *piece, const int64_t *at)
{
    (void)user;
    (void)piece;
    (void)at;
    return TN_OK;
}

/* Reversed, so that each box passes through a stage. */
static tn_status call_stream_run(void)
{
    tn_stream_source source = {.file = opened};
    tn_stream job = {.n = 1, .sources = &source, .put = take_block, .box = 7, .threads = 1};
    OK(tn_file_places(opened, 0, &source.view));
    OK(tn_flip(&source.view, &source.view, source.view.ndim - 1));
    OK(tn_init(&job.out, NULL, TN_F32, source.view.ndim, source.view.shape));
    return tn_stream_run(&job);
}

/* ---- stream recipes on memory ---- */

static tn_status run_recipe(tn_stream_recipe recipe, const void *args, tn_dtype to,
                            const tn_tensor *src)
{
    tn_stream_source source = {.view = *src};
    tn_stream job = {.recipe = recipe,
                     .args = args,
                     .n = 1,
                     .sources = &source,
                     .put = take_block,
                     .max_mem = 1,
                     .threads = 1};
    tn_stream_facts facts;
    OK(tn_init(&job.out, NULL, to, recipe == TN_STREAM_REDUCE ? 0 : src->ndim, src->shape));
    const tn_status status = tn_stream_plan(&job, &facts);
    if (status != TN_OK)
        return status;
    assert_int_equal(!strcmp(facts.way, "temporary file"), tn_numel(src) > 1000);
    return tn_stream_run(&job);
}

static tn_status call_stream_reduce(void)
{
    return run_recipe(TN_STREAM_REDUCE,
                      &(tn_stream_reduce){.op = TN_REDUCE_VAR, .naxes = TN_ALL_AXES}, TN_F32,
                      &transposed);
}

static tn_status call_stream_scan(void)
{
    return run_recipe(TN_STREAM_SCAN, &(tn_stream_scan){TN_SCAN_SUM, 1}, TN_F32, &transposed);
}

static tn_status call_stream_sort(void)
{
    return run_recipe(TN_STREAM_SORT, &(tn_stream_sort){.dim = 1}, TN_F32, &transposed);
}

/* A sequence longer than the smallest boxes, which is sorted through a temporary file. */
static tn_status call_stream_sort_long(void)
{
    static float memory[2500];
    tn_tensor line;
    for (int i = 0; i < 2500; i++)
        memory[i] = (float)(i * 37 % 1009);
    OK(tn_init(&line, memory, TN_F32, 1, (int64_t[]){2500}));
    return run_recipe(TN_STREAM_SORT, &(tn_stream_sort){.indices = true}, TN_I32, &line);
}

static tn_status call_stream_take(void)
{
    int64_t places[] = {1, -1, 0, 0};
    tn_tensor index;
    OK(tn_init(&index, places, TN_I64, 1, &transposed.shape[0]));
    return run_recipe(TN_STREAM_TAKE, &(tn_stream_take){0, &index}, TN_F32, &transposed);
}

static float quant_memory[512 * 3];

static tn_status call_dequantize(void)
{
    tn_tensor t, transposed;
    OK(tn_init(&t, quant_memory, TN_F32, 2, (int64_t[]){512, 3}));
    OK(tn_transpose(&transposed, &t, 0, 1));
    return tn_file_dequantize(opened, 0, &transposed);
}

static tn_status call_dequantize_range(void)
{
    tn_tensor t;
    OK(tn_init(&t, quant_memory, TN_F32, 1, (int64_t[]){99}));
    return tn_file_dequantize_range(opened, 0, 7, &t);
}

static tn_status call_compare(void)
{
    static float numbers[4];
    tn_difference d = {0};
    tn_tensor t;
    OK(tn_init(&t, numbers, TN_F32, 1, (int64_t[]){4}));
    return tn_compare(&t, &t, 0, 0, &d);
}

static tn_status call_stream_stats(void)
{
    tn_stream_source source = {.file = opened};
    tn_stream job = {.n = 1, .sources = &source, .max_mem = 1 << 26, .threads = 2};
    tn_stats stats;
    int64_t counts[8];
    OK(tn_file_places(opened, 0, &source.view));
    return tn_stream_stats(&job, &stats, 8, counts);
}

static tn_status call_stream_stats_plan(void)
{
    tn_stream_source source = {.file = opened};
    tn_stream job = {.n = 1, .sources = &source, .max_mem = 1 << 26, .threads = 2};
    tn_stream_facts facts;
    OK(tn_file_places(opened, 0, &source.view));
    return tn_stream_stats_plan(&job, 8, &facts);
}

static tn_status call_stream_in_memory(void)
{
    tn_stream_source source = {.file = opened};
    tn_stream job = {.n = 1, .sources = &source};
    OK(tn_file_places(opened, 0, &source.view));
    OK(tn_init(&job.out, NULL, TN_F32, source.view.ndim, source.view.shape));
    return tn_stream_in_memory(&out.plan, &job);
}

static void close_plan(void)
{
    tn_plan_free(out.plan);
    tn_file_close(opened);
}

static tn_status call_partial(void)
{
    const tn_stream_reduce args = {.op = TN_REDUCE_SUM, .naxes = TN_ALL_AXES};
    tn_stream_source source = {.file = opened};
    tn_stream job = {.recipe = TN_STREAM_REDUCE,
                     .args = &args,
                     .n = 1,
                     .sources = &source,
                     .put = take_block,
                     .max_mem = 1 << 26,
                     .threads = 1};
    tn_partial *p = NULL;
    const void *states;
    OK(tn_file_places(opened, 0, &source.view));
    OK(tn_init(&job.out, NULL, TN_F32, 0, NULL));
    tn_status status = tn_partial_create(&p, &job);
    if (status == TN_OK)
        status = tn_partial_compute(p, 0, &states);
    if (status == TN_OK)
        status = tn_partial_merge(p, states);
    tn_partial_free(p);
    return status;
}

static tn_status call_file_unpack(void)
{
    int null = open("/dev/null", O_WRONLY);
    tn_status status = tn_file_unpack(opened, 0, null);
    close(null);
    return status;
}

static tn_status call_save(void)
{
    tn_status status = tn_save(in_folder(path), &transposed);
    assert_int_equal(access(in_folder(path), F_OK), status == TN_OK ? 0 : -1);
    return status;
}

static tn_status call_save_many(void)
{
    return tn_save_many(in_folder(path), 2, names, two,
                        strstr(path, "safe") ? "{\"k\": \"v\"}" : NULL);
}

static void remove_saved(void)
{
    assert_int_equal(unlink(in_folder(path)), 0);
}

static tn_status call_writer_open(void)
{
    tn_write_options options = {.metadata = strstr(path, "safe") ? "{\"k\": \"v\"}" : NULL};
    return tn_writer_open(&out.writer, in_folder(path), strstr(path, ".npy") ? 1 : 2, names,
                          two, &options);
}

static tn_status call_writer_layout(void)
{
    int64_t bytes, offsets[2];
    char header[256];
    return tn_writer_layout(path, strstr(path, ".npy") ? 1 : 2, names, two, NULL, header,
                            sizeof header, &bytes, offsets);
}

static tn_status call_writer_open_fd(void)
{
    return tn_writer_open_fd(&out.writer, fd, "x", &transposed);
}

static void make_fd(void)
{
    fd = open("/dev/null", O_WRONLY);
}

static void drop_writer_fd(void)
{
    tn_writer_abort(out.writer);
    close(fd);
}

static void begin_writer(void)
{
    OK(tn_writer_open(&begun, in_folder(path), 1, names, two + 1, NULL));
}

static void abort_writer(void)
{
    tn_writer_abort(begun);
}

static tn_status call_writer_put(void)
{
    return tn_writer_put(begun, &transposed);
}

static void fill_writer(void)
{
    begin_writer();
    OK(tn_writer_put(begun, &transposed));
}

static tn_status call_writer_commit(void)
{
    return tn_writer_commit(begun);
}

#endif
