/* plan_class.c - public plans of every class: made once, immutable, run by any thread. */
#include <string.h>

#include "plan.h"
#include "view/view.h"

tn_plan *tni_plan_new(const tni_plan_class *class, const char *call, bool allow_alias, int nsrc,
                      const tn_tensor *dst, const tn_tensor *const *srcs)
{
    ASSERT(class->size >= sizeof(tn_plan) && nsrc < TNI_MAX_OPERANDS);
    size_t head = (class->size + 63) & ~(size_t)63;
    tn_plan *plan = tni_alloc(head + (size_t)(nsrc + 1) * sizeof(tn_tensor));
    if (!plan)
        return NULL;
    *plan = (tn_plan){.class = class, .call = call, .allow_alias = allow_alias, .nsrc = nsrc};
    plan->ts = (tn_tensor *)(void *)((char *)plan + head);
    for (int k = 0; k <= nsrc; k++) {
        const tn_tensor *t = k ? srcs[k - 1] : dst;
        plan->ts[k] = *t;
        plan->ts[k].data = NULL;
        tni_extent(t, &plan->low[k], &plan->high[k]);
    }
    return plan;
}

/* Byte ranges meet: decide exactly, on the planned layouts with these addresses. */
static tn_status plan_disjoint(const tn_plan *plan, void *dst, const void *src, int k)
{
    tn_tensor d = plan->ts[0], s = plan->ts[k];
    d.data = dst;
    memcpy(&s.data, &src, sizeof src);
    return tni_check_disjoint(&d, &s, plan->allow_alias, plan->call);
}

tn_status tn_plan_run(const tn_plan *plan, void *dst, const void *const *srcs)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_run: plan is NULL");
    if (!srcs && plan->nsrc)
        return tni_fail(TN_ENULL, "plan_run: srcs is NULL and the plan has %d", plan->nsrc);
    if (plan->low[0] == plan->high[0])
        return TN_OK;
    if (!dst)
        return tni_fail(TN_ENULL, "plan_run: dst is NULL");
    for (int k = 1; k <= plan->nsrc; k++)
        if (!srcs[k - 1] && plan->low[k] != plan->high[k])
            return tni_fail(TN_ENULL, "plan_run: source %d is NULL", k - 1);
    uintptr_t d = (uintptr_t)dst;
    for (int k = 1; k <= plan->nsrc; k++) {
        uintptr_t s = (uintptr_t)srcs[k - 1];
        bool meet = d + (uintptr_t)plan->low[0] < s + (uintptr_t)plan->high[k] &&
                    s + (uintptr_t)plan->low[k] < d + (uintptr_t)plan->high[0];
        if (UNLIKELY(meet))
            TRY(plan_disjoint(plan, dst, srcs[k - 1], k));
    }
    plan->class->run(plan, dst, (const char *const *)(const void *)srcs);
    return TN_OK;
}

void tn_plan_free(tn_plan *plan)
{
    tni_free(plan);
}
