/* pad.c - a tensor with borders, in every mode: checks, then a plan that cannot fail. */
#include <string.h>

#include "check_moves.h"

/* Everything that a pad is asked for. */
typedef struct request {
    const char *call;
    const tn_tensor *dst; /* NULL: it is to be allocated */
    const tn_tensor *src;
    const int64_t *before, *after;
    tn_pad_mode mode;
} request;

static tn_status check_widths(const request *q)
{
    if ((unsigned)q->mode > TN_PAD_WRAP)
        return tni_fail(TN_EARG, "%s: mode is %d, not in [0, %d]", q->call, (int)q->mode,
                        TN_PAD_WRAP);
    for (int i = 0; i < q->src->ndim; i++)
        if (q->before[i] < 0 || q->after[i] < 0)
            return tni_fail(TN_EARG, "%s: widths of axis %d are %lld and %lld, not both >= 0",
                            q->call, i, (long long)q->before[i], (long long)q->after[i]);
    return TN_OK;
}

/* The shape of the result, and that dst (unless NULL) has it. */
static tn_status check_shapes(const request *q, int64_t *shape)
{
    const tn_tensor *dst = q->dst, *src = q->src;
    if (dst && dst->ndim != src->ndim)
        return tni_fail(TN_ESHAPE, "%s: dst has %d axes and src has %d", q->call, dst->ndim,
                        src->ndim);
    int large = -1;
    for (int i = 0; i < src->ndim; i++) {
        const int64_t b = q->before[i], a = q->after[i], n = src->shape[i];
        if (n == 0 && (a || b) && q->mode != TN_PAD_CONSTANT)
            return tni_fail(TN_ESHAPE, "%s: axis %d has extent 0 and widths %lld and %lld",
                            q->call, i, (long long)b, (long long)a);
        if (!tni_add(n, b, &shape[i]) || !tni_add(shape[i], a, &shape[i]))
            large = i;
        else if (dst && dst->shape[i] != shape[i])
            return tni_fail(TN_ESHAPE, "%s: axis %d has extent %lld, not %lld + %lld + %lld",
                            q->call, i, (long long)dst->shape[i], (long long)b, (long long)n,
                            (long long)a);
    }
    if (large >= 0)
        return tni_fail(TN_EOVERFLOW, "%s: axis %d: %lld + %lld + %lld does not fit", q->call,
                        large, (long long)q->before[large], (long long)src->shape[large],
                        (long long)q->after[large]);
    return TN_OK;
}

/* All rules up to size. */
static tn_status check(const request *q, int64_t *shape)
{
    const tn_tensor *src = q->src;
    const unsigned given = TNI_NULL, range = TNI_NDIM;
    TRY(q->dst ? tni_check_all(given, q->call, q->dst, 1, &src)
               : tni_check_srcs(given, q->call, 1, &src));
    if (src->ndim > 0 && (!q->before || !q->after))
        return tni_fail(TN_ENULL, "%s: %s is NULL for %d axes", q->call,
                        q->before ? "after" : "before", src->ndim);
    TRY(q->dst ? tni_check_all(range, q->call, q->dst, 1, &src)
               : tni_check_srcs(range, q->call, 1, &src));
    TRY(check_widths(q));
    if (q->dst)
        TRY(tni_check_alike(q->call, q->dst, 1, &src));
    else
        TRY(tni_check_srcs(TNI_DEVICE | TNI_DTYPE | TNI_SHAPE, q->call, 1, &src));
    TRY(check_shapes(q, shape));
    return q->dst ? TN_OK : tni_check_srcs(TNI_SIZE, q->call, 1, &src);
}

static void run(const request *q, const tn_tensor *dst, const void *value)
{
    tni_pad pad;
    tni_pad_plan(&pad, dst, q->src, q->before, q->mode, value);
    tni_pad_run(&pad, dst->data, q->src->data);
}

static tn_status pad_into(const request *q, const void *value)
{
    int64_t shape[TN_MAX_NDIM];
    if (!q->dst)
        return tni_fail(TN_ENULL, "%s: dst is NULL", q->call);
    TRY(check(q, shape));
    TRY(tni_check_disjoint_all(q->call, q->dst, 1, &q->src));
    run(q, q->dst, value);
    return TN_OK;
}

static tn_status pad_copy(tn_tensor *out, const request *q, const void *value)
{
    int64_t shape[TN_MAX_NDIM], bytes;
    if (!out)
        return tni_fail(TN_ENULL, "%s: out is NULL", q->call);
    TRY(check(q, shape));
    if (!tni_shape_size(q->src->ndim, shape, tni_width(q->src->dtype), &bytes))
        return tni_fail(TN_EOVERFLOW, "%s: the result has more than 2^63 - 1 bytes", q->call);
    if (!q->src->data && tni_numel(q->src) > 0)
        return tni_fail(TN_ENULL, "%s: src has elements and its data is NULL", q->call);
    tn_tensor made;
    TRY(tn_alloc(&made, q->src->dtype, q->src->ndim, shape));
    run(q, &made, value);
    *out = made;
    return TN_OK;
}

tn_status tn_pad_into(const tn_tensor *dst, const tn_tensor *src, const int64_t *before,
                      const int64_t *after, tn_pad_mode mode, const void *value)
{
    return pad_into(&(request){"pad_into", dst, src, before, after, mode}, value);
}

tn_status tn_pad_copy(tn_tensor *out, const tn_tensor *src, const int64_t *before,
                      const int64_t *after, tn_pad_mode mode, const void *value)
{
    return pad_copy(out, &(request){"pad_copy", NULL, src, before, after, mode}, value);
}

/* ---- zeros around the last two axes ---- */

/* Widths for padding H and W of src. */
static tn_status hw_widths(int64_t *width, const tn_tensor *src, int64_t padding,
                           const char *call)
{
    TRY(tni_check_srcs(TNI_NULL | TNI_NDIM, call, 1, &src));
    if (padding < 0)
        return tni_fail(TN_EARG, "%s: padding is %lld, less than 0", call, (long long)padding);
    TRY(tni_check_srcs(TNI_DEVICE | TNI_DTYPE, call, 1, &src));
    if (src->ndim < 2)
        return tni_fail(TN_ESHAPE, "%s: src has %d axes, less than 2", call, src->ndim);
    for (int i = 0; i < src->ndim; i++)
        width[i] = i >= src->ndim - 2 ? padding : 0;
    return TN_OK;
}

tn_status tn_pad_hw_copy(tn_tensor *out, const tn_tensor *src, int64_t padding)
{
    int64_t width[TN_MAX_NDIM];
    if (!out)
        return tni_fail(TN_ENULL, "pad_hw_copy: out is NULL");
    TRY(hw_widths(width, src, padding, "pad_hw_copy"));
    return pad_copy(out, &(request){"pad_hw_copy", NULL, src, width, width, TN_PAD_CONSTANT},
                    NULL);
}

tn_status tn_pad_hw_into(const tn_tensor *dst, const tn_tensor *src, int64_t padding)
{
    int64_t width[TN_MAX_NDIM];
    TRY(tni_check_all(TNI_NULL | TNI_NDIM, "pad_hw_into", dst, 1, &src));
    TRY(hw_widths(width, src, padding, "pad_hw_into"));
    return pad_into(&(request){"pad_hw_into", dst, src, width, width, TN_PAD_CONSTANT}, NULL);
}

tn_status tn_pad_hw_inplace(tn_tensor *t, int64_t padding)
{
    int64_t width[TN_MAX_NDIM];
    tn_tensor made;
    TRY(tni_check_all(TNI_NULL | TNI_NDIM, "pad_hw_inplace", t, 0, NULL));
    TRY(hw_widths(width, t, padding, "pad_hw_inplace"));
    TRY(pad_copy(&made, &(request){"pad_hw_inplace", NULL, t, width, width, TN_PAD_CONSTANT},
                 NULL));
    tn_free(t);
    *t = made;
    return TN_OK;
}

/* ---- the same work again ---- */

tn_status tn_plan_pad(tn_plan **plan, const tn_tensor *dst, const tn_tensor *src,
                      const int64_t *before, const int64_t *after, tn_pad_mode mode,
                      const void *value)
{
    int64_t shape[TN_MAX_NDIM];
    if (!plan)
        return tni_fail(TN_ENULL, "plan_pad: plan is NULL");
    if (!dst)
        return tni_fail(TN_ENULL, "plan_pad: dst is NULL");
    TRY(check(&(request){"plan_pad", dst, src, before, after, mode}, shape));
    TRY(tni_check_all(TNI_SIZE, "plan_pad", dst, 1, &src));
    TRY(tni_check_injective(dst, "plan_pad"));
    tn_plan *p = tni_pad_new(dst, src, before, mode, value);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_pad: no memory for the plan");
    *plan = p;
    return TN_OK;
}
