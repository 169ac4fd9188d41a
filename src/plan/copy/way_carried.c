/* way_carried.c - transposes beyond the cache whose rows of dst begin anywhere, or whose axes
 * are short.
 *
 * Rows of dst continue through all axes along which they are dense, over source rows whose
 * offsets are listed.  The line in which one tile ends is carried over, and the next tile
 * completes it in registers.
 *
 *     source piece   bytes that are dense in src, along the axes S: its units are rows of dst
 *     run            bytes that are dense in dst, along the axes D: one unit of each listed
 *                    source row
 *     item           a segment of the run of a source piece; those of one run are in a row */
#include "copy_run_axes.h"
#include "copy_shape.h"
#include "copy_walk.h"
#include "runtime/runtime.h"

/* Measured on AMD Zen 4 (32 KB of L1, 2 threads), with the same copies at offsets of 16
 * bytes. */
enum {
    PIECE = 1024,      /* bytes of a source piece: 512 and 2048 are slower by a tenth */
    RUN = 8192,        /* bytes of a run that absorbs no further axis */
    RUN_LEAST = 128,   /* fewest units of a run, whose two ends are partial lines */
    RUN_NARROW = 4096, /* bytes of a run from which narrow elements may do better elsewhere */
    /* Fewest bytes of adjoining runs if a line is several vectors: with AVX2, runs of 128 bytes
     * have 0.77 to 1.3 times the speed of a buffer. */
    JOINED_PARTS = 384,
    SEGMENT = 2048,  /* units of a run in an item */
    ROWS_LEAST = 64, /* fewest bytes of rows that are dense on both sides */
    /* Rows of fewer bytes are carried if they share lines with rows far away: from 0.67 to 0.87
     * of R for 1.9 KB; 0.75 for 1.5 KB while L2 still has those rows. */
    ROWS_FAR = 4096,
    SEGMENT_ROWS = 65536, /* bytes of a run of rows in an item */
    CHUNK = 64,           /* listed rows in a call; their lines stay in L1 */
    CHUNK_1 = 128, /* the same for single bytes, two lines of dst: 1.06 times the speed */
    /* Fewest bytes of a unit for which carrying may beat aligned lines: with smaller ones,
     * squares of powers of two fall to 0.69 (u8) and 0.81 (f16). */
    UNIT_LEAST = 4,
    HELD = 16,       /* if L1 holds fewer rows, they are packed */
    HELD_L2 = CHUNK, /* rows that L2 must hold, where those of the next call are prefetched */
    LIST = TNI_CARRY_LIST
};

/* ---- the plan ---- */

/* Form a source piece from the axes that are dense in src from b on, until it is long enough;
 * the last axis may be split.  Returns used with these axes added. */
static uint64_t take_piece(tni_copy *c, const tni_copy_case *of, uint64_t used)
{
    const tni_nest *nest = of->nest;
    int64_t most = PIECE / c->unit < TNI_CARRY_ROWS ? PIECE / c->unit : TNI_CARRY_ROWS, n = 1;
    most = most > 1 ? most : 1; /* a unit may be longer than a piece */
    int i = of->b;
    for (; i >= 0 && c->ntile < TNI_PIECE_AXES; c->ntile++) {
        tni_tile_axis *x = &c->tile[c->ntile];
        *x = tni_whole_axis(&nest->axis[i]);
        used |= (uint64_t)1 << i;
        if (x->n > most / n) {
            const int64_t even = tni_ceil_div(x->n, tni_ceil_div(x->n, most / n));
            const int64_t grain = c->unit < 64 ? 64 / c->unit : 1;
            const int64_t whole = (even + grain - 1) / grain * grain;
            const bool fits = c->ntile == 0 && whole <= most && /* whole lines of the source */
                              (x->n % whole == 0 || x->n % whole * c->unit >= 16);
            x->block = fits ? whole : even;
        }
        n *= x->block;
        int next = -1;
        for (int k = 0; k < nest->ndim && x->block == x->n && 2 * n <= most; k++)
            if (!(used >> k & 1) && nest->axis[k].step[1] == n * c->unit)
                next = k;
        i = next;
    }
    c->carried.piece_axes = c->ntile;
    c->carried.rows = n;
    return used;
}

/* The pieces of one run of dst come one after the other; the other loops are ordered by their
 * step in dst. */
static int64_t key_carried(const tni_copy *c, const tni_copy_loop *loop)
{
    (void)c;
    return loop->tile >= 0 ? -1 : tni_abs_step(loop->d);
}

/* Whether carrying beats aligned lines where those fit: only if the source's own axis is short,
 * other axes continue it, and dst's run is long (AMD Zen 4: 1.05 to 1.4 times the speed then,
 * 0.65 to 0.95 otherwise; 0.4 if rows of dst are whole pages apart). */
static bool beats_lines(const tni_copy *c, const tni_copy_case *of)
{
    return of->nest->axis[of->b].step[0] % TNI_L1_ALIAS != 0 && !c->packs &&
           of->nest->axis[of->b].n * c->unit < PIECE / 2 &&
           c->carried.run >= of->tuning.number[TNI_CARRIED_RUN] &&
           c->carried.rows * c->unit >= PIECE / 2;
}

/* Carrying also beats aligned lines if L1 does not hold the source rows of a block of lines but
 * L2 holds those of a call: 1.0 to 1.7 times the speed (AMD Zen 4,
 * docs/investigations/copies-at-any-address.md). */
static bool beats_lines_not_held(const tni_copy *c, const tni_copy_case *of)
{
    const int64_t step = of->nest->axis[of->a].step[1],
                  run = of->tuning.number[TNI_CARRIED_RUN];
    return c->unit >= UNIT_LEAST && of->nest->axis[of->b].n * c->unit > 64 &&
           tni_rows_held(step, HELD) < HELD && tni_rows_held_l2(step, HELD_L2) >= HELD_L2 &&
           c->carried.run >= (c->packs ? 4 * run : run / 2) && c->kernels->line_parts == 1;
}

/* Whether the ways that follow are faster: for long rows of narrow elements where 16 bytes of a
 * source row may cross a line and need two loads, they have 1.15 to 1.35 times the speed with
 * AVX-512 (AMD Zen 4, docs/investigations/copies-at-any-address.md). */
static bool beaten_when_narrow(const tni_copy *c, const tni_copy_case *of)
{
    return c->unit < UNIT_LEAST && !c->packs && of->nest->axis[of->a].step[1] % 16 != 0 &&
           c->carried.run_axes == 1 && c->carried.run * c->unit >= RUN_NARROW &&
           c->kernels->line_parts == 1;
}

static bool carried_plan(tni_copy *c, const tni_copy_case *of)
{
    const tni_axis *b = &of->nest->axis[of->b];
    const bool lines = tni_lines_fit(c, of), thin = b->n * c->unit <= 64;
    const bool held = tni_rows_held(of->nest->axis[of->a].step[1], HELD) >= HELD;
    const bool whole = c->kernels->line_parts == 1;
    if (!c->kernels->transpose_carried[c->log2_width] ||
        (lines && of->address && (c->packs || thin || !held || !whole)))
        return false;
    c->ntile = 0;
    c->carried = (tni_carried){0};
    uint64_t used = tni_run_take(c, of, of->b, RUN);
    const bool joins = b->step[0] == c->carried.run * c->unit;
    if (c->carried.run < (joins ? (whole ? 64 : JOINED_PARTS) / c->unit : RUN_LEAST))
        return false;
    used = take_piece(c, of, used);
    if (lines && !of->address && !beats_lines(c, of) && !beats_lines_not_held(c, of))
        return false;
    const tni_tile_axis *last = &c->tile[c->ntile - 1];
    int64_t least = c->carried.rows / last->block; /* rows of the last piece along its axis */
    least *= last->n % last->block ? last->n % last->block : last->block;
    if (least * c->unit < 16)
        return false;
    c->packs = c->packs || !held;
    if (beaten_when_narrow(c, of))
        return false;
    c->streams = true;
    tni_copy_order(c, of, used, key_carried);
    tni_run_segments(c, SEGMENT);
    return true;
}

/* The length in bytes from which rows are streamed one by one, in the source's order.  It is
 * larger if rows begin or end inside a line and L2 has evicted that line when the row with the
 * rest of it comes. */
static int64_t rows_direct_from(const tni_copy *c, const tni_copy_case *of)
{
    const int64_t direct = of->tuning.number[TNI_ROWS_DIRECT];
    const bool whole = (of->address | c->unit) % 64 == 0;
    const bool far = tni_abs_step(of->nest->axis[of->a].step[1]) > tni_cache_sizes()->l2;
    return !whole && far && direct < ROWS_FAR ? ROWS_FAR : direct;
}

/* Plan rows that are dense on both sides; a source piece is a single row unless others follow
 * it in src. */
static bool rows_carried_plan(tni_copy *c, const tni_copy_case *of)
{
    if (!c->kernels->rows_carried || c->unit < ROWS_LEAST ||
        c->unit >= rows_direct_from(c, of) || of->dense < RUN)
        return false;
    const bool piece = of->b >= 0 && of->nest->axis[of->b].step[1] == c->unit;
    c->ntile = 0;
    c->carried = (tni_carried){.rows = 1};
    uint64_t used = tni_run_take(c, of, piece ? of->b : -1, piece ? RUN : INT64_MAX);
    if (piece)
        used = take_piece(c, of, used);
    c->streams = true;
    tni_copy_order(c, of, used, piece ? key_carried : tni_key_by_source);
    tni_run_segments(c, SEGMENT_ROWS / c->unit > CHUNK ? SEGMENT_ROWS / c->unit : CHUNK);
    return true;
}

/* ---- running ---- */

/* One call of the kernel: source rows at s + at[i]. */
typedef struct chunk {
    const char *s;
    char *d;
    int64_t na, nb;
    bool begins, ends;
    int64_t n[TNI_TILE_AXES]; /* extents of the piece */
    int64_t at[LIST];
} chunk;

/* An iterator over the chunks of items [item, last). */
typedef struct chunks {
    const tni_copy_job *j;
    int64_t item, last, left; /* left: units of the current segment that are not listed yet */
    bool fresh;               /* the next chunk begins a run */
    bool ends_run;            /* the current segment is the run's last */
    tni_walk w, run;
    int64_t n[TNI_TILE_AXES], nb;
    char *d;
    const char *s;
} chunks;

static void chunks_item(chunks *q)
{
    const tni_copy *c = q->j->c;
    int64_t from, to;
    q->ends_run = tni_run_segment(c, &q->w, &from, &to) + 1 == c->carried.segments;
    q->left = to - from;
    q->s = q->j->s + q->w.offset[1];
    q->d = q->j->d + q->w.offset[0];
    tni_tile_extents(c, q->w.at, q->n);
    q->nb = 1;
    for (int i = 0; i < c->carried.piece_axes; i++)
        q->nb *= q->n[i];
    if (q->fresh)
        tni_walk_seek(&q->run, c->carried.run_axis, c->carried.run_axes, 2, from);
}

/* Make the next chunk; false if there is none. */
static bool chunks_next(chunks *q, chunk *k)
{
    const tni_copy *c = q->j->c;
    if (q->item == q->last)
        return false;
    k->s = q->s;
    k->d = q->d;
    k->nb = q->nb;
    k->begins = q->fresh;
    const int64_t each = c->unit == 1 ? CHUNK_1 : CHUNK, most = each + CHUNK / 2 + 64;
    k->na = q->left < (most < LIST ? most : LIST) ? q->left : each;
    for (int i = 0; i < c->carried.piece_axes; i++)
        k->n[i] = q->n[i];
    tni_run_list(&q->run, k->at, k->na);
    q->left -= k->na;
    k->ends = false;
    q->fresh = false;
    if (q->left == 0) {
        k->ends = q->fresh = q->ends_run || q->item + 1 == q->last;
        tni_walk_next(&q->w);
        if (++q->item < q->last)
            chunks_item(q);
    }
    return true;
}

/* Set where the rows of dst begin: at the units of the piece. */
static void begin_rows(const tni_copy *c, const chunk *k, tni_carry *state)
{
    state->at[0] = k->d;
    int64_t had = 1;
    for (int i = 0; i < c->carried.piece_axes; i++)
        for (int64_t end = had * k->n[i], from = had; had < end; had++)
            state->at[had] = state->at[had - from] + c->tile[i].d;
    const int64_t run = c->carried.run * c->unit;
    for (int64_t b = 0; b < had; b++)
        state->joins[b] =
            c->carried.segments == 1 && b + 1 < had && state->at[b] + run == state->at[b + 1];
    for (int64_t b = 0; b < had; b++) {
        state->lag[b] = (uint8_t)((uintptr_t)state->at[b] & 63);
        state->at[b] -= state->lag[b];
    }
}

static void carried_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    tni_carry state;
    state.packs = c->packs;
    state.steps = 0;
    for (int i = 0; i < c->carried.run_axes; i++)
        state.steps |= c->carried.run_axis[i].step[1];
    for (int64_t i = 0; c->packs && i < LIST; i++)
        state.side_at[i] = i * 64;
    chunk two[2];
    chunks q = {.j = j, .item = first, .last = last, .fresh = true};
    tni_copy_seek(c, &q.w, first);
    chunks_item(&q);
    chunks_next(&q, &two[0]);
    for (int at = 0;; at ^= 1) {
        const chunk *now = &two[at];
        chunk *then = &two[at ^ 1];
        const bool more = chunks_next(&q, then);
        if (now->begins)
            begin_rows(c, now, &state);
        const char *next = more ? then->s : NULL;
        const int64_t next_n = more ? then->na : 0;
        if (c->way->kind == TNI_COPY_ROWS)
            j->k->rows_carried(&state, now->s, now->at, now->na, now->nb, c->unit, now->begins,
                               now->ends, next, then->at, next_n);
        else
            j->k->transpose_carried[c->log2_width](&state, now->s, now->at, now->na, now->nb,
                                                   now->begins, now->ends, next, then->at,
                                                   next_n);
        if (!more)
            break;
    }
}

const tni_copy_way tni_way_carried = {
    .name = "transpose carried",
    .why =
        "rows of dst are unaligned, or its axes are short: lines carry over from tile to tile",
    .stores = "whole lines from registers, streamed",
    .kind = TNI_COPY_TRANSPOSE,
    .beyond = true,
    .plan = carried_plan,
    .run = carried_run,
};
const tni_copy_way tni_way_rows_carried = {
    .name = "rows carried",
    .why = "rows are dense on both sides and lie one after the other in dst",
    .stores = "whole lines, also of two rows, streamed",
    .kind = TNI_COPY_ROWS,
    .beyond = true,
    .plan = rows_carried_plan,
    .run = carried_run,
};
