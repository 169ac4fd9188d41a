/* copy_run.c - running a copy plan: parts to threads, tiles to kernels, buffers to dst. */
#include "kernels/kernels.h"
#include "plan.h"
#include "runtime/runtime.h"

typedef struct job {
    const tni_copy *c;
    const tni_copy_kernels *k;
    char *d;
    const char *s;
    int parts;
} job;

static void run_block(const job *j, int64_t first, int64_t last)
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

/* a x b units from s to d, whose steps are given. */
static void move(const job *j, char *d, const int64_t d_step[2], const char *s,
                 const int64_t n[2], int64_t ahead)
{
    const tni_copy *c = j->c;
    int64_t s_step[2] = {c->tile[TNI_A].s, c->tile[TNI_B].s};
    if (c->mover == TNI_MOVE_TURN)
        j->k->turn[c->width_log2](d, d_step[TNI_B], s, s_step[TNI_A], n[TNI_A], n[TNI_B],
                                  ahead);
    else if (c->mover == TNI_MOVE_ROWS && c->stream && !c->staged)
        for (int64_t b = 0; b < n[TNI_B]; b++)
            for (int64_t a = 0; a < n[TNI_A]; a++)
                j->k->stream(d + a * d_step[0] + b * d_step[1],
                             s + a * s_step[0] + b * s_step[1], c->unit);
    else if (c->mover == TNI_MOVE_ROWS)
        j->k->units(d, d_step, s, s_step, n, c->unit, ahead);
    else
        j->k->tile[c->width_log2](d, d_step, s, s_step, n);
}

/* One tile at d and s; n are the extents of its axes. */
static void run_tile(const job *j, char *buffer, char *d, const char *s, const int64_t *n,
                     int64_t ahead)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *x = c->tile;
    char *t = c->staged ? buffer : d;
    int64_t t_step[2] = {c->staged ? x[TNI_A].t : x[TNI_A].d,
                         c->staged ? x[TNI_B].t : x[TNI_B].d};
    int64_t at[TNI_TILE_AXES] = {0};
    for (int k = 2;;) {
        int64_t to = 0, so = 0;
        for (k = 2; k < c->ntile; k++) {
            to += at[k] * x[k].d;
            so += at[k] * x[k].s;
        }
        move(j, t + to, t_step, s + so, n, ahead);
        for (k = 2; k < c->ntile && ++at[k] == n[k]; k++)
            at[k] = 0;
        if (k == c->ntile)
            break;
    }
    if (!c->staged)
        return;
    int64_t run = n[c->run] * x[c->run].d, rows = c->b_in_run ? 1 : n[TNI_B];
    for (int64_t b = 0; b < rows; b++)
        j->k->stream(d + b * x[TNI_B].d, buffer + b * x[TNI_B].t, run);
}

static void run_tiles(const job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    _Alignas(64) char buffer[TNI_BUFFER];
    int64_t at[COUNT(c->loop)], d = 0, s = 0;
    int64_t rest = first;
    for (int i = 0; i < c->nloop; i++) {
        at[i] = rest % c->loop[i].n;
        rest /= c->loop[i].n;
        d += at[i] * c->loop[i].d;
        s += at[i] * c->loop[i].s;
    }
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES];
        for (int k = 0; k < c->ntile; k++) {
            const tni_tile_axis *x = &c->tile[k];
            n[k] = x->block;
            if (x->loop >= 0 && at[x->loop] == c->loop[x->loop].n - 1)
                n[k] = x->n - at[x->loop] * x->block;
        }
        int64_t d_here = d, s_here = s;
        int i = 0;
        for (; i < c->nloop; i++) {
            d += c->loop[i].d;
            s += c->loop[i].s;
            if (++at[i] < c->loop[i].n)
                break;
            d -= at[i] * c->loop[i].d;
            s -= at[i] * c->loop[i].s;
            at[i] = 0;
        }
        run_tile(j, buffer, j->d + d_here, j->s + s_here, n, c->staged ? s - s_here : 0);
    }
    if (c->stream)
        j->k->fence();
}

static void run_part(void *arg, int part)
{
    const job *j = arg;
    int64_t first, last;
    tni_deal_range(j->c->items, j->parts, part, &first, &last);
    if (j->c->mover == TNI_MOVE_COPY || j->c->mover == TNI_MOVE_FILL) {
        run_block(j, first, last);
        if (j->c->stream)
            j->k->fence();
    } else {
        run_tiles(j, first, last);
    }
}

void tni_copy_run(const tni_copy *c, char *dst, const char *src)
{
    if (c->mover == TNI_MOVE_NOTHING)
        return;
    job j = {c, tni_copy_kernels_of(tni_isa_level()), dst + c->shift_d, src + c->shift_s, 1};
    j.parts = tni_deal_parts(2 * c->bytes, c->items);
    if (j.parts == 1)
        run_part(&j, 0);
    else
        tni_parallel(j.parts, run_part, &j);
}
