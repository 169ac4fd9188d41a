/* einsum.c - tn_einsum and its plan: checks, then a chain of products. */
#include "einsum.h"

#include "pattern.h"
#include "plan/plan.h"
#include "view/view.h"

/* Pointers, counts, the text: what needs no tensor's shape. */
static tn_status einsum_check_text(tni_einsum *e, const char *call, const tn_tensor *dst,
                                   bool with_dst, const char *spec, int n,
                                   const tn_tensor *const *srcs)
{
    const int seen = n < 0 || n > TN_EINSUM_SOURCES ? 0 : n;
    if ((with_dst && !dst) || !spec || !srcs)
        return tni_fail(TN_ENULL, "%s: %s is NULL", call,
                        with_dst && !dst ? "dst"
                        : !spec          ? "spec"
                                         : "srcs");
    for (int k = 0; k < seen; k++)
        if (!srcs[k])
            return tni_fail(TN_ENULL, "%s: src %d is NULL", call, k);
    if (n < 1 || n > TN_EINSUM_SOURCES)
        return tni_fail(TN_EARG, "%s: n is %d, expected 1 to %d", call, n, TN_EINSUM_SOURCES);
    TRY(with_dst ? tni_check_all(TNI_NDIM, call, dst, n, srcs)
                 : tni_check_srcs(TNI_NDIM, call, n, srcs));
    return tni_einsum_parse(e, call, spec, n);
}

/* The result's size fits. */
static tn_status einsum_check_size(const char *call, tn_dtype dtype, int ndim,
                                   const int64_t *shape)
{
    int64_t size;
    if (!tni_shape_size(ndim, shape, tni_width(dtype), &size))
        return tni_fail(TN_EOVERFLOW, "%s: the result has more than 2^63 - 1 bytes", call);
    return TN_OK;
}

tn_status tn_einsum_shape(const char *spec, int n, const tn_tensor *const *srcs, int *ndim,
                          int64_t *shape)
{
    const char *call = "einsum_shape";
    tni_einsum e;
    tni_contraction x;
    int64_t found[TN_MAX_NDIM];
    int count;
    if (!ndim || !shape)
        return tni_fail(TN_ENULL, "%s: %s is NULL", call, ndim ? "shape" : "ndim");
    TRY(einsum_check_text(&e, call, NULL, false, spec, n, srcs));
    TRY(tni_check_srcs(TNI_DEVICE | TNI_DTYPE | TNI_SHAPE, call, n, srcs));
    TRY(tni_einsum_fit(&x, &e, call, srcs, &count, found));
    TRY(tni_check_srcs(TNI_SIZE, call, n, srcs));
    TRY(einsum_check_size(call, TN_BOOL, count, found));
    *ndim = count;
    for (int i = 0; i < count; i++)
        shape[i] = found[i];
    return TN_OK;
}

static tn_status einsum_check_shape(const char *call, const tn_tensor *dst, int ndim,
                                    const int64_t *shape)
{
    if (dst->ndim != ndim)
        return tni_fail(TN_ESHAPE, "%s: dst has %d axes, expected %d", call, dst->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        if (dst->shape[i] != shape[i])
            return tni_fail(TN_ESHAPE, "%s: dst: axis %d has extent %lld, expected %lld", call,
                            i, (long long)dst->shape[i], (long long)shape[i]);
    return TN_OK;
}

/* Steps of dst, by the right side. */
static void einsum_dst(tni_contraction *x, const tni_einsum *e, const tn_tensor *dst)
{
    tni_term *t = &x->term[0];
    const tni_einsum_term *right = &e->term[0];
    const int more = dst->ndim - right->n;
    t->count = 0;
    t->dtype = dst->dtype;
    for (int i = 0; i < dst->ndim; i++) {
        const bool dots = right->ellipsis >= 0 && i >= right->ellipsis;
        const int label = dots && i < right->ellipsis + more
                              ? e->nname + (right->ellipsis + more - 1 - i)
                              : right->name[dots ? i - more : i];
        if (dst->shape[i] == 1)
            continue;
        t->label[t->count] = (int16_t)label;
        t->step[t->count++] = dst->stride[i];
    }
}

/* Every check but those of data; x is ready to be planned. */
static tn_status einsum_check(tni_contraction *x, const char *call, const tn_tensor *dst,
                              const char *spec, int n, const tn_tensor *const *srcs)
{
    tni_einsum e;
    int64_t shape[TN_MAX_NDIM];
    int ndim;
    TRY(einsum_check_text(&e, call, dst, true, spec, n, srcs));
    TRY(tni_check_all(TNI_DEVICE | TNI_DTYPE, call, dst, n, srcs));
    TRY(tni_contract_types(&x->compute, call, dst->dtype, n, srcs));
    TRY(tni_check_all(TNI_SHAPE, call, dst, n, srcs));
    TRY(tni_einsum_fit(x, &e, call, srcs, &ndim, shape));
    TRY(einsum_check_shape(call, dst, ndim, shape));
    TRY(tni_check_all(TNI_SIZE, call, dst, n, srcs));
    TRY(tni_check_injective(dst, call));
    einsum_dst(x, &e, dst);
    return TN_OK;
}

static tn_status einsum_too_large(const char *call)
{
    return tni_fail(TN_EOVERFLOW,
                    "%s: a result between two products has more than 2^63 - 1 bytes", call);
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
    TRY(einsum_check(&x, "einsum", dst, spec, n, srcs));
    TRY(tni_contract_data("einsum", dst, n, srcs));
    if (tni_numel(dst) == 0)
        return TN_OK;
    const int length = tni_chain_length(&x);
    tni_link one;
    if (length == 1)
        return einsum_run(&x, &one, dst, n, srcs);
    tni_link *links = tni_alloc((size_t)length * sizeof *links);
    if (!links)
        return tni_fail(TN_ENOMEM, "einsum: no memory for the plan");
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
    TRY(einsum_check(&x, "plan_einsum", dst, spec, n, srcs));
    tn_plan *p = tni_contract_new(&chain, "einsum", tni_chain_length(&x), tni_quoted(spec).text,
                                  n, dst, srcs);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_einsum: no memory for the plan");
    if (!tni_chain_plan(chain, &x)) {
        tn_plan_free(p);
        return einsum_too_large("plan_einsum");
    }
    tni_contract_ready(p);
    *plan = p;
    return TN_OK;
}
