/* fused_handle.c - fused reductions as a public plan, and the broadcasting of a value over
 * dst. */
#include <string.h>

#include "plan/plan.h"

void tni_fused_broadcast(const tn_tensor *dst, char *data, int ndim, const int64_t *shape)
{
    const int more = dst->ndim - ndim;
    tn_tensor to = *dst, from;
    to.data = data;
    for (int i = 0; i < dst->ndim; i++) /* `to` is the part of dst that is filled */
        to.shape[i] = i < more ? 1 : shape[i - more];
    for (int i = 0; i < dst->ndim; i++) {
        const int64_t n = dst->shape[i];
        if (to.shape[i] == n)
            continue;
        from = to;
        from.shape[i] = to.shape[i] = n - 1;
        from.stride[i] = 0;
        to.data = (char *)to.data + dst->stride[i];
        tni_copy copy;
        tni_copy_plan(&copy, &to, &from);
        tni_copy_run(&copy, to.data, from.data);
        to.data = data;
        to.shape[i] = n;
    }
}

typedef struct fused_plan {
    tn_plan base;
    tni_fused fused;
    int ndim; /* of the value that is broadcast over dst */
    int64_t shape[TN_MAX_NDIM];
    const char *text;
    tni_instr instr[]; /* the text follows */
} fused_plan;

static void fused_plan_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    const fused_plan *p = (const fused_plan *)plan;
    if (p->fused.outputs == 0)
        return;
    tni_fused_run(&p->fused, dst, srcs);
    tni_fused_broadcast(&plan->ts[0], dst, p->ndim, p->shape);
}

static void fused_plan_facts(const tn_plan *plan, tn_facts *f)
{
    const fused_plan *p = (const fused_plan *)plan;
    tni_facts_add(f, "text", "%s", p->text);
    tni_facts_add(f, "steps", "%d", p->fused.inside.steps + p->fused.around.steps);
    tni_fused_facts(&p->fused, f);
}

static const tni_plan_class fused_class = {"fused reductions", sizeof(fused_plan),
                                           fused_plan_run, fused_plan_facts, NULL};

tn_plan *tni_fused_new(const tni_fused *u, const char *text, const tn_tensor *dst, int nsrc,
                       const tn_tensor *const *srcs, int ndim, const int64_t *shape)
{
    const size_t n = (size_t)(u->inside.ninstr + u->around.ninstr) * sizeof(tni_instr);
    const size_t size = strlen(text) + 1;
    fused_plan *p =
        (fused_plan *)tni_plan_new_more(&fused_class, n + size, "eval", false, nsrc, dst, srcs);
    if (!p)
        return NULL;
    p->fused = *u;
    memcpy(p->instr, u->instr, n);
    p->fused.instr = p->fused.inside.instr = p->instr;
    p->fused.around.instr = p->instr + u->inside.ninstr;
    p->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        p->shape[i] = shape[i];
    p->text = memcpy((char *)p->instr + n, text, size);
    return &p->base;
}
