/* nest.c - the normal form of a loop nest over N strided operands.
 *
 * In normal form every extent is at least 2, MAP axes are outside FOLD axes, the dst steps of
 * MAP axes are positive and fall from outside to inside, and no two neighbouring axes can be
 * walked as one. */
#include "nest.h"

/* Whether axis a belongs outside axis b.  MAP axes are outside FOLD axes, which keep their
 * order unless free_fold.  Otherwise the axis with the larger step of the lead operand is
 * outside; the steps of the other operands, then the extents, break ties. */
static bool nest_outside(const tni_axis *a, const tni_axis *b, int nop,
                         const tni_nest_rules *rules)
{
    const int lead = rules->lead;
    if (UNLIKELY(a->role == TNI_FOLD || b->role == TNI_FOLD) &&
        (a->role != b->role || !rules->free_fold))
        return a->role != TNI_FOLD;
    int64_t x = tni_abs_step(a->step[lead]), y = tni_abs_step(b->step[lead]);
    if (x != y)
        return x > y;
    for (int k = 0; k < nop; k++) {
        x = tni_abs_step(a->step[k]), y = tni_abs_step(b->step[k]);
        if (x != y)
            return x > y;
    }
    return a->n > b->n;
}

static bool nest_continues(const tni_axis *outer, const tni_axis *inner, int k)
{
    int64_t end;
    return tni_mul(inner->n, inner->step[k], &end) && outer->step[k] == end;
}

/* Whether two neighbours can be walked as one axis.  If borders are a constant value, a PAD
 * axis absorbs an inner MAP axis: its border is that value in smaller steps. */
static bool nest_is_one(const tni_axis *outer, const tni_axis *inner, int nop,
                        const tni_nest_rules *rules)
{
    if (UNLIKELY(outer->role == TNI_PAD))
        return inner->role == TNI_MAP && rules->value_border &&
               nest_continues(outer, inner, 0) &&
               (outer->held == 1 || nest_continues(outer, inner, 1));
    if (outer->role != inner->role)
        return false;
    for (int k = 0; k < nop; k++)
        if (!nest_continues(outer, inner, k))
            return false;
    return true;
}

/* Reverse the axis for all operands when the lead operand walks it backwards. */
static void nest_face_forward(tni_nest *nest, tni_axis *a, int lead)
{
    if (a->step[lead] >= 0)
        return;
    for (int k = 0; k < nest->nop; k++) {
        nest->shift[k] += ((k > 0 ? a->held : a->n) - 1) * a->step[k];
        a->step[k] = -a->step[k];
    }
    a->before = a->n - a->held - a->before;
}

static void nest_copy_axis(tni_axis *to, const tni_axis *from, int nop)
{
    to->n = from->n;
    to->role = from->role;
    to->before = from->before;
    to->held = from->held;
    for (int k = 0; k < nop; k++)
        to->step[k] = from->step[k];
}

/* Insert the last axis at its position among the others, which are in order. */
static void nest_settle_last(tni_nest *nest, const tni_nest_rules *rules)
{
    int i = nest->ndim - 1, nop = nest->nop;
    if (i == 0 || !nest_outside(&nest->axis[i], &nest->axis[i - 1], nop, rules))
        return;
    tni_axis a;
    nest_copy_axis(&a, &nest->axis[i], nop);
    for (; i > 0 && nest_outside(&a, &nest->axis[i - 1], nop, rules); i--)
        nest_copy_axis(&nest->axis[i], &nest->axis[i - 1], nop);
    nest_copy_axis(&nest->axis[i], &a, nop);
}

static void nest_merge_two(tni_axis *outer, const tni_axis *inner, int nop)
{
    int64_t n = outer->n * inner->n, before = outer->before, held = outer->held;
    int32_t role = outer->role;
    nest_copy_axis(outer, inner, nop);
    outer->n = n;
    outer->role = role;
    outer->before = before * inner->n;
    outer->held = held * inner->n;
}

static void nest_merge(tni_nest *nest, const tni_nest_rules *rules)
{
    int last = 0;
    for (int i = 1; i < nest->ndim; i++) {
        tni_axis *outer = &nest->axis[last], *inner = &nest->axis[i];
        if (nest_is_one(outer, inner, nest->nop, rules))
            nest_merge_two(outer, inner, nest->nop);
        else if (++last != i)
            nest_copy_axis(&nest->axis[last], inner, nest->nop);
    }
    if (nest->ndim > 0)
        nest->ndim = last + 1;
}

/* Fill in axis i of a pad or a fold; false if the axis needs no loop. */
static bool nest_take_special(tni_nest *nest, tni_axis *a, int i, const tn_tensor *const *ts,
                              const tni_nest_rules *rules)
{
    if (rules->fold >> i & 1) {
        a->role = TNI_FOLD;
        a->n = a->held = ts[1]->shape[i];
        a->step[0] = 0;
        nest->no_fold |= a->n == 0;
    } else if (rules->before && a->n != ts[1]->shape[i]) {
        a->role = TNI_PAD;
        a->before = rules->before[i];
        a->held = ts[1]->shape[i];
        if (a->held == 1)
            a->step[1] = 0;
    }
    return a->n > 1;
}

void tni_nest_build(tni_nest *nest, int nop, const tn_tensor *const *ts,
                    const tni_nest_rules *rules)
{
    const bool special = rules->fold || rules->before;
    ASSERT(nop >= 1 && nop <= TNI_MAX_OPERANDS && ts[0]->ndim <= TN_MAX_NDIM);
    ASSERT(!special || nop >= 2);
    nest->ndim = 0;
    nest->nop = nop;
    nest->empty = nest->no_fold = false;
    for (int k = 0; k < nop; k++)
        nest->shift[k] = 0;
    for (int i = 0; i < ts[0]->ndim; i++) {
        tni_axis *a = &nest->axis[nest->ndim];
        a->n = ts[0]->shape[i];
        if (a->n <= 1 && !(rules->fold >> i & 1)) {
            nest->empty |= a->n == 0;
            continue;
        }
        a->role = TNI_MAP;
        a->before = 0;
        a->held = a->n;
        for (int k = 0; k < nop; k++)
            a->step[k] = ts[k]->stride[i];
        if (special && !nest_take_special(nest, a, i, ts, rules))
            continue;
        nest->ndim++;
        ASSERT(a->role != TNI_FOLD || a->step[0] == 0);
        ASSERT(a->role != TNI_PAD || (a->before >= 0 && a->before + a->held <= a->n));
        if (!rules->keep_signs && (a->role != TNI_FOLD || rules->free_fold))
            nest_face_forward(nest, a, rules->lead);
        if (!rules->keep_order)
            nest_settle_last(nest, rules);
    }
    nest_merge(nest, rules);
}

void tni_nest_normal(tni_nest *nest, int nop, const tn_tensor *const *ts)
{
    tni_nest_build(nest, nop, ts, &(tni_nest_rules){0});
    for (int i = 0; i < nest->ndim; i++)
        ASSERT(nest->empty || nest->axis[i].step[0] > 0);
}

int64_t tni_nest_count(const tni_nest *nest, tni_role role)
{
    int64_t count = 1;
    for (int i = 0; i < nest->ndim; i++)
        if (nest->axis[i].role == (int32_t)role)
            count *= nest->axis[i].n;
    return count;
}
