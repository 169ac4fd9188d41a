/* make.c - tensors made from a shape and given or new memory.
 *
 * *t is written only after every check has passed. */
#include "view.h"

/* Check the shape of a new tensor; stride NULL means row-major. */
static tn_status check_parts(const tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape,
                             const int64_t *stride, const char *call)
{
    if (!t)
        return tni_fail(TN_ENULL, "%s: t is NULL", call);
    if (!shape && ndim > 0)
        return tni_fail(TN_ENULL, "%s: shape is NULL, expected %d entries", call, ndim);
    if (ndim < 0 || ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "%s: ndim %d is out of range [0, %d]", call, ndim,
                        TN_MAX_NDIM);
    if (!tni_dtype_known(dtype))
        return tni_fail(TN_EDTYPE, "%s: dtype %d is out of range [%d, %d]", call, (int)dtype,
                        TN_BOOL, TNI_DTYPES - 1);
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0)
            return tni_fail(TN_ESHAPE, "%s: axis %d has a negative extent, got %lld", call, i,
                            (long long)shape[i]);
    int64_t ignored;
    const int64_t width = tni_width(dtype);
    if (!tni_shape_size(ndim, shape, width, &ignored))
        return tni_fail(TN_EOVERFLOW, "%s: size exceeds 2^63 - 1 bytes", call);
    if (stride && !tni_shape_reach(ndim, shape, stride, width, &ignored))
        return tni_fail(TN_EOVERFLOW, "%s: strides span more than 2^63 - 1 bytes", call);
    return TN_OK;
}

static void make_put(tn_tensor *t, void *data, tn_dtype dtype, int ndim, const int64_t *shape,
                     const int64_t *stride, uint32_t flags)
{
    t->data = data;
    t->dtype = dtype;
    t->ndim = ndim;
    t->device = TN_CPU;
    t->flags = flags;
    for (int i = 0; i < ndim; i++) {
        const int64_t n = shape[i], step = stride ? stride[i] : 0;
        t->shape[i] = n;
        t->stride[i] = step;
    }
    if (!stride)
        tni_shape_dense(ndim, t->shape, tni_width(dtype), t->stride);
}

tn_status tn_init(tn_tensor *t, void *data, tn_dtype dtype, int ndim, const int64_t *shape)
{
    TRY(check_parts(t, dtype, ndim, shape, NULL, "init"));
    make_put(t, data, dtype, ndim, shape, NULL, 0);
    return TN_OK;
}

tn_status tn_init_strided(tn_tensor *t, void *data, tn_dtype dtype, int ndim,
                          const int64_t *shape, const int64_t *stride)
{
    if (t && !stride && ndim > 0)
        return tni_fail(TN_ENULL, "init_strided: stride is NULL, expected %d entries", ndim);
    TRY(check_parts(t, dtype, ndim, shape, stride, "init_strided"));
    make_put(t, data, dtype, ndim, shape, stride, 0);
    return TN_OK;
}

tn_status tn_init_const(tn_tensor *t, const void *data, tn_dtype dtype, int ndim,
                        const int64_t *shape, const int64_t *stride)
{
    TRY(check_parts(t, dtype, ndim, shape, stride, "init_const"));
    make_put(t, (void *)(uintptr_t)data, dtype, ndim, shape, stride, TN_READONLY);
    return TN_OK;
}

tn_status tni_alloc_dense(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape,
                          const char *call)
{
    TRY(check_parts(t, dtype, ndim, shape, NULL, call));
    const int64_t bytes = tni_shape_count(ndim, shape) * tni_width(dtype);
    void *data = TNI_NEVER((uint64_t)bytes > SIZE_MAX) ? NULL : tni_alloc((size_t)bytes);
    if (!data)
        return tni_fail(TN_ENOMEM, "%s: cannot allocate %lld bytes", call, (long long)bytes);
    make_put(t, data, dtype, ndim, shape, NULL, 0);
    return TN_OK;
}
