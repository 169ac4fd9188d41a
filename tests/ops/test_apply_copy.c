/* test_apply_copy.c - tn_apply_copy, tn_like and numbers as operands: values, shapes, dtypes,
 * failures that change nothing and keep nothing. */
#include <math.h>

#include "layout.h"
#include "weak_memory.h"

#define SRCS(...) ((const tn_tensor *const[]){__VA_ARGS__})

static float x[6] = {1, 2, 3, 4, 5, 6}, y[3] = {10, 20, 30};
static tn_tensor a, row, column; /* (2, 3), (3,), (2, 1) */

static int set_up(void **state)
{
    (void)state;
    return tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}) ||
           tn_init(&row, y, TN_F32, 1, (int64_t[]){3}) ||
           tn_init(&column, y, TN_F32, 2, (int64_t[]){2, 1});
}

/* Dense, its own, writable, of this dtype and shape. */
static void assert_made(const tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    assert_non_null(t->data);
    assert_int_equal((uintptr_t)t->data % 64, 0);
    assert_int_equal(t->dtype, dtype);
    assert_int_equal(t->device, TN_CPU);
    assert_int_equal(t->flags, 0);
    assert_int_equal(t->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(t->shape[i], shape[i]);
    assert_true(tn_is_contiguous(t));
}

static void assert_floats(tn_tensor *t, int n, const float *want)
{
    for (int i = 0; i < n; i++)
        assert_true(((const float *)t->data)[i] == want[i]);
    tn_free(t);
}

static void values(void **state)
{
    (void)state;
    tn_tensor out, reversed;
    OK(tn_apply_copy(&out, TN_MUL, NULL, 2, SRCS(&a, TN_SCALAR_F32(0.5f))));
    assert_made(&out, TN_F32, 2, a.shape);
    assert_floats(&out, 6, (float[]){0.5f, 1, 1.5f, 2, 2.5f, 3});
    OK(tn_transpose(&reversed, &a, 0, 1));
    OK(tn_flip(&reversed, &reversed, 0));
    OK(tn_apply_copy(&out, TN_NEG, NULL, 1, SRCS(&reversed)));
    assert_made(&out, TN_F32, 2, (int64_t[]){3, 2});
    assert_floats(&out, 6, (float[]){-3, -6, -2, -5, -1, -4});
    OK(tn_apply_copy(&out, TN_LEAKY_RELU, &(double){0.25}, 1, SRCS(TN_SCALAR_F32(-8))));
    assert_made(&out, TN_F32, 0, NULL);
    assert_floats(&out, 1, (float[]){-2});
    OK(tn_apply_copy(&out, TN_CLIP, NULL, 3, SRCS(&a, TN_SCALAR_F32(2), TN_SCALAR_F32(5))));
    assert_floats(&out, 6, (float[]){2, 2, 3, 4, 5, 5});
    tn_tensor same = a;
    OK(tn_apply_copy(&same, TN_ADD, NULL, 2, SRCS(&same, &same)));
    assert_floats(&same, 6, (float[]){2, 4, 6, 8, 10, 12});
}

static void broadcasting(void **state)
{
    (void)state;
    tn_tensor out, none, missing;
    OK(tn_apply_copy(&out, TN_ADD, NULL, 2, SRCS(&row, &a)));
    assert_made(&out, TN_F32, 2, a.shape);
    assert_floats(&out, 6, (float[]){11, 22, 33, 14, 25, 36});
    OK(tn_apply_copy(&out, TN_ADD, NULL, 2, SRCS(&column, &row)));
    assert_made(&out, TN_F32, 2, a.shape);
    assert_floats(&out, 6, (float[]){20, 30, 40, 30, 40, 50});
    OK(tn_init(&none, NULL, TN_F32, 2, (int64_t[]){0, 3}));
    OK(tn_apply_copy(&out, TN_ADD, NULL, 2, SRCS(&row, &none)));
    assert_made(&out, TN_F32, 2, none.shape);
    tn_free(&out);
    /* a source with elements needs data even if the result has none, as in tn_apply */
    OK(tn_init(&missing, NULL, TN_F32, 1, (int64_t[]){3}));
    assert_int_equal(tn_apply_copy(&out, TN_ADD, NULL, 2, SRCS(&missing, &none)), TN_ENULL);
    assert_string_equal(tn_error(), "apply_copy: src 0 has 3 elements but data is NULL");
    tn_tensor deep;
    int64_t units[TN_MAX_NDIM];
    for (int i = 0; i < TN_MAX_NDIM; i++)
        units[i] = 1;
    units[TN_MAX_NDIM - 2] = 2;
    OK(tn_init(&deep, y, TN_F32, TN_MAX_NDIM, units));
    OK(tn_apply_copy(&out, TN_SUB, NULL, 2, SRCS(&a, &deep)));
    units[TN_MAX_NDIM - 1] = 3;
    assert_made(&out, TN_F32, TN_MAX_NDIM, units);
    assert_floats(&out, 6, (float[]){-9, -8, -7, -16, -15, -14});
}

static void dtypes(void **state)
{
    (void)state;
    tn_tensor out, bytes;
    uint8_t u[3] = {0, 51, 255};
    OK(tn_init(&bytes, u, TN_U8, 1, (int64_t[]){3}));
    OK(tn_apply_copy(&out, TN_DIV, NULL, 2, SRCS(&bytes, TN_SCALAR_U8(255))));
    assert_made(&out, TN_F32, 1, bytes.shape);
    assert_floats(&out, 3, (float[]){0, 0.2f, 1});
    OK(tn_apply_copy(&out, TN_DIV, NULL, 2, SRCS(TN_SCALAR_I32(7), TN_SCALAR_I32(2))));
    assert_made(&out, TN_F64, 0, NULL);
    assert_true(*(double *)out.data == 3.5);
    tn_free(&out);
    OK(tn_apply_copy(&out, TN_ADD, NULL, 2, SRCS(&bytes, TN_SCALAR_I8(-1))));
    assert_made(&out, TN_I16, 1, bytes.shape);
    assert_int_equal(((int16_t *)out.data)[0], -1);
    assert_int_equal(((int16_t *)out.data)[2], 254);
    tn_free(&out);
    OK(tn_apply_copy(&out, TN_GT, NULL, 2, SRCS(&bytes, TN_SCALAR_U8(51))));
    assert_made(&out, TN_BOOL, 1, bytes.shape);
    assert_memory_equal(out.data, ((uint8_t[]){0, 0, 1}), 3);
    tn_free(&out);
}

/* Nothing is written and nothing kept. */
static void assert_fails(tn_status want, const char *text, tn_op op, int nsrc,
                         const tn_tensor *const *srcs)
{
    tn_tensor out, before;
    memset(&out, 0x5a, sizeof out);
    memcpy(&before, &out, sizeof out);
    const int64_t base = held;
    assert_int_equal(tn_apply_copy(&out, op, NULL, nsrc, srcs), want);
    assert_memory_equal(&out, &before, sizeof out);
    assert_int_equal(held, base);
    if (strncmp(tn_error(), text, strlen(text)) != 0)
        fail_msg("got \"%s\", expected \"%s\"", tn_error(), text);
}

static tn_handle *use_weak(void)
{
    tn_handle *weak;
    tn_config config = {.threads = 1, .alloc = weak_alloc, .free = weak_free};
    OK(tn_handle_create(&weak, TN_CPU, 0, &config));
    OK(tn_handle_use(weak));
    return weak;
}

static void failures(void **state)
{
    (void)state;
    tn_handle *weak = use_weak();
    tn_tensor pair, missing, elsewhere = a, unknown = a, negative = a, wide, tall;
    OK(tn_init(&pair, y, TN_F32, 1, (int64_t[]){2}));
    OK(tn_init(&missing, NULL, TN_F32, 1, (int64_t[]){3}));
    OK(tn_init_strided(&wide, y, TN_F32, 1, (int64_t[]){(int64_t)1 << 40}, (int64_t[]){0}));
    OK(tn_unsqueeze(&tall, &wide, 1));
    elsewhere.device = 1;
    unknown.dtype = (tn_dtype)99;
    negative.shape[1] = -1;
    assert_fails(TN_ENULL, "apply_copy: srcs is NULL", TN_ADD, 2, NULL);
    assert_fails(TN_ENULL, "apply_copy: src 1 is NULL", TN_ADD, 2, SRCS(&a, NULL));
    assert_fails(TN_EARG, "apply_copy: op add takes 2 tensors, got 1", TN_ADD, 1, SRCS(&a));
    assert_fails(TN_EARG, "apply_copy: op neg takes 1 tensor, got 2", TN_NEG, 2, SRCS(&a, &a));
    assert_fails(TN_EARG, "apply_copy: op neg takes 1 tensor, got -1", TN_NEG, -1, SRCS(&a));
    assert_fails(TN_EARG, "apply_copy: op 9999 is unknown", (tn_op)9999, 1, SRCS(&a));
    assert_fails(TN_EDEVICE, "apply_copy: src", TN_NEG, 1, SRCS(&elsewhere));
    assert_fails(TN_EDTYPE, "apply_copy: src", TN_NEG, 1, SRCS(&unknown));
    assert_fails(TN_EDTYPE, "apply_copy: ", TN_EXP, 1, SRCS(TN_SCALAR_I32(1)));
    assert_fails(TN_ESHAPE, "apply_copy: src", TN_NEG, 1, SRCS(&negative));
    assert_fails(TN_ESHAPE, "apply_copy: axis 1: extents 3 and 2 do not broadcast", TN_ADD, 2,
                 SRCS(&a, &pair));
    assert_fails(TN_EOVERFLOW, "apply_copy: ", TN_ADD, 2, SRCS(&wide, &tall));
    assert_fails(TN_ENULL, "apply_copy: src 0 has 3 elements but data is NULL", TN_ADD, 2,
                 SRCS(&missing, &a));
    assert_int_equal(tn_apply_copy(NULL, TN_NEG, NULL, 1, SRCS(&a)), TN_ENULL);
    assert_string_equal(tn_error(), "apply_copy: out is NULL");
    tn_handle_destroy(weak);
}

static void memory_runs_out(void **state)
{
    (void)state;
    tn_handle *weak = use_weak();
    tn_tensor out = {.ndim = 7};
    calls = fail_at = 0;
    assert_fails(TN_ENOMEM, "apply_copy: cannot allocate 24 bytes", TN_ADD, 2, SRCS(&a, &row));
    calls = 0;
    assert_int_equal(tn_like(&out, &a), TN_ENOMEM);
    assert_int_equal(out.ndim, 7);
    fail_at = -1;
    const int64_t base = held;
    OK(tn_apply_copy(&out, TN_ADD, NULL, 2, SRCS(&a, &row)));
    assert_int_equal(held, base + 1);
    tn_free(&out);
    assert_int_equal(held, base);
    tn_handle_destroy(weak);
}

static void like(void **state)
{
    (void)state;
    tn_tensor out, in;
    for (size_t k = 0; k < sizeof all_dtypes / sizeof *all_dtypes; k++) {
        OK(tn_init_const(&in, NULL, all_dtypes[k], 3, (int64_t[]){2, 0, 3}, NULL));
        in.shape[1] = (int64_t)k;
        OK(tn_transpose(&in, &in, 0, 2));
        OK(tn_like(&out, &in));
        assert_made(&out, all_dtypes[k], 3, (int64_t[]){3, (int64_t)k, 2});
        memset(out.data, 1, (size_t)tn_nbytes(&out));
        tn_free(&out);
    }
    OK(tn_broadcast_to(&in, &row, 2, (int64_t[]){5, 3}));
    OK(tn_like(&in, &in));
    assert_made(&in, TN_F32, 2, (int64_t[]){5, 3});
    tn_free(&in);
    OK(tn_like(&out, TN_SCALAR_F64(1)));
    assert_made(&out, TN_F64, 0, NULL);
    tn_free(&out);
    assert_int_equal(tn_like(NULL, &a), TN_ENULL);
    assert_string_equal(tn_error(), "like: out is NULL");
    assert_int_equal(tn_like(&out, NULL), TN_ENULL);
    in = a;
    in.ndim = 65;
    assert_int_equal(tn_like(&out, &in), TN_EARG);
    in = a;
    in.device = 1;
    assert_int_equal(tn_like(&out, &in), TN_EDEVICE);
    in = a;
    in.dtype = (tn_dtype)99;
    assert_int_equal(tn_like(&out, &in), TN_EDTYPE);
    in = a;
    in.shape[0] = -1;
    assert_int_equal(tn_like(&out, &in), TN_ESHAPE);
}

static const tn_tensor *const at_file_scope = TN_SCALAR_I16(-300);

static void scalars(void **state)
{
    (void)state;
    const struct {
        const tn_tensor *t;
        tn_dtype dtype;
        const void *value;
    } rows[] = {
        {TN_SCALAR_BOOL(256), TN_BOOL, &(uint8_t){1}},
        {TN_SCALAR_BOOL(false), TN_BOOL, &(uint8_t){0}},
        {TN_SCALAR_I8(INT8_MIN), TN_I8, &(int8_t){INT8_MIN}},
        {TN_SCALAR_I16(INT16_MIN), TN_I16, &(int16_t){INT16_MIN}},
        {TN_SCALAR_I32(INT32_MIN), TN_I32, &(int32_t){INT32_MIN}},
        {TN_SCALAR_I64(INT64_MIN), TN_I64, &(int64_t){INT64_MIN}},
        {TN_SCALAR_U8(UINT8_MAX), TN_U8, &(uint8_t){UINT8_MAX}},
        {TN_SCALAR_U16(UINT16_MAX), TN_U16, &(uint16_t){UINT16_MAX}},
        {TN_SCALAR_U32(UINT32_MAX), TN_U32, &(uint32_t){UINT32_MAX}},
        {TN_SCALAR_U64(UINT64_MAX), TN_U64, &(uint64_t){UINT64_MAX}},
        {TN_SCALAR_F32(-0.0f), TN_F32, &(float){-0.0f}},
        {TN_SCALAR_F64(0.1), TN_F64, &(double){0.1}},
        {at_file_scope, TN_I16, &(int16_t){-300}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const tn_tensor *t = rows[k].t;
        assert_int_equal(t->dtype, rows[k].dtype);
        assert_int_equal(t->ndim, 0);
        assert_int_equal(t->device, TN_CPU);
        assert_memory_equal(t->data, rows[k].value, tn_dtype_size(t->dtype));
        assert_int_equal(tn_fill(t, NULL), TN_EARG); /* read-only */
    }
    tn_tensor out;
    OK(tn_apply_copy(&out, TN_MAX, NULL, 2, SRCS(TN_SCALAR_F32(NAN), &a)));
    assert_true(isnan(*(float *)out.data));
    tn_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),  cmocka_unit_test(broadcasting),
        cmocka_unit_test(dtypes),  cmocka_unit_test(failures),
        cmocka_unit_test(like),    cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(scalars),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
