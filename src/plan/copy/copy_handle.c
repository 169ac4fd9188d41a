/* copy_handle.c - a copy as a public plan; a copy onto itself has nothing to do. */
#include "plan/plan.h"

typedef struct copy_plan {
    tn_plan base;
    tni_copy copy;
} copy_plan;

static void run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    if (LIKELY(dst != srcs[0]))
        tni_copy_run(&((const copy_plan *)plan)->copy, dst, srcs[0]);
}

static void explain(const tn_plan *plan, tni_text *text)
{
    tni_copy_explain(&((const copy_plan *)plan)->copy, &plan->ts[0], text);
}

tn_plan *tni_copy_box(const char *call, bool allow_alias, const tn_tensor *dst,
                      const tn_tensor *src)
{
    tn_plan *p = tni_box(sizeof(copy_plan), call, allow_alias, 1, dst, &src);
    if (!p)
        return NULL;
    p->run = run;
    p->explain = explain;
    tni_copy_plan(&((copy_plan *)p)->copy, dst, src);
    return p;
}
