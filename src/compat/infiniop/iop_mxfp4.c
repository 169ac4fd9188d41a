/* iop_mxfp4.c - 4-bit weights: E2M1 numbers with one E8M0 scale for every 32.
 *
 * The low nibble of a byte is the even element.  Numbers and scales are decoded by table
 * lookup. */
#include "iop_program.h"

#include <math.h>

enum { BLOCK = 32 };

/* A table of the 16 numbers, or of the 256 scales 2^(i - 127), the last of which is
 * infinity. */
static tn_status table_of(tni_iop_program *p, tn_tensor *t, int64_t n)
{
    static const float numbers[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    void *data;
    TRY(tni_iop_constant(p, t, TN_F32, 1, &n, &data));
    for (int i = 0; i < (int)n; i++)
        ((float *)data)[i] = n > 16  ? i < 255 ? ldexpf(1, i - 127) : INFINITY
                             : i < 8 ? numbers[i]
                                     : -numbers[i - 8];
    return TN_OK;
}

/* Decode packed and scales, both dense, into out, which is dense and of any float dtype. */
static tn_status plan_expand(tni_iop_program *p, const tn_tensor *out, const tn_tensor *packed,
                             const tn_tensor *scales)
{
    const int64_t n = tni_numel(out), bytes = n / 2, blocks = n / BLOCK;
    tn_tensor codes, values, scale, low, high, numbers, powers, from, factors, to;
    TRY(tn_reshape(&from, packed, 1, &bytes));
    TRY(tn_reshape(&factors, scales, 1, &blocks));
    TRY(tn_reshape(&to, out, 2, (const int64_t[]){blocks, BLOCK}));
    TRY(tni_iop_temp(p, &codes, TN_U8, 2, (const int64_t[]){bytes, 2}));
    TRY(tni_iop_temp(p, &values, TN_F32, 2, (const int64_t[]){bytes, 2}));
    TRY(tni_iop_temp(p, &scale, TN_F32, 2, (const int64_t[]){blocks, 1}));
    TRY(table_of(p, &numbers, 16));
    TRY(table_of(p, &powers, 256));
    TRY(tn_select(&low, &codes, 1, 0));
    TRY(tn_select(&high, &codes, 1, 1));
    TRY(IOP_EXPR(p, &low, "bit_and(a, 15)", NULL, &from));
    TRY(IOP_EXPR(p, &high, "shr(a, 4)", NULL, &from));
    TRY(IOP_CALL(p, tni_iop_take, 0, 0, 0, &values, &numbers, &codes));
    tn_tensor line;
    TRY(tn_select(&line, &scale, 1, 0));
    TRY(IOP_CALL(p, tni_iop_take, 0, 0, 0, &line, &powers, &factors));
    TRY(tn_reshape(&values, &values, 2, (const int64_t[]){blocks, BLOCK}));
    return IOP_EXPR(p, &to, "a * b", NULL, &values, &scale);
}

enum { EXPAND_STEPS = 5 };

/* Check that operands first to last, packed weights and their scales, are bytes. */
static tn_status check_packed(const tni_iop_program *p, int first, int last)
{
    for (int k = first; k <= last; k++)
        TRY(tni_iop_is(p, k, TN_U8));
    return TN_OK;
}

static tn_status check_dense(const tni_iop_program *p)
{
    for (int k = 0; k < p->n; k++)
        if (p->given[k])
            TRY(tni_iop_contiguous(p, k));
    return TN_OK;
}

/* out, packed, scales */
tn_status tni_iop_plan_mxfp4(tni_iop_program *p)
{
    const tn_tensor *out = &p->t[0];
    const int last = out->ndim - 1;
    TRY(tni_iop_alike(p, 0, 0));
    TRY(check_packed(p, 1, 2));
    if (last < 0 || out->shape[last] == 0 || out->shape[last] % BLOCK)
        return tni_iop_fail(p, TN_ESHAPE, "the last axis: expected a multiple of 32");
    for (int k = 1; k < 3; k++) {
        TRY(tni_iop_rank(p, k, out->ndim));
        for (int i = 0; i <= last; i++)
            if (p->t[k].shape[i] !=
                (i < last ? out->shape[i] : out->shape[i] / (k == 1 ? 2 : BLOCK)))
                return tni_iop_fail(p, TN_ESHAPE, "packed or scales do not match the output");
    }
    TRY(check_dense(p));
    return plan_expand(p, out, &p->t[1], &p->t[2]);
}

/* output, input, packed, scale, bias; num: alpha */
tn_status tni_iop_plan_linear_mxfp4(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[1], *packed = &p->t[2];
    const int last = x->ndim - 1;
    TRY(tni_iop_alike(p, 1, 1 | 16));
    TRY(check_packed(p, 2, 3));
    if (last < 1 || x->shape[last] == 0 || x->shape[last] % BLOCK)
        return tni_iop_fail(p, TN_ESHAPE, "the last axis: expected a multiple of 32");
    TRY(tni_iop_rank(p, 2, 2));
    const int64_t k = x->shape[last], n = packed->shape[0];
    TRY(tni_iop_shape(p, 2, 2, (const int64_t[]){n, k / 2}));
    TRY(tni_iop_shape(p, 3, 2, (const int64_t[]){n, k / BLOCK}));
    int64_t shape[TN_MAX_NDIM], rows = 1;
    for (int i = 0; i < last; i++)
        rows *= shape[i] = x->shape[i];
    shape[last] = n;
    TRY(tni_iop_shape(p, 0, x->ndim, shape));
    if (p->given[4])
        TRY(tni_iop_shape(p, 4, 1, &n));
    TRY(check_dense(p));
    tn_tensor w, sums, in, out;
    TRY(tni_iop_temp(p, &w, TN_F32, 2, (const int64_t[]){n, k}));
    TRY(tni_iop_temp(p, &sums, TN_F32, 2, (const int64_t[]){rows, n}));
    TRY(plan_expand(p, &w, packed, &p->t[3]));
    TRY(tn_reshape(&in, x, 2, (const int64_t[]){rows, k}));
    TRY(tn_reshape(&out, &p->t[0], 2, sums.shape));
    TRY(tn_transpose(&w, &w, 0, 1));
    TRY(tni_iop_gemm(p, &sums, 1, &in, &w, 0, NULL));
    if (!p->given[4])
        return IOP_EXPR(p, &out, "#0 * a", p->args->num, &sums);
    return IOP_EXPR(p, &out, "#0 * a + @(b)", p->args->num, &sums, &p->t[4]);
}

/* ---- FusedMoeMxfp4 ---- */

enum { OUT, IN, EXPERTS, ROUTING, W13, S13, W2, S2 };

static tn_status check_moe(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[IN], *w13 = &p->t[W13];
    const double act = p->args->num[0];
    if (act != INFINIOP_FUSED_MOE_ACT_SWIGLU && act != INFINIOP_FUSED_MOE_ACT_SITUGLU)
        return tni_iop_fail(p, TN_EARG, "unknown activation");
    TRY(tni_iop_alike(p, IN, 1));
    TRY(tni_iop_is(p, EXPERTS, TN_I32));
    TRY(tni_iop_is(p, ROUTING, TN_F32));
    TRY(check_packed(p, W13, S2));
    TRY(tni_iop_rank(p, IN, 2));
    TRY(tni_iop_like(p, OUT, IN));
    TRY(tni_iop_rank(p, EXPERTS, 2));
    TRY(tni_iop_rank(p, W13, 3));
    const int64_t t = x->shape[0], h = x->shape[1], k = p->t[EXPERTS].shape[1];
    const int64_t e = w13->shape[0], i = w13->shape[1] / 2;
    if (!t || !h || !k || !e || !i || h % BLOCK || i % BLOCK)
        return tni_iop_fail(p, TN_ESHAPE, "an extent is 0 or not a multiple of 32");
    TRY(tni_iop_shape(p, EXPERTS, 2, (const int64_t[]){t, k}));
    TRY(tni_iop_shape(p, ROUTING, 2, (const int64_t[]){t, k}));
    TRY(tni_iop_shape(p, W13, 3, (const int64_t[]){e, 2 * i, h / 2}));
    TRY(tni_iop_shape(p, S13, 3, (const int64_t[]){e, 2 * i, h / BLOCK}));
    TRY(tni_iop_shape(p, W2, 3, (const int64_t[]){e, h, i / 2}));
    TRY(tni_iop_shape(p, S2, 3, (const int64_t[]){e, h, i / BLOCK}));
    return check_dense(p);
}

/* t: experts, routes, input.  An expert named by a route is decoded once; then each of its
 * routes is computed: gate and up, activation, result. */
static tn_status each_expert(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t)
{
    const tni_iop_program *p = env->program;
    const int32_t *expert = t[0].data;
    const int64_t n = tni_numel(&t[0]), k = t[0].shape[1];
    for (int64_t e = 0; e < p->t[W13].shape[0]; e++) {
        tni_iop_env one = *env;
        bool expanded = false;
        for (int w = W13; w <= S2; w++)
            one.base[w + 1] += e * p->t[w].stride[0];
        for (int64_t r = 0; r < n; r++) {
            if (expert[r] != e)
                continue;
            const tni_iop_step *at = s->next;
            for (int i = 0; i < 2 * EXPAND_STEPS; i++, at = at->next)
                if (!expanded)
                    TRY(tni_iop_run_held(&one, at, NULL));
            expanded = true;
            TRY(tni_iop_run_held(env, at, (const int64_t[]){0, r / k * t[2].stride[0], 0}));
            at = at->next;
            TRY(tni_iop_run_held(env, at, NULL));
            TRY(tni_iop_run_held(env, at->next, (const int64_t[]){r * t[1].stride[0], 0, 0}));
        }
    }
    return TN_OK;
}

/* The steps that each_expert runs. */
static tn_status plan_expert(tni_iop_program *p, const tn_tensor *routes)
{
    const int64_t h = p->t[IN].shape[1], i = p->t[W13].shape[1] / 2;
    tn_tensor w13, w2, one[4], both, gate, up, act, row, result;
    for (int k = 0; k < 4; k++)
        TRY(tn_select(&one[k], &p->t[W13 + k], 0, 0));
    TRY(tni_iop_temp(p, &w13, TN_F32, 2, (const int64_t[]){2 * i, h}));
    TRY(tni_iop_temp(p, &w2, TN_F32, 2, (const int64_t[]){h, i}));
    TRY(tni_iop_temp(p, &both, TN_F32, 2, (const int64_t[]){1, 2 * i}));
    TRY(tni_iop_temp(p, &act, p->t[IN].dtype, 2, (const int64_t[]){1, i}));
    TRY(plan_expand(p, &w13, &one[0], &one[1]));
    TRY(plan_expand(p, &w2, &one[2], &one[3]));
    TRY(tn_transpose(&w13, &w13, 0, 1));
    TRY(tn_transpose(&w2, &w2, 0, 1));
    TRY(tn_slice(&row, &p->t[IN], 0, 0, 1, 1));
    TRY(tn_slice(&result, routes, 0, 0, 1, 1));
    TRY(tn_slice(&gate, &both, 1, 0, i, 1));
    TRY(tn_slice(&up, &both, 1, i, 2 * i, 1));
    TRY(tni_iop_gemm(p, &both, 1, &row, &w13, 0, NULL));
    TRY(IOP_EXPR(p, &act,
                 p->args->num[0] == INFINIOP_FUSED_MOE_ACT_SWIGLU
                     ? "silu(a) * b"
                     : "4 * tanh(a / 4) * sigmoid(a) * (25 * tanh(b / 25))",
                 NULL, &gate, &up));
    return tni_iop_gemm(p, &result, 1, &act, &w2, 0, NULL);
}

tn_status tni_iop_plan_moe_mxfp4(tni_iop_program *p)
{
    TRY(check_moe(p));
    const int64_t t = p->t[IN].shape[0], h = p->t[IN].shape[1], k = p->t[EXPERTS].shape[1];
    tn_tensor routes, zero, all, weights, sums;
    void *data;
    TRY(tni_iop_temp(p, &routes, TN_F32, 2, (const int64_t[]){t * k, h}));
    TRY(tni_iop_temp(p, &sums, TN_F32, 2, (const int64_t[]){t, h}));
    TRY(tni_iop_constant(p, &zero, TN_F32, 0, NULL, &data));
    *(float *)data = 0;
    TRY(tn_broadcast_to(&zero, &zero, 2, routes.shape));
    TRY(tni_iop_copy(p, &routes, &zero));
    TRY(tn_reshape(&all, &routes, 3, (const int64_t[]){t, k, h}));
    TRY(tn_unsqueeze(&weights, &p->t[ROUTING], 2));
    TRY(IOP_CALL(p, each_expert, 0, 0, 0, &p->t[EXPERTS], &routes, &p->t[IN]));
    tni_iop_step *experts = tni_iop_last(p);
    TRY(plan_expert(p, &routes));
    tni_iop_hold(experts);
    TRY(IOP_EXPR(p, &all, "a * b", NULL, &all, &weights));
    TRY(tni_iop_reduce(p, TN_REDUCE_SUM, 0, &sums, &all, 1, (const int[]){1}));
    return tni_iop_copy(p, &p->t[OUT], &sums);
}
