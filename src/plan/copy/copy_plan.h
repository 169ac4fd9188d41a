/* copy_plan.h - the plan of a copy: which bytes stay together, which tile, which loops around.
 */
#ifndef TNI_COPY_PLAN_H
#define TNI_COPY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* What moves one tile. */
typedef enum tni_mover {
    TNI_MOVE_NOTHING,   /* no elements */
    TNI_MOVE_COPY,      /* one dense block */
    TNI_MOVE_FILL,      /* one value over a dense block */
    TNI_MOVE_ROWS,      /* blocks of unit bytes, dense on both sides */
    TNI_MOVE_TRANSPOSE, /* units of 1..16 bytes; the dense axes of dst and src differ */
    TNI_MOVE_STRIDED    /* units of 1..16 bytes, any steps */
} tni_mover;

/* One axis of the tile.  When cut, outer loop `loop` walks its blocks; when cut twice, it walks
 * the blocks of one span, and outer loop `wide` walks the spans. */
typedef struct tni_tile_axis {
    int64_t n, block; /* whole extent, and the part of it in a tile */
    int64_t d, s, t;  /* bytes to the next unit in dst, in src, in the buffer */
    int64_t span;
    int loop, wide; /* -1: not cut */
} tni_tile_axis;

typedef struct tni_loop {
    int64_t n, d, s; /* trips, and bytes that one trip adds */
    int tile;        /* the tile axis whose blocks it walks; -1: none */
    bool wide;       /* it walks the spans of that axis */
} tni_loop;

enum {
    TNI_TILE_AXES = 7,
    TNI_LOOPS = 67,
    TNI_CARRY = 1024,  /* rows whose partial lines are kept: the longest span */
    TNI_INDEXED = 512, /* places in a list: the units of a run in a tile */
    TNI_DST_FAST = 0,
    TNI_SRC_FAST = 1,
    TNI_SRC_NEXT = 2,
    TNI_BUFFER = 40 * 1024 /* bytes in which one tile is staged */
};

/* What a tile that is shifted wants addresses of dst to be a multiple of. */
static inline int64_t tni_shift_align(int64_t unit)
{
    return unit < 8 ? unit : 8;
}

/* A tile is TNI_DST_FAST (dst's fastest axis) x TNI_SRC_FAST (the source's) units for the kernel, times
 * further axes that continue a dense run of dst.  When staged, a tile is gathered in a buffer
 * in dst's order, and whole runs are streamed from there; run is the axis that ends a run. */
typedef struct tni_copy {
    tni_mover mover;
    int width_log2; /* of the unit, for the movers that are chosen by width */
    bool staged, stream;
    int64_t unit;  /* bytes dense on both sides */
    int64_t bytes; /* payload */
    int64_t shift_d, shift_s;
    int64_t items; /* tiles, or pieces of one block */
    int64_t dealt; /* step in dst of the axis that threads share out; 0: none in particular */
    int64_t
        piece; /* units of TNI_DST_FAST, or of TNI_SRC_FAST in a run, for one call of the kernel */
    int ntile, nloop;
    int run;   /* which tile axis ends a run; -1: there is none */
    bool pack; /* source rows alias in the cache: lay them side by side first */
    bool
        aligned_lines; /* runs are whole lines when dst begins with one: transpose them there at once */
    bool shifted; /* runs may begin anywhere: tiles are shifted so that their lines are whole */
    bool carry;   /* runs go on from tile to tile; partial lines wait for their rest */
    bool indexed;
    bool
        b_in_run; /* TNI_SRC_FAST is part of the run; otherwise the tile has a run for each unit of
                    * TNI_SRC_FAST and TNI_SRC_NEXT */
    tni_tile_axis tile[TNI_TILE_AXES];
    tni_loop loop[TNI_LOOPS]; /* innermost first */
} tni_copy;

#endif
