/* strip_handle.c - elementwise work as a public plan. */
#include <string.h>

#include "plan/plan.h"

typedef struct strip_plan {
    tn_plan base;
    tni_strips strips;
    tni_instr instr[]; /* of strips */
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

tn_plan *tni_strips_new(const char *call, bool allow_alias, const tni_program *p,
                        const tn_tensor *const *ts, const tn_tensor *const *srcs)
{
    tni_instr instr[TNI_MAX_INSTRS];
    tni_strips strips;
    tni_strips_plan(&strips, instr, p, ts);
    const int n = strips.nest.empty ? 0 : strips.ninstr;
    const size_t more = (size_t)n * sizeof *instr;
    const tni_plan_class *class = &strip_class;
    strip_plan *plan =
        (strip_plan *)tni_plan_new_more(class, more, call, allow_alias, p->nsrc, ts[0], srcs);
    if (!plan)
        return NULL;
    plan->strips = strips;
    plan->strips.instr = plan->instr;
    memcpy(plan->instr, instr, more);
    return &plan->base;
}
