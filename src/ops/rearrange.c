/* rearrange.c - copying between layouts: checks, then a plan that cannot fail. */
#include "copy_tensor.h"

static tn_status check_copy(const char *name, unsigned flags, const tn_tensor *dst,
                            const tn_tensor *src)
{
    return tni_check_call(&(tni_call){.name = name,
                                      .flags = flags,
                                      .dst = dst,
                                      .n = 1,
                                      .srcs = &src,
                                      .dtypes = tni_call_same_dtypes,
                                      .shapes = tni_call_same_shapes});
}

tn_status tn_rearrange(const tn_tensor *dst, const tn_tensor *src)
{
    TRY(check_copy("rearrange", TNI_ALLOW_ALIAS, dst, src));
    if (UNLIKELY(dst->data == src->data))
        return TN_OK; /* the same elements, or none */
    if (tni_copy_small(dst, src))
        return TN_OK;

    tni_copy_tensor(dst, src);
    return TN_OK;
}

tn_status tn_fill(const tn_tensor *dst, const void *value)
{
    TRY(tni_check_call(&(tni_call){.name = "fill", .dst = dst}));
    tni_splat(dst, value);
    return TN_OK;
}

tn_status tn_contiguous(tn_tensor *out, const tn_tensor *in)
{
    if (!out)
        return tni_fail(TN_ENULL, "contiguous: out is NULL");
    TRY(tni_check(in, "contiguous: in"));
    TRY(tni_check_data(in, "contiguous: in"));
    tn_tensor dense;
    TRY(tni_alloc_dense(&dense, in->dtype, in->ndim, in->shape, "contiguous"));
    tni_copy_tensor(&dense, in);
    *out = dense;
    return TN_OK;
}

/* ---- plans ---- */

tn_status tn_plan_rearrange(tn_plan **plan, const tn_tensor *dst, const tn_tensor *src)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_rearrange: plan is NULL");
    TRY(check_copy("plan_rearrange", TNI_NO_DATA, dst, src));
    tn_plan *p = tni_copy_new("rearrange", true, dst, src);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_rearrange: cannot allocate the plan");
    *plan = p;
    return TN_OK;
}

/* ---- the normal form as a public struct ---- */

tn_status tn_rearrange_meta(tn_meta *meta, const tn_tensor *dst, const tn_tensor *src)
{
    if (!meta)
        return tni_fail(TN_ENULL, "rearrange_meta: meta is NULL");
    TRY(check_copy("rearrange_meta", TNI_NO_DATA, dst, src));
    tni_nest nest;
    tni_nest_build(&nest, 2, (const tn_tensor *const[]){dst, src},
                   &(tni_nest_rules){.keep_signs = true});
    int64_t unit = tni_width(dst->dtype);
    if (nest.ndim && nest.axis[nest.ndim - 1].step[0] == unit &&
        nest.axis[nest.ndim - 1].step[1] == unit)
        unit *= nest.axis[--nest.ndim].n;
    meta->ndim = nest.empty ? 0 : nest.ndim;
    meta->unit = unit;
    meta->count = nest.empty ? 0 : 1;
    for (int i = meta->ndim - 1; i >= 0; i--) {
        meta->idx[i] = meta->count;
        meta->dst[i] = nest.axis[i].step[0];
        meta->src[i] = nest.axis[i].step[1];
        meta->count *= nest.axis[i].n;
    }
    return TN_OK;
}

tn_status tn_meta_distribute(tn_meta *out, const tn_meta *in, const int64_t *candidates, int n)
{
    if (!out || !in || (!candidates && n > 0))
        return tni_fail(TN_ENULL, "meta_distribute: %s is NULL",
                        !out  ? "out"
                        : !in ? "in"
                              : "candidates");
    if (in->ndim < 0 || in->ndim > TN_MAX_NDIM || in->unit <= 0 || in->count < 0)
        return tni_fail(TN_EARG,
                        "meta_distribute: in: got ndim %d, unit %lld, count %lld, expected [0, "
                        "%d], at least 1 and at least 0",
                        in->ndim, (long long)in->unit, (long long)in->count, TN_MAX_NDIM);
    int64_t best = 0;
    for (int i = 0; i < n; i++)
        if (candidates[i] > best && in->unit % candidates[i] == 0)
            best = candidates[i];
    if (best == 0)
        return tni_fail(TN_EARG, "meta_distribute: none of %d candidates divides the unit %lld",
                        n, (long long)in->unit);
    int64_t more = in->unit / best;
    if (more > 1 && in->ndim == TN_MAX_NDIM)
        return tni_fail(TN_EARG, "meta_distribute: out would have %d axes, expected at most %d",
                        in->ndim + 1, TN_MAX_NDIM);
    if (in->count > INT64_MAX / more)
        return tni_fail(TN_EOVERFLOW,
                        "meta_distribute: count: %lld times %lld exceeds 2^63 - 1",
                        (long long)in->count, (long long)more);
    int64_t scaled;
    for (int i = 0; i < in->ndim; i++)
        if (!tni_mul(in->idx[i], more, &scaled))
            return tni_fail(TN_EOVERFLOW,
                            "meta_distribute: idx[%d]: %lld times %lld exceeds 2^63 - 1", i,
                            (long long)in->idx[i], (long long)more);
    *out = *in;
    out->unit = best;
    out->count *= more;
    for (int i = 0; i < out->ndim; i++)
        out->idx[i] *= more;
    if (more > 1) {
        out->idx[out->ndim] = 1;
        out->dst[out->ndim] = out->src[out->ndim] = best;
        out->ndim++;
    }
    return TN_OK;
}
