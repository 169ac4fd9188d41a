/* reshape.c - the same elements in the same order under another shape, without a copy.
 *
 * Old and new axes longer than 1 are split into the shortest groups of equal product.  A group
 * can be given its new axes exactly if its old axes walk memory as one axis; otherwise a copy
 * is needed. */
#include "view.h"

/* The axes of in whose extent is not 1. */
static int reshape_long_axes(const tn_tensor *in, int64_t *shape, int64_t *stride)
{
    int count = 0;
    for (int i = 0; i < in->ndim; i++)
        if (in->shape[i] != 1) {
            shape[count] = in->shape[i];
            stride[count++] = in->stride[i];
        }
    return count;
}

/* Compute strides of the new shape over the memory of in; false if there are none.  Both shapes
 * have the same number of elements, which is not 0. */
static bool restride(const tn_tensor *in, int ndim, const int64_t *shape, int64_t *stride)
{
    int64_t old_shape[TN_MAX_NDIM], old_stride[TN_MAX_NDIM];
    int old = reshape_long_axes(in, old_shape, old_stride), next = ndim;
    while (old > 0) {
        const int end = old, new_end = next;
        int64_t have = old_shape[--old], want = 1;
        while (have != want) {
            if (want < have)
                want *= shape[--next];
            else
                have *= old_shape[--old];
        }
        if (!tni_shape_merges(end - old, old_shape + old, old_stride + old))
            return false;
        int64_t step = old_stride[end - 1];
        for (int i = new_end - 1; i >= next; i--) {
            stride[i] = shape[i] > 1 ? step : 0;
            if (i > next) /* the product of the whole group may not fit */
                step *= shape[i];
        }
    }
    while (next > 0)
        stride[--next] = 0;
    return true;
}

/* Replace the -1 of shape, if any, by the extent that makes the number of elements that of
 * in. */
static tn_status complete(int64_t *full, const tn_tensor *in, int ndim, const int64_t *shape)
{
    const int64_t count = tni_numel(in);
    int missing = -1;
    bool empty = false;
    for (int i = 0; i < ndim; i++) {
        full[i] = shape[i] < 0 ? 1 : shape[i];
        missing = shape[i] < 0 ? i : missing;
        empty |= shape[i] == 0;
    }
    int64_t known;
    const bool fits = tni_shape_size(ndim, full, 1, &known);
    if (!fits && !empty && count > 0)
        return tni_fail(TN_ESHAPE, "reshape: in has %lld elements, out more than 2^63 - 1",
                        (long long)count);
    if (empty)
        known = 0;
    else if (!fits)
        known = INT64_MAX; /* not 0: in is empty, and only a -1 that becomes 0 can fit */
    if (missing >= 0 && known > 0 && count % known == 0)
        full[missing] = count / known;
    else if (missing >= 0)
        return tni_fail(
            TN_ESHAPE,
            "reshape: the product of the extents, %lld, does not divide %lld elements",
            (long long)known, (long long)count);
    else if (count != known)
        return tni_fail(TN_ESHAPE, "reshape: in has %lld elements, out %lld", (long long)count,
                        (long long)known);
    return TN_OK;
}

static tn_status check_extents(int ndim, const int64_t *shape)
{
    bool missing = false;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < -1 || (shape[i] == -1 && missing))
            return tni_fail(TN_ESHAPE,
                            "reshape: axis %d has extent %lld, only one extent may be -1", i,
                            (long long)shape[i]);
        missing |= shape[i] == -1;
    }
    return TN_OK;
}

tn_status tn_reshape(tn_tensor *out, const tn_tensor *in, int ndim, const int64_t *shape)
{
    if (out && in && !shape && ndim > 0)
        return tni_fail(TN_ENULL, "reshape: shape is NULL, expected %d entries", ndim);
    TRY(tni_check_pair(out, in, "reshape"));
    if (ndim < 0 || ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "reshape: ndim %d is out of range [0, %d]", ndim, TN_MAX_NDIM);
    TRY(tni_check_dtype(in, "reshape: in"));
    TRY(check_extents(ndim, shape));
    TRY(tni_check_sound(in, "reshape: in"));

    const int64_t width = tni_width(in->dtype);
    int64_t full[TN_MAX_NDIM], stride[TN_MAX_NDIM], bytes;
    TRY(complete(full, in, ndim, shape));
    if (!tni_shape_size(ndim, full, width, &bytes))
        return tni_fail(TN_EOVERFLOW, "reshape: size exceeds 2^63 - 1 bytes");
    if (tni_numel(in) == 0)
        tni_shape_dense(ndim, full, width, stride);
    else if (!restride(in, ndim, full, stride))
        return tni_fail(
            TN_ESTRIDE,
            "reshape: in: strides of ndim %d cannot express a shape of ndim %d; copy "
            "with tn_contiguous",
            in->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        tni_set_axis(out, i, full[i], stride[i]);
    tni_inherit(out, in, in->data, ndim);
    return TN_OK;
}
