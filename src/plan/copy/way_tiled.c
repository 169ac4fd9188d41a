/* way_tiled.c - copies tiles from src straight to dst, without a buffer. */
#include "copy_shape.h"
#include "copy_walk.h"
#include "runtime/runtime.h"

/* Sizes of tiles in a cache, measured on an Intel Xeon with 48 KB of L1 and an L2 of 1.25 MB
 * (docs/investigations/0001) and confirmed on AMD Zen 4 (32 KB, 1 MB) to 5 percent. */
enum {
    DIRECT = 256,      /* bytes of a source row: four lines feed the hardware's prefetcher */
    DIRECT_RUN = 4096, /* bytes of a row of dst: a page */
    ROWS = 64,         /* most rows of a tile: more do not fit L1 */
    LONG_TILE = 65536, /* bytes of a tile with a short axis, to pay for the kernel call */
    SHORT_ROW = 512,   /* bytes: shorter rows are copied a piece of the source at a time */
    ROWS_PIECE = 1024, /* bytes of such a piece: 256 and 512 lose up to a tenth on AMD Zen 4 */
};

/* ---- shapes ---- */

/* Shape a tile of `rows` rows of dst with `run` bytes of each; if one axis is short, the block
 * of the other one is longer. */
static void tiled_shape(tni_copy *c, int64_t rows, int64_t run)
{
    tni_tile_axis *a = &c->tile[TNI_DST_FAST], *b = &c->tile[TNI_SRC_FAST];
    int64_t unit = c->unit, grain = unit < 64 ? 64 / unit : 1;
    if (a->n * unit <= DIRECT / 4 && rows < LONG_TILE / (a->n * unit))
        rows = LONG_TILE / (a->n * unit);
    if (b->n * unit <= DIRECT / 4 && run < LONG_TILE / b->n)
        run = LONG_TILE / b->n;
    a->block = tni_even_block(a->n, run / unit, grain);
    b->block = tni_even_block(b->n, rows, grain);
}

static bool transpose_plan(tni_copy *c, const tni_copy_case *of)
{
    uint64_t used = tni_tile_begin(c, of);
    if (c->bytes > TNI_SMALL_COPY) {
        int64_t rows = DIRECT / c->unit < ROWS ? DIRECT / c->unit : ROWS;
        int64_t held = tni_rows_held(c->tile[TNI_SRC_FAST].d, rows);
        tiled_shape(c, rows < held ? rows : held, DIRECT_RUN);
    }
    if (of->beyond)
        tni_copy_order(c, of, used, tni_key_by_source);
    else
        tni_copy_order_split(c, of, used, tni_key_in_cache);
    return true;
}

static bool strided_plan(tni_copy *c, const tni_copy_case *of)
{
    uint64_t used = tni_tile_begin(c, of);
    if (c->bytes > TNI_SMALL_COPY)
        tiled_shape(c, DIRECT / c->unit, DIRECT);
    tni_copy_order(c, of, used, of->beyond ? tni_key_by_source : tni_key_in_cache);
    return true;
}

static bool rows_streamed_plan(tni_copy *c, const tni_copy_case *of)
{
    uint64_t used = tni_tile_begin(c, of);
    c->streams = true;
    if (c->bytes > TNI_SMALL_COPY)
        tiled_shape(c, DIRECT / c->unit, DIRECT);
    tni_copy_order(c, of, used, tni_key_by_source);
    return true;
}

static int64_t key_by_dst(const tni_copy *c, const tni_copy_loop *loop)
{
    (void)c;
    return tni_abs_step(loop->d);
}

/* Rows are copied in the order of dst.  Short rows are copied a source piece at a time: a line
 * of it holds parts of several rows, and is read while it is in L1. */
static bool rows_plan(tni_copy *c, const tni_copy_case *of)
{
    uint64_t used = tni_tile_begin(c, of);
    tni_tile_axis *a = &c->tile[TNI_DST_FAST], *b = &c->tile[TNI_SRC_FAST];
    const bool pieces = c->unit < SHORT_ROW && tni_abs_step(b->s) < tni_abs_step(a->s);
    if (c->bytes > TNI_SMALL_COPY) {
        a->block = tni_even_block(a->n, pieces ? ROWS : LONG_TILE / c->unit, 1);
        b->block = pieces ? tni_even_block(b->n, ROWS_PIECE / c->unit, 1) : 1;
    }
    tni_copy_order(c, of, used, key_by_dst);
    return true;
}

/* ---- running ---- */

/* How many trips of the two innermost loops a single call can make from w on.  A loop that
 * walks blocks of the tile, whose extents may change, counts as one trip; so does the outer
 * loop unless the inner one is run in full. */
static void trips_at(const tni_copy *c, const tni_walk *w, int64_t most, tni_trips *t)
{
    *t = (tni_trips){{1, 1}, {0, 0}, {0, 0}, tni_cache_sizes()->prefetch_dst};
    for (int i = 0; i < c->free_loops; i++) {
        const int at = c->nloop - 1 - i;
        const tni_axis *loop = &c->loop[at];
        int64_t n = loop->n - w->at[at];
        t->n[i] = n < most ? n : most;
        t->d[i] = loop->step[0];
        t->s[i] = loop->step[1];
        most /= t->n[i];
        if (w->at[at] || t->n[i] < loop->n)
            break;
    }
}

/* Advance w by all the trips of t. */
static void trips_skip(const tni_copy *c, tni_walk *w, const tni_trips *t)
{
    for (int i = 0; i < 2; i++)
        if (t->n[i] > 1) {
            w->at[c->nloop - 1 - i] += t->n[i] - 1;
            w->offset[0] += (t->n[i] - 1) * t->d[i];
            w->offset[1] += (t->n[i] - 1) * t->s[i];
        }
    tni_walk_next(w);
}

/* Copy one tile, or the same tile at each trip of two loops. */
typedef void tile_fn(const tni_copy_job *j, char *d, const char *s, const int64_t *n,
                     const tni_trips *t);

static inline void tiled_run(const tni_copy_job *j, int64_t first, int64_t last, tile_fn *tile)
{
    const tni_copy *c = j->c;
    if (c->nloop == 0) { /* a small copy: nothing to walk, nothing to prefetch */
        const int64_t d_step[2] = {c->tile[TNI_DST_FAST].d, c->tile[TNI_SRC_FAST].d};
        const int64_t n[2] = {c->tile[TNI_DST_FAST].n, c->tile[TNI_SRC_FAST].n};
        tni_copy_tile(j, j->d, d_step, j->s, n, 0);
        return;
    }
    tni_walk w;
    tni_copy_seek(c, &w, first);
    for (int64_t item = first; item < last;) {
        int64_t n[TNI_TILE_AXES];
        tni_trips t;
        tni_tile_extents(c, w.at, n);
        trips_at(c, &w, last - item, &t);
        tile(j, j->d + w.offset[0], j->s + w.offset[1], n, &t);
        item += t.n[0] * t.n[1];
        trips_skip(c, &w, &t);
    }
}

static void each_tile(const tni_copy_job *j, char *d, const char *s, const int64_t *n,
                      const tni_trips *t)
{
    const int64_t d_step[2] = {j->c->tile[TNI_DST_FAST].d, j->c->tile[TNI_SRC_FAST].d};
    for (int64_t k = 0; k < t->n[1]; k++)
        for (int64_t i = 0; i < t->n[0]; i++)
            tni_copy_tile(j, d + i * t->d[0] + k * t->d[1], d_step,
                          s + i * t->s[0] + k * t->s[1], n, 0);
}

static void transpose_tiles(const tni_copy_job *j, char *d, const char *s, const int64_t *n,
                            const tni_trips *t)
{
    const tni_copy *c = j->c;
    if (c->packs)
        each_tile(j, d, s, n, t);
    else
        j->k->transpose_many[c->log2_width](d, c->tile[TNI_SRC_FAST].d, s,
                                            c->tile[TNI_DST_FAST].s, n[TNI_DST_FAST],
                                            n[TNI_SRC_FAST], t);
}

static void rows_tiles(const tni_copy_job *j, char *d, const char *s, const int64_t *n,
                       const tni_trips *t)
{
    const tni_tile_axis *x = j->c->tile;
    j->k->rows(d, (int64_t[2]){x[0].d, x[1].d}, s, (int64_t[2]){x[0].s, x[1].s}, n, j->c->unit,
               t);
}

/* The length in bytes from which a row is prefetched by the kernel, which has the
 * distance to the next one: shorter rows end before what it prefetches (ROW_AHEAD in
 * copy_isa.c). */
enum { LONG_ROW = 4096 };

static void streamed_tiles(const tni_copy_job *j, char *d, const char *s, const int64_t *n,
                           const tni_trips *t)
{
    const tni_tile_axis *x = j->c->tile;
    const bool alone = n[0] * n[1] == 1 && j->c->unit >= LONG_ROW; /* a tile is one long row */
    for (int64_t k = 0; k < t->n[1]; k++)
        for (int64_t i = 0; i < t->n[0]; i++)
            j->k->stream_units(d + i * t->d[0] + k * t->d[1], (int64_t[2]){x[0].d, x[1].d},
                               s + i * t->s[0] + k * t->s[1], (int64_t[2]){x[0].s, x[1].s}, n,
                               j->c->unit, alone && i + 1 < t->n[0] ? t->s[0] : 0);
}

static void transpose_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    tiled_run(j, first, last, transpose_tiles);
}

static void rows_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    tiled_run(j, first, last, rows_tiles);
}

static void rows_streamed_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    tiled_run(j, first, last, streamed_tiles);
}

static void strided_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    tiled_run(j, first, last, each_tile);
}

#define TEMPORAL "temporal: dst fits the cache, or its lines are not whole"

const tni_copy_way tni_way_transpose = {
    .name = "transpose",
    .why = "dst and src are dense along different axes: tiles are transposed in registers",
    .stores = TEMPORAL,
    .kind = TNI_COPY_TRANSPOSE,
    .plan = transpose_plan,
    .run = transpose_run,
};
const tni_copy_way tni_way_rows_streamed = {
    .name = "rows streamed",
    .why = "long rows are dense on both sides, and dst is larger than the cache",
    .stores = "whole lines of each row, streamed",
    .kind = TNI_COPY_ROWS,
    .beyond = true,
    .plan = rows_streamed_plan,
    .run = rows_streamed_run,
};
const tni_copy_way tni_way_rows = {
    .name = "rows",
    .why = "rows are dense on both sides",
    .stores = TEMPORAL,
    .kind = TNI_COPY_ROWS,
    .plan = rows_plan,
    .run = rows_run,
};
const tni_copy_way tni_way_strided = {
    .name = "strided",
    .why = "neither rows nor a transpose: short units at any steps",
    .stores = TEMPORAL,
    .kind = TNI_COPY_STRIDED,
    .plan = strided_plan,
    .run = strided_run,
};
