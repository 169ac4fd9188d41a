/* copy_shape.h - what ways know about a copy, and the functions that shape their tiles and
 * order their loops. */
#ifndef TNI_COPY_SHAPE_H
#define TNI_COPY_SHAPE_H

#include "plan/plan.h"

/* A copy as ways see it: its nest without the unit, and the two axes of its tile. */
struct tni_copy_case {
    const tni_nest *nest;
    tni_copy_kind kind;
    int a, b;          /* dst's and the source's fastest axis; b may be -1 */
    bool beyond;       /* dst is larger than the cache */
    int64_t dense;     /* bytes of dst that are dense from the unit outwards */
    int64_t address;   /* of dst's first byte, modulo 64 */
    tni_tuning tuning; /* set if beyond */
};

enum {
    /* A copy of at most this many bytes is one tile whatever its shape: planning a better tile
     * costs more than the tile saves. */
    TNI_SMALL_COPY = 8192,
    /* Addresses a multiple of this many bytes apart share a set of L1.  It is the size of L1
     * over its associativity on every x86-64 CPU and most others. */
    TNI_L1_ALIAS = 4096,
};

/* A loop around the tile while loops are being ordered: it walks an axis of the nest, or the
 * blocks (or spans) of a tile axis. */
typedef struct tni_copy_loop {
    int64_t n, d, s;
    int tile;  /* the tile axis; -1: none */
    bool wide; /* walks spans, not blocks */
    int64_t key;
} tni_copy_loop;

/* The key by which loops are sorted: the smaller, the further inside. */
typedef int64_t tni_loop_key(const tni_copy *c, const tni_copy_loop *loop);

static inline tni_tile_axis tni_whole_axis(const tni_axis *a)
{
    return (tni_tile_axis){a->n, a->n, a->step[0], a->step[1], a->step[0], a->n, -1, -1};
}

static inline tni_tile_axis tni_unit_axis(void)
{
    return (tni_tile_axis){1, 1, 0, 0, 0, 1, -1, -1};
}

/* Start a tile of the whole axes a and b; returns the nest's axes in it as a mask. */
uint64_t tni_tile_begin(tni_copy *c, const tni_copy_case *of);

/* The size of equal blocks of n near want, a multiple of grain if there is more than one. */
int64_t tni_even_block(int64_t n, int64_t want, int64_t grain);

/* The axis that continues b in src; -1 if there is none, or if b has `enough` bytes. */
int tni_source_next(const tni_copy *c, const tni_copy_case *of, int64_t enough);

/* How many rows, step bytes apart, can keep a line each in L1, or in L2, while half of the
 * cache is left to others; the search stops at `most`. */
int64_t tni_rows_held(int64_t step, int64_t most);
int64_t tni_rows_held_l2(int64_t step, int64_t most);

/* Order the loops around the tile; `used` is the mask of the nest's axes in the tile. */
void tni_copy_order(tni_copy *c, const tni_copy_case *of, uint64_t used, tni_loop_key *key);

/* The same for copies in a cache, where threads that write to the same lines delay each other:
 * if dividing the outermost loop would share many lines of dst, another axis is divided. */
void tni_copy_order_split(tni_copy *c, const tni_copy_case *of, uint64_t used,
                          tni_loop_key *key);

/* Whether rows of dst can be streamed as aligned lines (way_lines.c): they all begin at a line,
 * or they are long and all begin equally far into one. */
bool tni_lines_fit(const tni_copy *c, const tni_copy_case *of);

/* The key of streamed tiles: the step in src. */
int64_t tni_key_by_source(const tni_copy *c, const tni_copy_loop *loop);

/* ---- tiles through a buffer, and ways that fall back to them (way_staged.c) ---- */

/* Whether dst has runs that are worth a buffer. */
bool tni_stage_fits(const tni_copy *c, const tni_copy_case *of);

/* As tni_source_next, but -1 if dst's run needs the axis. */
int tni_stage_next(const tni_copy *c, const tni_copy_case *of, int64_t enough);

/* Shape a tile with about `lines` bytes of each source row and runs of about `goal` bytes; axis
 * next, unless -1, is part of it.  Returns the nest's axes in it as a mask. */
uint64_t tni_stage_shape(tni_copy *c, const tni_copy_case *of, int next, int64_t lines,
                         int64_t goal);
void tni_stage_pieces(tni_copy *c);
int64_t tni_key_staged(const tni_copy *c, const tni_copy_loop *loop);

/* The key of tiles in a cache: the smaller step, where dst's counts more. */
int64_t tni_key_in_cache(const tni_copy *c, const tni_copy_loop *loop);

#endif
