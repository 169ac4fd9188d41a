/* trial_rows.h - random softmaxes, sums with a norm, and rotations, compared with the slow
 * oracles. */
#ifndef TRIAL_ROWS_H
#define TRIAL_ROWS_H

#include "trial_reduce.h"

static const tn_dtype row_dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16, TN_F8E4M3, TN_F8E5M2};

/* ---- softmax: near the exact result, and the same with every number of threads ---- */

typedef enum softly { SOFTMAX, LOG_SOFTMAX, CAUSAL_SOFTMAX, SOFTLY } softly;

typedef struct softening {
    softly kind;
    int dim;
    bool plan;
    const tn_tensor *src;
} softening;

static tn_status call_softmax(const tn_tensor *dst, const void *about)
{
    static const tn_row rows[SOFTLY] = {TN_ROW_SOFTMAX, TN_ROW_LOG_SOFTMAX,
                                        TN_ROW_CAUSAL_SOFTMAX};
    const softening *x = about;
    tn_plan *plan = NULL;
    if (x->plan) {
        const tn_status made =
            tn_plan_rows(&plan, rows[x->kind], dst, x->src, x->dim, NULL, NULL, 0);
        return run_once(made, plan, dst, 1, &x->src);
    }
    return x->kind == SOFTMAX       ? tn_softmax(dst, x->src, x->dim)
           : x->kind == LOG_SOFTMAX ? tn_log_softmax(dst, x->src, x->dim)
                                    : tn_causal_softmax(dst, x->src);
}

static void softmax_line(const tn_tensor *dst, const softening *s, const int64_t *at)
{
    const int64_t n = s->src->shape[s->dim];
    int64_t seen = n;
    if (s->kind == CAUSAL_SOFTMAX)
        seen = at[s->dim - 1] + 1 + n - s->src->shape[s->dim - 1];
    double *x = row_of(s->src, at, s->dim);
    long double *y = malloc((size_t)n * sizeof *y);
    assert_non_null(y);
    softmax_row(y, x, n, seen, s->kind == LOG_SOFTMAX);
    for (int64_t i = 0; i < n; i++)
        put_real(element(dst, at) + i * dst->stride[s->dim], dst->dtype, (double)y[i]);
    free(x);
    free(y);
}

static bool try_softmax(trial *t)
{
    static const char *const names[SOFTLY] = {"softmax", "log_softmax", "causal_softmax"};
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], at[TN_MAX_NDIM] = {0}, lines[TN_MAX_NDIM];
    softening x = {.kind = (softly)(next(r) % SOFTLY), .plan = next(r) % 2};
    const tn_dtype dtype = row_dtypes[next(r) % 4]; /* f8 is too coarse for a bound */
    const bool causal = x.kind == CAUSAL_SOFTMAX;
    int ndim;
    do
        ndim = draw_shape(r, shape, 16);
    while (ndim < (causal ? 2 : 1) || (causal && shape[ndim - 1] < shape[ndim - 2]));
    x.dim = causal ? ndim - 1 : (int)pick(r, 0, ndim - 1);
    ground src = draw_ground(r, dtype, ndim, shape, true),
           dst = draw_ground(r, dtype, ndim, shape, false);
    fill_scalars(r, &src.t);
    x.src = &src.t;
    bool good = settle(t, names[x.kind], &dst, NULL, call_softmax, &x, &src.t);
    ground want = ground_twin(&dst);
    memcpy(lines, shape, sizeof lines);
    lines[x.dim] = 1;
    if (tn_numel(&src.t) > 0)
        do {
            softmax_line(&want.t, &x, at);
        } while (index_next(at, ndim, lines));
    good = good && near_scalars(t, names[x.kind], &dst.t, &want.t);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- sum and norm ---- */

typedef struct adding {
    const tn_tensor *a, *b, *weight, *other;
    bool sum; /* dst is the sum, other the norm; otherwise the reverse */
} adding;

static tn_status call_add_norm(const tn_tensor *dst, const void *about)
{
    const adding *x = about;
    return x->sum ? tn_add_rms_norm(x->other, dst, x->a, x->b, x->weight, 1e-5)
                  : tn_add_rms_norm(dst, x->other, x->a, x->b, x->weight, 1e-5);
}

static bool try_add_norm(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], at[TN_MAX_NDIM] = {0};
    const tn_dtype dtype = row_dtypes[next(r) % 6], wide = next(r) % 2 ? dtype : TN_F32;
    adding x = {.sum = next(r) % 2};
    int ndim;
    do
        ndim = draw_shape(r, shape, 16);
    while (ndim == 0);
    ground a = draw_ground(r, dtype, ndim, shape, true),
           b = draw_ground(r, dtype, ndim, shape, true),
           weight = draw_ground(r, wide, 1, &shape[ndim - 1], true),
           dst = draw_ground(r, dtype, ndim, shape, false), other = ground_twin(&dst),
           sum = ground_twin(&dst), norm = ground_twin(&dst);
    fill_scalars(r, &a.t);
    fill_scalars(r, &b.t);
    fill_scalars(r, &weight.t);
    x.a = &a.t;
    x.b = &b.t;
    x.weight = next(r) % 2 ? &weight.t : NULL;
    x.other = &other.t;
    if (tn_numel(&a.t) > 0)
        do
            put_real(element(&sum.t, at), dtype,
                     scalar_at(element(&a.t, at), dtype).re +
                         scalar_at(element(&b.t, at), dtype).re);
        while (index_next(at, ndim, shape));
    norm_all(&norm.t, &sum.t, x.weight, NULL, 1e-5, 0);
    const bool good =
        settle(t, "add_rms_norm", &dst, x.sum ? &sum : &norm, call_add_norm, &x, &a.t);
    digest_bytes(t, dst.bytes, dst.size);
    ground *all[] = {&a, &b, &weight, &dst, &other, &sum, &norm};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ground_free(all[i]);
    return good;
}

/* ---- rotation ---- */

typedef struct rotating {
    const tn_tensor *src, *sine, *cosine;
    bool pairs, plan;
} rotating;

static tn_status call_rotate(const tn_tensor *dst, const void *about)
{
    const rotating *x = about;
    const tn_tensor *srcs[] = {x->src, x->sine, x->cosine};
    tn_plan *plan = NULL;
    if (!x->plan)
        return tn_rotate(dst, x->src, x->sine, x->cosine, x->pairs);
    const tn_status made =
        tn_plan_rows(&plan, x->pairs ? TN_ROW_ROTATE_PAIRS : TN_ROW_ROTATE_HALVES, dst, x->src,
                     0, x->sine, x->cosine, 0);
    return run_once(made, plan, dst, 3, srcs);
}

static bool try_rotate(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], half[TN_MAX_NDIM];
    const tn_dtype dtype = row_dtypes[next(r) % 6], wide = next(r) % 2 ? dtype : TN_F32;
    rotating x = {.pairs = next(r) % 2, .plan = next(r) % 2};
    int ndim;
    do
        ndim = draw_shape(r, shape, 16);
    while (ndim == 0);
    shape[ndim - 1] = shape[ndim - 1] / 2 * 2;
    memcpy(half, shape, sizeof half);
    half[ndim - 1] /= 2;
    const int lacks = (int)pick(r, 0, ndim - 1); /* the tables broadcast */
    ground src = draw_ground(r, dtype, ndim, shape, true),
           sine = draw_ground(r, wide, ndim - lacks, half + lacks, true),
           cosine = draw_ground(r, wide, ndim - lacks, half + lacks, true),
           dst = draw_ground(r, dtype, ndim, shape, false), want = ground_twin(&dst);
    fill_scalars(r, &src.t);
    fill_scalars(r, &sine.t);
    fill_scalars(r, &cosine.t);
    tn_tensor s, c;
    OK(tn_broadcast_to(&s, &sine.t, ndim, half));
    OK(tn_broadcast_to(&c, &cosine.t, ndim, half));
    rotate_all(&want.t, &src.t, &s, &c, x.pairs);
    x.src = &src.t;
    x.sine = &sine.t;
    x.cosine = &cosine.t;
    const bool good = settle(t, "rotate", &dst, &want, call_rotate, &x, &src.t);
    digest_bytes(t, dst.bytes, dst.size);
    ground *all[] = {&src, &sine, &cosine, &dst, &want};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ground_free(all[i]);
    return good;
}

#endif
