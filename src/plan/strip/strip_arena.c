/* strip_arena.c - lays out the buffers of an elementwise plan in the arena of a part. */
#include "plan/plan.h"

static int16_t strip_slot_offset(const tni_strips *s, int16_t slot, int32_t registers)
{
    if (slot < TNI_SLOT_SMALL)
        return slot;
    const int32_t at = slot < TNI_SLOT_REG ? (slot - TNI_SLOT_SMALL) * TNI_SPLAT_BYTES
                                           : registers + (slot - TNI_SLOT_REG) * s->reg_size;
    ASSERT(slot < TNI_SLOT_REG ? slot - TNI_SLOT_SMALL < s->nsmall
                               : slot - TNI_SLOT_REG < s->nreg);
    ASSERT(at % 64 == 0 && at < TNI_ARENA);
    return (int16_t)(TNI_REFS + at / 64);
}

static int64_t strip_lines(int64_t bytes)
{
    return (bytes + 63) & ~(int64_t)63;
}

/* The pitch of a packed operand: its rows are whole lines and one more while there are bytes to
 * spare, because rows a power of two apart share sets of L1.  A strip may begin slack elements
 * earlier. */
static int64_t strip_pitch(const tni_strips *s, int64_t strip, int width, int64_t rows,
                           int64_t *spare)
{
    const int64_t dense = strip * width;
    const int64_t padded = strip_lines((strip + s->slack) * width) + 64;
    if (s->flat || s->map || s->columns || rows * (padded - dense) > *spare)
        return dense;
    *spare -= rows * (padded - dense);
    return padded;
}

/* Small blocks come first in the arena, then packed operands, then registers. */
void tni_strips_lay_out(tni_strips *s)
{
    const int64_t last = s->block[s->nest.ndim - 1];
    const int64_t strip = s->columns ? s->instr[s->once].op.block : last;
    int64_t block = 1, at = (int64_t)s->nsmall * TNI_SPLAT_BYTES;
    for (int q = 0; q < s->nblock; q++)
        block *= s->block[s->axis[q]];
    block = block / last * strip;
    s->slack = s->down && strip * s->operand[0].width >= 64 ? 64 / s->operand[0].width : 0;
    s->reg_size = (int32_t)strip_lines((s->flat ? block : strip + s->slack) * s->widest);
    /* Two lines between registers: a load 4 KB away from a pending store waits for it. */
    s->reg_size += s->reg_size >= 2048 && s->reg_size % 4096 < 128 ? 128 : 0;
    int64_t spare = TNI_ARENA - at - (int64_t)s->nreg * s->reg_size;
    for (int k = 0; k < s->nest.nop; k++) {
        tni_operand *o = &s->operand[k];
        o->transpose = false;
        for (int j = 0; j + 1 < s->nblock && o->form == TNI_PACKED; j++)
            o->transpose |= tni_abs_step(s->nest.axis[s->axis[j]].step[k]) == o->width;
        spare -= o->form == TNI_PACKED ? strip_lines(block * o->width) : 0;
    }
    int slack = s->slack;
    for (int k = 0; k < s->nest.nop; k++) {
        tni_operand *o = &s->operand[k];
        if (o->form != TNI_PACKED)
            continue;
        const int64_t rows = block / strip;
        o->pitch = (int32_t)strip_pitch(s, strip, o->width, rows, &spare);
        slack = o->pitch < (strip + slack) * o->width ? 0 : slack;
        o->buffer = (int32_t)at;
        at += strip_lines(rows * o->pitch);
    }
    s->slack = slack;
    ASSERT(at + (int64_t)s->nreg * s->reg_size <= TNI_ARENA);
    for (int i = 0; i < s->ninstr; i++) {
        tni_instr *x = &s->instr[i];
        const int nsrc = x->kind == TNI_DO_APPLY ? x->op.nsrc : 1;
        x->out = strip_slot_offset(s, x->out, (int32_t)at);
        for (int k = 0; k < nsrc; k++)
            x->src[k] = strip_slot_offset(s, x->src[k], (int32_t)at);
    }
}
