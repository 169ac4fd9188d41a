/* strip_arena.c - where the buffers of an elementwise plan lie in the arena of a part. */
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

/* Small blocks, packed operands, registers: their offsets in the arena.  Rows of a packed operand
 * are whole lines and one more where there is room: at a distance of a power of two they share
 * sets of L1. */
void tni_strips_lay_out(tni_strips *s)
{
    const int64_t strip = s->block[s->nest.ndim - 1];
    int64_t block = 1, at = (int64_t)s->nsmall * TNI_SPLAT_BYTES;
    for (int q = 0; q < s->nblock; q++)
        block *= s->block[s->axis[q]];
    /* Two lines between registers: at a distance of 4 KB loads wait for stores. */
    s->slack = s->down ? 64 / s->operand[0].width : 0;
    s->reg_size = (int32_t)strip_lines((s->flat ? block : strip + s->slack) * s->widest);
    s->reg_size += s->reg_size >= 2048 && s->reg_size % 4096 < 128 ? 128 : 0;
    int64_t room = TNI_ARENA - at - (int64_t)s->nreg * s->reg_size;
    for (int k = 0; k < s->nest.nop; k++) {
        tni_operand *o = &s->operand[k];
        o->transpose = false;
        for (int j = 0; j + 1 < s->nblock && o->form == TNI_PACKED; j++)
            o->transpose |= tni_abs_step(s->nest.axis[s->axis[j]].step[k]) == o->width;
        room -= o->form == TNI_PACKED ? strip_lines(block * o->width) : 0;
    }
    for (int k = 0; k < s->nest.nop; k++) {
        tni_operand *o = &s->operand[k];
        if (o->form != TNI_PACKED)
            continue;
        const int64_t rows = block / strip, dense = strip * o->width;
        const int64_t more = rows * (strip_lines(dense) + 64 - dense);
        const bool apart = !s->flat && !s->map && more <= room;
        room -= apart ? more : 0;
        s->slack = apart ? s->slack : 0;
        o->pitch = (int32_t)(apart ? strip_lines(dense) + 64 : dense);
        o->buffer = (int32_t)at;
        at += strip_lines(rows * o->pitch);
    }
    ASSERT(at + (int64_t)s->nreg * s->reg_size <= TNI_ARENA);
    for (int i = 0; i < s->ninstr; i++) {
        tni_instr *x = &s->instr[i];
        const int nsrc = x->kind == TNI_DO_APPLY ? x->op.nsrc : 1;
        x->out = strip_slot_offset(s, x->out, (int32_t)at);
        for (int k = 0; k < nsrc; k++)
            x->src[k] = strip_slot_offset(s, x->src[k], (int32_t)at);
    }
}
