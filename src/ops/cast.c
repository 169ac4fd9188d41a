/* cast.c - conversion of every element, in one pass over any strides.
 *
 * Equal dtypes are a copy. */
#include "plan/plan.h"
#include "view/view.h"

static tn_status check_cast(const char *name, unsigned flags, const tn_tensor *dst,
                            const tn_tensor *src)
{
    return tni_check_call(&(tni_call){.name = name,
                                      .flags = flags,
                                      .dst = dst,
                                      .n = 1,
                                      .srcs = &src,
                                      .shapes = tni_call_same_shapes});
}

static bool plain_copy(const tn_tensor *dst, const tn_tensor *src)
{
    return dst->dtype == src->dtype && dst->dtype != TN_BOOL;
}

static tni_strips_how conversion(const tn_tensor *dst)
{
    tni_strips_how how = {.name = "cast", .cast = true};
    for (int k = 0; k < 2; k++)
        how.meet[k] = how.compute[k] = dst->dtype;
    return how;
}

tn_status tn_cast(const tn_tensor *dst, const tn_tensor *src)
{
    TRY(check_cast("cast", 0, dst, src));
    if (plain_copy(dst, src)) {
        tni_copy copy;
        tni_copy_plan(&copy, dst, src);
        tni_copy_run(&copy, dst->data, src->data);
        return TN_OK;
    }
    const tni_strips_how how = conversion(dst);
    tni_strips strips;
    tni_strips_plan(&strips, &how, 2, (const tn_tensor *const[]){dst, src});
    tni_strips_run(&strips, dst->data, (const char *const[]){src->data});
    return TN_OK;
}

/* ---- the same work again ---- */

tn_status tn_plan_cast(tn_plan **plan, const tn_tensor *dst, const tn_tensor *src)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_cast: plan is NULL");
    TRY(check_cast("plan_cast", TNI_NO_DATA, dst, src));
    const tni_strips_how how = conversion(dst);
    tn_plan *p = plain_copy(dst, src)
                     ? tni_copy_new("cast", false, dst, src)
                     : tni_strips_new("cast", false, &how, 1,
                                      (const tn_tensor *const[]){dst, src}, &src);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_cast: no memory for the plan");
    *plan = p;
    return TN_OK;
}
