/* copy_choose.c - how a copy is done: its unit, its tile, the order of its loops.
 *
 * Loops run so that the source is walked by rising steps from the inside; what is written goes
 * out in runs that are dense in dst, through a buffer when dst is larger than the cache. */
#include "copy_shape.h"
#include "kernels/kernels.h"
#include "runtime/runtime.h"

enum {
    PIECE = 256 * 1024, /* bytes of one item of a single block */
    PIECE_A = 64,       /* bytes along a that a staged tile gathers at a time */
    PIECE_B = 16384,    /* the same along b where a is short and the tile is one run */
    SMALL = 8192,       /* bytes of a copy that is one tile whatever its shape */
    LONG_ROW = 1024,    /* rows from here on are streamed without a buffer */
    TRIPS = 40,         /* most trips around the axis that threads share out */
};

static bool by_width(int64_t unit)
{
    return unit <= 16 && !(unit & (unit - 1));
}

/* Take the innermost axis into the unit when both sides walk it densely. */
static void take_unit(tni_copy *c, tni_nest *nest, int64_t width)
{
    c->unit = width;
    if (nest->ndim == 0)
        return;
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    if (in->step[0] == width && in->step[1] == width) {
        c->unit = in->n * width;
        nest->ndim--;
    }
}

/* The axis with the smallest step in src; repeated axes count last. */
static int source_fastest(const tni_nest *nest)
{
    int best = nest->ndim - 1;
    for (int i = nest->ndim - 2; i >= 0; i--) {
        int64_t x = tni_magnitude(nest->axis[i].step[1]),
                y = tni_magnitude(nest->axis[best].step[1]);
        if (x != 0 && (y == 0 || x < y))
            best = i;
    }
    return best;
}

/* Walk axis b forwards in src; dst may then walk it backwards. */
static void face_source(tni_copy *c, tni_axis *b)
{
    if (b->step[1] >= 0)
        return;
    c->shift_d += (b->n - 1) * b->step[0];
    c->shift_s += (b->n - 1) * b->step[1];
    b->step[0] = -b->step[0];
    b->step[1] = -b->step[1];
}

/* Bytes of dst that lie dense from the unit outwards. */
static int64_t dense_run(const tni_nest *nest, int64_t unit)
{
    for (int i = nest->ndim - 1; i >= 0 && nest->axis[i].step[0] == unit; i--)
        unit *= nest->axis[i].n;
    return unit;
}

/* Whether the rows of one band, step bytes apart, fall into so few sets of the first cache that
 * they push each other out before their lines are used up. */
static bool rows_alias(int64_t unit, int64_t step)
{
    int64_t apart = step & -step, ways = tni_cache_sizes()->l1 / TNI_PAGE;
    int64_t rows = 64 / unit * (apart < TNI_PAGE ? apart : TNI_PAGE) / TNI_PAGE;
    return 2 * rows > 3 * ways;
}

/* How early a loop runs, inside first: a staged tile moves along the source's rows, then along
 * its own runs; what is streamed, by rising steps of the source; rows in a cache, by those of
 * dst; tiles in a cache, by the smaller of both, and rather dst's: its lines are dearer.  What
 * threads share out is outermost. */
static int64_t rank(const tni_copy *c, const tni_loop *x)
{
    int64_t step = x->tile < 0 ? x->d : c->tile[x->tile].d;
    if (c->dealt && step == c->dealt)
        return INT64_MAX;
    if (c->staged && x->tile == c->run)
        return -1;
    int rows =
        c->tile[TNI_SRC_FAST].block < c->tile[TNI_SRC_FAST].n ? TNI_SRC_FAST : TNI_SRC_NEXT;
    if (c->staged && !c->b_in_run && x->tile == rows && !x->wide)
        return -2;
    int64_t by_dst = tni_magnitude(x->d), by_src = tni_magnitude(x->s);
    if (c->stream)
        return by_src;
    return c->mover == TNI_MOVE_ROWS || by_dst / 4 < by_src ? by_dst : 4 * by_src;
}

static void add_loop(tni_copy *c, tni_loop loop)
{
    int i = c->nloop++;
    for (; i > 0 && rank(c, &c->loop[i - 1]) > rank(c, &loop); i--)
        c->loop[i] = c->loop[i - 1];
    c->loop[i] = loop;
    c->items *= loop.n;
}

static void add_blocks(tni_copy *c, int k, int64_t n, int64_t block, bool wide)
{
    const tni_tile_axis *x = &c->tile[k];
    if (block < n)
        add_loop(c, (tni_loop){tni_pieces(n, block), block * x->d, block * x->s, k, wide});
}

static tni_tile_axis *in_tile(tni_copy *c, const tni_axis *x)
{
    for (int k = 0; k < c->ntile; k++)
        if (c->tile[k].n == x->n && c->tile[k].d == x->step[0])
            return &c->tile[k];
    return NULL;
}

static void add_loops(tni_copy *c, const tni_nest *nest, uint64_t used)
{
    for (int i = nest->ndim - 1; i >= 0; i--) {
        const tni_axis *x = &nest->axis[i];
        if (!(used >> i & 1))
            add_loop(c, (tni_loop){x->n, x->step[0], x->step[1], -1, false});
    }
    for (int k = 0; k < c->ntile; k++) {
        add_blocks(c, k, c->tile[k].span, c->tile[k].block, false);
        add_blocks(c, k, c->tile[k].n, c->tile[k].span, true);
    }
    for (int i = 0; i < c->nloop; i++)
        if (c->loop[i].tile >= 0)
            *(c->loop[i].wide ? &c->tile[c->loop[i].tile].wide
                              : &c->tile[c->loop[i].tile].loop) = i;
}

/* The trips of dst's axes around the outermost loop: threads that share that loop out have two
 * lines in common at each of them. */
static int64_t trips_around(const tni_copy *c, const tni_nest *nest)
{
    const tni_loop *x = &c->loop[c->nloop - 1];
    int64_t trips = 1, step = tni_magnitude(x->tile < 0 ? x->d : c->tile[x->tile].d);
    for (int i = 0; i < nest->ndim && tni_magnitude(nest->axis[i].step[0]) > step; i++)
        trips *= nest->axis[i].n;
    return trips;
}

/* Choose another axis for threads to share out: one that is walked already, or else the
 * outermost one of the tile, which is cut. */
static void deal_outside(tni_copy *c, const tni_nest *nest, int64_t parts)
{
    tni_tile_axis *cut = NULL,
                  *last = &c->tile[c->tile[TNI_SRC_NEXT].n > 1 ? TNI_SRC_NEXT : TNI_SRC_FAST];
    int64_t trips = 1;
    for (int i = 0; i < nest->ndim && trips <= TRIPS; i++) {
        const tni_axis *x = &nest->axis[i];
        tni_tile_axis *t = in_tile(c, x);
        bool fair = x->n % parts == 0 || x->n >= 3 * parts;
        if (fair && (!t || t->block * parts <= t->n)) {
            c->dealt = x->step[0];
            return;
        }
        if (fair && t == last)
            cut = t;
        trips *= x->n;
    }
    if (cut) {
        cut->block = tni_pieces(cut->n, parts);
        c->dealt = cut->d;
    }
}

/* One block, or one value: pieces of it are the items. */
static void plan_block(tni_copy *c, tni_mover mover)
{
    c->mover = mover;
    c->items = tni_pieces(c->bytes, PIECE);
}

static void plan_tiles(tni_copy *c, tni_nest *nest)
{
    int a = nest->ndim - 1, b = source_fastest(nest);
    if (b == a)
        b = nest->ndim - 2; /* both sides agree; the next axis makes the tile two-dimensional */
    if (b >= 0)
        face_source(c, &nest->axis[b]);
    uint64_t used = (uint64_t)1 << a | (b >= 0 ? (uint64_t)1 << b : 0);
    c->tile[TNI_DST_FAST] = tni_whole_axis(&nest->axis[a]);
    c->tile[TNI_SRC_FAST] =
        b >= 0 ? tni_whole_axis(&nest->axis[b]) : (tni_tile_axis){1, 1, 0, 0, 0, 1, -1, -1};
    c->tile[TNI_SRC_NEXT] = (tni_tile_axis){1, 1, 0, 0, 0, 1, -1, -1};
    c->ntile = 3;

    if (!by_width(c->unit))
        c->mover = TNI_MOVE_ROWS;
    else if (b >= 0 && c->tile[TNI_SRC_FAST].s == c->unit && c->tile[TNI_DST_FAST].d == c->unit)
        c->mover = TNI_MOVE_TRANSPOSE;
    else
        c->mover = TNI_MOVE_STRIDED;
    c->width_log2 = by_width(c->unit) ? tni_log2_width(c->unit) : 0;

    c->pack = c->mover == TNI_MOVE_TRANSPOSE && c->bytes > SMALL &&
              rows_alias(c->unit, c->tile[TNI_DST_FAST].s);
    c->stream = c->bytes >= tni_cache_sizes()->stream;
    c->staged = c->stream && c->unit < LONG_ROW && c->tile[TNI_DST_FAST].d == c->unit &&
                dense_run(nest, c->unit) >= TNI_RUN_LEAST;
    c->piece = INT64_MAX;
    if (c->staged) {
        used |= tni_shape_staged(c, nest, a, b);
        c->piece = c->unit < PIECE_A ? PIECE_A / c->unit : 1;
        if (c->b_in_run)
            c->piece = PIECE_B / (c->tile[TNI_DST_FAST].n * c->unit) + 1;
    } else if (c->bytes > SMALL) {
        used |= tni_shape_direct(c, nest, a, b);
    }
    add_loops(c, nest, used);
    int64_t parts = tni_plan_parts(tni_times(c->bytes, 2), c->items);
    if (c->mover == TNI_MOVE_TRANSPOSE && !c->stream && parts > 1 &&
        trips_around(c, nest) > TRIPS) {
        deal_outside(c, nest, parts);
        c->nloop = 0;
        c->items = 1;
        add_loops(c, nest, used);
    }
}

void tni_copy_plan(tni_copy *c, const tn_tensor *dst, const tn_tensor *src)
{
    tni_nest nest;
    tni_nest_normal(&nest, 2, (const tn_tensor *const[]){dst, src});
    int64_t width = tni_width(dst->dtype);
    c->staged = c->stream = c->pack = c->aligned_lines = c->shifted = c->carry =
        c->b_in_run = c->indexed = false;
    c->ntile = c->nloop = 0;
    c->run = -1;
    c->shift_d = nest.shift[0];
    c->shift_s = nest.shift[1];
    c->items = 1;
    c->dealt = 0;
    c->bytes = width;
    c->width_log2 = 0;
    for (int i = 0; i < nest.ndim; i++)
        c->bytes *= nest.axis[i].n;
    take_unit(c, &nest, width);
    if (nest.empty) {
        c->mover = TNI_MOVE_NOTHING;
        c->bytes = 0;
    } else if (nest.ndim == 0) {
        c->stream = c->bytes >= tni_cache_sizes()->stream;
        plan_block(c, TNI_MOVE_COPY);
    } else if (nest.ndim == 1 && nest.axis[0].step[0] == c->unit && nest.axis[0].step[1] == 0 &&
               by_width(c->unit)) {
        c->stream = c->bytes >= tni_cache_sizes()->stream;
        c->width_log2 = tni_log2_width(c->unit);
        plan_block(c, TNI_MOVE_FILL);
    } else {
        plan_tiles(c, &nest);
    }
}
