/* copy_plan.h - the plan of a copy: the unit of bytes that stay together, the tile of units,
 * the loops around it, and the way in which tiles reach dst.
 *
 * A way is a row in a file way_*.c, declared in copy_walk.h and listed in copy_ways.c in order
 * of preference, with a case of tests/ops/test_rearrange.c that expects it and, if no kernel of
 * kernels/copy has its tile, one that does (CONTRIBUTING.md, "Add a way to copy"). */
#ifndef TNI_COPY_PLAN_H
#define TNI_COPY_PLAN_H

#include <tenon/plan.h>

#include "kernels/kernels.h"
#include "nest/nest.h"
#include "runtime/runtime.h"

/* What a copy consists of. */
typedef enum tni_copy_kind {
    TNI_COPY_NOTHING,   /* no elements */
    TNI_COPY_BLOCK,     /* one dense block */
    TNI_COPY_FILL,      /* one value repeated over a dense block */
    TNI_COPY_ROWS,      /* units of any size, dense on both sides */
    TNI_COPY_TRANSPOSE, /* units of 1..16 bytes; the dense axes of dst and src differ */
    TNI_COPY_STRIDED    /* units of 1..16 bytes, any steps */
} tni_copy_kind;

/* One axis of the tile.  If it is split into blocks, outer loop `loop` walks them.  If the
 * blocks are grouped into spans, outer loop `wide` walks the spans and `loop` the blocks of a
 * span. */
typedef struct tni_tile_axis {
    int64_t n, block; /* the whole extent, and how much of it a tile has */
    int64_t d, s, t;  /* bytes to the next unit in dst, in src, in the buffer */
    int64_t span;
    int loop, wide; /* -1: not split */
} tni_tile_axis;

enum {
    TNI_TILE_AXES = 7,
    TNI_INDEXED = 512, /* most offsets in a list of way_indexed.c */
    TNI_DST_FAST = 0,
    TNI_SRC_FAST = 1,
    TNI_SRC_NEXT = 2
};

typedef struct tni_copy tni_copy;
typedef struct tni_copy_job tni_copy_job;   /* copy_walk.h */
typedef struct tni_copy_case tni_copy_case; /* copy_shape.h */

/* A way to copy.  plan fills in c if the way fits, and returns false to leave the copy to the
 * next row.  It finds every field of c set but way, tile, loop, and stage or carried: one item,
 * no tile axes, no loops, ordinary stores.  A plan that refuses may leave its tile, loops,
 * stage and carried behind, which the next plan sets anew, but changes no other field.
 *
 * run copies items [first, last).  dst_align, unless NULL, returns the alignment that dst needs
 * at run time; at any other address `fallback` runs the same plan. */
typedef struct tni_copy_way {
    const char *name, *why, *stores; /* for facts and tests */
    tni_copy_kind kind;
    bool beyond; /* only if dst is larger than the cache */
    bool staged; /* runs pass through a buffer, as c->stage says */
    bool (*plan)(tni_copy *c, const tni_copy_case *of);
    void (*run)(const tni_copy_job *j, int64_t first, int64_t last);
    int64_t (*dst_align)(const tni_copy *c);
    const struct tni_copy_way *fallback;
} tni_copy_way;

/* How the runs of a tile pass through a buffer (way_staged.c). */
typedef struct tni_stage {
    int run;            /* the tile axis that ends a run of dst */
    bool one_run;       /* the tile is one run, which includes SRC_FAST; else it has one for
                           each unit of SRC_FAST and SRC_NEXT */
    bool partial_lines; /* runs continue from tile to tile; partial lines are saved for that */
    int64_t piece;      /* units of DST_FAST (of SRC_FAST if one_run) in one kernel call */
} tni_stage;

/* How rows of dst continue over source rows whose offsets are listed (way_carried.c).  The
 * tile's axes are those of the source piece. */
enum { TNI_PIECE_AXES = 4, TNI_RUN_AXES = 8 };

typedef struct tni_carried {
    int piece_axes, run_axes;
    int64_t rows;                    /* units of a source piece; each is a row of dst */
    int64_t run, segment;            /* units of dst's run, and of the part that an item has */
    int64_t segments;                /* segments of a run */
    tni_axis run_axis[TNI_RUN_AXES]; /* outermost first */
} tni_carried;

/* A tile is DST_FAST (dst's fastest axis) x SRC_FAST (the source's) units for the kernel, times
 * further axes, which continue SRC_FAST in src (SRC_NEXT) or a dense run of dst. */
struct tni_copy {
    const tni_copy_way *way;
    const struct tni_copy_kernels *kernels;
    int log2_width; /* of the unit, for kernels that are chosen by width */
    bool beyond;    /* dst is larger than the cache */
    bool streams;   /* stores are non-temporal */
    bool packs;     /* transposes: source rows share cache sets and are packed first */
    int64_t unit;   /* bytes dense on both sides */
    int64_t bytes;  /* payload */
    int64_t shift_d, shift_s;
    int64_t items;            /* tiles, or pieces of one block */
    int64_t tuned[TNI_TUNED]; /* tuning parameters if dst is beyond the cache, else 0 */
    int64_t split; /* step in dst of the axis that is divided over threads; 0: the outermost */
    union {
        tni_stage stage;
        tni_carried carried;
    };
    int ntile, nloop;
    int free_loops; /* how many of the two innermost loops do not walk blocks of the tile */
    tni_tile_axis tile[TNI_TILE_AXES];
    tni_axis loop[TNI_WALK_AXES]; /* outermost first; operand 0 is dst, 1 src */
};

#endif
