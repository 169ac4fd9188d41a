/* tree.c - finding boxes by position: a balanced tree of bounds.
 *
 * Node k has children 2 k and 2 k + 1, each with half of its boxes; a node of at most LEAF
 * boxes is a leaf. */
#include <stdlib.h>
#include <string.h>

#include "dist.h"

/* Few enough that scanning all of them costs no more than another level. */
enum { LEAF = 8 };

static int64_t *node_low(const tni_tree *t, int64_t k)
{
    return t->bounds + k * 2 * t->ndim;
}

static int64_t middle_of(const tni_tree *t, int64_t box, int axis)
{
    int64_t at = box * t->ndim + axis;
    return t->low[at] + (t->high[at] - t->low[at]) / 2;
}

/* Partially sort order[0 .. n) so that the boxes with the lower middles along axis are in the
 * first half. */
static void halve(const tni_tree *t, int64_t *order, int64_t n, int axis)
{
    int64_t low = 0, high = n - 1;
    const int64_t half = n / 2;
    while (low < high) {
        int64_t pivot = middle_of(t, order[low + (high - low) / 2], axis), i = low, j = high;
        while (i <= j) {
            while (middle_of(t, order[i], axis) < pivot)
                i++;
            while (middle_of(t, order[j], axis) > pivot)
                j--;
            if (i <= j) {
                int64_t swap = order[i];
                order[i++] = order[j];
                order[j--] = swap;
            }
        }
        if (half <= j)
            high = j;
        else if (half >= i)
            low = i;
        else
            return;
    }
}

static void build(tni_tree *t, int64_t k, int64_t first, int64_t n)
{
    int64_t *low = node_low(t, k), *high = low + t->ndim;
    int64_t *order = t->order + first;
    int widest = 0;
    int64_t width = -1;
    for (int i = 0; i < t->ndim; i++) {
        int64_t least = INT64_MAX, most = -1;
        low[i] = INT64_MAX;
        high[i] = -1;
        for (int64_t b = 0; b < n; b++) {
            int64_t at = order[b] * t->ndim + i, middle = middle_of(t, order[b], i);
            low[i] = t->low[at] < low[i] ? t->low[at] : low[i];
            high[i] = t->high[at] > high[i] ? t->high[at] : high[i];
            least = middle < least ? middle : least;
            most = middle > most ? middle : most;
        }
        if (most - least > width) {
            width = most - least;
            widest = i;
        }
    }
    if (n <= LEAF)
        return;
    if (t->ndim)
        halve(t, order, n, widest);
    build(t, 2 * k, first, n / 2);
    build(t, 2 * k + 1, first + n / 2, n - n / 2);
}

bool tni_tree_build(tni_tree *t, int ndim, int64_t n, const int64_t *low, const int64_t *high,
                    const int64_t *ids)
{
    int64_t nodes = 2, bytes;
    for (int64_t most = n; most > LEAF; most -= most / 2)
        nodes *= 2;
    *t = (tni_tree){.ndim = ndim, .n = n, .low = low, .high = high};
    if (n == 0)
        return true;
    if (!tni_scale(nodes, 2 * (ndim ? ndim : 1) * (int64_t)sizeof *t->bounds, &bytes))
        return false;
    t->order = tni_alloc((size_t)n * sizeof *t->order);
    t->bounds = tni_alloc((size_t)bytes);
    if (!t->order || !t->bounds) {
        tni_tree_free(t);
        return false;
    }
    for (int64_t i = 0; i < n; i++)
        t->order[i] = ids ? ids[i] : i;
    build(t, 1, 0, n);
    return true;
}

void tni_tree_free(tni_tree *t)
{
    tni_free(t->order);
    tni_free(t->bounds);
    t->order = t->bounds = NULL;
    t->n = 0;
}

static bool intersects(int ndim, const int64_t *low, const int64_t *high,
                       const int64_t *box_low, const int64_t *box_high)
{
    for (int i = 0; i < ndim; i++)
        if (low[i] >= box_high[i] || box_low[i] >= high[i])
            return false;
    return true;
}

/* A node to visit, and its boxes. */
typedef struct visit {
    int64_t node, first, n;
} visit;

static int rising(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool tni_tree_query(const tni_tree *t, const int64_t *low, const int64_t *high, int64_t most,
                    tni_list *ids)
{
    visit stack[64];
    int depth = 0;
    const int64_t before = ids->n;
    if (t->n)
        stack[depth++] = (visit){1, 0, t->n};
    while (depth) {
        visit v = stack[--depth];
        const int64_t *bounds = node_low(t, v.node);
        if (!intersects(t->ndim, low, high, bounds, bounds + t->ndim))
            continue;
        if (v.n > LEAF) {
            stack[depth++] = (visit){2 * v.node + 1, v.first + v.n / 2, v.n - v.n / 2};
            stack[depth++] = (visit){2 * v.node, v.first, v.n / 2};
            continue;
        }
        for (int64_t i = v.first; i < v.first + v.n; i++) {
            const int64_t box = t->order[i], at = box * t->ndim;
            /* boxes without axes have no bounds: they all intersect */
            if (t->ndim > 0 && !intersects(t->ndim, low, high, t->low + at, t->high + at))
                continue;
            int64_t *id = tni_list_add(ids);
            if (!id)
                return false;
            *id = box;
            if (most > 0 && ids->n - before == most)
                depth = 0, i = v.first + v.n;
        }
    }
    if (ids->n > before)
        qsort((int64_t *)ids->at + before, (size_t)(ids->n - before), sizeof(int64_t), rising);
    return true;
}
