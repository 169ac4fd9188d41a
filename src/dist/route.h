/* route.h - the internals of a route: tables of what one rank shares with the others.
 *
 * A group joins one part of this rank with one part (or the mesh) of the other distribution.
 * For each axis it has hits, one for each coordinate of the other side that intersects, and a
 * hit has runs.  A product takes one hit per axis; its combination is its index among all
 * choices, last axis fastest.  A message consists of the products of one peer in ascending
 * order. */
#ifndef TNI_ROUTE_H
#define TNI_ROUTE_H

#include "dist.h"

typedef struct tni_hit {
    int32_t position; /* contribution of its coordinates to the position in the mesh */
    uint32_t run0;    /* first run; they end where those of the next hit begin */
} tni_hit;

typedef struct tni_group {
    int64_t dst_part, src_part; /* numbers of the parts within their ranks; 0 for a mesh */
    int64_t box, cell;          /* dst box and src cell; 0 for a mesh */
    int64_t holder;             /* the src box that provides the cell */
} tni_group;

typedef struct tni_product {
    int32_t rank, group;
    int64_t combination;
} tni_product;

/* One direction.  hit0 has ndim + 1 rows (int32_t) per group. */
typedef struct tni_side {
    tni_list runs, agains, hits, groups, hit0, products;
    /* The first product (int64_t) of each message; if empty, each message has one product. */
    tni_list message0;
    int64_t messages, elements;
} tni_side;

enum { TNI_MARK_NONE, TNI_MARK_MIDDLE, TNI_MARK_FILL };

struct tn_route {
    int rank, ndim;
    int axes[TN_MAX_NDIM]; /* dst axis i is src axis axes[i] */
    tn_dtype dst_dtype, src_dtype, wire;
    tni_side side[2]; /* receiving, sending */
    tni_list keep;    /* products of side 0 that this rank already holds */
    tni_list fill;    /* products of side 0 that are filled with `value` */
    bool halo;        /* dst parts enclose src parts */
    char value[16];
    int64_t parts[2];    /* number of parts of this rank: dst, src */
    int64_t *extents[2]; /* ndim extents of each part */
    int64_t keep_elements, pieces;
    char words[2][120]; /* dst, src */
};

/* State while a route is built. */
typedef struct tni_generator {
    tn_route *r;
    const tn_dist *dst, *src;
    bool sending;
    const tn_dist *own, *other;
    tni_side *side;
    tni_set sets[TN_MAX_NDIM]; /* indices of this rank's part, by dst axis */
    int64_t copy;              /* the copy that sends; -1: a rank's own copy is preferred */
    const uint8_t *marks;      /* TNI_MARK_ of each hit, or NULL */
    int64_t own_zero;          /* copy 0 of this rank's own position in src, or -1 */
    int64_t take_step;         /* distance from copy 0 to the copy that this rank receives */
} tni_generator;

/* Append the hits of one axis to the group being built: own against every coordinate of the
 * other mesh (route_hits.c). */
tn_status tni_hits_mesh(tni_generator *m, int dst_axis, const tni_set *own);
tn_status tni_hits_one(tni_generator *m, const tni_set *own, const tni_set *other);
tn_status tni_hit_close(tni_generator *m, int64_t run0, int64_t position);

/* Append a group's products (route_emit.c). */
tn_status tni_emit(tni_generator *m, int64_t group);

/* Sort and count the products; copy is as in tni_generator. */
tn_status tni_route_finish(tn_route *r, const tn_dist *src, int64_t copy);

/* Allocate a route with empty tables; descriptions and extents are filled in. */
tn_status tni_route_begin(tn_route **out, int rank, const tn_dist *dst, tn_dtype dst_dtype,
                          const tn_dist *src, tn_dtype src_dtype, const char *call);

/* The runs of one hit of a product. */
typedef struct tni_hit_runs {
    const tni_run *at;
    int64_t n;
} tni_hit_runs;
void tni_product_runs(const tni_side *s, int ndim, const tni_product *p, tni_hit_runs *runs);

int64_t tni_runs_length(const tni_side *s, tni_hit_runs runs);
int64_t tni_product_elements(const tni_side *s, int ndim, const tni_product *p);

/* Products [*first, *last) of message i. */
void tni_message(const tni_side *s, int64_t i, int64_t *first, int64_t *last);
/* The same for a number that a caller gives. */
tn_status tni_message_given(const tni_side *s, int64_t i, const char *call, int64_t *first,
                            int64_t *last);

/* A copy job; a part is NULL where the message takes its place. */
typedef struct tni_job {
    const tn_route *r;
    const tni_side *side;
    const tn_tensor *part[2]; /* dst, src: parts of this product, or NULL */
    tn_dtype dtype[2];        /* dst, src */
    char *message;            /* address of element `first` */
    int64_t first, count;     /* elements left to skip, and to copy */
    bool fill;
} tni_job;

/* Copy the elements of one product that the job covers (route_piece.c). */
tn_status tni_product_copy(tni_job *j, const tni_product *product);

#endif
