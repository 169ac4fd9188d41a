/* broadcast.c - NumPy's rule: shapes align at their last axes, and an axis of extent 1 repeats.
 *
 * Only tni_broadcasts() states the rule; a repeated axis has stride 0 and is otherwise like any
 * other. */
#include "view.h"

/* The extent of t along axis i of ndim aligned axes; an axis that t lacks has extent 1. */
static int64_t aligned(const tn_tensor *t, int i, int ndim)
{
    const int own = i - (ndim - t->ndim);
    return own < 0 ? 1 : t->shape[own];
}

/* The first axis along which t does not broadcast to shape; ndim if there is none. */
static int misfit(const tn_tensor *t, int ndim, const int64_t *shape)
{
    int i = 0;
    while (i < ndim && tni_broadcasts(aligned(t, i, ndim), shape[i]))
        i++;
    return i;
}

/* Broadcast in to the given shape, which it fits; out may be in. */
static void repeat(tn_tensor *out, const tn_tensor *in, int ndim, const int64_t *shape)
{
    const int more = ndim - in->ndim;
    ASSERT(more >= 0 && misfit(in, ndim, shape) == ndim);
    for (int i = ndim - 1; i >= 0; i--) {
        const int64_t n = shape[i];
        const bool repeats = i < more || in->shape[i - more] != n;
        tni_set_axis(out, i, n, repeats ? 0 : in->stride[i - more]);
    }
    tni_inherit(out, in, in->data, ndim);
}

/* Broadcast shape, of *ndim axes, and t to a common shape; return the axis along which they
 * conflict, or -1. */
static int grow_shape(const tn_tensor *t, int *ndim, int64_t *shape)
{
    const int more = t->ndim - *ndim;
    if (more > 0) {
        for (int i = *ndim - 1; i >= 0; i--)
            shape[i + more] = shape[i];
        for (int i = 0; i < more; i++)
            shape[i] = 1;
        *ndim = t->ndim;
    }
    for (int i = 0; i < *ndim; i++) {
        const int64_t n = aligned(t, i, *ndim);
        if (!tni_broadcasts(n, shape[i]) && !tni_broadcasts(shape[i], n))
            return i;
        shape[i] = shape[i] == 1 ? n : shape[i];
    }
    return -1;
}

/* ---- public calls ---- */

/* Refuse negative extents, fewer axes than in has, and extents that in does not broadcast
 * to. */
static tn_status check_target(const tn_tensor *in, int ndim, const int64_t *shape)
{
    if (ndim < in->ndim)
        return tni_fail(TN_ESHAPE, "broadcast_to: in has %d axes, the shape has %d", in->ndim,
                        ndim);
    const int bad = misfit(in, ndim, shape);
    for (int i = 0; i < ndim && i <= bad; i++)
        if (shape[i] < 0)
            return tni_fail(TN_ESHAPE, "broadcast_to: axis %d has a negative extent, got %lld",
                            i, (long long)shape[i]);
    if (bad < ndim)
        return tni_fail(TN_ESHAPE, "broadcast_to: axis %d: %lld does not broadcast to %lld",
                        bad, (long long)aligned(in, bad, ndim), (long long)shape[bad]);
    return TN_OK;
}

tn_status tn_broadcast_to(tn_tensor *out, const tn_tensor *in, int ndim, const int64_t *shape)
{
    if (out && in && !shape && ndim > 0)
        return tni_fail(TN_ENULL, "broadcast_to: shape is NULL, expected %d entries", ndim);
    TRY(tni_check_pair(out, in, "broadcast_to"));
    if (ndim < 0 || ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "broadcast_to: ndim %d is out of range [0, %d]", ndim,
                        TN_MAX_NDIM);
    TRY(tni_check_dtype(in, "broadcast_to: in"));
    TRY(check_target(in, ndim, shape));
    TRY(tni_check_sound(in, "broadcast_to: in"));
    int64_t bytes;
    if (!tni_shape_size(ndim, shape, tni_width(in->dtype), &bytes))
        return tni_fail(TN_EOVERFLOW, "broadcast_to: the result exceeds 2^63 - 1 bytes");
    repeat(out, in, ndim, shape);
    return TN_OK;
}

tn_status tn_broadcast_shape(int n, const tn_tensor *const *ts, int *ndim, int64_t *shape)
{
    if (!ndim || !shape)
        return tni_fail(TN_ENULL, "broadcast_shape: %s is NULL", ndim ? "shape" : "ndim");
    TRY(tni_check_srcs(TNI_NULL | TNI_NDIM, "broadcast_shape", n, ts));
    if (n < 0)
        return tni_fail(TN_EARG, "broadcast_shape: n is %d, expected at least 0", n);
    TRY(tni_check_srcs(TNI_DTYPE | TNI_SHAPE, "broadcast_shape", n, ts));
    int axes = 0;
    int64_t common[TN_MAX_NDIM], count;
    for (int k = 0; k < n; k++) {
        const int bad = grow_shape(ts[k], &axes, common);
        if (bad >= 0)
            return tni_fail(TN_ESHAPE,
                            "broadcast_shape: axis %d: tensor %d has extent %lld, those before "
                            "it have %lld",
                            bad, k, (long long)aligned(ts[k], bad, axes),
                            (long long)common[bad]);
    }
    TRY(tni_check_srcs(TNI_SIZE, "broadcast_shape", n, ts));
    if (!tni_shape_size(axes, common, 1, &count))
        return tni_fail(TN_EOVERFLOW, "broadcast_shape: the shape exceeds 2^63 - 1 elements");
    for (int i = 0; i < axes; i++)
        shape[i] = common[i];
    *ndim = axes;
    return TN_OK;
}

/* ---- operands of a call ---- */

tn_status tni_broadcast_sources(const char *call, int n, const tn_tensor *const *srcs,
                                int *ndim, int64_t *shape)
{
    *ndim = 0;
    for (int k = 0; k < n; k++) {
        const int bad = grow_shape(srcs[k], ndim, shape);
        if (bad >= 0)
            return tni_fail(TN_ESHAPE, "%s: axis %d: extents %lld and %lld do not broadcast",
                            call, bad, (long long)shape[bad],
                            (long long)aligned(srcs[k], bad, *ndim));
    }
    return TN_OK;
}

/* Report why the sources do not broadcast to dst: the first two that conflict, or dst
 * itself. */
static tn_status fail_operands(const char *call, const tn_tensor *dst, int n,
                               const tn_tensor *const *srcs)
{
    int ndim;
    int64_t common[TN_MAX_NDIM];
    TRY(tni_broadcast_sources(call, n, srcs, &ndim, common));
    if (ndim > dst->ndim)
        return tni_fail(TN_ESHAPE, "%s: dst has %d axes, the sources broadcast to %d", call,
                        dst->ndim, ndim);
    int bad = dst->ndim, src = 0;
    for (int k = 0; k < n; k++) {
        const int i = misfit(srcs[k], dst->ndim, dst->shape);
        src = i < bad ? k : src;
        bad = i < bad ? i : bad;
    }
    return tni_fail(TN_ESHAPE, "%s: axis %d: dst has extent %lld, src %d has %lld", call, bad,
                    (long long)dst->shape[bad], src,
                    (long long)aligned(srcs[src], bad, dst->ndim));
}

static bool fits_dst(const tn_tensor *src, const tn_tensor *dst)
{
    return src->ndim <= dst->ndim && misfit(src, dst->ndim, dst->shape) >= dst->ndim;
}

tn_status tni_broadcast_check(const char *call, const tn_tensor *dst, int n,
                              const tn_tensor *const *srcs)
{
    for (int k = 0; k < n; k++)
        if (!fits_dst(srcs[k], dst))
            return fail_operands(call, dst, n, srcs);
    return TN_OK;
}

tn_status tni_broadcast_operands(const tn_tensor **ts, tn_tensor *repeated, const char *call,
                                 const tn_tensor *dst, int n, const tn_tensor *const *srcs)
{
    ts[0] = dst;
    for (int k = 0; k < n; k++) {
        ts[k + 1] = srcs[k];
        if (LIKELY(tni_has_shape(srcs[k], dst->ndim, dst->shape)))
            continue;
        if (!fits_dst(srcs[k], dst))
            return fail_operands(call, dst, n, srcs);
        repeat(&repeated[k], srcs[k], dst->ndim, dst->shape);
        ts[k + 1] = &repeated[k];
    }
    return TN_OK;
}
