/* strip_handle.c - elementwise work as a public plan. */
#include "plan/plan.h"

typedef struct strip_plan {
    tn_plan base;
    tni_strips strips;
} strip_plan;

static void run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    tni_strips_run(&((const strip_plan *)plan)->strips, dst, srcs);
}

static void explain(const tn_plan *plan, tni_text *text)
{
    tni_strips_explain(&((const strip_plan *)plan)->strips, &plan->ts[0], text);
}

tn_plan *tni_strips_box(const char *call, bool allow_alias, const tni_strips_how *how, int nsrc,
                        const tn_tensor *const *ts, const tn_tensor *const *srcs)
{
    tn_plan *p = tni_box(sizeof(strip_plan), call, allow_alias, nsrc, ts[0], srcs);
    if (!p)
        return NULL;
    p->run = run;
    p->explain = explain;
    tni_strips_plan(&((strip_plan *)p)->strips, how, nsrc + 1, ts);
    return p;
}
