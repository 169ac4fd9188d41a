/* join.c - concat, stack, tile, repeat, roll: copies of sources into views of dst.
 *
 * All checks are done before the first copy; the views then fit by construction. */
#include "check_moves.h"
#include "runtime/runtime.h"

/* The window [first, first + n) of axis dim. */
static void window(tn_tensor *out, const tn_tensor *t, int dim, int64_t first, int64_t n)
{
    tni_inherit(out, t, n ? tni_offset(t->data, first * t->stride[dim]) : t->data, t->ndim);
    for (int i = 0; i < t->ndim; i++) {
        out->shape[i] = i == dim ? n : t->shape[i];
        out->stride[i] = t->stride[i];
    }
}

/* ---- concat and stack ---- */

/* Sources side by side along dim of dst.  Stacked ones have no such axis: each fills one place
 * of it. */
typedef struct joined {
    const tn_tensor *dst;
    const tn_tensor *const *srcs;
    int dim, n, parts;
    bool stacked;
} joined;

static int64_t places(const joined *j, int k)
{
    return j->stacked ? 1 : j->srcs[k]->shape[j->dim];
}

static void join_one(const joined *j, int k, int64_t first)
{
    tn_tensor d;
    window(&d, j->dst, j->dim, first, places(j, k));
    if (j->stacked)
        tni_drop_axis(&d, &d, j->dim, d.data);
    tni_copy_tensor(&d, j->srcs[k]);
}

static void join_part(void *arg, int part)
{
    const joined *j = arg;
    int64_t from, to, first = 0;
    tni_split_range(j->n, j->parts, part, &from, &to);
    for (int k = 0; k < to; k++) {
        if (k >= from)
            join_one(j, k, first);
        first += places(j, k);
    }
}

/* Small sources go to threads as wholes; large ones are cut themselves, one after the other. */
static void join_all(joined *j)
{
    int64_t most = 0, all = tni_numel(j->dst);
    if (all == 0)
        return;
    for (int k = 0; k < j->n; k++) {
        const int64_t n = tni_numel(j->srcs[k]);
        most = n > most ? n : most;
    }
    const int64_t width = tni_width(j->dst->dtype);
    j->parts = tni_plan_parts(most * width, most) > 1 ? 1 : tni_plan_parts(all * width, j->n);
    if (j->parts == 1)
        join_part(j, 0);
    else
        tni_parallel(j->parts, join_part, j);
}

static tn_status check_join(const joined *j, const char *call)
{
    const tn_tensor *dst = j->dst;
    int64_t total = 0;
    for (int k = 0; k < j->n; k++) {
        const tn_tensor *s = j->srcs[k];
        if (s->ndim != dst->ndim - j->stacked)
            return tni_fail(TN_ESHAPE, "%s: dst has %d axes and src %d has %d", call, dst->ndim,
                            k, s->ndim);
        for (int i = 0; i < s->ndim; i++) {
            const int to = i + (j->stacked && i >= j->dim);
            if (to != j->dim && s->shape[i] != dst->shape[to])
                return tni_fail(TN_ESHAPE,
                                "%s: axis %d of src %d has extent %lld, dst has %lld", call, i,
                                k, (long long)s->shape[i], (long long)dst->shape[to]);
        }
        if (!tni_add(total, places(j, k), &total))
            total = -1;
        if (total < 0)
            break;
    }
    if (total != dst->shape[j->dim])
        return tni_fail(TN_ESHAPE,
                        "%s: axis %d of dst has extent %lld, the sources fill %s%lld", call,
                        j->dim, (long long)dst->shape[j->dim], total < 0 ? "more than " : "",
                        (long long)(total < 0 ? INT64_MAX : total));
    return TN_OK;
}

static tn_status join(joined *j, const char *call)
{
    TRY(tni_check_all(TNI_NULL, call, j->dst, j->n, j->srcs));
    TRY(tni_check_all(TNI_NDIM, call, j->dst, j->n, j->srcs));
    if (j->n < 1)
        return tni_fail(TN_EARG, "%s: %d sources, not at least 1", call, j->n);
    TRY(tni_check_axis(j->dim, j->dst->ndim, call));
    TRY(tni_check_alike(call, j->dst, j->n, j->srcs));
    TRY(check_join(j, call));
    TRY(tni_check_disjoint_all(call, j->dst, j->n, j->srcs));
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

/* ---- tile and repeat: each axis of dst is reps times that of src ---- */

static tn_status check_times(const tn_tensor *dst, const tn_tensor *src, const int64_t *reps,
                             const char *call)
{
    if (dst->ndim != src->ndim)
        return tni_fail(TN_ESHAPE, "%s: dst has %d axes and src has %d", call, dst->ndim,
                        src->ndim);
    bool fits = true;
    int64_t n;
    for (int i = 0; i < dst->ndim; i++) {
        if (!tni_mul(src->shape[i], reps[i], &n))
            fits = false;
        else if (dst->shape[i] != n)
            return tni_fail(TN_ESHAPE, "%s: axis %d has extent %lld, not %lld times %lld", call,
                            i, (long long)dst->shape[i], (long long)reps[i],
                            (long long)src->shape[i]);
    }
    if (!fits)
        return tni_fail(TN_EOVERFLOW, "%s: an extent of the result does not fit", call);
    return TN_OK;
}

/* Append an axis, unless it is a unit one, to views of dst and src; `inner` places of dst's
 * axis make one step of it. */
static void append(tn_tensor *d, tn_tensor *s, int64_t n, int64_t inner, int64_t d_stride,
                   int64_t s_stride)
{
    if (n == 1)
        return;
    d->shape[d->ndim] = s->shape[s->ndim] = n;
    d->stride[d->ndim++] = inner * d_stride;
    s->stride[s->ndim++] = s_stride;
}

/* Copy src reps[i] times along each axis: as a whole, or element by element. */
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
            append(&d, &s, r, n, dst->stride[i], 0);
        append(&d, &s, n, whole ? 1 : r, dst->stride[i], src->stride[i]);
        if (!whole)
            append(&d, &s, r, 1, dst->stride[i], 0);
    }
    tni_copy_tensor(&d, &s);
}

static tn_status times(const tn_tensor *dst, const tn_tensor *src, const int64_t *reps,
                       bool whole, const char *call)
{
    TRY(tni_check_alike(call, dst, 1, &src));
    TRY(check_times(dst, src, reps, call));
    TRY(tni_check_disjoint_all(call, dst, 1, &src));
    copy_times(dst, src, reps, whole);
    return TN_OK;
}

tn_status tn_tile(const tn_tensor *dst, const tn_tensor *src, const int64_t *reps)
{
    TRY(tni_check_all(TNI_NULL, "tile", dst, 1, &src));
    if (!reps && src->ndim > 0)
        return tni_fail(TN_ENULL, "tile: reps is NULL for %d axes", src->ndim);
    TRY(tni_check_all(TNI_NDIM, "tile", dst, 1, &src));
    for (int i = 0; i < src->ndim; i++)
        if (reps[i] < 0)
            return tni_fail(TN_EARG, "tile: reps[%d] is %lld, less than 0", i,
                            (long long)reps[i]);
    return times(dst, src, reps, true, "tile");
}

tn_status tn_repeat(const tn_tensor *dst, const tn_tensor *src, int dim, int64_t reps)
{
    TRY(tni_check_all(TNI_NULL | TNI_NDIM, "repeat", dst, 1, &src));
    TRY(tni_check_axis(dim, src->ndim, "repeat"));
    if (reps < 0)
        return tni_fail(TN_EARG, "repeat: reps is %lld, less than 0", (long long)reps);
    int64_t each[TN_MAX_NDIM];
    for (int i = 0; i < src->ndim; i++)
        each[i] = i == dim ? reps : 1;
    return times(dst, src, each, false, "repeat");
}

/* ---- roll ---- */

tn_status tn_roll(const tn_tensor *dst, const tn_tensor *src, int dim, int64_t shift)
{
    TRY(tni_check_all(TNI_NULL | TNI_NDIM, "roll", dst, 1, &src));
    TRY(tni_check_axis(dim, src->ndim, "roll"));
    TRY(tni_check_alike("roll", dst, 1, &src));
    TRY(tni_same_shape(dst, src, "roll"));
    TRY(tni_check_disjoint_all("roll", dst, 1, &src));
    if (tni_numel(dst) == 0)
        return TN_OK;
    const int64_t n = src->shape[dim];
    int64_t head = shift % n; /* places that wrap to the front */
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
