/* cover.c - do boxes cover a tensor, and where do they overlap?
 *
 * Disjoint boxes cover the tensor if their volumes sum to its volume.  Where boxes of different
 * ranks overlap, the index space is halved along box borders until every cell has the same
 * owners throughout; a cell without owners is a hole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist.h"

/* Format an index as "(3, 0, 7)". */
static const char *index_text(char *buf, size_t size, int ndim, const int64_t *index)
{
    size_t used = (size_t)snprintf(buf, size, "(");
    for (int i = 0; i < ndim && used < size; i++)
        used +=
            (size_t)snprintf(buf + used, size - used, i ? ", %" PRId64 : "%" PRId64, index[i]);
    if (used < size)
        snprintf(buf + used, size - used, ")");
    return buf;
}

static int64_t volume(int ndim, const int64_t *low, const int64_t *high)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= high[i] - low[i];
    return n;
}

/* ---- boxes of one rank ---- */

static tn_status cover_one_rank(const tni_boxes *b, int ndim, const int64_t *ids, int64_t n,
                                tni_list *hits)
{
    tni_tree tree;
    if (!tni_tree_build(&tree, ndim, n, b->low, b->high, ids))
        return tni_list_full("dist_boxes");
    tn_status status = TN_OK;
    for (int64_t i = 0; i < n && status == TN_OK; i++) {
        const int64_t *low = b->low + ids[i] * ndim, *high = b->high + ids[i] * ndim;
        hits->n = 0;
        if (!tni_tree_query(&tree, low, high, 2, hits)) {
            status = tni_list_full("dist_boxes");
        } else if (hits->n > 1) {
            const int64_t *hit = hits->at, other = hit[hit[0] == ids[i]] * ndim;
            int64_t shared[TN_MAX_NDIM];
            char text[200];
            for (int k = 0; k < ndim; k++)
                shared[k] = low[k] > b->low[other + k] ? low[k] : b->low[other + k];
            status =
                tni_fail(TN_EOVERLAP, "dist_boxes: two boxes of rank %d contain element %s",
                         b->owner[ids[i]], index_text(text, sizeof text, ndim, shared));
        }
    }
    tni_tree_free(&tree);
    return status;
}

/* ids are the boxes that are not empty, by owner. */
static tn_status cover_ranks(const tni_boxes *b, int ndim, const int64_t *ids, int64_t n)
{
    tni_list hits = {.width = sizeof(int64_t)};
    tn_status status = TN_OK;
    for (int64_t i = 0, end; i < n && status == TN_OK; i = end) {
        for (end = i + 1; end < n && b->owner[ids[end]] == b->owner[ids[i]];)
            end++;
        if (end - i > 1)
            status = cover_one_rank(b, ndim, ids + i, end - i, &hits);
    }
    tni_list_free(&hits);
    return status;
}

/* ---- boxes of all ranks ---- */

typedef struct halving {
    tni_boxes *b;
    int ndim;
    int64_t steps;
    tni_list borders;
} halving;

static bool halving_add_cell(halving *h, const int64_t *low, const int64_t *high,
                             const int64_t *ids, int64_t n)
{
    tni_boxes *b = h->b;
    int64_t *first = tni_list_add(&b->holder0);
    if (!first || !tni_list_reserve(&b->holders, n))
        return false;
    *first = b->holders.n;
    memcpy((int64_t *)b->holders.at + b->holders.n, ids, (size_t)n * sizeof *ids);
    b->holders.n += n;
    b->most = n > b->most ? n : b->most;
    for (int i = 0; i < h->ndim; i++) {
        int64_t *x = tni_list_add(&b->cell_low), *y = tni_list_add(&b->cell_high);
        if (!x || !y)
            return false;
        *x = low[i];
        *y = high[i];
    }
    return true;
}

static int border_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The axis with the most borders inside the cell, and the middle one of these borders.  -1: no
 * border is inside; -2: out of memory. */
static int halving_choose(halving *h, const int64_t *low, const int64_t *high,
                          const int64_t *ids, int64_t n, int64_t *at)
{
    int64_t most = 0;
    int best = -1;
    for (int i = 0; i < h->ndim; i++) {
        int64_t inside = 0;
        for (int64_t k = 0; k < n; k++) {
            const int64_t x = ids[k] * h->ndim + i;
            inside += (h->b->low[x] > low[i]) + (h->b->high[x] < high[i]);
        }
        if (inside > most) {
            most = inside;
            best = i;
        }
    }
    if (best < 0)
        return -1;
    h->borders.n = 0;
    if (!tni_list_reserve(&h->borders, most))
        return -2;
    int64_t *borders = h->borders.at, count = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t x = ids[k] * h->ndim + best;
        if (h->b->low[x] > low[best])
            borders[count++] = h->b->low[x];
        if (h->b->high[x] < high[best])
            borders[count++] = h->b->high[x];
    }
    qsort(borders, (size_t)count, sizeof *borders, border_order);
    *at = borders[count / 2];
    return best;
}

static tn_status halve_cell(halving *h, int64_t *low, int64_t *high, const int64_t *ids,
                            int64_t n);

/* Recurse into one half, with the boxes that intersect it. */
static tn_status halve_side(halving *h, int64_t *low, int64_t *high, const int64_t *ids,
                            int64_t n, int axis)
{
    int64_t *mine = tni_alloc((size_t)(n ? n : 1) * sizeof *mine), count = 0;
    if (!mine)
        return tni_list_full("dist_boxes");
    for (int64_t k = 0; k < n; k++) {
        const int64_t x = ids[k] * h->ndim + axis;
        if (h->b->low[x] < high[axis] && h->b->high[x] > low[axis])
            mine[count++] = ids[k];
    }
    tn_status status = halve_cell(h, low, high, mine, count);
    tni_free(mine);
    return status;
}

static tn_status halve_cell(halving *h, int64_t *low, int64_t *high, const int64_t *ids,
                            int64_t n)
{
    h->steps += n + 1;
    if (h->steps > TNI_MOST_PIECES)
        return tni_fail(TN_EUNSUPPORTED,
                        "dist_boxes: boxes overlap in too many ways to decide in %d steps",
                        TNI_MOST_PIECES);
    if (n == 0) {
        char text[200];
        return tni_fail(TN_ESHAPE, "dist_boxes: element %s is in no box",
                        index_text(text, sizeof text, h->ndim, low));
    }
    int64_t at, keep;
    const int axis = halving_choose(h, low, high, ids, n, &at);
    if (axis == -2 || (axis < 0 && !halving_add_cell(h, low, high, ids, n)))
        return tni_list_full("dist_boxes");
    if (axis < 0)
        return TN_OK;
    keep = high[axis];
    high[axis] = at;
    tn_status status = halve_side(h, low, high, ids, n, axis);
    high[axis] = keep;
    if (status != TN_OK)
        return status;
    keep = low[axis];
    low[axis] = at;
    status = halve_side(h, low, high, ids, n, axis);
    low[axis] = keep;
    return status;
}

/* Build the cells of each box by a counting sort. */
static bool invert_cells(tni_boxes *b)
{
    const int64_t *holders = b->holders.at, *first = b->holder0.at;
    const int64_t cells = b->holder0.n - 1;
    b->box_cell0 = tni_alloc((size_t)(b->n + 1) * sizeof *b->box_cell0);
    b->box_cells = tni_alloc((size_t)(b->holders.n + 1) * sizeof *b->box_cells);
    if (!b->box_cell0 || !b->box_cells)
        return false;
    memset(b->box_cell0, 0, (size_t)(b->n + 1) * sizeof *b->box_cell0);
    for (int64_t i = 0; i < b->holders.n; i++)
        b->box_cell0[holders[i] + 1]++;
    for (int64_t i = 0; i < b->n; i++)
        b->box_cell0[i + 1] += b->box_cell0[i];
    for (int64_t c = 0; c < cells; c++)
        for (int64_t i = first[c]; i < first[c + 1]; i++)
            b->box_cells[b->box_cell0[holders[i]]++] = c;
    for (int64_t i = b->n; i > 0; i--)
        b->box_cell0[i] = b->box_cell0[i - 1];
    b->box_cell0[0] = 0;
    return true;
}

static tn_status find_cells(tni_boxes *b, int ndim, const int64_t *shape, const int64_t *ids,
                            int64_t n)
{
    halving h = {.b = b, .ndim = ndim, .borders = {.width = sizeof(int64_t)}};
    int64_t low[TN_MAX_NDIM] = {0}, high[TN_MAX_NDIM];
    memcpy(high, shape, (size_t)ndim * sizeof *high);
    tn_status status = halve_cell(&h, low, high, ids, n);
    tni_list_free(&h.borders);
    if (status != TN_OK)
        return status;
    int64_t *end = tni_list_add(&b->holder0);
    if (!end)
        return tni_list_full("dist_boxes");
    *end = b->holders.n;
    if (!invert_cells(b) || !tni_tree_build(&b->cell_tree, ndim, b->holder0.n - 1,
                                            b->cell_low.at, b->cell_high.at, NULL))
        return tni_list_full("dist_boxes");
    return TN_OK;
}

/* Are the n boxes disjoint?  *sum is their total volume if they are; a sum beyond INT64_MAX
 * counts as no. */
static tn_status disjoint(const tni_boxes *b, int ndim, const int64_t *ids, int64_t n,
                          bool *yes, int64_t *sum)
{
    tni_list hits = {.width = sizeof(int64_t)};
    tn_status status = TN_OK;
    *yes = true;
    *sum = 0;
    for (int64_t i = 0; i < n && *yes && status == TN_OK; i++) {
        const int64_t *low = b->low + ids[i] * ndim, *high = b->high + ids[i] * ndim;
        hits.n = 0;
        if (!tni_tree_query(&b->tree, low, high, 2, &hits))
            status = tni_list_full("dist_boxes");
        *yes = hits.n < 2 && tni_add(*sum, volume(ndim, low, high), sum);
    }
    tni_list_free(&hits);
    return status;
}

static tn_status cover(tni_boxes *b, int ndim, const int64_t *shape, const int64_t *ids,
                       int64_t n)
{
    int64_t total = 1, sum;
    bool separate;
    for (int i = 0; i < ndim; i++)
        total *= shape[i];
    b->most = 1;
    TRY(cover_ranks(b, ndim, ids, n));
    if (!tni_tree_build(&b->tree, ndim, n, b->low, b->high, ids))
        return tni_list_full("dist_boxes");
    if (total == 0)
        return TN_OK;
    TRY(disjoint(b, ndim, ids, n, &separate, &sum));
    b->copies = !separate;
    if (separate && sum == total)
        return TN_OK;
    return find_cells(b, ndim, shape, ids, n);
}

tn_status tni_boxes_cover(tni_boxes *b, int ndim, const int64_t *shape)
{
    int64_t *ids = tni_alloc((size_t)(b->n ? b->n : 1) * sizeof *ids), n = 0;
    if (!ids)
        return tni_list_full("dist_boxes");
    for (int64_t i = 0; i < b->n; i++)
        if (volume(ndim, b->low + i * ndim, b->high + i * ndim) > 0)
            ids[n++] = i;
    tn_status status = cover(b, ndim, shape, ids, n);
    tni_free(ids);
    return status;
}

/* Entry i of a list of numbers; an empty list has no memory. */
static const int64_t *entry(const tni_list *list, int64_t i)
{
    return list->at ? (const int64_t *)list->at + i : NULL;
}

void tni_cell_at(const tni_boxes *b, int ndim, int64_t cell, tni_cell *out)
{
    if (!b->copies) {
        *out = (tni_cell){b->low + cell * ndim, b->high + cell * ndim, &out->one, 1, cell};
        return;
    }
    const int64_t *first = b->holder0.at;
    out->low = entry(&b->cell_low, cell * ndim);
    out->high = entry(&b->cell_high, cell * ndim);
    out->holders = entry(&b->holders, first[cell]);
    out->n = first[cell + 1] - first[cell];
}
