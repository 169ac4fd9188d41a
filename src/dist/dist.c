/* dist.c - queries on distributions: parts, indices, description, hash. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dist.h"

void tn_dist_free(tn_dist *d)
{
    if (!d)
        return;
    tni_boxes_free(d->boxes);
    tni_free(d->ranks);
    tni_free(d->positions);
    tni_free(d);
}

int tn_dist_ranks(const tn_dist *d)
{
    return d ? d->nranks : 0;
}

int tn_dist_ndim(const tn_dist *d)
{
    return d ? d->ndim : 0;
}

const int64_t *tn_dist_shape(const tn_dist *d)
{
    return d ? d->shape : NULL;
}

int64_t tn_dist_copies(const tn_dist *d)
{
    return d ? d->copies : 0;
}

int64_t tn_dist_parts(const tn_dist *d, int rank)
{
    int64_t first, last;
    if (!d || rank < 0 || rank >= d->nranks)
        return 0;
    if (!d->boxes)
        return 1;
    tni_boxes_of(d->boxes, rank, &first, &last);
    return last - first;
}

/* Find the box of a part; 0 for a mesh. */
static tn_status dist_part_of(const tn_dist *d, int rank, int64_t part, const char *call,
                              int64_t *box)
{
    if (rank < 0 || rank >= d->nranks)
        return tni_fail(TN_EARG, "%s: rank %d is out of range [0, %d)", call, rank, d->nranks);
    int64_t first = 0, last = 1;
    if (d->boxes)
        tni_boxes_of(d->boxes, rank, &first, &last);
    if (part < 0 || part >= last - first)
        return tni_fail(TN_EARG, "%s: part is %lld, rank %d has parts [0, %lld)", call,
                        (long long)part, rank, (long long)(last - first));
    *box = first + part;
    return TN_OK;
}

tn_status tn_dist_part(const tn_dist *d, int rank, int64_t part, int64_t *extents)
{
    int64_t box;
    if (!d || (!extents && d->ndim > 0))
        return tni_fail(TN_ENULL, "dist_part: %s is NULL", d ? "extents" : "d");
    TRY(dist_part_of(d, rank, part, "dist_part", &box));
    int64_t n[TN_MAX_NDIM];
    for (int i = 0; i < d->ndim; i++) {
        if (d->boxes) {
            n[i] = d->boxes->high[box * d->ndim + i] - d->boxes->low[box * d->ndim + i];
            continue;
        }
        tni_set set;
        TRY(tni_mesh_set(&set, d, tni_mesh_position(d, rank), i));
        n[i] = set.n;
        tni_set_free(&set);
    }
    if (d->ndim)
        memcpy(extents, n, (size_t)d->ndim * sizeof *n);
    return TN_OK;
}

tn_status tn_dist_where(const tn_dist *d, int rank, int64_t part, const int64_t *local,
                        int64_t *index)
{
    int64_t box, run, at[TN_MAX_NDIM], n[TN_MAX_NDIM];
    if (!d || (d->ndim > 0 && (!local || !index)))
        return tni_fail(TN_ENULL, "dist_where: %s is NULL",
                        !d       ? "d"
                        : !local ? "local"
                                 : "index");
    TRY(dist_part_of(d, rank, part, "dist_where", &box));
    TRY(tn_dist_part(d, rank, part, n));
    for (int i = 0; i < d->ndim; i++)
        if (local[i] < 0 || local[i] >= n[i])
            return tni_fail(TN_EARG, "dist_where: local[%d] is %lld, expected [0, %lld)", i,
                            (long long)local[i], (long long)n[i]);
    for (int i = 0; i < d->ndim; i++) {
        if (d->boxes) {
            at[i] = d->boxes->low[box * d->ndim + i] + local[i];
            continue;
        }
        tni_set set;
        TRY(tni_mesh_set(&set, d, tni_mesh_position(d, rank), i));
        at[i] = tni_set_where(&set, local[i], &run);
        tni_set_free(&set);
    }
    if (d->ndim)
        memcpy(index, at, (size_t)d->ndim * sizeof *at);
    return TN_OK;
}

/* ---- the owner of an index ---- */

static tn_status mesh_find(const tn_dist *d, const int64_t *index, int *rank, int64_t *local)
{
    int64_t position = 0;
    for (int axis = 0; axis < d->ndim; axis++) {
        tni_set set = tni_set_range(0, d->shape[axis]);
        for (int i = 0; i < d->mesh_ndim; i++) {
            if (d->placements[i].axis != axis)
                continue;
            tni_set outer = set;
            int64_t l = tni_set_below(&set, index[axis]);
            int c, count;
            tni_cut_owners(set.n, &d->placements[i], d->mesh[i], l, l + 1, &c, &count);
            tn_status status = tni_set_cut(&set, &outer, &d->placements[i], d->mesh[i], c);
            tni_set_free(&outer);
            TRY(status);
            position += c * d->step[i];
        }
        local[axis] = tni_set_below(&set, index[axis]);
        tni_set_free(&set);
    }
    *rank = tni_mesh_rank(d, position);
    for (int64_t k = 1; k < d->copies && d->ranks; k++) {
        int other = tni_mesh_rank(d, position + tni_mesh_copy_step(d, k));
        *rank = other < *rank ? other : *rank;
    }
    return TN_OK;
}

static tn_status boxes_find(const tn_dist *d, const int64_t *index, int *rank, int64_t *part,
                            int64_t *local)
{
    const tni_boxes *b = d->boxes;
    int64_t high[TN_MAX_NDIM], first, last, box;
    tni_list hits = {.width = sizeof(int64_t)};
    for (int i = 0; i < d->ndim; i++)
        high[i] = index[i] + 1;
    if (!tni_tree_query(&b->tree, index, high, 0, &hits)) {
        tni_list_free(&hits);
        return tni_list_full("dist_find");
    }
    box = *(const int64_t *)hits.at; /* boxes are sorted by owner and cover everything */
    tni_list_free(&hits);
    *rank = b->owner[box];
    tni_boxes_of(b, *rank, &first, &last);
    *part = box - first;
    for (int i = 0; i < d->ndim; i++)
        local[i] = index[i] - b->low[box * d->ndim + i];
    return TN_OK;
}

tn_status tn_dist_find(const tn_dist *d, const int64_t *index, int *rank, int64_t *part,
                       int64_t *local)
{
    int owner = 0;
    int64_t in = 0, at[TN_MAX_NDIM];
    if (!d || (d->ndim > 0 && (!index || !local)) || !rank || !part)
        return tni_fail(TN_ENULL, "dist_find: %s is NULL",
                        !d                      ? "d"
                        : d->ndim > 0 && !index ? "index"
                        : !rank                 ? "rank"
                        : !part                 ? "part"
                                                : "local");
    for (int i = 0; i < d->ndim; i++)
        if (index[i] < 0 || index[i] >= d->shape[i])
            return tni_fail(TN_EARG, "dist_find: index[%d] is %lld, expected [0, %lld)", i,
                            (long long)index[i], (long long)d->shape[i]);
    TRY(d->boxes ? boxes_find(d, index, &owner, &in, at) : mesh_find(d, index, &owner, at));
    *rank = owner;
    *part = in;
    if (d->ndim)
        memcpy(local, at, (size_t)d->ndim * sizeof *at);
    return TN_OK;
}

/* ---- description and hash ---- */

typedef struct text {
    char *buf;
    size_t size, used;
} text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
text_add(text *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(l->used < l->size ? l->buf + l->used : NULL,
                      l->used < l->size ? l->size - l->used : 0, fmt, args);
    va_end(args);
    l->used += n > 0 ? (size_t)n : 0;
}

static void print_mesh(const tn_dist *d, text *l)
{
    for (int i = 0; i < d->mesh_ndim; i++)
        text_add(l, "%s%d", i ? " x " : "", d->mesh[i]);
    text_add(l, "%s%s", d->mesh_ndim ? "" : "1", d->nranks == 1 ? " rank: " : " ranks: ");
    for (int i = 0; i < d->mesh_ndim; i++) {
        const tn_placement *p = &d->placements[i];
        text_add(l, i ? ", " : "");
        if (p->axis < 0) {
            text_add(l, "copies");
        } else if (p->cut != TN_CUT_CYCLIC) {
            text_add(l, "axis %d %s", p->axis, p->cut == TN_CUT_BLOCK ? "blocks" : "even");
        } else {
            text_add(l, "axis %d cyclic %lld", p->axis, (long long)p->block);
            if (p->first)
                text_add(l, " from %d", p->first);
        }
    }
    if (d->mesh_ndim == 0)
        text_add(l, "everything");
    if (d->ranks)
        text_add(l, ", ranks listed");
}

tn_status tn_dist_print(const tn_dist *d, char *buf, size_t size)
{
    if (!d || !buf)
        return tni_fail(TN_ENULL, "dist_print: %s is NULL", d ? "buf" : "d");
    if (size == 0)
        return tni_fail(TN_EARG, "dist_print: size is 0");
    text l = {buf, size, 0};
    text_add(&l, "(");
    for (int i = 0; i < d->ndim; i++)
        text_add(&l, i ? ", %lld" : "%lld", (long long)d->shape[i]);
    text_add(&l, d->ndim == 1 ? ",) over " : ") over ");
    if (!d->boxes)
        print_mesh(d, &l);
    else if (d->whole >= 0)
        text_add(&l, "%d rank%s: all on rank %d", d->nranks, d->nranks == 1 ? "" : "s",
                 d->whole);
    else
        text_add(&l, "%d rank%s: %lld boxes%s", d->nranks, d->nranks == 1 ? "" : "s",
                 (long long)d->boxes->n, d->boxes->copies ? " with copies" : "");
    return TN_OK;
}

static uint64_t mix(uint64_t hash, uint64_t x)
{
    hash ^= x + 0x9e3779b97f4a7c15u + (hash << 12) + (hash >> 4);
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 31;
}

uint64_t tn_dist_hash(const tn_dist *d)
{
    if (!d)
        return 0;
    uint64_t h = mix(mix(1, (uint64_t)d->ndim), (uint64_t)d->nranks);
    for (int i = 0; i < d->ndim; i++)
        h = mix(h, (uint64_t)d->shape[i]);
    if (d->boxes) {
        h = mix(h, (uint64_t)d->boxes->n);
        for (int64_t i = 0; i < d->boxes->n; i++)
            h = mix(h, (uint64_t)d->boxes->owner[i]);
        for (int64_t i = 0; i < d->boxes->n * d->ndim; i++)
            h = mix(mix(h, (uint64_t)d->boxes->low[i]), (uint64_t)d->boxes->high[i]);
        return h;
    }
    h = mix(h, UINT64_MAX);
    for (int i = 0; i < d->mesh_ndim; i++) {
        const tn_placement *p = &d->placements[i];
        h = mix(mix(h, (uint64_t)d->mesh[i]), (uint64_t)(int64_t)p->axis);
        if (p->axis >= 0)
            h = mix(mix(mix(h, p->cut), (uint64_t)p->block), (uint64_t)p->first);
    }
    for (int i = 0; i < d->nranks && d->ranks; i++)
        h = mix(h, (uint64_t)d->ranks[i]);
    return h;
}
