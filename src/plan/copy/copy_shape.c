/* copy_shape.c - how much of a copy is one tile: what the caches hold and what a run needs. */
#include "copy_shape.h"
#include "kernels/kernels.h"
#include "runtime/runtime.h"

enum {
    RUN = 512,           /* bytes that a staged run aims at */
    RUN_ROWS = 2048,     /* the same where rows are dense on both sides */
    LINES_ROWS = 512,    /* bytes of the source from which a tile of rows is gathered */
    ALIGNED_LINES = 128, /* bytes of either side of a tile that is streamed from registers */
    SHIFTED_ROWS = 64,   /* source rows of a tile that is shifted, */
    SHIFTED_RUN = 1024,  /* bytes of its rows in dst where source rows share cache sets, */
    SHIFTED_LINES = 192, /* and bytes of a source row in it */
    TILE = 8192,         /* bytes below which a tile does not pay for its call */
    TILE_RUN = 24576,    /* bytes of a staged tile that is one run */
    LONG_TILE = 65536, /* bytes of a tile beside a short axis that goes aligned_lines to dst */
    LINES = 256,       /* bytes of a source row in a staged tile */
    ROWS = 64,         /* most rows of a staged tile */
    DIRECT = 256,      /* bytes of a source row in a tile that goes aligned_lines to dst */
    DIRECT_RUN = 4096, /* bytes of a row of dst in such a tile */
    SHORT = 128,       /* a shorter row of dst is listed together with the next ones */
    LISTED = 512,      /* bytes of such rows together */
};

/* Cut n into equal blocks near want, in multiples of grain where that leaves more than one. */
static int64_t even_block(int64_t n, int64_t want, int64_t grain)
{
    if (want < 1)
        want = 1;
    if (n <= want + want / 2)
        return n;
    int64_t block = tni_pieces(n, tni_pieces(n, want));
    if (grain > 1)
        block = (block + grain - 1) / grain * grain;
    return block < n ? block : n;
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

/* Gather in the tile the axes that continue dst's run, until it is `want` bytes long. */
static uint64_t grow_run(tni_copy *c, const tni_nest *nest, int b, int next, int64_t want)
{
    uint64_t used = 0;
    int64_t bytes = c->unit;
    for (int i = nest->ndim - 1; i >= 0 && (bytes < want || c->run < 0); i--) {
        const tni_axis *x = &nest->axis[i];
        int at = i == nest->ndim - 1 ? TNI_DST_FAST : i == b ? TNI_SRC_FAST : c->ntile;
        if (x->step[0] != bytes || at == TNI_TILE_AXES || i == next)
            break;
        if (at == c->ntile)
            c->tile[c->ntile++] = tni_whole_axis(x);
        if (at == TNI_SRC_FAST)
            c->b_in_run = true;
        int64_t most = (want + bytes - 1) / bytes;
        if (at == TNI_SRC_FAST && most < LINES / c->unit)
            most = LINES / c->unit; /* whole lines of the source, too */
        if (at == TNI_SRC_FAST && most < TILE_RUN / bytes)
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

/* What the places of dst's rows, beside the first, are multiples of: their lowest bits. */
static int64_t rows_begin(const tni_nest *nest)
{
    int64_t bits = 0;
    for (int i = 0; i < nest->ndim - 1; i++)
        bits |= nest->axis[i].step[0];
    return bits;
}

/* Cut n into equal spans of at most `most`, in whole blocks: threads get equal shares. */
static int64_t even_span(int64_t n, int64_t most, int64_t block)
{
    const int64_t fit = most / block, blocks = tni_pieces(n, block);
    return tni_pieces(blocks, tni_pieces(blocks, fit)) * block;
}

/* Cut the rows of a staged tile: all of b and some of the axis after it, or some of b. */
static void cut_rows(tni_copy *c, int64_t rows, int64_t bytes)
{
    tni_tile_axis *tb = &c->tile[TNI_SRC_FAST], *tc = &c->tile[TNI_SRC_NEXT];
    tb->t = (bytes + 127 + 64) & ~(int64_t)63;
    int64_t most = TNI_BUFFER / tb->t;
    rows = rows < most ? rows : most;
    tb->block = even_block(tb->n, rows, 1);
    tb->block = tb->block < most ? tb->block : most;
    if (tb->block < tb->n) {
        tc->block = 1;
        if (c->carry && tb->n > TNI_CARRY)
            tb->span = even_span(tb->n, TNI_CARRY, tb->block);
    } else {
        tc->t = tb->n * tb->t;
        tc->block = even_block(tc->n, rows / tb->n, 1);
        tc->block = tc->block < most / tb->n ? tc->block : most / tb->n;
        if (c->carry && tc->n > TNI_CARRY / tb->n)
            tc->span = even_span(tc->n, TNI_CARRY / tb->n, tc->block);
    }
}

/* How many rows, step bytes apart, have a line each in the first cache and leave half of it to
 * others; no more than `most` are looked at. */
static int64_t rows_held(int64_t step, int64_t most)
{
    int64_t k = 1, half = tni_cache_sizes()->l1 / TNI_PAGE / 2;
    half = half > 1 ? half : 1;
    step &= TNI_PAGE - 1;
    while (k * half < most && ((k * step + 64) & (TNI_PAGE - 1)) > 128)
        k++;
    return k * half;
}

/* Whether runs of dst that are transposed go out as whole lines, without a buffer: at once where
 * they begin with a line, or else in shifted tiles. */
static void choose_lines(tni_copy *c, const tni_nest *nest)
{
    int64_t begin = rows_begin(nest);
    bool transposes = c->mover == TNI_MOVE_TRANSPOSE;
    c->aligned_lines = transposes && begin % 64 == 0;
    c->shifted =
        transposes && begin % tni_shift_align(c->unit) == 0 &&
        c->tile[TNI_SRC_FAST].n * c->unit >= 16 && !c->pack &&
        tni_kernels_of(tni_isa_level())->copy->transpose_shifted[c->width_log2];
}

/* A tile in a buffer: a few lines of many source rows, short runs of many dst rows. */
uint64_t tni_shape_staged(tni_copy *c, const tni_nest *nest, int a, int b)
{
    const tni_tile_axis *tb = &c->tile[TNI_SRC_FAST];
    choose_lines(c, nest);
    bool whole = c->aligned_lines || c->shifted;
    int next = b < 0 ? -1 : source_next(nest, a, b, c->unit, whole ? 64 : ALIGNED_LINES);
    if (next >= 0 && nest->axis[next].step[0] == c->tile[TNI_DST_FAST].n * c->unit &&
        c->tile[TNI_DST_FAST].n * c->unit < TNI_RUN_LEAST)
        next = -1; /* dst's run needs it more */
    if (next >= 0)
        c->tile[TNI_SRC_NEXT] = tni_whole_axis(&nest->axis[next]);
    c->aligned_lines = c->aligned_lines && next < 0;
    c->shifted = c->shifted && next < 0;
    int64_t lines = c->mover == TNI_MOVE_ROWS ? LINES_ROWS : LINES;
    int64_t goal = c->mover == TNI_MOVE_ROWS ? RUN_ROWS : RUN;
    if (c->aligned_lines) {
        lines = goal = ALIGNED_LINES;
    } else if (c->shifted) {
        bool held = rows_held(c->tile[TNI_DST_FAST].s, SHIFTED_ROWS) >= SHIFTED_ROWS;
        lines = held ? SHIFTED_LINES : ALIGNED_LINES;
        goal = held ? SHIFTED_ROWS * c->unit : SHIFTED_RUN;
    }
    int64_t rows = lines / c->unit > 1 ? lines / c->unit : 1;
    rows = rows < ROWS ? rows : ROWS;
    rows = rows < tb->n * c->tile[TNI_SRC_NEXT].n ? rows : tb->n * c->tile[TNI_SRC_NEXT].n;
    if (goal < TILE / (rows * c->unit))
        goal = TILE / (rows * c->unit) * c->unit;
    int64_t want = TNI_BUFFER / rows - 192;
    uint64_t used = grow_run(c, nest, b, next, want < goal ? want : goal);
    const tni_tile_axis *run = &c->tile[c->run];
    int64_t bytes = run->block * run->d;
    c->aligned_lines = c->aligned_lines && c->run == TNI_DST_FAST;
    c->shifted = c->shifted && c->run == TNI_DST_FAST;
    c->carry = run->block < run->n && bytes >= 128;
    if (c->b_in_run)
        c->tile[TNI_SRC_NEXT].block = 1;
    else
        cut_rows(c, rows, bytes);
    return used | (next < 0 ? 0 : (uint64_t)1 << next);
}

/* Take axis x into the tile as its axis k, as much of it as makes `had` units `want`. */
static int64_t take_axis(tni_copy *c, int k, const tni_axis *x, int64_t had, int64_t want)
{
    c->tile[k] = tni_whole_axis(x);
    c->tile[k].block = even_block(x->n, (want + had - 1) / had, 1);
    if (c->tile[k].block > TNI_INDEXED / had)
        c->tile[k].block = TNI_INDEXED / had;
    return had * c->tile[k].block;
}

/* A tile of short axes that goes aligned_lines to dst: others go on where they end, in dst and in
 * src, and the places of the units are listed. */
static uint64_t shape_indexed(tni_copy *c, const tni_nest *nest, int a, int b)
{
    const tni_tile_axis *x = c->tile;
    uint64_t used = 0;
    if (c->mover != TNI_MOVE_TRANSPOSE || x[TNI_DST_FAST].n * c->unit >= SHORT ||
        x[TNI_SRC_FAST].n * c->unit >= DIRECT ||
        x[TNI_SRC_FAST].d == x[TNI_DST_FAST].n * c->unit)
        return 0;
    int next = source_next(nest, a, b, c->unit, 64);
    int64_t run = x[TNI_DST_FAST].n;
    for (int i = a - 1; i >= 0 && c->ntile < TNI_TILE_AXES; i--) {
        if (i == b || nest->axis[i].step[0] != run * c->unit || run * c->unit >= LISTED)
            break;
        run = take_axis(c, c->ntile++, &nest->axis[i], run, LISTED / c->unit);
        used |= (uint64_t)1 << i;
    }
    if (next >= 0 && !(used >> next & 1)) {
        take_axis(c, TNI_SRC_NEXT, &nest->axis[next], x[TNI_SRC_FAST].n, DIRECT / c->unit);
        used |= (uint64_t)1 << next;
    }
    c->indexed = used != 0;
    return used;
}

/* A tile that goes aligned_lines to dst: rows one after the other; or a long run of dst beside so
 * many rows of it as the cache holds; next to a short axis the other one is longer. */
static void shape_plain(tni_copy *c)
{
    tni_tile_axis *a = &c->tile[TNI_DST_FAST], *b = &c->tile[TNI_SRC_FAST];
    int64_t unit = c->unit, grain = unit < 64 ? 64 / unit : 1;
    if (c->mover == TNI_MOVE_ROWS && !c->stream) {
        a->block = even_block(a->n, LONG_TILE / unit, 1);
        b->block = 1;
        return;
    }
    int64_t rows = DIRECT / unit;
    if (c->mover == TNI_MOVE_TRANSPOSE) {
        rows = rows < ROWS ? rows : ROWS;
        int64_t held = rows_held(b->d, rows);
        rows = rows < held ? rows : held;
    }
    if (a->n * unit <= DIRECT / 4 && rows < LONG_TILE / (a->n * unit))
        rows = LONG_TILE / (a->n * unit);
    int64_t run = c->mover == TNI_MOVE_TRANSPOSE ? DIRECT_RUN : DIRECT;
    if (b->n * unit <= DIRECT / 4 && run < LONG_TILE / b->n)
        run = LONG_TILE / b->n;
    a->block = even_block(a->n, run / unit, grain);
    b->block = even_block(b->n, rows, grain);
}

uint64_t tni_shape_direct(tni_copy *c, const tni_nest *nest, int a, int b)
{
    uint64_t used = shape_indexed(c, nest, a, b);
    if (!used)
        shape_plain(c);
    return used;
}
