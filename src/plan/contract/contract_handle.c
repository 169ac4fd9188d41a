/* contract_handle.c - contractions as public plans.
 *
 * A plan ends with its links, so each number of links has a class of its own. */
#include <stdio.h>

#include "contract_chain.h"

#include "blas/blas.h"
#include "plan/plan.h"
#include "view/view.h"

typedef struct contract_plan {
    tn_plan base;
    tni_chain chain;
    bool gemm;
    char text[112];
    tni_link link[];
} contract_plan;

static void contract_run(const tn_plan *plan, char *dst, const char *const *srcs,
                         char *workspace)
{
    tni_chain_run(&((const contract_plan *)plan)->chain, dst, srcs, workspace);
}

static void contract_facts(const tn_plan *plan, tn_facts *f)
{
    const contract_plan *p = (const contract_plan *)plan;
    if (p->text[0])
        tni_facts_add(f, "text", "%s", p->text);
    tni_contract_describe(&p->chain, f);
    for (int k = 0; k <= plan->nsrc; k++) {
        int64_t *bytes = k ? &f->read : &f->written;
        *bytes += tni_numel(&plan->ts[k]) * tni_width(plan->ts[k].dtype);
    }
}

#define CLASS(n)                                                                               \
    {                                                                                          \
        "contract", sizeof(contract_plan) + (n) * sizeof(tni_link), NULL, contract_facts,      \
            contract_run                                                                       \
    }
static const tni_plan_class classes[TNI_LINKS + 1] = {
    CLASS(0), CLASS(1), CLASS(2),  CLASS(3),  CLASS(4),  CLASS(5),  CLASS(6),  CLASS(7),
    CLASS(8), CLASS(9), CLASS(10), CLASS(11), CLASS(12), CLASS(13), CLASS(14), CLASS(15),
};

tn_plan *tni_contract_new(tni_chain **chain, const char *call, int length, const char *text,
                          int nsrc, const tn_tensor *dst, const tn_tensor *const *srcs)
{
    const bool gemm = !strcmp(call, "gemm");
    tn_plan *plan = tni_plan_new(&classes[length], call, gemm, nsrc, dst, srcs);
    if (!plan)
        return NULL;
    contract_plan *p = (contract_plan *)plan;
    p->gemm = gemm;
    p->chain = (tni_chain){.link = p->link};
    snprintf(p->text, sizeof p->text, "%s", text);
    plan->alias_from = 3;
    *chain = &p->chain;
    return plan;
}

void tni_contract_ready(tn_plan *plan)
{
    plan->workspace = ((const contract_plan *)plan)->chain.workspace;
}

const tni_chain *tni_contract_gemm(const tn_plan *plan)
{
    const bool ours = plan->class >= classes && plan->class <= &classes[TNI_LINKS];
    const contract_plan *p = (const contract_plan *)plan;
    return ours && p->gemm ? &p->chain : NULL;
}
