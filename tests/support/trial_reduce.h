/* trial_reduce.h - random reductions, scans, norms of rows, takes, puts and sorts beside the slow
 * oracles. */
#ifndef TRIAL_REDUCE_H
#define TRIAL_REDUCE_H

#include "line_oracle.h"
#include "trial_copy.h"

/* Numbers in floats; integers and bool keep their random bytes. */
static void fill_scalars(rng *r, const tn_tensor *t)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40, 448, -1};
    const tn_dtype part = t->dtype == TN_C64 ? TN_F32 : t->dtype == TN_C128 ? TN_F64 : t->dtype;
    const bool special = next(r) % 4 == 0;
    int64_t at[TN_MAX_NDIM] = {0};
    if (is_int(t->dtype) || tn_numel(t) == 0)
        return;
    do
        for (int k = 0; k < (has_parts(t->dtype) ? 2 : 1); k++) {
            double x = (double)pick(r, -100000, 100000) / (double)pick(r, 64, 100000);
            if (special && next(r) % 16 == 0)
                x = odd[next(r) % 8];
            put_real(element(t, at) + (size_t)k * tn_dtype_size(part), part, x);
        }
    while (index_next(at, t->ndim, t->shape));
}

/* ---- reductions ---- */

typedef struct reducing {
    tn_reduction op;
    const double *params;
    const tn_tensor *src;
    int naxes, axes[AXES];
    bool plan;
} reducing;

static tn_status call_reduce(const tn_tensor *dst, const void *about)
{
    const reducing *x = about;
    tn_plan *plan = NULL;
    if (!x->plan)
        return tn_reduce(x->op, x->params, dst, x->src, x->naxes, x->axes);
    const tn_status made =
        tn_plan_reduce(&plan, x->op, x->params, dst, x->src, x->naxes, x->axes);
    return run_once(made, plan, dst, 1, &x->src);
}

/* Reductions whose bits depend on the level: the oracle is near them. */
static bool any_bits(const reducing *x)
{
    const double p = x->params ? x->params[0] : 2;
    return x->op == TN_REDUCE_LOGSUMEXP ||
           (x->op == TN_REDUCE_NORM && !isinf(p) && p != 0 && p != 1 && p != 2);
}

static bool near_scalars(trial *t, const char *what, const tn_tensor *a, const tn_tensor *b)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(a) > 0)
        do {
            const double x = scalar_at(element(a, at), a->dtype).re,
                         y = scalar_at(element(b, at), a->dtype).re;
            const double by = a->dtype == TN_F64 ? 1e-13 : a->dtype == TN_F32 ? 1e-5 : 0.13;
            if (!(x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= by * (1 + fabs(y))))
                return miss(t, what, a, b);
        } while (index_next(at, a->ndim, a->shape));
    return true;
}

static bool try_reduce(trial *t)
{
    static const double orders[] = {2, 1, 0, 3, -1, INFINITY, -INFINITY};
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], kept[TN_MAX_NDIM];
    const int ndim = draw_shape(r, shape, 16);
    reducing x = {.op = (tn_reduction)(next(r) % (TN_REDUCE_NANMAX + 1)), .plan = next(r) % 2};
    tn_dtype dtype = pick_dtype(r), out;
    while (tn_reduction_result(x.op, dtype, &out) != TN_OK)
        dtype = pick_dtype(r);
    const double param = x.op == TN_REDUCE_NORM ? orders[next(r) % 7] : (double)pick(r, 0, 2);
    x.params = tn_reduction_params(x.op) && next(r) % 4 ? &param : NULL;
    uint64_t folded = 0;
    for (int i = 0; i < ndim; i++) {
        const bool fold = next(r) % 2 && shape[i] > 0;
        kept[i] = fold ? 1 : shape[i];
        if (fold)
            x.axes[x.naxes++] = i;
        folded |= (uint64_t)fold << i;
    }
    shuffle(r, x.axes, x.naxes);
    ground src = draw_ground(r, dtype, ndim, shape, true);
    fill_scalars(r, &src.t);
    x.src = &src.t;
    ground dst = draw_ground(r, out, ndim, kept, false), want = ground_twin(&dst);
    oracle_reduce(x.op, x.params, &want.t, &src.t, folded);
    const bool near = any_bits(&x);
    bool good =
        settle(t, tn_reduction_name(x.op), &dst, near ? NULL : &want, call_reduce, &x, &src.t);
    if (near)
        good = good && near_scalars(t, tn_reduction_name(x.op), &dst.t, &want.t);
    else
        digest_bytes(t, dst.bytes, dst.size);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- along one axis: scans, norms, order ---- */

typedef enum along {
    CUMSUM,
    CUMPROD,
    CUMMAX,
    RMS_NORM,
    LAYER_NORM,
    SORT,
    ARGSORT,
    ALONG
} along;

typedef struct lining {
    along kind;
    int dim;
    unsigned flags;
    const tn_tensor *src, *weight;
} lining;

static tn_status call_line(const tn_tensor *dst, const void *about)
{
    const lining *x = about;
    switch (x->kind) {
    case CUMSUM:
        return tn_scan(TN_SCAN_SUM, dst, x->src, x->dim);
    case CUMPROD:
        return tn_scan(TN_SCAN_PROD, dst, x->src, x->dim);
    case CUMMAX:
        return tn_scan(TN_SCAN_MAX, dst, x->src, x->dim);
    case RMS_NORM:
        return tn_rms_norm(dst, x->src, x->weight, 1e-5);
    case LAYER_NORM:
        return tn_layer_norm(dst, x->src, x->weight, NULL, 1e-5);
    case SORT:
        return tn_sort(dst, NULL, x->src, x->dim, x->flags);
    default:
        return tn_sort(NULL, dst, x->src, x->dim, x->flags);
    }
}

/* dst has the first elements of src's order along dim, or their indices. */
static void order_all(const tn_tensor *dst, const lining *x)
{
    const tn_tensor *src = x->src;
    const int64_t n = src->shape[x->dim];
    int64_t at[TN_MAX_NDIM] = {0}, lines[TN_MAX_NDIM], i[TN_MAX_NDIM];
    memcpy(lines, src->shape, sizeof lines);
    lines[x->dim] = 1;
    if (tn_numel(dst) == 0)
        return;
    scalar *line = malloc((size_t)n * sizeof *line);
    int64_t *order = malloc((size_t)n * sizeof *order);
    assert_true(line && order);
    do {
        memcpy(i, at, sizeof i);
        for (i[x->dim] = 0; i[x->dim] < n; i[x->dim]++)
            line[i[x->dim]] = scalar_at(element(src, i), src->dtype);
        naive_order(order, line, n, src->dtype, x->flags);
        for (int64_t k = 0; k < dst->shape[x->dim]; k++) {
            i[x->dim] = k;
            char *d = element(dst, i);
            i[x->dim] = order[k];
            const void *from = x->kind == SORT ? element(src, i) : (char *)&order[k];
            memcpy(d, from, tn_dtype_size(dst->dtype));
        }
    } while (index_next(at, src->ndim, lines));
    free(line);
    free(order);
}

static void want_line(const tn_tensor *dst, const lining *x)
{
    if (x->kind <= CUMMAX)
        naive_scan((tn_scan_op)x->kind, dst, x->src, x->dim);
    else if (x->kind <= LAYER_NORM)
        norm_all(dst, x->src, x->weight, NULL, 1e-5, x->kind == LAYER_NORM);
    else
        order_all(dst, x);
}

static bool line_takes(along kind, tn_dtype t)
{
    return kind < CUMMAX                    ? true
           : kind == CUMMAX || kind >= SORT ? !has_parts(t)
                                            : !is_int(t) && !has_parts(t);
}

static bool try_line(trial *t)
{
    static const char *const names[ALONG] = {"cumsum",     "cumprod", "cummax", "rms_norm",
                                             "layer_norm", "sort",    "argsort"};
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], made[TN_MAX_NDIM];
    lining x = {.kind = (along)(next(r) % ALONG), .flags = next(r) % 2 ? TN_DESCENDING : 0};
    tn_dtype dtype = pick_dtype(r), out;
    while (!line_takes(x.kind, dtype))
        dtype = pick_dtype(r);
    int ndim;
    do
        ndim = draw_shape(r, shape, 400); /* the oracle's order takes n^2 steps */
    while (ndim == 0);
    x.dim = x.kind == RMS_NORM || x.kind == LAYER_NORM ? ndim - 1 : (int)pick(r, 0, ndim - 1);
    memcpy(made, shape, sizeof made);
    out = x.kind == ARGSORT ? TN_I64 : dtype;
    if (x.kind < CUMMAX) {
        OK(tn_reduction_result(x.kind ? TN_REDUCE_PROD : TN_REDUCE_SUM, dtype, &out));
        made[x.dim] += next(r) % 3 == 0;
    }
    if (x.kind >= SORT && next(r) % 2)
        made[x.dim] = pick(r, 0, shape[x.dim]);
    ground src = draw_ground(r, dtype, ndim, shape, true),
           weight = draw_ground(r, dtype, 1, &shape[ndim - 1], true);
    fill_scalars(r, &src.t);
    fill_scalars(r, &weight.t);
    x.src = &src.t;
    x.weight = next(r) % 2 ? &weight.t : NULL;
    ground dst = draw_ground(r, out, ndim, made, false), want = ground_twin(&dst);
    want_line(&want.t, &x);
    const bool good = settle(t, names[x.kind], &dst, &want, call_line, &x, &src.t);
    digest_bytes(t, dst.bytes, dst.size);
    ground_free(&src);
    ground_free(&weight);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- softmax: near the exact one, the same by every number of threads ---- */

static tn_status call_softmax(const tn_tensor *dst, const void *about)
{
    const lining *x = about;
    return tn_softmax(dst, x->src, x->dim);
}

static void softmax_line(const tn_tensor *dst, const tn_tensor *src, const int64_t *at, int dim)
{
    const int64_t n = src->shape[dim];
    double *x = row_of(src, at, dim);
    long double *y = malloc((size_t)n * sizeof *y);
    assert_non_null(y);
    softmax_row(y, x, n, n, false);
    for (int64_t i = 0; i < n; i++)
        put_real(element(dst, at) + i * dst->stride[dim], dst->dtype, (double)y[i]);
    free(x);
    free(y);
}

static bool try_softmax(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM];
    int ndim;
    static const tn_dtype floats[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
    const tn_dtype dtype = floats[next(r) % 4];
    do
        ndim = draw_shape(r, shape, 16);
    while (ndim == 0);
    lining x = {.dim = (int)pick(r, 0, ndim - 1)};
    ground src = draw_ground(r, dtype, ndim, shape, true),
           dst = draw_ground(r, dtype, ndim, shape, false);
    fill_scalars(r, &src.t);
    x.src = &src.t;
    bool good = settle(t, "softmax", &dst, NULL, call_softmax, &x, &src.t);
    ground want = ground_twin(&dst);
    int64_t at[TN_MAX_NDIM] = {0}, lines[TN_MAX_NDIM];
    memcpy(lines, shape, sizeof lines);
    lines[x.dim] = 1;
    if (tn_numel(&src.t) > 0)
        do {
            softmax_line(&want.t, &src.t, at, x.dim);
        } while (index_next(at, ndim, lines));
    good = good && near_scalars(t, "softmax", &dst.t, &want.t);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- by data ---- */

typedef struct choosing {
    bool put;
    int dim;
    tn_put_op op;
    const tn_tensor *src, *index;
} choosing;

static tn_status call_choose(const tn_tensor *dst, const void *about)
{
    const choosing *x = about;
    return x->put ? tn_put_along(x->op, dst, x->dim, x->index, x->src)
                  : tn_take_along(dst, x->src, x->dim, x->index);
}

/* old op new of one element, by the ops themselves. */
static void meet_one(tn_put_op op, tn_dtype t, char *d, char *s)
{
    static const tn_op ops[] = {0, TN_ADD, TN_MUL, TN_MIN, TN_MAX};
    tn_tensor x, y;
    OK(tn_init(&x, d, t, 0, NULL));
    OK(tn_init(&y, s, t, 0, NULL));
    OK(tn_binary(ops[op], &x, &x, &y));
}

static bool try_choose(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], walked[TN_MAX_NDIM], at[TN_MAX_NDIM] = {0}, far[TN_MAX_NDIM];
    const tn_dtype dtype = pick_dtype(r);
    int ndim;
    do
        ndim = draw_shape(r, shape, 16);
    while (ndim == 0 || count_of(ndim, shape) == 0);
    choosing x = {.put = next(r) % 2, .dim = (int)pick(r, 0, ndim - 1)};
    if (dtype != TN_BOOL && x.put)
        x.op = (tn_put_op)(next(r) % (has_parts(dtype) ? 3 : 5));
    memcpy(walked, shape, sizeof walked);
    walked[x.dim] = pick(r, 0, 2 * shape[x.dim]);
    /* no two indices share bytes */
    ground index = draw_ground(r, TN_I64, ndim, walked, false),
           src = draw_ground(r, dtype, ndim, x.put ? walked : shape, true),
           dst = draw_ground(r, dtype, ndim, x.put ? shape : walked, false);
    fill_scalars(r, &src.t);
    fill_scalars(r, &dst.t);
    if (tn_numel(&index.t) > 0)
        do {
            const int64_t i = pick(r, -shape[x.dim], shape[x.dim] - 1);
            memcpy(element(&index.t, at), &i, sizeof i);
        } while (index_next(at, ndim, walked));
    ground want = ground_twin(&dst);
    OK(tn_handle_use(team[1]));
    if (tn_numel(&index.t) > 0)
        do {
            int64_t i;
            memcpy(&i, element(&index.t, at), sizeof i);
            memcpy(far, at, sizeof far);
            far[x.dim] = i < 0 ? i + shape[x.dim] : i;
            char *d = element(&want.t, x.put ? far : at),
                 *s = element(&src.t, x.put ? at : far);
            if (x.op == TN_PUT_SET)
                memcpy(d, s, tn_dtype_size(dtype));
            else
                meet_one(x.op, dtype, d, s);
        } while (index_next(at, ndim, walked));
    x.src = &src.t;
    x.index = &index.t;
    const bool good =
        settle(t, x.put ? "put_along" : "take_along", &dst, &want, call_choose, &x, &src.t);
    digest_elements(t, &dst.t);
    ground_free(&index);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

#endif
