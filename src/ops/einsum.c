/* einsum.c - tn_einsum and its plan: checks, then a chain of products. */
#include "einsum.h"

#include "pattern.h"
#include "plan/plan.h"
#include "view/view.h"

/* The arguments of a call, and the results of its checks. */
typedef struct einsum_call {
    const char *spec;
    int n;
    const tn_tensor *const *srcs;
    tni_einsum e;
    tni_contraction *x;
    int ndim; /* axes of the result */
    int64_t shape[TN_MAX_NDIM];
} einsum_call;

static tn_status einsum_nulls(const tni_call *call)
{
    const einsum_call *c = call->own;
    if (!c->spec || !c->srcs)
        return tni_fail(TN_ENULL, "%s: %s is NULL", call->name, c->spec ? "srcs" : "spec");
    return TN_OK;
}

static tn_status einsum_args(const tni_call *call)
{
    einsum_call *c = call->own;
    if (c->n < 1 || c->n > TN_EINSUM_SOURCES)
        return tni_fail(TN_EARG, "%s: n is %d, expected 1 to %d", call->name, c->n,
                        TN_EINSUM_SOURCES);
    return tni_einsum_parse(&c->e, call->name, c->spec, c->n);
}

static tn_status einsum_dtypes(const tni_call *call)
{
    const einsum_call *c = call->own;
    return tni_contract_types(&c->x->compute, call->name, call->dst->dtype, call->n,
                              call->srcs);
}

static tn_status einsum_shapes(const tni_call *call)
{
    einsum_call *c = call->own;
    TRY(tni_einsum_fit(c->x, &c->e, call->name, call->srcs, &c->ndim, c->shape));
    return call->flags & TNI_NO_DST
               ? TN_OK
               : tni_check_shape(call->dst, c->ndim, c->shape, call->name, "dst");
}

static tn_status einsum_check_call(einsum_call *c, const char *name, unsigned flags,
                                   const tn_tensor *dst)
{
    const bool counted = c->n >= 1 && c->n <= TN_EINSUM_SOURCES && c->srcs;
    return tni_check_call(&(tni_call){.name = name,
                                      .flags = flags,
                                      .dst = dst,
                                      .n = counted ? c->n : 0,
                                      .srcs = c->srcs,
                                      .nulls = einsum_nulls,
                                      .args = einsum_args,
                                      .dtypes = flags & TNI_NO_DST ? NULL : einsum_dtypes,
                                      .shapes = einsum_shapes,
                                      .own = c});
}

tn_status tn_einsum_shape(const char *spec, int n, const tn_tensor *const *srcs, int *ndim,
                          int64_t *shape)
{
    const char *call = "einsum_shape";
    tni_contraction x;
    einsum_call c;
    int64_t size;
    if (!ndim || !shape)
        return tni_fail(TN_ENULL, "%s: %s is NULL", call, ndim ? "shape" : "ndim");
    c.spec = spec;
    c.n = n;
    c.srcs = srcs;
    c.x = &x;
    TRY(einsum_check_call(&c, call, TNI_NO_DST | TNI_NO_DATA, NULL));
    if (!tni_shape_size(c.ndim, c.shape, 1, &size))
        return tni_fail(TN_EOVERFLOW, "%s: the result has more than 2^63 - 1 elements", call);
    *ndim = c.ndim;
    for (int i = 0; i < c.ndim; i++)
        shape[i] = c.shape[i];
    return TN_OK;
}

/* Find the steps of dst from the right side of the text. */
static void einsum_dst(tni_contraction *x, const tni_einsum *e, const tn_tensor *dst)
{
    tni_term *t = &x->term[0];
    t->count = 0;
    t->dtype = dst->dtype;
    for (int i = 0; i < dst->ndim; i++) {
        if (dst->shape[i] == 1)
            continue;
        t->label[t->count] = (int16_t)tni_einsum_label(e, &e->term[0], dst->ndim, i);
        t->step[t->count++] = dst->stride[i];
    }
}

/* Make all checks; on success x is ready to be planned. */
static tn_status einsum_check(tni_contraction *x, const char *call, unsigned flags,
                              const tn_tensor *dst, const char *spec, int n,
                              const tn_tensor *const *srcs)
{
    einsum_call c;
    c.spec = spec;
    c.n = n;
    c.srcs = srcs;
    c.x = x;
    TRY(einsum_check_call(&c, call, flags, dst));
    einsum_dst(x, &c.e, dst);
    return TN_OK;
}

static tn_status einsum_too_large(const char *call)
{
    return tni_fail(TN_EOVERFLOW, "%s: an intermediate result exceeds 2^63 - 1 bytes", call);
}

static tn_status einsum_run(const tni_contraction *x, tni_link *links, const tn_tensor *dst,
                            int n, const tn_tensor *const *srcs)
{
    const char *at[TN_EINSUM_SOURCES];
    tni_chain chain = {.link = links};
    for (int k = 0; k < n; k++)
        at[k] = srcs[k]->data;
    if (!tni_chain_plan(&chain, x))
        return einsum_too_large("einsum");
    return tni_contract_run("einsum", &chain, dst->data, at);
}

tn_status tn_einsum(const tn_tensor *dst, const char *spec, int n, const tn_tensor *const *srcs)
{
    tni_contraction x;
    TRY(einsum_check(&x, "einsum", 0, dst, spec, n, srcs));
    if (tni_numel(dst) == 0)
        return TN_OK;
    const int length = tni_chain_length(&x);
    tni_link one;
    if (length == 1)
        return einsum_run(&x, &one, dst, n, srcs);
    tni_link *links = tni_alloc((size_t)length * sizeof *links);
    if (!links)
        return tni_fail(TN_ENOMEM, "einsum: cannot allocate the plan");
    const tn_status status = einsum_run(&x, links, dst, n, srcs);
    tni_free(links);
    return status;
}

tn_status tn_plan_einsum(tn_plan **plan, const tn_tensor *dst, const char *spec, int n,
                         const tn_tensor *const *srcs)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_einsum: plan is NULL");
    tni_contraction x;
    tni_chain *chain;
    TRY(einsum_check(&x, "plan_einsum", TNI_NO_DATA, dst, spec, n, srcs));
    tn_plan *p = tni_contract_new(&chain, "einsum", tni_chain_length(&x), tni_quoted(spec).text,
                                  n, dst, srcs);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_einsum: cannot allocate the plan");
    if (!tni_chain_plan(chain, &x)) {
        tn_plan_free(p);
        return einsum_too_large("plan_einsum");
    }
    tni_contract_ready(p);
    *plan = p;
    return TN_OK;
}
