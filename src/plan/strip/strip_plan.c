/* strip_plan.c - how elementwise work is cut into blocks, and how operands come into strips.
 *
 * The strip runs along the axis that most operands walk densely.  An operand that is dense
 * along another axis brings that axis into the block, so that it can be turned there. */
#include "plan/plan.h"
#include "runtime/runtime.h"

enum {
    SHORT = 96,         /* rows with fewer elements are joined: the block is one strip */
    LONG = 32 * 1024,   /* elements of a block in which nothing is staged */
    SMALL = 4096,       /* elements that are not worth a plan */
    MAPPED = 4096,      /* elements of a block for a strip function of the user */
    STAGE = 32 * 1024,  /* bytes that the buffer of a turned operand aims at */
    NEAR = 24 * 1024,   /* bytes of all buffers together when nothing is turned */
    LINES = 128,        /* bytes of a run in an operand that is turned */
    STREAM_LEAST = 1024 /* bytes of a row that is worth streaming */
};

/* Along axis a, operand k is dense or stands still. */
static bool smooth(const tni_strips *s, const tni_axis *a, int k)
{
    return a->step[k] == s->operand[k].width || (k > 0 && a->step[k] == 0);
}

/* Bring the axis along which most operands are smooth to the inside; dst counts a little more
 * than a source. */
static void choose_inner(tni_strips *s)
{
    tni_nest *nest = &s->nest;
    int best = nest->ndim - 1, most = -1;
    for (int i = nest->ndim - 1; i >= 0; i--) {
        int score = 0;
        for (int k = 0; k < nest->nop; k++)
            if (smooth(s, &nest->axis[i], k))
                score += k ? 2 : 3;
        if (score > most) {
            most = score;
            best = i;
        }
    }
    const tni_axis inner = nest->axis[best];
    for (int i = best; i + 1 < nest->ndim; i++)
        nest->axis[i] = nest->axis[i + 1];
    nest->axis[nest->ndim - 1] = inner;
}

static bool rough(const tni_strips *s, int k)
{
    return !smooth(s, &s->nest.axis[s->nest.ndim - 1], k);
}

/* Whether operand k is moved into the block's order.  A strip function of the user takes any
 * step: for it only what is dense along another axis is worth moving. */
static bool moves(const tni_strips *s, int k)
{
    bool dense = !s->map;
    for (int i = 0; i + 1 < s->nest.ndim && !dense; i++)
        dense = tni_magnitude(s->nest.axis[i].step[k]) == s->operand[k].width;
    return dense && rough(s, k);
}

/* The axis that goes with the inner one: where the first rough operand is dense, or the next.
 */
static int choose_second(const tni_strips *s)
{
    const int last = s->nest.ndim - 1;
    for (int k = 0; k < s->nest.nop; k++)
        for (int i = last - 1; i >= 0 && rough(s, k); i--)
            if (tni_magnitude(s->nest.axis[i].step[k]) == s->operand[k].width)
                return i;
    return last - 1;
}

/* Cut n into equal blocks of at most most, multiples of 16 where they can be. */
static int64_t cut(int64_t n, int64_t most)
{
    if (most < 1)
        most = 1;
    if (n <= most)
        return n;
    int64_t each = tni_pieces(n, tni_pieces(n, most));
    int64_t even = (each + 15) & ~(int64_t)15;
    return even <= most ? even : each;
}

static int64_t blocks_along(const tni_strips *s, int i)
{
    return tni_pieces(s->nest.axis[i].n, s->block[i]);
}

/* Elements that fit a buffer; LONG when there is none. */
static int64_t room(tni_strips *s, bool all)
{
    int buffers = 0, widest = 1;
    bool scratch = false, turns = false;
    for (int k = 0; k < s->nest.nop; k++) {
        const tni_operand *o = &s->operand[k];
        const bool moved = all || moves(s, k) || (k == 0 && s->relay);
        turns |= moves(s, k);
        buffers += moved || (o->cast.steps && s->op.fn);
        scratch |= moved + o->cast.steps > 1;
        widest = o->width > widest ? o->width : widest;
        for (int i = 0; i < o->cast.steps; i++)
            widest = o->cast.width[i] > widest ? o->cast.width[i] : widest;
        widest = o->inside > widest ? o->inside : widest;
    }
    s->size = 0;
    if (!buffers && !scratch)
        return s->map ? MAPPED : LONG;
    buffers += scratch ? 2 : 0;
    const int size = ((turns ? TNI_ARENA : NEAR) / buffers) & ~63;
    s->size = size < STAGE ? size : STAGE;
    return s->size / widest;
}

/* Take more axes into the block, from the inside, until it holds enough elements. */
static void grow(tni_strips *s, int64_t held, int64_t most, unsigned long long used)
{
    for (int i = s->nest.ndim - 1; i >= 0 && s->nblock < TNI_BLOCK_AXES; i--) {
        if (used >> i & 1 || most / held < 2)
            continue;
        for (int j = s->nblock++; j > 0; j--)
            s->axis[j] = s->axis[j - 1];
        s->axis[0] = i;
        s->block[i] = cut(s->nest.axis[i].n, most / held);
        held *= s->block[i];
        if (s->block[i] < s->nest.axis[i].n)
            break;
    }
}

static void choose_block(tni_strips *s)
{
    const tni_nest *nest = &s->nest;
    const int last = nest->ndim - 1;
    const tni_axis *in = &nest->axis[last];
    bool turns = false;
    for (int k = 0; k < nest->nop; k++)
        turns |= moves(s, k);
    const bool joined = !s->map && in->n < SHORT && last > 0;
    const int64_t most = room(s, joined);
    s->flat = joined;
    s->nblock = 1;
    s->axis[0] = last;
    for (int i = 0; i < last; i++)
        s->block[i] = 1;
    if (last == 0) {
        s->block[0] = cut(in->n, most);
        return;
    }
    if (!turns) {
        s->block[last] = joined ? in->n : cut(in->n, most);
        if (s->block[last] == in->n)
            grow(s, in->n, most, 1ull << last);
        return;
    }
    const int second = choose_second(s);
    const tni_axis *out = &nest->axis[second];
    int64_t run = LINES / s->operand[0].width > 16 ? LINES / s->operand[0].width : 16;
    s->block[last] = cut(in->n, most / (run < out->n ? run : out->n));
    s->block[second] = cut(out->n, most / s->block[last]);
    s->axis[0] = second;
    s->axis[1] = last;
    s->nblock = 2;
    if (s->block[last] == in->n && s->block[second] == out->n)
        grow(s, in->n * out->n, most, 1ull << last | 1ull << second);
}

/* Whether operand k lies in the block as one dense strip, or is one value. */
static bool whole(const tni_strips *s, int k, int64_t first)
{
    int64_t step = first;
    for (int j = s->nblock - 1; j >= 0; j--) {
        const int i = s->axis[j];
        if (s->block[i] > 1 && s->nest.axis[i].step[k] != step)
            return false;
        if (s->block[i] < s->nest.axis[i].n && first)
            step = -1; /* nothing outside a cut axis continues it */
        else
            step *= s->block[i];
    }
    return true;
}

static void choose_forms(tni_strips *s)
{
    const tni_axis *in = &s->nest.axis[s->nest.ndim - 1];
    int32_t at = 0;
    bool scratch = false;
    for (int k = 0; k < s->nest.nop; k++) {
        tni_operand *o = &s->operand[k];
        const bool dense = s->flat ? whole(s, k, o->width) : in->step[k] == o->width;
        const bool still = k > 0 && (s->flat ? whole(s, k, 0) : in->step[k] == 0);
        o->move = s->map ? moves(s, k) : !dense && !still;
        o->turn = false;
        for (int j = 0; j + 1 < s->nblock && o->move; j++)
            o->turn |= tni_magnitude(s->nest.axis[s->axis[j]].step[k]) == o->width;
        const bool relay = k == 0 && s->relay;
        o->form = still                                             ? TNI_ONE
                  : o->move || relay || (o->cast.steps && s->op.fn) ? TNI_STAGED
                                                                    : TNI_DIRECT;
        if (o->form == TNI_STAGED) {
            o->buffer = at;
            at += s->size;
        }
        scratch |= o->cast.steps + (o->move || relay) > 1;
    }
    s->scratch[0] = at;
    s->scratch[1] = scratch ? at + s->size : at;
}

static void measure(tni_strips *s)
{
    const tni_nest *nest = &s->nest;
    s->count = 1;
    for (int i = 0; i < nest->ndim; i++)
        s->count *= nest->axis[i].n;
    int64_t width = 0;
    for (int k = 0; k < nest->nop; k++)
        width += s->operand[k].width;
    s->bytes = tni_times(s->count, width);
}

static void take_operand(tni_operand *o, int k, const tni_strips_how *how, const tn_tensor *t)
{
    const int isa = (int)tni_isa_level();
    o->width = (int8_t)tni_width(t->dtype);
    o->inside = (int8_t)tni_width(how->compute[k]);
    o->cast.steps = 0;
    if (how->map || (t->dtype == how->compute[k] && t->dtype != TN_BOOL))
        return;
    if (k == 0) {
        if (t->dtype != how->compute[0])
            o->cast = tni_cast_chain(isa, how->compute[0], t->dtype);
        return;
    }
    o->cast = tni_cast_chain(isa, t->dtype, how->meet[k]);
    if (how->meet[k] == how->compute[k])
        return;
    const tni_cast then = tni_cast_chain(isa, how->meet[k], how->compute[k]);
    for (int i = 0; i < then.steps && o->cast.steps < TNI_CAST_STEPS; i++) {
        o->cast.fn[o->cast.steps] = then.fn[i];
        o->cast.width[o->cast.steps++] = then.width[i];
    }
}

static void take_kernel(tni_op_strip *op, const tni_strips_how *how, int nsrc)
{
    const tn_dtype compute = how->compute[nsrc];
    const double *params = how->params ? how->params : tni_ops[how->op].defaults;
    op->fn = tni_op_kernel((int)tni_isa_level(), how->op, compute);
    op->block = tni_op_block(how->op, compute);
    op->nsrc = nsrc;
    for (int i = 0; i < TNI_MAX_PARAMS; i++)
        op->params[i] = i < tni_ops[how->op].params ? params[i] : 0;
    for (int k = 0; k <= nsrc; k++)
        op->width[k] = (int8_t)tni_width(how->compute[k]);
}

static void take_op(tni_strips *s, const tni_strips_how *how)
{
    s->name = how->name;
    s->map = how->map;
    s->user = how->user;
    s->compute = how->compute[s->nest.nop - 1];
    s->op.fn = NULL;
    if (!how->map && !how->cast)
        take_kernel(&s->op, how, s->nest.nop - 1);
}

/* Whether the result is large, and its rows are worth streaming. */
static bool streams(const tni_strips *s, const tni_axis *in)
{
    return !s->map && s->count * s->operand[0].width >= tni_cache_sizes()->stream &&
           smooth(s, in, 0) && in->n * s->operand[0].width >= STREAM_LEAST;
}

/* One axis along which every operand is smooth, and nothing to convert or to relay: decided at
 * once. */
static bool plan_plain(tni_strips *s)
{
    const tni_nest *nest = &s->nest;
    s->plain = false;
    if (nest->ndim != 1 || !s->op.fn)
        return false;
    for (int k = 0; k < nest->nop; k++)
        if (s->operand[k].cast.steps || rough(s, k))
            return false;
    s->stream = streams(s, nest->axis);
    if (s->stream && !tni_op_streams(&s->op))
        return false;
    for (int k = 0; k < nest->nop; k++) {
        s->operand[k].form = nest->axis[0].step[k] ? TNI_DIRECT : TNI_ONE;
        s->operand[k].move = s->operand[k].turn = false;
    }
    s->flat = s->relay = false;
    s->nblock = 1;
    s->axis[0] = 0;
    s->block[0] = cut(nest->axis[0].n, LONG);
    s->items = blocks_along(s, 0);
    return s->plain = true;
}

/* The number of elements when every operand is row-major and needs no conversion, else -1. */
static int64_t row_major(const tni_strips_how *how, int nop, const tn_tensor *const *ts)
{
    const tn_tensor *d = ts[0];
    int64_t count = 1;
    for (int k = 0; k < nop; k++)
        if (ts[k]->dtype != how->compute[k] || (k && ts[k]->dtype == TN_BOOL))
            return -1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        for (int k = 0; k < nop; k++)
            if (ts[k]->stride[i] != count * tni_width(ts[k]->dtype) && d->shape[i] != 1)
                return -1;
        count *= d->shape[i];
    }
    return count;
}

bool tni_strips_small(const tni_strips_how *how, int nop, const tn_tensor *const *ts)
{
    const int64_t count = row_major(how, nop, ts);
    if (count < 0 || count > SMALL)
        return false;
    tni_op_strip op;
    const char *from[TNI_MAX_ARITY];
    take_kernel(&op, how, nop - 1);
    for (int k = 1; k < nop; k++)
        from[k - 1] = ts[k]->data;
    if (count)
        tni_op_run(&op, ts[0]->data, from, 0, count);
    return true;
}

void tni_strips_plan(tni_strips *s, const tni_strips_how *how, int nop,
                     const tn_tensor *const *ts)
{
    tni_nest *nest = &s->nest;
    for (int k = 0; k < nop; k++)
        take_operand(&s->operand[k], k, how, ts[k]);
    tni_nest_normal(nest, nop, ts);
    take_op(s, how);
    if (nest->empty)
        return;
    if (nest->ndim == 0) { /* a single element is a row of one */
        nest->ndim = 1;
        nest->axis[0].n = 1;
        for (int k = 0; k < nop; k++)
            nest->axis[0].step[k] = s->operand[k].width;
    }
    measure(s);
    if (plan_plain(s))
        return;
    if (nest->ndim > 1)
        choose_inner(s);
    s->stream = streams(s, &nest->axis[nest->ndim - 1]);
    s->relay = s->stream && s->op.fn && !s->operand[0].cast.steps && !tni_op_streams(&s->op);
    choose_block(s);
    choose_forms(s);
    s->items = 1;
    for (int i = 0; i < nest->ndim; i++)
        s->items *= blocks_along(s, i);
}
