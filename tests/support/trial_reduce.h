/* trial_reduce.h - random reductions, dot products, scans, norms of rows and sorts, compared
 * with the slow oracles. */
#ifndef TRIAL_REDUCE_H
#define TRIAL_REDUCE_H

#include "line_oracle.h"
#include "trial_copy.h"

/* Fill floats with numbers; integers and bool keep their random bytes; or use only two
 * values. */
static void fill_scalars(rng *r, const tn_tensor *t)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40, 448, -1};
    const tn_dtype part = t->dtype == TN_C64 ? TN_F32 : t->dtype == TN_C128 ? TN_F64 : t->dtype;
    const bool special = next(r) % 4 == 0;
    int64_t at[TN_MAX_NDIM] = {0};
    if (next(r) % 4 == 0) {
        fill_equal(r, t);
        return;
    }
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

/* The way to request a reduction. */
typedef enum asked {
    BY_CALL,
    BY_PLAN,
    BY_COPY,
    BY_PATTERN,
    BY_ENDS, /* tn_minmax */
    ASKED
} asked;

typedef struct reducing {
    tn_reduction op;
    const double *params;
    const tn_tensor *src;
    int naxes, axes[AXES];
    asked by;
    const tn_tensor *other; /* BY_ENDS: the other end, or NULL */
    tn_tensor merged;       /* BY_PATTERN: src, with two of its axes merged if possible */
    int order[AXES];        /* axes of dst in the order of the pattern */
    char pattern[100], sizes[20];
} reducing;

/* Copy a tensor that was made to dst, which has its shape, and free it; or return the
 * failure. */
static tn_status copy_made(tn_status made, tn_tensor *from, const tn_tensor *dst)
{
    if (made != TN_OK)
        return made;
    const tn_status status = tn_rearrange(dst, from);
    tn_free(from);
    return status;
}

static tn_status call_reduce(const tn_tensor *dst, const void *about)
{
    const reducing *x = about;
    tn_plan *plan = NULL;
    tn_tensor made;
    tn_status status;
    switch (x->by) {
    case BY_PLAN:
        status = tn_plan_reduce(&plan, x->op, x->params, dst, x->src, x->naxes, x->axes);
        return run_once(status, plan, dst, 1, &x->src);
    case BY_COPY:
        return copy_made(
            tn_reduce_copy(&made, x->op, x->params, x->src, x->naxes, x->axes, true), &made,
            dst);
    case BY_PATTERN:
        OK(tn_permute(&made, dst, x->order));
        return tn_pattern_reduce(x->op, x->params, &made, &x->merged, x->pattern, x->sizes);
    case BY_ENDS:
        return x->op == TN_REDUCE_MIN ? tn_minmax(dst, x->other, x->src, x->naxes, x->axes)
                                      : tn_minmax(x->other, dst, x->src, x->naxes, x->axes);
    default:
        return tn_reduce(x->op, x->params, dst, x->src, x->naxes, x->axes);
    }
}

/* Write the axes as letters: "a (b c) -> c 1 b", where axis a is reduced and b and c can be
 * merged into one. */
static void draw_pattern(rng *r, reducing *x, uint64_t folded)
{
    const int n = x->src->ndim, first = n > 1 ? (int)pick(r, 0, n - 2) : 0;
    int64_t shape[TN_MAX_NDIM];
    bool one = n > 1;
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        one = one && x->src->shape[i] > 0;
        shape[i] = x->src->shape[i];
    }
    if (one) {
        shape[first] *= shape[first + 1];
        memmove(shape + first + 1, shape + first + 2, (size_t)(n - 2 - first) * sizeof *shape);
        one = tn_reshape(&x->merged, x->src, n - 1, shape) == TN_OK;
    }
    if (!one)
        x->merged = *x->src;
    if (one)
        snprintf(x->sizes, sizeof x->sizes, "%c=%lld", 'b' + first,
                 (long long)x->src->shape[first + 1]);
    for (int i = 0; i < n; i++) {
        x->order[i] = i;
        used += (size_t)snprintf(x->pattern + used, sizeof x->pattern - used, "%s%c%s ",
                                 one && i == first ? "(" : "", 'a' + i,
                                 one && i == first + 1 ? ")" : "");
    }
    shuffle(r, x->order, n);
    used += (size_t)snprintf(x->pattern + used, sizeof x->pattern - used, "->");
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(x->pattern + used, sizeof x->pattern - used, " %c",
                                 folded >> x->order[i] & 1 ? '1' : 'a' + x->order[i]);
}

/* True for reductions whose bits depend on the level: the oracle's result is only near. */
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
    reducing x = {.op = (tn_reduction)(next(r) % TNI_REDUCTIONS),
                  .by = (asked)(next(r) % ASKED)};
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
    ground dst = draw_ground(r, out, ndim, kept, false), want = ground_twin(&dst),
           other = next(r) % 2 ? ground_twin(&dst) : draw_ground(r, out, ndim, kept, false);
    if (x.by == BY_ENDS && x.op != TN_REDUCE_MIN && x.op != TN_REDUCE_MAX)
        x.by = BY_PATTERN;
    if (x.by == BY_PATTERN)
        draw_pattern(r, &x, folded);
    x.other = next(r) % 2 ? &other.t : NULL;
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
    ground_free(&other);
    return good;
}

/* ---- dot ---- */

typedef struct dotting {
    const tn_tensor *a, *b;
    int naxes, axes[AXES];
} dotting;

static tn_status call_dot(const tn_tensor *dst, const void *about)
{
    const dotting *x = about;
    return tn_dot(dst, x->a, x->b, x->naxes, x->axes);
}

/* Sum the products with the tree; a and b have one shape, dst their ndim. */
static void want_dot(const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b)
{
    int64_t inner[TN_MAX_NDIM], at[TN_MAX_NDIM] = {0}, n = 1;
    for (int i = 0; i < a->ndim; i++) {
        inner[i] = dst->shape[i] == 1 ? a->shape[i] : 1;
        n *= inner[i];
    }
    if (tn_numel(dst) == 0)
        return;
    double *re = malloc((size_t)(n + 1) * sizeof *re),
           *im = malloc((size_t)(n + 1) * sizeof *im);
    assert_true(re && im);
    do {
        int64_t in[TN_MAX_NDIM] = {0}, both[TN_MAX_NDIM], k = 0;
        outcome o = {0};
        if (n > 0)
            do {
                for (int i = 0; i < a->ndim; i++)
                    both[i] = at[i] + in[i];
                const scalar x = scalar_at(element(a, both), a->dtype),
                             y = scalar_at(element(b, both), a->dtype);
                o.u += (uint64_t)x.i * (uint64_t)y.i;
                re[k] = has_parts(a->dtype) ? x.re * y.re - x.im * y.im : x.re * y.re;
                im[k++] = x.re * y.im + x.im * y.re;
            } while (index_next(in, a->ndim, inner));
        o.re = tree(re, n, false, false) + 0.0;
        o.im = tree(im, n, false, false) + 0.0;
        put_outcome(element(dst, at), dst->dtype, &o);
    } while (index_next(at, dst->ndim, dst->shape));
    free(re);
    free(im);
}

/* Either operand may lack an axis, or have extent 1 where the other has more. */
static bool try_dot(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], kept[TN_MAX_NDIM], own[2][TN_MAX_NDIM];
    const int ndim = draw_shape(r, shape, 16), lacks = (int)pick(r, 0, ndim);
    const tn_dtype dtype = pick_dtype(r);
    tn_dtype out;
    dotting x = {.naxes = 0};
    OK(tn_reduction_result(TN_REDUCE_SUM, dtype, &out));
    for (int i = 0; i < ndim; i++) {
        const uint64_t who = i < lacks ? 1 : next(r) % 4; /* the operand whose extent is 1 */
        own[0][i] = who == 0 ? 1 : shape[i];
        own[1][i] = who == 1 ? 1 : shape[i];
        kept[i] = shape[i];
        if (next(r) % 2 && shape[i] > 0)
            kept[x.axes[x.naxes++] = i] = 1;
    }
    shuffle(r, x.axes, x.naxes);
    ground a = draw_ground(r, dtype, ndim, own[0], true),
           b = draw_ground(r, dtype, ndim - lacks, own[1] + lacks, true),
           dst = draw_ground(r, out, ndim, kept, false), want = ground_twin(&dst);
    fill_scalars(r, &a.t);
    fill_scalars(r, &b.t);
    tn_tensor whole[2];
    OK(tn_broadcast_to(&whole[0], &a.t, ndim, shape));
    OK(tn_broadcast_to(&whole[1], &b.t, ndim, shape));
    want_dot(&want.t, &whole[0], &whole[1]);
    x.a = &a.t;
    x.b = &b.t;
    const bool good = settle(t, "dot", &dst, &want, call_dot, &x, &a.t);
    digest_bytes(t, dst.bytes, dst.size);
    ground_free(&a);
    ground_free(&b);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- along one axis: scans, norms, sorts ---- */

typedef enum along { /* scans in the order of tn_scan_op */
                     CUMSUM,
                     CUMPROD,
                     CUMMAX,
                     CUMMIN,
                     LOGCUMSUMEXP,
                     DIFF,
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
    bool other; /* scans and norms through a plan, sorts in a workspace */
    const tn_tensor *src, *weight;
} lining;

static tn_status call_sort(const tn_tensor *values, const tn_tensor *places, const lining *x)
{
    if (!x->other)
        return tn_sort(values, places, x->src, x->dim, x->flags);
    const size_t size = tn_sort_workspace(values, places, x->src, x->dim, x->flags);
    void *room = aligned_alloc(64, (size + 64) / 64 * 64);
    assert_non_null(room);
    const tn_status status = tn_sort_in(values, places, x->src, x->dim, x->flags, room, size);
    free(room);
    return status;
}

static tn_status call_line(const tn_tensor *dst, const void *about)
{
    const lining *x = about;
    switch (x->kind) {
    case DIFF:
        return tn_diff(dst, x->src, x->dim);
    case RMS_NORM:
        return tn_rms_norm(dst, x->src, x->weight, 1e-5);
    case LAYER_NORM:
        return tn_layer_norm(dst, x->src, x->weight, NULL, 1e-5);
    case SORT:
        return call_sort(dst, NULL, x);
    case ARGSORT:
        return call_sort(NULL, dst, x);
    default:
        return tn_scan((tn_scan_op)x->kind, dst, x->src, x->dim);
    }
}

/* Run a scan or a norm through a plan. */
static tn_status call_line_plan(const tn_tensor *dst, const void *about)
{
    const lining *x = about;
    const tn_tensor *srcs[] = {x->src, x->weight};
    tn_plan *plan = NULL;
    const tn_status made =
        x->kind <= LOGCUMSUMEXP
            ? tn_plan_scan(&plan, (tn_scan_op)x->kind, dst, x->src, x->dim)
            : tn_plan_rows(&plan, x->kind == RMS_NORM ? TN_ROW_RMS_NORM : TN_ROW_LAYER_NORM,
                           dst, x->src, 0, x->weight, NULL, 1e-5);
    return run_once(made, plan, dst, x->kind > LOGCUMSUMEXP && x->weight ? 2 : 1, srcs);
}

/* Compute the differences one by one, with the op itself. */
static void diff_all(const tn_tensor *dst, const tn_tensor *src, int dim)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(dst) == 0)
        return;
    do {
        tn_tensor d, after, here;
        OK(tn_init(&d, element(dst, at), dst->dtype, 0, NULL));
        OK(tn_init(&here, element(src, at), src->dtype, 0, NULL));
        OK(tn_init(&after, element(src, at) + src->stride[dim], src->dtype, 0, NULL));
        OK(tn_sub(&d, &after, &here));
    } while (index_next(at, dst->ndim, dst->shape));
}

/* Write the first elements of src sorted along dim, or their indices. */
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
    if (x->kind <= LOGCUMSUMEXP)
        naive_scan((tn_scan_op)x->kind, dst, x->src, x->dim);
    else if (x->kind == DIFF)
        diff_all(dst, x->src, x->dim);
    else if (x->kind <= LAYER_NORM)
        norm_all(dst, x->src, x->weight, NULL, 1e-5, x->kind == LAYER_NORM);
    else
        order_all(dst, x);
}

static bool line_takes(along kind, tn_dtype t)
{
    switch (kind) {
    case CUMSUM:
    case CUMPROD:
        return true;
    case DIFF:
        return t != TN_BOOL;
    case LOGCUMSUMEXP:
    case RMS_NORM:
    case LAYER_NORM:
        return !is_int(t) && !has_parts(t);
    default:
        return !has_parts(t);
    }
}

static bool try_line(trial *t)
{
    static const char *const names[ALONG] = {
        "cumsum", "cumprod",  "cummax",     "cummin", "logcumsumexp",
        "diff",   "rms_norm", "layer_norm", "sort",   "argsort"};
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], made[TN_MAX_NDIM];
    lining x = {.kind = (along)(next(r) % ALONG),
                .flags = next(r) % 2 ? TN_DESCENDING : 0,
                .other = next(r) % 2};
    tn_dtype dtype = pick_dtype(r), out;
    while (!line_takes(x.kind, dtype))
        dtype = pick_dtype(r);
    int ndim;
    do
        ndim = draw_shape(r, shape, 400); /* the oracle's sort takes O(n^2) steps */
    while (ndim == 0);
    x.dim = x.kind == RMS_NORM || x.kind == LAYER_NORM ? ndim - 1 : (int)pick(r, 0, ndim - 1);
    memcpy(made, shape, sizeof made);
    out = x.kind == ARGSORT ? TN_I64 : dtype;
    if (x.kind < CUMMAX)
        OK(tn_reduction_result(x.kind ? TN_REDUCE_PROD : TN_REDUCE_SUM, dtype, &out));
    if (x.kind < CUMMAX || x.kind == LOGCUMSUMEXP)
        made[x.dim] += next(r) % 3 == 0;
    if (x.kind == DIFF)
        made[x.dim] -= made[x.dim] > 0;
    if (x.kind >= SORT && next(r) % 2)
        made[x.dim] = pick(r, 0, shape[x.dim]);
    ground src = draw_ground(r, dtype, ndim, shape, true),
           weight = draw_ground(r, dtype, 1, &shape[ndim - 1], true);
    fill_scalars(r, &src.t);
    fill_scalars(r, &weight.t);
    x.src = &src.t;
    x.weight = next(r) % 2 ? &weight.t : NULL;
    ground dst = draw_ground(r, out, ndim, made, false), want = ground_twin(&dst);
    const bool near = x.kind == LOGCUMSUMEXP;
    OK(tn_handle_use(team[1]));
    want_line(&want.t, &x);
    const bool plan = x.other && x.kind <= LAYER_NORM && x.kind != DIFF;
    bool good = settle(t, names[x.kind], &dst, near ? NULL : &want,
                       plan ? call_line_plan : call_line, &x, &src.t);
    if (near)
        good = good && near_scalars(t, names[x.kind], &dst.t, &want.t);
    else if (x.kind == DIFF)
        digest_elements(t, &dst.t);
    else
        digest_bytes(t, dst.bytes, dst.size);
    ground_free(&src);
    ground_free(&weight);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

#endif
