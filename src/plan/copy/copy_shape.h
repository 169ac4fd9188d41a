/* copy_shape.h - what ways ask of a copy, and what their tiles and loops are made with. */
#ifndef TNI_COPY_SHAPE_H
#define TNI_COPY_SHAPE_H

#include "plan/plan.h"

/* A copy as ways look at it: its nest without the unit, and the two axes of its tile. */
struct tni_copy_case {
    const tni_nest *nest;
    tni_copy_kind kind;
    int a, b;          /* dst's and the source's fastest axis; b may be -1 */
    bool beyond;       /* dst is larger than the cache */
    int64_t dense;     /* bytes of dst that lie dense from the unit outwards */
    int64_t address;   /* of dst's first byte, modulo 64 */
    tni_tuning tuning; /* beyond the cache */
};

enum {
    TNI_SMALL_COPY = 8192, /* bytes of a copy that is one tile whatever its shape: planning it
                            * costs more than a better tile brings */
    TNI_L1_ALIAS = 4096, /* bytes: addresses a multiple of it apart share a set of L1; its size
                            * over its associativity, on every x86-64 and most others */
};

/* A loop around the tile, while loops are put in order: it walks an axis of the nest, or the
 * blocks (or spans) of a tile axis. */
typedef struct tni_copy_loop {
    int64_t n, d, s;
    int tile;  /* -1: none */
    bool wide; /* spans */
    int64_t key;
} tni_copy_loop;

/* How far inside a loop belongs: smaller is further inside. */
typedef int64_t tni_loop_key(const tni_copy *c, const tni_copy_loop *loop);

static inline tni_tile_axis tni_whole_axis(const tni_axis *a)
{
    return (tni_tile_axis){a->n, a->n, a->step[0], a->step[1], a->step[0], a->n, -1, -1};
}

static inline tni_tile_axis tni_unit_axis(void)
{
    return (tni_tile_axis){1, 1, 0, 0, 0, 1, -1, -1};
}

/* Begin a tile of whole axes a and b; the axes of the nest in it, as bits. */
uint64_t tni_tile_begin(tni_copy *c, const tni_copy_case *of);

/* Cut n into equal blocks near want, in multiples of grain where that leaves more than one. */
int64_t tni_even_block(int64_t n, int64_t want, int64_t grain);

/* The axis that goes on in src where b ends; -1: there is none, or b has `enough` bytes. */
int tni_source_next(const tni_copy *c, const tni_copy_case *of, int64_t enough);

/* How many rows, step bytes apart, have a line each in L1, or in L2, and leave half of it to
 * others; the search ends at `most`. */
int64_t tni_rows_held(int64_t step, int64_t most);
int64_t tni_rows_held_l2(int64_t step, int64_t most);

/* Put the loops around the tile in order: `used` are the nest's axes that are in it. */
void tni_copy_order(tni_copy *c, const tni_copy_case *of, uint64_t used, tni_loop_key *key);

/* The same in a cache, where threads that write into the same lines hold each other up: another
 * axis is divided when the outermost loop has many trips of dst's axes around it. */
void tni_copy_order_split(tni_copy *c, const tni_copy_case *of, uint64_t used,
                          tni_loop_key *key);

/* Whether rows of dst can be streamed as aligned lines (way_lines.c): they all begin at a line, or
 * equally far into one and are long. */
bool tni_lines_fit(const tni_copy *c, const tni_copy_case *of);

/* Streamed tiles walk by rising steps of the source. */
int64_t tni_key_by_source(const tni_copy *c, const tni_copy_loop *loop);

/* ---- tiles through a buffer, and ways that fall back to them (way_staged.c) ---- */

/* Whether dst has runs that are worth a buffer. */
bool tni_stage_fits(const tni_copy *c, const tni_copy_case *of);

/* The axis that goes on in src where b ends, as tni_source_next, unless dst's run needs it. */
int tni_stage_next(const tni_copy *c, const tni_copy_case *of, int64_t enough);

/* Shape a tile whose source rows have `lines` bytes and whose runs have `goal`, together with
 * axis next unless it is -1; the nest's axes that are in it. */
uint64_t tni_stage_shape(tni_copy *c, const tni_copy_case *of, int next, int64_t lines,
                         int64_t goal);
void tni_stage_pieces(tni_copy *c);
int64_t tni_key_staged(const tni_copy *c, const tni_copy_loop *loop);

/* Tiles in a cache go by the smaller of both steps, and rather dst's. */
int64_t tni_key_in_cache(const tni_copy *c, const tni_copy_loop *loop);

#endif
