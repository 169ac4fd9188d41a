/* nest.c - the normal form of a loop nest over N strided operands.
 *
 * Afterwards every extent is at least 2, dst steps are positive and fall from outside to
 * inside, and no two neighbours can be walked as one axis. */
#include "plan.h"

/* Whether axis a belongs outside axis b: larger dst step first, then larger source steps. */
static bool outside(const tni_axis *a, const tni_axis *b, int nop)
{
    for (int k = 0; k < nop; k++) {
        int64_t x = tni_magnitude(a->step[k]), y = tni_magnitude(b->step[k]);
        if (x != y)
            return x > y;
    }
    return a->n > b->n;
}

static bool walk_as_one(const tni_axis *outer, const tni_axis *inner, int nop)
{
    int64_t end;
    for (int k = 0; k < nop; k++)
        if (!tni_mul(inner->n, inner->step[k], &end) || outer->step[k] != end)
            return false;
    return true;
}

/* Reverse the axis for all operands when dst walks it backwards. */
static void face_forward(tni_nest *nest, tni_axis *a)
{
    if (a->step[0] >= 0)
        return;
    for (int k = 0; k < nest->nop; k++) {
        nest->shift[k] += (a->n - 1) * a->step[k];
        a->step[k] = -a->step[k];
    }
}

static void copy_axis(tni_axis *to, const tni_axis *from, int nop)
{
    to->n = from->n;
    for (int k = 0; k < nop; k++)
        to->step[k] = from->step[k];
}

/* Bring the last axis to its place among the others, which are in order. */
static void settle_last(tni_nest *nest)
{
    int i = nest->ndim - 1;
    if (i == 0 || !outside(&nest->axis[i], &nest->axis[i - 1], nest->nop))
        return;
    tni_axis a;
    copy_axis(&a, &nest->axis[i], nest->nop);
    for (; i > 0 && outside(&a, &nest->axis[i - 1], nest->nop); i--)
        copy_axis(&nest->axis[i], &nest->axis[i - 1], nest->nop);
    copy_axis(&nest->axis[i], &a, nest->nop);
}

static void merge(tni_nest *nest)
{
    int kept = 0;
    for (int i = 1; i < nest->ndim; i++) {
        tni_axis *outer = &nest->axis[kept], *inner = &nest->axis[i];
        if (walk_as_one(outer, inner, nest->nop)) {
            int64_t n = outer->n * inner->n;
            copy_axis(outer, inner, nest->nop);
            outer->n = n;
        } else if (++kept != i) {
            copy_axis(&nest->axis[kept], inner, nest->nop);
        }
    }
    if (nest->ndim > 0)
        nest->ndim = kept + 1;
}

static void build(tni_nest *nest, int nop, const tn_tensor *const *ts, bool forward)
{
    nest->ndim = 0;
    nest->nop = nop;
    nest->empty = false;
    for (int k = 0; k < nop; k++)
        nest->shift[k] = 0;
    for (int i = 0; i < ts[0]->ndim; i++) {
        if (ts[0]->shape[i] == 0)
            nest->empty = true;
        if (ts[0]->shape[i] <= 1)
            continue;
        tni_axis *a = &nest->axis[nest->ndim++];
        a->n = ts[0]->shape[i];
        for (int k = 0; k < nop; k++)
            a->step[k] = ts[k]->stride[i];
        if (forward)
            face_forward(nest, a);
        settle_last(nest);
    }
    merge(nest);
}

void tni_nest_normal(tni_nest *nest, int nop, const tn_tensor *const *ts)
{
    build(nest, nop, ts, true);
}

void tni_nest_signed(tni_nest *nest, int nop, const tn_tensor *const *ts)
{
    build(nest, nop, ts, false);
}
