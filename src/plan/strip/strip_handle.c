/* strip_handle.c - elementwise work as a public plan. */
#include "plan/plan.h"

typedef struct strip_plan {
    tn_plan base;
    tni_strips strips;
} strip_plan;

static void strip_plan_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    tni_strips_run(&((const strip_plan *)plan)->strips, dst, srcs);
}

static void strip_plan_facts(const tn_plan *plan, tn_facts *facts)
{
    tni_strips_facts(&((const strip_plan *)plan)->strips, facts);
}

static const tni_plan_class strip_class = {"elementwise", sizeof(strip_plan), strip_plan_run,
                                           strip_plan_facts, NULL};

tn_plan *tni_strips_new(const char *call, bool allow_alias, const tni_strips_how *how, int nsrc,
                        const tn_tensor *const *ts, const tn_tensor *const *srcs)
{
    tn_plan *p = tni_plan_new(&strip_class, call, allow_alias, nsrc, ts[0], srcs);
    if (p)
        tni_strips_plan(&((strip_plan *)p)->strips, how, nsrc + 1, ts);
    return p;
}
