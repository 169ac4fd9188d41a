/* axes.c - views that insert, drop, reorder or reverse axes.
 *
 * out may be in: each entry is read before it is overwritten. */
#include "view.h"

static void copy_axis(tn_tensor *out, int to, const tn_tensor *in, int from)
{
    tni_set_axis(out, to, in->shape[from], in->stride[from]);
}

tn_status tn_unsqueeze(tn_tensor *out, const tn_tensor *in, int dim)
{
    TRY(tni_check_pair(out, in, "unsqueeze"));
    const int ndim = in->ndim;
    if (UNLIKELY(dim < 0 || dim > ndim))
        return tni_fail(TN_EARG, "unsqueeze: axis %d is out of range [0, %d]", dim, ndim);
    if (UNLIKELY(ndim == TN_MAX_NDIM))
        return tni_fail(TN_EARG, "unsqueeze: in has %d axes, out would have %d", ndim,
                        ndim + 1);
    TRY(tni_check_sound(in, "unsqueeze: in"));

    for (int i = ndim; i > dim; i--)
        copy_axis(out, i, in, i - 1);
    for (int i = 0; i < dim; i++)
        copy_axis(out, i, in, i);
    tni_set_axis(out, dim, 1, 0);
    tni_inherit(out, in, in->data, ndim + 1);
    return TN_OK;
}

tn_status tn_squeeze(tn_tensor *out, const tn_tensor *in, int dim)
{
    TRY(tni_check_pair(out, in, "squeeze"));
    TRY(tni_check_axis(dim, in->ndim, "squeeze"));
    TRY(tni_check_dtype(in, "squeeze: in"));
    if (UNLIKELY(in->shape[dim] != 1))
        return tni_fail(TN_ESHAPE, "squeeze: axis %d has extent %lld, expected 1", dim,
                        (long long)in->shape[dim]);
    TRY(tni_check_sound(in, "squeeze: in"));
    tni_drop_axis(out, in, dim, in->data);
    return TN_OK;
}

void tni_drop_axis(tn_tensor *out, const tn_tensor *in, int dim, void *data)
{
    const int ndim = in->ndim;
    ASSERT(dim >= 0 && dim < ndim);
    for (int i = 0; i < dim; i++)
        copy_axis(out, i, in, i);
    for (int i = dim + 1; i < ndim; i++)
        copy_axis(out, i - 1, in, i);
    tni_inherit(out, in, data, ndim - 1);
}

tn_status tn_squeeze_all(tn_tensor *out, const tn_tensor *in)
{
    TRY(tni_check_pair(out, in, "squeeze_all"));
    TRY(tni_check_sound(in, "squeeze_all: in"));
    const int ndim = in->ndim;
    int kept = 0;
    for (int i = 0; i < ndim; i++)
        if (in->shape[i] != 1)
            copy_axis(out, kept++, in, i);
    tni_inherit(out, in, in->data, kept);
    return TN_OK;
}

tn_status tn_permute(tn_tensor *out, const tn_tensor *in, const int *axes)
{
    if (UNLIKELY(out && in && !axes && in->ndim > 0))
        return tni_fail(TN_ENULL, "permute: axes is NULL, expected %d entries", in->ndim);
    TRY(tni_check_pair(out, in, "permute"));
    const int ndim = in->ndim;
    uint64_t seen = 0;
    for (int i = 0; i < ndim; i++) {
        TRY(tni_check_axis(axes[i], ndim, "permute"));
        if (UNLIKELY(seen >> axes[i] & 1))
            return tni_fail(TN_EARG, "permute: axes[%d] repeats axis %d", i, axes[i]);
        seen |= (uint64_t)1 << axes[i];
    }
    TRY(tni_check_sound(in, "permute: in"));

    int64_t shape[TN_MAX_NDIM], stride[TN_MAX_NDIM];
    for (int i = 0; i < ndim; i++) {
        shape[i] = in->shape[axes[i]];
        stride[i] = in->stride[axes[i]];
    }
    for (int i = 0; i < ndim; i++)
        tni_set_axis(out, i, shape[i], stride[i]);
    tni_inherit(out, in, in->data, ndim);
    return TN_OK;
}

tn_status tn_transpose(tn_tensor *out, const tn_tensor *in, int a, int b)
{
    TRY(tni_check_pair(out, in, "transpose"));
    const int ndim = in->ndim;
    TRY(tni_check_axis(a, ndim, "transpose"));
    TRY(tni_check_axis(b, ndim, "transpose"));
    TRY(tni_check_sound(in, "transpose: in"));

    const int64_t n = in->shape[a], stride = in->stride[a];
    for (int i = 0; i < ndim; i++)
        copy_axis(out, i, in, i == a ? b : i);
    tni_set_axis(out, b, n, stride);
    tni_inherit(out, in, in->data, ndim);
    return TN_OK;
}

tn_status tn_flip(tn_tensor *out, const tn_tensor *in, int dim)
{
    TRY(tni_check_pair(out, in, "flip"));
    const int ndim = in->ndim;
    TRY(tni_check_axis(dim, ndim, "flip"));
    TRY(tni_check_sound(in, "flip: in"));

    const int64_t n = in->shape[dim], stride = in->stride[dim];
    void *data = in->data;
    if (tni_numel(in) > 1)
        data = tni_offset(data, (n - 1) * stride);
    for (int i = 0; i < ndim; i++)
        copy_axis(out, i, in, i);
    if (n > 1)
        out->stride[dim] = -stride;
    tni_inherit(out, in, data, ndim);
    return TN_OK;
}

tn_status tn_diagonal(tn_tensor *out, const tn_tensor *in, int a, int b)
{
    TRY(tni_check_pair(out, in, "diagonal"));
    const int ndim = in->ndim;
    TRY(tni_check_axis(a, ndim, "diagonal"));
    TRY(tni_check_axis(b, ndim, "diagonal"));
    if (UNLIKELY(a == b))
        return tni_fail(TN_EARG, "diagonal: the axes %d and %d are the same", a, b);
    TRY(tni_check_sound(in, "diagonal: in"));

    const int64_t n = in->shape[a] < in->shape[b] ? in->shape[a] : in->shape[b];
    const int64_t stride = n > 1 ? in->stride[a] + in->stride[b] : 0;
    int kept = 0;
    for (int i = 0; i < ndim; i++)
        if (i != a && i != b)
            copy_axis(out, kept++, in, i);
    tni_set_axis(out, kept, n, stride);
    tni_inherit(out, in, in->data, kept + 1);
    return TN_OK;
}
