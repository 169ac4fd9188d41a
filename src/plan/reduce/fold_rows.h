/* fold_rows.h - the rows of columns, eight at a time, and which ones are fetched meanwhile.
 *
 * Hardware follows a stream within a page only, and sixteen streams of two threads poorly: while a
 * kernel takes eight rows, the next eight are prefetched. */
#ifndef TNI_FOLD_ROWS_H
#define TNI_FOLD_ROWS_H

#include "plan/plan.h"

/* Prefetch a run of bytes into the L2: on a Zen 4 with two threads rows of 4 KiB are read with
 * 63 GB/s instead of 52, 8 of 32 KiB with 50 instead of 44.  Into the L1 it is slower than nothing. */
static inline void tni_fold_fetch(const char *x, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 64)
        __builtin_prefetch(x + i, 0, 2);
}

/* Row i; `absent` behind the last one, so that kernels always get whole groups. */
static inline const char *tni_fold_row(const tni_fold_columns *c, int64_t i, const char *absent)
{
    return i >= c->n ? absent : c->row ? c->row[i] : c->x + i * c->step;
}

/* Where order does not matter, row j of group i, of eight rows each, stands `groups` rows behind
 * row j - 1: eight long streams, which the hardware follows where rows are short (bytes in 1024
 * columns, two threads of a Zen 4: 61 GB/s, and 27 of eight rows side by side). */
static inline int64_t tni_fold_apart(int64_t i, int j, int64_t groups)
{
    return i + j * groups;
}

/* Dense rows of columns that are taken as one row where order does not matter: a power of two of
 * them, for some vectors at once, and eight times as many are there. */
static inline int64_t tni_fold_joined(const tni_fold *f, const tni_fold_columns *c)
{
    enum { ENOUGH = 384 }; /* columns of all */
    int64_t join = 1;
    while (f->joined && 2 * join * TNI_TILE_ROWS <= c->n && join * c->w < ENOUGH)
        join *= 2;
    return join;
}

/* Whether the lanes of a block are made one after the other, `words` accumulators each: strips may
 * be wide, and are read in long pieces of rows, which is faster where they are not whole rows
 * (Zen 4, 4 KiB of 32 KiB: 51.7 GB/s, and 42.2 tile by tile). */
bool tni_fold_lanes_apart(const tni_fold *f, const tni_fold_columns *c, int64_t words);

/* A walk over the tiles of a block: eight rows of some lanes at a time. */
typedef struct tni_fold_tiles {
    const tni_fold_columns *c;
    const char *absent;
    bool apart;   /* a lane after the other */
    bool fetch;   /* rows that are read next */
    int64_t each; /* lanes of a whole tile that are taken as one row, where rows are dense */
    struct {
        int64_t tile, lane; /* first row of the tile; number of the lane, as they are made */
    } now, then;
    int64_t lanes; /* of this group */
    const char *row[TNI_TILE_ROWS], *ahead[TNI_TILE_ROWS];
    const char *const *next; /* the rows to fetch meanwhile, or NULL */
} tni_fold_tiles;

/* Rows that are not there are `absent`.  alone: lanes are not taken together. */
void tni_fold_begin_tiles(tni_fold_tiles *g, const tni_fold *f, const tni_fold_columns *c,
                          bool apart, bool alone, const char *absent);

/* The next group of eight rows. */
bool tni_fold_next_tile(tni_fold_tiles *g);

/* Whether this was the last tile of a lane that is made by itself. */
static inline bool tni_fold_lane_ends(const tni_fold_tiles *g)
{
    return g->apart && g->now.tile + TNI_TILE >= g->c->n;
}

#endif
