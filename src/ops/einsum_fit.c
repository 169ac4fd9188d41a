/* einsum_fit.c - fits the terms of an einsum to tensors: extents of labels, steps of sources.
 *
 * The labels of "..." are numbered after the names, the last axis first, so that they align at
 * the end.  A source is broadcast along its axes of extent 1: it does not have their labels. */
#include "einsum.h"

#include "view/view.h"

int tni_einsum_label(const tni_einsum *e, const tni_einsum_term *t, int ndim, int i)
{
    const int more = ndim - t->n; /* axes of "..." */
    if (t->ellipsis < 0 || i < t->ellipsis)
        return t->name[i];
    if (i < t->ellipsis + more)
        return e->nname + (t->ellipsis + more - 1 - i);
    return t->name[i - more];
}

static tn_status fit_extent(tni_contraction *x, const tni_einsum *e, const char *call, int k,
                            int axis, int label, int64_t n)
{
    int64_t *known = &x->extent[label];
    if (n == 1 || *known == n)
        return TN_OK;
    if (*known == 1) {
        *known = n;
        return TN_OK;
    }
    if (label < e->nname)
        return tni_fail(TN_ESHAPE,
                        "%s: src %d: axis %d (\"%.*s\") has extent %lld, expected %lld", call,
                        k, axis, e->name[label].len, e->text + e->name[label].at, (long long)n,
                        (long long)*known);
    return tni_fail(TN_ESHAPE, "%s: src %d: axis %d (\"...\") has extent %lld, expected %lld",
                    call, k, axis, (long long)n, (long long)*known);
}

static void fit_add(tni_term *t, int label, int64_t step)
{
    for (int i = 0; i < t->count; i++)
        if (t->label[i] == label) {
            t->step[i] += step; /* a diagonal */
            return;
        }
    t->label[t->count] = (int16_t)label;
    t->step[t->count++] = step;
}

static tn_status fit_axes(tni_contraction *x, const tni_einsum *e, const char *call,
                          const tn_tensor *const *srcs)
{
    for (int k = 0; k < e->nsrc; k++) {
        const tni_einsum_term *t = &e->term[k + 1];
        if (t->ellipsis < 0 ? srcs[k]->ndim != t->n : srcs[k]->ndim < t->n)
            return tni_fail(TN_ESHAPE, "%s: src %d: got ndim %d, expected %d%s as in its term",
                            call, k, srcs[k]->ndim, t->n, t->ellipsis < 0 ? "" : " or more");
        for (int i = 0; i < srcs[k]->ndim; i++) {
            const int label = tni_einsum_label(e, t, srcs[k]->ndim, i);
            if (label >= x->nlabel)
                for (; x->nlabel <= label; x->nlabel++)
                    x->extent[x->nlabel] = 1;
            TRY(fit_extent(x, e, call, k, i, label, srcs[k]->shape[i]));
        }
    }
    return TN_OK;
}

/* Find the steps of a source for its labels of extent greater than 1. */
static void fit_term(tni_contraction *x, const tni_einsum *e, int k, const tn_tensor *src)
{
    tni_term *t = &x->term[k + 1];
    t->count = 0;
    t->dtype = src->dtype;
    for (int i = 0; i < src->ndim; i++) {
        const int label = tni_einsum_label(e, &e->term[k + 1], src->ndim, i);
        if (src->shape[i] != 1)
            fit_add(t, label, src->stride[i]);
    }
}

tn_status tni_einsum_fit(tni_contraction *x, const tni_einsum *e, const char *call,
                         const tn_tensor *const *srcs, int *ndim, int64_t *shape)
{
    x->nsrc = e->nsrc;
    x->nlabel = e->nname;
    for (int i = 0; i < x->nlabel; i++)
        x->extent[i] = 1;
    TRY(fit_axes(x, e, call, srcs));
    for (int k = 0; k < e->nsrc; k++)
        fit_term(x, e, k, srcs[k]);
    const tni_einsum_term *right = &e->term[0];
    const int more = right->ellipsis < 0 ? 0 : x->nlabel - e->nname;
    if (right->n + more > TN_MAX_NDIM)
        return tni_fail(TN_ESHAPE, "%s: the result has %d axes, expected at most %d", call,
                        right->n + more, TN_MAX_NDIM);
    *ndim = right->n + more;
    for (int i = 0; i < *ndim; i++)
        shape[i] = x->extent[tni_einsum_label(e, right, *ndim, i)];
    return TN_OK;
}
