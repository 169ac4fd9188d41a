/* way_staged.c - gathers tiles in a buffer in dst's order and streams whole runs from there:
 * for every kind of copy beyond the cache whose units are too short to be streamed one by one
 * but continue along dst's fastest axis in runs of two lines or more (tni_stage_fits). */
#include "copy_shape.h"
#include "copy_walk.h"
#include "line_buffer.h"

/* Sizes in bytes, measured on an Intel Xeon (docs/investigations/0001). */
enum {
    RUN_LEAST = 128,    /* a shorter run is not worth a buffer: half of its lines are partial */
    RUN = 512,          /* target of a run: memory takes eight lines of a row at full speed */
    RUN_ROWS = 2048,    /* the same if rows are dense on both sides */
    SOURCE = 256,       /* of a source row in a tile */
    SOURCE_ROWS = 512,  /* the same if rows are dense on both sides */
    SOURCE_LEAST = 128, /* a source row of two lines is not joined with another axis */
    ROWS = 64,          /* most rows of a tile */
    TILE = 8192,        /* of a tile of few rows: smaller ones do not pay for their call */
    TILE_RUN = 24576,   /* of a tile that is one run */
    PIECE = 64,         /* along DST_FAST, gathered between two parts of a flush */
    PIECE_RUN = 16384,  /* along SRC_FAST if the tile is one run, of a short DST_FAST */
    BUFFER = 40 * 1024, /* of one tile: two of them and the saved lines fit L2, and the stack */
    PARTIAL_ROWS = 1024, /* most rows whose partial lines are saved: the longest span */
    /* A row of the buffer has this much beside its run: the restored line, and the rest of the
     * two lines in which it begins and ends. */
    LEAD_AND_TAIL = 192,
};

/* ---- the shape ---- */

/* Add to the tile the axes that continue dst's run, until it is `want` bytes long; returns them
 * as a mask. */
static uint64_t grow_run(tni_copy *c, const tni_copy_case *of, int next, int64_t want)
{
    const tni_nest *nest = of->nest;
    tni_stage *g = &c->stage;
    uint64_t used = 0;
    int64_t bytes = c->unit;
    for (int i = nest->ndim - 1; i >= 0 && (bytes < want || g->run < 0); i--) {
        const tni_axis *x = &nest->axis[i];
        int at = i == of->a ? TNI_DST_FAST : i == of->b ? TNI_SRC_FAST : c->ntile;
        if (x->step[0] != bytes || at == TNI_TILE_AXES || i == next)
            break;
        if (at == c->ntile)
            c->tile[c->ntile++] = tni_whole_axis(x);
        int64_t most = (want + bytes - 1) / bytes;
        if (at == TNI_SRC_FAST) {
            g->one_run = true;
            most = most > SOURCE / c->unit ? most : SOURCE / c->unit; /* whole source lines */
            most = most > TILE_RUN / bytes ? most : TILE_RUN / bytes;
        }
        if (most > BUFFER * 2 / 3 / bytes) /* even_block may give half as much again */
            most = BUFFER * 2 / 3 / bytes;
        c->tile[at].block = tni_even_block(x->n, most, bytes < 64 ? 64 / bytes : 1);
        g->run = at;
        used |= (uint64_t)1 << i;
        bytes *= x->n;
    }
    return used;
}

/* Divide n into equal spans of at most `most`, in whole blocks, so that threads get equal
 * shares. */
static int64_t even_span(int64_t n, int64_t most, int64_t block)
{
    const int64_t fit = most / block, blocks = tni_ceil_div(n, block);
    return tni_ceil_div(blocks, tni_ceil_div(blocks, fit)) * block;
}

/* Limit the rows of a tile to a part of SRC_FAST, or to all of it and a part of SRC_NEXT. */
static void cut_rows(tni_copy *c, int64_t rows, int64_t bytes)
{
    tni_tile_axis *tb = &c->tile[TNI_SRC_FAST], *tc = &c->tile[TNI_SRC_NEXT];
    tb->t = (bytes + LEAD_AND_TAIL - 1) & ~(int64_t)63;
    int64_t most = BUFFER / tb->t;
    rows = rows < most ? rows : most;
    tb->block = tni_even_block(tb->n, rows, 1);
    tb->block = tb->block < most ? tb->block : most;
    if (tb->block < tb->n) {
        tc->block = 1;
        if (c->stage.partial_lines && tb->n > PARTIAL_ROWS)
            tb->span = even_span(tb->n, PARTIAL_ROWS, tb->block);
    } else {
        tc->t = tb->n * tb->t;
        tc->block = tni_even_block(tc->n, rows / tb->n, 1);
        tc->block = tc->block < most / tb->n ? tc->block : most / tb->n;
        if (c->stage.partial_lines && tc->n > PARTIAL_ROWS / tb->n)
            tc->span = even_span(tc->n, PARTIAL_ROWS / tb->n, tc->block);
    }
}

uint64_t tni_stage_shape(tni_copy *c, const tni_copy_case *of, int next, int64_t lines,
                         int64_t goal)
{
    uint64_t used = tni_tile_begin(c, of);
    if (next >= 0)
        c->tile[TNI_SRC_NEXT] = tni_whole_axis(&of->nest->axis[next]);
    const int64_t all = c->tile[TNI_SRC_FAST].n * c->tile[TNI_SRC_NEXT].n;
    int64_t rows = lines / c->unit > 1 ? lines / c->unit : 1;
    rows = rows < ROWS ? rows : ROWS;
    rows = rows < all ? rows : all;
    const int64_t longest = TILE / (rows * c->unit); /* units of a run in TILE bytes */
    if (goal < longest)                              /* a tile of few short rows */
        goal = longest * c->unit;
    int64_t want = BUFFER / rows - LEAD_AND_TAIL;
    c->stage = (tni_stage){.run = -1};
    used |= grow_run(c, of, next, want < goal ? want : goal);
    const tni_tile_axis *run = &c->tile[c->stage.run];
    int64_t bytes = run->block * run->d;
    c->stage.partial_lines = run->block < run->n && bytes >= 2 * TNI_LINE;
    if (c->stage.one_run)
        c->tile[TNI_SRC_NEXT].block = 1;
    else
        cut_rows(c, rows, bytes);
    return used | (next < 0 ? 0 : (uint64_t)1 << next);
}

/* Set how many units one kernel call gathers before a part of the waiting tile is streamed. */
void tni_stage_pieces(tni_copy *c)
{
    c->streams = true;
    c->stage.piece = c->unit < PIECE ? PIECE / c->unit : 1;
    if (c->stage.one_run)
        c->stage.piece = PIECE_RUN / (c->tile[TNI_DST_FAST].n * c->unit) + 1;
}

/* Tiles advance along the source's rows first, then along their runs. */
int64_t tni_key_staged(const tni_copy *c, const tni_copy_loop *loop)
{
    const tni_tile_axis *b = &c->tile[TNI_SRC_FAST];
    if (loop->tile == c->stage.run)
        return -1;
    if (!c->stage.one_run && loop->tile == (b->block < b->n ? TNI_SRC_FAST : TNI_SRC_NEXT) &&
        !loop->wide)
        return -2;
    return tni_abs_step(loop->s);
}

bool tni_stage_fits(const tni_copy *c, const tni_copy_case *of)
{
    return of->beyond && c->unit < of->tuning.number[TNI_ROWS_DIRECT] &&
           of->nest->axis[of->a].step[0] == c->unit && of->dense >= RUN_LEAST;
}

int tni_stage_next(const tni_copy *c, const tni_copy_case *of, int64_t enough)
{
    const tni_axis *a = &of->nest->axis[of->a];
    int next = tni_source_next(c, of, enough);
    if (next >= 0 && of->nest->axis[next].step[0] == a->n * c->unit &&
        a->n * c->unit < RUN_LEAST)
        return -1; /* dst's run needs it more */
    return next;
}

static bool staged_plan(tni_copy *c, const tni_copy_case *of)
{
    if (!tni_stage_fits(c, of))
        return false;
    const bool rows = of->kind == TNI_COPY_ROWS;
    uint64_t used = tni_stage_shape(c, of, tni_stage_next(c, of, SOURCE_LEAST),
                                    rows ? SOURCE_ROWS : SOURCE, rows ? RUN_ROWS : RUN);
    tni_stage_pieces(c);
    tni_copy_order(c, of, used, tni_key_staged);
    return true;
}

/* ---- running ---- */

/* Gather one tile at t and, between its pieces, stream parts of the waiting tile. */
static void gather_tile(const tni_copy_job *j, char *t, const char *s, const int64_t *n,
                        int64_t ahead, tni_line_buffer *wait)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *x = c->tile;
    const int64_t t_step[2] = {x[TNI_DST_FAST].t, x[TNI_SRC_FAST].t};
    const int along = c->stage.one_run ? TNI_SRC_FAST : TNI_DST_FAST;
    tni_axis more[TNI_TILE_AXES];
    for (int k = 2; k < c->ntile; k++) /* the last axis of the tile is the outermost one */
        more[c->ntile - 1 - k] = (tni_axis){.n = n[k], .step = {x[k].t, x[k].s}};
    tni_walk w;
    tni_walk_seek(&w, more, c->ntile - 2, 2, 0);
    do {
        for (int64_t i = 0, m; i < n[along]; i += m) {
            const int64_t left = n[along] - i; /* a short rest joins the last piece */
            m = left - c->stage.piece < c->stage.piece / 2 ? left : c->stage.piece;
            int64_t part[2] = {n[TNI_DST_FAST], n[TNI_SRC_FAST]};
            part[along] = m;
            tni_copy_tile(j, t + w.offset[0] + i * t_step[along], t_step,
                          s + w.offset[1] + i * x[along].s, part, ahead);
            tni_line_buffer_flush(wait, j->k, part[0] * part[1] * c->unit);
        }
    } while (tni_walk_next(&w) < c->ntile - 2);
}

static tni_line_buffer buffer_of(const tni_copy *c, const int64_t *n, char *d, char *t)
{
    const tni_tile_axis *x = c->tile;
    const bool one = c->stage.one_run;
    return (tni_line_buffer){
        .d = d,
        .t = t,
        .d_row = x[TNI_SRC_FAST].d,
        .d_group = x[TNI_SRC_NEXT].d,
        .t_row = x[TNI_SRC_FAST].t,
        .each = one ? 1 : n[TNI_SRC_FAST],
        .rows = one ? 1 : n[TNI_SRC_FAST] * n[TNI_SRC_NEXT],
        .run = n[c->stage.run] * x[c->stage.run].d,
    };
}

static void staged_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *run = &c->tile[c->stage.run], *x = c->tile;
    _Alignas(64) char buffer[2][TNI_LINE + BUFFER], saved[PARTIAL_ROWS * TNI_LINE];
    const tni_tile_axis *cut = x[TNI_SRC_FAST].loop >= 0 ? &x[TNI_SRC_FAST] : &x[TNI_SRC_NEXT];
    const bool by_rows = !c->stage.one_run && cut->loop >= 0, carries = c->stage.partial_lines;
    int64_t period = by_rows ? c->loop[cut->loop].n : 1; /* items until a run continues */
    int64_t each = cut == &x[TNI_SRC_FAST] ? TNI_LINE : x[TNI_SRC_FAST].n * TNI_LINE;
    tni_line_buffer wait = {0};
    tni_walk w;
    tni_copy_seek(c, &w, first);
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES], s = w.offset[1];
        const bool some = tni_tile_extents(c, w.at, n);
        const int64_t q = run->loop < 0 ? 0 : w.at[run->loop];
        char *line = saved + (by_rows && carries ? w.at[cut->loop] * cut->block * each : 0);
        char *d = j->d + w.offset[0], *t = buffer[wait.t == buffer[0] + TNI_LINE] + TNI_LINE;
        tni_walk_next(&w);
        if (!some)
            continue;
        tni_line_buffer tile = buffer_of(c, n, d, t);
        tile.joined = carries && q > 0 && item - period >= first;
        tile.goes_on = carries && q + 1 < c->loop[run->loop].n && item + period < last;
        ASSERT(tile.t_row * (tile.rows - 1) + tile.run <= BUFFER);
        ASSERT(!carries || line + tile.rows * TNI_LINE <= saved + sizeof saved);
        tni_line_buffer_prefetch(&tile);
        gather_tile(j, tile.t, j->s + s, n, w.offset[1] - s, &wait);
        tni_line_buffer_flush(&wait, j->k, INT64_MAX / 2);
        if (tile.joined)
            tni_line_buffer_restore(&tile, line);
        if (tile.goes_on)
            tni_line_buffer_save(&tile, line);
        wait = tile;
    }
    tni_line_buffer_flush(&wait, j->k, INT64_MAX / 2);
}

#define STREAMED "runs from a buffer, streamed"

const tni_copy_way tni_way_transpose_staged = {
    .name = "transpose staged",
    .why = "tiles are transposed into a buffer: dst is larger than the cache",
    .stores = STREAMED,
    .kind = TNI_COPY_TRANSPOSE,
    .beyond = true,
    .staged = true,
    .plan = staged_plan,
    .run = staged_run,
};
const tni_copy_way tni_way_rows_staged = {
    .name = "rows staged",
    .why = "short rows are dense on both sides, and dst is larger than the cache",
    .stores = STREAMED,
    .kind = TNI_COPY_ROWS,
    .beyond = true,
    .staged = true,
    .plan = staged_plan,
    .run = staged_run,
};
const tni_copy_way tni_way_strided_staged = {
    .name = "strided staged",
    .why = "dst is dense where src is not, and larger than the cache",
    .stores = STREAMED,
    .kind = TNI_COPY_STRIDED,
    .beyond = true,
    .staged = true,
    .plan = staged_plan,
    .run = staged_run,
};
