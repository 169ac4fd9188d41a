/* fold_handle.c - reductions as a public plan, and the facts of that plan. */
#include "fold_run.h"

void tni_fold_facts(const tni_fold *f, tn_facts *facts)
{
    const int64_t bytes =
        tni_mul_saturated(tni_mul_saturated(f->outputs, f->count ? f->count : 1), f->width);
    FACT(facts->way, "%s", f->outputs ? f->way->name : "nothing");
    if (f->outputs == 0)
        return;
    FACT(facts->why, "%s", f->why);
    if (f->stream)
        FACT(facts->stores, "whole lines from a buffer, streamed");
    facts->read = f->count ? bytes : 0;
    facts->written = f->outputs * tni_width(f->dst);
    facts->buffer = (int64_t)sizeof(tni_fold_scratch);
    facts->threads = tni_plan_parts(bytes, INT64_MAX);
    tni_facts_add(facts, "state", "%s, %d words", f->class->name, f->class->words);
    tni_facts_add(facts, "results", "%lld of %lld elements each", (long long)f->outputs,
                  (long long)f->count);
    if (f->count)
        tni_facts_add(facts, "blocks", "%lld of %d elements",
                      (long long)tni_ceil_div(f->count, TNI_TREE_BLOCK), TNI_TREE_BLOCK);
    if (f->strip)
        tni_facts_add(facts, "strips", "of %lld columns%s", (long long)f->strip,
                      f->joined ? ", rows joined" : "");
}

typedef struct fold_plan {
    tn_plan base;
    tni_fold fold;
} fold_plan;

static void fold_plan_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    tni_fold_run(&((const fold_plan *)plan)->fold, dst, srcs);
}

static void fold_plan_facts(const tn_plan *plan, tn_facts *facts)
{
    tni_fold_facts(&((const fold_plan *)plan)->fold, facts);
}

static const tni_plan_class fold_class = {"reduce", sizeof(fold_plan), fold_plan_run,
                                          fold_plan_facts, NULL};

tn_plan *tni_fold_new(const tni_fold *f, const char *call, const tn_tensor *dst,
                      const tn_tensor *src)
{
    tn_plan *p = tni_plan_new(&fold_class, call, false, 1, dst, &src);
    if (p)
        ((fold_plan *)p)->fold = *f;
    return p;
}

const tni_fold *tni_fold_of(const tn_plan *plan)
{
    return &((const fold_plan *)plan)->fold;
}
