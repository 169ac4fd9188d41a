/* scan.c - scans (running reductions), differences, and calls composed of reductions: minmax,
 * dot. */
#include <string.h>

#include <tenon/copy.h>
#include <tenon/reduce.h>

#include "plan/plan.h"
#include "reduce_check.h"

static const char *const scan_names[] = {[TN_SCAN_SUM] = "cumsum",
                                         [TN_SCAN_PROD] = "cumprod",
                                         [TN_SCAN_MAX] = "cummax",
                                         [TN_SCAN_MIN] = "cummin",
                                         [TN_SCAN_LOGSUMEXP] = "logcumsumexp"};

tn_status tn_scan_parse(tn_scan_op *op, const char *name)
{
    if (!op || !name)
        return tni_fail(TN_ENULL, "scan_parse: %s is NULL", op ? "name" : "op");
    for (int i = 0; i < COUNT(scan_names); i++)
        if (!strcmp(scan_names[i], name)) {
            *op = (tn_scan_op)i;
            return TN_OK;
        }
    return tni_fail(TN_EARG, "scan_parse: unknown scan \"%.40s\"", name);
}

const char *tn_scan_name(tn_scan_op op)
{
    return (unsigned)op < (unsigned)COUNT(scan_names) ? scan_names[op] : NULL;
}

typedef struct scan_call {
    tn_scan_op op;
    int dim;
} scan_call;

static tn_status scan_args(const tni_call *call)
{
    const scan_call *s = call->own;
    if (!tn_scan_name(s->op))
        return tni_fail(TN_EARG, "%s: scan %d is unknown", call->name, (int)s->op);
    return tni_check_axis(s->dim, call->srcs[0]->ndim, call->name);
}

static tn_status scan_dtypes(const tni_call *call)
{
    const scan_call *s = call->own;
    const tn_dtype src = call->srcs[0]->dtype, dst = call->dst->dtype;
    static const tn_reduction like[] = {TN_REDUCE_SUM, TN_REDUCE_PROD, TN_REDUCE_MAX,
                                        TN_REDUCE_MIN, TN_REDUCE_LOGSUMEXP};
    TRY(tni_reduce_takes(call->name, scan_names[s->op], like[s->op], src));
    if (s->op != TN_SCAN_MAX && s->op != TN_SCAN_MIN)
        return tni_reduce_dtypes(call->name, like[s->op], src, dst);
    if (dst != src)
        return tni_fail(TN_EDTYPE, "%s: dst: got %s, expected %s for %s of %s", call->name,
                        tn_dtype_name(dst), tn_dtype_name(src), scan_names[s->op],
                        tn_dtype_name(src));
    return TN_OK;
}

static tn_status scan_shapes(const tni_call *call)
{
    const scan_call *s = call->own;
    const tn_tensor *src = call->srcs[0], *dst = call->dst;
    const bool longer = s->op != TN_SCAN_MAX && s->op != TN_SCAN_MIN &&
                        dst->ndim == src->ndim && dst->shape[s->dim] > 0 &&
                        dst->shape[s->dim] - 1 == src->shape[s->dim];
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < src->ndim; i++)
        shape[i] = src->shape[i] + (longer && i == s->dim);
    return tni_check_shape(dst, src->ndim, shape, call->name, "dst");
}

static tn_status check_scan(scan_call *s, const char *name, unsigned flags,
                            const tn_tensor *dst, const tn_tensor *const *src)
{
    return tni_check_call(&(tni_call){.name = name,
                                      .flags = flags | TNI_ALLOW_ALIAS,
                                      .dst = dst,
                                      .n = 1,
                                      .srcs = src,
                                      .args = scan_args,
                                      .dtypes = scan_dtypes,
                                      .shapes = scan_shapes,
                                      .own = s});
}

tn_status tn_scan(tn_scan_op op, const tn_tensor *dst, const tn_tensor *src, int dim)
{
    TRY(check_scan(&(scan_call){op, dim}, "scan", 0, dst, &src));
    tni_scan s;
    tni_scan_plan(&s, op, dst, src, dim, false, 0);
    tni_scan_run(&s, dst->data, src->data, NULL);
    return TN_OK;
}

tn_status tn_plan_scan(tn_plan **plan, tn_scan_op op, const tn_tensor *dst,
                       const tn_tensor *src, int dim)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_scan: plan is NULL");
    TRY(check_scan(&(scan_call){op, dim}, "plan_scan", TNI_NO_DATA, dst, &src));
    tni_scan s;
    tni_scan_plan(&s, op, dst, src, dim, false, 0);
    tn_plan *p = tni_scan_new(&s, scan_names[op], dst, src);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_scan: cannot allocate the plan");
    *plan = p;
    return TN_OK;
}

/* ---- differences ---- */

static tn_status diff_args(const tni_call *call)
{
    return tni_check_axis(*(const int *)call->own, call->srcs[0]->ndim, call->name);
}

static tn_status diff_dtypes(const tni_call *call)
{
    if (call->srcs[0]->dtype == TN_BOOL)
        return tni_fail(TN_EDTYPE, "diff: src: bool has no differences");
    return tni_call_same_dtypes(call);
}

static tn_status diff_shapes(const tni_call *call)
{
    const tn_tensor *src = call->srcs[0];
    const int dim = *(const int *)call->own;
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < src->ndim; i++)
        shape[i] = src->shape[i] - (i == dim && src->shape[i] > 0);
    return tni_check_shape(call->dst, src->ndim, shape, call->name, "dst");
}

tn_status tn_diff(const tn_tensor *dst, const tn_tensor *src, int dim)
{
    TRY(tni_check_call(&(tni_call){.name = "diff",
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .args = diff_args,
                                   .dtypes = diff_dtypes,
                                   .shapes = diff_shapes,
                                   .own = &dim}));
    if (tni_numel(dst) == 0)
        return TN_OK;
    tn_tensor low, high;
    TRY(tn_slice(&low, src, dim, 0, src->shape[dim] - 1, 1));
    TRY(tn_slice(&high, src, dim, 1, src->shape[dim], 1));
    return tn_sub(dst, &high, &low);
}

/* ---- minmax, dot ---- */

/* Do two results of one shape have the same strides? */
static bool same_strides(const tn_tensor *a, const tn_tensor *b)
{
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] > 1 && a->stride[i] != b->stride[i])
            return false;
    return true;
}

tn_status tn_minmax(const tn_tensor *low, const tn_tensor *high, const tn_tensor *src,
                    int naxes, const int *axes)
{
    const tn_tensor *const dst[] = {low, high};
    static const tn_reduction ops[] = {TN_REDUCE_MIN, TN_REDUCE_MAX};
    static const char *const names[][2] = {{"low", "src"}, {"high", "src"}};
    tni_reduce_call r[2];
    if (!low && !high)
        return tni_fail(TN_ENULL, "minmax: low and high are NULL");
    for (int k = 0; k < 2; k++)
        if (dst[k]) {
            tni_reduce_ask(&r[k], ops[k], NULL, naxes, axes);
            TRY(tni_reduce_check(&r[k], "minmax", names[k], 0, dst[k], src));
        }
    if (low && high)
        TRY(tni_check_disjoint(low, high, false, "minmax",
                               (const char *const[]){"low", "high"}));
    tni_fold f;
    if (low && high && same_strides(&r[0].full, &r[1].full)) {
        tni_fold_plan_minmax(&f, &r[0].full, &r[1].full, src, r[0].folded);
        tni_fold_run(&f, low->data, (const char *const[]){src->data});
        return TN_OK;
    }
    for (int k = 0; k < 2; k++)
        if (dst[k]) {
            tni_fold_plan(&f, ops[k], NULL, &r[k].full, src, r[k].folded);
            tni_fold_run(&f, dst[k]->data, (const char *const[]){src->data});
        }
    return TN_OK;
}

typedef struct dot_call {
    tni_reduce_call r; /* first, as own of tni_reduce_nulls */
    tn_tensor wide[2]; /* a and b, broadcast to their common shape */
} dot_call;

static tn_status dot_args(const tni_call *call)
{
    tni_reduce_call *r = call->own;
    const int a = call->srcs[0]->ndim, b = call->srcs[1]->ndim;
    return tni_reduce_axes(call->name, a > b ? a : b, r->naxes, r->axes, &r->folded);
}

static tn_status dot_dtypes(const tni_call *call)
{
    const tn_dtype a = call->srcs[0]->dtype, b = call->srcs[1]->dtype;
    if (a != b)
        return tni_fail(TN_EDTYPE, "dot: a is %s and b is %s, expected equal dtypes",
                        tn_dtype_name(a), tn_dtype_name(b));
    return tni_reduce_dtypes(call->name, TN_REDUCE_SUM, a, call->dst->dtype);
}

static tn_status dot_shapes(const tni_call *call)
{
    dot_call *d = call->own;
    int ndim;
    int64_t shape[TN_MAX_NDIM], bytes;
    TRY(tni_call_sizes(call));
    TRY(tni_broadcast_sources(call->name, 2, call->srcs, &ndim, shape));
    if (!tni_shape_size(ndim, shape, tni_width(call->srcs[0]->dtype), &bytes))
        return tni_fail(TN_EOVERFLOW, "dot: a and b broadcast to more than 2^63 - 1 bytes");
    for (int k = 0; k < 2; k++)
        TRY(tn_broadcast_to(&d->wide[k], call->srcs[k], ndim, shape));
    return tni_reduce_full(&d->r.full, call->name, call->dst, &d->wide[0], d->r.folded);
}

tn_status tn_dot(const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b, int naxes,
                 const int *axes)
{
    dot_call d;
    tni_reduce_ask(&d.r, TN_REDUCE_SUM, NULL, naxes, axes);
    TRY(tni_check_call(&(tni_call){.name = "dot",
                                   .dst = dst,
                                   .n = 2,
                                   .srcs = (const tn_tensor *const[]){a, b},
                                   .names = (const char *const[]){"dst", "a", "b"},
                                   .nulls = tni_reduce_nulls,
                                   .args = dot_args,
                                   .dtypes = dot_dtypes,
                                   .shapes = dot_shapes,
                                   .own = &d}));
    tni_fold f;
    tni_fold_plan_dot(&f, &d.r.full, &d.wide[0], &d.wide[1], d.r.folded);
    tni_fold_run(&f, dst->data, (const char *const[]){d.wide[0].data, d.wide[1].data});
    return TN_OK;
}
