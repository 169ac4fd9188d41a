/* reduce.c - reductions over axes: the checks, in the order of statuses, and the calls. */
#include "reduce_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"

/* ---- facts ---- */

static bool known(tn_reduction op)
{
    return (unsigned)op < TNI_REDUCTIONS;
}

tn_status tn_reduction_parse(tn_reduction *op, const char *name)
{
    if (!op || !name)
        return tni_fail(TN_ENULL, "reduction_parse: %s is NULL", op ? "name" : "op");
    for (int i = 0; i < TNI_REDUCTIONS; i++)
        if (!strcmp(tni_reductions[i].name, name)) {
            *op = (tn_reduction)i;
            return TN_OK;
        }
    return tni_fail(TN_EARG, "reduction_parse: unknown reduction \"%.40s\"", name);
}

const char *tn_reduction_name(tn_reduction op)
{
    return known(op) ? tni_reductions[op].name : NULL;
}

int tn_reduction_params(tn_reduction op)
{
    return known(op) ? tni_reductions[op].params : 0;
}

/* The TNI_TAKES bit of a dtype. */
static int takes_of(tn_dtype in)
{
    const int kind = tni_dtypes[in].kind;
    return kind == TNI_COMPLEX ? TNI_TAKES_COMPLEX
           : kind == TNI_FLOAT ? TNI_TAKES_FLOAT
                               : TNI_TAKES_INT;
}

const char *tni_reduce_expects(tn_reduction op)
{
    const int takes = tni_reductions[op].takes;
    return takes & TNI_TAKES_INT       ? "real numbers"
           : takes & TNI_TAKES_COMPLEX ? "floats or complex numbers"
                                       : "floats";
}

tn_status tni_reduce_takes(const char *call, const char *name, tn_reduction op, tn_dtype in)
{
    if (tni_reductions[op].takes & takes_of(in))
        return TN_OK;
    return tni_fail(TN_EDTYPE, "%s: src: got %s, expected %s for %s", call, tn_dtype_name(in),
                    tni_reduce_expects(op), name);
}

/* The dtype that a known reduction of a known dtype gives; TN_EDTYPE if it does not support
 * it. */
static tn_status result_of(const char *call, tn_reduction op, tn_dtype in, tn_dtype *out)
{
    const tni_reduce_row *row = &tni_reductions[op];
    const int kind = tni_dtypes[in].kind, takes = takes_of(in);
    const tn_dtype real = kind == TNI_COMPLEX ? tni_real_of(in) : in;
    TRY(tni_reduce_takes(call, row->name, op, in));
    switch ((tni_reduce_result)row->result) {
    case TNI_RESULT_SUM:
    case TNI_RESULT_SQUARES:
        *out = takes == TNI_TAKES_INT          ? kind == TNI_UNSIGNED ? TN_U64 : TN_I64
               : row->result == TNI_RESULT_SUM ? in
                                               : real;
        break;
    case TNI_RESULT_MEAN:
        *out = takes == TNI_TAKES_INT ? TN_F64 : in;
        break;
    case TNI_RESULT_SPREAD:
        *out = takes == TNI_TAKES_INT ? TN_F64 : real;
        break;
    case TNI_RESULT_SIZE:
        *out = real;
        break;
    case TNI_RESULT_BOOL:
        *out = TN_BOOL;
        break;
    case TNI_RESULT_SAME:
        *out = in;
        break;
    case TNI_RESULT_INDEX:
    case TNI_RESULT_COUNT:
        *out = TN_I64;
        break;
    }
    return TN_OK;
}

tn_status tn_reduction_result(tn_reduction op, tn_dtype in, tn_dtype *out)
{
    if (!out)
        return tni_fail(TN_ENULL, "reduction_result: out is NULL");
    if (!known(op))
        return tni_fail(TN_EARG, "reduction_result: reduction %d is unknown", (int)op);
    if (!tni_dtype_known(in))
        return tni_fail(TN_EDTYPE, "reduction_result: dtype %d is unknown", (int)in);
    return result_of("reduction_result", op, in, out);
}

tn_status tni_reduce_axes(const char *call, int ndim, int naxes, const int *axes,
                          uint64_t *folded)
{
    *folded = 0;
    if (naxes == TN_ALL_AXES) {
        *folded = ndim == 64 ? UINT64_MAX : ((uint64_t)1 << ndim) - 1;
        return TN_OK;
    }
    if (naxes < 0 || naxes > ndim)
        return tni_fail(TN_EARG, "%s: naxes is %d, expected TN_ALL_AXES or [0, %d]", call,
                        naxes, ndim);
    for (int i = 0; i < naxes; i++) {
        TRY(tni_check_axis(axes[i], ndim, call));
        if (*folded >> axes[i] & 1)
            return tni_fail(TN_EARG, "%s: axes: got axis %d twice, expected each once", call,
                            axes[i]);
        *folded |= (uint64_t)1 << axes[i];
    }
    return TN_OK;
}

static int reduced_shape(const tn_tensor *src, uint64_t folded, bool keep, int64_t *shape)
{
    int ndim = 0;
    for (int i = 0; i < src->ndim; i++)
        if (!(folded >> i & 1))
            shape[ndim++] = src->shape[i];
        else if (keep)
            shape[ndim++] = 1;
    return ndim;
}

tn_status tn_reduce_shape(const tn_tensor *src, int naxes, const int *axes, bool keep,
                          int *ndim, int64_t *shape)
{
    uint64_t folded;
    if (!ndim || !shape || (!axes && naxes > 0))
        return tni_fail(TN_ENULL, "reduce_shape: %s",
                        !ndim    ? "ndim is NULL"
                        : !shape ? "shape is NULL"
                                 : "axes is NULL");
    TRY(tni_check_given(src, "reduce_shape: src"));
    TRY(tni_reduce_axes("reduce_shape", src->ndim, naxes, axes, &folded));
    TRY(tni_check_sound(src, "reduce_shape: src"));
    *ndim = reduced_shape(src, folded, keep, shape);
    return TN_OK;
}

/* ---- checks ---- */

tn_status tni_reduce_full(tn_tensor *full, const char *call, const tn_tensor *dst,
                          const tn_tensor *like, uint64_t folded)
{
    int kept = 0;
    for (int i = 0; i < like->ndim; i++)
        kept += !(folded >> i & 1);
    const bool all = dst->ndim == like->ndim;
    if (!all && dst->ndim != kept)
        return tni_fail(TN_ESHAPE, "%s: dst: got %d axes, expected %d or %d", call, dst->ndim,
                        kept, like->ndim);
    tni_inherit(full, dst, dst->data, like->ndim);
    for (int i = 0, j = 0; i < like->ndim; i++) {
        const bool fold = folded >> i & 1;
        const int64_t want = fold ? 1 : like->shape[i];
        if ((all || !fold) && dst->shape[j] != want)
            return tni_fail(TN_ESHAPE, "%s: dst: axis %d: got extent %lld, expected %lld", call,
                            j, (long long)dst->shape[j], (long long)want);
        tni_set_axis(full, i, like->shape[i], fold ? 0 : dst->stride[j]);
        j += all || !fold;
    }
    return TN_OK;
}

static bool dst_fits(tn_reduction op, tn_dtype src, tn_dtype result, tn_dtype dst)
{
    const int kind = tni_dtypes[dst].kind, from = tni_dtypes[src].kind;
    if (dst == result)
        return true;
    if (tni_is_float(result) && from == TNI_FLOAT)
        return (dst == TN_F32 || dst == TN_F64) && tni_width(dst) > tni_width(result);
    if (tni_reductions[op].result == TNI_RESULT_INDEX)
        return dst == TN_I32;
    return (tni_reductions[op].result == TNI_RESULT_SUM ||
            tni_reductions[op].result == TNI_RESULT_SQUARES) &&
           from != TNI_COMPLEX && from != TNI_FLOAT &&
           (kind == TNI_SIGNED || kind == TNI_UNSIGNED);
}

/* The dtypes that dst may have, in words. */
static void list_fitting(char *text, size_t size, tn_reduction op, tn_dtype src,
                         tn_dtype result)
{
    static const tn_dtype wider[] = {TN_I32, TN_I64, TN_F32, TN_F64};
    int n = snprintf(text, size, "%s", tn_dtype_name(result));
    const bool any = tni_is_integer(result) && dst_fits(op, src, result, TN_I8);
    for (int i = 0; i < COUNT(wider) && !any; i++)
        if (wider[i] != result && dst_fits(op, src, result, wider[i]))
            n += snprintf(text + n, size - (size_t)n, " or %s", tn_dtype_name(wider[i]));
    if (any)
        snprintf(text, size, "an integer dtype");
}

tn_status tni_reduce_params(const char *call, tn_reduction op, const double *params)
{
    if (!known(op))
        return tni_fail(TN_EARG, "%s: reduction %d is unknown", call, (int)op);
    if (!params || !tni_reductions[op].params)
        return TN_OK;
    if (op == TN_REDUCE_NORM && isnan(params[0]))
        return tni_fail(TN_EARG, "%s: the order of norm is NaN", call);
    if (op != TN_REDUCE_NORM && !isfinite(params[0]))
        return tni_fail(TN_EARG, "%s: the correction of %s is not finite", call,
                        tni_reductions[op].name);
    return TN_OK;
}

tn_status tni_reduce_dtypes(const char *call, tn_reduction op, tn_dtype src, tn_dtype dst)
{
    tn_dtype result = TN_BOOL;
    TRY(result_of(call, op, src, &result));
    if (dst_fits(op, src, result, dst))
        return TN_OK;
    char fit[64];
    list_fitting(fit, sizeof fit, op, src, result);
    return tni_fail(TN_EDTYPE, "%s: dst: got %s, expected %s for %s of %s", call,
                    tn_dtype_name(dst), fit, tni_reductions[op].name, tn_dtype_name(src));
}

tn_status tni_reduce_nulls(const tni_call *call)
{
    const tni_reduce_call *r = call->own;
    if (!r->axes && r->naxes > 0)
        return tni_fail(TN_ENULL, "%s: axes is NULL, expected %d entries", call->name,
                        r->naxes);
    return TN_OK;
}

static tn_status reduce_args(const tni_call *call)
{
    tni_reduce_call *r = call->own;
    TRY(tni_reduce_params(call->name, r->op, r->params));
    return tni_reduce_axes(call->name, call->srcs[0]->ndim, r->naxes, r->axes, &r->folded);
}

static tn_status reduce_dtypes(const tni_call *call)
{
    const tni_reduce_call *r = call->own;
    return tni_reduce_dtypes(call->name, r->op, call->srcs[0]->dtype, call->dst->dtype);
}

/* Fail if the op has no result for empty sequences and dst has elements for them. */
static tn_status check_sequence(const char *call, tn_reduction op, const tn_tensor *src,
                                uint64_t folded)
{
    bool none = false, wanted = true;
    for (int i = 0; i < src->ndim; i++) {
        none |= src->shape[i] == 0 && folded >> i & 1;
        wanted &= src->shape[i] > 0 || folded >> i & 1;
    }
    if (none && wanted && tni_reductions[op].needs_one)
        return tni_fail(TN_ESHAPE, "%s: %s of no elements", call, tni_reductions[op].name);
    return TN_OK;
}

/* Can the index of an element exceed i32?  Sizes are not checked yet. */
static bool long_sequence(const tn_tensor *src, uint64_t folded)
{
    int64_t n = 1;
    bool fits = true;
    for (int i = 0; i < src->ndim; i++)
        if (folded >> i & 1) {
            if (src->shape[i] == 0)
                return false;
            fits = fits && tni_mul(n, src->shape[i], &n);
        }
    return !fits || n > INT32_MAX;
}

static tn_status reduce_shapes(const tni_call *call)
{
    tni_reduce_call *r = call->own;
    const tn_tensor *src = call->srcs[0];
    TRY(tni_reduce_full(&r->full, call->name, call->dst, src, r->folded));
    TRY(check_sequence(call->name, r->op, src, r->folded));
    if (tni_reductions[r->op].result == TNI_RESULT_INDEX && call->dst->dtype == TN_I32 &&
        long_sequence(src, r->folded))
        return tni_fail(TN_EDTYPE, "%s: %s: got i32, expected i64 for more than %d elements",
                        call->name, tni_dst_name(call), INT32_MAX);
    return TN_OK;
}

tn_status tni_reduce_check(tni_reduce_call *r, const char *call, const char *const *names,
                           unsigned flags, const tn_tensor *dst, const tn_tensor *src)
{
    return tni_check_call(&(tni_call){.name = call,
                                      .flags = flags,
                                      .dst = dst,
                                      .n = 1,
                                      .srcs = &src,
                                      .names = names,
                                      .nulls = tni_reduce_nulls,
                                      .args = reduce_args,
                                      .dtypes = reduce_dtypes,
                                      .shapes = reduce_shapes,
                                      .own = r});
}

/* ---- calls ---- */

static void reduce_run(const tni_reduce_call *r, const tn_tensor *dst, const tn_tensor *src)
{
    tni_fold f;
    tni_fold_plan(&f, r->op, r->params, &r->full, src, r->folded);
    tni_fold_run(&f, dst->data, (const char *const[]){src->data});
}

tn_status tni_reduce_into(const char *call, tn_reduction op, const double *params,
                          const tn_tensor *dst, const tn_tensor *src, int naxes,
                          const int *axes)
{
    tni_reduce_call r;
    tni_reduce_ask(&r, op, params, naxes, axes);
    TRY(tni_reduce_check(&r, call, NULL, 0, dst, src));
    reduce_run(&r, dst, src);
    return TN_OK;
}

tn_status tn_reduce(tn_reduction op, const double *params, const tn_tensor *dst,
                    const tn_tensor *src, int naxes, const int *axes)
{
    return tni_reduce_into("reduce", op, params, dst, src, naxes, axes);
}

static tn_status copy_dtypes(const tni_call *call)
{
    tni_reduce_call *r = call->own;
    return result_of(call->name, r->op, call->srcs[0]->dtype, &r->full.dtype);
}

static tn_status copy_shapes(const tni_call *call)
{
    const tni_reduce_call *r = call->own;
    return check_sequence(call->name, r->op, call->srcs[0], r->folded);
}

tn_status tn_reduce_copy(tn_tensor *out, tn_reduction op, const double *params,
                         const tn_tensor *src, int naxes, const int *axes, bool keep)
{
    const char *call = "reduce_copy";
    tni_reduce_call r;
    tn_tensor made;
    if (!out)
        return tni_fail(TN_ENULL, "%s: out is NULL", call);
    tni_reduce_ask(&r, op, params, naxes, axes);
    TRY(tni_check_call(&(tni_call){.name = call,
                                   .flags = TNI_NO_DST,
                                   .n = 1,
                                   .srcs = &src,
                                   .nulls = tni_reduce_nulls,
                                   .args = reduce_args,
                                   .dtypes = copy_dtypes,
                                   .shapes = copy_shapes,
                                   .own = &r}));
    int64_t shape[TN_MAX_NDIM];
    const int ndim = reduced_shape(src, r.folded, keep, shape);
    TRY(tni_alloc_dense(&made, r.full.dtype, ndim, shape, call));
    (void)tni_reduce_full(&r.full, call, &made, src, r.folded); /* made has the shape */
    reduce_run(&r, &made, src);
    *out = made;
    return TN_OK;
}

tn_status tn_plan_reduce(tn_plan **plan, tn_reduction op, const double *params,
                         const tn_tensor *dst, const tn_tensor *src, int naxes, const int *axes)
{
    tni_reduce_call r;
    if (!plan)
        return tni_fail(TN_ENULL, "plan_reduce: plan is NULL");
    tni_reduce_ask(&r, op, params, naxes, axes);
    TRY(tni_reduce_check(&r, "plan_reduce", NULL, TNI_NO_DATA, dst, src));
    tni_fold f;
    tni_fold_plan(&f, op, params, &r.full, src, r.folded);
    tn_plan *p = tni_fold_new(&f, tni_reductions[op].name, dst, src);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_reduce: cannot allocate the plan");
    *plan = p;
    return TN_OK;
}
