/* iop_index.c - operators that select elements: by indices, which are checked before anything
 * is written, or by the elements' values, into memory that the run allocates. */
#include "iop_program.h"

#include <stdlib.h>

/* ---- Take: output, input, indices ---- */

tn_status tni_iop_plan_take(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[1];
    tn_tensor flat;
    int64_t count = tni_numel(x);
    TRY(tni_iop_alike(p, 1, 1));
    TRY(tni_iop_index(p, 2));
    TRY(tni_iop_like(p, 0, 2));
    if (tn_reshape(&flat, x, 1, &count) != TN_OK) { /* the strides cannot be merged */
        tn_tensor copy;
        TRY(tni_iop_temp(p, &copy, x->dtype, x->ndim, x->shape));
        TRY(tni_iop_copy(p, &copy, x));
        TRY(tn_reshape(&flat, &copy, 1, &count));
    }
    return IOP_CALL(p, tni_iop_take, 0, 0, 0, &p->t[0], &flat, &p->t[2]);
}

/* ---- IndexAdd, IndexCopy: output, input, index, source; num: dim, alpha ---- */

/* If output and input are one tensor, the copy is skipped. */
static tn_status copy_unless_same(const tni_iop_env *env, const tni_iop_step *s,
                                  const tn_tensor *t)
{
    const bool same = t[0].data == t[1].data;
    return same ? TN_OK : tni_iop_run_held(env, s->next, NULL);
}

static tn_status plan_start(tni_iop_program *p)
{
    TRY(IOP_CALL(p, copy_unless_same, 0, 0, 0, &p->t[0], &p->t[1]));
    TRY(tni_iop_copy(p, &p->t[0], &p->t[1]));
    tni_iop_last(p)->held = true;
    return TN_OK;
}

static tn_status plan_index(tni_iop_program *p, tn_put_op op, double alpha)
{
    const tn_tensor *x = &p->t[1], *index = &p->t[2], *source = &p->t[3];
    TRY(tni_iop_alike(p, 1, 1 | 8));
    TRY(tni_iop_index(p, 2));
    if (!(p->args->num[0] >= 0 && p->args->num[0] < x->ndim))
        return tni_iop_fail(p, TN_ESHAPE, "the axis is out of range");
    const int dim = (int)p->args->num[0];
    TRY(tni_iop_rank(p, 2, 1));
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < x->ndim; i++)
        shape[i] = i == dim ? index->shape[0] : x->shape[i];
    TRY(tni_iop_shape(p, 3, x->ndim, shape));
    TRY(tni_iop_like(p, 0, 1));
    TRY(IOP_CALL(p, tni_iop_in_range, 0, -x->shape[dim], x->shape[dim], index));
    TRY(plan_start(p));
    tn_tensor scaled = *source;
    if (alpha != 1) {
        p->wide = TN_F64;
        TRY(tni_iop_temp(p, &scaled, source->dtype, source->ndim, source->shape));
        TRY(IOP_EXPR(p, &scaled, "@(a) * #0", &alpha, source));
    }
    return IOP_CALL(p, tni_iop_put, 0, dim, op, &p->t[0], index, &scaled);
}

tn_status tni_iop_plan_index_add(tni_iop_program *p)
{
    return plan_index(p, TN_PUT_ADD, p->args->num[1]);
}

tn_status tni_iop_plan_index_copy(tni_iop_program *p)
{
    return plan_index(p, TN_PUT_SET, 1);
}

/* ---- Scatter: output, input, indices, updates; num: axis, reduction ---- */

tn_status tni_iop_plan_scatter(tni_iop_program *p)
{
    static const tn_put_op ops[] = {TN_PUT_SET, TN_PUT_ADD, TN_PUT_MUL};
    const tn_tensor *x = &p->t[1], *index = &p->t[2];
    for (int k = 0; k < 4; k++)
        TRY(tni_iop_rank(p, k, x->ndim));
    const double given = p->args->num[0];
    const int axis = (int)(given < 0 ? given + x->ndim : given);
    if (axis < 0 || axis >= x->ndim)
        return tni_iop_fail(p, TN_EARG, "the axis is out of range");
    TRY(tni_iop_like(p, 0, 1));
    TRY(tni_iop_like(p, 3, 2));
    tn_tensor target = p->t[0];
    for (int i = 0; i < x->ndim; i++) {
        if (index->shape[i] > x->shape[i])
            return tni_iop_fail(p, TN_ESHAPE, "the indices are larger than the input");
        if (i != axis)
            TRY(tn_slice(&target, &target, i, 0, index->shape[i], 1));
    }
    TRY(tni_iop_alike(p, 1, 1 | 8));
    TRY(tni_iop_index(p, 2));
    const double reduction = p->args->num[1];
    if (reduction != 0 && reduction != 1 && reduction != 2)
        return tni_iop_fail(p, TN_EARG, "the reduction is out of range, expected 0, 1 or 2");
    TRY(IOP_CALL(p, tni_iop_in_range, 0, -x->shape[axis], x->shape[axis], index));
    TRY(plan_start(p));
    return IOP_CALL(p, tni_iop_put_along, 0, axis, ops[(int)reduction], &target, index,
                    &p->t[3]);
}

/* ---- MaskedSelect: input, mask; Argwhere: input ---- */

/* Allocate n elements of width bytes, which the caller frees; NULL if n is 0. */
static tn_status give_memory(const tni_iop_env *env, void **out, int64_t n, int64_t width)
{
    *out = NULL;
    if (n > 0 && !(*out = malloc((size_t)n * (size_t)width)))
        return tni_iop_fail(env->program, TN_ENOMEM, "cannot allocate memory for the result");
    return TN_OK;
}

/* Count the nonzero elements of t. */
static tn_status count_of(const tni_iop_env *env, const tn_tensor *t, int64_t *count)
{
    const tn_tensor one = {.data = count, .dtype = TN_I64};
    if (!env->given[0] || !env->given[1])
        return tni_iop_fail(env->program, TN_ENULL, "a pointer to the result is NULL");
    return tn_reduce(TN_REDUCE_COUNT_NONZERO, NULL, &one, t, TN_ALL_AXES, NULL);
}

static void give_count(const tni_iop_env *env, void *data, int64_t count)
{
    *(void **)env->given[0] = data;
    *(size_t *)env->given[1] = (size_t)count;
}

static tn_status masked_select(const tni_iop_env *env, const tni_iop_step *s,
                               const tn_tensor *t)
{
    int64_t count;
    void *data;
    tn_tensor out;
    (void)s;
    TRY(count_of(env, &t[1], &count));
    TRY(give_memory(env, &data, count, tni_width(t[0].dtype)));
    TRY(tn_init(&out, data, t[0].dtype, 1, &count));
    TRY(count ? tn_masked_select(&out, &t[0], &t[1]) : TN_OK);
    give_count(env, data, count);
    return TN_OK;
}

static tn_status argwhere(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t)
{
    int64_t count;
    void *data;
    tn_tensor out;
    (void)s;
    TRY(count_of(env, &t[0], &count));
    TRY(give_memory(env, &data, count * t[0].ndim, sizeof(int64_t)));
    TRY(tn_init(&out, data, TN_I64, 2, (const int64_t[]){count, t[0].ndim}));
    TRY(data ? tn_nonzero(&out, &t[0]) : TN_OK);
    give_count(env, data, count);
    return TN_OK;
}

tn_status tni_iop_plan_masked_select(tni_iop_program *p)
{
    TRY(tni_iop_alike(p, 0, 0));
    TRY(tni_iop_is(p, 1, TN_BOOL));
    TRY(tni_iop_like(p, 1, 0));
    return IOP_CALL(p, masked_select, 0, 0, 0, &p->t[0], &p->t[1]);
}

tn_status tni_iop_plan_argwhere(tni_iop_program *p)
{
    TRY(tni_iop_alike(p, 0, 0));
    return IOP_CALL(p, argwhere, 0, 0, 0, &p->t[0]);
}
