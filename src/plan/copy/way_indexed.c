/* way_indexed.c - transposes tiles straight to dst by listed offsets of units: tiles of short
 * axes, to which the axes that continue them in dst and in src are joined, and tiles of two
 * axes whose rows share cache sets on both sides ("transpose whole"). */
#include <string.h>

#include "copy_shape.h"
#include "copy_walk.h"
#include "runtime/runtime.h"

/* Bytes, measured on an Intel Xeon (docs/investigations/0001); those of the source on AMD Zen
 * 4: SOURCE 256 with SRC_LEAST 64 leaves reversals at 0.52 to 0.64 of memcpy, 512 with 256
 * raises them to 0.7. */
enum {
    SHORT = 128,     /* two lines: shorter rows of dst are joined with those that follow */
    RUN = 512,       /* target of the joined rows */
    SOURCE = 512,    /* target of joined rows of the source */
    SRC_LEAST = 256, /* longer rows of the source are not joined: few tiles share their lines */
    /* "transpose whole" is for rows that share cache sets on both sides: a square of 1024 rises
     * from 0.30 to 0.39 of memcpy on AMD Zen 4; 64 units or 64 bytes of a row are slower by a
     * twentieth. */
    WHOLE = 16,        /* rows of a block, which make whole lines of f32 */
    WHOLE_RUN = 256,   /* units of a row of dst in a tile */
    WHOLE_PIECE = 128, /* bytes of a source row in a tile */
};

/* Make axis x the tile's axis k, in blocks that turn `had` units into about `want`; returns how
 * many they become. */
static int64_t take_axis(tni_copy *c, int k, const tni_axis *x, int64_t had, int64_t want)
{
    c->tile[k] = tni_whole_axis(x);
    c->tile[k].block = tni_even_block(x->n, (want + had - 1) / had, 1);
    if (c->tile[k].block > TNI_INDEXED / had)
        c->tile[k].block = TNI_INDEXED / had;
    return had * c->tile[k].block;
}

/* Whether rows share cache sets on both sides: they do not stay in L1 until their lines are
 * used up, but blocks that load and store whole lines do not need that. */
static bool both_alias(const tni_copy *c, const tni_copy_case *of)
{
    const tni_axis *a = &of->nest->axis[of->a], *b = &of->nest->axis[of->b];
    return !of->beyond && c->unit >= 4 && c->bytes > TNI_SMALL_COPY && a->n >= WHOLE &&
           b->n * c->unit >= WHOLE_PIECE && tni_rows_held(a->step[1], WHOLE) < WHOLE / 2 &&
           tni_rows_held(b->step[0], WHOLE) < WHOLE && c->kernels->line_parts == 1;
}

static bool whole_plan(tni_copy *c, const tni_copy_case *of)
{
    if (!both_alias(c, of))
        return false;
    const uint64_t used = tni_tile_begin(c, of);
    c->tile[TNI_DST_FAST].block = tni_even_block(c->tile[TNI_DST_FAST].n, WHOLE_RUN, WHOLE);
    c->tile[TNI_SRC_FAST].block = WHOLE_PIECE / c->unit;
    c->packs = false;
    tni_copy_order_split(c, of, used, tni_key_in_cache);
    return true;
}

static bool indexed_plan(tni_copy *c, const tni_copy_case *of)
{
    const tni_nest *nest = of->nest;
    const int64_t unit = c->unit, n_a = nest->axis[of->a].n, n_b = nest->axis[of->b].n;
    if (c->bytes <= TNI_SMALL_COPY || n_a * unit >= SHORT || n_b * unit >= SOURCE ||
        nest->axis[of->b].step[0] == n_a * unit)
        return false;
    const uint64_t tile = tni_tile_begin(c, of);
    uint64_t used = tile;
    int next = tni_source_next(c, of, SRC_LEAST);
    int64_t run = n_a;
    for (int i = of->a - 1; i >= 0 && c->ntile < TNI_TILE_AXES; i--) {
        if (i == of->b || nest->axis[i].step[0] != run * unit || run * unit >= RUN)
            break;
        run = take_axis(c, c->ntile++, &nest->axis[i], run, RUN / unit);
        used |= (uint64_t)1 << i;
    }
    if (next >= 0 && !(used >> next & 1)) {
        take_axis(c, TNI_SRC_NEXT, &nest->axis[next], n_b, SOURCE / unit);
        used |= (uint64_t)1 << next;
    }
    if (used == tile)
        return false;
    if (of->beyond)
        tni_copy_order(c, of, used, tni_key_by_source);
    else
        tni_copy_order_split(c, of, used, tni_key_in_cache);
    return true;
}

/* The offsets of a tile's units: s_at in src, in the order of a run of dst, and d_at in dst, in
 * the order of a run of src. */
typedef struct offset_lists {
    int64_t n[TNI_TILE_AXES]; /* the extents for which they were made */
    int64_t na, nb;
    int64_t s_at[TNI_INDEXED], d_at[TNI_INDEXED];
} offset_lists;

static int64_t list_axis(int64_t *at, int64_t had, int64_t n, int64_t step)
{
    ASSERT(had * n <= TNI_INDEXED);
    for (int64_t i = had; i < had * n; i++)
        at[i] = at[i - had] + step;
    return had * n;
}

static void make_lists(const tni_copy *c, const int64_t *n, offset_lists *l)
{
    l->s_at[0] = l->d_at[0] = 0;
    l->na = list_axis(l->s_at, 1, n[TNI_DST_FAST], c->tile[TNI_DST_FAST].s);
    for (int k = 3; k < c->ntile; k++)
        l->na = list_axis(l->s_at, l->na, n[k], c->tile[k].s);
    l->nb = list_axis(l->d_at, 1, n[TNI_SRC_FAST], c->tile[TNI_SRC_FAST].d);
    l->nb = list_axis(l->d_at, l->nb, n[TNI_SRC_NEXT], c->tile[TNI_SRC_NEXT].d);
    memcpy(l->n, n, sizeof l->n);
}

static void indexed_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    offset_lists l = {{0}, 0, 0, {0}, {0}};
    tni_walk w;
    tni_copy_seek(c, &w, first);
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES] = {0};
        tni_tile_extents(c, w.at, n);
        if (memcmp(n, l.n, sizeof n) != 0)
            make_lists(c, n, &l);
        j->k->transpose_indexed[c->log2_width](j->d + w.offset[0], l.d_at, j->s + w.offset[1],
                                               l.s_at, l.na, l.nb,
                                               tni_cache_sizes()->prefetch_dst);
        tni_walk_next(&w);
    }
}

const tni_copy_way tni_way_indexed = {
    .name = "transpose indexed",
    .why = "short axes are merged: tiles are transposed through a table of offsets",
    .stores = "temporal: dst fits the cache, or its lines are not whole",
    .kind = TNI_COPY_TRANSPOSE,
    .plan = indexed_plan,
    .run = indexed_run,
};
const tni_copy_way tni_way_whole = {
    .name = "transpose whole",
    .why = "rows share cache sets on both sides: blocks load and store whole lines",
    .stores = "temporal: dst fits the cache",
    .kind = TNI_COPY_TRANSPOSE,
    .plan = whole_plan,
    .run = indexed_run,
};
