/* boxes.c - distributions as boxes owned by ranks, or as one box of one rank. */
#include <stdlib.h>
#include <string.h>

#include "dist.h"

void tni_boxes_free(tni_boxes *b)
{
    if (!b)
        return;
    tni_free(b->owner);
    tni_free(b->low);
    tni_free(b->high);
    tni_tree_free(&b->tree);
    tni_tree_free(&b->cell_tree);
    tni_list_free(&b->cell_low);
    tni_list_free(&b->cell_high);
    tni_list_free(&b->holders);
    tni_list_free(&b->holder0);
    tni_free(b->box_cell0);
    tni_free(b->box_cells);
    tni_free(b);
}

void tni_boxes_of(const tni_boxes *b, int rank, int64_t *first, int64_t *last)
{
    int64_t at[2];
    for (int k = 0; k < 2; k++) {
        int64_t low = 0, high = b->n;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (b->owner[middle] < rank + k)
                low = middle + 1;
            else
                high = middle;
        }
        at[k] = low;
    }
    *first = at[0];
    *last = at[1];
}

/* A box by its owner and its index in the caller's list. */
typedef struct listed {
    int owner;
    int64_t i;
} listed;

static int by_owner(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

static tn_status boxes_check(int ndim, const int64_t *shape, int nranks, int64_t nboxes,
                             const int *owners, const int64_t *starts, const int64_t *extents)
{
    for (int64_t i = 0; i < nboxes; i++) {
        if (owners[i] < 0 || owners[i] >= nranks)
            return tni_fail(TN_EARG, "dist_boxes: box %lld: rank %d is out of range [0, %d)",
                            (long long)i, owners[i], nranks);
        for (int k = 0; k < ndim; k++) {
            int64_t start = starts[i * ndim + k], n = extents[i * ndim + k];
            if (start < 0 || n < 0 || start > shape[k] || n > shape[k] - start)
                return tni_fail(TN_EARG,
                                "dist_boxes: box %lld: extent %lld at index %lld is outside "
                                "axis %d of extent %lld",
                                (long long)i, (long long)n, (long long)start, k,
                                (long long)shape[k]);
        }
    }
    return TN_OK;
}

static tn_status boxes_copy(tni_boxes *b, int ndim, int64_t n, const int *owners,
                            const int64_t *starts, const int64_t *extents)
{
    const size_t rows = (size_t)(n ? n : 1), bytes = rows * (size_t)(ndim ? ndim : 1) * 8;
    listed *order = tni_alloc(rows * sizeof *order);
    b->n = n;
    b->owner = tni_alloc(rows * sizeof *b->owner);
    b->low = tni_alloc(bytes);
    b->high = tni_alloc(bytes);
    if (!order || !b->owner || !b->low || !b->high) {
        tni_free(order);
        return tni_list_full("dist_boxes");
    }
    bool sorted = true;
    for (int64_t i = 0; i < n; i++) {
        order[i] = (listed){owners[i], i};
        sorted = sorted && (i == 0 || owners[i - 1] <= owners[i]);
    }
    if (!sorted)
        qsort(order, (size_t)n, sizeof *order, by_owner);
    for (int64_t i = 0; i < n; i++) {
        b->owner[i] = order[i].owner;
        for (int k = 0; k < ndim; k++) {
            b->low[i * ndim + k] = starts[order[i].i * ndim + k];
            b->high[i * ndim + k] = b->low[i * ndim + k] + extents[order[i].i * ndim + k];
        }
    }
    tni_free(order);
    return TN_OK;
}

static tn_status boxes_make(tn_dist *d, int64_t nboxes, const int *owners,
                            const int64_t *starts, const int64_t *extents)
{
    tni_boxes *b = d->boxes = tni_alloc(sizeof *b);
    if (!b)
        return tni_list_full("dist_boxes");
    *b = (tni_boxes){.cell_low = {.width = 8},
                     .cell_high = {.width = 8},
                     .holders = {.width = 8},
                     .holder0 = {.width = 8}};
    TRY(boxes_copy(b, d->ndim, nboxes, owners, starts, extents));
    return tni_boxes_cover(b, d->ndim, d->shape);
}

static tn_status boxes_shape(tn_dist *d, int ndim, const int64_t *shape, int nranks,
                             const char *call)
{
    if (ndim < 0 || ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "%s: ndim is %d, expected 0 to %d", call, ndim, TN_MAX_NDIM);
    if (nranks < 1)
        return tni_fail(TN_EARG, "%s: got %d ranks, expected at least 1", call, nranks);
    *d = (tn_dist){.ndim = ndim, .nranks = nranks, .whole = -1, .copies = 1};
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return tni_fail(TN_ESHAPE, "%s: axis %d has extent %lld, expected at least 0", call,
                            i, (long long)shape[i]);
        d->shape[i] = shape[i];
    }
    int64_t size;
    if (!tni_shape_size(ndim, shape, 1, &size))
        return tni_fail(TN_EOVERFLOW, "%s: more than 2^63 - 1 elements", call);
    return TN_OK;
}

tn_status tn_dist_boxes(tn_dist **d, int ndim, const int64_t *shape, int nranks, int64_t nboxes,
                        const int *owners, const int64_t *starts, const int64_t *extents)
{
    if (!d || (ndim > 0 && !shape) || (nboxes > 0 && !owners) ||
        (nboxes > 0 && ndim > 0 && (!starts || !extents)))
        return tni_fail(TN_ENULL, "dist_boxes: %s is NULL",
                        !d                   ? "d"
                        : ndim > 0 && !shape ? "shape"
                        : !owners            ? "owners"
                        : !starts            ? "starts"
                                             : "extents");
    tn_dist made;
    TRY(boxes_shape(&made, ndim, shape, nranks, "dist_boxes"));
    if (nboxes < 0 || nboxes > INT64_MAX / 8 / (2 * TN_MAX_NDIM))
        return tni_fail(TN_EARG, "dist_boxes: invalid number of boxes %lld", (long long)nboxes);
    TRY(boxes_check(ndim, shape, nranks, nboxes, owners, starts, extents));
    tn_dist *box = tni_alloc(sizeof *box);
    if (!box)
        return tni_list_full("dist_boxes");
    *box = made;
    tn_status status = boxes_make(box, nboxes, owners, starts, extents);
    if (status != TN_OK) {
        tn_dist_free(box);
        return status;
    }
    box->copies = box->boxes->most;
    *d = box;
    return TN_OK;
}

tn_status tn_dist_whole(tn_dist **d, int ndim, const int64_t *shape, int nranks, int rank)
{
    if (!d || (ndim > 0 && !shape))
        return tni_fail(TN_ENULL, "dist_whole: %s is NULL", d ? "shape" : "d");
    tn_dist made;
    TRY(boxes_shape(&made, ndim, shape, nranks, "dist_whole"));
    if (rank < 0 || rank >= nranks)
        return tni_fail(TN_EARG, "dist_whole: rank %d is out of range [0, %d)", rank, nranks);
    static const int64_t zeros[TN_MAX_NDIM];
    TRY(tn_dist_boxes(d, ndim, shape, nranks, 1, &rank, zeros, shape));
    (*d)->whole = rank;
    return TN_OK;
}
