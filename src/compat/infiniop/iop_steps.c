/* iop_steps.c - calls of tenon as steps of a program, and the checks of programs. */
#include "iop_program.h"

#include <stdio.h>

typedef const tni_iop_env env_t;
typedef const tni_iop_step step_t;

/* ---- rows ---- */

tn_status tni_iop_row_function(tni_iop_program *p, tn_row op, int dim, double eps,
                               const tn_tensor *dst, const tn_tensor *src,
                               const tn_tensor *first, const tn_tensor *second)
{
    tn_plan *plan = NULL;
    const tn_tensor *srcs[] = {src, first ? first : second, second};
    const tn_status status = tn_plan_rows(&plan, op, dst, src, dim, first, second, eps);
    return tni_iop_add(p, status, plan, dst, 1 + (first != NULL) + (second != NULL), srcs);
}

tn_status tni_iop_add_rms_norm(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)env;
    return tn_add_rms_norm(&t[0], &t[1], &t[2], &t[3], &t[4], s->num[0]);
}

/* ---- elements by index ---- */

tn_status tni_iop_take(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)env;
    return tn_take(&t[0], &t[1], (int)s->whole[0], &t[2]);
}

tn_status tni_iop_take_along(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)env;
    return tn_take_along(&t[0], &t[1], (int)s->whole[0], &t[2]);
}

tn_status tni_iop_put(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)env;
    return tn_put((tn_put_op)s->whole[1], &t[0], (int)s->whole[0], &t[1], &t[2]);
}

tn_status tni_iop_put_along(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)env;
    return tn_put_along((tn_put_op)s->whole[1], &t[0], (int)s->whole[0], &t[1], &t[2]);
}

tn_status tni_iop_in_range(env_t *env, step_t *s, const tn_tensor *t)
{
    int64_t low, high;
    const tn_tensor lows = {.data = &low, .dtype = TN_I64},
                    highs = {.data = &high, .dtype = TN_I64};
    tn_tensor least = lows, most = highs;
    if (tni_numel(&t[0]) == 0)
        return TN_OK;
    char values[2][8];
    least.dtype = most.dtype = t[0].dtype;
    least.data = values[0];
    most.data = values[1];
    TRY(tn_minmax(&least, &most, &t[0], TN_ALL_AXES, NULL));
    TRY(tn_cast(&lows, &least));
    TRY(tn_cast(&highs, &most));
    if (low >= s->whole[0] && high < s->whole[1])
        return TN_OK;
    return tni_fail(TN_EARG, "%s: indices are in [%lld, %lld], expected [%lld, %lld)",
                    IOP_NAME(env->program), (long long)low, (long long)high,
                    (long long)s->whole[0], (long long)s->whole[1]);
}

/* ---- others ---- */

tn_status tni_iop_diff(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)env;
    return tn_diff(&t[0], &t[1], (int)s->whole[0]);
}

tn_status tni_iop_dot(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)env, (void)s;
    return tn_dot(&t[0], &t[1], &t[2], TN_ALL_AXES, NULL);
}

tn_status tni_iop_histogram(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)env;
    return tn_histogram(&t[0], &t[1], s->num[0], s->num[1]);
}

static tn_status sort(env_t *env, step_t *s, const tn_tensor *t)
{
    return tn_sort_in(&t[1], s->n > 2 ? &t[2] : NULL, &t[0], (int)s->whole[0],
                      (unsigned)s->whole[1], env->scratch, env->scratch_size);
}

tn_status tni_iop_sort(tni_iop_program *p, const tn_tensor *values, const tn_tensor *indices,
                       const tn_tensor *src, int dim, unsigned flags)
{
    const size_t size = tn_sort_workspace(values, indices, src, dim, flags);
    p->scratch = size > p->scratch ? size : p->scratch;
    return tni_iop_call_step(p, sort, indices ? 3 : 2,
                             (const tn_tensor *const[]){src, values, indices}, 0, dim, flags);
}

/* ---- checks ---- */

tn_status tni_iop_fail(const tni_iop_program *p, tn_status status, const char *what)
{
    return tni_fail(status, "%s: %s", IOP_NAME(p), what);
}

tn_status tni_iop_alike(tni_iop_program *p, int k, unsigned mask)
{
    TRY(tni_iop_takes(p->head.name, p->args->t[k]));
    for (int i = 0; i < p->n; i++)
        if (mask >> i & 1 && p->given[i])
            TRY(tni_iop_same_dtype(p->head.name, p->args->t[k], p->args->t[i]));
    p->wide = tni_iop_wide(p->t[k].dtype);
    return TN_OK;
}

tn_status tni_iop_dense_last(const tni_iop_program *p, int k)
{
    const tn_tensor *t = &p->t[k];
    const int last = t->ndim - 1;
    if (last < 0 || t->shape[last] <= 1 || t->stride[last] == tni_width(t->dtype))
        return TN_OK;
    return tni_fail(
        TN_ESTRIDE,
        "%s: tensor %d: the last axis has a stride of %lld bytes, expected it to be dense",
        IOP_NAME(p), k, (long long)t->stride[last]);
}

tn_status tni_iop_contiguous(const tni_iop_program *p, int k)
{
    if (tn_is_contiguous(&p->t[k]))
        return TN_OK;
    return tni_fail(TN_ESTRIDE, "%s: tensor %d is not contiguous", IOP_NAME(p), k);
}

tn_status tni_iop_rank(const tni_iop_program *p, int k, int ndim)
{
    if (p->t[k].ndim == ndim)
        return TN_OK;
    return tni_fail(TN_ESHAPE, "%s: tensor %d: got %d axes, expected %d", IOP_NAME(p), k,
                    p->t[k].ndim, ndim);
}

tn_status tni_iop_is(const tni_iop_program *p, int k, tn_dtype dtype)
{
    if (p->t[k].dtype == dtype)
        return TN_OK;
    return tni_fail(TN_EDTYPE, "%s: tensor %d: got %s, expected %s", IOP_NAME(p), k,
                    tn_dtype_name(p->t[k].dtype), tn_dtype_name(dtype));
}

tn_status tni_iop_index(const tni_iop_program *p, int k)
{
    const tn_dtype dtype = p->t[k].dtype;
    return dtype == TN_I32 ? TN_OK : tni_iop_is(p, k, TN_I64);
}

tn_status tni_iop_shape(const tni_iop_program *p, int k, int ndim, const int64_t *shape)
{
    TRY(tni_iop_rank(p, k, ndim));
    for (int i = 0; i < ndim; i++)
        if (p->t[k].shape[i] != shape[i])
            return tni_fail(TN_ESHAPE, "%s: tensor %d: axis %d: got extent %lld, expected %lld",
                            IOP_NAME(p), k, i, (long long)p->t[k].shape[i],
                            (long long)shape[i]);
    return TN_OK;
}

tn_status tni_iop_like(const tni_iop_program *p, int k, int as)
{
    return tni_iop_shape(p, k, p->t[as].ndim, p->t[as].shape);
}

tn_status tni_iop_one(const tni_iop_program *p, int k, tn_tensor *out)
{
    if (p->t[k].ndim > 0)
        TRY(tni_iop_shape(p, k, 1, (const int64_t[]){1}));
    *out = p->t[k];
    out->ndim = 0;
    return TN_OK;
}

tn_tensor tni_iop_unsigned(const tn_tensor *t)
{
    static const tn_dtype as[] = {
        [TN_I8] = TN_U8, [TN_I16] = TN_U16, [TN_I32] = TN_U32, [TN_I64] = TN_U64};
    tn_tensor out = *t;
    if ((unsigned)t->dtype < COUNT(as) && as[t->dtype])
        out.dtype = as[t->dtype];
    return out;
}

tn_status tni_iop_explain(const tni_iop_program *p, char *buf, size_t n)
{
    int steps = 0;
    const tn_plan *first = NULL;
    for (const tni_iop_step *s = p->first; s; s = s->next, steps++)
        first = first ? first : s->plan;
    const int used = snprintf(buf, n, "%s: %d steps, workspace %zu bytes%s\n", IOP_NAME(p),
                              steps, p->head.workspace, first ? ", the first plan is" : "");
    if (first && used >= 0 && (size_t)used < n)
        return tn_plan_explain(first, buf + used, n - (size_t)used);
    return TN_OK;
}
