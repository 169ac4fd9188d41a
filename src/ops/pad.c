/* pad.c - pads in every mode: checks, then a plan that cannot fail. */
#include <string.h>

#include "copy_tensor.h"

/* The arguments of a pad call; the hooks fill in shape. */
typedef struct pad_request {
    const int64_t *before, *after;
    tn_pad_mode mode;
    bool hw;         /* pad_hw: `padding` zeros around the last two axes */
    int64_t padding; /* with hw; before and after then point to width */
    int64_t width[TN_MAX_NDIM];
    int64_t shape[TN_MAX_NDIM]; /* shape of the result */
} pad_request;

static tn_status pad_nulls(const tni_call *call)
{
    const pad_request *q = call->own;
    if (call->srcs[0]->ndim > 0 && (!q->before || !q->after))
        return tni_fail(TN_ENULL, "%s: %s is NULL, expected %d entries", call->name,
                        q->before ? "after" : "before", call->srcs[0]->ndim);
    return TN_OK;
}

static tn_status pad_args(const tni_call *call)
{
    pad_request *q = call->own;
    const int ndim = call->srcs[0]->ndim;
    if ((unsigned)q->mode > TN_PAD_WRAP)
        return tni_fail(TN_EARG, "%s: mode %d is out of range [0, %d]", call->name,
                        (int)q->mode, TN_PAD_WRAP);
    if (q->hw && q->padding < 0)
        return tni_fail(TN_EARG, "%s: padding is negative, got %lld", call->name,
                        (long long)q->padding);
    for (int i = 0; q->hw && i < ndim; i++)
        q->width[i] = i >= ndim - 2 ? q->padding : 0;
    for (int i = 0; i < ndim; i++)
        if (q->before[i] < 0 || q->after[i] < 0)
            return tni_fail(TN_EARG,
                            "%s: axis %d: widths are %lld and %lld, expected at least 0",
                            call->name, i, (long long)q->before[i], (long long)q->after[i]);
    return TN_OK;
}

/* Find extent i of the result; false if it exceeds 2^63 - 1. */
static bool padded_extent(pad_request *q, const tn_tensor *src, int i)
{
    return tni_add(src->shape[i], q->before[i], &q->shape[i]) &&
           tni_add(q->shape[i], q->after[i], &q->shape[i]);
}

/* Find the shape of the result, and check that dst, if given, has it. */
static tn_status pad_shapes(const tni_call *call)
{
    pad_request *q = call->own;
    const tn_tensor *src = call->srcs[0];
    const tn_tensor *dst = call->flags & TNI_NO_DST ? NULL : call->dst;
    if (q->hw && src->ndim < 2)
        return tni_fail(TN_ESHAPE, "%s: src has %d axes, expected at least 2", call->name,
                        src->ndim);
    if (dst && dst->ndim != src->ndim)
        return tni_fail(TN_ESHAPE, "%s: dst has %d axes, src has %d", call->name, dst->ndim,
                        src->ndim);
    int large = -1;
    for (int i = 0; i < src->ndim; i++) {
        const long long b = q->before[i], n = src->shape[i], a = q->after[i];
        if (n == 0 && (a || b) && q->mode != TN_PAD_CONSTANT)
            return tni_fail(TN_ESHAPE,
                            "%s: axis %d has extent 0, only TN_PAD_CONSTANT can pad it",
                            call->name, i);
        if (!padded_extent(q, src, i))
            large = i;
        else if (dst && dst->shape[i] != q->shape[i])
            return tni_fail(TN_ESHAPE,
                            "%s: dst: axis %d has extent %lld, expected %lld + %lld + %lld",
                            call->name, i, (long long)dst->shape[i], b, n, a);
    }
    if (large >= 0)
        return tni_fail(TN_EOVERFLOW, "%s: axis %d: %lld + %lld + %lld exceeds 2^63 - 1",
                        call->name, large, (long long)q->before[large],
                        (long long)src->shape[large], (long long)q->after[large]);
    return TN_OK;
}

static tn_status pad_check(pad_request *q, const char *name, unsigned flags,
                           const tn_tensor *dst, const tn_tensor *src)
{
    return tni_check_call(
        &(tni_call){.name = name,
                    .flags = flags,
                    .dst = dst,
                    .n = 1,
                    .srcs = &src,
                    .nulls = pad_nulls,
                    .args = pad_args,
                    .dtypes = flags & TNI_NO_DST ? NULL : tni_call_same_dtypes,
                    .shapes = pad_shapes,
                    .own = q});
}

static void pad_once(const pad_request *q, const tn_tensor *dst, const tn_tensor *src,
                     const void *value)
{
    tni_pad pad;
    tni_pad_plan(&pad, dst, src, q->before, q->mode, value);
    tni_pad_run(&pad, dst->data, src->data);
}

static tn_status pad_into(pad_request *q, const char *name, const tn_tensor *dst,
                          const tn_tensor *src, const void *value)
{
    TRY(pad_check(q, name, 0, dst, src));
    pad_once(q, dst, src, value);
    return TN_OK;
}

static tn_status pad_copy(pad_request *q, const char *name, tn_tensor *out,
                          const tn_tensor *src, const void *value)
{
    int64_t bytes;
    if (!out)
        return tni_fail(TN_ENULL, "%s: out is NULL", name);
    TRY(pad_check(q, name, TNI_NO_DST, NULL, src));
    if (!tni_shape_size(src->ndim, q->shape, tni_width(src->dtype), &bytes))
        return tni_fail(TN_EOVERFLOW, "%s: the result exceeds 2^63 - 1 bytes", name);
    tn_tensor made;
    TRY(tni_alloc_dense(&made, src->dtype, src->ndim, q->shape, name));
    pad_once(q, &made, src, value);
    *out = made;
    return TN_OK;
}

static void pad_widths(pad_request *q, const int64_t *before, const int64_t *after,
                       tn_pad_mode mode)
{
    q->before = before;
    q->after = after;
    q->mode = mode;
    q->hw = false;
}

static void pad_hw(pad_request *q, int64_t padding)
{
    q->before = q->after = q->width;
    q->mode = TN_PAD_CONSTANT;
    q->hw = true;
    q->padding = padding;
}

tn_status tn_pad_into(const tn_tensor *dst, const tn_tensor *src, const int64_t *before,
                      const int64_t *after, tn_pad_mode mode, const void *value)
{
    pad_request q;
    pad_widths(&q, before, after, mode);
    return pad_into(&q, "pad_into", dst, src, value);
}

tn_status tn_pad_copy(tn_tensor *out, const tn_tensor *src, const int64_t *before,
                      const int64_t *after, tn_pad_mode mode, const void *value)
{
    pad_request q;
    pad_widths(&q, before, after, mode);
    return pad_copy(&q, "pad_copy", out, src, value);
}

/* ---- zeros around the last two axes ---- */

tn_status tn_pad_hw_copy(tn_tensor *out, const tn_tensor *src, int64_t padding)
{
    pad_request q;
    pad_hw(&q, padding);
    return pad_copy(&q, "pad_hw_copy", out, src, NULL);
}

tn_status tn_pad_hw_into(const tn_tensor *dst, const tn_tensor *src, int64_t padding)
{
    pad_request q;
    pad_hw(&q, padding);
    return pad_into(&q, "pad_hw_into", dst, src, NULL);
}

tn_status tn_pad_hw_inplace(tn_tensor *t, int64_t padding)
{
    pad_request q;
    tn_tensor made;
    pad_hw(&q, padding);
    TRY(tni_check_all(TNI_NULL | TNI_NDIM, "pad_hw_inplace", t, 0, NULL));
    TRY(pad_copy(&q, "pad_hw_inplace", &made, t, NULL));
    tn_free(t);
    *t = made;
    return TN_OK;
}

/* ---- plans ---- */

tn_status tn_plan_pad(tn_plan **plan, const tn_tensor *dst, const tn_tensor *src,
                      const int64_t *before, const int64_t *after, tn_pad_mode mode,
                      const void *value)
{
    pad_request q;
    if (!plan)
        return tni_fail(TN_ENULL, "plan_pad: plan is NULL");
    pad_widths(&q, before, after, mode);
    TRY(pad_check(&q, "plan_pad", TNI_NO_DATA, dst, src));
    tn_plan *p = tni_pad_new(dst, src, before, mode, value);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_pad: cannot allocate the plan");
    *plan = p;
    return TN_OK;
}
