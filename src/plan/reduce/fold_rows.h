/* fold_rows.h - iteration over the rows of columns, eight at a time, with prefetching.
 *
 * Hardware prefetchers follow a stream only within a page, and follow the sixteen streams of
 * two threads poorly.  Therefore a kernel that reads eight rows prefetches the next eight. */
#ifndef TNI_FOLD_ROWS_H
#define TNI_FOLD_ROWS_H

#include "plan/plan.h"

/* Prefetch bytes into the L2.  With two threads of a Zen 4, rows of 4 KiB are then read at 63
 * GB/s instead of 52, and pieces of 8 KiB of rows of 32 KiB at 50 instead of 44.  Prefetching
 * into the L1 is slower than none. */
static inline void tni_fold_fetch(const char *x, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 64)
        __builtin_prefetch(x + i, 0, 2);
}

/* Row i, or `absent` after the last one, so that kernels always get eight rows. */
static inline const char *tni_fold_row(const tni_fold_columns *c, int64_t i, const char *absent)
{
    return i >= c->n ? absent : c->row ? c->row[i] : c->x + i * c->step;
}

/* The number of dense rows that are joined to one by classes other than the tree's: the
 * smallest power of two that gives ENOUGH columns, but one that leaves at least eight joined
 * rows.  Rows of three columns of var are read at 4.2 GB/s if they are joined to 2048 columns,
 * and at 12 if to 384 (Zen 4, "Var of integers, rows of three, narrow rows" in
 * docs/investigations/reductions.md). */
static inline int64_t tni_fold_joined(const tni_fold *f, const tni_fold_columns *c)
{
    enum { ENOUGH = 384 };
    int64_t join = 1;
    while (f->joined && 2 * join * TNI_TILE_ROWS <= c->n && join * c->w < ENOUGH)
        join *= 2;
    return join;
}

/* An iteration over rows in groups of eight, for classes that may take the rows of a block in
 * any order.  Groups of joined rows come first; the rows of a group are `groups` joined rows
 * apart, which makes eight long streams that the hardware follows even if rows are short (1024
 * columns of bytes, two threads of a Zen 4: 61 GB/s, and 27 with eight neighbouring rows).
 * Rows that are left over then follow one by one, each as a group. */
typedef struct tni_fold_groups {
    const tni_fold_columns *c;
    const char *absent;         /* fills an incomplete group; NULL: its first row does */
    int64_t join, rows, groups; /* rows of a joined row, joined rows, groups of these */
    int64_t at; /* number of this group; from `groups` on, it has a single row */
    int64_t w;  /* columns of a row of this group */
    const char *row[TNI_TILE_ROWS];
} tni_fold_groups;

static inline tni_fold_groups tni_fold_in_groups(const tni_fold_columns *c, int64_t join,
                                                 const char *absent)
{
    const int64_t rows = c->n / join;
    return (tni_fold_groups){.c = c,
                             .absent = absent,
                             .join = join,
                             .rows = rows,
                             .groups = (rows + TNI_TILE_ROWS - 1) / TNI_TILE_ROWS,
                             .at = -1};
}

static inline bool tni_fold_next_group(tni_fold_groups *g)
{
    const bool joined = ++g->at < g->groups;
    const int64_t first = joined ? g->at * g->join : g->rows * g->join + g->at - g->groups;
    if (first >= g->c->n)
        return false;
    g->w = joined ? g->c->w * g->join : g->c->w;
    g->row[0] = tni_fold_row(g->c, first, NULL);
    for (int j = 1; j < TNI_TILE_ROWS; j++) {
        const int64_t at = joined ? g->at + j * g->groups : g->rows;
        g->row[j] = at < g->rows ? tni_fold_row(g->c, at * g->join, NULL)
                    : g->absent  ? g->absent
                                 : g->row[0];
    }
    return true;
}

/* Whether a block is reduced lane by lane instead of tile by tile.  Tile by tile, all lanes
 * need accumulators at once, `words` for each lane of a column.  Lane by lane, strips can be
 * wider and are read in longer pieces, which is faster if these are not whole rows (Zen 4, 4
 * KiB of rows of 32 KiB: 51.7 GB/s, and 42.2 tile by tile). */
bool tni_fold_lane_by_lane(const tni_fold *f, const tni_fold_columns *c, int64_t words);

/* An iteration over the tiles of a block in groups: the eight rows of one or several lanes. */
typedef struct tni_fold_tiles {
    const tni_fold_columns *c;
    const char *absent;
    bool lane_by_lane; /* all tiles of a lane before the next lane, not all lanes of a tile */
    bool fetch;        /* whether rows are prefetched */
    int64_t each;      /* lanes of a whole tile that are read as one row, if rows are dense */
    struct {
        int64_t tile,
            lane;  /* first row of the tile; number of the lane in the order of reading */
    } now, then;   /* this group, and the next one */
    int64_t lanes; /* of this group */
    const char *row[TNI_TILE_ROWS], *ahead[TNI_TILE_ROWS];
    const char *const *next; /* the rows that the kernel prefetches, or NULL */
} tni_fold_tiles;

/* `absent` replaces rows after the last one.  alone: lanes are not read as one row. */
void tni_fold_begin_tiles(tni_fold_tiles *g, const tni_fold *f, const tni_fold_columns *c,
                          bool lane_by_lane, bool alone, const char *absent);

/* Advance to the next group; false after the last one. */
bool tni_fold_next_tile(tni_fold_tiles *g);

/* Whether the walk goes lane by lane and this is the last tile of a lane. */
static inline bool tni_fold_lane_ends(const tni_fold_tiles *g)
{
    return g->lane_by_lane && g->now.tile + TNI_TILE >= g->c->n;
}

#endif
