/* expr_reduce.c - expressions with reductions: their shapes, and the fused fold that computes
 * them. */
#include "expr_reduce.h"

#include "plan/plan.h"
#include "view/view.h"

/* The axes of the reductions, counted from 0 and checked for repetition. */
static tn_status axes_of(const tni_expr_program *e, int ndim, int *axes)
{
    uint64_t seen = 0;
    const int column = e->reduce[0].column;
    for (int i = 0; i < e->naxes; i++) {
        axes[i] = e->axes[i] < 0 ? e->axes[i] + ndim : e->axes[i];
        if (axes[i] < 0 || axes[i] >= ndim)
            return tni_fail_at(TN_EARG, column,
                               "%s: axis %d is out of range for %d axes at column %d", e->call,
                               e->axes[i], ndim, column);
        if (seen >> axes[i] & 1)
            return tni_fail_at(TN_EARG, column, "%s: axis %d is named twice at column %d",
                               e->call, e->axes[i], column);
        seen |= (uint64_t)1 << axes[i];
    }
    return TN_OK;
}

tn_status tni_expr_reduced(const tni_expr_program *e, int n, const tn_tensor *const *srcs,
                           int *ndim, int64_t *shape)
{
    int all, axes[TN_MAX_NDIM];
    int64_t whole[TN_MAX_NDIM];
    uint64_t folded = e->naxes < 0 ? UINT64_MAX : 0;
    TRY(axes_of(e, e->ndim, axes));
    TRY(tni_broadcast_sources(e->call, n, srcs, &all, whole));
    for (int i = 0; i < e->naxes; i++)
        folded |= (uint64_t)1 << axes[i];
    *ndim = 0;
    bool none = false, some = true; /* some sequence is empty; the result has elements */
    for (int i = 0; i < all; i++)
        if (folded >> i & 1) {
            none |= whole[i] == 0;
        } else {
            some &= whole[i] != 0;
            shape[(*ndim)++] = whole[i];
        }
    for (int r = 0; r < e->nreduce && none && some; r++)
        if (tni_reductions[e->reduce[r].op].needs_one)
            return tni_fail_at(TN_ESHAPE, e->reduce[r].column,
                               "%s: %s of no elements at column %d", e->call,
                               tni_reductions[e->reduce[r].op].name, e->reduce[r].column);
    return TN_OK;
}

static tn_status fuse(const tni_expr_program *e, tni_fused *u, tni_instr *instr,
                      const tn_tensor *dst, int n, const tn_tensor *const *srcs)
{
    int ndim, axes[TN_MAX_NDIM];
    tni_program values = e->program, around = e->around;
    tni_fused_term term[TNI_EXPR_REDUCTIONS];
    tn_tensor common = {.dtype = dst->dtype, .device = TN_CPU}, repeated[TN_EXPR_NAMES];
    const tn_tensor *ts[TNI_MAX_OPERANDS];
    uint64_t folded = e->naxes < 0 ? UINT64_MAX : 0;
    TRY(tni_broadcast_sources(e->call, n, srcs, &ndim, common.shape));
    TRY(axes_of(e, ndim, axes));
    for (int i = 0; i < e->naxes; i++)
        folded |= (uint64_t)1 << axes[i];
    common.ndim = ndim;
    for (int i = ndim - 1, j = dst->ndim - 1; i >= 0; i--)
        common.stride[i] = folded >> i & 1 ? 0 : dst->stride[j--];
    TRY(tni_broadcast_operands(ts, repeated, e->call, &common, n, srcs));
    values.nvalue = 0;
    for (int r = 0; r < e->nreduce; r++) {
        int v = 0;
        while (v < values.nvalue && values.values[v] != e->reduce[r].value)
            v++;
        values.values[v] = e->reduce[r].value;
        values.nvalue += v == values.nvalue;
        term[r] = (tni_fused_term){e->reduce[r].op, v, (tn_dtype)e->reduce[r].dtype,
                                   (tn_dtype)e->reduce[r].gives};
    }
    around.nvalue = 1;
    around.values[0] = (int16_t)around.value;
    tni_fused_plan(u, instr, &values, &around, e->nreduce, term, ts, folded);
    return TN_OK;
}

tn_status tni_expr_reduce(const tni_expr_program *e, const tn_tensor *dst, int n,
                          const tn_tensor *const *srcs)
{
    tni_fused u;
    tni_instr instr[TNI_EXPR_INSTRS];
    const char *at[TN_EXPR_NAMES];
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    for (int k = 0; k < n; k++)
        at[k] = srcs[k]->data;
    TRY(tni_expr_reduced(e, n, srcs, &ndim, shape));
    TRY(fuse(e, &u, instr, dst, n, srcs));
    tni_fused_run(&u, dst->data, at);
    tni_fused_broadcast(dst, dst->data, ndim, shape);
    return TN_OK;
}

tn_status tni_expr_reduce_plan(const tni_expr_program *e, tn_plan **plan, const char *text,
                               const tn_tensor *dst, int n, const tn_tensor *const *srcs)
{
    tni_fused u;
    tni_instr instr[TNI_EXPR_INSTRS];
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    TRY(tni_expr_reduced(e, n, srcs, &ndim, shape));
    TRY(fuse(e, &u, instr, dst, n, srcs));
    tn_plan *p = tni_fused_new(&u, text, dst, n, srcs, ndim, shape);
    if (!p)
        return tni_fail(TN_ENOMEM, "%s: cannot allocate the plan", e->call);
    *plan = p;
    return TN_OK;
}
