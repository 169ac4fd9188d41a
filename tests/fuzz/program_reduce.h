/* program_reduce.h - reductions, scans, rows, indexing and order in a program of bytes. */
#ifndef PROGRAM_REDUCE_H
#define PROGRAM_REDUCE_H

#include "machine.h"

/* Any reduction of any axes; of bytes the sum, the largest and a running sum one by one. */
static void op_reduce(machine *p, const slot *d, const slot *s)
{
    tn_reduction op = (tn_reduction)take_below(&p->b, TN_REDUCE_NANMAX + 2);
    int axes[AXES], mask = take(&p->b), naxes = 0;
    tn_tensor out;
    for (int i = 0; i < s->t.ndim; i++)
        if (mask >> i & 1)
            axes[naxes++] = i;
    uint8_t *before = copy_of(d->in);
    check_outside(d, before, tn_reduce(op, NULL, &d->t, &s->t, naxes, axes));
    free(before);
    if (s->t.dtype != TN_U8 || s->m.n == 0)
        return;
    uint64_t sum = 0, made;
    uint8_t greatest = 0;
    for (int64_t i = 0; i < s->m.n; i++) {
        const uint8_t x = s->in->data[s->m.at[i]];
        sum += x;
        greatest = x > greatest ? x : greatest;
    }
    MUST(tn_reduce_copy(&out, TN_REDUCE_SUM, NULL, &s->t, TN_ALL_AXES, NULL, true) == TN_OK);
    memcpy(&made, out.data, sizeof made);
    tn_free(&out);
    MUST(made == sum);
    MUST(tn_reduce_copy(&out, TN_REDUCE_MAX, NULL, &s->t, TN_ALL_AXES, NULL, false) == TN_OK);
    MUST(*(uint8_t *)out.data == greatest);
    tn_free(&out);
}

/* Calls along an axis into another tensor: what they refuse changes nothing. */
static void op_lines(machine *p, const slot *d, const slot *s)
{
    const int kind = take_below(&p->b, 9), dim = take_below(&p->b, AXES);
    const tn_tensor *index = &p->slots[take_below(&p->b, SLOTS)].t;
    uint8_t *before = copy_of(d->in);
    const tn_status got = kind == 0
                              ? tn_scan((tn_scan_op)take_below(&p->b, 6), &d->t, &s->t, dim)
                          : kind == 1 ? tn_softmax(&d->t, &s->t, dim)
                          : kind == 2 ? tn_rms_norm(&d->t, &s->t, NULL, 1e-6)
                          : kind == 3 ? tn_layer_norm(&d->t, &s->t, NULL, NULL, 1e-6)
                          : kind == 8 ? tn_rotate(&d->t, &s->t, index, index, dim == 0)
                          : kind == 4 ? tn_diff(&d->t, &s->t, dim)
                          : kind == 5 ? tn_take(&d->t, &s->t, dim, index)
                          : kind == 6 ? tn_put(TN_PUT_SET, &d->t, dim, index, &s->t)
                                      : tn_masked_put(&d->t, index, &s->t);
    check_outside(d, before, got);
    free(before);
}

/* What a sort says of where its values come from is true, and bytes rise. */
static void op_order(machine *p, const slot *d, const slot *s)
{
    tn_tensor values, at, taken;
    int dim = take_below(&p->b, AXES);
    (void)d;
    if (dim >= s->t.ndim || s->t.dtype == TN_C128)
        return;
    MUST(tn_alloc(&values, s->t.dtype, s->t.ndim, s->t.shape) == TN_OK);
    MUST(tn_alloc(&at, TN_I64, s->t.ndim, s->t.shape) == TN_OK);
    MUST(tn_alloc(&taken, s->t.dtype, s->t.ndim, s->t.shape) == TN_OK);
    MUST(tn_sort(&values, &at, &s->t, dim, (unsigned)take(&p->b) & TN_DESCENDING) == TN_OK);
    MUST(tn_take_along(&taken, &s->t, dim, &at) == TN_OK);
    MUST(same_elements(&taken, &values));
    MUST(tn_sort(&values, NULL, &s->t, dim, 0) == TN_OK);
    int64_t index[AXES] = {0};
    if (s->t.dtype == TN_U8 && s->m.n > 0)
        do {
            const uint8_t *x = at_index(&values, index);
            MUST(index[dim] == 0 || x[-values.stride[dim]] <= *x);
        } while (next_index(values.ndim, values.shape, index));
    tn_free(&taken);
    tn_free(&at);
    tn_free(&values);
}

#endif
