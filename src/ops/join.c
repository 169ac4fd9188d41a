/* join.c - concat, stack, tile, repeat, roll: copies of sources into views of dst.
 *
 * All checks are done before the first copy; the views then fit by construction. */
#include <tenon/join.h>

#include "copy_tensor.h"
#include "runtime/runtime.h"

/* The slice [first, first + n) of axis dim. */
static void window(tn_tensor *out, const tn_tensor *t, int dim, int64_t first, int64_t n)
{
    tni_inherit(out, t, n ? tni_offset(t->data, first * t->stride[dim]) : t->data, t->ndim);
    for (int i = 0; i < t->ndim; i++) {
        out->shape[i] = i == dim ? n : t->shape[i];
        out->stride[i] = t->stride[i];
    }
}

/* ---- concat and stack ---- */

/* Sources concatenated along dim of dst.  Stacked sources lack this axis: each fills one index
 * of it. */
typedef struct joined {
    const tn_tensor *dst;
    const tn_tensor *const *srcs;
    int dim, n;
    bool stacked;
} joined;

static int64_t extent_along(const joined *j, int k)
{
    return j->stacked ? 1 : j->srcs[k]->shape[j->dim];
}

static int64_t join_views(const tni_batch *b, int k, int64_t first, tn_tensor *d,
                          const tn_tensor **s)
{
    const joined *j = b->user;
    const int64_t n = extent_along(j, k);
    if (d) {
        window(d, j->dst, j->dim, first, n);
        if (j->stacked)
            tni_drop_axis(d, d, j->dim, d->data);
        *s = j->srcs[k];
    }
    return first + n;
}

static void join_all(const joined *j)
{
    const int64_t width = tni_width(j->dst->dtype), all = tni_numel(j->dst);
    if (all == 0)
        return;
    tni_batch b = {.n = j->n, .bytes = all * width, .views = join_views, .user = j};
    for (int k = 0; k < j->n; k++) {
        const int64_t bytes = tni_numel(j->srcs[k]) * width;
        b.largest = bytes > b.largest ? bytes : b.largest;
    }
    tni_batch_run(&b);
}

static tn_status join_args(const tni_call *call)
{
    const joined *j = call->own;
    if (j->n < 1)
        return tni_fail(TN_EARG, "%s: got %d sources, expected at least 1", call->name, j->n);
    return tni_check_axis(j->dim, j->dst->ndim, call->name);
}

/* Check that source k has dst's extents along every axis but dim. */
static tn_status check_beside(const joined *j, const char *call, int k)
{
    const tn_tensor *dst = j->dst, *s = j->srcs[k];
    if (s->ndim != dst->ndim - j->stacked)
        return tni_fail(TN_ESHAPE, "%s: src %d has %d axes, expected %d", call, k, s->ndim,
                        dst->ndim - j->stacked);
    for (int i = 0; i < s->ndim; i++) {
        const int to = i + (j->stacked && i >= j->dim);
        if (to != j->dim && s->shape[i] != dst->shape[to])
            return tni_fail(TN_ESHAPE,
                            "%s: src %d: axis %d: extents differ, got %lld, expected %lld",
                            call, k, i, (long long)s->shape[i], (long long)dst->shape[to]);
    }
    return TN_OK;
}

static tn_status join_shapes(const tni_call *call)
{
    const joined *j = call->own;
    int64_t total = 0;
    for (int k = 0; k < j->n && total >= 0; k++) {
        TRY(check_beside(j, call->name, k));
        if (!tni_add(total, extent_along(j, k), &total))
            total = -1;
    }
    if (total != j->dst->shape[j->dim])
        return tni_fail(TN_ESHAPE, "%s: dst: axis %d has extent %lld, expected %s%lld",
                        call->name, j->dim, (long long)j->dst->shape[j->dim],
                        total < 0 ? "more than " : "",
                        (long long)(total < 0 ? INT64_MAX : total));
    return TN_OK;
}

static tn_status join(joined *j, const char *name)
{
    TRY(tni_check_call(&(tni_call){.name = name,
                                   .dst = j->dst,
                                   .n = j->n,
                                   .srcs = j->srcs,
                                   .args = join_args,
                                   .dtypes = tni_call_same_dtypes,
                                   .shapes = join_shapes,
                                   .own = j}));
    join_all(j);
    return TN_OK;
}

tn_status tn_concat(const tn_tensor *dst, int dim, int n, const tn_tensor *const *srcs)
{
    return join(&(joined){.dst = dst, .srcs = srcs, .dim = dim, .n = n}, "concat");
}

tn_status tn_stack(const tn_tensor *dst, int dim, int n, const tn_tensor *const *srcs)
{
    return join(&(joined){.dst = dst, .srcs = srcs, .dim = dim, .n = n, .stacked = true},
                "stack");
}

/* ---- tile and repeat: each axis of dst is reps times as long as in src ---- */

/* The arguments of tile (dim is -1) and repeat. */
typedef struct times {
    const int64_t *reps; /* one per axis */
    int dim;
    int64_t each[TN_MAX_NDIM];
} times;

static tn_status times_nulls(const tni_call *call)
{
    const times *t = call->own;
    if (!t->reps && call->srcs[0]->ndim > 0)
        return tni_fail(TN_ENULL, "%s: reps is NULL, expected %d entries", call->name,
                        call->srcs[0]->ndim);
    return TN_OK;
}

static tn_status times_args(const tni_call *call)
{
    const times *t = call->own;
    const int ndim = call->srcs[0]->ndim;
    if (t->dim >= 0 || t->reps == t->each)
        TRY(tni_check_axis(t->dim, ndim, call->name));
    for (int i = 0; i < ndim; i++)
        if (t->reps[i] < 0)
            return tni_fail(TN_EARG, "%s: axis %d: reps is negative, got %lld", call->name, i,
                            (long long)t->reps[i]);
    return TN_OK;
}

static tn_status times_shapes(const tni_call *call)
{
    const tn_tensor *dst = call->dst, *src = call->srcs[0];
    const int64_t *reps = ((const times *)call->own)->reps;
    if (dst->ndim != src->ndim)
        return tni_fail(TN_ESHAPE, "%s: dst has %d axes, src has %d", call->name, dst->ndim,
                        src->ndim);
    bool fits = true;
    int64_t n;
    for (int i = 0; i < dst->ndim; i++) {
        if (!tni_mul(src->shape[i], reps[i], &n))
            fits = false;
        else if (dst->shape[i] != n)
            return tni_fail(TN_ESHAPE, "%s: dst: axis %d has extent %lld, expected %lld * %lld",
                            call->name, i, (long long)dst->shape[i], (long long)reps[i],
                            (long long)src->shape[i]);
    }
    if (!fits)
        return tni_fail(TN_EOVERFLOW, "%s: an extent of the result exceeds 2^63 - 1",
                        call->name);
    return TN_OK;
}

/* Append an axis of extent n, unless it is 1, to views of dst and src; a step along it spans
 * `inner` indices of dst's axis. */
static void join_append(tn_tensor *d, tn_tensor *s, int64_t n, int64_t inner, int64_t d_stride,
                        int64_t s_stride)
{
    if (n == 1)
        return;
    d->shape[d->ndim] = s->shape[s->ndim] = n;
    d->stride[d->ndim++] = inner * d_stride;
    s->stride[s->ndim++] = s_stride;
}

/* Repeat src reps[i] times along each axis: as a whole (tile), or element by element
 * (repeat). */
static void copy_times(const tn_tensor *dst, const tn_tensor *src, const int64_t *reps,
                       bool whole)
{
    if (tni_numel(dst) == 0)
        return;
    tn_tensor d, s;
    tni_inherit(&d, dst, dst->data, 0);
    tni_inherit(&s, src, src->data, 0);
    for (int i = 0; i < dst->ndim; i++) {
        const int64_t n = src->shape[i], r = reps[i];
        if (whole)
            join_append(&d, &s, r, n, dst->stride[i], 0);
        join_append(&d, &s, n, whole ? 1 : r, dst->stride[i], src->stride[i]);
        if (!whole)
            join_append(&d, &s, r, 1, dst->stride[i], 0);
    }
    tni_copy_tensor(&d, &s);
}

static tn_status run_times(const char *name, const tn_tensor *dst, const tn_tensor *src,
                           times *t)
{
    TRY(tni_check_call(&(tni_call){.name = name,
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .nulls = times_nulls,
                                   .args = times_args,
                                   .dtypes = tni_call_same_dtypes,
                                   .shapes = times_shapes,
                                   .own = t}));
    copy_times(dst, src, t->reps, t->reps != t->each);
    return TN_OK;
}

tn_status tn_tile(const tn_tensor *dst, const tn_tensor *src, const int64_t *reps)
{
    times t;
    t.reps = reps;
    t.dim = -1;
    return run_times("tile", dst, src, &t);
}

tn_status tn_repeat(const tn_tensor *dst, const tn_tensor *src, int dim, int64_t reps)
{
    times t;
    for (int i = 0; i < TN_MAX_NDIM; i++)
        t.each[i] = i == dim ? reps : 1;
    t.reps = t.each;
    t.dim = dim;
    return run_times("repeat", dst, src, &t);
}

/* ---- roll ---- */

static tn_status roll_args(const tni_call *call)
{
    return tni_check_axis(*(const int *)call->own, call->srcs[0]->ndim, call->name);
}

tn_status tn_roll(const tn_tensor *dst, const tn_tensor *src, int dim, int64_t shift)
{
    TRY(tni_check_call(&(tni_call){.name = "roll",
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .args = roll_args,
                                   .dtypes = tni_call_same_dtypes,
                                   .shapes = tni_call_same_shapes,
                                   .own = &dim}));
    if (tni_numel(dst) == 0)
        return TN_OK;
    const int64_t n = src->shape[dim];
    int64_t head = shift % n; /* number of elements that wrap to the front */
    if (head < 0)
        head += n;
    tn_tensor d, s;
    window(&d, dst, dim, head, n - head);
    window(&s, src, dim, 0, n - head);
    tni_copy_tensor(&d, &s);
    window(&d, dst, dim, 0, head);
    window(&s, src, dim, n - head, head);
    tni_copy_tensor(&d, &s);
    return TN_OK;
}
