/* test_faults_memory.c - the k-th allocation of every public call fails, for every k: TN_ENOMEM
 * with a sentence, nothing kept, nothing given out, and the call works afterwards.
 *
 * Every function of the headers is in the table of calls or in the list of those that have
 * nothing to allocate, which work without memory. */
#include "faults_files.h"

/* clang-format off */
static const call table[] = {
    {"tn_alloc", call_alloc, NULL, drop_tensor, NULL, true, false},
    {"tn_full", call_full, NULL, drop_tensor, NULL, true, false},
    {"tn_like", call_like, NULL, drop_tensor, NULL, true, false},
    {"tn_apply_copy", call_apply_copy, NULL, drop_tensor, NULL, true, false},
    {"tn_contiguous", call_contiguous, NULL, drop_tensor, NULL, true, false},
    {"tn_unsqueeze_copy", call_unsqueeze_copy, NULL, drop_tensor, NULL, true, false},
    {"tn_squeeze_copy", call_squeeze_copy, NULL, drop_tensor, NULL, true, false},
    {"tn_pad_copy", call_pad_copy, NULL, drop_tensor, NULL, true, false},
    {"tn_pad_hw_copy", call_pad_hw_copy, NULL, drop_tensor, NULL, true, false},
    {"tn_pad_hw_inplace", call_pad_hw_inplace, prepare_inplace, drop_tensor, NULL, true, false},
    {"tn_pattern_copy", call_pattern_copy, NULL, drop_tensor, NULL, true, false},
    {"tn_plan_rearrange", call_plan_rearrange, NULL, drop_plan, NULL, true, false},
    {"tn_plan_cast", call_plan_cast, NULL, drop_plan, NULL, true, false},
    {"tn_plan_op", call_plan_op, NULL, drop_plan, NULL, true, false},
    {"tn_plan_tuned", call_plan_tuned, NULL, drop_plan, NULL, true, false},
    {"tn_tune", call_tune, NULL, drop_nothing, NULL, true, false},
    {"tn_plan_pad", call_plan_pad, NULL, drop_plan, NULL, true, false},
    {"tn_plan_run", call_plan_run, prepare_plan, drop_plan, NULL, false, false},
    {"tn_plan_run_in", call_plan_run_in, prepare_plan, drop_plan, NULL, false, false},
    {"tn_handle_create", call_handle_create, NULL, drop_handle, NULL, true, false},
    {"tn_rearrange", call_rearrange, NULL, drop_nothing, NULL, false, false},
    {"tn_cast", call_cast, NULL, drop_nothing, NULL, false, false},
    {"tn_fill", call_fill, NULL, drop_nothing, NULL, false, false},
    {"tn_arange", call_arange, NULL, drop_nothing, NULL, false, false},
    {"tn_randn", call_randn, NULL, drop_nothing, NULL, false, false},
    {"tn_randint", call_randint, NULL, drop_nothing, NULL, false, false},
    {"tn_unary", call_unary, NULL, drop_nothing, NULL, false, false},
    {"tn_binary", call_binary, NULL, drop_nothing, NULL, false, false},
    {"tn_ternary", call_ternary, NULL, drop_nothing, NULL, false, false},
    {"tn_apply", call_apply, NULL, drop_nothing, NULL, false, false},
    {"tn_add", call_add, NULL, drop_nothing, NULL, false, false},
    {"tn_sub", call_sub, NULL, drop_nothing, NULL, false, false},
    {"tn_mul", call_mul, NULL, drop_nothing, NULL, false, false},
    {"tn_div", call_div, NULL, drop_nothing, NULL, false, false},
    {"tn_map", call_map, NULL, drop_nothing, NULL, false, false},
    {"tn_pad_into", call_pad_into, NULL, drop_nothing, NULL, false, false},
    {"tn_pad_hw_into", call_pad_hw_into, NULL, drop_nothing, NULL, false, false},
    {"tn_concat", call_concat, NULL, drop_nothing, NULL, false, false},
    {"tn_stack", call_stack, NULL, drop_nothing, NULL, false, false},
    {"tn_tile", call_tile, NULL, drop_nothing, NULL, false, false},
    {"tn_repeat", call_repeat, NULL, drop_nothing, NULL, false, false},
    {"tn_roll", call_roll, NULL, drop_nothing, NULL, false, false},
    {"tn_pattern_into", call_pattern_into, NULL, drop_nothing, NULL, false, false},
    {"tn_unsqueeze_into", call_unsqueeze_into, NULL, drop_nothing, NULL, false, false},
    {"tn_squeeze_into", call_squeeze_into, NULL, drop_nothing, NULL, false, false},
    {"tn_print", call_print, NULL, drop_nothing, NULL, false, false},
    {"tn_file_open npy", call_file_open, NULL, drop_file, DATA("c_f32.npy"), true, false},
    {"tn_file_open stored", call_file_open, NULL, drop_file, DATA("stored.npz"), true, false},
    {"tn_file_open deflated", call_file_open, NULL, drop_file, DATA("deflated.npz"), true, false},
    {"tn_file_open zip64", call_file_open, NULL, drop_file, DATA("zip64.npz"), true, false},
    {"tn_file_open safetensors", call_file_open, NULL, drop_file, DATA("many.safetensors"), true, false},
    {"tn_file_open gguf", call_file_open, NULL, drop_file, DATA("some.gguf"), true, false},
    {"tn_file_open pt", call_file_open, NULL, drop_file, DATA("checkpoint.pt"), true, false},
    {"tn_file_read pt", call_file_read, open_path, close_path, DATA("single.pt"), true, false},
    {"tn_file_dequantize", call_dequantize, open_path, close_view, DATA("quant.gguf"), true, false},
    {"tn_file_dequantize_range", call_dequantize_range, open_path, close_view, DATA("quant.gguf"), true, false},
    {"tn_compare", call_compare, open_path, close_view, DATA("c_f32.npy"), true, false},
    {"tn_file_open set", call_file_open, NULL, drop_file, DATA("set"), true, false},
    {"tn_stream_stats", call_stream_stats, open_path, close_view, DATA("c_f32.npy"), true, false},
    {"tn_stream_stats_plan", call_stream_stats_plan, open_path, close_view, DATA("c_f32.npy"), true, false},
    {"tn_stream_in_memory", call_stream_in_memory, open_path, close_plan, DATA("c_f32.npy"), true, false},
    {"tn_partial_create", call_partial, open_path, close_view, DATA("c_f32.npy"), true, false},
    {"tn_partial_compute", call_partial, open_path, close_view, DATA("c_f32.npy"), true, false},
    {"tn_partial_merge", call_partial, open_path, close_view, DATA("c_f32.npy"), true, false},
    {"tn_stream_run", call_stream_run, open_path, close_view, DATA("c_f32.npy"), true, false},
    {"tn_stream_run reduce", call_stream_reduce, NULL, drop_nothing, NULL, true, false},
    {"tn_stream_run scan", call_stream_scan, NULL, drop_nothing, NULL, true, false},
    {"tn_stream_run sort", call_stream_sort, NULL, drop_nothing, NULL, true, false},
    {"tn_stream_run sort by a temporary file", call_stream_sort_long, NULL, drop_nothing, NULL, true, false},
    {"tn_stream_run take", call_stream_take, NULL, drop_nothing, NULL, true, false},
    {"tn_file_open_fd", call_file_open_fd, open_fd, drop_fd, DATA("big.gguf"), true, false},
    {"tn_file_read npy", call_file_read, open_path, close_path, DATA("f_f32.npy"), true, false},
    {"tn_file_read swapped", call_file_read, open_path, close_path, DATA("be_f64.npy"), true, false},
    {"tn_file_read stored", call_file_read, open_path, close_path, DATA("stored.npz"), true, false},
    {"tn_file_read deflated", call_file_read, open_path, close_path, DATA("deflated.npz"), true, false},
    {"tn_file_unpack", call_file_unpack, open_path, close_view, DATA("deflated.npz"), true, false},
    {"tn_file_read safetensors", call_file_read, open_path, close_path, DATA("many.safetensors"), true, false},
    {"tn_file_read gguf", call_file_read, open_path, close_path, DATA("some.gguf"), true, false},
    {"tn_file_map", call_file_map, open_path, close_view, DATA("c_u8.npy"), false, false},
    {"tn_file_places", call_file_places, open_path, close_view, DATA("c_f32.npy"), false, false},
    {"tn_file_fetch", call_file_fetch, open_path, close_view, DATA("c_f32.npy"), true, false},
    {"tn_save npy", call_save, NULL, remove_saved, "x.npy", true, false},
    {"tn_save npz", call_save, NULL, remove_saved, "x.npz", true, false},
    {"tn_save safetensors", call_save, NULL, remove_saved, "x.safetensors", true, false},
    {"tn_save_many npz", call_save_many, NULL, remove_saved, "x.npz", true, false},
    {"tn_save_many safetensors", call_save_many, NULL, remove_saved, "x.safetensors", true, false},
    {"tn_writer_open npy", call_writer_open, NULL, drop_writer, "x.npy", true, false},
    {"tn_writer_open npz", call_writer_open, NULL, drop_writer, "x.npz", true, false},
    {"tn_writer_open safetensors", call_writer_open, NULL, drop_writer, "x.safetensors", true, false},
    {"tn_writer_layout npy", call_writer_layout, NULL, drop_nothing, "x.npy", true, false},
    {"tn_writer_layout safetensors", call_writer_layout, NULL, drop_nothing, "x.safetensors", true, false},
    {"tn_writer_open_fd", call_writer_open_fd, make_fd, drop_writer_fd, NULL, true, false},
    {"tn_writer_put", call_writer_put, begin_writer, abort_writer, "x.npz", true, true},
    {"tn_writer_commit", call_writer_commit, fill_writer, remove_saved, "x.npz", false, true},
};

/* They give a fact, describe a view, or release. */
static const char *const takes_nothing[] = {
    "tn_at", "tn_broadcast_shape", "tn_broadcast_to", "tn_diagonal", "tn_dtype_name", "tn_dtype_parse",
    "tn_dtype_size", "tn_error", "tn_error_column", "tn_extent", "tn_file_close", "tn_file_count", "tn_file_find",
    "tn_file_format", "tn_file_info", "tn_file_metadata", "tn_file_name", "tn_file_path", "tn_file_shape", "tn_file_skipped", "tn_file_type", "tn_file_values",
    "tn_flip", "tn_free", "tn_handle_destroy", "tn_handle_device", "tn_handle_use", "tn_has_broadcast",
    "tn_partial_bytes", "tn_partial_count", "tn_partial_free", "tn_stream_budget", "tn_stream_explain", "tn_stream_facts_json", "tn_stream_plan", "tn_stream_why", "tn_index_to_offset", "tn_init", "tn_init_const", "tn_init_strided", "tn_is_contiguous",
    "tn_is_mergeable", "tn_isa", "tn_meta_distribute", "tn_nbytes", "tn_numel", "tn_op_arity", "tn_op_name",
    "tn_op_params", "tn_op_parse", "tn_op_result", "tn_padded_shape", "tn_padded_size", "tn_pattern_shape",
    "tn_pattern_view", "tn_permute", "tn_plan_explain", "tn_plan_explain_size",
    "tn_plan_facts", "tn_plan_free", "tn_plan_json", "tn_plan_json_size", "tn_plan_workspace", "tn_print_size", "tn_set_error", "tn_promote", "tn_rearrange_meta",
    "tn_reshape", "tn_select", "tn_slice", "tn_slice_text", "tn_squeeze", "tn_squeeze_all",
    "tn_squeeze_inplace", "tn_status_name", "tn_transpose", "tn_tune_load", "tn_tune_save", "tn_unsqueeze", "tn_unsqueeze_inplace",
    "tn_version", "tn_view", "tn_windows", "tn_writer_abort",
};
/* clang-format on */

/* One try with allocation k failing; whether it was asked for. */
static bool try_call(const call *c, int64_t k)
{
    outputs before;
    memset(&out, 0x5a, sizeof out);
    path = c->path;
    if (c->prepare)
        c->prepare();
    memcpy(&before, &out, sizeof out);
    int64_t base = held;
    calls = 0;
    fail_at = k;
    tn_status status = c->call();
    fail_at = -1;
    if (calls <= k) {
        if (status != TN_OK)
            fail_msg("%s: %s: %s", c->name, tn_status_name(status), tn_error());
        c->release();
        assert_int_equal(held, 0);
        return false;
    }
    if (status != TN_ENOMEM || !*tn_error() || memcmp(&out, &before, sizeof out) != 0 ||
        held > base)
        fail_msg("%s, allocation %d: %s: %s, %d blocks kept, outputs %s", c->name, (int)k,
                 tn_status_name(status), tn_error(), (int)(held - base),
                 memcmp(&out, &before, sizeof out) ? "changed" : "as before");
    if (!c->once)
        OK(c->call());
    c->release();
    assert_int_equal(held, 0);
    return true;
}

/* Names and tables of files share chunks: once as they are, and once each alone. */
static void every_allocation_may_fail(void **state)
{
    int64_t points = 0;
    tni_chunk = *state ? *(const size_t *)*state : tni_chunk;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int64_t k = 0;
        while (try_call(&table[i], k))
            k++;
        if ((k > 0) != table[i].allocates)
            fail_msg("%s allocates %d times", table[i].name, (int)k);
        points += k;
    }
    printf("%d calls, %d allocations failed\n", (int)(sizeof table / sizeof table[0]),
           (int)points);
}

/* Every view and every fact, with no memory at all. */
static void views_and_facts(tn_file *f, const tn_plan *plan)
{
    tn_tensor v, w = x;
    tn_meta meta;
    int64_t low, high, shape[TN_MAX_NDIM];
    int ndim;
    char text[200];
    const char *pattern = "a b c -> c (b a)";
    OK(tn_init(&v, numbers, TN_F32, 3, x.shape));
    OK(tn_init_strided(&v, numbers, TN_F32, 3, x.shape, x.stride));
    OK(tn_init_const(&v, numbers, TN_F32, 3, x.shape, NULL));
    OK(tn_unsqueeze(&v, &x, 1));
    OK(tn_squeeze(&v, &one, 0));
    OK(tn_squeeze_all(&v, &one));
    OK(tn_unsqueeze_inplace(&w, 0));
    OK(tn_squeeze_inplace(&w, 0));
    OK(tn_permute(&v, &x, (int[]){2, 0, 1}));
    OK(tn_transpose(&v, &x, 0, 1));
    OK(tn_slice(&v, &x, 2, 0, 4, 2));
    OK(tn_slice_text(&v, &x, "[..., None, ::-2]"));
    OK(tn_select(&v, &x, 0, 1));
    OK(tn_view(&v, &x, ones, ones, NULL, 0));
    OK(tn_broadcast_to(&v, &x, 4, (int64_t[]){9, 2, 3, 4}));
    OK(tn_reshape(&v, &x, 2, (int64_t[]){-1, 6}));
    OK(tn_flip(&v, &x, 0));
    OK(tn_diagonal(&v, &x, 0, 2));
    OK(tn_windows(&v, &x, 2, 2, 1));
    OK(tn_pattern_view(&v, &transposed, pattern, "a=4"));
    OK(tn_pattern_shape(pattern, NULL, &x, &ndim, shape));
    OK(tn_broadcast_shape(2, (const tn_tensor *[]){&x, &one}, &ndim, shape));
    OK(tn_extent(&x, &low, &high));
    OK(tn_index_to_offset(5, 3, x.shape, x.stride, &low));
    OK(tn_padded_shape(3, x.shape, ones, shape));
    OK(tn_padded_size(3, x.shape, ones, &low));
    OK(tn_rearrange_meta(&meta, &place, &transposed));
    OK(tn_meta_distribute(&meta, &meta, (int64_t[]){2, 1}, 2));
    tn_facts facts;
    OK(tn_plan_explain(plan, text, sizeof text));
    OK(tn_plan_json(plan, text, sizeof text));
    assert_int_equal(tn_tune_load("/no/such/folder/tune"), TN_EIO);
    assert_int_equal(tn_tune_save("/no/such/folder/tune"), TN_EIO);
    OK(tn_plan_facts(&facts, plan));
    assert_true(tn_plan_explain_size(plan) > 1 && tn_plan_json_size(plan) > 1);
    OK(tn_file_info(f, 0, NULL, &v, NULL));
    OK(tn_file_find(f, tn_file_name(f, 0), &low));
    assert_true(tn_file_count(f) > 0 && tn_file_format(f) && tn_file_type(f, 0) &&
                tn_file_path(f, 0) && tn_file_shape(f, 0, &ndim) && tn_file_metadata(f) &&
                tn_file_skipped(f) == 0);
    size_t values = 0;
    assert_int_equal(tn_file_values(f, NULL, 0, &values), TN_EUNSUPPORTED); /* no .gguf */
    tn_stream_facts stream;
    tn_stream_source source = {.read = NULL};
    tn_stream job = {.n = 1, .sources = &source};
    OK(tn_file_info(f, 0, NULL, &source.view, NULL));
    job.out = source.view;
    OK(tn_stream_plan(&job, &stream));
    char words[200];
    OK(tn_stream_explain(&job, words, sizeof words));
    OK(tn_stream_facts_json(&stream, words, sizeof words));
    assert_true(*tn_stream_why(&stream));
    assert_true(tn_stream_budget(0) > 0);
    assert_true(tn_partial_count(NULL) + tn_partial_bytes(NULL) == 0);
    tn_partial_free(NULL);
    assert_true(tn_plan_workspace(plan) == 0 && tn_print_size(&x) > 1);
    assert_int_equal(tn_file_skipped(f), 0);
    assert_int_equal(tn_set_error(TN_EARG, "text"), TN_EARG);
    assert_int_equal(tn_error_column(), 0);
    assert_true(tn_numel(&x) == 24 && tn_nbytes(&x) == 96 && tn_is_contiguous(&x) &&
                !tn_has_broadcast(&x) && tn_is_mergeable(&x, 0, 2) && tn_at(&x, ones));
}

static void names_and_ends(tn_file *f, tn_plan *plan)
{
    tn_dtype dtype;
    tn_op op;
    tn_device device;
    int id;
    OK(tn_dtype_parse(&dtype, tn_dtype_name(TN_BF16)));
    OK(tn_promote(&dtype, TN_U8, TN_I8));
    OK(tn_op_parse(&op, tn_op_name(TN_LERP)));
    OK(tn_op_result(op, (tn_dtype[]){TN_F32, TN_F32, TN_F32}, tn_op_arity(op), &dtype));
    OK(tn_handle_use(weak));
    OK(tn_handle_device(weak, &device, &id));
    assert_true(tn_op_params(op) == 0 && tn_dtype_size(dtype) == 4 && *tn_isa() && tn_error() &&
                *tn_version() && *tn_status_name(TN_OK));
    tn_free(&(tn_tensor){0});
    tn_file_close(f);
    tn_writer_abort(NULL);
    tn_plan_free(plan);
    tn_handle_destroy(NULL);
}

/* Each of the list is called here. */
static void the_others_take_nothing(void **state)
{
    (void)state;
    tn_plan *plan;
    tn_file *f;
    OK(tn_plan_rearrange(&plan, &place, &transposed));
    OK(tn_file_open(&f, DATA("many.safetensors")));
    calls = fail_at = 0;
    views_and_facts(f, plan);
    names_and_ends(f, plan);
    fail_at = -1;
    assert_int_equal(calls, 0);
    assert_int_equal(held, 0);
    size_t n;
    char *own = (char *)slurp(TEST_SOURCE_DIR "/tests/ops/test_faults_memory.c", &n), call[80];
    own[n - 1] = 0;
    for (size_t i = 0; i < sizeof takes_nothing / sizeof takes_nothing[0]; i++) {
        snprintf(call, sizeof call, "%s(", takes_nothing[i]);
        if (!strstr(own, call))
            fail_msg("%s is not called", takes_nothing[i]);
    }
    free(own);
}

static bool listed(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcspn(table[i].name, " ") == n && !strncmp(table[i].name, name, n))
            return true;
    for (size_t i = 0; i < sizeof takes_nothing / sizeof takes_nothing[0]; i++)
        if (strlen(takes_nothing[i]) == n && !strncmp(takes_nothing[i], name, n))
            return true;
    return false;
}

/* Names behind TN_API in the headers, up to the parenthesis. */
static void every_function_is_listed(void **state)
{
    (void)state;
    static const char *const headers[] = {"copy",   "create", "dtype",   "io",    "join",
                                          "ops",    "pad",    "pattern", "plan",  "runtime",
                                          "status", "stream", "tenon",   "tensor"};
    int found = 0;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        char file[512];
        size_t n;
        snprintf(file, sizeof file, "%s/include/tenon/%s.h", TEST_SOURCE_DIR, headers[i]);
        char *text = (char *)slurp(file, &n);
        text[n - 1] = 0;
        for (char *at = text; (at = strstr(at, "\nTN_API ")); found++) {
            char *end = strchr(at, '('), *name = end;
            while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') ||
                   (name[-1] >= '0' && name[-1] <= '9'))
                name--;
            if (!listed(name, (size_t)(end - name)))
                fail_msg("%.*s is in no list", (int)(end - name), name);
            at = end;
        }
        free(text);
    }
    assert_true(found > 110);
}

static int setup(void **state)
{
    tn_config config = {.threads = 1, .alloc = weak_alloc, .free = weak_free};
    for (int i = 0; i < 24; i++)
        numbers[i] = (float)i;
    return make_folder(state) || tn_init(&x, numbers, TN_F32, 3, (int64_t[]){2, 3, 4}) ||
           tn_transpose(&transposed, &x, 0, 2) ||
           tn_init(&place, block, TN_F32, 3, transposed.shape) || tn_unsqueeze(&one, &x, 0) ||
           tn_handle_create(&weak, TN_CPU, 0, &config) || tn_handle_use(weak);
}

static int teardown(void **state)
{
    tn_handle_destroy(weak);
    return drop_folder(state);
}

int main(void)
{
    static size_t alone = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test_prestate(every_allocation_may_fail, &alone),
        cmocka_unit_test(the_others_take_nothing),
        cmocka_unit_test(every_function_is_listed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
