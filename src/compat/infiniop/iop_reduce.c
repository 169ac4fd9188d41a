/* iop_reduce.c - reductions over axes, row functions, distances. */
#include "iop_program.h"

#include <math.h>

/* ---- Sum, All, Var, VarMean: outputs, input; array 0 is the axes ---- */

typedef struct over {
    int naxes;
    int axes[TN_MAX_NDIM];
} over;

/* num: the number of axes, keepdim. */
static tn_status read_axes(const tni_iop_program *p, over *o, const tn_tensor *x)
{
    const size_t *dim = p->args->array[0];
    const double n = p->args->num[0];
    uint64_t seen = 0;
    if (!dim && n > 0)
        return tni_iop_fail(p, TN_ENULL, "dim is NULL");
    if (n > x->ndim)
        return tni_iop_fail(p, TN_EARG, "dim has more axes than the input");
    o->naxes = (int)n;
    for (int i = 0; i < o->naxes; i++) {
        if (dim[i] >= (size_t)x->ndim || seen >> dim[i] & 1)
            return tni_iop_fail(p, TN_EARG, "dim: an axis is out of range or repeated");
        seen |= (uint64_t)1 << dim[i];
        o->axes[i] = (int)dim[i];
    }
    return TN_OK;
}

/* The output of a reduction; if all axes are reduced it may have shape () or (1). */
static tn_status reduced_output(const tni_iop_program *p, const over *o, int k,
                                const tn_tensor *x, tn_tensor *out)
{
    int64_t shape[TN_MAX_NDIM];
    int ndim;
    TRY(tn_reduce_shape(x, o->naxes, o->axes, p->args->num[1] != 0, &ndim, shape));
    if (ndim == 0)
        return tni_iop_one(p, k, out);
    *out = p->t[k];
    return tni_iop_shape(p, k, ndim, shape);
}

tn_status tni_iop_plan_sum(tni_iop_program *p)
{
    over o = {0};
    tn_tensor y;
    TRY(tni_iop_alike(p, 1, 1));
    TRY(read_axes(p, &o, &p->t[1]));
    TRY(reduced_output(p, &o, 0, &p->t[1], &y));
    return tni_iop_reduce(p, TN_REDUCE_SUM, 0, &y, &p->t[1], o.naxes, o.axes);
}

tn_status tni_iop_plan_all(tni_iop_program *p)
{
    over o = {0};
    tn_tensor y;
    TRY(tni_iop_alike(p, 1, 0));
    TRY(tni_iop_is(p, 0, TN_BOOL));
    TRY(read_axes(p, &o, &p->t[1]));
    TRY(reduced_output(p, &o, 0, &p->t[1], &y));
    return tni_iop_reduce(p, TN_REDUCE_ALL, 0, &y, &p->t[1], o.naxes, o.axes);
}

/* The variance and, if there is a tensor for it, the mean. */
static tn_status plan_var(tni_iop_program *p, int outputs)
{
    over o = {0};
    tn_tensor y[2];
    const tn_tensor *x = &p->t[outputs];
    TRY(tni_iop_alike(p, outputs, (1u << outputs) - 1));
    TRY(read_axes(p, &o, x));
    for (int k = 0; k < outputs; k++)
        TRY(reduced_output(p, &o, k, x, &y[k]));
    for (int k = 0; k < outputs; k++)
        TRY(tni_iop_reduce(p, k ? TN_REDUCE_MEAN : TN_REDUCE_VAR, p->args->num[2] != 0, &y[k],
                           x, o.naxes, o.axes));
    return TN_OK;
}

tn_status tni_iop_plan_var(tni_iop_program *p)
{
    return plan_var(p, 1);
}

tn_status tni_iop_plan_var_mean(tni_iop_program *p)
{
    return plan_var(p, 2);
}

/* ---- Dist: y, x1, x2 ---- */

static tn_status check_order(const tni_iop_program *p)
{
    return p->args->num[0] >= 0 ? TN_OK : tni_iop_fail(p, TN_EARG, "p is negative or NaN");
}

tn_status tni_iop_plan_dist(tni_iop_program *p)
{
    tn_tensor y, d, r;
    TRY(tni_iop_alike(p, 1, 5));
    TRY(tni_iop_like(p, 2, 1));
    TRY(tni_iop_one(p, 0, &y));
    TRY(check_order(p));
    TRY(tni_iop_temp(p, &d, TN_F64, p->t[1].ndim, p->t[1].shape));
    TRY(tni_iop_temp(p, &r, TN_F64, 0, NULL));
    TRY(IOP_EXPR(p, &d, "f64(a) - f64(b)", NULL, &p->t[1], &p->t[2]));
    TRY(tni_iop_reduce(p, TN_REDUCE_NORM, p->args->num[0], &r, &d, TN_ALL_AXES, NULL));
    return tni_iop_copy(p, &y, &r);
}

/* ---- Cdist: y, x1, x2 ---- */

/* Compute one row of x1 with all of x2 at a time; t: y, x1. */
static tn_status each_row(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t)
{
    const tni_iop_step *take = s->next, *fold = take->next, *give = fold->next;
    for (int64_t i = 0; i < t[0].shape[1]; i++) {
        TRY(tni_iop_run_held(env, take, (const int64_t[]){0, i * t[1].stride[1], 0}));
        TRY(tni_iop_run_held(env, fold, NULL));
        TRY(tni_iop_run_held(env, give, (const int64_t[]){i * t[0].stride[1], 0}));
    }
    return TN_OK;
}

tn_status tni_iop_plan_cdist(tni_iop_program *p)
{
    TRY(tni_iop_alike(p, 0, 7));
    for (int k = 0; k < 3; k++)
        if (p->t[k].ndim != 3)
            TRY(tni_iop_rank(p, k, 2));
    tn_tensor t[3];
    for (int k = 0; k < 3; k++) { /* all as (batch, rows, columns) */
        t[k] = p->t[k];
        if (t[k].ndim == 2)
            TRY(tn_unsqueeze(&t[k], &t[k], 0));
    }
    const int64_t batch = t[0].shape[0];
    for (int k = 1; k < 3; k++) {
        if (t[k].shape[0] != batch && t[k].shape[0] != 1)
            return tni_iop_fail(p, TN_ESHAPE, "batches do not match");
        TRY(tn_broadcast_to(&t[k], &t[k], 3,
                            (const int64_t[]){batch, t[k].shape[1], t[k].shape[2]}));
    }
    if (t[1].shape[2] != t[2].shape[2] || t[0].shape[1] != t[1].shape[1] ||
        t[0].shape[2] != t[2].shape[1])
        return tni_iop_fail(p, TN_ESHAPE, "rows and columns do not match");
    TRY(check_order(p));
    tn_tensor d, r, row = t[1], out = t[0];
    TRY(tni_iop_temp(p, &d, TN_F64, 3, (const int64_t[]){batch, t[2].shape[1], t[2].shape[2]}));
    TRY(tni_iop_temp(p, &r, TN_F64, 2, d.shape));
    if (t[1].shape[1] == 0)
        return TN_OK;
    TRY(tn_slice(&row, &t[1], 1, 0, 1, 1));
    TRY(tn_select(&out, &t[0], 1, 0));
    TRY(IOP_CALL(p, each_row, 0, 0, 0, &t[0], &t[1]));
    tni_iop_step *rows = tni_iop_last(p);
    TRY(IOP_EXPR(p, &d, "f64(a) - f64(b)", NULL, &row, &t[2]));
    TRY(tni_iop_reduce(p, TN_REDUCE_NORM, p->args->num[0], &r, &d, 1, (const int[]){2}));
    TRY(tni_iop_copy(p, &out, &r));
    tni_iop_hold(rows);
    return TN_OK;
}

/* ---- row functions ---- */

/* output, standardization, deviation, input, weight, bias */
tn_status tni_iop_plan_layer_norm(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[3];
    const double eps = p->args->num[0];
    TRY(tni_iop_alike(p, 3, 63));
    if (x->ndim == 0)
        return tni_iop_fail(p, TN_ESHAPE, "the input has no axes");
    const int last = x->ndim - 1;
    TRY(tni_iop_like(p, 0, 3));
    TRY(tni_iop_like(p, 1, 3));
    TRY(tni_iop_shape(p, 4, 1, &x->shape[last]));
    if (p->given[5])
        TRY(tni_iop_shape(p, 5, 1, &x->shape[last]));
    TRY(tni_iop_shape(p, 2, last, x->shape));
    if (!(eps >= 0) || isinf(eps))
        return tni_iop_fail(p, TN_EARG, "eps is negative or not finite");
    tn_tensor var;
    TRY(tni_iop_temp(p, &var, TN_F32, last, x->shape));
    TRY(tni_iop_reduce(p, TN_REDUCE_VAR, 0, &var, x, 1, &last));
    TRY(IOP_EXPR(p, &p->t[2], "sqrt(a + #0)", p->args->num, &var));
    TRY(tni_iop_row_function(p, TN_ROW_LAYER_NORM, 0, eps, &p->t[1], x, NULL, NULL));
    return tni_iop_row_function(p, TN_ROW_LAYER_NORM, 0, eps, &p->t[0], x, &p->t[4],
                                p->given[5] ? &p->t[5] : NULL);
}

tn_status tni_iop_plan_log_softmax(tni_iop_program *p)
{
    const int ndim = p->t[1].ndim;
    const int dim = (int)(p->args->num[0] < 0 ? p->args->num[0] + ndim : p->args->num[0]);
    TRY(tni_iop_alike(p, 1, 1));
    if (dim < 0 || dim >= ndim)
        return tni_iop_fail(p, TN_EARG, "the axis is out of range");
    TRY(tni_iop_like(p, 0, 1));
    return tni_iop_row_function(p, TN_ROW_LOG_SOFTMAX, dim, 0, &p->t[0], &p->t[1], NULL, NULL);
}

/* ---- LogCumSumExp: y, x; axis, exclusive, reverse ---- */

static tn_status add_scan(tni_iop_program *p, const tn_tensor *y, const tn_tensor *x, int axis)
{
    tn_plan *plan = NULL;
    const tn_status status = tn_plan_scan(&plan, TN_SCAN_LOGSUMEXP, y, x, axis);
    return tni_iop_add(p, status, plan, y, 1, &x);
}

tn_status tni_iop_plan_log_cum_sum_exp(tni_iop_program *p)
{
    const double *num = p->args->num;
    tn_tensor y = p->t[0], x = p->t[1];
    TRY(tni_iop_alike(p, 1, 0));
    TRY(tni_iop_like(p, 0, 1));
    TRY(tni_iop_is(p, 0, x.dtype));
    if (!(num[0] >= 0 && num[0] < x.ndim))
        return tni_iop_fail(p, TN_EARG, "the axis is out of range");
    const int axis = (int)num[0];
    if (num[2] != 0) {
        TRY(tn_flip(&y, &y, axis));
        TRY(tn_flip(&x, &x, axis));
    }
    const int64_t n = x.shape[axis];
    if (num[1] == 0 || n == 0)
        return add_scan(p, &y, &x, axis);
    TRY(tn_slice(&x, &x, axis, 0, n - 1, 1)); /* y is longer by one and begins with -inf */
    return add_scan(p, &y, &x, axis);
}
