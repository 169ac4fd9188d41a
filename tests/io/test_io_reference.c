/* test_io_reference.c - files that the reference libraries wrote are read as they meant
 * them. */
#include "io_oracle.h"

#include <pthread.h>

#define CUBE                                                                                   \
    3,                                                                                         \
    {                                                                                          \
        2, 3, 5                                                                                \
    }

/* path, tensor, dtype, ndim, shape, and whether it can be mapped */
static const struct row {
    const char *path, *name;
    tn_dtype dtype;
    int ndim;
    int64_t shape[3];
    bool mapped;
} rows[] = {
    /* clang-format off */
    {DATA("c_bool.npy"), "", TN_BOOL, CUBE, true},
    {DATA("c_i8.npy"), "", TN_I8, CUBE, true},
    {DATA("c_i16.npy"), "", TN_I16, CUBE, true},
    {DATA("c_i32.npy"), "", TN_I32, CUBE, true},
    {DATA("c_i64.npy"), "", TN_I64, CUBE, true},
    {DATA("c_u8.npy"), "", TN_U8, CUBE, true},
    {DATA("c_u16.npy"), "", TN_U16, CUBE, true},
    {DATA("c_u32.npy"), "", TN_U32, CUBE, true},
    {DATA("c_u64.npy"), "", TN_U64, CUBE, true},
    {DATA("c_f8e5m2.npy"), "", TN_F8E5M2, CUBE, true},
    {DATA("c_f16.npy"), "", TN_F16, CUBE, true},
    {DATA("c_bf16.npy"), "", TN_BF16, CUBE, true},
    {DATA("c_f32.npy"), "", TN_F32, CUBE, true},
    {DATA("c_f64.npy"), "", TN_F64, CUBE, true},
    {DATA("c_c64.npy"), "", TN_C64, CUBE, true},
    {DATA("c_c128.npy"), "", TN_C128, CUBE, true},
    {DATA("be_i16.npy"), "", TN_I16, CUBE, false},
    {DATA("be_u32.npy"), "", TN_U32, CUBE, false},
    {DATA("be_i64.npy"), "", TN_I64, CUBE, false},
    {DATA("be_f16.npy"), "", TN_F16, CUBE, false},
    {DATA("be_f32.npy"), "", TN_F32, CUBE, false},
    {DATA("be_f64.npy"), "", TN_F64, CUBE, false},
    {DATA("be_c64.npy"), "", TN_C64, CUBE, false},
    {DATA("be_c128.npy"), "", TN_C128, CUBE, false},
    {DATA("f_u8.npy"), "", TN_U8, CUBE, true},
    {DATA("f_f32.npy"), "", TN_F32, CUBE, true},
    {DATA("f_c128.npy"), "", TN_C128, CUBE, true},
    {DATA("scalar.npy"), "", TN_F64, 0, {0}, true},
    {DATA("empty.npy"), "", TN_F32, 2, {0, 3}, true},
    {DATA("line.npy"), "", TN_I32, 1, {9}, true},
    {DATA("v2.npy"), "", TN_F32, CUBE, true},
    {DATA("v3.npy"), "", TN_F32, CUBE, true},
    {DATA("npint.npy"), "", TN_F32, CUBE, true},
    {DATA("long.npy"), "", TN_F32, CUBE, true},
    {DATA("named_bf16.npy"), "", TN_BF16, CUBE, true},
    {DATA("void2.npy"), "", TN_U16, CUBE, true},
    {DATA("stored.npz"), "w", TN_F32, CUBE, true},
    {DATA("stored.npz"), "b", TN_BF16, 1, {4}, true},
    {DATA("stored.npz"), "f", TN_I16, CUBE, true},
    {DATA("stored.npz"), "be", TN_F64, CUBE, false},
    {DATA("stored.npz"), "empty", TN_I8, 2, {3, 0}, true},
    {DATA("stored.npz"), "scalar", TN_I64, 0, {0}, true},
    {DATA("zip64.npz"), "w", TN_F32, CUBE, true},
    {DATA("zip64.npz"), "v", TN_I16, CUBE, true},
    {DATA("deflated.npz"), "w", TN_F32, CUBE, false},
    {DATA("deflated.npz"), "b", TN_BF16, 1, {4}, false},
    {DATA("deflated.npz"), "f", TN_I16, CUBE, false},
    {DATA("deflated.npz"), "be", TN_F64, CUBE, false},
    {DATA("deflated.npz"), "empty", TN_I8, 2, {3, 0}, false},
    {DATA("deflated.npz"), "scalar", TN_I64, 0, {0}, false},
    {DATA("many.safetensors"), "layer.bool", TN_BOOL, CUBE, true},
    {DATA("many.safetensors"), "layer.i8", TN_I8, CUBE, true},
    {DATA("many.safetensors"), "layer.i16", TN_I16, CUBE, true},
    {DATA("many.safetensors"), "layer.i32", TN_I32, CUBE, true},
    {DATA("many.safetensors"), "layer.i64", TN_I64, CUBE, true},
    {DATA("many.safetensors"), "layer.u8", TN_U8, CUBE, true},
    {DATA("many.safetensors"), "layer.u16", TN_U16, CUBE, true},
    {DATA("many.safetensors"), "layer.u32", TN_U32, CUBE, true},
    {DATA("many.safetensors"), "layer.u64", TN_U64, CUBE, true},
    {DATA("many.safetensors"), "layer.f8e4m3", TN_F8E4M3, CUBE, true},
    {DATA("many.safetensors"), "layer.f8e5m2", TN_F8E5M2, CUBE, true},
    {DATA("many.safetensors"), "layer.f16", TN_F16, CUBE, true},
    {DATA("many.safetensors"), "layer.bf16", TN_BF16, CUBE, true},
    {DATA("many.safetensors"), "layer.f32", TN_F32, CUBE, true},
    {DATA("many.safetensors"), "layer.f64", TN_F64, CUBE, true},
    {DATA("many.safetensors"), "layer.c64", TN_C64, CUBE, true},
    {DATA("many.safetensors"), "empty", TN_F32, 2, {0, 4}, true},
    {DATA("many.safetensors"), "scalar", TN_F32, 0, {0}, true},
    {DATA("some.gguf"), "t.f32", TN_F32, CUBE, true},
    {DATA("some.gguf"), "t.f16", TN_F16, CUBE, true},
    {DATA("some.gguf"), "t.bf16", TN_BF16, CUBE, true},
    {DATA("some.gguf"), "t.f64", TN_F64, CUBE, true},
    {DATA("some.gguf"), "t.i8", TN_I8, CUBE, true},
    {DATA("some.gguf"), "t.i16", TN_I16, CUBE, true},
    {DATA("some.gguf"), "t.i32", TN_I32, CUBE, true},
    {DATA("some.gguf"), "t.i64", TN_I64, CUBE, true},
    {DATA("big.gguf"), "t.f32", TN_F32, CUBE, false},
    {DATA("big.gguf"), "t.i64", TN_I64, CUBE, false},
    {DATA("big.gguf"), "t.i8", TN_I8, CUBE, true},
    /* clang-format on */
};

static void check_row(const struct row *r)
{
    tn_file *f = NULL;
    int64_t i = -1, offset;
    const char *name;
    tn_tensor desc, t;
    OK(tn_file_open(&f, r->path));
    OK(tn_file_find(f, r->name, &i));
    OK(tn_file_info(f, i, &name, &desc, &offset));
    assert_string_equal(name, r->name);
    assert_null(desc.data);
    if (desc.dtype != r->dtype || desc.ndim != r->ndim)
        fail_msg("%s %s: %s, %d axes", r->path, name, tn_dtype_name(desc.dtype), desc.ndim);
    for (int k = 0; k < r->ndim; k++)
        assert_int_equal(desc.shape[k], r->shape[k]);
    OK(tn_file_read(f, i, &t));
    assert_golden(&t, r->path);
    for (int k = 0; k < r->ndim; k++)
        assert_int_equal(desc.stride[k], t.stride[k]);
    tn_free(&t);

    tn_status status = tn_file_map(f, i, &t);
    if (!host_is_big()) /* there it is the other way round */
        assert_int_equal(status, r->mapped ? TN_OK : TN_EUNSUPPORTED);
    if (status == TN_OK) {
        assert_golden(&t, r->path);
        assert_true(t.flags & TN_READONLY);
        assert_true(offset > 0 || strstr(r->path, "npz"));
    }
    tn_file_close(f);
}

static void golden_files_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(&rows[i]);
}

static void what_is_never_read(void **state)
{
    (void)state;
    static const char *const paths[] = {
        DATA("x_object.npy"),
        DATA("x_object8.npy"),
        DATA("x_records.npy"),
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        tn_file *f = NULL;
        assert_int_equal(tn_file_open(&f, paths[i]), TN_EUNSUPPORTED);
        assert_null(f);
    }
}

static void others_are_listed(void **state)
{
    (void)state;
    static const struct {
        const char *path, *name, *type;
        int ndim; /* -1: the file does not say */
    } list[] = {
        {DATA("some.gguf"), "t.q8", "Q8_0", 2},
        {DATA("deflated.npz"), "obj", "|O", -1},
        {DATA("x_text.npy"), "", "<U2", -1},
        {DATA("x_time.npy"), "", "<M8[ns]", -1},
    };
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        tn_file *f = NULL;
        int64_t i;
        tn_tensor t;
        OK(tn_file_open(&f, list[k].path));
        OK(tn_file_find(f, list[k].name, &i));
        assert_int_equal(tn_file_info(f, i, NULL, &t, NULL), TN_EUNSUPPORTED);
        assert_int_equal(tn_file_read(f, i, &t), TN_EUNSUPPORTED);
        assert_int_equal(tn_file_map(f, i, &t), TN_EUNSUPPORTED);
        assert_string_equal(tn_file_name(f, i), list[k].name);
        assert_string_equal(tn_file_type(f, i), list[k].type);
        int ndim = -1;
        const int64_t *shape = tn_file_shape(f, i, &ndim);
        assert_int_equal(ndim, list[k].ndim);
        assert_true(!shape || (shape[0] == 2 && shape[1] == 64));
        tn_file_close(f);
    }
}

static void formats_and_metadata(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format, *metadata;
        int64_t count;
    } list[] = {
        {DATA("c_f32.npy"), "npy", NULL, 1},
        {DATA("stored.npz"), "npz", NULL, 6},
        {DATA("deflated.npz"), "npz", NULL, 7},
        {DATA("many.safetensors"), "safetensors", "{\"note\":\"café\",\"format\":\"np\"}", 18},
        {DATA("some.gguf"), "gguf", NULL, 9},
        {DATA("big.gguf"), "gguf", NULL, 3},
    };
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        tn_file *f = NULL;
        OK(tn_file_open(&f, list[k].path));
        assert_string_equal(tn_file_format(f), list[k].format);
        assert_int_equal(tn_file_count(f), list[k].count);
        if (list[k].metadata)
            assert_string_equal(tn_file_metadata(f), list[k].metadata);
        else
            assert_null(tn_file_metadata(f));
        tn_file_close(f);
    }
}

static void a_void_is_reinterpreted(void **state)
{
    (void)state;
    tn_file *f = NULL;
    tn_tensor t;
    OK(tn_file_open(&f, DATA("c_f8e4m3.npy")));
    OK(tn_file_read(f, 0, &t));
    assert_int_equal(t.dtype, TN_U8);
    assert_string_equal(tn_file_type(f, 0), "<V1");
    t.dtype = TN_F8E4M3;
    assert_golden(&t, "c_f8e4m3.npy");
    tn_free(&t);
    tn_file_close(f);
}

/* Everything that an open file offers, on a file that others use too. */
static void *use_file(void *user)
{
    const tn_file *f = user;
    for (int round = 0; round < 20; round++)
        for (int64_t i = 0; i < tn_file_count(f); i++) {
            tn_tensor t, m, places;
            int64_t found;
            if (tn_file_find(f, tn_file_name(f, i), &found) != TN_OK || found != i ||
                tn_file_read(f, i, &t) != TN_OK || tn_file_places(f, i, &places) != TN_OK ||
                tn_file_fetch(f, i, &t, &places) != TN_OK)
                return user;
            const tn_status status = tn_file_map(f, i, &m);
            if (host_is_big() && status == TN_EUNSUPPORTED) /* of the other endian */
                m = t;
            else if (status != TN_OK)
                return user;
            if (tn_nbytes(&t) && memcmp(t.data, m.data, (size_t)tn_nbytes(&t)) != 0)
                return user;
            tn_free(&t);
        }
    return NULL;
}

static void many_threads_use_one_file(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    tn_file *f = NULL;
    OK(tn_file_open(&f, DATA("many.safetensors")));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_file, f), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    tn_file_close(f);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    tn_file *f = NULL;
    tn_tensor t;
    int64_t i;
    assert_int_equal(tn_file_open(NULL, "x"), TN_ENULL);
    assert_int_equal(tn_file_open(&f, NULL), TN_ENULL);
    assert_int_equal(tn_file_open(&f, "/nowhere/x.npy"), TN_EIO);
    assert_string_equal(tn_error(), "/nowhere/x.npy: No such file or directory");
    assert_int_equal(tn_file_open(&f, TEST_SOURCE_DIR), TN_EFORMAT); /* no model in it */
    assert_int_equal(tn_file_open(&f, "/dev/null"), TN_EIO);
    assert_null(f);
    OK(tn_file_open(&f, DATA("stored.npz")));
    assert_int_equal(tn_file_find(f, "nobody", &i), TN_EARG);
    assert_int_equal(tn_file_find(f, NULL, &i), TN_ENULL);
    assert_int_equal(tn_file_info(f, 6, NULL, &t, NULL), TN_EARG);
    assert_int_equal(tn_file_info(f, -1, NULL, &t, NULL), TN_EARG);
    assert_int_equal(tn_file_info(NULL, 0, NULL, &t, NULL), TN_ENULL);
    assert_int_equal(tn_file_read(f, 0, NULL), TN_ENULL);
    assert_int_equal(tn_file_map(f, 0, NULL), TN_ENULL);
    assert_null(tn_file_name(f, 6));
    assert_null(tn_file_type(f, -1));
    assert_null(tn_file_shape(f, 6, &(int){0}));
    assert_null(tn_file_shape(f, 0, NULL));
    tn_file_close(f);
    tn_file_close(NULL);
    assert_int_equal(tn_file_count(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files_are_read),   cmocka_unit_test(what_is_never_read),
        cmocka_unit_test(others_are_listed),       cmocka_unit_test(formats_and_metadata),
        cmocka_unit_test(a_void_is_reinterpreted), cmocka_unit_test(many_threads_use_one_file),
        cmocka_unit_test(arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
