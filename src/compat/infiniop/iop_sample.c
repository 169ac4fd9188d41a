/* iop_sample.c - operators that select from rows by order: the k largest, the k-th, a random
 * sample. */
#include "iop_program.h"

#include <math.h>

typedef const tni_iop_env env_t;
typedef const tni_iop_step step_t;

/* Element i of a tensor with one axis, or the element of a tensor without axes. */
static tn_status read_at(double *out, const tn_tensor *t, int64_t i)
{
    tn_tensor one = *t;
    const tn_tensor to = {.data = out, .dtype = TN_F64};
    if (t->ndim > 0)
        TRY(tn_select(&one, t, 0, i));
    return tn_cast(&to, &one);
}

/* ---- RandomSample: result, probs ---- */

typedef struct draw {
    double random, topp, topk, temperature;
} draw;

static tn_status take_largest(const tn_tensor *result, const tn_tensor *logits)
{
    int64_t at;
    const tn_tensor index = {.data = &at, .dtype = TN_I64};
    TRY(tn_reduce(TN_REDUCE_ARGMAX, NULL, &index, logits, TN_ALL_AXES, NULL));
    return tn_cast(result, &index);
}

/* sums[i] = the sum of exp((x[j] - x[0]) / temperature), j <= i, for sorted x. */
static tn_status add_up(const tn_tensor *sums, const tn_tensor *sorted, double temperature)
{
    double first;
    TRY(tn_cast(sums, sorted));
    TRY(read_at(&first, sums, 0));
    const bool f64 = sums->dtype == TN_F64;
    TRY(tn_sub(sums, sums, f64 ? TN_SCALAR_F64(first) : TN_SCALAR_F32((float)first)));
    TRY(tn_div(sums, sums,
               f64 ? TN_SCALAR_F64(temperature) : TN_SCALAR_F32((float)temperature)));
    TRY(tn_unary(TN_EXP, sums, sums));
    return tn_scan(TN_SCAN_SUM, sums, sums, 0);
}

/* t: result, logits, sorted, order, sums. */
static tn_status sample(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)s;
    const draw d = {env->num[0], env->num[1], env->num[2], env->num[3]};
    const int64_t n = t[1].shape[0];
    if (d.topk < 1)
        return tni_iop_fail(env->program, TN_EARG, "topk is less than 1");
    if (d.random == 0 || d.topp == 0 || d.topk == 1 || d.temperature == 0)
        return take_largest(&t[0], &t[1]);
    TRY(tn_sort_in(&t[2], &t[3], &t[1], 0, TN_DESCENDING, env->scratch, env->scratch_size));
    TRY(add_up(&t[4], &t[2], d.temperature));
    const int64_t k = d.topk < (double)n ? (int64_t)d.topk : n;
    double kept, all;
    TRY(read_at(&kept, &t[4], k - 1));
    TRY(read_at(&all, &t[4], n - 1));
    const double limit = d.random * (kept < d.topp * all ? kept : d.topp * all);
    int64_t at;
    const tn_tensor found = {.data = &at, .dtype = TN_I64};
    TRY(tn_searchsorted(
        &found, &t[4],
        t[4].dtype == TN_F64 ? TN_SCALAR_F64(limit) : TN_SCALAR_F32((float)limit), false));
    tn_tensor token;
    TRY(tn_select(&token, &t[3], 0, at < n ? at : n - 1));
    return tn_cast(&t[0], &token);
}

tn_status tni_iop_plan_random_sample(tni_iop_program *p)
{
    const tn_tensor *logits = &p->t[1];
    if (!tni_is_integer(p->t[0].dtype))
        return tni_iop_fail(p, TN_EDTYPE, "result: expected an integer dtype");
    TRY(tni_iop_alike(p, 1, 0));
    TRY(tni_iop_rank(p, 0, 0));
    TRY(tni_iop_rank(p, 1, 1));
    if (logits->shape[0] == 0)
        return tni_iop_fail(p, TN_ESHAPE, "no elements to sample from");
    const int64_t bits =
        8 * tni_width(p->t[0].dtype) - (tni_kind_of(p->t[0].dtype) == TNI_SIGNED);
    if (bits < 63 && (logits->shape[0] - 1) >> bits)
        return tni_iop_fail(p, TN_EDTYPE, "the result cannot hold every index");
    TRY(tni_iop_dense_last(p, 1));
    tn_tensor sorted, order, sums;
    TRY(tni_iop_temp(p, &sorted, logits->dtype, 1, logits->shape));
    TRY(tni_iop_temp(p, &order, TN_I64, 1, logits->shape));
    TRY(tni_iop_temp(p, &sums, p->wide, 1, logits->shape));
    p->scratch = tn_sort_workspace(&sorted, &order, logits, 0, TN_DESCENDING);
    return IOP_CALL(p, sample, 0, 0, 0, &p->t[0], logits, &sorted, &order, &sums);
}

/* ---- TopK: values, indices, input ---- */

/* Check that the run repeats the numbers given when the operator was made. */
static tn_status same_numbers(env_t *env, step_t *s, const tn_tensor *t)
{
    (void)t;
    if (env->num[0] == s->num[0] && env->num[1] == s->num[1] &&
        env->num[2] == (double)s->whole[0] && env->num[3] == (double)s->whole[1])
        return TN_OK;
    return tni_iop_fail(env->program, TN_EARG,
                        "the parameters are not those of the descriptor");
}

tn_status tni_iop_plan_topk(tni_iop_program *p)
{
    const double *num = p->args->num; /* k, dim, largest, sorted */
    const tn_tensor *x = &p->t[2];
    TRY(tni_iop_alike(p, 2, 1));
    TRY(tni_iop_is(p, 1, TN_I32));
    if (!(num[1] < x->ndim))
        return tni_iop_fail(p, TN_EARG, "the axis is out of range");
    const int dim = (int)num[1];
    if (x->shape[dim] > INT32_MAX)
        return tni_iop_fail(p, TN_ESHAPE, "the axis has more elements than I32 can index");
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < x->ndim; i++)
        shape[i] = x->shape[i];
    if (num[0] < (double)shape[dim])
        shape[dim] = (int64_t)num[0];
    TRY(tni_iop_shape(p, 0, x->ndim, shape));
    TRY(tni_iop_shape(p, 1, x->ndim, shape));
    TRY(IOP_CALL(p, same_numbers, num[0], num[2] != 0, num[3] != 0, x));
    tni_iop_last(p)->num[1] = num[1];
    return tni_iop_sort(p, &p->t[0], &p->t[1], x, dim, num[2] != 0 ? TN_DESCENDING : 0);
}

/* ---- Kthvalue: values, indices, input ---- */

/* Operand k with an axis of extent 1 at dim, which it may lack. */
static tn_status with_axis(const tni_iop_program *p, tn_tensor *out, int k, int dim, bool keep)
{
    const tn_tensor *x = &p->t[2];
    int64_t shape[TN_MAX_NDIM];
    int n = 0;
    for (int i = 0; i < x->ndim; i++)
        if (i != dim || keep)
            shape[n++] = i == dim ? 1 : x->shape[i];
    *out = p->t[k];
    if (x->ndim == 1 && !keep && p->t[k].ndim == 1)
        return tni_iop_shape(p, k, 1, (const int64_t[]){1});
    TRY(tni_iop_shape(p, k, n, shape));
    return keep ? TN_OK : tn_unsqueeze(out, &p->t[k], dim);
}

tn_status tni_iop_plan_kthvalue(tni_iop_program *p)
{
    const double *num = p->args->num; /* k, dim, keepdim */
    const tn_tensor *x = &p->t[2];
    const int dim = (int)(num[1] < 0 ? num[1] + x->ndim : num[1]);
    if (dim < 0 || dim >= x->ndim || !(num[0] >= 1 && num[0] <= (double)x->shape[dim]))
        return tni_iop_fail(p, TN_EARG, "k or dim is out of range");
    tn_tensor value, index, values, indices, at;
    TRY(with_axis(p, &value, 0, dim, num[2] != 0));
    TRY(with_axis(p, &index, 1, dim, num[2] != 0));
    TRY(tni_iop_alike(p, 2, 1));
    TRY(tni_iop_index(p, 1));
    const int64_t k = (int64_t)num[0];
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < x->ndim; i++)
        shape[i] = i == dim ? k : x->shape[i];
    TRY(tni_iop_temp(p, &values, x->dtype, x->ndim, shape));
    TRY(tni_iop_temp(p, &indices, TN_I64, x->ndim, shape));
    TRY(tni_iop_sort(p, &values, &indices, x, dim, 0));
    TRY(tn_slice(&at, &values, dim, k - 1, k, 1));
    TRY(tni_iop_copy(p, &value, &at));
    TRY(tn_slice(&at, &indices, dim, k - 1, k, 1));
    return tni_iop_copy(p, &index, &at);
}

/* ---- Topksoftmax: values F32 and indices I32 without descriptors, x ---- */

/* The outputs of a run, dense (rows, k); k must be at most the width of the rows. */
static tn_status routed_outputs(env_t *env, tn_tensor *values, tn_tensor *indices, int64_t rows,
                                int64_t width, double topk)
{
    if (!(topk >= 1 && topk <= (double)width))
        return tni_iop_fail(env->program, TN_EARG,
                            "topk: expected at least 1 and at most the length of a row");
    const int64_t shape[] = {rows, (int64_t)topk};
    if ((!env->base[1] || !env->base[2]) && rows > 0)
        return tni_iop_fail(env->program, TN_ENULL, "values or indices are NULL");
    TRY(tn_init(values, env->base[1], TN_F32, 2, shape));
    return tn_init(indices, env->base[2], TN_I32, 2, shape);
}

static tn_status check_routed(env_t *env, step_t *s, const tn_tensor *t)
{
    tn_tensor values, indices;
    (void)s;
    TRY(routed_outputs(env, &values, &indices, t[0].shape[0], t[0].shape[1], env->num[0]));
    if (!values.data)
        return TN_OK;
    TRY(tni_check_disjoint(&values, &indices, false, IOP_NAME(env->program),
                           (const char *const[]){"values", "indices"}));
    TRY(tni_check_disjoint(&values, &t[0], false, IOP_NAME(env->program),
                           (const char *const[]){"values", "x"}));
    return tni_check_disjoint(&indices, &t[0], false, IOP_NAME(env->program),
                              (const char *const[]){"indices", "x"});
}

/* values *= factor / (their sum + tiny); sums is (rows, 1). */
static tn_status normalise(const tn_tensor *values, const tn_tensor *sums, float factor,
                           float tiny)
{
    TRY(tn_reduce(TN_REDUCE_SUM, NULL, sums, values, 1, (const int[]){1}));
    if (tiny > 0)
        TRY(tn_add(sums, sums, TN_SCALAR_F32(tiny)));
    if (factor != 1)
        TRY(tn_mul(values, values, TN_SCALAR_F32(factor)));
    return tn_div(values, values, sums);
}

/* t: the softmax, sums. */
static tn_status take_softmax(env_t *env, step_t *s, const tn_tensor *t)
{
    tn_tensor values, indices;
    (void)s;
    TRY(routed_outputs(env, &values, &indices, t[0].shape[0], t[0].shape[1], env->num[0]));
    TRY(tn_sort_in(&values, &indices, &t[0], 1, TN_DESCENDING, env->scratch,
                   env->scratch_size));
    return env->num[1] != 0 ? normalise(&values, &t[1], 1, 0) : TN_OK;
}

tn_status tni_iop_plan_topksoftmax(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[2];
    tn_tensor soft, sums;
    TRY(tni_iop_alike(p, 2, 0));
    TRY(tni_iop_rank(p, 2, 2));
    TRY(tni_iop_dense_last(p, 2));
    TRY(tni_iop_temp(p, &soft, TN_F32, 2, x->shape));
    TRY(tni_iop_temp(p, &sums, TN_F32, 2, (const int64_t[]){x->shape[0], 1}));
    p->scratch = tn_sort_workspace(&soft, NULL, &soft, 1, TN_DESCENDING);
    TRY(IOP_CALL(p, check_routed, 0, 0, 0, x));
    TRY(tni_iop_copy(p, &soft, x));
    TRY(tni_iop_row_function(p, TN_ROW_SOFTMAX, 1, 0, &soft, &soft, NULL, NULL));
    return IOP_CALL(p, take_softmax, 0, 0, 0, &soft, &sums);
}

/* ---- Topkrouter: values, indices without descriptors, x, correction_bias ---- */

enum { WIDTH = 256, GROUPS = 8, GROUP = WIDTH / GROUPS, KEPT = 4 };

/* t: scores, corrected scores of the selected groups, sums. */
static tn_status take_routed(env_t *env, step_t *s, const tn_tensor *t)
{
    tn_tensor values, indices;
    (void)s;
    TRY(routed_outputs(env, &values, &indices, t[0].shape[0], WIDTH, env->num[0]));
    TRY(tn_sort_in(&values, &indices, &t[1], 1, TN_DESCENDING, env->scratch,
                   env->scratch_size));
    TRY(tn_take_along(&values, &t[0], 1, &indices));
    return normalise(&values, &t[2], (float)env->num[1], 1e-9f);
}

static tn_status check_width(env_t *env, step_t *s, const tn_tensor *t)
{
    if (t[0].shape[1] != WIDTH)
        return tni_iop_fail(env->program, TN_EARG, "expected rows of 256 elements");
    return check_routed(env, s, t);
}

tn_status tni_iop_plan_topkrouter(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[2], *bias = &p->t[3];
    TRY(tni_iop_alike(p, 2, 0));
    TRY(tni_iop_is(p, 3, TN_F32));
    TRY(tni_iop_rank(p, 2, 2));
    TRY(tni_iop_shape(p, 3, 1, (const int64_t[]){WIDTH}));
    TRY(tni_iop_dense_last(p, 2));
    TRY(IOP_CALL(p, check_width, 0, 0, 0, x));
    if (x->shape[1] != WIDTH) /* check_width fails in every run */
        return TN_OK;
    const int64_t rows = x->shape[0];
    tn_tensor score, best, two, sums, kept, mask, one, groups, choice, total;
    void *ones;
    TRY(tni_iop_temp(p, &score, TN_F32, 2, x->shape));
    TRY(tni_iop_temp(p, &best, TN_F32, 2, x->shape));
    TRY(tni_iop_temp(p, &two, TN_F32, 3, (const int64_t[]){rows, GROUPS, 2}));
    TRY(tni_iop_temp(p, &sums, TN_F32, 2, (const int64_t[]){rows, GROUPS}));
    TRY(tni_iop_temp(p, &kept, TN_F32, 2, (const int64_t[]){rows, KEPT}));
    TRY(tni_iop_temp(p, &choice, TN_I64, 2, (const int64_t[]){rows, KEPT}));
    TRY(tni_iop_temp(p, &mask, TN_F32, 2, (const int64_t[]){rows, GROUPS}));
    TRY(tni_iop_temp(p, &total, TN_F32, 2, (const int64_t[]){rows, 1}));
    TRY(tni_iop_constant(p, &one, TN_F32, 0, NULL, &ones));
    *(float *)ones = 1;
    TRY(IOP_EXPR(p, &score, "sigmoid(f32(a))", NULL, x));
    TRY(IOP_EXPR(p, &best, "a + b", NULL, &score, bias));
    TRY(tn_reshape(&groups, &best, 3, (const int64_t[]){rows, GROUPS, GROUP}));
    TRY(tni_iop_sort(p, &two, NULL, &groups, 2, TN_DESCENDING));
    TRY(tni_iop_reduce(p, TN_REDUCE_SUM, 0, &sums, &two, 1, (const int[]){2}));
    TRY(tni_iop_sort(p, &kept, &choice, &sums, 1, TN_DESCENDING));
    TRY(IOP_EXPR(p, &mask, "a * 0", NULL, &sums));
    TRY(IOP_CALL(p, tni_iop_put_along, 0, 1, TN_PUT_SET, &mask, &choice, &one));
    tn_tensor column;
    TRY(tn_unsqueeze(&column, &mask, 2));
    TRY(IOP_EXPR(p, &groups, "where(b == 1, a, 0)", NULL, &groups, &column));
    const size_t size = tn_sort_workspace(&best, NULL, &best, 1, TN_DESCENDING);
    p->scratch = size > p->scratch ? size : p->scratch;
    return IOP_CALL(p, take_routed, 0, 0, 0, &score, &best, &total);
}

/* ---- Histc: y, x ---- */

tn_status tni_iop_plan_histc(tni_iop_program *p)
{
    const double *num = p->args->num; /* bins, min, max */
    const tn_tensor *x = &p->t[1];
    TRY(tni_iop_alike(p, 1, 0));
    TRY(tni_iop_is(p, 0, TN_F32));
    if (!(num[0] > 0) || !(num[1] < num[2]) || isinf(num[1]) || isinf(num[2]))
        return tni_iop_fail(p, TN_EARG, "expected bins > 0 and finite min < max");
    TRY(tni_iop_rank(p, 1, 1));
    TRY(tni_iop_shape(p, 0, 1, (const int64_t[]){(int64_t)num[0]}));
    for (int k = 0; k < 2; k++)
        if (p->t[k].shape[0] > 1 && p->t[k].stride[0] <= 0)
            return tni_iop_fail(p, TN_ESTRIDE, "a stride is not positive");
    tn_tensor counts;
    TRY(tni_iop_temp(p, &counts, TN_I64, 1, p->t[0].shape));
    TRY(IOP_CALL(p, tni_iop_histogram, num[1], 0, 0, &counts, x));
    tni_iop_last(p)->num[1] = num[2];
    return tni_iop_copy(p, &p->t[0], &counts);
}
