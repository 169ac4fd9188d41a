/* shape.c - the arithmetic of extents and strides: counts, dense strides, byte ranges.
 *
 * Every sum and product of unchecked numbers is made here, from checked.h.  A function that
 * returns false has written nothing.  Extents of 0 count as 1 in sizes, so that what fits keeps
 * fitting when an empty axis is dropped or filled; axes of extent 0 or 1 lend no stride. */
#include "view.h"

bool tni_shape_size(int ndim, const int64_t *shape, int64_t width, int64_t *size)
{
    int64_t product = width;
    for (int i = 0; i < ndim; i++)
        if (shape[i] > 1 && !tni_scale(product, shape[i], &product))
            return false;
    *size = product;
    return true;
}

bool tni_shape_reach(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *reach)
{
    int64_t sum = width;
    for (int i = 0; i < ndim; i++) {
        int64_t step, part;
        if (shape[i] > 1 && !(tni_abs(stride[i], &step) &&
                              tni_scale(shape[i] - 1, step, &part) && tni_add(sum, part, &sum)))
            return false;
    }
    *reach = sum;
    return true;
}

bool tni_shape_fits(int ndim, const int64_t *shape, const int64_t *stride, int64_t width)
{
    int64_t size = width, reach = width;
    for (int i = 0; i < ndim; i++) {
        const int64_t n = shape[i];
        if (n < 0)
            return false;
        int64_t step, part;
        if (n > 1 && !(tni_scale(size, n, &size) && tni_abs(stride[i], &step) &&
                       tni_scale(n - 1, step, &part) && tni_add(reach, part, &reach)))
            return false;
    }
    return true;
}

void tni_shape_dense(int ndim, const int64_t *shape, int64_t width, int64_t *stride)
{
    int64_t step = width;
    for (int i = ndim - 1; i >= 0; i--) {
        stride[i] = step;
        if (shape[i] > 1)
            step *= shape[i];
    }
}

int64_t tni_shape_count(int ndim, const int64_t *shape)
{
    int64_t count = 1;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0)
            return 0;
        count *= shape[i];
    }
    return count;
}

void tni_shape_range(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *low, int64_t *high)
{
    int64_t from = 0, to = width;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            from = to = 0;
            break;
        }
        if (shape[i] == 1)
            continue;
        const int64_t far = (shape[i] - 1) * stride[i];
        if (far < 0)
            from += far;
        else
            to += far;
    }
    *low = from;
    *high = to;
}

bool tni_shape_merges(int ndim, const int64_t *shape, const int64_t *stride)
{
    int inner = -1;
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] == 1)
            continue;
        int64_t whole;
        if (inner >= 0 && !(tni_mul(shape[inner], stride[inner], &whole) && stride[i] == whole))
            return false;
        inner = i;
    }
    return true;
}
