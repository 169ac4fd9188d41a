/* copy_handle.c - a copy as a public plan; a copy of a tensor onto itself does nothing.
 *
 * The best way depends on where in a cache line dst begins: the public plan holds a plan for
 * aligned data and one for any other address. */
#include "copy_walk.h"
#include "plan/plan.h"

typedef struct copy_plan {
    tn_plan base;
    tni_copy aligned, other;
} copy_plan;

static void copy_plan_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    const copy_plan *p = (const copy_plan *)plan;
    const bool other = ((uintptr_t)dst + (uintptr_t)p->aligned.shift_d) % 64 != 0;
    if (LIKELY(dst != srcs[0]))
        tni_copy_run(other ? &p->other : &p->aligned, dst, srcs[0]);
}

static void copy_plan_facts(const tn_plan *plan, tn_facts *facts)
{
    const copy_plan *p = (const copy_plan *)plan;
    tni_copy_facts(&p->aligned, facts);
    if (p->other.way != p->aligned.way)
        tni_facts_add(facts, "or", "%s, where dst is not aligned to 64", p->other.way->name);
}

static const tni_plan_class copy_class = {"copy", sizeof(copy_plan), copy_plan_run,
                                          copy_plan_facts, NULL};

tn_plan *tni_copy_new(const char *call, bool allow_alias, const tn_tensor *dst,
                      const tn_tensor *src)
{
    tn_plan *p = tni_plan_new(&copy_class, call, allow_alias, 1, dst, &src);
    if (!p)
        return NULL;
    copy_plan *c = (copy_plan *)p;
    tni_copy_plan_at(&c->aligned, dst, src, 0);
    c->other = c->aligned;
    if (c->aligned.beyond)
        tni_copy_plan_at(&c->other, dst, src, 16); /* the alignment of malloc and NumPy */
    return p;
}

bool tni_copy_is(const tn_plan *plan)
{
    return plan->class == &copy_class;
}

void tni_copy_tune_plan(tn_plan *plan, char *dst, const char *const *srcs, double milliseconds)
{
    copy_plan *p = (copy_plan *)plan;
    const bool other = ((uintptr_t)dst + (uintptr_t)p->aligned.shift_d) % 64 != 0;
    tni_copy_tune(other ? &p->other : &p->aligned, &plan->ts[0], &plan->ts[1], dst, srcs[0],
                  milliseconds);
}
