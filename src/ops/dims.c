/* dims.c - squeeze and unsqueeze with a copy: into new memory, or into a given tensor. */
#include "copy_tensor.h"

/* A dense copy, in new memory, of a checked view. */
static tn_status copy_of(tn_tensor *out, const tn_tensor *view, const char *call)
{
    tn_tensor made;
    TRY(tni_alloc_dense(&made, view->dtype, view->ndim, view->shape, call));
    tni_copy_tensor(&made, view);
    *out = made;
    return TN_OK;
}

tn_status tn_unsqueeze_copy(tn_tensor *out, const tn_tensor *in, int dim)
{
    TRY(tni_check_pair(out, in, "unsqueeze_copy"));
    if (dim < 0 || dim > in->ndim)
        return tni_fail(TN_EARG, "unsqueeze_copy: axis %d is out of range [0, %d]", dim,
                        in->ndim);
    if (in->ndim == TN_MAX_NDIM)
        return tni_fail(TN_EARG, "unsqueeze_copy: in has %d axes, out would have %d", in->ndim,
                        in->ndim + 1);
    TRY(tni_check(in, "unsqueeze_copy: in"));
    TRY(tni_check_data(in, "unsqueeze_copy: in"));
    tn_tensor view;
    TRY(tn_unsqueeze(&view, in, dim));
    return copy_of(out, &view, "unsqueeze_copy");
}

tn_status tn_squeeze_copy(tn_tensor *out, const tn_tensor *in, int dim)
{
    TRY(tni_check_pair(out, in, "squeeze_copy"));
    TRY(tni_check_axis(dim, in->ndim, "squeeze_copy"));
    TRY(tni_check_rules(TNI_DEVICE | TNI_DTYPE,
                        &(tni_call){.name = "squeeze_copy",
                                    .flags = TNI_NO_DST,
                                    .n = 1,
                                    .srcs = &in,
                                    .names = (const char *const[]){"out", "in"}}));
    if (in->shape[dim] != 1)
        return tni_fail(TN_ESHAPE, "squeeze_copy: axis %d has extent %lld, expected 1", dim,
                        (long long)in->shape[dim]);
    TRY(tni_check(in, "squeeze_copy: in"));
    TRY(tni_check_data(in, "squeeze_copy: in"));
    tn_tensor view;
    TRY(tn_squeeze(&view, in, dim));
    return copy_of(out, &view, "squeeze_copy");
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
static void dims_long_axes(tn_tensor *out, const tn_tensor *t)
{
    tni_inherit(out, t, t->data, 0);
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] != 1) {
            out->shape[out->ndim] = t->shape[i];
            out->stride[out->ndim++] = t->stride[i];
        }
}

typedef struct long_pair {
    tn_tensor d, s;
} long_pair;

static tn_status into_shapes(const tni_call *call)
{
    long_pair *p = call->own;
    dims_long_axes(&p->d, call->dst);
    dims_long_axes(&p->s, call->srcs[0]);
    if (p->d.ndim != p->s.ndim)
        return tni_fail(TN_ESHAPE, "%s: dst has %d axes longer than 1, src has %d", call->name,
                        p->d.ndim, p->s.ndim);
    for (int i = 0; i < p->d.ndim; i++)
        if (p->d.shape[i] != p->s.shape[i])
            return tni_fail(TN_ESHAPE,
                            "%s: ignoring axes of extent 1, axis %d: extents differ, dst has "
                            "%lld, src has %lld",
                            call->name, i, (long long)p->d.shape[i], (long long)p->s.shape[i]);
    return TN_OK;
}

/* Copy between shapes that differ by unit axes. */
static tn_status copy_into(const tn_tensor *dst, const tn_tensor *src, const char *name)
{
    long_pair p;
    TRY(tni_check_call(&(tni_call){.name = name,
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .dtypes = tni_call_same_dtypes,
                                   .shapes = into_shapes,
                                   .own = &p}));
    tni_copy_tensor(&p.d, &p.s);
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
