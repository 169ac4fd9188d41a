/* mask.c - selection of elements by a mask, and the indices of nonzero elements. */
#include <tenon/index.h>

#include "plan/plan.h"
#include "view/view.h"

/* Broadcast mask to the shape of t. */
static tn_status fit_mask(tn_tensor *out, const char *call, const char *operand,
                          const tn_tensor *t, const tn_tensor *mask)
{
    if (tn_broadcast_to(out, mask, t->ndim, t->shape) != TN_OK)
        return tni_fail(TN_ESHAPE, "%s: mask does not broadcast to the shape of %s", call,
                        operand);
    return TN_OK;
}

static const char *const mask_names[] = {"dst", "src", "mask"};

static tn_status fail_count(const char *call, const char *who, int64_t got, int64_t want)
{
    return tni_fail(TN_ESHAPE, "%s: %s: got %lld elements, expected %lld", call, who,
                    (long long)got, (long long)want);
}

static tn_status one_axis(const char *call, const char *who, const tn_tensor *t)
{
    if (t->ndim != 1)
        return tni_fail(TN_ESHAPE, "%s: %s: got %d axes, expected 1", call, who, t->ndim);
    return TN_OK;
}

/* dst and the first source have the same dtype; the mask has any. */
static tn_status mask_dtypes(const tni_call *call)
{
    if (call->dst->dtype != call->srcs[0]->dtype)
        return tni_fail(TN_EDTYPE, "%s: dst is %s and src is %s, expected equal dtypes",
                        call->name, tn_dtype_name(call->dst->dtype),
                        tn_dtype_name(call->srcs[0]->dtype));
    return TN_OK;
}

static tn_status select_shapes(const tni_call *call)
{
    if (!(call->flags & TNI_NO_DST))
        TRY(one_axis(call->name, "dst", call->dst));
    return fit_mask(call->own, call->name, "src", call->srcs[0], call->srcs[1]);
}

tn_status tn_masked_select(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *mask)
{
    tn_tensor wide;
    tni_mask_counts counts;
    TRY(tni_check_call(&(tni_call){.name = "masked_select",
                                   .dst = dst,
                                   .n = 2,
                                   .srcs = (const tn_tensor *const[]){src, mask},
                                   .names = mask_names,
                                   .dtypes = mask_dtypes,
                                   .shapes = select_shapes,
                                   .own = &wide}));
    const int64_t count = tni_mask_count(&counts, &wide);
    if (dst->shape[0] != count)
        return fail_count("masked_select", "dst", dst->shape[0], count);
    tni_mask_select(&counts, dst, src, &wide);
    return TN_OK;
}

tn_status tn_masked_select_copy(tn_tensor *out, const tn_tensor *src, const tn_tensor *mask)
{
    const char *call = "masked_select_copy";
    tn_tensor wide, made;
    tni_mask_counts counts;
    if (!out)
        return tni_fail(TN_ENULL, "%s: out is NULL", call);
    TRY(tni_check_call(&(tni_call){.name = call,
                                   .flags = TNI_NO_DST,
                                   .n = 2,
                                   .srcs = (const tn_tensor *const[]){src, mask},
                                   .names = mask_names,
                                   .shapes = select_shapes,
                                   .own = &wide}));
    const int64_t count = tni_mask_count(&counts, &wide);
    TRY(tni_alloc_dense(&made, src->dtype, 1, &count, call));
    tni_mask_select(&counts, &made, src, &wide);
    *out = made;
    return TN_OK;
}

static tn_status put_shapes(const tni_call *call)
{
    if (call->srcs[0]->ndim > 1)
        TRY(one_axis(call->name, "src", call->srcs[0]));
    return fit_mask(call->own, call->name, "dst", call->dst, call->srcs[1]);
}

tn_status tn_masked_put(const tn_tensor *dst, const tn_tensor *mask, const tn_tensor *src)
{
    tn_tensor wide;
    tni_mask_counts counts;
    TRY(tni_check_call(&(tni_call){.name = "masked_put",
                                   .dst = dst,
                                   .n = 2,
                                   .srcs = (const tn_tensor *const[]){src, mask},
                                   .names = mask_names,
                                   .dtypes = mask_dtypes,
                                   .shapes = put_shapes,
                                   .own = &wide}));
    const int64_t count = tni_mask_count(&counts, &wide);
    if (src->ndim == 1 && src->shape[0] != count)
        return fail_count("masked_put", "src", src->shape[0], count);
    tni_mask_put(&counts, dst, &wide, src);
    return TN_OK;
}

/* ---- indices of nonzero elements ---- */

static tn_status nonzero_dtypes(const tni_call *call)
{
    if (call->dst->dtype != TN_I64)
        return tni_fail(TN_EDTYPE, "nonzero: dst: got %s, expected i64",
                        tn_dtype_name(call->dst->dtype));
    return TN_OK;
}

static tn_status nonzero_shapes(const tni_call *call)
{
    const tn_tensor *dst = call->dst;
    if (dst->ndim != 2)
        return tni_fail(TN_ESHAPE, "nonzero: dst: got %d axes, expected 2", dst->ndim);
    if (dst->shape[1] != call->srcs[0]->ndim)
        return tni_fail(TN_ESHAPE, "nonzero: dst: axis 1: got extent %lld, expected %d",
                        (long long)dst->shape[1], call->srcs[0]->ndim);
    return TN_OK;
}

tn_status tn_nonzero(const tn_tensor *dst, const tn_tensor *src)
{
    tni_mask_counts counts;
    TRY(tni_check_call(&(tni_call){.name = "nonzero",
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .dtypes = nonzero_dtypes,
                                   .shapes = nonzero_shapes}));
    const int64_t count = tni_mask_count(&counts, src);
    if (dst->shape[0] != count)
        return fail_count("nonzero", "dst", dst->shape[0], count);
    tni_mask_indices(&counts, dst, src);
    return TN_OK;
}

tn_status tn_nonzero_copy(tn_tensor *out, const tn_tensor *src)
{
    tn_tensor made;
    tni_mask_counts counts;
    if (!out)
        return tni_fail(TN_ENULL, "nonzero_copy: out is NULL");
    TRY(tni_check(src, "nonzero_copy: src"));
    TRY(tni_check_data(src, "nonzero_copy: src"));
    TRY(tni_alloc_dense(&made, TN_I64, 2,
                        (const int64_t[]){tni_mask_count(&counts, src), src->ndim},
                        "nonzero_copy"));
    tni_mask_indices(&counts, &made, src);
    *out = made;
    return TN_OK;
}
