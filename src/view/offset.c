/* offset.c - geometry without a tensor: offsets of flat indices, padded shapes.
 *
 * Shapes and strides are bare arrays; every number is checked before anything is written. */
#include "view.h"

static tn_status offset_check_shape(int ndim, const int64_t *shape, const char *call)
{
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0)
            return tni_fail(TN_ESHAPE, "%s: axis %d has a negative extent, got %lld", call, i,
                            (long long)shape[i]);
    return TN_OK;
}

static tn_status check_ndim(int ndim, const char *call)
{
    if (ndim < 0 || ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "%s: ndim %d is out of range [0, %d]", call, ndim,
                        TN_MAX_NDIM);
    return TN_OK;
}

tn_status tn_index_to_offset(int64_t flat, int ndim, const int64_t *shape,
                             const int64_t *stride, int64_t *offset)
{
    if (!offset)
        return tni_fail(TN_ENULL, "index_to_offset: offset is NULL");
    if (ndim > 0 && (!shape || !stride))
        return tni_fail(TN_ENULL, "index_to_offset: %s is NULL, expected %d entries",
                        shape ? "stride" : "shape", ndim);
    TRY(check_ndim(ndim, "index_to_offset"));
    if (flat < 0)
        return tni_fail(TN_EARG, "index_to_offset: flat index %lld is negative",
                        (long long)flat);
    TRY(offset_check_shape(ndim, shape, "index_to_offset"));

    int64_t rest = flat, sum = 0;
    bool fits = true, empty = false;
    for (int i = ndim - 1; i >= 0; i--) {
        empty |= shape[i] == 0;
        if (shape[i] < 2)
            continue;
        int64_t part = 0;
        fits = fits && tni_mul(rest % shape[i], stride[i], &part) && tni_add(sum, part, &sum);
        rest /= shape[i];
    }
    int64_t count;
    const bool counts = tni_shape_size(ndim, shape, 1, &count);
    if (empty || rest > 0)
        return tni_fail(TN_EARG, "index_to_offset: flat index %lld is out of range [0, %lld)",
                        (long long)flat, empty ? 0LL : (long long)count);
    if (!counts)
        return tni_fail(TN_EOVERFLOW,
                        "index_to_offset: the shape has more than 2^63 - 1 elements");
    if (!fits)
        return tni_fail(TN_EOVERFLOW,
                        "index_to_offset: the offset of flat index %lld exceeds 2^63 - 1",
                        (long long)flat);
    *offset = sum;
    return TN_OK;
}

/* Check the arguments of the two calls on padded shapes; axis i grows by 2 * pads[i - 2]. */
static tn_status padded(int ndim, const int64_t *shape, const int64_t *pads, int64_t *grown,
                        const char *call)
{
    if (ndim > 0 && !shape)
        return tni_fail(TN_ENULL, "%s: shape is NULL, expected %d entries", call, ndim);
    if (ndim > 2 && !pads)
        return tni_fail(TN_ENULL, "%s: pads is NULL, expected %d entries", call, ndim - 2);
    TRY(check_ndim(ndim, call));
    for (int i = 2; i < ndim; i++)
        if (pads[i - 2] < 0)
            return tni_fail(TN_EARG, "%s: pads[%d] is %lld, expected at least 0", call, i - 2,
                            (long long)pads[i - 2]);
    TRY(offset_check_shape(ndim, shape, call));
    for (int i = 0; i < ndim; i++) {
        grown[i] = shape[i];
        int64_t both;
        if (i >= 2 && !(tni_mul(2, pads[i - 2], &both) && tni_add(shape[i], both, &grown[i])))
            return tni_fail(TN_EOVERFLOW,
                            "%s: axis %d: %lld plus %lld on both sides exceeds 2^63 - 1", call,
                            i, (long long)shape[i], (long long)pads[i - 2]);
    }
    return TN_OK;
}

tn_status tn_padded_shape(int ndim, const int64_t *shape, const int64_t *pads, int64_t *out)
{
    int64_t grown[TN_MAX_NDIM];
    if (!out)
        return tni_fail(TN_ENULL, "padded_shape: out is NULL");
    TRY(padded(ndim, shape, pads, grown, "padded_shape"));
    for (int i = 0; i < ndim; i++)
        out[i] = grown[i];
    return TN_OK;
}

tn_status tn_padded_size(int ndim, const int64_t *shape, const int64_t *pads, int64_t *count)
{
    int64_t grown[TN_MAX_NDIM], size;
    if (!count)
        return tni_fail(TN_ENULL, "padded_size: count is NULL");
    TRY(padded(ndim, shape, pads, grown, "padded_size"));
    if (!tni_shape_size(ndim, grown, 1, &size))
        return tni_fail(TN_EOVERFLOW,
                        "padded_size: the result has more than 2^63 - 1 elements");
    *count = tni_shape_count(ndim, grown);
    return TN_OK;
}

void tni_unravel(int ndim, const int64_t *shape, int64_t flat, int64_t *index)
{
    for (int i = ndim - 1; i >= 0; i--) {
        index[i] = flat % shape[i];
        flat /= shape[i];
    }
}

int64_t tni_element_offset(const tn_tensor *t, const int64_t *index)
{
    int64_t offset = 0;
    for (int i = 0; i < t->ndim; i++)
        offset += index[i] * t->stride[i];
    return offset;
}
