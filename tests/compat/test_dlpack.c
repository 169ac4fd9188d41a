/* test_dlpack.c - tensors through DLPack: both forms, a peer written by hand, every dtype. */
#include <pthread.h>

#include <tenon/dlpack.h>

#include "layout.h"

static int released;

static void count_release(void *owner)
{
    released++;
    assert_ptr_equal(owner, &released);
}

static void *delete_elsewhere(void *m)
{
    ((DLManagedTensorVersioned *)m)->deleter(m);
    return NULL;
}

static void every_dtype_goes_and_comes(void **state)
{
    (void)state;
    static const struct {
        tn_dtype dtype;
        int code, bits;
    } rows[] = {
        {TN_BOOL, 6, 8},    {TN_I8, 0, 8},   {TN_I16, 0, 16},   {TN_I32, 0, 32},
        {TN_I64, 0, 64},    {TN_U8, 1, 8},   {TN_U16, 1, 16},   {TN_U32, 1, 32},
        {TN_U64, 1, 64},    {TN_F16, 2, 16}, {TN_F32, 2, 32},   {TN_F64, 2, 64},
        {TN_BF16, 4, 16},   {TN_C64, 5, 64}, {TN_C128, 5, 128}, {TN_F8E4M3, 10, 8},
        {TN_F8E5M2, 12, 8},
    };
    char x[16 * 6];
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        tn_tensor t, back;
        DLManagedTensorVersioned *m;
        DLManagedTensor *old;
        OK(tn_init(&t, x, rows[k].dtype, 2, (int64_t[]){2, 3}));
        OK(tn_to_dlpack(&m, &t, NULL, NULL, 0));
        assert_int_equal(m->dl_tensor.dtype.code, rows[k].code);
        assert_int_equal(m->dl_tensor.dtype.bits, rows[k].bits);
        assert_int_equal(m->dl_tensor.dtype.lanes, 1);
        assert_int_equal(m->dl_tensor.device.device_type, 1);
        assert_int_equal(m->dl_tensor.byte_offset, 0);
        assert_int_equal(m->version.major, 1);
        OK(tn_from_dlpack(&back, m));
        assert_int_equal(back.dtype, rows[k].dtype);
        assert_ptr_equal(back.data, x);
        assert_memory_equal(back.shape, t.shape, 2 * sizeof(int64_t));
        assert_memory_equal(back.stride, t.stride, 2 * sizeof(int64_t));
        m->deleter(m);
        OK(tn_to_dlpack_old(&old, &t, NULL, NULL));
        OK(tn_from_dlpack_old(&back, old));
        assert_int_equal(back.dtype, rows[k].dtype);
        old->deleter(old);
    }
}

static void strides_are_elements(void **state)
{
    (void)state;
    float x[60];
    tn_tensor t, v, back;
    DLManagedTensorVersioned *m;
    OK(tn_init(&t, x, TN_F32, 3, (int64_t[]){3, 4, 5}));
    OK(tn_slice_text(&v, &t, "::-1, 1:3, ::2"));
    OK(tn_permute(&v, &v, (int[]){2, 0, 1}));
    OK(tn_to_dlpack(&m, &v, NULL, NULL, 0));
    assert_int_equal(m->dl_tensor.ndim, 3);
    assert_memory_equal(m->dl_tensor.shape, ((int64_t[]){3, 3, 2}), 24);
    assert_memory_equal(m->dl_tensor.strides, ((int64_t[]){2, -20, 5}), 24);
    assert_ptr_equal(m->dl_tensor.data, &x[2 * 20 + 5]);
    OK(tn_from_dlpack(&back, m));
    assert_memory_equal(back.stride, ((int64_t[]){8, -80, 20}), 24);
    m->deleter(m);

    OK(tn_broadcast_to(&v, &t, 4, (int64_t[]){7, 3, 4, 5}));
    OK(tn_to_dlpack(&m, &v, NULL, NULL, 0));
    assert_int_equal(m->dl_tensor.strides[0], 0);
    m->deleter(m);

    /* What is never stepped along may have any stride, and gets a dense one. */
    OK(tn_init_strided(&v, x, TN_F32, 3, (int64_t[]){1, 4, 1}, (int64_t[]){3, 4, -7}));
    OK(tn_to_dlpack(&m, &v, NULL, NULL, 0));
    assert_memory_equal(m->dl_tensor.strides, ((int64_t[]){4, 1, 1}), 24);
    m->deleter(m);
    OK(tn_init_strided(&v, x, TN_F32, 2, (int64_t[]){5, 0}, (int64_t[]){3, 3}));
    OK(tn_to_dlpack(&m, &v, NULL, NULL, 0));
    OK(tn_from_dlpack(&back, m));
    assert_int_equal(tn_numel(&back), 0);
    m->deleter(m);

    OK(tn_init(&v, x, TN_F32, 0, NULL));
    OK(tn_to_dlpack(&m, &v, NULL, NULL, 0));
    assert_int_equal(m->dl_tensor.ndim, 0);
    OK(tn_from_dlpack(&back, m));
    assert_int_equal(tn_numel(&back), 1);
    m->deleter(m);
}

static void ranks_up_to_the_limit(void **state)
{
    (void)state;
    int64_t ones[TN_MAX_NDIM];
    for (int i = 0; i < TN_MAX_NDIM; i++)
        ones[i] = 1;
    double x = 1;
    tn_tensor t, back;
    DLManagedTensorVersioned *m;
    OK(tn_init(&t, &x, TN_F64, TN_MAX_NDIM, ones));
    OK(tn_to_dlpack(&m, &t, NULL, NULL, 0));
    OK(tn_from_dlpack(&back, m));
    assert_int_equal(back.ndim, TN_MAX_NDIM);
    m->dl_tensor.ndim = TN_MAX_NDIM + 1;
    assert_int_equal(tn_from_dlpack(&back, m), TN_EARG);
    m->deleter(m);
}

static void release_is_called_once_from_any_thread(void **state)
{
    (void)state;
    float x[6];
    tn_tensor t;
    DLManagedTensorVersioned *m;
    DLManagedTensor *old;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){6}));
    released = 0;
    OK(tn_to_dlpack(&m, &t, count_release, &released, 0));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, delete_elsewhere, m), 0);
    pthread_join(thread, NULL);
    assert_int_equal(released, 1);
    OK(tn_to_dlpack_old(&old, &t, count_release, &released));
    assert_int_equal(released, 1);
    old->deleter(old);
    assert_int_equal(released, 2);
}

static void flags_say_what_may_be_written(void **state)
{
    (void)state;
    float x[6];
    tn_tensor t, back;
    DLManagedTensorVersioned *m;
    DLManagedTensor *old;
    OK(tn_init_const(&t, x, TN_F32, 1, (int64_t[]){6}, NULL));
    OK(tn_to_dlpack(&m, &t, NULL, NULL, DLPACK_FLAG_BITMASK_IS_COPIED));
    assert_int_equal(m->flags, 3);
    OK(tn_from_dlpack(&back, m));
    assert_int_equal(back.flags, TN_READONLY);
    m->deleter(m);
    assert_int_equal(tn_to_dlpack_old(&old, &t, NULL, NULL), TN_EARG);
    t.flags = 0;
    OK(tn_to_dlpack(&m, &t, NULL, NULL, DLPACK_FLAG_BITMASK_READ_ONLY));
    OK(tn_from_dlpack(&back, m));
    assert_int_equal(back.flags, TN_READONLY);
    m->deleter(m);
    assert_int_equal(tn_to_dlpack(&m, &t, NULL, NULL, 4), TN_EARG);
}

/* A peer's tensor, wrong in one field at a time. */
static void a_peer_may_be_wrong(void **state)
{
    (void)state;
    float x[24];
    int64_t shape[2] = {2, 3}, strides[2] = {12, -2};
    const DLManagedTensorVersioned good = {
        .version = {1, 9}, .dl_tensor = {x, {1, 0}, 2, {2, 32, 1}, shape, strides, 16}};
    DLManagedTensorVersioned m = good;
    tn_tensor t, kept;
    OK(tn_from_dlpack(&t, &m));
    assert_ptr_equal(t.data, x + 4);
    assert_memory_equal(t.stride, ((int64_t[]){48, -8}), 16);
    m.dl_tensor.strides = NULL;
    OK(tn_from_dlpack(&t, &m));
    assert_memory_equal(t.stride, ((int64_t[]){12, 4}), 16);
    m.dl_tensor.data = NULL;
    OK(tn_from_dlpack(&t, &m));
    assert_null(t.data);
    kept = t;

#define WRONG(field, value, status)                                                            \
    do {                                                                                       \
        m = good;                                                                              \
        m.field = value;                                                                       \
        assert_int_equal(tn_from_dlpack(&t, &m), status);                                      \
        assert_memory_equal(&t, &kept, sizeof t);                                              \
    } while (0)
    WRONG(version.major, 2, TN_EUNSUPPORTED);
    WRONG(version.major, 0, TN_EUNSUPPORTED);
    WRONG(dl_tensor.ndim, -1, TN_EARG);
    WRONG(dl_tensor.shape, NULL, TN_ENULL);
    WRONG(dl_tensor.device.device_type, 2, TN_EDEVICE);
    WRONG(dl_tensor.dtype.lanes, 4, TN_EDTYPE);
    WRONG(dl_tensor.dtype.code, 3, TN_EDTYPE);
    WRONG(dl_tensor.dtype.bits, 24, TN_EDTYPE);
    WRONG(dl_tensor.byte_offset, UINT64_MAX, TN_EOVERFLOW);
    shape[1] = -3;
    WRONG(flags, 0, TN_ESHAPE);
    shape[1] = 3;
    strides[0] = INT64_MAX / 2;
    WRONG(flags, 0, TN_EOVERFLOW);
    shape[0] = 1; /* never stepped along */
    m = good;
    OK(tn_from_dlpack(&t, &m));

    assert_int_equal(tn_from_dlpack(NULL, &m), TN_ENULL);
    assert_int_equal(tn_from_dlpack(&t, NULL), TN_ENULL);
    assert_int_equal(tn_from_dlpack_old(NULL, NULL), TN_ENULL);
}

static void a_tensor_may_be_wrong(void **state)
{
    (void)state;
    float x[24];
    tn_tensor t;
    DLManagedTensorVersioned *m = NULL;
    DLManagedTensor *old = NULL;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){4}));
    assert_int_equal(tn_to_dlpack(NULL, &t, NULL, NULL, 0), TN_ENULL);
    assert_int_equal(tn_to_dlpack(&m, NULL, NULL, NULL, 0), TN_ENULL);
    assert_int_equal(tn_to_dlpack_old(&old, NULL, NULL, NULL), TN_ENULL);
    t.stride[0] = 6;
    assert_int_equal(tn_to_dlpack(&m, &t, NULL, NULL, 0), TN_ESTRIDE);
    assert_string_equal(tn_error(), "to_dlpack: axis 0 has a stride of 6 bytes, expected a "
                                    "multiple of the element size, 4");
    assert_int_equal(tn_to_dlpack_old(&old, &t, NULL, NULL), TN_ESTRIDE);
    t.stride[0] = 4;
    t.device = 3;
    assert_int_equal(tn_to_dlpack(&m, &t, NULL, NULL, 0), TN_EDEVICE);
    t.device = 0;
    t.data = NULL;
    assert_int_equal(tn_to_dlpack(&m, &t, NULL, NULL, 0), TN_ENULL);
    assert_null(m);
    assert_null(old);
}

static void *no_alloc(void *user, size_t size, size_t align)
{
    (void)user, (void)size, (void)align;
    return NULL;
}

static void no_free(void *user, void *p, size_t size)
{
    (void)user, (void)p, (void)size;
}

static void without_memory_nothing_is_taken(void **state)
{
    (void)state;
    float x[4];
    tn_tensor t;
    DLManagedTensorVersioned *m = NULL;
    tn_handle *h;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){4}));
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.alloc = no_alloc, .free = no_free}));
    OK(tn_handle_use(h));
    released = 0;
    assert_int_equal(tn_to_dlpack(&m, &t, count_release, &released, 0), TN_ENOMEM);
    assert_null(m);
    assert_int_equal(released, 0);
    tn_handle_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_goes_and_comes),
        cmocka_unit_test(strides_are_elements),
        cmocka_unit_test(ranks_up_to_the_limit),
        cmocka_unit_test(release_is_called_once_from_any_thread),
        cmocka_unit_test(flags_say_what_may_be_written),
        cmocka_unit_test(a_peer_may_be_wrong),
        cmocka_unit_test(a_tensor_may_be_wrong),
        cmocka_unit_test(without_memory_nothing_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
