/* lower.c - lowers a program to instructions and assigns its values to registers.
 *
 * A register is free again after the last step that reads it, and a step overwrites a source of
 * the result's width whose last use it is.  What is the same for a whole part comes first and
 * is computed once. */
#include <string.h>

#include "plan/plan.h"

/* The most small blocks that are kept for a whole part; further values that could be kept are
 * computed for each strip.  64 blocks of 128 bytes leave seven eighths of the arena to
 * registers. */
enum { SMALL_KEPT = 64, NONE = -1, FOREVER = INT16_MAX };

typedef struct lowering {
    tni_strips *s;
    const tni_program *p;
    int isa, live_small, live_reg;
    uint32_t cached; /* bit k: one cast caches the strips of operand k */
    bool done;       /* the result is in dst */
    int16_t slot[TNI_MAX_VALUES], last[TNI_MAX_VALUES];
    uint8_t one[TNI_MAX_VALUES], uniform[TNI_MAX_VALUES];
    uint64_t small_used[(TNI_MAX_VALUES + 63) / 64], reg_used[(TNI_MAX_VALUES + 63) / 64];
} lowering;

static tn_dtype lower_dtype(const lowering *l, int v)
{
    const tni_program *p = l->p;
    if (v < p->nsrc)
        return (tn_dtype)l->s->operand[v + 1].dtype;
    v -= p->nsrc;
    return v < p->nnum ? p->num[v].dtype : (tn_dtype)p->step[v - p->nnum].dtype;
}

/* Allocate the first free slot. */
static int lower_take(uint64_t *used, int *count)
{
    int i = 0;
    while (used[i / 64] >> i % 64 & 1)
        i++;
    used[i / 64] |= 1ull << i % 64;
    if (i + 1 > *count)
        *count = i + 1;
    ASSERT(i < TNI_MAX_VALUES);
    return i;
}

static int16_t lower_slot(lowering *l, bool one, int width)
{
    tni_strips *s = l->s;
    if (one)
        return (int16_t)(TNI_SLOT_SMALL + lower_take(l->small_used, &s->nsmall));
    s->widest = width > s->widest ? width : s->widest;
    return (int16_t)(TNI_SLOT_REG + lower_take(l->reg_used, &s->nreg));
}

/* Allocate a register that no other value uses, before or after: it lasts from strip to
 * strip. */
static int16_t lower_kept(lowering *l, int width)
{
    tni_strips *s = l->s;
    const int i = s->nreg++;
    l->reg_used[i / 64] |= 1ull << i % 64;
    s->widest = width > s->widest ? width : s->widest;
    return (int16_t)(TNI_SLOT_REG + i);
}

static void lower_free(lowering *l, int16_t slot)
{
    if (slot >= TNI_SLOT_REG)
        l->reg_used[(slot - TNI_SLOT_REG) / 64] &= ~(1ull << (slot - TNI_SLOT_REG) % 64);
    else if (slot >= TNI_SLOT_SMALL)
        l->small_used[(slot - TNI_SLOT_SMALL) / 64] &= ~(1ull << (slot - TNI_SLOT_SMALL) % 64);
}

static tni_instr *lower_emit(lowering *l, tni_do kind, bool one, int width)
{
    ASSERT(l->s->ninstr < TNI_MAX_INSTRS);
    tni_instr *x = &l->s->instr[l->s->ninstr++];
    x->kind = (uint8_t)kind;
    x->one = one;
    x->width = (int8_t)width;
    x->ones = x->cached = x->skip = 0;
    return x;
}

/* The slot of value v.  A source that is used in place needs no instruction. */
static int16_t lower_load(lowering *l, int v)
{
    const tni_program *p = l->p;
    if (l->slot[v] != NONE)
        return l->slot[v];
    ASSERT(v < p->nsrc + p->nnum);
    const int width = (int)tni_width(lower_dtype(l, v));
    if (v < p->nsrc && l->s->operand[v + 1].form != TNI_SPLAT)
        return l->slot[v] = (int16_t)(v + 1);
    const bool source = v < p->nsrc;
    tni_instr *x = lower_emit(l, source ? TNI_DO_SPLAT : TNI_DO_NUMBER, true, width);
    x->src[0] = source ? (int16_t)(v + 1) : 0; /* a number reads no operand */
    if (!source)
        memcpy(x->value, p->num[v - p->nsrc].bytes, sizeof x->value);
    return l->slot[v] = x->out = lower_slot(l, true, width);
}

/* Whether source k is the same for several consecutive strips. */
static bool lower_repeats(const tni_strips *s, int k)
{
    bool repeats = false;
    for (int i = 0; i + 1 < s->nest.ndim; i++)
        repeats |= s->nest.axis[i].step[k] == 0;
    return repeats && s->operand[k].form == TNI_DIRECT;
}

/* Where a step writes value v directly: dst, a result of a dense strip, or NONE. */
static int16_t lower_final(const lowering *l, int v, bool streams)
{
    if (l->p->nvalue == 0)
        return v == l->p->value && !l->one[v] && (streams || !l->s->stream) ? 0 : NONE;
    for (int r = 0; r < l->p->nvalue && !l->one[v]; r++)
        if (l->p->values[r] == v)
            return (int16_t)(TNI_MAX_OPERANDS + r);
    return NONE;
}

static void lower_cast(lowering *l, int v, const tni_strip_step *step)
{
    const int from = step->src[0];
    const tni_cast c = tni_cast_chain(l->isa, lower_dtype(l, from), (tn_dtype)step->dtype);
    const bool one = l->one[v];
    int8_t width = (int8_t)tni_width(lower_dtype(l, from));
    int16_t src = lower_load(l, from);
    const int16_t from_operand = src;
    const bool keeps = src > 0 && src < TNI_MAX_OPERANDS && v != l->p->value &&
                       !(l->cached >> src & 1) && lower_repeats(l->s, src);
    ASSERT(c.steps >= 1 && c.steps <= TNI_CAST_STEPS);
    for (int i = 0; i < c.steps; i++) {
        const bool last = i + 1 == c.steps;
        const int16_t final = last ? lower_final(l, v, true) : NONE;
        tni_instr *x = lower_emit(l, TNI_DO_CAST, one, c.width[i]);
        x->cast = c.fn[i];
        x->from = width;
        width = c.width[i];
        x->src[0] = src;
        if (i == 0 && keeps) {
            x->cached = (uint8_t)src;
            x->skip = (uint8_t)c.steps;
        }
        x->out = final != NONE   ? final
                 : last && keeps ? lower_kept(l, c.width[i])
                                 : lower_slot(l, one, c.width[i]);
        l->done |= final == 0;
        if (i > 0)
            lower_free(l, src);
        src = x->out;
    }
    l->slot[v] = src;
    if (keeps) {
        l->cached |= 1u << from_operand;
        l->last[v] = FOREVER;
    }
}

static void lower_kernel(tni_op_strip *op, const tni_strip_step *step, const lowering *l)
{
    const tn_dtype compute = (tn_dtype)step->compute;
    op->fn = tni_op_kernel(l->isa, (tn_op)step->op, compute);
    op->block = tni_op_block((tn_op)step->op, compute);
    op->nsrc = step->nsrc;
    op->width[0] = (int8_t)tni_width((tn_dtype)step->dtype);
    for (int k = 0; k < step->nsrc; k++)
        op->width[k + 1] = (int8_t)tni_width(lower_dtype(l, step->src[k]));
    for (int i = 0; i < TNI_MAX_PARAMS; i++)
        op->params[i] = step->params[i];
    ASSERT(op->fn);
}

/* The register of a source whose last use is step i, if it has the width of the result, which
 * then overwrites it. */
static int16_t lower_in_place(const lowering *l, const tni_strip_step *step, int i, int width)
{
    for (int k = 0; k < step->nsrc; k++) {
        const int v = step->src[k];
        if (l->slot[v] >= TNI_SLOT_REG && l->last[v] == i &&
            tni_width(lower_dtype(l, v)) == width)
            return l->slot[v];
    }
    return NONE;
}

static void lower_apply(lowering *l, int i, int v, const tni_strip_step *step)
{
    const bool one = l->one[v];
    const int width = (int)tni_width((tn_dtype)step->dtype);
    int16_t src[TNI_MAX_ARITY];
    for (int k = 0; k < step->nsrc; k++)
        src[k] = lower_load(l, step->src[k]);
    tni_instr *x = lower_emit(l, TNI_DO_APPLY, one, width);
    lower_kernel(&x->op, step, l);
    for (int k = 0; k < step->nsrc; k++) {
        x->src[k] = src[k];
        x->ones |= (uint8_t)(l->one[step->src[k]] << k);
    }
    const int16_t final = lower_final(l, v, tni_op_streams(&x->op));
    const int16_t over = one || final != NONE ? NONE : lower_in_place(l, step, i, width);
    x->out = final != NONE ? final : over != NONE ? over : lower_slot(l, one, width);
    for (int k = 0; k < step->nsrc && over != NONE; k++)
        if (l->slot[step->src[k]] == over)
            l->last[step->src[k]] = FOREVER; /* the register is the result's now */
    l->done |= final == 0;
    l->slot[v] = x->out;
    l->s->compute = (tn_dtype)step->compute;
}

static void lower_step(lowering *l, int i)
{
    const tni_strip_step *step = &l->p->step[i];
    const int v = tni_step_value(l->p, i);
    if (step->kind == TNI_STEP_CAST)
        lower_cast(l, v, step);
    else
        lower_apply(l, i, v, step);
    for (int k = 0; k < step->nsrc; k++)
        if (l->last[step->src[k]] == i && !l->uniform[step->src[k]]) {
            lower_free(l, l->slot[step->src[k]]);
            l->last[step->src[k]] = FOREVER;
        }
}

/* Find which values are one for each strip, which are the same for all strips, and the last use
 * of each. */
static void lower_look(lowering *l)
{
    const tni_program *p = l->p;
    const tni_nest *nest = &l->s->nest;
    for (int v = 0; v < tni_step_value(p, p->nstep); v++) {
        l->slot[v] = l->last[v] = NONE;
        l->one[v] = l->uniform[v] = v >= p->nsrc;
    }
    for (int v = 0; v < p->nsrc; v++) {
        l->one[v] = l->uniform[v] = l->s->operand[v + 1].form == TNI_SPLAT;
        for (int i = 0; i < nest->ndim; i++)
            l->uniform[v] &= nest->axis[i].step[v + 1] == 0;
    }
    for (int i = 0; i < p->nstep; i++) {
        const int v = tni_step_value(p, i);
        for (int k = 0; k < p->step[i].nsrc; k++) {
            ASSERT(p->step[i].src[k] >= 0 && p->step[i].src[k] < v);
            l->one[v] &= l->one[p->step[i].src[k]];
            l->uniform[v] &= l->uniform[p->step[i].src[k]];
            l->last[p->step[i].src[k]] = (int16_t)i;
        }
    }
    if (p->nvalue == 0)
        l->last[p->value] = FOREVER;
    for (int r = 0; r < p->nvalue; r++)
        l->last[p->values[r]] = FOREVER;
}

/* Write a result that no step has written to its place: a single value, a source, or a value
 * that is two results. */
static void lower_result(lowering *l, int v, int16_t out)
{
    const int16_t src = lower_load(l, v);
    if (src == out)
        return;
    tni_instr *x = lower_emit(l, l->one[v] ? TNI_DO_FILL : TNI_DO_COPY, false,
                              (int)tni_width(lower_dtype(l, v)));
    x->out = out;
    x->src[0] = src;
}

/* Emit what does not change from strip to strip, as far as there is space to keep it. */
static void lower_once(lowering *l)
{
    const tni_program *p = l->p;
    for (int v = 0; v < p->nsrc + p->nnum; v++)
        if (l->uniform[v] && l->last[v] != NONE && l->s->nsmall < SMALL_KEPT)
            lower_load(l, v);
    for (int i = 0; i < p->nstep; i++) {
        const int v = tni_step_value(p, i);
        /* a step takes at most three: a cast by three kernels has two values on the way */
        bool ready = l->uniform[v] && l->s->nsmall + 2 < SMALL_KEPT;
        for (int k = 0; k < p->step[i].nsrc; k++)
            ready &= l->slot[p->step[i].src[k]] != NONE;
        if (ready)
            lower_step(l, i);
    }
    for (int v = 0; v < tni_step_value(p, p->nstep); v++)
        l->uniform[v] &= l->slot[v] != NONE; /* only these are kept */
    l->s->once = l->s->ninstr;
}

void tni_strips_lower(tni_strips *s, const tni_program *p)
{
    lowering l; /* only the entries of the program's values are set */
    l.s = s;
    l.p = p;
    l.isa = tni_isa_level();
    l.done = false;
    l.cached = 0;
    memset(l.small_used, 0, sizeof l.small_used);
    memset(l.reg_used, 0, sizeof l.reg_used);
    ASSERT(tni_step_value(p, p->nstep) <= TNI_MAX_VALUES);
    s->ninstr = s->once = s->nsmall = s->nreg = 0;
    s->widest = 1;
    s->compute = (tn_dtype)0;
    if (p->map) {
        tni_instr *call = lower_emit(&l, TNI_DO_CALL, false, 0);
        call->out = call->src[0] = 0; /* the function reads the operands themselves */
        return;
    }
    lower_look(&l);
    lower_once(&l);
    for (int i = 0; i < p->nstep; i++)
        if (l.slot[tni_step_value(p, i)] == NONE)
            lower_step(&l, i);
    if (p->nvalue == 0 && !l.done)
        lower_result(&l, p->value, 0);
    for (int r = 0; r < p->nvalue; r++)
        lower_result(&l, p->values[r], (int16_t)(TNI_MAX_OPERANDS + r));
}
