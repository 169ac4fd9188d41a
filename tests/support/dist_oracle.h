/* dist_oracle.h - distributions as plain lists: the indices of each axis that a part has.
 *
 * Indices are assigned to parts one by one, as the header describes. */
#ifndef DIST_ORACLE_H
#define DIST_ORACLE_H

#include <tenon/dist.h>

#include "layout.h"

enum { AXES = 4, MOST_RANKS = 64, MOST_BOXES = 400 };

typedef struct owned {
    int64_t n[AXES];
    int64_t *at[AXES]; /* global indices, ascending */
    int owner;
} owned;

typedef struct layout {
    tn_dist *d;
    int ndim, nranks;
    int64_t shape[AXES];
    int64_t nparts; /* sorted by owner, then in list order */
    owned *parts;
    int64_t first[MOST_RANKS + 1];
    bool mesh; /* copies are numbered along the mesh */
    int number[MOST_RANKS];
    int copies;
    char words[200];
} layout;

static inline void owned_free(owned *o, int ndim)
{
    for (int i = 0; i < ndim; i++)
        free(o->at[i]);
}

static inline void layout_free(layout *l)
{
    for (int64_t i = 0; i < l->nparts; i++)
        owned_free(&l->parts[i], l->ndim);
    free(l->parts);
    tn_dist_free(l->d);
}

/* Reduce a list to the share of coordinate c of p. */
static inline int64_t take_share(int64_t *list, int64_t n, const tn_placement *cut, int p,
                                 int c)
{
    int64_t kept = 0, each = (n + p - 1) / p;
    for (int64_t i = 0; i < n; i++) {
        int64_t owner = cut->cut == TN_CUT_CYCLIC  ? (i / cut->block + cut->first) % p
                        : cut->cut == TN_CUT_BLOCK ? i / each
                                                   : 0;
        if (cut->cut == TN_CUT_EVEN) {
            int64_t end = n / p + (n % p > 0);
            while (i >= end)
                end += n / p + (++owner < n % p);
        }
        if (owner == c)
            list[kept++] = list[i];
    }
    return kept;
}

static inline layout draw_mesh(rng *r, int ndim, const int64_t *shape, int most)
{
    layout l = {.ndim = ndim, .mesh = true, .copies = 1};
    int mesh[4], mesh_ndim = (int)pick(r, 0, 4), nranks = 1, ranks[MOST_RANKS];
    tn_placement cuts[4];
    for (int i = 0; i < mesh_ndim; i++) {
        mesh[i] = (int)pick(r, 1, next(r) % 3 ? 4 : 9);
        while (nranks * mesh[i] > most)
            mesh[i]--;
        nranks *= mesh[i];
        cuts[i] = (tn_placement){.axis = (int)pick(r, -1, ndim - 1)};
        if (cuts[i].axis < 0) {
            l.copies *= mesh[i];
            continue;
        }
        cuts[i].cut = (tn_cut)pick(r, 0, 2);
        if (cuts[i].cut == TN_CUT_CYCLIC) {
            cuts[i].block = pick(r, 1, next(r) % 2 ? 2 : 7);
            cuts[i].first = (int)pick(r, 0, mesh[i] - 1);
        }
    }
    for (int i = 0; i < nranks; i++)
        ranks[i] = i;
    const bool listed = next(r) % 3 == 0;
    for (int i = nranks - 1; i > 0 && listed; i--) {
        int k = (int)pick(r, 0, i), swap = ranks[i];
        ranks[i] = ranks[k];
        ranks[k] = swap;
    }
    l.nranks = nranks;
    memcpy(l.shape, shape, sizeof l.shape);
    OK(tn_dist_mesh(&l.d, ndim, shape, mesh_ndim, mesh, cuts, listed ? ranks : NULL));
    l.nparts = nranks;
    l.parts = calloc((size_t)nranks, sizeof *l.parts);
    for (int position = 0; position < nranks; position++) {
        owned *o = &l.parts[ranks[position]];
        o->owner = ranks[position];
        int coordinate[4], rest = position;
        for (int i = mesh_ndim - 1; i >= 0; i--) {
            coordinate[i] = rest % mesh[i];
            rest /= mesh[i];
        }
        for (int i = 0; i < mesh_ndim; i++)
            if (cuts[i].axis < 0)
                l.number[o->owner] = l.number[o->owner] * mesh[i] + coordinate[i];
        for (int a = 0; a < ndim; a++) {
            o->at[a] = malloc((size_t)(shape[a] + 1) * sizeof(int64_t));
            o->n[a] = shape[a];
            for (int64_t i = 0; i < shape[a]; i++)
                o->at[a][i] = i;
            for (int i = 0; i < mesh_ndim; i++)
                if (cuts[i].axis == a)
                    o->n[a] = take_share(o->at[a], o->n[a], &cuts[i], mesh[i], coordinate[i]);
        }
    }
    for (int i = 0; i <= nranks; i++)
        l.first[i] = i;
    OK(tn_dist_print(l.d, l.words, sizeof l.words));
    return l;
}

/* Split boxes at random until there are `want` of them. */
static inline int64_t draw_cuts(rng *r, int ndim, const int64_t *shape, int64_t want,
                                int64_t *starts, int64_t *extents)
{
    int64_t n = 1;
    memset(starts, 0, (size_t)ndim * sizeof *starts);
    memcpy(extents, shape, (size_t)ndim * sizeof *extents);
    for (int round = 0; round < 4 * want && n < want && ndim; round++) {
        int64_t box = pick(r, 0, n - 1);
        int axis = (int)pick(r, 0, ndim - 1);
        int64_t *e = extents + box * ndim, *s = starts + box * ndim;
        if (e[axis] < 2 && next(r) % 16)
            continue;
        int64_t at = pick(r, 0, e[axis]);
        memcpy(starts + n * ndim, s, (size_t)ndim * sizeof *s);
        memcpy(extents + n * ndim, e, (size_t)ndim * sizeof *e);
        starts[n * ndim + axis] += at;
        extents[n * ndim + axis] -= at;
        e[axis] = at;
        n++;
    }
    return n;
}

static inline layout draw_boxes(rng *r, int ndim, const int64_t *shape, int most, bool copies)
{
    layout l = {.ndim = ndim, .nranks = (int)pick(r, 1, most)};
    static int owners[MOST_BOXES];
    static int64_t starts[MOST_BOXES * AXES], extents[MOST_BOXES * AXES];
    int64_t n = draw_cuts(r, ndim, shape, pick(r, 1, 60), starts, extents);
    for (int64_t i = 0; i < n; i++)
        owners[i] = (int)pick(r, 0, l.nranks - 1);
    if (copies && l.nranks > 1) { /* a second cover, by ranks that have no part of the first */
        int low = (int)pick(r, 1, l.nranks - 1);
        for (int64_t i = 0; i < n; i++)
            owners[i] %= low;
        int64_t more =
            draw_cuts(r, ndim, shape, pick(r, 1, 60), starts + n * ndim, extents + n * ndim);
        if (next(r) % 2)
            more = (more + 1) / 2;
        for (int64_t i = n; i < n + more; i++)
            owners[i] = (int)pick(r, low, l.nranks - 1);
        n += more;
    }
    memcpy(l.shape, shape, sizeof l.shape);
    OK(tn_dist_boxes(&l.d, ndim, shape, l.nranks, n, owners, starts, extents));
    l.nparts = n;
    l.parts = calloc((size_t)n, sizeof *l.parts);
    int64_t to = 0;
    for (int rank = 0; rank < l.nranks; rank++) {
        l.first[rank] = to;
        for (int64_t i = 0; i < n; i++) {
            if (owners[i] != rank)
                continue;
            owned *o = &l.parts[to++];
            o->owner = rank;
            for (int a = 0; a < ndim; a++) {
                o->n[a] = extents[i * ndim + a];
                o->at[a] = malloc((size_t)(o->n[a] + 1) * sizeof(int64_t));
                for (int64_t k = 0; k < o->n[a]; k++)
                    o->at[a][k] = starts[i * ndim + a] + k;
            }
        }
    }
    l.first[l.nranks] = to;
    OK(tn_dist_print(l.d, l.words, sizeof l.words));
    return l;
}

static inline layout draw_layout(rng *r, int ndim, const int64_t *shape, int most)
{
    switch (next(r) % 5) {
    case 0:
        return draw_boxes(r, ndim, shape, most, false);
    case 1:
        return draw_boxes(r, ndim, shape, most, true);
    default:
        return draw_mesh(r, ndim, shape, most);
    }
}

/* Find the local index of a global index in a part; false: not in it. */
static inline bool owned_find(const owned *o, int ndim, const int64_t *index, int64_t *local)
{
    for (int a = 0; a < ndim; a++) {
        local[a] = 0;
        while (local[a] < o->n[a] && o->at[a][local[a]] != index[a])
            local[a]++;
        if (local[a] == o->n[a])
            return false;
    }
    return true;
}

/* The rank from which rank q receives an element: itself, or copy q mod R. */
static inline int taken_from(const layout *l, const int64_t *index, int q)
{
    int owners[MOST_RANKS], n = 0;
    int64_t local[AXES];
    for (int64_t i = 0; i < l->nparts; i++)
        if (owned_find(&l->parts[i], l->ndim, index, local)) {
            if (l->parts[i].owner == q)
                return q;
            owners[n++] = l->parts[i].owner;
        }
    for (int i = 0; i < n && l->mesh; i++)
        if (l->number[owners[i]] == q % l->copies)
            return owners[i];
    return owners[q % n];
}

#endif
