/* strip_run.c - running elementwise plans: parts to threads, blocks to buffers, strips to
 * instructions.
 *
 * A part keeps its buffers on its stack and allocates nothing.  A source block that is the same
 * as the one before it stays packed, a source strip stays converted. */
#include "plan/plan.h"
#include "runtime/runtime.h"

typedef struct job {
    const tni_strips *s;
    const tni_copy_kernels *k;
    char *at[TNI_MAX_OPERANDS]; /* element (0, …, 0) of the nest; sources are not written */
    int parts;
    bool stream, fetch;
} job;

/* One block of one part. */
typedef struct work {
    const job *j;
    char *arena;
    char *at[TNI_MAX_OPERANDS];         /* its first element */
    int64_t ahead[TNI_MAX_OPERANDS];    /* bytes from there to the next block's */
    int64_t n[TNI_BLOCK_AXES], total;   /* its extents, its elements */
    int64_t row, rows;                  /* elements of a strip, strips */
    char *strip[TNI_REFS];              /* where each operand or result is in this strip */
    const char *next[TNI_MAX_OPERANDS]; /* and where in the next one */
    int64_t fetched, lines;             /* lines of the next strip: prefetched, all */
    const char *cached_src[TNI_MAX_OPERANDS];
    int64_t cached_n[TNI_MAX_OPERANDS][TNI_BLOCK_AXES]; /* what the buffers hold */
} work;

/* ---- instructions ---- */

static char *strip_ref(const work *w, int16_t ref)
{
    ASSERT(ref >= 0 && (ref - TNI_REFS) * 64 < TNI_ARENA);
    return ref < TNI_REFS ? w->strip[ref] : w->arena + (int64_t)(ref - TNI_REFS) * 64;
}

/* One conversion into the tensor: whole lines are streamed, after the elements before them. */
static void strip_cast_streamed(tni_cast_fn fn, char *d, int d_width, const char *s,
                                int s_width, int64_t n)
{
    int64_t first = (-(int64_t)(uintptr_t)d & 63) / d_width;
    const bool whole = ((uintptr_t)d + (uintptr_t)(first * d_width)) % 64 == 0;
    first = first < n && whole ? first : n;
    if (first)
        fn(d, s, first, 0, false);
    if (first < n)
        fn(d + first * d_width, s + first * s_width, n - first, TNI_AHEAD, true);
}

/* One value instead of a strip. */
static void strip_do_one(const work *w, const tni_instr *x)
{
    _Alignas(64) char value[TNI_SPLAT_BYTES];
    const int64_t still[TNI_MAX_ARITY] = {0};
    const char *from[TNI_MAX_ARITY];
    const char *got = value;
    if (x->kind == TNI_DO_SPLAT) {
        got = strip_ref(w, x->src[0]);
    } else if (x->kind == TNI_DO_NUMBER) {
        got = x->value;
    } else if (x->kind == TNI_DO_CAST) {
        x->cast(value, strip_ref(w, x->src[0]), 1, 0, false);
    } else {
        for (int k = 0; k < x->op.nsrc; k++)
            from[k] = strip_ref(w, x->src[k]);
        x->op.fn(value, from, still, 1, x->op.params, 0);
    }
    tni_op_splat(strip_ref(w, x->out), got, x->width);
}

/* Elements [i, i + n) of a strip. */
static void strip_do_apply(const work *w, const tni_instr *x, bool past, int64_t i, int64_t n)
{
    const char *from[TNI_MAX_ARITY];
    char *to = strip_ref(w, x->out) + i * x->width;
    for (int k = 0; k < x->op.nsrc; k++)
        from[k] = strip_ref(w, x->src[k]) + (x->ones >> k & 1 ? 0 : i * x->op.width[k + 1]);
    (past ? tni_op_stream : tni_op_run)(&x->op, to, from, x->ones, n);
}

static void strip_do_cast(const work *w, const tni_instr *x, bool past, int64_t i, int64_t n)
{
    char *to = strip_ref(w, x->out) + i * x->width;
    const char *from = strip_ref(w, x->src[0]) + i * x->from;
    if (past)
        strip_cast_streamed(x->cast, to, x->width, from, x->from, n);
    else
        x->cast(to, from, n, 0, false);
}

/* ---- prefetching ---- */

/* Where the next strip lies in the sources is known before this one is computed.  Its lines are
 * asked for in equal shares by all steps of this one, so that memory works while the later ones
 * compute; into L2, because L1 holds the registers. */
static void strip_fetch_begin(work *w)
{
    const tni_strips *p = w->j->s;
    w->fetched = w->lines = 0;
    for (int k = 1; k < p->nest.nop; k++)
        if (p->operand[k].form == TNI_DIRECT)
            w->lines += tni_pieces(w->row * p->operand[k].width, 64);
}

/* The lines up to number `to` of all sources, one source after another. */
static void strip_fetch(work *w, int64_t to)
{
    const tni_strips *p = w->j->s;
    int64_t first = 0;
    for (int k = 1; k < p->nest.nop && w->fetched < to; k++) {
        if (p->operand[k].form != TNI_DIRECT)
            continue;
        const int64_t lines = tni_pieces(w->row * p->operand[k].width, 64);
        for (; w->fetched < to && w->fetched < first + lines; w->fetched++)
            __builtin_prefetch(w->next[k] + 64 * (w->fetched - first), 0, 2);
        first += lines;
    }
}

/* Lines that are asked for at once: with 16 or 64 of them 0.90 and 0.88 of a pass are reached
 * where 32 reach 0.94 (sqrt(x*x + y*y), 2 threads of AMD EPYC Zen 4). */
enum { BURST = 32 };

/* Step number `step` of `steps`, and its share of the lines, a burst before each piece. */
static void strip_do_fetching(work *w, const tni_instr *x, bool past, int step, int steps)
{
    const int64_t all = w->lines * (step + 1) / steps, share = all - w->fetched;
    const int64_t pieces = share > BURST ? share / BURST : 1;
    const int64_t each = (w->row / pieces + 63) & ~(int64_t)63;
    for (int64_t i = 0; i < w->row; i += each) {
        const int64_t n = w->row - i < each ? w->row - i : each;
        strip_fetch(w, w->row - i <= each ? all : w->fetched + BURST);
        (x->kind == TNI_DO_APPLY ? strip_do_apply : strip_do_cast)(w, x, past, i, n);
    }
}

static void strip_do_call(const work *w)
{
    const tni_strips *p = w->j->s;
    int64_t step[TNI_MAX_OPERANDS];
    const void *from[TNI_MAX_OPERANDS];
    for (int k = 0; k < p->nest.nop; k++) {
        step[k] = p->operand[k].form == TNI_PACKED ? p->operand[k].width
                                                   : p->nest.axis[p->nest.ndim - 1].step[k];
        from[k ? k - 1 : 0] = w->strip[k];
    }
    p->map(p->user, w->row, w->strip[0], step[0], from, step + 1);
}

/* The strip of a source that is converted is that of before: its register holds it still. */
static bool strip_is_cached(work *w, const tni_instr *x)
{
    const char *at = w->strip[x->cached];
    const bool same = w->cached_src[x->cached] == at && w->cached_n[x->cached][0] == w->row;
    w->cached_src[x->cached] = at;
    w->cached_n[x->cached][0] = w->row;
    return same;
}

static void strip_exec(work *w, int first, int last)
{
    const job *j = w->j;
    const bool streams = j->stream && j->s->operand[0].form == TNI_DIRECT;
    for (int i = first; i < last; i++) {
        const tni_instr *x = &j->s->instr[i];
        const bool past = streams && x->out == 0;
        if (x->one) {
            strip_do_one(w, x);
            continue;
        }
        switch (x->kind) {
        case TNI_DO_APPLY:
            if (w->lines)
                strip_do_fetching(w, x, past, i - first, last - first);
            else
                strip_do_apply(w, x, past, 0, w->row);
            break;
        case TNI_DO_CAST:
            if (x->skip && strip_is_cached(w, x))
                i += x->skip - 1;
            else if (w->lines)
                strip_do_fetching(w, x, past, i - first, last - first);
            else
                strip_do_cast(w, x, past, 0, w->row);
            break;
        case TNI_DO_CALL:
            strip_do_call(w);
            break;
        case TNI_DO_FILL:
            j->k->fill(strip_ref(w, x->out), strip_ref(w, x->src[0]), tni_log2_width(x->width),
                       w->row, past);
            break;
        default:
            (past ? j->k->stream : j->k->copy)(strip_ref(w, x->out), strip_ref(w, x->src[0]),
                                               w->row * x->width);
        }
    }
}

/* ---- blocks ---- */

/* The axis beside the last one along which operand k is packed: where its steps are small. */
static int strip_beside(const tni_strips *p, int k)
{
    int best = -1;
    int64_t least = INT64_MAX;
    for (int j = 0; j + 1 < p->nblock; j++) {
        int64_t step = tni_magnitude(p->nest.axis[p->axis[j]].step[k]);
        if (step && step < least) {
            least = step;
            best = j;
        }
    }
    return best < 0 ? p->nblock - 2 : best;
}

/* Pack the block of operand k into a dense buffer, or unpack it from there: tiles of the last
 * axis and the one beside it, walked along the others. */
static void strip_pack(const work *w, int k, char *buffer, bool out)
{
    const tni_strips *p = w->j->s;
    const int last = p->nblock - 1, second = last > 0 ? strip_beside(p, k) : -1;
    const int log2 = tni_log2_width(p->operand[k].width);
    int64_t n[2] = {1, 1}, b[2] = {0, 0}, t[2] = {0, 0}; /* last, second: buffer, tensor */
    int64_t bytes = p->operand[k].width;
    tni_axis axis[TNI_BLOCK_AXES];
    int loops = 0;
    for (int j = last; j >= 0; j--) {
        const int64_t step = p->nest.axis[p->axis[j]].step[k];
        if (j == last || j == second) {
            n[j != last] = w->n[j];
            b[j != last] = bytes;
            t[j != last] = step;
        } else {
            tni_axis *a = &axis[TNI_BLOCK_AXES - ++loops];
            a->n = w->n[j];
            a->step[0] = bytes;
            a->step[1] = step;
        }
        bytes *= w->n[j];
    }
    ASSERT(bytes == w->total * p->operand[k].width);
    ASSERT(buffer + bytes <= w->arena + TNI_ARENA); /* the block fits its buffer */
    const bool transposed = !out && p->nblock == 2 && t[1] == p->operand[k].width;
    tni_walk walk;
    tni_walk_seek(&walk, axis + TNI_BLOCK_AXES - loops, loops, 2, 0);
    do {
        char *in_buffer = buffer + walk.offset[0], *in_tensor = w->at[k] + walk.offset[1];
        if (transposed)
            w->j->k->transpose[log2](in_buffer, b[1], in_tensor, t[0], n[0], n[1], w->ahead[k]);
        else if (out)
            w->j->k->tile[log2](in_tensor, t, in_buffer, b, n);
        else
            w->j->k->tile[log2](in_buffer, b, in_tensor, t, n);
    } while (tni_walk_next(&walk) < loops);
}

/* Remember what the buffer of source k holds; false: it holds this already. */
static bool strip_cache_miss(work *w, int k, const char *at)
{
    bool same = w->cached_src[k] == at;
    for (int j = 0; j < w->j->s->nblock; j++) {
        same &= w->cached_n[k][j] == w->n[j];
        w->cached_n[k][j] = w->n[j];
    }
    w->cached_src[k] = at;
    return !same;
}

static void strip_run_block(work *w)
{
    const tni_strips *p = w->j->s;
    const int last = p->nblock - 1;
    w->row = p->flat ? w->total : w->n[last];
    w->rows = p->flat ? 1 : w->total / w->row;
    ASSERT(w->rows * w->row == w->total);
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
    tni_walk walk;
    tni_walk_seek(&walk, axis, loops, p->nest.nop, 0);
    if (w->j->fetch)
        strip_fetch_begin(w);
    for (int64_t r = 0; r < w->rows; r++) {
        for (int k = 0; k < p->nest.nop; k++) {
            const tni_operand *o = &p->operand[k];
            w->strip[k] = o->form == TNI_PACKED ? w->arena + o->buffer + r * w->row * o->width
                                                : w->at[k] + walk.offset[k];
        }
        tni_walk_next(&walk);
        w->fetched = 0;
        for (int k = 1; k < p->nest.nop && w->lines; k++)
            w->next[k] = w->at[k] + (r + 1 < w->rows ? walk.offset[k] : w->ahead[k]);
        strip_exec(w, p->once, p->ninstr);
    }
    if (p->operand[0].form == TNI_PACKED)
        strip_pack(w, 0, w->arena + p->operand[0].buffer, true);
}

/* Blocks [first, last): the extents of each, and the way to the next one. */
static void strip_run_items(const job *j, work *w, int64_t first, int64_t last)
{
    const tni_strips *p = j->s;
    const tni_nest *nest = &p->nest;
    tni_axis axis[TN_MAX_NDIM]; /* the loops over blocks */
    for (int i = 0; i < nest->ndim; i++) {
        axis[i].n = tni_pieces(nest->axis[i].n, p->block[i]);
        for (int k = 0; k < nest->nop; k++)
            axis[i].step[k] = p->block[i] * nest->axis[i].step[k];
    }
    tni_walk walk;
    tni_walk_seek(&walk, axis, nest->ndim, nest->nop, first);
    for (int64_t item = first; item < last; item++) {
        w->total = 1;
        for (int q = 0; q < p->nblock; q++) {
            const int i = p->axis[q];
            const int64_t left = nest->axis[i].n - walk.at[i] * p->block[i];
            w->n[q] = left < p->block[i] ? left : p->block[i];
            w->total *= w->n[q];
        }
        for (int k = 0; k < nest->nop; k++) {
            w->at[k] = j->at[k] + walk.offset[k];
            w->ahead[k] = -walk.offset[k];
        }
        ASSERT(w->total > 0 && w->total <= p->count);
        tni_walk_next(&walk);
        for (int k = 0; k < nest->nop; k++)
            w->ahead[k] += walk.offset[k];
        strip_run_block(w);
    }
}

/* Blocks [first, last) of the one axis, or the only block, as one strip. */
static void strip_run_single(const job *j, work *w, int64_t first, int64_t last)
{
    const tni_strips *p = j->s;
    ASSERT(p->items == 1 || p->nest.ndim == 1);
    w->row = p->count;
    if (p->items > 1) {
        const int64_t begin = first * p->block[0], end = last * p->block[0];
        w->row = (end < p->nest.axis[0].n ? end : p->nest.axis[0].n) - begin;
    }
    strip_exec(w, p->once, p->ninstr);
}

static void strip_run_part(void *arg, int part)
{
    const job *j = arg;
    const tni_strips *p = j->s;
    int64_t first = 0, last = p->items;
    if (j->parts > 1)
        tni_split_range(p->items, j->parts, part, &first, &last);
    ASSERT(first >= 0 && first <= last && last <= p->items);
    _Alignas(64) char arena[TNI_ARENA];
    work w; /* uninitialised on purpose: clearing it would dominate small calls */
    w.j = j;
    w.arena = arena;
    w.row = 1;
    w.lines = 0;
    const int64_t begin = p->single && p->items > 1 ? first * p->block[0] : 0;
    for (int k = 0; k < p->nest.nop; k++)
        w.strip[k] = j->at[k] + begin * p->nest.axis[0].step[k];
    if (p->once)
        strip_exec(&w, 0, p->once);
    for (int k = 0; k < p->nest.nop && !(p->single && p->nest.ndim == 1); k++)
        w.cached_src[k] = NULL; /* of one strip nothing is used again */
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
    job j; /* uninitialised on purpose, as above */
    j.s = s;
    j.k = tni_kernels_of(tni_isa_level())->copy;
    j.stream = s->stream;
    j.fetch = s->fetch;
    j.at[0] = dst + s->nest.shift[0];
    for (int k = 1; k < s->nest.nop; k++) {
        const uintptr_t at = (uintptr_t)(srcs[k - 1] + s->nest.shift[k]);
        j.at[k] = (char *)at;
        j.stream &= srcs[k - 1] != dst; /* in place the lines are in the cache already */
    }
    j.parts = tni_run_parts(s->bytes, s->items);
    if (j.parts > 1)
        tni_parallel(j.parts, strip_run_part, &j);
    else
        strip_run_part(&j, 0);
}

void tni_line_run(const tni_strips *s, char *arena, bool first, char *const *out,
                  const char *const *srcs, int64_t n)
{
    job j; /* uninitialised on purpose, as above */
    work w;
    j.s = s;
    j.k = tni_kernels_of(tni_isa_level())->copy;
    j.stream = false;
    w.j = &j;
    w.arena = arena;
    w.row = n;
    w.lines = 0;
    for (int k = 1; k < s->nest.nop; k++) {
        w.strip[k] = (char *)(uintptr_t)srcs[k - 1];
        w.next[k] = srcs[k - 1] + n * s->operand[k].width;
    }
    if (s->fetch)
        strip_fetch_begin(&w);
    for (int r = 0; r < s->results; r++)
        w.strip[TNI_MAX_OPERANDS + r] = out[r];
    strip_exec(&w, first ? 0 : s->once, s->ninstr);
}
