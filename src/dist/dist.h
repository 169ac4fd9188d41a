/* dist.h - who has which elements, and who sends what to whom?
 *
 * A part of a rank is a product of index sets, one per axis.  The intersection of two parts is
 * then a product of runs, and a message is a list of such products. */
#ifndef TNI_DIST_H
#define TNI_DIST_H

#include <tenon/dist.h>

#include "core/core.h"
#include "view/view.h"

/* The largest number of pieces of one axis, and of steps to find the cells of overlapping
 * boxes. */
enum { TNI_MOST_PIECES = 10000000 };

/* ---- growing lists (lists.c) ---- */

typedef struct tni_list {
    void *at;
    int64_t n, size; /* rows used, and rows allocated */
    int64_t width;   /* bytes of a row */
} tni_list;

bool tni_list_reserve(tni_list *l, int64_t more); /* false: out of memory */
void *tni_list_add(tni_list *l);                  /* appends a row; NULL: out of memory */
/* Release unused rows if they are many. */
void tni_list_trim(tni_list *l);
void tni_list_free(tni_list *l);
tn_status tni_list_full(const char *call); /* TN_ENOMEM */

/* ---- index sets of one axis (index_set.c) ---- */

typedef struct tni_span {
    int64_t at, local, n; /* indices [at, at + n) are local [local, local + n) */
} tni_span;

/* n indices in ascending order.  Without spans they form blocks that begin `period` apart: with
 * v = l + skip, local index l is at + v / block * period + v % block.  A single interval has
 * block = period = n.  base is the position of local 0 in the part's own index space. */
typedef struct tni_set {
    int64_t n, at, block, period, skip, base;
    tni_span *spans; /* owned; NULL for most sets */
    int64_t nspans;
} tni_set;

static inline bool tni_set_is_range(const tni_set *s)
{
    return !s->spans && s->skip == 0 && s->block == s->n;
}

tni_set tni_set_range(int64_t at, int64_t n);
void tni_set_free(tni_set *s);

/* The global index of local l < n; *run is the number of consecutive indices from there on. */
int64_t tni_set_where(const tni_set *s, int64_t l, int64_t *run);

/* The number of members less than index. */
int64_t tni_set_below(const tni_set *s, int64_t index);

int64_t tni_set_spans(const tni_set *s); /* the number of intervals */
int64_t tni_set_low(const tni_set *s);   /* first member, and one past the last; n > 0 */
int64_t tni_set_high(const tni_set *s);

/* The subset of s that cut gives to coordinate c of p; the caller frees out. */
tn_status tni_set_cut(tni_set *out, const tni_set *s, const tn_placement *cut, int p, int c);

/* The coordinates whose cut may have local positions [low, high) of n: `count` of them from
 * *first on, modulo p. */
void tni_cut_owners(int64_t n, const tn_placement *cut, int p, int64_t low, int64_t high,
                    int *first, int *count);

/* ---- intersections of two sets (intersect.c) ---- */

typedef struct tni_run {
    int64_t dst, src, n; /* local positions of the first element; the length */
    int64_t again;       /* row of `agains`; -1: not repeated, both sides ascending */
} tni_run;

/* A repeated run: positions dst + i * dst_step + j * dst_inner for i < count, j < n; src
 * likewise. */
typedef struct tni_again {
    int64_t count, dst_step, src_step;
    int64_t dst_inner, src_inner;
} tni_again;

/* Append the runs of the intersection.  They depend on the two sets alone, so that sender and
 * receiver find the same runs in the same order. */
tn_status tni_intersect(tni_list *runs, tni_list *agains, const tni_set *dst,
                        const tni_set *src);

bool tni_run_add(tni_list *runs, tni_list *agains, const tni_run *run, const tni_again *again);

/* ---- distributions (mesh.c, boxes.c, cover.c, tree.c) ---- */

/* A spatial index of boxes: a balanced tree of bounds over a list of boxes. */
typedef struct tni_tree {
    int ndim;
    int64_t n;
    const int64_t *low, *high; /* bounds of box i are at i * ndim; borrowed */
    int64_t *order;            /* boxes by leaf */
    int64_t *bounds;           /* low and high of node k are at k * 2 * ndim; the root is 1 */
} tni_tree;

bool tni_tree_build(tni_tree *t, int ndim, int64_t n, const int64_t *low, const int64_t *high,
                    const int64_t *ids); /* ids NULL: all n boxes */
void tni_tree_free(tni_tree *t);

/* Append the ids (int64_t) of the boxes that intersect [low, high), in ascending order; at most
 * `most` of them unless most is 0. */
bool tni_tree_query(const tni_tree *t, const int64_t *low, const int64_t *high, int64_t most,
                    tni_list *ids);

typedef struct tni_boxes {
    int64_t n;  /* sorted by owner, then by position in the list */
    int *owner; /* the rank that holds each box */
    int64_t *low, *high;
    tni_tree tree;
    bool copies;  /* boxes overlap: cells differ from boxes */
    int64_t most; /* largest number of owners of an element */

    /* Cells are disjoint, cover the tensor, and have the same owners throughout.  The owners of
     * cell c are the boxes holders[holder0[c]] to holders[holder0[c + 1] - 1], ascending.
     * Without copies cell c is box c and these lists are empty. */
    tni_list cell_low, cell_high, holders, holder0;
    int64_t *box_cell0, *box_cells; /* cells of box b, ascending */
    tni_tree cell_tree;
} tni_boxes;

struct tn_dist {
    int ndim, nranks;
    int64_t shape[TN_MAX_NDIM];
    tni_boxes *boxes; /* NULL for a mesh */
    int whole;        /* the rank that has everything, or -1 */

    int mesh_ndim;
    int mesh[TN_MAX_NDIM];
    int64_t step[TN_MAX_NDIM]; /* distance in positions between neighbours along a mesh axis */
    tn_placement placements[TN_MAX_NDIM];
    int64_t copies;
    int *ranks, *positions; /* rank at a position, and the inverse; NULL: identity */
};

static inline int tni_mesh_rank(const tn_dist *d, int64_t position)
{
    return d->ranks ? d->ranks[position] : (int)position;
}

static inline int64_t tni_mesh_position(const tn_dist *d, int rank)
{
    return d->positions ? d->positions[rank] : rank;
}

static inline int tni_mesh_coordinate(const tn_dist *d, int64_t position, int i)
{
    return (int)(position / d->step[i] % d->mesh[i]);
}

/* The indices of an axis that a position of the mesh has. */
tn_status tni_mesh_set(tni_set *out, const tn_dist *d, int64_t position, int axis);

/* The copies of a position are numbered from 0 in row-major order of the mesh axes that
 * replicate.  tni_mesh_copy gives the copy number of a position and the position of copy 0;
 * tni_mesh_copy_step gives the distance from copy 0 to a copy. */
void tni_mesh_copy(const tn_dist *d, int64_t position, int64_t *number, int64_t *zero);
int64_t tni_mesh_copy_step(const tn_dist *d, int64_t number);

/* Boxes [*first, *last) of a rank. */
void tni_boxes_of(const tni_boxes *b, int rank, int64_t *first, int64_t *last);

/* The bounds of a cell, and the boxes that contain it. */
typedef struct tni_cell {
    const int64_t *low, *high;
    const int64_t *holders; /* may be &one */
    int64_t n, one;
} tni_cell;
void tni_cell_at(const tni_boxes *b, int ndim, int64_t cell, tni_cell *out);

/* Check that the boxes cover the shape, and find the cells where they overlap (cover.c). */
tn_status tni_boxes_cover(tni_boxes *b, int ndim, const int64_t *shape);

void tni_boxes_free(tni_boxes *b);

#endif
