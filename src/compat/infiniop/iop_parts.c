/* iop_parts.c - operators of several plans, each of which writes a part of the output.
 *
 * All operands are checked before the first plan runs; the plans cannot fail. */
#include "iop.h"

#include <string.h>

static const char anchor; /* the address from which views are measured */

tn_tensor tni_iop_anchored(const tn_tensor *t)
{
    tn_tensor a = *t;
    const void *at = &anchor;
    memcpy(&a.data, &at, sizeof at);
    return a;
}

static int64_t measured(const tn_tensor *view)
{
    return (int64_t)((uintptr_t)view->data - (uintptr_t)&anchor);
}

static const void *offset_by(const void *p, int64_t bytes)
{
    return (const void *)((uintptr_t)p + (uintptr_t)bytes);
}

/* Check everything, then run all parts, which cannot fail. */
static tn_status run_parts(const tni_iop *iop, void *dst, const void *const *srcs)
{
    const tni_iop_parted *p = (const tni_iop_parted *)iop;
    const char *name = tni_iop_rows[iop->name].name;
    tn_tensor y = p->ts[0];
    if (tni_numel(&y) == 0)
        return TN_OK;
    y.data = dst;
    TRY(tni_check_data(&y, name));
    for (size_t k = 0; k < p->nsrc; k++) {
        tn_tensor x = p->ts[k + 1];
        memcpy(&x.data, &srcs[k], sizeof x.data);
        TRY(tni_check_data(&x, name));
        TRY(tni_check_disjoint(&y, &x, false, name, (const char *const[]){"y", "x"}));
    }
    for (size_t i = 0; i < iop->nparts; i++) {
        const tni_iop_part *part = &iop->parts[i];
        const void *src = srcs[part->src];
        src = src ? offset_by(src, part->src_at) : &anchor;
        TRY(tn_plan_run(part->plan, tni_offset(dst, part->dst_at), &src));
    }
    return TN_OK;
}

tn_status tni_iop_make_parted(tni_iop_parted **made, const tni_iop_request *q, tni_iop_tensor y,
                              size_t nsrc, const tni_iop_tensor *xs, size_t nparts)
{
    const size_t most = PTRDIFF_MAX / 2 / (sizeof(tn_tensor) + sizeof(tni_iop_part));
    if (nsrc >= most || nparts >= most)
        return tni_fail(TN_ENOMEM, "%s: cannot allocate memory for %zu parts",
                        tni_iop_rows[q->name].name, nparts);
    const size_t tensors = (nsrc + 1) * sizeof(tn_tensor);
    tni_iop *iop;
    TRY(tni_iop_make(&iop, q, sizeof(tni_iop_parted) + tensors + nparts * sizeof(tni_iop_part),
                     NULL));
    tni_iop_parted *p = (tni_iop_parted *)iop;
    iop->run = run_parts;
    p->nsrc = nsrc;
    p->ts = (tn_tensor *)(p + 1);
    iop->parts = (tni_iop_part *)(void *)(p->ts + nsrc + 1);
    p->ts[0] = y->t;
    for (size_t k = 0; k < nsrc; k++)
        p->ts[k + 1] = xs[k]->t;
    *made = p;
    return TN_OK;
}

tn_status tni_iop_add_part(tni_iop_parted *p, const tn_tensor *dst, size_t k,
                           const tn_tensor *src, const int64_t *before, const int64_t *after)
{
    tni_iop_part *part = &p->head.parts[p->head.nparts];
    TRY(tn_plan_pad(&part->plan, dst, src, before, after, TN_PAD_CONSTANT, NULL));
    part->src = k;
    part->dst_at = measured(dst);
    part->src_at = measured(src);
    p->head.nparts++;
    return TN_OK;
}

tn_status tni_iop_give(const tni_iop_request *q, tni_iop_parted *p, tn_status status)
{
    if (status == TN_OK)
        *q->out = &p->head.base;
    else
        tni_iop_free(&p->head);
    return status;
}
