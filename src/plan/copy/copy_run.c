/* copy_run.c - running a copy plan: parts to threads, blocks and staged tiles to dst. */
#include <string.h>

#include "copy_walk.h"
#include "runtime/runtime.h"

enum { LINE = 64 };

static void run_block(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    int64_t piece = (c->bytes / c->items + 63) & ~(int64_t)63;
    int64_t from = first * piece, to = last == c->items ? c->bytes : last * piece;
    if (from > c->bytes)
        from = c->bytes;
    if (to > c->bytes)
        to = c->bytes;
    if (c->mover == TNI_MOVE_FILL)
        j->k->fill(j->d + from, j->s, c->width_log2, (to - from) >> c->width_log2, c->stream);
    else if (c->stream)
        j->k->stream(j->d + from, j->s + from, to - from);
    else
        j->k->copy(j->d + from, j->s + from, to - from);
}

/* A tile that waits in a buffer: rows runs of run bytes, of which `row` rows and done bytes are
 * out.  joined: the run goes on where the last tile ended, whose partial line lies before t;
 * goes_on: its own partial line is left to the next tile. */
typedef struct pending {
    char *d, *t;
    int64_t rows, each, run, row, done; /* each: rows for one unit of TNI_SRC_NEXT */
    bool joined, goes_on;
} pending;

/* Where row i of a tile begins in dst: rows count through TNI_SRC_FAST, then TNI_SRC_NEXT. */
static int64_t row_at(const tni_copy *c, const pending *p, int64_t i)
{
    int64_t b = p->each == p->rows ? i : i % p->each;
    return b * c->tile[TNI_SRC_FAST].d + (i - b) / p->each * c->tile[TNI_SRC_NEXT].d;
}

/* Ask early for the lines that runs fill only in part; they cannot be streamed. */
static void own_edges(const tni_copy *c, const pending *p)
{
    for (int64_t i = 0; i < p->rows; i++) {
        char *d = p->d + row_at(c, p, i);
        if (!p->joined && (uintptr_t)d % LINE)
            __builtin_prefetch(d, 1);
        if (!p->goes_on && (uintptr_t)(d + p->run) % LINE)
            __builtin_prefetch(d + p->run, 1);
    }
}

/* Stream about quota bytes more of a waiting tile, whole lines as far as they go. */
static void flush(const tni_copy_job *j, pending *p, int64_t quota)
{
    while (p->row < p->rows && quota > 0) {
        char *d = p->d + row_at(j->c, p, p->row);
        char *t = p->t + p->row * j->c->tile[TNI_SRC_FAST].t;
        int64_t from = p->joined ? -(int64_t)((uintptr_t)d % LINE) : 0;
        int64_t to = p->goes_on ? p->run - (int64_t)((uintptr_t)(d + p->run) % LINE) : p->run;
        from += p->done;
        int64_t bytes = to - from;
        if (bytes > quota + LINE)
            bytes = quota + LINE - (int64_t)((uintptr_t)(d + from + quota) % LINE);
        j->k->stream(d + from, t + from, bytes);
        quota -= bytes;
        p->done += bytes;
        if (from + bytes == to) {
            p->done = 0;
            p->row++;
        }
    }
}

/* Move the last lines of rows rows between a buffer and the place where they are kept. */
static void keep(const tni_copy *c, const pending *p, char *kept)
{
    for (int64_t i = 0; i < p->rows; i++)
        memcpy(kept + i * LINE, p->t + p->run - LINE + i * c->tile[TNI_SRC_FAST].t, LINE);
}

static void fetch(const tni_copy *c, const pending *p, const char *kept)
{
    for (int64_t i = 0; i < p->rows; i++)
        memcpy(p->t - LINE + i * c->tile[TNI_SRC_FAST].t, kept + i * LINE, LINE);
}

/* Gather one tile at t, and between its pieces stream the one that waits. */
static void run_tile(const tni_copy_job *j, char *t, const char *s, const int64_t *n,
                     int64_t ahead, pending *wait)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *x = c->tile;
    int64_t t_step[2] = {c->staged ? x[TNI_DST_FAST].t : x[TNI_DST_FAST].d,
                         c->staged ? x[TNI_SRC_FAST].t : x[TNI_SRC_FAST].d};
    int along = c->b_in_run ? TNI_SRC_FAST : TNI_DST_FAST;
    int64_t at[TNI_TILE_AXES] = {0};
    for (int k = 2;;) {
        int64_t to = 0, so = 0;
        for (k = 2; k < c->ntile; k++) {
            to += at[k] * (c->staged ? x[k].t : x[k].d);
            so += at[k] * x[k].s;
        }
        for (int64_t i = 0, m; i < n[along]; i += m) {
            const int64_t left = n[along] - i; /* a short rest goes with the last piece */
            m = left - c->piece < c->piece / 2 ? left : c->piece;
            int64_t part[2] = {n[TNI_DST_FAST], n[TNI_SRC_FAST]};
            part[along] = m;
            tni_copy_move(j, t + to + i * t_step[along], t_step, s + so + i * x[along].s, part,
                          ahead);
            flush(j, wait, part[0] * part[1] * c->unit);
        }
        for (k = 2; k < c->ntile && ++at[k] == n[k]; k++)
            at[k] = 0;
        if (k == c->ntile)
            break;
    }
}

static void run_staged(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *run = &c->tile[c->run], *x = c->tile;
    _Alignas(64) char buffer[2][LINE + TNI_BUFFER], kept[TNI_CARRY * LINE];
    const tni_tile_axis *cut = x[TNI_SRC_FAST].loop >= 0 ? &x[TNI_SRC_FAST] : &x[TNI_SRC_NEXT];
    bool by_rows = !c->b_in_run && cut->loop >= 0;
    int64_t period = by_rows ? c->loop[cut->loop].n : 1; /* items until a run goes on */
    int64_t each = cut == &x[TNI_SRC_FAST] ? LINE : x[TNI_SRC_FAST].n * LINE;
    pending wait = {0};
    tni_place p;
    tni_place_at(c, first, &p);
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES], s = p.s;
        bool some = tni_tile_extents(c, p.at, n);
        int64_t q = run->loop < 0 ? 0 : p.at[run->loop];
        bool keeps = by_rows && c->carry;
        char *line = kept + (keeps ? p.at[cut->loop] * cut->block * each : 0);
        pending tile = {.d = j->d + p.d, .t = buffer[wait.t == buffer[0] + LINE] + LINE};
        tni_step_on(c, &p);
        if (!some)
            continue;
        tile.each = c->b_in_run ? 1 : n[TNI_SRC_FAST];
        tile.rows = c->b_in_run ? 1 : n[TNI_SRC_FAST] * n[TNI_SRC_NEXT];
        tile.run = n[c->run] * run->d;
        tile.joined = c->carry && q > 0 && item - period >= first;
        tile.goes_on = c->carry && q + 1 < c->loop[run->loop].n && item + period < last;
        own_edges(c, &tile);
        run_tile(j, tile.t, j->s + s, n, p.s - s, &wait);
        flush(j, &wait, INT64_MAX / 2);
        if (tile.joined)
            fetch(c, &tile, line);
        if (tile.goes_on)
            keep(c, &tile, line);
        wait = tile;
    }
    flush(j, &wait, INT64_MAX / 2);
}

static void run_items(const tni_copy_job *j, int64_t first, int64_t last)
{
    int64_t begin = (int64_t)((uintptr_t)j->d & (LINE - 1));
    bool shifts = j->c->shifted && begin % tni_shift_align(j->c->unit) == 0;
    if (j->c->ntile == 0)
        run_block(j, first, last);
    else if (j->c->aligned_lines && begin == 0)
        tni_copy_lines(j, first, last, false);
    else if (shifts)
        tni_copy_lines(j, first, last, true);
    else if (j->c->staged)
        run_staged(j, first, last);
    else if (j->c->indexed)
        tni_copy_indexed(j, first, last);
    else
        tni_copy_direct(j, first, last);
    if (j->c->stream)
        j->k->fence();
}

static void run_part(void *arg, int part)
{
    const tni_copy_job *j = arg;
    int64_t first, last;
    tni_split_range(j->c->items, j->parts, part, &first, &last);
    run_items(j, first, last);
}

void tni_copy_run(const tni_copy *c, char *dst, const char *src)
{
    if (c->mover == TNI_MOVE_NOTHING)
        return;
    tni_copy_job j = {c, tni_kernels_of(tni_isa_level())->copy, dst + c->shift_d,
                      src + c->shift_s, 1};
    j.parts = tni_plan_parts(tni_times(c->bytes, 2), c->items);
    if (j.parts == 1)
        run_items(&j, 0, c->items);
    else
        tni_parallel(j.parts, run_part, &j);
}
