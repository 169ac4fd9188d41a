/* slice.c - views of a part: slices, one index, windows, slices that drop axes.
 *
 * Offsets are sums of index * stride over axes longer than 1, so they stay inside the byte
 * range of in, which fits.  A view without elements keeps in's data pointer, as there is no
 * element to point at. */
#include "view.h"

static void keep_axes(tn_tensor *out, const tn_tensor *in)
{
    for (int i = 0; i < in->ndim; i++)
        tni_set_axis(out, i, in->shape[i], in->stride[i]);
}

tn_status tn_slice(tn_tensor *out, const tn_tensor *in, int dim, int64_t start, int64_t stop,
                   int64_t step)
{
    TRY(tni_check_pair(out, in, "slice"));
    TRY(tni_check_axis(dim, in->ndim, "slice"));
    if (UNLIKELY(step == 0))
        return tni_fail(TN_EARG, "slice: step is 0");
    TRY(tni_check_sound(in, "slice: in"));

    const int64_t n = in->shape[dim], stride = in->stride[dim];
    const int64_t count = tni_shape_slice(n, &start, stop, step);
    const int64_t offset = count > 0 && n > 1 && tni_numel(in) > 0 ? start * stride : 0;
    keep_axes(out, in);
    tni_set_axis(out, dim, count, count > 1 ? stride * step : stride);
    tni_inherit(out, in, tni_offset(in->data, offset), in->ndim);
    return TN_OK;
}

tn_status tn_select(tn_tensor *out, const tn_tensor *in, int dim, int64_t index)
{
    TRY(tni_check_pair(out, in, "select"));
    TRY(tni_check_axis(dim, in->ndim, "select"));
    const int64_t n = in->shape[dim];
    if (UNLIKELY(index < 0 || index >= n))
        return tni_fail(TN_EARG, "select: index %lld of axis %d is out of range [0, %lld)",
                        (long long)index, dim, (long long)n);
    TRY(tni_check_sound(in, "select: in"));

    const int64_t offset = n > 1 && tni_numel(in) > 0 ? index * in->stride[dim] : 0;
    tni_drop_axis(out, in, dim, tni_offset(in->data, offset));
    return TN_OK;
}

static tn_status check_drops(const int *drop_dims, int num_drop_dims, int ndim, uint64_t *drops)
{
    if (num_drop_dims < 0 || num_drop_dims > ndim)
        return tni_fail(TN_EARG, "view: num_drop_dims %d is out of range [0, %d]",
                        num_drop_dims, ndim);
    uint64_t seen = 0;
    for (int i = 0; i < num_drop_dims; i++) {
        TRY(tni_check_axis(drop_dims[i], ndim, "view"));
        if (seen >> drop_dims[i] & 1)
            return tni_fail(TN_EARG, "view: drop_dims[%d] repeats axis %d", i, drop_dims[i]);
        seen |= (uint64_t)1 << drop_dims[i];
    }
    *drops = seen;
    return TN_OK;
}

/* Check that each axis of the window is inside in, and that a dropped axis has extent 1. */
static tn_status check_window(const tn_tensor *in, const int64_t *shape, const int64_t *offset,
                              uint64_t drops)
{
    for (int i = 0; i < in->ndim; i++) {
        const int64_t n = in->shape[i];
        if (offset[i] < 0 || offset[i] > n || (shape[i] > 0 && shape[i] > n - offset[i]))
            return tni_fail(TN_EARG, "view: axis %d: offset %lld plus extent %lld exceeds %lld",
                            i, (long long)offset[i], (long long)shape[i], (long long)n);
    }
    TRY(tni_check_dtype(in, "view: in"));
    for (int i = 0; i < in->ndim; i++) {
        if (shape[i] < 0)
            return tni_fail(TN_ESHAPE, "view: axis %d has a negative extent, got %lld", i,
                            (long long)shape[i]);
        if ((drops >> i & 1) && shape[i] != 1)
            return tni_fail(TN_ESHAPE, "view: dropped axis %d has extent %lld, expected 1", i,
                            (long long)shape[i]);
    }
    return TN_OK;
}

tn_status tn_view(tn_tensor *out, const tn_tensor *in, const int64_t *shape,
                  const int64_t *offset, const int *drop_dims, int num_drop_dims)
{
    if (out && in && in->ndim > 0 && (!shape || !offset))
        return tni_fail(TN_ENULL, "view: %s is NULL, expected %d entries",
                        shape ? "offset" : "shape", in->ndim);
    if (out && in && num_drop_dims > 0 && !drop_dims)
        return tni_fail(TN_ENULL, "view: drop_dims is NULL, expected %d entries",
                        num_drop_dims);
    TRY(tni_check_pair(out, in, "view"));
    uint64_t drops = 0;
    TRY(check_drops(drop_dims, num_drop_dims, in->ndim, &drops));
    TRY(check_window(in, shape, offset, drops));
    TRY(tni_check_sound(in, "view: in"));

    const int ndim = in->ndim;
    const bool empty = tni_shape_count(ndim, shape) == 0;
    const int64_t bytes = empty ? 0 : tni_shape_offset(ndim, in->shape, in->stride, offset);
    int kept = 0;
    for (int i = 0; i < ndim; i++)
        if (!(drops >> i & 1))
            tni_set_axis(out, kept++, shape[i], in->stride[i]);
    tni_inherit(out, in, tni_offset(in->data, bytes), kept);
    return TN_OK;
}

tn_status tn_windows(tn_tensor *out, const tn_tensor *in, int dim, int64_t size, int64_t step)
{
    TRY(tni_check_pair(out, in, "windows"));
    TRY(tni_check_axis(dim, in->ndim, "windows"));
    const int ndim = in->ndim;
    if (ndim == TN_MAX_NDIM)
        return tni_fail(TN_EARG, "windows: in has %d axes, out would have %d", ndim, ndim + 1);
    if (size < 0 || step < 1)
        return tni_fail(TN_EARG, "windows: size %lld and step %lld, expected at least 0 and 1",
                        (long long)size, (long long)step);
    TRY(tni_check_dtype(in, "windows: in"));
    if (size > in->shape[dim])
        return tni_fail(TN_ESHAPE, "windows: size %lld exceeds the extent %lld of axis %d",
                        (long long)size, (long long)in->shape[dim], dim);
    TRY(tni_check_sound(in, "windows: in"));

    const int64_t n = in->shape[dim], stride = in->stride[dim];
    int64_t shape[TN_MAX_NDIM], count, bytes;
    for (int i = 0; i < ndim; i++)
        shape[i] = in->shape[i];
    if (!tni_add((n - size) / step, 1, &count))
        return tni_fail(TN_EOVERFLOW, "windows: axis %d would have 2^63 windows", dim);
    shape[dim] = count;
    shape[ndim] = size;
    if (!tni_shape_size(ndim + 1, shape, tni_width(in->dtype), &bytes))
        return tni_fail(TN_EOVERFLOW,
                        "windows: %lld windows of %lld make more than 2^63 - 1 bytes",
                        (long long)count, (long long)size);
    keep_axes(out, in);
    tni_set_axis(out, dim, count, count > 1 && size > 0 ? stride * step : 0);
    tni_set_axis(out, ndim, size, stride);
    tni_inherit(out, in, in->data, ndim + 1);
    return TN_OK;
}
