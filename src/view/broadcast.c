/* broadcast.c - NumPy's rule: shapes meet at their last axes, and an axis of extent 1 repeats.
 *
 * Repeating is a stride of 0; nothing else about an axis changes. */
#include "view.h"

tn_status tn_broadcast_to(tn_tensor *out, const tn_tensor *in, int ndim, const int64_t *shape)
{
    if (out && in && !shape && ndim > 0)
        return tni_fail(TN_ENULL, "broadcast_to: shape is NULL for %d axes", ndim);
    TRY(tni_check_pair(out, in, "broadcast_to"));
    if (ndim < 0 || ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "broadcast_to: ndim is %d, not in [0, %d]", ndim, TN_MAX_NDIM);
    const int more = ndim - in->ndim;
    if (tni_dtype_known(in->dtype)) {
        if (more < 0)
            return tni_fail(TN_ESHAPE, "broadcast_to: in has %d axes, out %d", in->ndim, ndim);
        for (int i = 0; i < ndim; i++) {
            if (shape[i] < 0)
                return tni_fail(TN_ESHAPE, "broadcast_to: axis %d has extent %lld, less than 0",
                                i, (long long)shape[i]);
            const int64_t n = i < more ? 1 : in->shape[i - more];
            if (n != 1 && n != shape[i])
                return tni_fail(TN_ESHAPE, "broadcast_to: axis %d has extents %lld and %lld", i,
                                (long long)n, (long long)shape[i]);
        }
    }
    TRY(tni_check_sound(in, "broadcast_to: in"));
    int64_t bytes;
    if (!tni_shape_size(ndim, shape, tni_width(in->dtype), &bytes))
        return tni_fail(TN_EOVERFLOW,
                        "broadcast_to: the extents make more than 2^63 - 1 bytes");

    for (int i = ndim - 1; i >= 0; i--) {
        const int64_t n = shape[i];
        const int64_t from = i < more ? 1 : in->shape[i - more];
        const int64_t stride = i < more || from != n ? 0 : in->stride[i - more];
        tni_set_axis(out, i, n, stride);
    }
    tni_inherit(out, in, in->data, ndim);
    return TN_OK;
}

/* Let the n last axes meet what the first tensors made; *ndim and shape grow. */
static tn_status meet(const tn_tensor *t, int k, int *ndim, int64_t *shape)
{
    int more = t->ndim - *ndim;
    if (more > 0) {
        for (int i = *ndim - 1; i >= 0; i--)
            shape[i + more] = shape[i];
        for (int i = 0; i < more; i++)
            shape[i] = 1;
        *ndim = t->ndim;
    }
    more = *ndim - t->ndim;
    for (int i = 0; i < t->ndim; i++) {
        const int64_t n = t->shape[i];
        int64_t *met = &shape[i + more];
        if (n != *met && n != 1 && *met != 1)
            return tni_fail(TN_ESHAPE,
                            "broadcast_shape: axis %d of tensor %d has extent %lld, not %lld",
                            i, k, (long long)n, (long long)*met);
        if (n != 1)
            *met = n;
    }
    return TN_OK;
}

tn_status tn_broadcast_shape(int n, const tn_tensor *const *ts, int *ndim, int64_t *shape)
{
    if (!ndim || !shape)
        return tni_fail(TN_ENULL, "broadcast_shape: %s is NULL", ndim ? "shape" : "ndim");
    TRY(tni_check_srcs(TNI_NULL | TNI_NDIM, "broadcast_shape", n, ts));
    if (n < 0)
        return tni_fail(TN_EARG, "broadcast_shape: n is %d, less than 0", n);
    TRY(tni_check_srcs(TNI_DTYPE | TNI_SHAPE, "broadcast_shape", n, ts));
    int axes = 0;
    int64_t met[TN_MAX_NDIM], count;
    for (int k = 0; k < n; k++)
        TRY(meet(ts[k], k, &axes, met));
    TRY(tni_check_srcs(TNI_SIZE, "broadcast_shape", n, ts));
    if (!tni_shape_size(axes, met, 1, &count))
        return tni_fail(TN_EOVERFLOW,
                        "broadcast_shape: the extents make more than 2^63 - 1 elements");
    for (int i = 0; i < axes; i++)
        shape[i] = met[i];
    *ndim = axes;
    return TN_OK;
}
