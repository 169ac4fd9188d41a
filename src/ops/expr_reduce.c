/* expr_reduce.c - expressions with reductions.
 *
 * Each argument is computed into a temporary of the common shape, which is the one thing that
 * evaluating a text allocates, and reduced to the bit as tn_reduce does it. */
#include "expr_reduce.h"

#include "plan/plan.h"
#include "view/view.h"

tn_status tni_expr_meet(const char *call, int n, const tn_tensor *const *srcs, int *ndim,
                        int64_t *shape)
{
    *ndim = 0;
    for (int k = 0; k < n; k++)
        *ndim = srcs[k]->ndim > *ndim ? srcs[k]->ndim : *ndim;
    for (int i = 0; i < *ndim; i++)
        shape[i] = 1;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < srcs[k]->ndim; i++) {
            int64_t *have = &shape[*ndim - srcs[k]->ndim + i];
            const int64_t mine = srcs[k]->shape[i];
            if (mine != 1 && *have != 1 && mine != *have)
                return tni_fail(TN_ESHAPE,
                                "%s: axis %d: extents %lld and %lld do not broadcast", call,
                                *ndim - srcs[k]->ndim + i, (long long)*have, (long long)mine);
            *have = mine == 1 ? *have : mine;
        }
    return TN_OK;
}

/* The axes, counted from 0; none twice. */
static tn_status axes_of(const tni_expr_program *e, int ndim, int *axes)
{
    uint64_t seen = 0;
    for (int i = 0; i < e->naxes; i++) {
        axes[i] = e->axes[i] < 0 ? e->axes[i] + ndim : e->axes[i];
        if (axes[i] < 0 || axes[i] >= ndim)
            return tni_fail(TN_EARG, "%s: axis %d is out of range for %d axes", e->call,
                            e->axes[i], ndim);
        if (seen >> axes[i] & 1)
            return tni_fail(TN_EARG, "%s: axis %d is named twice", e->call, e->axes[i]);
        seen |= (uint64_t)1 << axes[i];
    }
    return TN_OK;
}

/* The sources of each reduction give the whole shape by themselves. */
static tn_status check_arguments(const tni_expr_program *e, int n, const tn_tensor *const *srcs,
                                 int ndim, const int64_t *shape)
{
    for (int r = 0; r < e->nreduce; r++)
        for (int i = 0; i < ndim; i++) {
            int64_t mine = 1;
            for (int k = 0; k < n; k++) {
                const int j = i - ndim + srcs[k]->ndim;
                if (e->reduce[r].names >> k & 1 && j >= 0 && srcs[k]->shape[j] != 1)
                    mine = srcs[k]->shape[j];
            }
            if (mine != shape[i])
                return tni_fail_at(TN_EUNSUPPORTED, e->reduce[r].column,
                                   "%s: the argument of a reduction is smaller than the common "
                                   "shape at column %d",
                                   e->call, e->reduce[r].column);
        }
    return TN_OK;
}

tn_status tni_expr_reduced(const tni_expr_program *e, int n, const tn_tensor *const *srcs,
                           int *ndim, int64_t *shape)
{
    int all, axes[TN_MAX_NDIM];
    int64_t whole[TN_MAX_NDIM];
    uint64_t folded = e->naxes < 0 ? UINT64_MAX : 0;
    TRY(tni_expr_meet(e->call, n, srcs, &all, whole));
    TRY(check_arguments(e, n, srcs, all, whole));
    TRY(axes_of(e, all, axes));
    for (int i = 0; i < e->naxes; i++)
        folded |= (uint64_t)1 << axes[i];
    *ndim = 0;
    for (int i = 0; i < all; i++)
        if (!(folded >> i & 1))
            shape[(*ndim)++] = whole[i];
    return TN_OK;
}

static void run_program(const tni_program *p, const tn_tensor *const *ts,
                        const tn_tensor *const *srcs)
{
    tni_strips strips;
    tni_instr instr[TNI_MAX_INSTRS];
    const char *at[TN_EXPR_NAMES];
    for (int k = 0; k < p->nsrc; k++)
        at[k] = srcs[k]->data;
    tni_strips_plan(&strips, instr, p, ts);
    tni_strips_run(&strips, ts[0]->data, at);
}

/* Reduction r of the text, into a new tensor. */
static tn_status reduce_one(const tni_expr_program *e, int r, int n,
                            const tn_tensor *const *srcs, tn_tensor *out)
{
    int ndim, axes[TN_MAX_NDIM];
    int64_t shape[TN_MAX_NDIM];
    tn_tensor whole, repeated[TN_EXPR_NAMES];
    const tn_tensor *ts[TNI_MAX_OPERANDS];
    TRY(tni_expr_meet(e->call, n, srcs, &ndim, shape));
    TRY(axes_of(e, ndim, axes));
    TRY(tn_alloc(&whole, (tn_dtype)e->reduce[r].dtype, ndim, shape));
    tn_status status = tni_broadcast_operands(ts, repeated, e->call, &whole, n, srcs);
    if (status == TN_OK) {
        tni_program inner = e->program;
        inner.value = e->reduce[r].value;
        run_program(&inner, ts, srcs);
        status = tn_reduce_copy(out, e->reduce[r].op, NULL, &whole, e->naxes, axes, false);
    }
    tn_free(&whole);
    return status;
}

tn_status tni_expr_reduce(const tni_expr_program *e, const tn_tensor *dst, int n,
                          const tn_tensor *const *srcs)
{
    tn_tensor results[TNI_EXPR_REDUCTIONS], repeated[TNI_EXPR_REDUCTIONS];
    const tn_tensor *ts[TNI_MAX_OPERANDS], *from[TNI_EXPR_REDUCTIONS] = {NULL};
    int have = 0;
    tn_status status = TN_OK;
    while (have < e->nreduce && status == TN_OK) {
        status = reduce_one(e, have, n, srcs, &results[have]);
        if (status == TN_OK) {
            from[have] = &results[have];
            have++;
        }
    }
    if (status == TN_OK)
        status = tni_broadcast_operands(ts, repeated, e->call, dst, have, from);
    if (status == TN_OK)
        run_program(&e->around, ts, from);
    while (have > 0)
        tn_free(&results[--have]);
    return status;
}
