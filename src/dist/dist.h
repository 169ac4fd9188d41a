/* dist.h - who has which elements, and who sends what to whom?
 *
 * A part of a rank is a product of index sets, one for each axis.  Whatever two parts share is
 * then a product of runs, and a message is a list of such products. */
#ifndef TNI_DIST_H
#define TNI_DIST_H

#include <tenon/dist.h>

#include "core/core.h"
#include "view/view.h"

/* The most pieces of one axis, and the most steps for a cover of overlapping boxes. */
enum { TNI_MOST_PIECES = 10000000 };

/* ---- growing lists (lists.c) ---- */

typedef struct tni_list {
    void *at;
    int64_t n, size; /* rows used, rows there are */
    int64_t width;   /* bytes of a row */
} tni_list;

bool tni_list_reserve(tni_list *l, int64_t more); /* false: no memory */
void *tni_list_add(tni_list *l);                  /* one more row; NULL: no memory */
void tni_list_trim(tni_list *l); /* give back what is not used, if it is much */
void tni_list_free(tni_list *l);
tn_status tni_list_full(const char *call); /* TN_ENOMEM */

/* ---- index sets of one axis (index_set.c, cut.c) ---- */

typedef struct tni_span {
    int64_t at, local, n; /* indices at .. at + n are local .. local + n */
} tni_span;

/* n indices in rising order.  Without spans, local l is v = l + skip of blocks that begin
 * `period` apart: at + v / block * period + v % block.  One interval has block = period = n.
 * base is where local 0 lies in the part's own index space. */
typedef struct tni_set {
    int64_t n, at, block, period, skip, base;
    tni_span *spans; /* own memory, NULL for most */
    int64_t nspans;
} tni_set;

static inline bool tni_set_is_range(const tni_set *s)
{
    return !s->spans && s->skip == 0 && s->block == s->n;
}

tni_set tni_set_range(int64_t at, int64_t n);
void tni_set_free(tni_set *s);

/* Global index of local l < n, and how many follow it in a row, itself included. */
int64_t tni_set_where(const tni_set *s, int64_t l, int64_t *run);

/* How many members are below index. */
int64_t tni_set_below(const tni_set *s, int64_t index);

int64_t tni_set_spans(const tni_set *s); /* number of intervals */
int64_t tni_set_low(const tni_set *s);   /* the first member, and one past the last; n > 0 */
int64_t tni_set_high(const tni_set *s);

/* What coordinate c of p gets of s by cut; out is freed by the caller. */
tn_status tni_set_cut(tni_set *out, const tni_set *s, const tn_placement *cut, int p, int c);

/* Coordinates whose cut may have local positions [low, high) of n: those of count that begin
 * at *first, modulo p. */
void tni_cut_owners(int64_t n, const tn_placement *cut, int p, int64_t low, int64_t high,
                    int *first, int *count);

/* ---- what two sets share (intersect.c) ---- */

typedef struct tni_run {
    int64_t dst, src, n; /* local positions of the first, and the length */
    int64_t again;       /* row of `agains`; -1: once, both sides forward */
} tni_run;

/* Positions dst + i * dst_step + j * dst_inner for i < count, j < n; src likewise. */
typedef struct tni_again {
    int64_t count, dst_step, src_step;
    int64_t dst_inner, src_inner;
} tni_again;

/* Append the runs of both sets; a function of the two sets alone, so that the sender and the
 * receiver find the same ones in the same order. */
tn_status tni_intersect(tni_list *runs, tni_list *agains, const tni_set *dst,
                        const tni_set *src);

bool tni_run_add(tni_list *runs, tni_list *agains, const tni_run *run, const tni_again *again);

/* ---- distributions (mesh.c, boxes.c, cover.c, tree.c) ---- */

/* Boxes that are found by index: a balanced tree of bounds over a list of boxes. */
typedef struct tni_tree {
    int ndim;
    int64_t n;
    const int64_t *low, *high; /* bounds of box i are at i * ndim; borrowed */
    int64_t *order;            /* boxes by leaf */
    int64_t *bounds;           /* low and high of node k are at k * 2 * ndim; the root is 1 */
} tni_tree;

bool tni_tree_build(tni_tree *t, int ndim, int64_t n, const int64_t *low, const int64_t *high,
                    const int64_t *ids); /* ids NULL: all n */
void tni_tree_free(tni_tree *t);

/* Append the ids (int64_t) that intersect [low, high), rising; at most `most` of them unless that
 * is 0. */
bool tni_tree_query(const tni_tree *t, const int64_t *low, const int64_t *high, int64_t most,
                    tni_list *ids);

typedef struct tni_boxes {
    int64_t n;  /* sorted by owner, then in the order of the list */
    int *owner; /* rank that holds each */
    int64_t *low, *high;
    tni_tree tree;
    bool copies;  /* some overlap: cells are not the boxes */
    int64_t most; /* owners of any element */

    /* Cells cover the tensor, do not overlap, and each has the same owners throughout: boxes
     * holders[holder0[c]] .. holders[holder0[c + 1]], rising.  Without copies cell c is box c
     * and these lists are empty. */
    tni_list cell_low, cell_high, holders, holder0;
    int64_t *box_cell0, *box_cells; /* the cells of box b, rising */
    tni_tree cell_tree;
} tni_boxes;

struct tn_dist {
    int ndim, nranks;
    int64_t shape[TN_MAX_NDIM];
    tni_boxes *boxes; /* NULL: a mesh */
    int whole;        /* the rank that has everything, -1 */

    int mesh_ndim;
    int mesh[TN_MAX_NDIM];
    int64_t step[TN_MAX_NDIM]; /* positions that a coordinate's step passes over */
    tn_placement placements[TN_MAX_NDIM];
    int64_t copies;
    int *ranks, *positions; /* rank at a position and the inverse; NULL: equal */
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

/* The indices of axis that a position of the mesh has. */
tn_status tni_mesh_set(tni_set *out, const tn_dist *d, int64_t position, int axis);

/* The copies of a position count from 0 in row-major order of the axes that copy: its own
 * number, the position of copy 0, and from there the way to copy k. */
void tni_mesh_copy(const tn_dist *d, int64_t position, int64_t *number, int64_t *zero);
int64_t tni_mesh_copy_step(const tn_dist *d, int64_t number);

/* Boxes [*first, *last) of a rank. */
void tni_boxes_of(const tni_boxes *b, int rank, int64_t *first, int64_t *last);

/* Bounds of a cell, and the boxes that have it. */
typedef struct tni_cell {
    const int64_t *low, *high;
    const int64_t *holders; /* may be &one */
    int64_t n, one;
} tni_cell;
void tni_cell_at(const tni_boxes *b, int ndim, int64_t cell, tni_cell *out);

/* Decide that boxes cover the shape, and find the cells where they overlap (cover.c). */
tn_status tni_boxes_cover(tni_boxes *b, int ndim, const int64_t *shape);

void tni_boxes_free(tni_boxes *b);

#endif
