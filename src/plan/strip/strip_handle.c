/* strip_handle.c - elementwise work as a public plan. */
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"

typedef struct strip_plan {
    tn_plan base;
    tni_strips strips;
    char list[96];     /* names of the steps */
    tni_instr instr[]; /* instructions of a strip; the text follows them */
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

/* List the names of the steps, "f32, div, sub", as far as there is space. */
static void strip_list(char *list, size_t size, const tni_program *p)
{
    size_t used = 0;
    list[0] = 0;
    for (int i = 0; i < p->nstep; i++) {
        const tni_strip_step *step = &p->step[i];
        const char *name = step->kind == TNI_STEP_CAST ? tn_dtype_name((tn_dtype)step->dtype)
                                                       : tni_ops[step->op].name;
        const bool fits = used + strlen(name) + sizeof ", , ..." <= size;
        used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "",
                                 fits ? name : "...");
        if (!fits)
            return;
    }
}

tn_plan *tni_strips_new(const char *call, bool allow_alias, const tni_program *p,
                        const tn_tensor *const *ts, const tn_tensor *const *srcs)
{
    tni_instr instr[TNI_MAX_INSTRS];
    tni_strips strips;
    tni_strips_plan(&strips, instr, p, ts);
    const int n = strips.nest.empty ? 0 : strips.ninstr;
    const size_t bytes = (size_t)n * sizeof *instr, more = bytes + p->text_size;
    const tni_plan_class *class = &strip_class;
    strip_plan *plan =
        (strip_plan *)tni_plan_new_more(class, more, call, allow_alias, p->nsrc, ts[0], srcs);
    if (!plan)
        return NULL;
    plan->strips = strips;
    plan->strips.instr = plan->instr;
    memcpy(plan->instr, instr, bytes);
    if (p->text) {
        plan->strips.text = memcpy((char *)plan->instr + bytes, p->text, p->text_size);
        plan->strips.list = plan->list;
        strip_list(plan->list, sizeof plan->list, p);
    }
    return &plan->base;
}
