/* plan_class.c - public plans of every class: made once, immutable, run by any thread. */
#include <stdio.h>
#include <string.h>

#include "plan.h"
#include "view/view.h"

tn_plan *tni_plan_new(const tni_plan_class *class, const char *call, bool allow_alias, int nsrc,
                      const tn_tensor *dst, const tn_tensor *const *srcs)
{
    return tni_plan_new_more(class, 0, call, allow_alias, nsrc, dst, srcs);
}

tn_plan *tni_plan_new_more(const tni_plan_class *class, size_t more, const char *call,
                           bool allow_alias, int nsrc, const tn_tensor *dst,
                           const tn_tensor *const *srcs)
{
    ASSERT(class->size >= sizeof(tn_plan) && nsrc < TNI_MAX_OPERANDS);
    size_t head = (class->size + more + 63) & ~(size_t)63;
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
        plan->same |= (uint32_t)tni_same(&plan->ts[0], &plan->ts[k]) << k;
    }
    return plan;
}

/* The byte ranges intersect: decide exactly whether the planned layouts overlap at these
 * addresses. */
static tn_status plan_disjoint(const tn_plan *plan, void *dst, const void *src, int k,
                               const char *call)
{
    const bool allowed = plan->allow_alias && k >= plan->alias_from;
    if (allowed && dst == src && plan->same >> k & 1)
        return TN_OK;
    tn_tensor d = plan->ts[0], s = plan->ts[k];
    d.data = dst;
    memcpy(&s.data, &src, sizeof src);
    const tni_overlap found = tni_find_overlap(&d, &s, allowed);
    if (found == TNI_DISJOINT)
        return TN_OK;
    char who[TNI_WHO] = "src";
    if (plan->nsrc > 1)
        snprintf(who, sizeof who, "src %d", k - 1);
    return tni_fail_overlap(found, call, "dst", who);
}

tn_status tni_plan_check_some(const tn_plan *plan, int nsrc, void *dst, const void *const *srcs,
                              const char *call)
{
    if (!srcs && nsrc)
        return tni_fail(TN_ENULL, "%s: srcs is NULL, expected %d entries", call, nsrc);
    if (plan->low[0] == plan->high[0])
        return TN_OK;
    if (!dst)
        return tni_fail(TN_ENULL, "%s: dst is NULL", call);
    for (int k = 1; k <= nsrc; k++)
        if (!srcs[k - 1] && plan->low[k] != plan->high[k])
            return tni_fail(TN_ENULL, "%s: src %d is NULL", call, k - 1);
    uintptr_t d = (uintptr_t)dst;
    for (int k = 1; k <= nsrc; k++) {
        uintptr_t s = (uintptr_t)srcs[k - 1];
        bool overlaps = d + (uintptr_t)plan->low[0] < s + (uintptr_t)plan->high[k] &&
                        s + (uintptr_t)plan->low[k] < d + (uintptr_t)plan->high[0];
        if (UNLIKELY(overlaps))
            TRY(plan_disjoint(plan, dst, srcs[k - 1], k, call));
    }
    return TN_OK;
}

tn_status tni_plan_check(const tn_plan *plan, void *dst, const void *const *srcs,
                         const char *call)
{
    return tni_plan_check_some(plan, plan->nsrc, dst, srcs, call);
}

tn_status tni_plan_check_workspace(const tn_plan *plan, const void *workspace, size_t size,
                                   const char *call)
{
    if (!workspace && plan->workspace)
        return tni_fail(TN_ENULL, "%s: workspace is NULL and the plan needs %zu bytes", call,
                        plan->workspace);
    if (size < plan->workspace)
        return tni_fail(TN_EARG, "%s: workspace has %zu bytes, the plan needs %zu", call, size,
                        plan->workspace);
    if (plan->workspace && (uintptr_t)workspace % 64)
        return tni_fail(TN_EARG, "%s: workspace is not aligned to 64 bytes", call);
    return TN_OK;
}

static void plan_start(const tn_plan *plan, void *dst, const void *const *srcs, void *workspace)
{
    const char *const *at = (const char *const *)(const void *)srcs;
    if (plan->low[0] == plan->high[0])
        return;
    if (plan->class->run_in)
        plan->class->run_in(plan, dst, at, workspace);
    else
        plan->class->run(plan, dst, at);
}

tn_status tn_plan_run(const tn_plan *plan, void *dst, const void *const *srcs)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_run: plan is NULL");
    TRY(tni_plan_check(plan, dst, srcs, "plan_run"));
    if (LIKELY(!plan->workspace)) {
        plan_start(plan, dst, srcs, NULL);
        return TN_OK;
    }
    void *workspace = tni_alloc(plan->workspace);
    if (!workspace)
        return tni_fail(TN_ENOMEM, "plan_run: cannot allocate a workspace of %zu bytes",
                        plan->workspace);
    plan_start(plan, dst, srcs, workspace);
    tni_free(workspace);
    return TN_OK;
}

size_t tn_plan_workspace(const tn_plan *plan)
{
    return plan ? plan->workspace : 0;
}

tn_status tn_plan_run_in(const tn_plan *plan, void *dst, const void *const *srcs,
                         void *workspace, size_t size)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_run_in: plan is NULL");
    TRY(tni_plan_check_workspace(plan, workspace, size, "plan_run_in"));
    TRY(tni_plan_check(plan, dst, srcs, "plan_run_in"));
    plan_start(plan, dst, srcs, workspace);
    return TN_OK;
}

/* A copy is planned again.  Any other plan has nothing to choose and is immutable: the result
 * is the same plan with one more reference. */
tn_status tn_plan_tuned(tn_plan **out, const tn_plan *plan, void *dst, const void *const *srcs,
                        double milliseconds)
{
    if (!out || !plan)
        return tni_fail(TN_ENULL, "plan_tuned: %s is NULL", out ? "plan" : "out");
    if (!(milliseconds >= 0))
        return tni_fail(TN_EARG, "plan_tuned: milliseconds is %g, expected 0 or more",
                        milliseconds);
    TRY(tni_plan_check(plan, dst, srcs, "plan_tuned"));
    tn_plan *p;
    if (tni_copy_is(plan)) {
        p = tni_copy_new(plan->call, plan->allow_alias, &plan->ts[0], &plan->ts[1]);
        if (!p)
            return tni_fail(TN_ENOMEM, "plan_tuned: cannot allocate the plan");
        if (plan->low[0] != plan->high[0] && dst != srcs[0])
            tni_copy_tune_plan(p, dst, (const char *const *)(const void *)srcs, milliseconds);
    } else {
        memcpy(&p, &plan, sizeof p);
        __atomic_fetch_add(&p->holders, 1, __ATOMIC_RELAXED);
    }
    *out = p;
    return TN_OK;
}

void tn_plan_free(tn_plan *plan)
{
    if (plan && __atomic_fetch_sub(&plan->holders, 1, __ATOMIC_ACQ_REL) == 0)
        tni_free(plan);
}
