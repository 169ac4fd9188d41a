/* map.c - an op of the user's own, on strips of any layout. */
#include "plan/plan.h"
#include "spread.h"
#include "view/view.h"

enum { MOST = TNI_MAX_OPERANDS - 1 };

static tn_status check_count(int nsrc)
{
    if (nsrc < 0 || nsrc > MOST)
        return tni_fail(TN_EARG, "map: nsrc is %d, not in [0, %d]", nsrc, MOST);
    return TN_OK;
}

tn_status tn_map(tn_strip_fn fn, void *user, const tn_tensor *dst, int nsrc,
                 const tn_tensor *const *srcs)
{
    if (!fn)
        return tni_fail(TN_ENULL, "map: fn is NULL");
    TRY(tni_check_all(TNI_NULL, "map", dst, nsrc < MOST ? nsrc : MOST, srcs));
    TRY(check_count(nsrc));
    TRY(tni_check_all(TNI_NDIM | TNI_DEVICE | TNI_DTYPE | TNI_SHAPE, "map", dst, nsrc, srcs));
    const tn_tensor *ts[TNI_MAX_OPERANDS];
    tn_tensor room[MOST];
    TRY(tni_broadcast_operands(ts, room, "map", dst, nsrc, srcs));
    TRY(tni_check_all(TNI_SIZE, "map", dst, nsrc, srcs));
    TRY(tni_check_injective(dst, "map"));
    if (tni_numel(dst) == 0)
        return TN_OK;
    TRY(tni_check_data(dst, "map: dst"));
    for (int k = 0; k < nsrc; k++)
        if (!srcs[k]->data)
            return tni_fail(TN_ENULL, "map: src %d has elements and its data is NULL", k);
    for (int k = 0; k < nsrc; k++)
        TRY(tni_check_disjoint(dst, srcs[k], true, "map"));

    tni_strips_how how = {.name = "map", .map = fn, .user = user};
    const char *at[MOST];
    for (int k = 0; k < nsrc; k++)
        at[k] = srcs[k]->data;
    for (int k = 0; k <= nsrc; k++)
        how.meet[k] = how.compute[k] = ts[k]->dtype;
    tni_strips strips;
    tni_strips_plan(&strips, &how, nsrc + 1, ts);
    tni_strips_run(&strips, dst->data, at);
    return TN_OK;
}
