/* strip_run.c - running elementwise plans: parts to threads, blocks to buffers, strips to
 * kernels.
 *
 * A part keeps its buffers on its stack and allocates nothing.  A source block that is the same
 * as the one before it stays staged. */
#include "plan/plan.h"
#include "runtime/runtime.h"

typedef struct job {
    const tni_strips *s;
    const tni_copy_kernels *k;
    char *at[TNI_MAX_OPERANDS]; /* element (0, …, 0) of the nest; sources are not written */
    int parts;
    bool stream;
} job;

/* One block of one part. */
typedef struct work {
    const job *j;
    char *arena;
    char *at[TNI_MAX_OPERANDS];       /* its first element */
    int64_t ahead[TNI_MAX_OPERANDS];  /* bytes from there to the next block's */
    int64_t n[TNI_BLOCK_AXES], total; /* its extents, its elements */
    int64_t row, rows;                /* elements of a strip, strips */
    const char *held[TNI_MAX_OPERANDS];
    int64_t held_n[TNI_MAX_OPERANDS][TNI_BLOCK_AXES]; /* what the buffers hold */
} work;

/* One conversion into the tensor: whole lines are streamed, after the elements before them. */
static void convert_past(tni_cast_fn fn, char *d, int d_width, const char *s, int s_width,
                         int64_t n)
{
    int64_t first = (-(int64_t)(uintptr_t)d & 63) / d_width;
    const bool whole = ((uintptr_t)d + (uintptr_t)(first * d_width)) % 64 == 0;
    first = first < n && whole ? first : n;
    if (first)
        fn(d, s, first, 0, false);
    if (first < n)
        fn(d + first * d_width, s + first * s_width, n - first, TNI_AHEAD, true);
}

/* Convert n elements from s, by way of the scratch buffers, the last step into d.  in says
 * which scratch buffer s is, or -1; width is that of the elements of s; past streams d. */
static void convert(const work *w, const tni_cast *c, char *d, const char *s, int in, int width,
                    int64_t n, bool past)
{
    const tni_strips *p = w->j->s;
    for (int i = 0; i < c->steps; i++) {
        const int out = in == 0;
        const bool last = i + 1 == c->steps;
        char *to = last ? d : w->arena + p->scratch[out];
        if (last && past)
            convert_past(c->fn[i], to, c->width[i], s, width, n);
        else
            c->fn[i](to, s, n, i == 0 && in < 0 && w->j->stream ? TNI_AHEAD : 0, false);
        width = c->width[i];
        s = to;
        in = out;
    }
}

/* The axis beside the last one along which operand k is moved: where its steps are small. */
static int beside(const tni_strips *p, int k)
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

/* Move the block between operand k's tensor and a dense buffer. */
static void move(const work *w, int k, char *buffer, bool out)
{
    const tni_strips *p = w->j->s;
    const int last = p->nblock - 1, second = last > 0 ? beside(p, k) : -1;
    const int log2 = tni_log2_width(p->operand[k].width);
    int64_t b_step[TNI_BLOCK_AXES], t_step[TNI_BLOCK_AXES];
    int64_t bytes = p->operand[k].width;
    for (int j = last; j >= 0; j--) {
        b_step[j] = bytes;
        bytes *= w->n[j];
        t_step[j] = p->nest.axis[p->axis[j]].step[k];
    }
    const int64_t n[2] = {w->n[last], second < 0 ? 1 : w->n[second]};
    const int64_t b[2] = {b_step[last], second < 0 ? 0 : b_step[second]};
    const int64_t t[2] = {t_step[last], second < 0 ? 0 : t_step[second]};
    const bool turn = !out && p->nblock == 2 && t[1] == p->operand[k].width;
    int64_t index[TNI_BLOCK_AXES] = {0};
    for (int j;;) {
        char *in_tensor = w->at[k], *in_buffer = buffer;
        for (j = 0; j < last; j++) {
            in_tensor += index[j] * t_step[j];
            in_buffer += index[j] * b_step[j];
        }
        if (turn)
            w->j->k->transpose[log2](in_buffer, b[1], in_tensor, t[0], n[0], n[1], w->ahead[k]);
        else if (out)
            w->j->k->tile[log2](in_tensor, t, in_buffer, b, n);
        else
            w->j->k->tile[log2](in_buffer, b, in_tensor, t, n);
        for (j = 0; j < last; j++) {
            if (j == second)
                continue;
            if (++index[j] < w->n[j])
                break;
            index[j] = 0;
        }
        if (j == last)
            return;
    }
}

/* Remember what the buffer of source k holds; false: it holds this already. */
static bool renew(work *w, int k, const char *at)
{
    bool same = w->held[k] == at;
    for (int j = 0; j < w->j->s->nblock; j++) {
        same &= w->held_n[k][j] == w->n[j];
        w->held_n[k][j] = w->n[j];
    }
    w->held[k] = at;
    return !same;
}

/* Bring a whole block of source k into its buffer: moved, and for an op converted as well. */
static void stage_block(work *w, int k)
{
    const tni_strips *p = w->j->s;
    const tni_operand *o = &p->operand[k];
    const bool convert_too = p->op.fn && o->cast.steps;
    if (!renew(w, k, w->at[k]))
        return;
    char *buffer = w->arena + o->buffer;
    char *moved = convert_too ? w->arena + p->scratch[0] : buffer;
    move(w, k, moved, false);
    if (convert_too)
        convert(w, &o->cast, buffer, moved, 0, o->width, w->total, false);
}

/* A finished strip of dst in its buffer goes to its place. */
static void finish_row(const work *w, char *d, char *buffer, int64_t n)
{
    const tni_operand *o = &w->j->s->operand[0];
    if (o->cast.steps)
        convert(w, &o->cast, d, buffer, -1, o->inside, n, w->j->stream);
    else
        (w->j->stream ? w->j->k->stream : w->j->k->copy)(d, buffer, n * o->width);
}

static void finish_block(const work *w, char *buffer)
{
    const tni_operand *o = &w->j->s->operand[0];
    char *last = buffer;
    if (o->cast.steps) {
        last = w->arena + w->j->s->scratch[(o->cast.steps & 1) == 0];
        convert(w, &o->cast, last, buffer, -1, o->inside, w->total, false);
    }
    move(w, 0, last, true);
}

/* One strip: offset[k] is where it begins in operand k, r its number in the block. */
static void run_strip(work *w, const int64_t *offset, int64_t r)
{
    const tni_strips *p = w->j->s;
    const tni_operand *d = &p->operand[0];
    const char *from[TNI_MAX_ARITY];
    _Alignas(16) char value[TNI_MAX_ARITY][2][16];
    unsigned one = 0;
    char *to = w->at[0] + offset[0];
    if (d->form == TNI_STAGED)
        to = w->arena + d->buffer + (d->move ? r * w->row * d->inside : 0);
    for (int k = 1; k < p->nest.nop; k++) {
        const tni_operand *o = &p->operand[k];
        const char *here = w->at[k] + offset[k];
        char *buffer = w->arena + o->buffer;
        if (o->form == TNI_ONE) {
            one |= 1u << (k - 1);
            for (int i = 0; i < o->cast.steps; i++) {
                o->cast.fn[i](value[k - 1][i & 1], here, 1, 0, false);
                here = value[k - 1][i & 1];
            }
        } else if (o->move) {
            here = buffer + r * w->row * (p->op.fn ? o->inside : o->width);
        } else if (o->form == TNI_STAGED && p->op.fn) {
            if (renew(w, k, here))
                convert(w, &o->cast, buffer, here, -1, o->width, w->row, false);
            here = buffer;
        }
        from[k - 1] = here;
    }
    const bool past = w->j->stream && d->form == TNI_DIRECT;
    if (p->op.fn)
        (past ? tni_op_stream : tni_op_run)(&p->op, to, from, one, w->row);
    else if (one)
        w->j->k->fill(to, from[0], tni_log2_width(d->inside), w->row, past);
    else
        convert(w, &p->operand[1].cast, to, from[0], -1, p->operand[1].width, w->row, past);
    if (d->form == TNI_STAGED && !d->move)
        finish_row(w, w->at[0] + offset[0], to, w->row);
}

static void run_map(work *w, const int64_t *offset, int64_t r)
{
    const tni_strips *p = w->j->s;
    char *at[TNI_MAX_OPERANDS];
    int64_t step[TNI_MAX_OPERANDS];
    const void *from[TNI_MAX_OPERANDS];
    for (int k = 0; k < p->nest.nop; k++) {
        const tni_operand *o = &p->operand[k];
        at[k] = o->move ? w->arena + o->buffer + r * w->row * o->width : w->at[k] + offset[k];
        step[k] = o->move ? o->width : p->nest.axis[p->nest.ndim - 1].step[k];
        from[k ? k - 1 : 0] = at[k];
    }
    p->map(p->user, w->row, at[0], step[0], from, step + 1);
}

static void run_block(work *w)
{
    const tni_strips *p = w->j->s;
    const int last = p->nblock - 1;
    w->row = p->flat ? w->total : w->n[last];
    w->rows = p->flat ? 1 : w->total / w->row;
    for (int k = 1; k < p->nest.nop; k++)
        if (p->operand[k].move)
            stage_block(w, k);

    int64_t index[TNI_BLOCK_AXES] = {0}, offset[TNI_MAX_OPERANDS] = {0};
    for (int64_t r = 0; r < w->rows; r++) {
        if (p->map)
            run_map(w, offset, r);
        else
            run_strip(w, offset, r);
        for (int j = last - 1; j >= 0; j--) {
            const tni_axis *a = &p->nest.axis[p->axis[j]];
            const bool more = ++index[j] < w->n[j];
            for (int k = 0; k < p->nest.nop; k++)
                offset[k] += more ? a->step[k] : (1 - w->n[j]) * a->step[k];
            if (more)
                break;
            index[j] = 0;
        }
    }
    if (p->operand[0].move)
        finish_block(w, w->arena + p->operand[0].buffer);
}

/* Extents of the block at a place, and the way to the next one. */
static void run_items(const job *j, work *w, int64_t first, int64_t last)
{
    const tni_strips *p = j->s;
    const tni_nest *nest = &p->nest;
    int64_t index[TN_MAX_NDIM], here[TNI_MAX_OPERANDS], next[TNI_MAX_OPERANDS] = {0};
    int64_t rest = first;
    for (int i = nest->ndim - 1; i >= 0; i--) {
        const int64_t turns = tni_pieces(nest->axis[i].n, p->block[i]);
        index[i] = rest % turns;
        rest /= turns;
        for (int k = 0; k < nest->nop; k++)
            next[k] += index[i] * p->block[i] * nest->axis[i].step[k];
    }
    for (int64_t item = first; item < last; item++) {
        w->total = 1;
        for (int q = 0; q < p->nblock; q++) {
            const int i = p->axis[q];
            const int64_t left = nest->axis[i].n - index[i] * p->block[i];
            w->n[q] = left < p->block[i] ? left : p->block[i];
            w->total *= w->n[q];
        }
        for (int k = 0; k < nest->nop; k++)
            here[k] = next[k];
        for (int i = nest->ndim - 1; i >= 0; i--) {
            const tni_axis *a = &nest->axis[i];
            const bool more = (index[i] + 1) * p->block[i] < a->n;
            const int64_t by = more ? p->block[i] : -index[i] * p->block[i];
            for (int k = 0; k < nest->nop; k++)
                next[k] += by * a->step[k];
            index[i] = more ? index[i] + 1 : 0;
            if (more)
                break;
        }
        for (int k = 0; k < nest->nop; k++) {
            w->at[k] = j->at[k] + here[k];
            w->ahead[k] = next[k] - here[k];
        }
        run_block(w);
    }
}

/* Elements [first, last) of the one axis. */
static void run_plain(const job *j, int64_t first, int64_t last)
{
    const tni_axis *a = j->s->nest.axis;
    const char *from[TNI_MAX_ARITY];
    unsigned one = 0;
    for (int k = 1; k < j->s->nest.nop; k++) {
        from[k - 1] = j->at[k] + first * a->step[k];
        one |= (unsigned)(a->step[k] == 0) << (k - 1);
    }
    (j->stream ? tni_op_stream : tni_op_run)(&j->s->op, j->at[0] + first * a->step[0], from,
                                             one, last - first);
    if (j->stream)
        j->k->fence();
}

static void run_part(void *arg, int part)
{
    const job *j = arg;
    int64_t first, last;
    tni_split_range(j->s->items, j->parts, part, &first, &last);
    if (j->s->plain) {
        const int64_t n = j->s->nest.axis[0].n, block = j->s->block[0];
        run_plain(j, first * block, last * block < n ? last * block : n);
        return;
    }
    _Alignas(64) char arena[TNI_ARENA];
    work w;
    w.j = j;
    w.arena = arena;
    for (int k = 0; k < j->s->nest.nop; k++)
        w.held[k] = NULL;
    run_items(j, &w, first, last);
    if (j->stream)
        j->k->fence();
}

void tni_strips_run(const tni_strips *s, char *dst, const char *const *srcs)
{
    if (s->nest.empty)
        return;
    job j; /* not cleared: small work is quick */
    j.s = s;
    j.k = tni_kernels_of((int)tni_isa_level())->copy;
    j.stream = s->stream;
    j.at[0] = dst + s->nest.shift[0];
    for (int k = 1; k < s->nest.nop; k++) {
        const uintptr_t at = (uintptr_t)(srcs[k - 1] + s->nest.shift[k]);
        j.at[k] = (char *)at;
        j.stream &= srcs[k - 1] != dst; /* in place the lines are in the cache already */
    }
    j.parts = tni_run_parts(s->bytes, s->items);
    if (j.parts > 1)
        tni_parallel(j.parts, run_part, &j);
    else if (s->plain)
        run_plain(&j, 0, s->nest.axis[0].n);
    else
        run_part(&j, 0);
}
