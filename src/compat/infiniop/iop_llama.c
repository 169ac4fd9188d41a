/* iop_llama.c - parts of a decoder: products, norms, rotary positions, table lookups. */
#include "iop_program.h"

#include <math.h>

/* ---- Gemm: c, a, b ---- */

/* t as (batch, rows, columns); a batch of one is broadcast. */
static tn_status batched(tn_tensor *out, const tn_tensor *t, int64_t batch)
{
    const int at = t->ndim - 2;
    return tn_broadcast_to(out, t, 3, (const int64_t[]){batch, t->shape[at], t->shape[at + 1]});
}

static tn_status run_gemm(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t)
{
    (void)t;
    return tn_plan_gemm_run(s->plan, env->base[1], env->num[0], env->base[2], env->base[3],
                            env->num[1], NULL, env->scratch, env->scratch_size);
}

tn_status tni_iop_plan_gemm(tni_iop_program *p)
{
    const tn_tensor *c = &p->t[0], *a = &p->t[1], *b = &p->t[2];
    TRY(tni_iop_alike(p, 0, 7));
    for (int k = 0; k < 3; k++)
        if (p->t[k].ndim != 3)
            TRY(tni_iop_rank(p, k, 2));
    const int64_t batch = c->ndim == 3 ? c->shape[0] : 1;
    const int64_t m = c->shape[c->ndim - 2], n = c->shape[c->ndim - 1];
    const int64_t k = a->shape[a->ndim - 1];
    if (a->shape[a->ndim - 2] != m || b->shape[b->ndim - 1] != n || b->shape[b->ndim - 2] != k)
        return tni_iop_fail(p, TN_ESHAPE, "rows and columns do not match");
    for (int i = 1; i < 3; i++)
        if (p->t[i].ndim == 3 && p->t[i].shape[0] != batch && p->t[i].shape[0] != 1)
            return tni_iop_fail(p, TN_ESHAPE, "batches do not match");
    tn_tensor cs = *c, as = *a, bs = *b;
    if (c->ndim == 3) {
        TRY(batched(&as, a, batch));
        TRY(batched(&bs, b, batch));
    } else { /* a batch of 1 is a matrix */
        if (a->ndim == 3)
            TRY(tn_select(&as, a, 0, 0));
        if (b->ndim == 3)
            TRY(tn_select(&bs, b, 0, 0));
    }
    TRY(tni_iop_gemm(p, &cs, 1, &as, &bs, 0, NULL));
    p->first->call = run_gemm;
    p->first->n = 0;
    return TN_OK;
}

/* ---- norms ---- */

/* Check that operands 0 to last are (…, n) of one shape and dtype, and the weight after them
 * (n). */
static tn_status check_norm(tni_iop_program *p, int last)
{
    TRY(tni_iop_alike(p, 0, (2u << last) - 1));
    const tn_dtype data = p->t[0].dtype, weight = p->t[last + 1].dtype;
    if (weight != data && !(tni_is_half(data) && (weight == TN_F32 || tni_is_half(weight))))
        return tni_iop_fail(p, TN_EDTYPE,
                            "the dtype of the weight is not supported with that of the data");
    if (p->t[0].ndim != 3)
        TRY(tni_iop_rank(p, 0, 2));
    for (int k = 1; k <= last; k++)
        TRY(tni_iop_like(p, k, 0));
    TRY(tni_iop_shape(p, last + 1, 1, &p->t[0].shape[p->t[0].ndim - 1]));
    for (int k = 0; k <= last + 1; k++)
        TRY(tni_iop_dense_last(p, k));
    if (!(p->args->num[0] >= 0) || isinf(p->args->num[0]))
        return tni_iop_fail(p, TN_EARG, "epsilon is negative or not finite");
    return TN_OK;
}

tn_status tni_iop_plan_rms_norm(tni_iop_program *p)
{
    TRY(check_norm(p, 1));
    return tni_iop_row_function(p, TN_ROW_RMS_NORM, 0, p->args->num[0], &p->t[0], &p->t[1],
                                &p->t[2], NULL);
}

tn_status tni_iop_plan_add_rms_norm(tni_iop_program *p)
{
    if (!p->given[1])
        return tni_iop_fail(p, TN_EARG, "residual_out is NULL");
    TRY(check_norm(p, 3));
    return IOP_CALL(p, tni_iop_add_rms_norm, p->args->num[0], 0, 0, &p->t[0], &p->t[1],
                    &p->t[2], &p->t[3], &p->t[4]);
}

/* ---- CausalSoftmax ---- */

tn_status tni_iop_plan_causal_softmax(tni_iop_program *p)
{
    const tn_tensor *y = &p->t[0];
    TRY(tni_iop_alike(p, 0, 3));
    TRY(tni_iop_like(p, 1, 0));
    if (y->ndim != 3)
        TRY(tni_iop_rank(p, 0, 2));
    if (y->shape[y->ndim - 1] < y->shape[y->ndim - 2])
        return tni_iop_fail(p, TN_ESHAPE, "fewer columns than rows");
    return tni_iop_row_function(p, TN_ROW_CAUSAL_SOFTMAX, 0, 0, y, &p->t[1], NULL, NULL);
}

/* ---- RoPE: y, x, pos, sin, cos ---- */

static tn_status check_rope(tni_iop_program *p)
{
    const tn_tensor *y = &p->t[0], *pos = &p->t[2], *table = &p->t[3];
    TRY(tni_iop_alike(p, 0, 1 << 1 | 1 << 3 | 1 << 4));
    if (!tni_is_integer(pos->dtype))
        return tni_iop_fail(p, TN_EDTYPE, "positions: expected an integer dtype");
    const double algo = p->args->num[0];
    if (algo != INFINIOP_ROPE_ALGO_GPT_J && algo != INFINIOP_ROPE_ALGO_GPT_NEOX)
        return tni_iop_fail(p, TN_ENULL, "unknown algorithm");
    if (y->ndim != 3)
        TRY(tni_iop_rank(p, 0, 4));
    TRY(tni_iop_like(p, 1, 0));
    const int64_t d = y->shape[y->ndim - 1];
    TRY(tni_iop_rank(p, 3, 2));
    if (d % 2 || table->shape[1] != d / 2)
        return tni_iop_fail(p, TN_ESHAPE, "tables: expected half the extent of the last axis");
    TRY(tni_iop_like(p, 4, 3));
    if (pos->ndim == 2 && y->ndim == 4)
        TRY(tni_iop_shape(p, 2, 2, y->shape));
    else
        TRY(tni_iop_shape(p, 2, 1, &y->shape[y->ndim - 3]));
    TRY(tni_iop_dense_last(p, 0));
    TRY(tni_iop_dense_last(p, 1));
    TRY(tni_iop_contiguous(p, 3));
    return tni_iop_contiguous(p, 4);
}

/* t: x, positions as dense i64, both tables, and memory for gathered rows of them.  Consecutive
 * positions use the rows of the tables directly; others are gathered first.  Then the held step
 * rotates. */
static tn_status run_rope(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t)
{
    const int64_t *pos = t[1].data, known = tni_numel(&t[1]), rows = t[2].shape[0];
    bool along = true;
    for (int64_t i = 0; i < known; i++) {
        if ((uint64_t)pos[i] >= (uint64_t)rows)
            return tni_fail(TN_EARG, "%s: position %lld is not in [0, %lld)",
                            IOP_NAME(env->program), (long long)pos[i], (long long)rows);
        along &= pos[i] == pos[0] + i;
    }
    const void *srcs[3] = {t[0].data};
    for (int k = 0; k < 2; k++) {
        const tn_tensor *table = &t[2 + k], *gathered = &t[4 + k];
        srcs[k + 1] = (char *)table->data + pos[0] * table->stride[0];
        if (along)
            continue;
        TRY(tn_take(gathered, table, 0, &t[1]));
        srcs[k + 1] = gathered->data;
    }
    return tn_plan_run(s->next->plan, tni_iop_at(env, s->next->ref[0]), srcs);
}

tn_status tni_iop_plan_rope(tni_iop_program *p)
{
    TRY(check_rope(p));
    if (tni_numel(&p->t[0]) == 0)
        return TN_OK;
    const bool neox = p->args->num[0] == INFINIOP_ROPE_ALGO_GPT_NEOX;
    tn_tensor pos = p->t[2], gathered[2], rows[2];
    if (pos.dtype != TN_I64 || !tn_is_contiguous(&pos)) {
        TRY(tni_iop_temp(p, &pos, TN_I64, pos.ndim, p->t[2].shape));
        TRY(tni_iop_copy(p, &pos, &p->t[2]));
    }
    int64_t shape[3] = {pos.shape[0], pos.ndim > 1 ? pos.shape[1] : 0};
    shape[pos.ndim] = p->t[3].shape[1];
    for (int k = 0; k < 2; k++) { /* the heads of a position share a row */
        TRY(tni_iop_temp(p, &gathered[k], p->t[3].dtype, pos.ndim + 1, shape));
        TRY(tn_unsqueeze(&rows[k], &gathered[k], pos.ndim));
    }
    TRY(IOP_CALL(p, run_rope, 0, 0, 0, &p->t[1], &pos, &p->t[3], &p->t[4], &gathered[0],
                 &gathered[1]));
    tni_iop_step *call = tni_iop_last(p);
    TRY(tni_iop_row_function(p, neox ? TN_ROW_ROTATE_HALVES : TN_ROW_ROTATE_PAIRS, 0, 0,
                             &p->t[0], &p->t[1], &rows[0], &rows[1]));
    tni_iop_hold(call);
    return TN_OK;
}

/* ---- Embedding: output, input, weight ---- */

tn_status tni_iop_plan_embedding(tni_iop_program *p)
{
    const tn_tensor *out = &p->t[0], *in = &p->t[1], *weight = &p->t[2];
    TRY(tni_iop_rank(p, 2, 2));
    TRY(tni_iop_rank(p, 0, in->ndim + 1));
    for (int i = 0; i <= in->ndim; i++)
        if (out->shape[i] != (i < in->ndim ? in->shape[i] : weight->shape[1]))
            return tni_iop_fail(p, TN_ESHAPE,
                                "output: expected the shape (input, columns of weight)");
    TRY(tni_iop_index(p, 1));
    TRY(tni_iop_alike(p, 2, 1));
    const tn_tensor index = tni_iop_unsigned(in);
    return IOP_CALL(p, tni_iop_take, 0, 0, 0, out, weight, &index);
}

/* ---- SelectLastTokenHidden: output, hidden, offsets ---- */

/* The operator has no workspace, so indices are computed a few at a time. */
static tn_status take_rows_before(const tni_iop_env *env, const tni_iop_step *s,
                                  const tn_tensor *t)
{
    enum { FEW = 256 };
    int32_t rows[FEW];
    const int64_t n = t[2].shape[0];
    (void)env, (void)s;
    for (int64_t at = 0; at < n; at += FEW) {
        const int64_t end = n - at < FEW ? n : at + FEW, count = end - at;
        tn_tensor some, dst, index;
        TRY(tn_slice(&some, &t[2], 0, at, end, 1));
        TRY(tn_slice(&dst, &t[0], 0, at, end, 1));
        TRY(tn_init(&index, rows, TN_I32, 1, &count));
        TRY(tn_sub(&index, &some, TN_SCALAR_I32(1)));
        TRY(tn_take(&dst, &t[1], 0, &index));
    }
    return TN_OK;
}

tn_status tni_iop_plan_select_last(tni_iop_program *p)
{
    const tn_tensor *out = &p->t[0], *hidden = &p->t[1], *offsets = &p->t[2];
    TRY(tni_iop_rank(p, 0, 3));
    TRY(tni_iop_rank(p, 1, 3));
    TRY(tni_iop_rank(p, 2, 1));
    if (offsets->shape[0] < 2)
        return tni_iop_fail(p, TN_ESHAPE, "expected at least 2 offsets");
    TRY(tni_iop_shape(p, 0, 3, (const int64_t[]){1, offsets->shape[0] - 1, hidden->shape[2]}));
    for (int k = 0; k < 3; k++)
        TRY(tni_iop_contiguous(p, k));
    TRY(tni_iop_is(p, 2, TN_I32));
    TRY(tni_iop_alike(p, 1, 1));
    const int64_t rows = hidden->shape[0] * hidden->shape[1];
    if (rows == 0 || hidden->shape[2] == 0)
        return tni_iop_fail(p, TN_ESHAPE, "input: expected at least 1 token");
    tn_tensor dst, src, ends;
    TRY(tn_select(&dst, out, 0, 0));
    TRY(tn_reshape(&src, hidden, 2, (const int64_t[]){rows, hidden->shape[2]}));
    TRY(tn_slice(&ends, offsets, 0, 1, offsets->shape[0], 1));
    TRY(IOP_CALL(p, tni_iop_in_range, 0, 1, rows + 1, &ends));
    return IOP_CALL(p, take_rows_before, 0, 0, 0, &dst, &src, &ends);
}
