/* rows.c - softmax, norms of rows and rotations: checks, then plans that cannot fail. */
#include <tenon/rows.h>

#include <math.h>
#include <stdio.h>

#include "plan/plan.h"
#include "view/view.h"

typedef struct rows_call {
    tni_row_kind kind;
    int dim; /* the axis, for softmax and log_softmax */
    double eps;
    const tn_tensor *param[2]; /* weight and bias, or sin and cos; NULL if absent */
    bool planned;              /* a plan is made: there is no data yet */
} rows_call;

static bool rows_rotate(const rows_call *r)
{
    return r->kind == TNI_ROW_ROTATE_HALVES || r->kind == TNI_ROW_ROTATE_PAIRS;
}

static bool rows_last(const rows_call *r)
{
    return r->kind != TNI_ROW_SOFTMAX && r->kind != TNI_ROW_LOG_SOFTMAX;
}

/* The functions that read eps; a plan of any other ignores what it is given. */
static bool rows_norm(const rows_call *r)
{
    return r->kind == TNI_ROW_RMS || r->kind == TNI_ROW_LAYER || r->kind == TNI_ROW_ADD_RMS;
}

static const char *param_name(const rows_call *r, int k)
{
    static const char *const names[2][2] = {{"weight", "bias"}, {"sin", "cos"}};
    return names[rows_rotate(r)][k];
}

static tn_status rows_args(const tni_call *call)
{
    rows_call *r = call->own;
    const int ndim = call->srcs[0]->ndim;
    if (rows_last(r) && r->kind != TNI_ROW_CAUSAL && ndim == 0)
        return tni_fail(TN_EARG, "%s: src: got no axes, expected at least one", call->name);
    if (!rows_last(r))
        TRY(tni_check_axis(r->dim, ndim, call->name));
    if (rows_norm(r) && (!(r->eps >= 0) || isinf(r->eps)))
        return tni_fail(TN_EARG, "%s: eps is %g, expected a finite number >= 0", call->name,
                        r->eps);
    return TN_OK;
}

static tn_status rows_param_dtype(const tni_call *call, int k)
{
    const rows_call *r = call->own;
    const tn_tensor *t = r->param[k];
    const tn_dtype src = call->srcs[0]->dtype;
    if (t && t->dtype != src && t->dtype != TN_F32 &&
        !(tni_is_half(src) && tni_is_half(t->dtype)))
        return tni_fail(TN_EDTYPE, "%s: %s: got %s, expected %s%s", call->name,
                        param_name(r, k), tn_dtype_name(t->dtype), tn_dtype_name(src),
                        src == TN_F32 ? "" : " or f32");
    return TN_OK;
}

static tn_status rows_dtypes(const tni_call *call)
{
    rows_call *r = call->own;
    if (!tni_is_float(call->srcs[0]->dtype))
        return tni_fail(TN_EDTYPE, "%s: src: got %s, expected a float", call->name,
                        tn_dtype_name(call->srcs[0]->dtype));
    TRY(tni_call_same_dtypes(call));
    TRY(rows_param_dtype(call, 0));
    TRY(rows_param_dtype(call, 1));
    if (rows_rotate(r) && r->param[0]->dtype != r->param[1]->dtype)
        return tni_fail(TN_EDTYPE, "%s: sin and cos have different dtypes", call->name);
    return TN_OK;
}

/* Check that sine and cosine have, or broadcast to, src's shape with half of the last axis. */
static tn_status rotate_shape(const tni_call *call, int k)
{
    const rows_call *r = call->own;
    const tn_tensor *src = call->srcs[0], *t = r->param[k];
    const int last = src->ndim - 1, missing = src->ndim - t->ndim;
    bool fits = missing >= 0 && t->ndim > 0 && src->shape[last] % 2 == 0 &&
                t->shape[t->ndim - 1] == src->shape[last] / 2;
    for (int i = 0; fits && i < t->ndim - 1; i++)
        fits = tni_broadcasts(t->shape[i], src->shape[missing + i]);
    if (!fits)
        return tni_fail(TN_ESHAPE,
                        "%s: %s: does not broadcast to src with half of its last axis, which "
                        "has extent %lld",
                        call->name, param_name(r, k), (long long)src->shape[last]);
    return TN_OK;
}

static tn_status rows_param_shape(const tni_call *call, int k)
{
    const rows_call *r = call->own;
    const tn_tensor *src = call->srcs[0], *t = r->param[k];
    if (!t)
        return TN_OK;
    if (rows_rotate(r))
        return rotate_shape(call, k);
    if (t->ndim != 1 || t->shape[0] != src->shape[src->ndim - 1])
        return tni_fail(TN_ESHAPE, "%s: %s: expected one axis of extent %lld, as src's last",
                        call->name, param_name(r, k), (long long)src->shape[src->ndim - 1]);
    return TN_OK;
}

static tn_status rows_shapes(const tni_call *call)
{
    rows_call *r = call->own;
    const tn_tensor *src = call->srcs[0];
    const bool causal = r->kind == TNI_ROW_CAUSAL;
    if (causal && src->ndim < 2)
        return tni_fail(TN_ESHAPE, "%s: src: got %d axes, expected at least 2", call->name,
                        src->ndim);
    TRY(tni_call_same_shapes(call));
    if (causal && src->shape[src->ndim - 1] < src->shape[src->ndim - 2])
        return tni_fail(TN_ESHAPE,
                        "%s: src: got %lld keys for %lld queries, expected at least as many",
                        call->name, (long long)src->shape[src->ndim - 1],
                        (long long)src->shape[src->ndim - 2]);
    TRY(rows_param_shape(call, 0));
    return rows_param_shape(call, 1);
}

/* Check that a parameter is a valid tensor. */
static tn_status check_param(const tni_call *call, int k)
{
    const rows_call *r = call->own;
    char who[64];
    if (!r->param[k] || LIKELY(tni_operand_sound(r->param[k])))
        return TN_OK;
    snprintf(who, sizeof who, "%s: %s", call->name, param_name(r, k));
    return tni_check(r->param[k], who);
}

static tn_status param_data(const tni_call *call, int k)
{
    const rows_call *r = call->own;
    char who[64];
    if (LIKELY(r->param[k]->data != NULL))
        return TN_OK;
    snprintf(who, sizeof who, "%s: %s", call->name, param_name(r, k));
    return tni_check_data(r->param[k], who);
}

/* Check the operands and the parameters of a call. */
static tn_status rows_check_call(const tni_call *call)
{
    rows_call *r = call->own;
    for (int k = 0; k < 2; k++) {
        if (!r->param[k] && rows_rotate(r))
            return tni_fail(TN_ENULL, "%s: %s is NULL", call->name, param_name(r, k));
        if (call->dst && call->srcs[0])
            TRY(check_param(call, k));
    }
    TRY(tni_check_call(call));
    for (int k = 0; k < 2 && !r->planned; k++) {
        if (!r->param[k])
            continue;
        TRY(param_data(call, k));
        TRY(tni_check_disjoint(call->dst, r->param[k], false, call->name,
                               (const char *const[]){tni_dst_name(call), param_name(r, k)}));
    }
    return TN_OK;
}

/* The same for a call of one source. */
static tn_status rows_check(const char *name, const tn_tensor *dst, const tn_tensor *src,
                            rows_call *r)
{
    return rows_check_call(
        &(tni_call){.name = name,
                    .flags = TNI_ALLOW_ALIAS | (r->planned ? (unsigned)TNI_NO_DATA : 0),
                    .dst = dst,
                    .n = 1,
                    .srcs = &src,
                    .args = rows_args,
                    .dtypes = rows_dtypes,
                    .shapes = rows_shapes,
                    .own = r});
}

/* The operands of a row plan, with sine and cosine among them, and the axis of the rows. */
typedef struct rows_operands {
    tn_tensor wide[2];
    const tn_tensor *ts[TNI_ROW_OPERANDS], *params[2];
    int dim;
} rows_operands;

/* Set them from checked arguments. */
static tn_status rows_operands_set(rows_operands *o, const tn_tensor *dst, const tn_tensor *src,
                                   const rows_call *r)
{
    o->ts[TNI_ROW_DST] = dst;
    o->ts[TNI_ROW_SRC] = src;
    o->dim = rows_last(r) ? src->ndim - 1 : r->dim;
    for (int k = 0; k < 2; k++) {
        o->params[k] = r->param[k];
        if (!rows_rotate(r))
            continue;
        int64_t shape[TN_MAX_NDIM];
        for (int i = 0; i < src->ndim; i++)
            shape[i] = src->shape[i];
        shape[o->dim] /= 2;
        TRY(tn_broadcast_to(&o->wide[k], r->param[k], src->ndim, shape));
        o->ts[TNI_ROW_SIN + k] = &o->wide[k];
        o->params[k] = NULL;
    }
    return TN_OK;
}

/* Plan and run, which cannot fail. */
static void rows_compute(tni_row_kind kind, const tn_tensor *const *ts, int dim,
                         const tn_tensor *const *params, double eps)
{
    tni_row_plan p;
    char *at[TNI_ROW_OPERANDS];
    if (tni_numel(ts[TNI_ROW_DST]) == 0)
        return;
    tni_row_plan_make(&p, kind, ts, dim, params, eps);
    for (int k = 0; k < p.nest.nop; k++)
        at[k] = ts[k]->data;
    tni_row_plan_run(&p, at,
                     (const char *const[]){params[0] ? params[0]->data : NULL,
                                           params[1] ? params[1]->data : NULL});
}

/* Check, plan and run a call of one source. */
static tn_status rows_run(const char *name, const tn_tensor *dst, const tn_tensor *src,
                          rows_call *r)
{
    rows_operands o;
    TRY(rows_check(name, dst, src, r));
    TRY(rows_operands_set(&o, dst, src, r));
    rows_compute(r->kind, o.ts, o.dim, o.params, r->eps);
    return TN_OK;
}

tn_status tn_softmax(const tn_tensor *dst, const tn_tensor *src, int dim)
{
    return rows_run("softmax", dst, src, &(rows_call){.kind = TNI_ROW_SOFTMAX, .dim = dim});
}

tn_status tn_log_softmax(const tn_tensor *dst, const tn_tensor *src, int dim)
{
    return rows_run("log_softmax", dst, src,
                    &(rows_call){.kind = TNI_ROW_LOG_SOFTMAX, .dim = dim});
}

tn_status tn_causal_softmax(const tn_tensor *dst, const tn_tensor *src)
{
    return rows_run("causal_softmax", dst, src, &(rows_call){.kind = TNI_ROW_CAUSAL});
}

tn_status tn_rms_norm(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *weight,
                      double eps)
{
    return rows_run("rms_norm", dst, src,
                    &(rows_call){.kind = TNI_ROW_RMS, .param = {weight}, .eps = eps});
}

tn_status tn_layer_norm(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *weight,
                        const tn_tensor *bias, double eps)
{
    return rows_run("layer_norm", dst, src,
                    &(rows_call){.kind = TNI_ROW_LAYER, .param = {weight, bias}, .eps = eps});
}

tn_status tn_add_rms_norm(const tn_tensor *dst, const tn_tensor *sum, const tn_tensor *a,
                          const tn_tensor *b, const tn_tensor *weight, double eps)
{
    rows_call r = {.kind = TNI_ROW_ADD_RMS, .param = {weight}, .eps = eps};
    const tn_tensor *const srcs[] = {a, b};
    tni_call call = {.name = "add_rms_norm",
                     .flags = TNI_ALLOW_ALIAS,
                     .dst = dst,
                     .n = 2,
                     .srcs = srcs,
                     .names = (const char *const[]){"dst", "a", "b"},
                     .args = rows_args,
                     .dtypes = rows_dtypes,
                     .shapes = rows_shapes,
                     .own = &r};
    if (!sum)
        return tni_fail(TN_ENULL, "add_rms_norm: sum is NULL");
    TRY(rows_check_call(&call));
    call.dst = sum;
    call.names = (const char *const[]){"sum", "a", "b"};
    TRY(rows_check_call(&call));
    TRY(tni_check_disjoint(dst, sum, false, "add_rms_norm",
                           (const char *const[]){"dst", "sum"}));
    const tn_tensor *ts[TNI_ROW_OPERANDS] = {dst, a, sum, b};
    rows_compute(TNI_ROW_ADD_RMS, ts, a->ndim - 1, r.param, eps);
    return TN_OK;
}

tn_status tn_rotate(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *sin,
                    const tn_tensor *cos, bool pairs)
{
    return rows_run("rotate", dst, src,
                    &(rows_call){.kind = pairs ? TNI_ROW_ROTATE_PAIRS : TNI_ROW_ROTATE_HALVES,
                                 .param = {sin, cos}});
}

/* ---- plans ---- */

tn_status tn_plan_rows(tn_plan **plan, tn_row op, const tn_tensor *dst, const tn_tensor *src,
                       int dim, const tn_tensor *first, const tn_tensor *second, double eps)
{
    static const struct {
        tni_row_kind kind;
        const char *name;
        int params;
    } rows[] = {
        [TN_ROW_SOFTMAX] = {TNI_ROW_SOFTMAX, "softmax", 0},
        [TN_ROW_LOG_SOFTMAX] = {TNI_ROW_LOG_SOFTMAX, "log_softmax", 0},
        [TN_ROW_CAUSAL_SOFTMAX] = {TNI_ROW_CAUSAL, "causal_softmax", 0},
        [TN_ROW_RMS_NORM] = {TNI_ROW_RMS, "rms_norm", 1},
        [TN_ROW_LAYER_NORM] = {TNI_ROW_LAYER, "layer_norm", 2},
        [TN_ROW_ROTATE_HALVES] = {TNI_ROW_ROTATE_HALVES, "rotate", 2},
        [TN_ROW_ROTATE_PAIRS] = {TNI_ROW_ROTATE_PAIRS, "rotate", 2},
    };
    rows_operands o;
    if (!plan)
        return tni_fail(TN_ENULL, "plan_rows: plan is NULL");
    if ((unsigned)op >= COUNT(rows))
        return tni_fail(TN_EARG, "plan_rows: op is %d, expected a tn_row", (int)op);
    if ((first && rows[op].params < 1) || (second && rows[op].params < 2))
        return tni_fail(TN_EARG, "plan_rows: %s has %d parameters, got more", rows[op].name,
                        rows[op].params);
    rows_call r = {rows[op].kind, dim, eps, {first, second}, true};
    TRY(rows_check(rows[op].name, dst, src, &r));
    TRY(rows_operands_set(&o, dst, src, &r));
    tn_plan *made = tni_rows_new(r.kind, rows[op].name, o.ts, o.dim, o.params, eps);
    if (!made)
        return tni_fail(TN_ENOMEM, "plan_rows: cannot allocate the plan");
    *plan = made;
    return TN_OK;
}
