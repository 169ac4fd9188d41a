/* copy_handle.c - a copy as a public plan; a copy onto itself has nothing to do. */
#include "plan/plan.h"

typedef struct copy_plan {
    tn_plan base;
    tni_copy copy;
} copy_plan;

static void copy_plan_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    if (LIKELY(dst != srcs[0]))
        tni_copy_run(&((const copy_plan *)plan)->copy, dst, srcs[0]);
}

static void copy_plan_facts(const tn_plan *plan, tn_facts *facts)
{
    tni_copy_facts(&((const copy_plan *)plan)->copy, facts);
}

static const tni_plan_class copy_class = {"copy", sizeof(copy_plan), copy_plan_run,
                                          copy_plan_facts, NULL};

tn_plan *tni_copy_new(const char *call, bool allow_alias, const tn_tensor *dst,
                      const tn_tensor *src)
{
    tn_plan *p = tni_plan_new(&copy_class, call, allow_alias, 1, dst, &src);
    if (p)
        tni_copy_plan(&((copy_plan *)p)->copy, dst, src);
    return p;
}
