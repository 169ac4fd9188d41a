/* cast.c - conversion of every element, in one pass over any strides.
 *
 * Between equal dtypes it is a copy. */
#include "copy_tensor.h"

static bool is_copy(const tn_tensor *dst, const tn_tensor *src)
{
    return dst->dtype == src->dtype && dst->dtype != TN_BOOL;
}

static tn_status check_cast(const char *name, unsigned flags, const tn_tensor *dst,
                            const tn_tensor *src)
{
    const tn_status status = tni_check_call(&(tni_call){.name = name,
                                                        .flags = flags,
                                                        .dst = dst,
                                                        .n = 1,
                                                        .srcs = &src,
                                                        .shapes = tni_call_same_shapes});
    if (status == TN_EOVERLAP && is_copy(dst, src))
        return tni_fail(status,
                        "%s: dst: shares bytes with src, and both are %s; "
                        "tn_rearrange copies between equal dtypes, also from dst itself",
                        name, tn_dtype_name(dst->dtype));
    return status;
}

tn_status tn_cast(const tn_tensor *dst, const tn_tensor *src)
{
    TRY(check_cast("cast", 0, dst, src));
    if (is_copy(dst, src))
        tni_copy_tensor(dst, src);
    else
        tni_strips_cast(dst, dst->data, src, src->data);
    return TN_OK;
}

/* ---- plans ---- */

tn_status tn_plan_cast(tn_plan **plan, const tn_tensor *dst, const tn_tensor *src)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_cast: plan is NULL");
    TRY(check_cast("plan_cast", TNI_NO_DATA, dst, src));
    const tni_strip_step step = tni_cast_step(dst->dtype);
    const tni_program program = tni_cast_program(&step);
    tn_plan *p = is_copy(dst, src) ? tni_copy_new("cast", false, dst, src)
                                   : tni_strips_new("cast", false, &program,
                                                    (const tn_tensor *const[]){dst, src}, &src);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_cast: cannot allocate the plan");
    *plan = p;
    return TN_OK;
}
