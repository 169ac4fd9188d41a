/* pad_handle.c - a pad as a public plan. */
#include "plan/plan.h"

typedef struct pad_plan {
    tn_plan base;
    tni_pad pad;
} pad_plan;

static void pad_plan_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    tni_pad_run(&((const pad_plan *)plan)->pad, dst, srcs[0]);
}

static void pad_plan_facts(const tn_plan *plan, tn_facts *facts)
{
    tni_pad_facts(&((const pad_plan *)plan)->pad, facts);
}

static const tni_plan_class pad_class = {"pad", sizeof(pad_plan), pad_plan_run, pad_plan_facts,
                                         NULL};

tn_plan *tni_pad_new(const tn_tensor *dst, const tn_tensor *src, const int64_t *before,
                     tn_pad_mode mode, const void *value)
{
    tn_plan *p = tni_plan_new(&pad_class, "pad", false, 1, dst, &src);
    if (p)
        tni_pad_plan(&((pad_plan *)p)->pad, dst, src, before, mode, value);
    return p;
}
