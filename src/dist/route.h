/* route.h - a route inside: tables of what one rank shares with the others.
 *
 * A group joins one part of this rank with one part (or the mesh) of the other distribution;
 * for each axis it has hits, one for each coordinate that shares something, and a hit has runs.
 * A product takes one hit of each axis: its index among them is its combination, the last axis
 * fastest.  A message is the products of one peer in rising order. */
#ifndef TNI_ROUTE_H
#define TNI_ROUTE_H

#include "dist.h"

typedef struct tni_hit {
    int32_t position; /* what its coordinates add to the position in the mesh */
    uint32_t run0;    /* its runs end where those of the next hit begin */
} tni_hit;

typedef struct tni_group {
    int64_t dst_part, src_part; /* local numbers; 0 for a mesh */
    int64_t box, cell;          /* dst box and src cell; 0 for a mesh */
    int64_t holder;             /* the src box that cell is taken from */
} tni_group;

typedef struct tni_product {
    int32_t rank, group;
    int64_t combination;
} tni_product;

/* One direction.  hit0 has ndim + 1 rows (int32_t) for each group. */
typedef struct tni_side {
    tni_list runs, agains, hits, groups, hit0, products;
    tni_list message0; /* first product (int64_t) of each message; empty: one product each */
    int64_t messages, elements;
} tni_side;

enum { TNI_MARK_NONE, TNI_MARK_MIDDLE, TNI_MARK_FILL };

struct tn_route {
    int rank, ndim;
    int axes[TN_MAX_NDIM]; /* dst axis i is src axis axes[i] */
    tn_dtype dst_dtype, src_dtype, wire;
    tni_side side[2]; /* received, sent */
    tni_list keep;    /* products of side 0 that need no message */
    tni_list fill;    /* products of side 0 that are `value` */
    bool halo;        /* dst parts enclose src parts */
    char value[16];
    int64_t parts[2];    /* number of parts of this rank: dst, src */
    int64_t *extents[2]; /* ndim extents of each part */
    int64_t keep_elements, pieces;
    char words[2][120]; /* dst, src */
};

/* While a route is made. */
typedef struct tni_generator {
    tn_route *r;
    const tn_dist *dst, *src;
    bool sending;
    const tn_dist *own, *other;
    tni_side *side;
    tni_set sets[TN_MAX_NDIM]; /* indices of this rank's part, by dst axis */
    int64_t copy;              /* -1: a rank's own copy first */
    const uint8_t *marks;      /* TNI_MARK_ of each hit, NULL: none */
    int64_t own_zero;          /* copy 0 of this rank's own position in src, -1: none */
    int64_t take_step;         /* from copy 0 to the copy that this rank takes */
} tni_generator;

/* Append the hits of one axis of the group that is being made: own against every coordinate of
 * the other mesh (route_hits.c). */
tn_status tni_hits_mesh(tni_generator *m, int dst_axis, const tni_set *own);
tn_status tni_hits_one(tni_generator *m, const tni_set *own, const tni_set *other);
tn_status tni_hit_close(tni_generator *m, int64_t run0, int64_t position);

/* Append a group's products (route_emit.c). */
tn_status tni_emit(tni_generator *m, int64_t group);

/* Sort and count what was made; copy as in the maker. */
tn_status tni_route_finish(tn_route *r, const tn_dist *src, int64_t copy);

/* A route without tables; words and extents are filled in. */
tn_status tni_route_begin(tn_route **out, int rank, const tn_dist *dst, tn_dtype dst_dtype,
                          const tn_dist *src, tn_dtype src_dtype, const char *call);

/* Hit of axis i in a product, and its runs. */
typedef struct tni_hit_runs {
    const tni_run *at;
    int64_t n;
} tni_hit_runs;
void tni_product_runs(const tni_side *s, int ndim, const tni_product *p, tni_hit_runs *runs);

int64_t tni_runs_length(const tni_side *s, tni_hit_runs runs);
int64_t tni_product_elements(const tni_side *s, int ndim, const tni_product *p);

/* Products [*first, *last) of message i. */
void tni_message(const tni_side *s, int64_t i, int64_t *first, int64_t *last);

/* Which parts a job uses; NULL for the message. */
typedef struct tni_job {
    const tn_route *r;
    const tni_side *side;
    const tn_tensor *part[2]; /* dst, src: the parts of this product, or NULL */
    tn_dtype dtype[2];        /* dst, src */
    char *message;            /* where element `first` is */
    int64_t first, count;     /* elements still to skip, and to copy */
    bool fill;
} tni_job;

/* Move what the job asks for of one product (route_piece.c). */
tn_status tni_product_copy(tni_job *j, const tni_product *product);

#endif
