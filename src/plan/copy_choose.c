/* copy_choose.c - how a copy is done: its unit, its tile, the order of its loops.
 *
 * Loops run so that the source is walked by rising steps from the inside; what is written goes
 * out in runs that are dense in dst, through a buffer when dst is larger than the cache. */
#include "kernels/kernels.h"
#include "plan.h"
#include "runtime/runtime.h"

enum {
    PIECE = 256 * 1024, /* bytes of one item of a single block */
    RUN = 256,          /* bytes that a staged run aims at */
    RUN_ROWS = 2048,    /* the same where rows are dense on both sides */
    LINES_ROWS = 512,   /* bytes of the source from which a tile of rows is gathered */
    STRAIGHT = 128,     /* bytes of either side of a tile that is streamed from registers */
    RUN_LEAST = 128,    /* a shorter run is not worth a buffer */
    TILE = 8192,        /* bytes below which a tile does not pay for its call */
    TILE_RUN = 24576,   /* bytes of a staged tile that is one run */
    LONG_TILE = 65536,  /* bytes of a tile beside a short axis that goes straight to dst */
    LINES = 256,        /* bytes of a source row in a staged tile */
    PIECE_A = 64,       /* bytes along a that a staged tile gathers at a time */
    PIECE_B = 16384,    /* the same along b where a is short and the tile is one run */
    ROWS = 64,          /* most rows of a staged tile */
    DIRECT = 256,       /* bytes of either side of a tile that goes straight to dst */
    PAGE = 4096,        /* bytes after which addresses fall into the same sets again */
    SMALL = 8192,       /* bytes of a copy that is one tile whatever its shape */
    LONG_ROW = 1024,    /* rows from here on are streamed without a buffer */
};

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static bool by_width(int64_t unit)
{
    return unit <= 16 && !(unit & (unit - 1));
}

/* Cut n into equal blocks near want, in multiples of grain where that leaves more than one. */
static int64_t even_block(int64_t n, int64_t want, int64_t grain)
{
    if (want < 1)
        want = 1;
    if (n <= want + want / 2)
        return n;
    int64_t count = (n + want - 1) / want, block = (n + count - 1) / count;
    if (grain > 1)
        block = (block + grain - 1) / grain * grain;
    return block < n ? block : n;
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
        int64_t x = magnitude(nest->axis[i].step[1]), y = magnitude(nest->axis[best].step[1]);
        if (x != 0 && (y == 0 || x < y))
            best = i;
    }
    return best;
}

/* The axis that goes on in src where b ends; -1 when there is none, or b is long enough. */
static int source_next(const tni_nest *nest, int a, int b, int64_t unit, int64_t enough)
{
    const tni_axis *x = &nest->axis[b];
    if (x->n * unit >= enough || x->step[1] != unit)
        return -1;
    for (int i = 0; i < nest->ndim; i++)
        if (i != a && i != b && nest->axis[i].step[1] == x->n * unit)
            return i;
    return -1;
}

static tni_tile_axis whole(const tni_axis *a)
{
    return (tni_tile_axis){a->n, a->n, a->step[0], a->step[1], a->step[0], a->n, -1, -1};
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
    int64_t apart = step & -step, ways = tni_cache_sizes()->l1 / PAGE;
    int64_t rows = 64 / unit * (apart < PAGE ? apart : PAGE) / PAGE;
    return 2 * rows > 3 * ways;
}

/* Gather in the tile the axes that continue dst's run, until it is `want` bytes long. */
static uint64_t grow_run(tni_copy *c, const tni_nest *nest, int b, int next, int64_t want)
{
    uint64_t used = 0;
    int64_t bytes = c->unit;
    for (int i = nest->ndim - 1; i >= 0 && (bytes < want || c->run < 0); i--) {
        const tni_axis *x = &nest->axis[i];
        int at = i == nest->ndim - 1 ? TNI_A : i == b ? TNI_B : c->ntile;
        if (x->step[0] != bytes || at == TNI_TILE_AXES || i == next)
            break;
        if (at == c->ntile)
            c->tile[c->ntile++] = whole(x);
        if (at == TNI_B)
            c->b_in_run = true;
        int64_t most = (want + bytes - 1) / bytes;
        if (at == TNI_B && most < LINES / c->unit)
            most = LINES / c->unit; /* whole lines of the source, too */
        if (at == TNI_B && most < TILE_RUN / bytes)
            most = TILE_RUN / bytes;
        if (most > TNI_BUFFER * 2 / 3 / bytes)
            most = TNI_BUFFER * 2 / 3 / bytes;
        c->tile[at].block = even_block(x->n, most, bytes < 64 ? 64 / bytes : 1);
        c->run = at;
        used |= (uint64_t)1 << i;
        bytes *= x->n;
    }
    return used;
}

/* Whether every run of dst begins with a cache line when dst does. */
static bool runs_are_lines(const tni_nest *nest, int64_t unit)
{
    int64_t run = unit, bits = 0;
    for (int i = nest->ndim - 1; i >= 0; i--) {
        if (nest->axis[i].step[0] == run && i == nest->ndim - 1)
            run *= nest->axis[i].n;
        else
            bits |= nest->axis[i].step[0];
    }
    return bits % 64 == 0;
}

/* Cut the rows of a staged tile: all of b and some of the axis after it, or some of b. */
static void cut_rows(tni_copy *c, int64_t rows, int64_t bytes)
{
    tni_tile_axis *tb = &c->tile[TNI_B], *tc = &c->tile[TNI_C];
    tb->t = (bytes + 127 + 64) & ~(int64_t)63;
    int64_t most = TNI_BUFFER / tb->t;
    rows = rows < most ? rows : most;
    tb->block = even_block(tb->n, rows, 1);
    tb->block = tb->block < most ? tb->block : most;
    if (tb->block < tb->n) {
        tc->block = 1;
        if (c->carry && tb->n > TNI_CARRY)
            tb->span = TNI_CARRY / tb->block * tb->block;
    } else {
        tc->t = tb->n * tb->t;
        tc->block = even_block(tc->n, rows / tb->n, 1);
        tc->block = tc->block < most / tb->n ? tc->block : most / tb->n;
        if (c->carry && tc->n > TNI_CARRY / tb->n)
            tc->span = TNI_CARRY / tb->n / tc->block * tc->block;
    }
}

/* A tile in a buffer: a few lines of many source rows, short runs of many dst rows. */
static uint64_t shape_staged(tni_copy *c, const tni_nest *nest, int a, int b)
{
    const tni_tile_axis *tb = &c->tile[TNI_B];
    c->straight = c->mover == TNI_MOVE_TURN && runs_are_lines(nest, c->unit);
    int next = b < 0 ? -1 : source_next(nest, a, b, c->unit, c->straight ? 64 : STRAIGHT);
    if (next >= 0 && nest->axis[next].step[0] == c->tile[TNI_A].n * c->unit &&
        c->tile[TNI_A].n * c->unit < RUN_LEAST)
        next = -1; /* dst's run needs it more */
    if (next >= 0)
        c->tile[TNI_C] = whole(&nest->axis[next]);
    c->straight = c->straight && next < 0;
    int64_t lines = c->straight ? STRAIGHT : c->mover == TNI_MOVE_ROWS ? LINES_ROWS : LINES;
    int64_t goal = c->straight ? STRAIGHT : c->mover == TNI_MOVE_ROWS ? RUN_ROWS : RUN;
    int64_t rows = lines / c->unit > 1 ? lines / c->unit : 1;
    rows = rows < ROWS ? rows : ROWS;
    rows = rows < tb->n * c->tile[TNI_C].n ? rows : tb->n * c->tile[TNI_C].n;
    if (goal < TILE / (rows * c->unit))
        goal = TILE / (rows * c->unit) * c->unit;
    int64_t want = TNI_BUFFER / rows - 192;
    uint64_t used = grow_run(c, nest, b, next, want < goal ? want : goal);
    const tni_tile_axis *run = &c->tile[c->run];
    int64_t bytes = run->block * run->d;
    c->straight = c->straight && c->run == TNI_A;
    c->carry = run->block < run->n && bytes >= 128;
    if (c->b_in_run)
        c->tile[TNI_C].block = 1;
    else
        cut_rows(c, rows, bytes);
    return used | (next < 0 ? 0 : (uint64_t)1 << next);
}

/* A tile that goes straight to dst; next to a short axis the other one is longer. */
static void shape_direct(tni_copy *c)
{
    if (c->bytes <= SMALL)
        return;
    for (int k = 0; k < 2; k++) {
        int64_t want = DIRECT, beside = c->tile[1 - k].n * c->unit;
        if (beside < DIRECT / 4 && want < LONG_TILE / beside * c->unit)
            want = LONG_TILE / beside * c->unit;
        c->tile[k].block =
            even_block(c->tile[k].n, want / c->unit, c->unit < 64 ? 64 / c->unit : 1);
    }
}

/* How early a loop runs, inside first: a staged tile moves along the source's rows, then along
 * its own runs; all else by rising steps of the source. */
static int64_t rank(const tni_copy *c, const tni_loop *x)
{
    if (c->staged && x->tile == c->run)
        return -1;
    int rows = c->tile[TNI_B].block < c->tile[TNI_B].n ? TNI_B : TNI_C;
    if (c->staged && !c->b_in_run && x->tile == rows && !x->wide)
        return -2;
    return magnitude(x->s);
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
        add_loop(c, (tni_loop){(n + block - 1) / block, block * x->d, block * x->s, k, wide});
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

/* One block, or one value: pieces of it are the items. */
static void plan_block(tni_copy *c, tni_mover mover)
{
    c->mover = mover;
    c->items = (c->bytes + PIECE - 1) / PIECE;
}

static void plan_tiles(tni_copy *c, tni_nest *nest)
{
    int a = nest->ndim - 1, b = source_fastest(nest);
    if (b == a)
        b = nest->ndim - 2; /* both sides agree; the next axis makes the tile two-dimensional */
    if (b >= 0)
        face_source(c, &nest->axis[b]);
    uint64_t used = (uint64_t)1 << a | (b >= 0 ? (uint64_t)1 << b : 0);
    c->tile[TNI_A] = whole(&nest->axis[a]);
    c->tile[TNI_B] = b >= 0 ? whole(&nest->axis[b]) : (tni_tile_axis){1, 1, 0, 0, 0, 1, -1, -1};
    c->tile[TNI_C] = (tni_tile_axis){1, 1, 0, 0, 0, 1, -1, -1};
    c->ntile = 3;

    if (!by_width(c->unit))
        c->mover = TNI_MOVE_ROWS;
    else if (b >= 0 && c->tile[TNI_B].s == c->unit && c->tile[TNI_A].d == c->unit)
        c->mover = TNI_MOVE_TURN;
    else
        c->mover = TNI_MOVE_STRIDED;
    c->width_log2 = by_width(c->unit) ? tni_width_log2(c->unit) : 0;

    c->pack =
        c->mover == TNI_MOVE_TURN && c->bytes > SMALL && rows_alias(c->unit, c->tile[TNI_A].s);
    c->stream = c->bytes >= tni_cache_sizes()->stream;
    c->staged = c->stream && c->unit < LONG_ROW && c->tile[TNI_A].d == c->unit &&
                dense_run(nest, c->unit) >= RUN_LEAST;
    c->piece = INT64_MAX;
    if (c->staged) {
        used |= shape_staged(c, nest, a, b);
        c->piece = c->unit < PIECE_A ? PIECE_A / c->unit : 1;
        if (c->b_in_run)
            c->piece = PIECE_B / (c->tile[TNI_A].n * c->unit) + 1;
    } else {
        shape_direct(c);
    }
    add_loops(c, nest, used);
}

void tni_copy_plan(tni_copy *c, const tn_tensor *dst, const tn_tensor *src)
{
    tni_nest nest;
    tni_nest_normal(&nest, 2, (const tn_tensor *const[]){dst, src});
    int64_t width = tni_width(dst->dtype);
    c->staged = c->stream = c->pack = c->straight = c->carry = c->b_in_run = false;
    c->ntile = c->nloop = 0;
    c->run = -1;
    c->shift_d = nest.shift[0];
    c->shift_s = nest.shift[1];
    c->items = 1;
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
        c->width_log2 = tni_width_log2(c->unit);
        plan_block(c, TNI_MOVE_FILL);
    } else {
        plan_tiles(c, &nest);
    }
}
