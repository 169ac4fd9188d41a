/* check_moves.c - the checks that the calls which copy views into views have in common. */
#include "check_moves.h"

tn_status tni_check_alike(const char *call, const tn_tensor *dst, int n,
                          const tn_tensor *const *srcs)
{
    TRY(tni_check_all(TNI_DEVICE | TNI_DTYPE, call, dst, n, srcs));
    for (int k = 0; k < n; k++)
        if (UNLIKELY(srcs[k]->dtype != dst->dtype))
            return tni_fail(TN_EDTYPE, "%s: dst is %s and src %d is %s", call,
                            tn_dtype_name(dst->dtype), k, tn_dtype_name(srcs[k]->dtype));
    return tni_check_all(TNI_SHAPE, call, dst, n, srcs);
}

static tn_status check_data(const char *call, const tn_tensor *t, const char *name)
{
    if (LIKELY(t->data) || tni_numel(t) == 0)
        return TN_OK;
    return tni_fail(TN_ENULL, "%s: %s has elements and its data is NULL", call, name);
}

tn_status tni_check_disjoint_all(const char *call, const tn_tensor *dst, int n,
                                 const tn_tensor *const *srcs)
{
    TRY(tni_check_all(TNI_SIZE, call, dst, n, srcs));
    TRY(tni_check_injective(dst, call));
    TRY(check_data(call, dst, "dst"));
    for (int k = 0; k < n; k++)
        TRY(check_data(call, srcs[k], "src"));
    for (int k = 0; k < n; k++)
        TRY(tni_check_disjoint(dst, srcs[k], false, call));
    return TN_OK;
}
