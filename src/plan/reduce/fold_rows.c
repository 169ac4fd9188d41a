/* fold_rows.c - iteration over the tiles of columns, and which rows are prefetched. */
#include "fold_rows.h"

bool tni_fold_lane_by_lane(const tni_fold *f, const tni_fold_columns *c, int64_t words)
{
    const bool whole = c->row == NULL && c->step == c->w * f->width;
    const int64_t space = TNI_LANES * TNI_FOLD_WIDTH - (c->row ? TNI_TREE_BLOCK : 0);
    const bool fits = c->acc + words * TNI_LANES * c->w <= space;
    return c->begun == 0 && !c->more && !f->joined &&
           (!fits || (!whole && c->w * f->width >= TNI_FOLD_ROW / 4));
}

enum {
    /* a tile of at most so many bytes, whose lanes are one row, is not prefetched but read in
     * the order of addresses before the kernel reads it (touch): a page, which the hardware
     * prefetcher does not leave */
    PAGE = 4096,
    /* lanes that are short dense rows are read as one row until it has so many bytes: a page,
     * the longest stream that the hardware follows; other lengths were not measured */
    STREAM = 4096
};

static bool ended(const tni_fold_tiles *g)
{
    return g->lane_by_lane ? g->then.lane >= TNI_LANES : g->then.tile >= g->c->n;
}

/* The number of lanes of the next group. */
static int64_t lanes_of(const tni_fold_tiles *g)
{
    return g->then.tile + TNI_TILE <= g->c->n ? g->each : 1;
}

static void step(tni_fold_tiles *g)
{
    const int64_t n = g->c->n;
    if (g->lane_by_lane) {
        g->then.tile += TNI_TILE;
        if (g->then.tile >= n)
            g->then.tile = 0, g->then.lane++;
        return;
    }
    g->then.lane += lanes_of(g);
    if (g->then.lane == TNI_LANES || g->then.tile + g->then.lane >= n)
        g->then.lane = 0, g->then.tile += TNI_TILE;
}

/* The eight rows of the lane that begins at row `at`: they are sixteen apart. */
static void rows_at(const tni_fold_tiles *g, const char **row, int64_t at)
{
    const tni_fold_columns *c = g->c;
    const int64_t last = at + (TNI_TILE_ROWS - 1) * TNI_LANES;
    if (!c->row && last < c->n + c->follow) {
        const char *x = c->x + at * c->step;
        for (int i = 0; i < TNI_TILE_ROWS; i++, x += TNI_LANES * c->step)
            row[i] = x;
        return;
    }
    for (int i = 0; i < TNI_TILE_ROWS; i++)
        row[i] = tni_fold_row(c, at + i * TNI_LANES, g->absent);
}

static int64_t first_row(const tni_fold_tiles *g)
{
    return g->then.tile + (g->lane_by_lane ? tni_fold_lane((int)g->then.lane) : g->then.lane);
}

void tni_fold_begin_tiles(tni_fold_tiles *g, const tni_fold *f, const tni_fold_columns *c,
                          bool lane_by_lane, bool alone, const char *absent)
{
    const int64_t bytes = c->w * f->width;
    g->c = c;
    g->absent = absent;
    g->lane_by_lane = lane_by_lane;
    g->each = 1;
    g->then.tile = g->then.lane = 0; /* tni_fold_next_tile sets the rest */
    if (c->row == NULL && c->step == bytes && !lane_by_lane && !alone)
        while (g->each < TNI_LANES && g->each * bytes < STREAM)
            g->each *= 2;
    g->fetch = c->fetch && (g->each < TNI_LANES || TNI_TILE * bytes > PAGE);
}

/* Advance to the next group if it is a whole tile whose lanes are read as one row, and so was
 * the group before it: then all rows move by the bytes of a tile. */
static bool next_whole(tni_fold_tiles *g)
{
    const int64_t n = g->c->n, by = TNI_TILE * g->c->step;
    if (g->then.tile == 0 || g->then.tile + TNI_TILE > n || g->each < TNI_LANES)
        return false;
    for (int i = 0; i < TNI_TILE_ROWS; i++) {
        g->row[i] += by;
        g->ahead[i] = g->row[i] + by;
    }
    g->now = g->then;
    g->then.tile += TNI_TILE;
    g->next = g->fetch && g->then.tile + TNI_TILE <= n + g->c->follow ? g->ahead : NULL;
    return true;
}

/* Read every line of a tile of at most a page in the order of addresses, because the hardware
 * does not follow eight streams within a page. */
static void touch(const tni_fold_tiles *g)
{
    const volatile char *x = g->row[0];
    for (int64_t i = 0; i < TNI_TILE * g->c->step; i += 64)
        (void)x[i];
}

bool tni_fold_next_tile(tni_fold_tiles *g)
{
    const tni_fold_columns *c = g->c;
    if (next_whole(g)) {
        if (c->fetch && !g->fetch)
            touch(g);
        return true;
    }
    if (ended(g))
        return false;
    rows_at(g, g->row, first_row(g));
    g->now = g->then;
    g->lanes = lanes_of(g);
    step(g);
    const int64_t at = ended(g) ? c->n : first_row(g); /* c->n: the next block follows */
    g->next = NULL;
    if (g->fetch && at + TNI_TILE <= c->n + (c->row ? 0 : c->follow)) {
        rows_at(g, g->ahead, at);
        g->next = g->ahead;
    }
    return true;
}
