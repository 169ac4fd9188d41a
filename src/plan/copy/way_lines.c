/* way_lines.c - transposes tiles in registers into whole lines of dst, which are streamed.  If
 * rows of dst do not begin at a line, the lines are shifted against the blocks. */
#include "copy_shape.h"
#include "copy_walk.h"
#include "runtime/runtime.h"

/* Bytes, measured on an Intel Xeon (docs/investigations/0001); AMD Zen 4 agrees within its
 * noise. */
enum {
    LONG_ROW = 4096, /* a row of dst that is this long may begin inside a line */
    LINES = 128,     /* of either side of a tile of aligned lines: pairs of lines */
    /* Bytes of its rows of dst if axes and source pieces are long: 0.76 becomes 0.92 of R on
     * one thread of AMD Zen 4; 512 falls to 0.84. */
    WIDE = 256,
    LONG_AXIS = 1024,    /* shorter axes lose up to a half with WIDE */
    SHIFTED_ROWS = 64,   /* source rows of a shifted tile */
    SHIFTED_RUN = 1024,  /* bytes of its rows in dst if source rows share cache sets */
    SHIFTED_LINES = 192, /* bytes of a source row in it if they do not */
};

/* The steps of dst from row to row, as one mask: every row's address, relative to the first, is
 * a multiple of its lowest bit. */
static int64_t rows_begin(const tni_nest *nest)
{
    int64_t bits = 0;
    for (int i = 0; i < nest->ndim - 1; i++)
        bits |= nest->axis[i].step[0];
    return bits;
}

/* The alignment that dst needs if its rows have `row` bytes.  A line inside which a row begins
 * is written with ordinary stores, which long rows can afford. */
static int64_t rows_align(const tni_copy *c, int64_t row)
{
    return row >= LONG_ROW ? c->unit : TNI_LINE;
}

static int64_t lines_align(const tni_copy *c)
{
    return rows_align(c, c->tile[TNI_DST_FAST].n * c->unit);
}

bool tni_lines_fit(const tni_copy *c, const tni_copy_case *of)
{
    return rows_begin(of->nest) % TNI_LINE == 0 &&
           of->address % rows_align(c, of->nest->axis[of->a].n * c->unit) == 0;
}

/* The lanes of the permutation are units, or halves of units of 16 bytes. */
static int64_t lane_bytes(const tni_copy *c)
{
    return c->unit < 8 ? c->unit : 8;
}

static bool can_shift(const tni_copy *c)
{
    return !c->packs && c->tile[TNI_SRC_FAST].n * c->unit >= 16 &&
           c->kernels->transpose_shifted[c->log2_width];
}

/* Shifting may be impossible when this way is the fallback of aligned lines: TNI_LINE then
 * leaves dst to the next fallback. */
static int64_t shifted_align(const tni_copy *c)
{
    return can_shift(c) ? lane_bytes(c) : TNI_LINE;
}

/* Shape the tile for the buffer, which is the fallback; the run must not leave DST_FAST. */
static bool lines_shape(tni_copy *c, const tni_copy_case *of, int64_t lines, int64_t goal)
{
    uint64_t used = tni_stage_shape(c, of, -1, lines, goal);
    if (c->stage.run != TNI_DST_FAST)
        return false;
    tni_stage_pieces(c);
    tni_copy_order(c, of, used, tni_key_staged);
    return true;
}

static bool lines_plan(tni_copy *c, const tni_copy_case *of)
{
    if (!tni_stage_fits(c, of) || !tni_lines_fit(c, of) || tni_stage_next(c, of, TNI_LINE) >= 0)
        return false;
    const tni_axis *a = &of->nest->axis[of->a], *b = &of->nest->axis[of->b];
    const int64_t piece = c->packs ? LINES : of->tuning.number[TNI_LINE_PIECE];
    const int64_t shorter = a->n < b->n ? a->n : b->n;
    return lines_shape(c, of, piece,
                       piece > LINES && shorter * c->unit >= LONG_AXIS ? WIDE : LINES);
}

static bool shifted_plan(tni_copy *c, const tni_copy_case *of)
{
    if (!tni_stage_fits(c, of) || rows_begin(of->nest) % lane_bytes(c) != 0)
        return false;
    tni_tile_begin(c, of);
    if (!can_shift(c) || tni_stage_next(c, of, TNI_LINE) >= 0)
        return false;
    bool held = tni_rows_held(c->tile[TNI_DST_FAST].s, SHIFTED_ROWS) >= SHIFTED_ROWS;
    return lines_shape(c, of, held ? SHIFTED_LINES : LINES,
                       held ? SHIFTED_ROWS * c->unit : SHIFTED_RUN);
}

/* If the side that is dense along axis x begins `lag` units into a line, every tile but the
 * first begins, and every tile but the last ends, `lag` units earlier.  Returns how much
 * earlier the tile at `at` begins, and corrects its extent *n. */
static int64_t lines_earlier(const tni_tile_axis *x, const int64_t *at, int64_t lag, int64_t *n)
{
    const int64_t from =
        (x->loop < 0 ? 0 : at[x->loop] * x->block) + (x->wide < 0 ? 0 : at[x->wide] * x->span);
    const int64_t back = from > 0 ? lag : 0;
    *n += back - (from + *n < x->n ? lag : 0);
    return back;
}

/* How many units into a line src begins, if all its rows do so and tiles have a line of each;
 * otherwise 0. */
static int64_t source_lag(const tni_copy_job *j)
{
    const tni_copy *c = j->c;
    const int64_t lag = (int64_t)((uintptr_t)j->s % TNI_LINE);
    const bool even = lag % c->unit == 0 && c->tile[TNI_DST_FAST].s % TNI_LINE == 0 &&
                      c->tile[TNI_SRC_FAST].block * c->unit >= TNI_LINE;
    return even ? lag / c->unit : 0;
}

/* Each item prefetches what the next one reads. */
static void lines_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *a = &c->tile[TNI_DST_FAST], *b = &c->tile[TNI_SRC_FAST];
    const int64_t lag = (int64_t)((uintptr_t)j->d % TNI_LINE) / c->unit, s_lag = source_lag(j);
    tni_walk w;
    tni_copy_seek(c, &w, first);
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES] = {0}, at = w.offset[1];
        char *d = j->d + w.offset[0];
        const char *s = j->s + at;
        const bool some = tni_tile_extents(c, w.at, n);
        const int64_t back_a = lines_earlier(a, w.at, lag, &n[TNI_DST_FAST]);
        const int64_t back_b = lines_earlier(b, w.at, s_lag, &n[TNI_SRC_FAST]);
        tni_walk_next(&w);
        if (!some)
            continue;
        d -= back_a * a->d + back_b * b->d;
        s -= back_a * a->s + back_b * b->s;
        int64_t head = (int64_t)(-(uintptr_t)d % TNI_LINE) / c->unit;
        head = head < n[TNI_DST_FAST] ? head : n[TNI_DST_FAST];
        if (head > 0) {
            const int64_t part[2] = {head, n[TNI_SRC_FAST]};
            tni_transpose_tile(j, d, b->d, s, part, w.offset[1] - at, false);
        }
        n[TNI_DST_FAST] -= head;
        if (n[TNI_DST_FAST] > 0)
            tni_transpose_tile(j, d + head * a->d, b->d, s + head * a->s, n, w.offset[1] - at,
                               true);
    }
}

static void shifted_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *a = &c->tile[TNI_DST_FAST], *b = &c->tile[TNI_SRC_FAST];
    tni_walk w;
    tni_copy_seek(c, &w, first);
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES], s = w.offset[1];
        int64_t from = a->loop < 0 ? 0 : w.at[a->loop] * a->block;
        char *d = j->d + w.offset[0];
        const bool some = tni_tile_extents(c, w.at, n);
        tni_walk_next(&w);
        if (some)
            j->k->transpose_shifted[c->log2_width](d, b->d, j->s + s, a->s, n[TNI_DST_FAST],
                                                   n[TNI_SRC_FAST], w.offset[1] - s, from == 0,
                                                   from + n[TNI_DST_FAST] == a->n);
    }
}

const tni_copy_way tni_way_lines = {
    .name = "transpose lines",
    .why = "rows of dst begin equally far into a line, and dst is larger than the cache",
    .stores = "whole lines from registers, streamed",
    .kind = TNI_COPY_TRANSPOSE,
    .beyond = true,
    .plan = lines_plan,
    .run = lines_run,
    .dst_align = lines_align,
    .fallback = &tni_way_shifted,
};
const tni_copy_way tni_way_shifted = {
    .name = "transpose shifted",
    .why = "rows of dst are unaligned: each line joins the ends of two tiles",
    .stores = "whole lines from registers, streamed",
    .kind = TNI_COPY_TRANSPOSE,
    .beyond = true,
    .plan = shifted_plan,
    .run = shifted_run,
    .dst_align = shifted_align,
    .fallback = &tni_way_transpose_staged,
};
