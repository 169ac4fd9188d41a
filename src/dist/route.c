/* route.c - what one rank sends, keeps and receives when a tensor moves from one distribution
 * to another.
 *
 * Both directions are built by the same code, from this rank's parts and the other
 * distribution; a tree finds the boxes that can intersect. */
#include <stdlib.h>
#include <string.h>

#include "route.h"

/* ---- groups ---- */

static tni_set box_range(const int64_t *low, const int64_t *high, int axis)
{
    return tni_set_range(low[axis], high[axis] - low[axis]);
}

/* The index set of dst axis i on one side of a pair. */
static tni_set group_set(const tni_generator *m, const tni_group *g, bool of_dst, int i)
{
    const tn_dist *d = of_dst ? m->dst : m->src;
    if (!d->boxes)
        return m->sets[i];
    if (of_dst)
        return box_range(d->boxes->low + g->box * d->ndim, d->boxes->high + g->box * d->ndim,
                         i);
    const int axis = m->r->axes[i];
    tni_cell cell;
    tni_cell_at(d->boxes, d->ndim, g->cell, &cell);
    tni_set s = box_range(cell.low, cell.high, axis);
    s.base = cell.low[axis] - d->boxes->low[g->holder * d->ndim + axis];
    return s;
}

static int64_t part_number(const tn_dist *d, int64_t box)
{
    int64_t first, last;
    if (!d->boxes)
        return 0;
    tni_boxes_of(d->boxes, d->boxes->owner[box], &first, &last);
    return box - first;
}

/* Build a group: the hits of every axis.  A group whose product is empty is removed again. */
static tn_status make_group(tni_generator *m, const tni_group *pair)
{
    tni_side *s = m->side;
    const int ndim = m->r->ndim;
    const int64_t hits = s->hits.n, runs = s->runs.n, agains = s->agains.n, rows = s->hit0.n;
    tni_group *g = s->groups.n < INT32_MAX ? tni_list_add(&s->groups) : NULL;
    if (!g || !tni_list_reserve(&s->hit0, s->hit0.n ? 8 * (ndim + 1) : ndim + 1))
        return tni_list_full("route");
    *g = *pair;
    g->dst_part = part_number(m->dst, pair->box);
    g->src_part = part_number(m->src, pair->holder);
    bool empty = false;
    for (int i = 0; i < ndim && !empty; i++) {
        const int64_t before = s->hits.n;
        const tni_set own = group_set(m, pair, !m->sending, i);
        *(int32_t *)tni_list_add(&s->hit0) = (int32_t)before;
        if (m->other->boxes) {
            const tni_set other = group_set(m, pair, m->sending, i);
            TRY(tni_hits_one(m, &own, &other));
        } else {
            TRY(tni_hits_mesh(m, i, &own));
        }
        empty = s->hits.n == before;
    }
    if (empty) {
        s->hits.n = hits;
        s->runs.n = runs;
        s->agains.n = agains;
        s->hit0.n = rows;
        s->groups.n--;
        return TN_OK;
    }
    *(int32_t *)tni_list_add(&s->hit0) = (int32_t)s->hits.n;
    return tni_emit(m, s->groups.n - 1);
}

/* ---- pairs: this rank's parts with the parts they may intersect ---- */

static bool pair_add(tni_list *pairs, int64_t box, int64_t cell, int64_t holder)
{
    tni_group *g = tni_list_add(pairs);
    if (g)
        *g = (tni_group){.box = box, .cell = cell, .holder = holder};
    return g != NULL;
}

/* The box from which this rank receives a cell. */
static int64_t choose_holder(const tn_dist *src, int64_t cell, int rank)
{
    tni_cell c;
    tni_cell_at(src->boxes, src->ndim, cell, &c);
    for (int64_t k = 0; k < c.n; k++)
        if (src->boxes->owner[c.holders[k]] == rank)
            return c.holders[k];
    return c.holders[rank % c.n];
}

/* Pair [low, high), given in dst axes, with everything on the other side that intersects it. */
static tn_status pair_up(tni_generator *m, const int64_t *low, const int64_t *high, int64_t own,
                         int64_t holder, tni_list *pairs, tni_list *hits)
{
    const tni_boxes *b = m->other->boxes;
    if (!b)
        return pair_add(pairs, m->sending ? 0 : own, m->sending ? own : 0, holder)
                   ? TN_OK
                   : tni_list_full("route");
    int64_t from[TN_MAX_NDIM], to[TN_MAX_NDIM];
    for (int i = 0; i < m->r->ndim; i++) {
        const int axis = m->sending ? i : m->r->axes[i];
        from[axis] = low[i];
        to[axis] = high[i];
    }
    hits->n = 0;
    const tni_tree *tree = !m->sending && b->copies ? &b->cell_tree : &b->tree;
    if (!tni_tree_query(tree, from, to, 0, hits))
        return tni_list_full("route");
    for (int64_t k = 0; k < hits->n; k++) {
        const int64_t id = ((const int64_t *)hits->at)[k];
        if (!(m->sending ? pair_add(pairs, id, own, holder)
                         : pair_add(pairs, own, id, choose_holder(m->src, id, m->r->rank))))
            return tni_list_full("route");
    }
    return TN_OK;
}

static tn_status pairs_of_mesh(tni_generator *m, tni_list *pairs, tni_list *hits)
{
    int64_t low[TN_MAX_NDIM], high[TN_MAX_NDIM];
    for (int i = 0; i < m->r->ndim; i++) {
        if (m->sets[i].n == 0)
            return TN_OK;
        low[i] = tni_set_low(&m->sets[i]);
        high[i] = tni_set_high(&m->sets[i]);
    }
    return pair_up(m, low, high, 0, 0, pairs, hits);
}

static tn_status pairs_of_box(tni_generator *m, const int64_t *box_low, const int64_t *box_high,
                              int64_t own, int64_t holder, tni_list *pairs, tni_list *hits)
{
    int64_t low[TN_MAX_NDIM], high[TN_MAX_NDIM];
    for (int i = 0; i < m->r->ndim; i++) {
        const int axis = m->sending ? m->r->axes[i] : i;
        low[i] = box_low[axis];
        high[i] = box_high[axis];
        if (low[i] == high[i])
            return TN_OK;
    }
    return pair_up(m, low, high, own, holder, pairs, hits);
}

static tn_status pairs_of_boxes(tni_generator *m, tni_list *pairs, tni_list *hits)
{
    const tni_boxes *b = m->own->boxes;
    const int ndim = m->r->ndim;
    int64_t first, last;
    tni_boxes_of(b, m->r->rank, &first, &last);
    for (int64_t box = first; box < last; box++) {
        if (!m->sending || !b->copies) {
            TRY(pairs_of_box(m, b->low + box * ndim, b->high + box * ndim, box, box, pairs,
                             hits));
            continue;
        }
        for (int64_t k = b->box_cell0[box]; k < b->box_cell0[box + 1]; k++) {
            tni_cell cell;
            tni_cell_at(b, ndim, b->box_cells[k], &cell);
            TRY(pairs_of_box(m, cell.low, cell.high, b->box_cells[k], box, pairs, hits));
        }
    }
    return TN_OK;
}

static int pair_order(const void *a, const void *b)
{
    const tni_group *x = a, *y = b;
    if (x->box != y->box)
        return x->box < y->box ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

/* ---- one direction ---- */

static tn_status own_sets(tni_generator *m)
{
    for (int i = 0; i < m->r->ndim; i++)
        TRY(tni_mesh_set(&m->sets[i], m->own, tni_mesh_position(m->own, m->r->rank),
                         m->sending ? m->r->axes[i] : i));
    return TN_OK;
}

/* Does this rank hold the copy that sends, if one is given?  Other ranks send nothing. */
static bool has_number(const tni_generator *m)
{
    const tn_dist *src = m->src;
    if (m->copy < 0 || !m->sending)
        return true;
    int64_t number, zero, below = 0;
    tni_mesh_copy(src, tni_mesh_position(src, m->r->rank), &number, &zero);
    for (int64_t k = 0; k < src->copies; k++)
        below += tni_mesh_rank(src, zero + tni_mesh_copy_step(src, k)) < m->r->rank;
    return below == m->copy;
}

static tn_status make_groups(tni_generator *m, tni_list *pairs, tni_list *hits)
{
    TRY(m->own->boxes ? pairs_of_boxes(m, pairs, hits) : pairs_of_mesh(m, pairs, hits));
    if (pairs->n > 1)
        qsort(pairs->at, (size_t)pairs->n, sizeof(tni_group), pair_order);
    for (int64_t k = 0; k < pairs->n; k++)
        TRY(make_group(m, (const tni_group *)pairs->at + k));
    return TN_OK;
}

static tn_status make_side(tn_route *r, const tn_dist *dst, const tn_dist *src, bool sending,
                           int64_t copy)
{
    tni_generator m = {.r = r,
                       .dst = dst,
                       .src = src,
                       .sending = sending,
                       .own = sending ? src : dst,
                       .other = sending ? dst : src,
                       .side = &r->side[sending],
                       .copy = copy};
    if (r->rank >= m.own->nranks || !has_number(&m))
        return TN_OK;
    tni_list pairs = {.width = sizeof(tni_group)}, hits = {.width = sizeof(int64_t)};
    tn_status status = m.own->boxes ? TN_OK : own_sets(&m);
    if (status == TN_OK)
        status = make_groups(&m, &pairs, &hits);
    for (int i = 0; i < r->ndim; i++)
        tni_set_free(&m.sets[i]);
    tni_list_free(&pairs);
    tni_list_free(&hits);
    return status;
}

/* ---- routes ---- */

static tn_status route_extents(tn_route *r, int k, const tn_dist *d)
{
    const int ndim = d->ndim;
    r->parts[k] = tn_dist_parts(d, r->rank);
    r->extents[k] = tni_alloc((size_t)(r->parts[k] * ndim + 1) * sizeof(int64_t));
    if (!r->extents[k])
        return tni_list_full("route");
    for (int64_t part = 0; part < r->parts[k]; part++)
        TRY(tn_dist_part(d, r->rank, part, r->extents[k] + part * ndim));
    return tn_dist_print(d, r->words[k], sizeof r->words[k]);
}

tn_status tni_route_begin(tn_route **out, int rank, const tn_dist *dst, tn_dtype dst_dtype,
                          const tn_dist *src, tn_dtype src_dtype, const char *call)
{
    int64_t size;
    const tn_dtype dtypes[] = {dst_dtype, src_dtype};
    for (int k = 0; k < 2; k++)
        if (!tni_dtype_known(dtypes[k]))
            return tni_fail(TN_EDTYPE, "%s: %s has unknown dtype %d", call, k ? "src" : "dst",
                            (int)dtypes[k]);
    const bool narrower = tni_width(dst_dtype) < tni_width(src_dtype);
    if (!tni_shape_size(dst->ndim, dst->shape, tni_width(narrower ? src_dtype : dst_dtype),
                        &size))
        return tni_fail(TN_EOVERFLOW, "%s: the tensor has more than 2^63 - 1 bytes", call);
    tn_route *r = tni_alloc(sizeof *r);
    if (!r)
        return tni_list_full(call);
    *r = (tn_route){.rank = rank,
                    .ndim = dst->ndim,
                    .dst_dtype = dst_dtype,
                    .src_dtype = src_dtype,
                    .wire = narrower ? dst_dtype : src_dtype,
                    .keep = {.width = sizeof(tni_product)},
                    .fill = {.width = sizeof(tni_product)}};
    for (int k = 0; k < 2; k++)
        r->side[k] = (tni_side){.runs = {.width = sizeof(tni_run)},
                                .agains = {.width = sizeof(tni_again)},
                                .hits = {.width = sizeof(tni_hit)},
                                .groups = {.width = sizeof(tni_group)},
                                .hit0 = {.width = sizeof(int32_t)},
                                .products = {.width = sizeof(tni_product)},
                                .message0 = {.width = sizeof(int64_t)}};
    tn_status status = route_extents(r, 0, dst);
    if (status == TN_OK)
        status = route_extents(r, 1, src);
    if (status != TN_OK) {
        tn_route_free(r);
        return status;
    }
    *out = r;
    return TN_OK;
}

static tn_status route_axes(int *out, const tn_dist *dst, const tn_dist *src, const int *axes)
{
    bool seen[TN_MAX_NDIM] = {false};
    if (dst->ndim != src->ndim)
        return tni_fail(TN_ESHAPE, "route: dst has %d axes and src has %d", dst->ndim,
                        src->ndim);
    for (int i = 0; i < dst->ndim; i++) {
        out[i] = axes ? axes[i] : i;
        if (out[i] < 0 || out[i] >= dst->ndim || seen[out[i]])
            return tni_fail(TN_EARG, "route: axes[%d] is %d, expected each of 0 to %d once", i,
                            out[i], dst->ndim - 1);
        seen[out[i]] = true;
    }
    for (int i = 0; i < dst->ndim; i++)
        if (dst->shape[i] != src->shape[out[i]])
            return tni_fail(TN_ESHAPE,
                            "route: axis %d of dst has extent %lld, axis %d of src has %lld", i,
                            (long long)dst->shape[i], out[i], (long long)src->shape[out[i]]);
    return TN_OK;
}

static tn_status route_make(tn_route **out, int rank, const tn_dist *dst, tn_dtype dst_dtype,
                            const tn_dist *src, tn_dtype src_dtype, const int *axes,
                            int64_t copy)
{
    int order[TN_MAX_NDIM];
    if (!out || !dst || !src)
        return tni_fail(TN_ENULL, "route: %s is NULL", !out ? "r" : !dst ? "dst" : "src");
    if (rank < 0)
        return tni_fail(TN_EARG, "route: rank is %d, expected at least 0", rank);
    TRY(route_axes(order, dst, src, axes));
    tn_route *r;
    TRY(tni_route_begin(&r, rank, dst, dst_dtype, src, src_dtype, "route"));
    memcpy(r->axes, order, sizeof order);
    tn_status status = make_side(r, dst, src, false, copy);
    if (status == TN_OK)
        status = make_side(r, dst, src, true, copy);
    if (status == TN_OK)
        status = tni_route_finish(r, src, copy);
    if (status != TN_OK) {
        tn_route_free(r);
        return status;
    }
    *out = r;
    return TN_OK;
}

tn_status tn_route_create(tn_route **r, int rank, const tn_dist *dst, tn_dtype dst_dtype,
                          const tn_dist *src, tn_dtype src_dtype, const int *axes)
{
    return route_make(r, rank, dst, dst_dtype, src, src_dtype, axes, -1);
}

tn_status tn_route_copy(tn_route **r, int rank, const tn_dist *dst, tn_dtype dst_dtype,
                        const tn_dist *src, tn_dtype src_dtype, const int *axes, int64_t copy)
{
    if (src && src->boxes)
        return tni_fail(
            TN_EUNSUPPORTED,
            "route_copy: src: a distribution made by tn_dist_boxes is not supported");
    if (src && (copy < 0 || copy >= src->copies))
        return tni_fail(TN_EARG, "route_copy: copy is %lld, expected [0, %lld)",
                        (long long)copy, (long long)src->copies);
    return route_make(r, rank, dst, dst_dtype, src, src_dtype, axes, copy);
}
