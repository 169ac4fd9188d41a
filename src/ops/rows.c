/* rows.c - the checks of softmax and of the norms of rows. */
#include <tenon/rows.h>

#include <math.h>
#include <stdio.h>

#include "plan/plan.h"
#include "view/view.h"

typedef struct rows_call {
    int dim;
    double eps;
    const tn_tensor *weight, *bias;
    bool last, causal;
} rows_call;

static tn_status rows_args(const tni_call *call)
{
    rows_call *r = call->own;
    const int ndim = call->srcs[0]->ndim;
    if (r->last && !r->causal && ndim == 0)
        return tni_fail(TN_EARG, "%s: src has no axis", call->name);
    if (!r->last)
        TRY(tni_check_axis(r->dim, ndim, call->name));
    if (!(r->eps >= 0) || isinf(r->eps))
        return tni_fail(TN_EARG, "%s: eps is %g, expected a finite number that is not negative",
                        call->name, r->eps);
    return TN_OK;
}

static bool half(tn_dtype t)
{
    return t == TN_F16 || t == TN_BF16;
}

static tn_status rows_param_dtype(const tni_call *call, const tn_tensor *t, const char *name)
{
    const tn_dtype src = call->srcs[0]->dtype;
    if (t && t->dtype != src && t->dtype != TN_F32 && !(half(src) && half(t->dtype)))
        return tni_fail(TN_EDTYPE, "%s: %s: got %s, expected %s or f32", call->name, name,
                        tn_dtype_name(t->dtype), tn_dtype_name(src));
    return TN_OK;
}

static tn_status rows_dtypes(const tni_call *call)
{
    rows_call *r = call->own;
    if (!tni_is_float(call->srcs[0]->dtype))
        return tni_fail(TN_EDTYPE, "%s: src: got %s, expected a float", call->name,
                        tn_dtype_name(call->srcs[0]->dtype));
    TRY(tni_call_same_dtypes(call));
    TRY(rows_param_dtype(call, r->weight, "weight"));
    return rows_param_dtype(call, r->bias, "bias");
}

static tn_status rows_param_shape(const tni_call *call, const tn_tensor *t, const char *name)
{
    const tn_tensor *src = call->srcs[0];
    if (!t)
        return TN_OK;
    if (t->ndim != 1 || t->shape[0] != src->shape[src->ndim - 1])
        return tni_fail(TN_ESHAPE, "%s: %s: expected one axis of extent %lld, as src's last",
                        call->name, name, (long long)src->shape[src->ndim - 1]);
    return TN_OK;
}

static tn_status rows_shapes(const tni_call *call)
{
    rows_call *r = call->own;
    const tn_tensor *src = call->srcs[0];
    if (r->causal && src->ndim < 2)
        return tni_fail(TN_ESHAPE, "%s: src: got %d axes, expected at least 2", call->name,
                        src->ndim);
    TRY(tni_call_same_shapes(call));
    if (r->causal && src->shape[src->ndim - 1] < src->shape[src->ndim - 2])
        return tni_fail(TN_ESHAPE, "%s: src: %lld keys are fewer than %lld queries", call->name,
                        (long long)src->shape[src->ndim - 1],
                        (long long)src->shape[src->ndim - 2]);
    TRY(rows_param_shape(call, r->weight, "weight"));
    return rows_param_shape(call, r->bias, "bias");
}

/* A weight is a sound tensor with data, and shares no byte with what is written. */
static tn_status check_param(const tni_call *call, const tn_tensor *t, const char *name)
{
    char who[64];
    if (!t || LIKELY(tni_operand_sound(t)))
        return TN_OK;
    snprintf(who, sizeof who, "%s: %s", call->name, name);
    return tni_check(t, who);
}

static tn_status rows_check(const tni_call *call)
{
    rows_call *r = call->own;
    if (call->dst && call->srcs[0]) {
        TRY(check_param(call, r->weight, "weight"));
        TRY(check_param(call, r->bias, "bias"));
    }
    TRY(tni_check_call(call));
    for (int k = 0; k < 2; k++) {
        const tn_tensor *t = k ? r->bias : r->weight;
        if (!t)
            continue;
        TRY(tni_check_data(t, k ? "bias" : "weight"));
        TRY(tni_check_disjoint(call->dst, t, false, call->name));
    }
    return TN_OK;
}

static tn_status rows_run(tni_row_kind kind, const char *name, const tn_tensor *dst,
                          const tn_tensor *src, rows_call *r)
{
    TRY(rows_check(&(tni_call){.name = name,
                               .flags = TNI_ALLOW_ALIAS,
                               .dst = dst,
                               .n = 1,
                               .srcs = &src,
                               .args = rows_args,
                               .dtypes = rows_dtypes,
                               .shapes = rows_shapes,
                               .own = r}));
    tni_rows_run(kind, (const tn_tensor *const[]){dst, src}, r->last ? src->ndim - 1 : r->dim,
                 r->weight, r->bias, r->eps);
    return TN_OK;
}

tn_status tn_softmax(const tn_tensor *dst, const tn_tensor *src, int dim)
{
    return rows_run(TNI_ROW_SOFTMAX, "softmax", dst, src, &(rows_call){.dim = dim});
}

tn_status tn_log_softmax(const tn_tensor *dst, const tn_tensor *src, int dim)
{
    return rows_run(TNI_ROW_LOG_SOFTMAX, "log_softmax", dst, src, &(rows_call){.dim = dim});
}

tn_status tn_causal_softmax(const tn_tensor *dst, const tn_tensor *src)
{
    return rows_run(TNI_ROW_CAUSAL, "causal_softmax", dst, src,
                    &(rows_call){.last = true, .causal = true});
}

tn_status tn_rms_norm(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *weight,
                      double eps)
{
    return rows_run(TNI_ROW_RMS, "rms_norm", dst, src,
                    &(rows_call){.last = true, .weight = weight, .eps = eps});
}

tn_status tn_layer_norm(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *weight,
                        const tn_tensor *bias, double eps)
{
    return rows_run(TNI_ROW_LAYER, "layer_norm", dst, src,
                    &(rows_call){.last = true, .weight = weight, .bias = bias, .eps = eps});
}

tn_status tn_add_rms_norm(const tn_tensor *dst, const tn_tensor *sum, const tn_tensor *a,
                          const tn_tensor *b, const tn_tensor *weight, double eps)
{
    rows_call r = {.last = true, .weight = weight, .eps = eps};
    const tn_tensor *const srcs[] = {a, b};
    tni_call call = {.name = "add_rms_norm",
                     .flags = TNI_ALLOW_ALIAS,
                     .dst = dst,
                     .n = 2,
                     .srcs = srcs,
                     .args = rows_args,
                     .dtypes = rows_dtypes,
                     .shapes = rows_shapes,
                     .own = &r};
    if (!sum)
        return tni_fail(TN_ENULL, "add_rms_norm: sum is NULL");
    TRY(rows_check(&call));
    call.dst = sum;
    TRY(rows_check(&call));
    TRY(tni_check_disjoint(dst, sum, false, "add_rms_norm"));
    const tn_tensor *ts[TNI_ROW_OPERANDS] = {dst, a, sum, b};
    tni_rows_run(TNI_ROW_ADD_RMS, ts, a->ndim - 1, weight, NULL, eps);
    return TN_OK;
}
