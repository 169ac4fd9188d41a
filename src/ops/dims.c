/* dims.c - squeeze and unsqueeze that copy: into memory of their own, or into a given tensor.
 */
#include "check_moves.h"

/* A dense copy of a view that is checked, in memory of its own. */
static tn_status copy_of(tn_tensor *out, const tn_tensor *view)
{
    tn_tensor made;
    TRY(tn_alloc(&made, view->dtype, view->ndim, view->shape));
    tni_copy_tensor(&made, view);
    *out = made;
    return TN_OK;
}

tn_status tn_unsqueeze_copy(tn_tensor *out, const tn_tensor *in, int dim)
{
    TRY(tni_check_pair(out, in, "unsqueeze_copy"));
    if (dim < 0 || dim > in->ndim)
        return tni_fail(TN_EARG, "unsqueeze_copy: axis %d is not in [0, %d]", dim, in->ndim);
    if (in->ndim == TN_MAX_NDIM)
        return tni_fail(TN_EARG, "unsqueeze_copy: in has %d axes, out would have %d", in->ndim,
                        in->ndim + 1);
    TRY(tni_check(in, "unsqueeze_copy: in"));
    TRY(tni_check_data(in, "unsqueeze_copy: in"));
    tn_tensor view;
    TRY(tn_unsqueeze(&view, in, dim));
    return copy_of(out, &view);
}

tn_status tn_squeeze_copy(tn_tensor *out, const tn_tensor *in, int dim)
{
    TRY(tni_check_pair(out, in, "squeeze_copy"));
    TRY(tni_check_axis(dim, in->ndim, "squeeze_copy"));
    if (in->device == TN_CPU && tni_dtype_known(in->dtype) && in->shape[dim] != 1)
        return tni_fail(TN_ESHAPE, "squeeze_copy: axis %d has extent %lld, not 1", dim,
                        (long long)in->shape[dim]);
    TRY(tni_check(in, "squeeze_copy: in"));
    TRY(tni_check_data(in, "squeeze_copy: in"));
    tn_tensor view;
    TRY(tn_squeeze(&view, in, dim));
    return copy_of(out, &view);
}

tn_status tn_unsqueeze_inplace(tn_tensor *t, int dim)
{
    return tn_unsqueeze(t, t, dim);
}

tn_status tn_squeeze_inplace(tn_tensor *t, int dim)
{
    return tn_squeeze(t, t, dim);
}

/* t without its unit axes. */
static void long_axes(tn_tensor *out, const tn_tensor *t)
{
    tni_inherit(out, t, t->data, 0);
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] != 1) {
            out->shape[out->ndim] = t->shape[i];
            out->stride[out->ndim++] = t->stride[i];
        }
}

static tn_status check_long_axes(const tn_tensor *d, const tn_tensor *s, const char *call)
{
    if (d->ndim != s->ndim)
        return tni_fail(TN_ESHAPE, "%s: dst and src have %d and %d axes that are not 1", call,
                        d->ndim, s->ndim);
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] != s->shape[i])
            return tni_fail(TN_ESHAPE,
                            "%s: beside unit axes, axis %d has extents %lld and %lld", call, i,
                            (long long)d->shape[i], (long long)s->shape[i]);
    return TN_OK;
}

/* Copy between shapes that differ by unit axes. */
static tn_status copy_into(const tn_tensor *dst, const tn_tensor *src, const char *call)
{
    TRY(tni_check_all(TNI_NULL | TNI_NDIM, call, dst, 1, &src));
    TRY(tni_check_alike(call, dst, 1, &src));
    tn_tensor d, s;
    long_axes(&d, dst);
    long_axes(&s, src);
    TRY(check_long_axes(&d, &s, call));
    TRY(tni_check_disjoint_all(call, dst, 1, &src));
    tni_copy_tensor(&d, &s);
    return TN_OK;
}

tn_status tn_unsqueeze_into(const tn_tensor *dst, const tn_tensor *src)
{
    return copy_into(dst, src, "unsqueeze_into");
}

tn_status tn_squeeze_into(const tn_tensor *dst, const tn_tensor *src)
{
    return copy_into(dst, src, "squeeze_into");
}
