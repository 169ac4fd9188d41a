/* fold_rows.h - the rows of columns, eight at a time, and which ones are prefetched meanwhile.
 *
 * Hardware prefetchers follow a stream only within a page, and follow the sixteen streams of two
 * threads poorly.  So while a kernel reads eight rows, the next eight are prefetched. */
#ifndef TNI_FOLD_ROWS_H
#define TNI_FOLD_ROWS_H

#include "plan/plan.h"

/* Prefetch bytes into the L2: with two threads of a Zen 4, rows of 4 KiB are read at 63 GB/s
 * instead of 52, and 8 of 32 KiB at 50 instead of 44.  Prefetching into the L1 is slower than
 * none. */
static inline void tni_fold_fetch(const char *x, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 64)
        __builtin_prefetch(x + i, 0, 2);
}

/* Row i, or `absent` behind the last one, so that kernels always get whole groups. */
static inline const char *tni_fold_row(const tni_fold_columns *c, int64_t i, const char *absent)
{
    return i >= c->n ? absent : c->row ? c->row[i] : c->x + i * c->step;
}

/* Dense rows of columns that are taken as one row where order does not matter: a power of two of
 * them, of which there are at least eight times as many, until they have ENOUGH columns together.
 * Three columns of var were read at 4.2 GB/s joined to 2048 and at 12 joined to 384 (Zen 4, "Var of
 * integers, rows of three, narrow rows" in docs/investigations/reductions.md). */
static inline int64_t tni_fold_joined(const tni_fold *f, const tni_fold_columns *c)
{
    enum { ENOUGH = 384 };
    int64_t join = 1;
    while (f->joined && 2 * join * TNI_TILE_ROWS <= c->n && join * c->w < ENOUGH)
        join *= 2;
    return join;
}

/* A walk over rows in groups of eight, where order does not matter.  Joined rows come first, each
 * `groups` rows after the one before it in its group: eight long streams, which the hardware
 * follows where rows are short (bytes in 1024 columns, two threads of a Zen 4: 61 GB/s, and 27 with
 * eight rows side by side).  Rows that are left over come one by one. */
typedef struct tni_fold_groups {
    const tni_fold_columns *c;
    const char *absent;         /* fills up a group; NULL: its first row does */
    int64_t join, rows, groups; /* rows that are one, such rows, groups of them */
    int64_t at;                 /* number of this group; from `groups` on, of a single row */
    int64_t w;                  /* columns of its rows */
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

/* Whether a block is reduced lane by lane, with `words` accumulators for each lane, instead of
 * tile by tile with the accumulators of all lanes.  Lane by lane, strips can be wide and are
 * read in long pieces, which is faster where these are not whole rows (Zen 4, 4 KiB of 32 KiB:
 * 51.7 GB/s, and 42.2 tile by tile). */
bool tni_fold_lane_by_lane(const tni_fold *f, const tni_fold_columns *c, int64_t words);

/* A walk over the tiles of a block: eight rows of some lanes at a time. */
typedef struct tni_fold_tiles {
    const tni_fold_columns *c;
    const char *absent;
    bool lane_by_lane; /* all tiles of a lane before the next lane; else all lanes of a tile */
    bool fetch;        /* whether rows are prefetched */
    int64_t each; /* lanes of a whole tile that are taken as one row, where rows are dense */
    struct {
        int64_t tile, lane; /* first row of the tile; number of the lane in the order of work */
    } now, then;
    int64_t lanes; /* of this group */
    const char *row[TNI_TILE_ROWS], *ahead[TNI_TILE_ROWS];
    const char *const *next; /* the rows to prefetch meanwhile, or NULL */
} tni_fold_tiles;

/* `absent` stands for rows behind the last one.  alone: every lane is a row of its own. */
void tni_fold_begin_tiles(tni_fold_tiles *g, const tni_fold *f, const tni_fold_columns *c,
                          bool lane_by_lane, bool alone, const char *absent);

/* The next group of eight rows. */
bool tni_fold_next_tile(tni_fold_tiles *g);

/* Whether this was the last tile of a lane, where the walk goes lane by lane. */
static inline bool tni_fold_lane_ends(const tni_fold_tiles *g)
{
    return g->lane_by_lane && g->now.tile + TNI_TILE >= g->c->n;
}

#endif
