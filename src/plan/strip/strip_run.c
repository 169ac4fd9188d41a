/* strip_run.c - runs elementwise plans: divides them into parts for threads, packs blocks into
 * buffers, and passes strips to strip_exec.c.
 *
 * A part keeps its buffers on its stack and allocates nothing.  A source block that is the same
 * as the previous one stays packed, and a source strip stays converted. */
#include "runtime/runtime.h"
#include "strip_work.h"

/* ---- blocks ---- */

/* The axis that is packed together with the last one: where operand k has its smallest step. */
static int strip_beside(const tni_strips *p, int k)
{
    int best = -1;
    int64_t least = INT64_MAX;
    for (int j = 0; j + 1 < p->nblock; j++) {
        int64_t step = tni_abs_step(p->nest.axis[p->axis[j]].step[k]);
        if (step && step < least) {
            least = step;
            best = j;
        }
    }
    return best < 0 ? p->nblock - 2 : best;
}

/* Pack the block of operand k into a dense buffer, or unpack it from there (out): tiles of the
 * last axis and the one beside it, walked along the others. */
static void strip_pack(const tni_strip_work *w, int k, char *buffer, bool out)
{
    const tni_strips *p = w->j->s;
    const int last = p->nblock - 1, second = last > 0 ? strip_beside(p, k) : -1;
    const int log2 = tni_log2_width(p->operand[k].width);
    /* Extents, buffer steps and tensor steps of the last axis and the one beside it. */
    int64_t n[2] = {1, 1}, b[2] = {0, 0}, t[2] = {0, 0};
    const int64_t early = out ? 0 : w->early;
    int64_t bytes = p->operand[k].width;
    tni_axis axis[TNI_BLOCK_AXES];
    int loops = 0;
    for (int j = last; j >= 0; j--) {
        const int64_t step = p->nest.axis[p->axis[j]].step[k];
        if (j == last || j == second) {
            n[j != last] = w->n[j] + (j == last ? early : 0);
            b[j != last] = bytes;
            t[j != last] = step;
        } else {
            tni_axis *a = &axis[TNI_BLOCK_AXES - ++loops];
            a->n = w->n[j];
            a->step[0] = bytes;
            a->step[1] = step;
        }
        bytes = j == last ? (p->flat ? bytes * w->n[j] : p->operand[k].pitch) : bytes * w->n[j];
    }
    ASSERT(buffer + bytes <= w->arena + TNI_ARENA); /* the block fits its buffer */
    const bool transposed = !out && p->nblock == 2 && t[1] == p->operand[k].width;
    tni_walk walk;
    tni_walk_seek(&walk, axis + TNI_BLOCK_AXES - loops, loops, 2, 0);
    do {
        char *in_buffer = buffer + walk.offset[0],
             *in_tensor = w->at[k] - early * t[0] + walk.offset[1];
        if (transposed && p->beyond)
            w->j->k->transpose_far[log2](in_buffer, b[1], in_tensor, t[0], n[0], n[1],
                                         w->ahead[k]);
        else if (out)
            w->j->k->tile[log2](in_tensor, t, in_buffer, b, n);
        else
            w->j->k->tile[log2](in_buffer, b, in_tensor, t, n);
    } while (tni_walk_next(&walk) < loops);
}

/* Record what the buffer of source k is to hold; false if it holds that already. */
static bool strip_cache_miss(tni_strip_work *w, int k, const char *at)
{
    bool same = w->cached_src[k] == at;
    for (int j = 0; j < w->j->s->nblock; j++) {
        same &= w->cached_n[k][j] == w->n[j];
        w->cached_n[k][j] = w->n[j];
    }
    w->cached_src[k] = at;
    return !same;
}

/* Set where the next strip is, by offsets from this block. */
static void strip_next(tni_strip_work *w, const int64_t *offset, const int64_t *more)
{
    w->prefetched = 0;
    for (int k = 1; k < w->j->s->nest.nop; k++)
        w->next[k] = w->at[k] + offset[k] + (more ? more[k] : 0);
}

/* Set where the strips of row r of the block begin; offset is that of the row. */
static void strip_begin_row(tni_strip_work *w, const int64_t *offset, int64_t r, int64_t n)
{
    const tni_strips *p = w->j->s;
    const tni_axis *along = &p->nest.axis[p->axis[p->nblock - 1]];
    const tni_strip_shift by = tni_strip_shift_of(w, w->at[0] + offset[0], n);
    w->row = n + by.begin - by.end;
    for (int k = 0; k < p->nest.nop; k++) {
        const tni_operand *o = &p->operand[k];
        w->strip[k] = o->form == TNI_PACKED ? w->arena + o->buffer + r * o->pitch +
                                                  (w->early - by.begin) * o->width
                                            : w->at[k] + offset[k] - by.begin * along->step[k];
    }
}

static void strip_run_block(tni_strip_work *w)
{
    const tni_strips *p = w->j->s;
    const int last = p->nblock - 1;
    w->row = p->flat ? w->total : w->n[last];
    w->rows = p->flat ? 1 : w->total / w->row;
    ASSERT(w->rows * w->row == w->total);
    if (p->columns) {
        tni_strip_exec_columns(w);
        return;
    }
    for (int k = 1; k < p->nest.nop; k++)
        if (p->operand[k].form == TNI_PACKED && strip_cache_miss(w, k, w->at[k]))
            strip_pack(w, k, w->arena + p->operand[k].buffer, false);

    tni_axis axis[TNI_BLOCK_AXES]; /* the loops over strips */
    const int loops = p->flat ? 0 : last;
    for (int j = 0; j < loops; j++) {
        axis[j].n = w->n[j];
        for (int k = 0; k < p->nest.nop; k++)
            axis[j].step[k] = p->nest.axis[p->axis[j]].step[k];
    }
    const int64_t n = w->row;
    if (w->j->prefetch)
        tni_strip_prefetch_begin(w);
    if (p->op_alone) {
        tni_strip_exec_rows(w);
        return;
    }
    tni_walk walk;
    tni_walk_seek(&walk, axis, loops, p->nest.nop, 0);
    for (int64_t r = 0; r < w->rows; r++) {
        strip_begin_row(w, walk.offset, r, n);
        /* The next strip is the same row of the next block if blocks go down, or else the next
         * row. */
        if (w->lines && p->down)
            strip_next(w, w->ahead, walk.offset);
        tni_walk_next(&walk);
        if (w->lines && !p->down)
            strip_next(w, r + 1 < w->rows ? walk.offset : w->ahead, NULL);
        tni_strip_exec(w, p->once, p->ninstr);
    }
    if (p->operand[0].form == TNI_PACKED)
        strip_pack(w, 0, w->arena + p->operand[0].buffer, true);
}

/* The elements by which strips may begin earlier: the distance from a line of dst to the
 * beginning of a block, in any row.  Strips that end in partial lines are slow to stream. */
static int strip_early(const tni_strip_job *j)
{
    const tni_strips *p = j->s;
    const int last = p->nest.ndim - 1, width = p->operand[0].width;
    const uintptr_t into = (uintptr_t)j->at[0] & 63;
    if (!j->stream || !p->slack || into % (uintptr_t)width)
        return 0;
    int64_t phases = p->block[last] * width;
    for (int i = 0; i < last; i++)
        phases |= p->nest.axis[i].step[0];
    return phases % 64 ? p->slack : (int)into / width;
}

/* Run blocks [first, last). */
static void strip_run_items(const tni_strip_job *j, tni_strip_work *w, int64_t first,
                            int64_t last)
{
    const tni_strips *p = j->s;
    const tni_nest *nest = &p->nest;
    tni_axis axis[TN_MAX_NDIM]; /* the loops over blocks */
    int loop[TN_MAX_NDIM];      /* the loop of each axis of the nest */
    int along = 0;              /* the loop of the last axis */
    for (int i = 0; i < nest->ndim; i++) {
        const bool after = p->down && i > p->axis[0];
        const int q = loop[i] = p->down && i == p->axis[0] ? nest->ndim - 1 : i - after;
        along = q;
        axis[q].n = tni_ceil_div(nest->axis[i].n, p->block[i]);
        for (int k = 0; k < nest->nop; k++)
            axis[q].step[k] = p->block[i] * nest->axis[i].step[k];
    }
    tni_walk walk;
    tni_walk_seek(&walk, axis, nest->ndim, nest->nop, first);
    for (int64_t item = first; item < last; item++) {
        w->total = 1;
        for (int q = 0; q < p->nblock; q++) {
            const int i = p->axis[q];
            const int64_t left = nest->axis[i].n - walk.at[loop[i]] * p->block[i];
            w->n[q] = left < p->block[i] ? left : p->block[i];
            w->total *= w->n[q];
        }
        for (int k = 0; k < nest->nop; k++) {
            w->at[k] = j->at[k] + walk.offset[k];
            w->ahead[k] = -walk.offset[k];
        }
        if (j->early) {
            w->early = walk.at[along] > 0 ? j->early : 0;
            w->more = walk.at[along] + 1 < axis[along].n;
        }
        ASSERT(w->total > 0 && w->total <= p->count);
        tni_walk_next(&walk);
        for (int k = 0; k < nest->nop; k++)
            w->ahead[k] += walk.offset[k];
        strip_run_block(w);
    }
}

/* Run blocks [first, last) of the only axis, or the only block, as one strip. */
static void strip_run_single(const tni_strip_job *j, tni_strip_work *w, int64_t first,
                             int64_t last)
{
    const tni_strips *p = j->s;
    ASSERT(p->items == 1 || p->nest.ndim == 1);
    w->row = p->count;
    if (p->items > 1) {
        const int64_t begin = first * p->block[0], end = last * p->block[0];
        w->row = (end < p->nest.axis[0].n ? end : p->nest.axis[0].n) - begin;
    }
    tni_strip_exec(w, p->once, p->ninstr);
}

static void strip_run_part(void *arg, int part)
{
    const tni_strip_job *j = arg;
    const tni_strips *p = j->s;
    int64_t first = 0, last = p->items;
    if (j->parts > 1)
        tni_split_range(p->items, j->parts, part, &first, &last);
    ASSERT(first >= 0 && first <= last && last <= p->items);
    _Alignas(64) char arena[TNI_ARENA];
    tni_strip_work w; /* uninitialised on purpose: clearing it would dominate small calls */
    w.j = j;
    w.arena = arena;
    w.row = 1;
    w.lines = w.early = 0;
    w.more = false;
    const int64_t begin = p->single && p->items > 1 ? first * p->block[0] : 0;
    for (int k = 0; k < p->nest.nop; k++)
        w.strip[k] = j->at[k] + begin * p->nest.axis[0].step[k];
    if (p->once)
        tni_strip_exec(&w, 0, p->once);
    for (int k = 0; k < p->nest.nop && !(p->single && p->nest.ndim == 1); k++)
        w.cached_src[k] = NULL; /* a single strip reuses nothing */
    if (p->single)
        strip_run_single(j, &w, first, last);
    else
        strip_run_items(j, &w, first, last);
    if (j->stream)
        j->k->fence();
}

void tni_strips_run(const tni_strips *s, char *dst, const char *const *srcs)
{
    if (s->nest.empty)
        return;
    tni_strip_job j; /* uninitialised on purpose, as above */
    j.s = s;
    j.k = tni_kernels_of(tni_isa_level())->copy;
    j.stream = s->stream;
    j.prefetch = s->prefetch;
    j.at[0] = dst + s->nest.shift[0];
    for (int k = 1; k < s->nest.nop; k++) {
        const uintptr_t at = (uintptr_t)(srcs[k - 1] + s->nest.shift[k]);
        j.at[k] = (char *)at;
        j.stream &= srcs[k - 1] != dst; /* in place the lines are in the cache already */
    }
    j.early = strip_early(&j);
    j.parts = tni_run_parts(s->bytes, s->items);
    if (j.parts > 1)
        tni_parallel(j.parts, strip_run_part, &j);
    else
        strip_run_part(&j, 0);
}

void tni_strips_run_dense(const tni_strips *s, char *arena, bool first, char *const *out,
                          const char *const *srcs, int64_t n)
{
    tni_strip_job j; /* uninitialised on purpose, as above */
    tni_strip_work w;
    j.s = s;
    j.k = tni_kernels_of(tni_isa_level())->copy;
    j.stream = false;
    j.early = 0;
    w.j = &j;
    w.arena = arena;
    w.row = n;
    w.lines = 0;
    for (int k = 1; k < s->nest.nop; k++) {
        w.strip[k] = (char *)(uintptr_t)srcs[k - 1];
        w.next[k] = srcs[k - 1] + n * s->operand[k].width;
    }
    if (s->prefetch)
        tni_strip_prefetch_begin(&w);
    for (int r = 0; r < s->results; r++)
        w.strip[TNI_MAX_OPERANDS + r] = out[r];
    tni_strip_exec(&w, first ? 0 : s->once, s->ninstr);
}
