/* spread.c - sources in dst's shape, by NumPy's rule: shapes meet at their last axes, and an
 * axis of extent 1 repeats.
 *
 * The failing sentence names the two extents, and the axis as the result counts it. */
#include "spread.h"

#include "view/view.h"

static bool same_shape(const tn_tensor *a, const tn_tensor *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

/* The extent of t's axis that meets axis i of ndim. */
static int64_t extent(const tn_tensor *t, int i, int ndim)
{
    const int own = i - (ndim - t->ndim);
    return own < 0 ? 1 : t->shape[own];
}

/* Why src does not fit dst: the first source that it does not meet, or dst. */
static tn_status refuse(const char *call, const tn_tensor *dst, int n,
                        const tn_tensor *const *srcs)
{
    int ndim = 0;
    for (int k = 0; k < n; k++)
        ndim = srcs[k]->ndim > ndim ? srcs[k]->ndim : ndim;
    for (int i = 0; i < ndim; i++) {
        int64_t met = 1;
        for (int k = 0; k < n; k++) {
            const int64_t here = extent(srcs[k], i, ndim);
            if (here != 1 && met != 1 && here != met)
                return tni_fail(TN_ESHAPE, "%s: axis %d: %lld and %lld do not broadcast", call,
                                i, (long long)met, (long long)here);
            met = here != 1 ? here : met;
        }
    }
    if (ndim > dst->ndim)
        return tni_fail(TN_ESHAPE, "%s: the sources have %d axes and dst has %d", call, ndim,
                        dst->ndim);
    for (int i = 0; i < dst->ndim; i++)
        for (int k = 0; k < n; k++) {
            const int64_t here = extent(srcs[k], i, dst->ndim);
            if (here != 1 && here != dst->shape[i])
                return tni_fail(TN_ESHAPE,
                                "%s: axis %d: dst has extent %lld and src %d has %lld", call, i,
                                (long long)dst->shape[i], k, (long long)here);
        }
    return TN_OK;
}

static bool spread(tn_tensor *out, const tn_tensor *dst, const tn_tensor *src)
{
    const int more = dst->ndim - src->ndim;
    if (more < 0)
        return false;
    out->data = src->data;
    out->dtype = src->dtype;
    out->device = src->device;
    out->flags = src->flags;
    out->ndim = dst->ndim;
    for (int i = 0; i < dst->ndim; i++) {
        const int64_t here = i < more ? 1 : src->shape[i - more];
        if (here != 1 && here != dst->shape[i])
            return false;
        out->shape[i] = dst->shape[i];
        out->stride[i] = here == 1 ? 0 : src->stride[i - more];
    }
    return true;
}

tn_status tni_broadcast_operands(const tn_tensor **ts, tn_tensor *room, const char *call,
                                 const tn_tensor *dst, int n, const tn_tensor *const *srcs)
{
    ts[0] = dst;
    for (int k = 0; k < n; k++) {
        ts[k + 1] = srcs[k];
        if (LIKELY(same_shape(dst, srcs[k])))
            continue;
        if (!spread(&room[k], dst, srcs[k]))
            return refuse(call, dst, n, srcs);
        ts[k + 1] = &room[k];
    }
    return TN_OK;
}
