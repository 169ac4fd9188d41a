/* histogram.c - counts of elements by value (bincount) or by bin (histogram). */
#include <math.h>

#include <tenon/index.h>

#include "index_check.h"
#include "plan/plan.h"
#include "view/view.h"

static tn_status bins_shapes(const tni_call *call)
{
    if (call->dst->ndim != 1)
        return tni_fail(TN_ESHAPE, "%s: dst: got %d axes, expected 1", call->name,
                        call->dst->ndim);
    return TN_OK;
}

static tn_status bins_dst(const tni_call *call)
{
    if (call->dst->dtype != TN_I64)
        return tni_fail(TN_EDTYPE, "%s: dst: got %s, expected i64", call->name,
                        tn_dtype_name(call->dst->dtype));
    return TN_OK;
}

static tn_status bincount_dtypes(const tni_call *call)
{
    TRY(bins_dst(call));
    if (!tni_is_integer(call->srcs[0]->dtype))
        return tni_fail(TN_EDTYPE, "bincount: src: got %s, expected an integer",
                        tn_dtype_name(call->srcs[0]->dtype));
    return TN_OK;
}

tn_status tn_bincount(const tn_tensor *dst, const tn_tensor *src)
{
    TRY(tni_check_call(&(tni_call){.name = "bincount",
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .dtypes = bincount_dtypes,
                                   .shapes = bins_shapes}));
    int64_t at = tni_count_outside(src, dst->shape[0]);
    if (at >= 0)
        return tni_fail_element("bincount", "element", src, at, 0, dst->shape[0]);
    tni_bincount_run(dst, src);
    return TN_OK;
}

static tn_status histogram_args(const tni_call *call)
{
    const double *range = call->own;
    if (!isfinite(range[0]) || !isfinite(range[1]) || !(range[0] < range[1]))
        return tni_fail(TN_EARG,
                        "histogram: low is %g and high is %g, expected finite low < high",
                        range[0], range[1]);
    if (call->dst->ndim == 1 && call->dst->shape[0] == 0)
        return tni_fail(TN_EARG, "histogram: dst: got no bins, expected at least one");
    return TN_OK;
}

static tn_status histogram_dtypes(const tni_call *call)
{
    TRY(bins_dst(call));
    if (tni_is_complex(call->srcs[0]->dtype))
        return tni_fail(TN_EDTYPE, "histogram: src: got %s, expected a real dtype",
                        tn_dtype_name(call->srcs[0]->dtype));
    return TN_OK;
}

tn_status tn_histogram(const tn_tensor *dst, const tn_tensor *src, double low, double high)
{
    double range[2] = {low, high};
    TRY(tni_check_call(&(tni_call){.name = "histogram",
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .args = histogram_args,
                                   .dtypes = histogram_dtypes,
                                   .shapes = bins_shapes,
                                   .own = range}));
    tni_histogram_run(dst, src, low, high);
    return TN_OK;
}
