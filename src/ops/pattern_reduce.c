/* pattern_reduce.c - einops.reduce: names and numbers that are only on the left are reduced.
 *
 * In the fitted pattern their pieces come last. */
#include <tenon/reduce.h>

#include "pattern.h"
#include "plan/plan.h"
#include "reduce_check.h"

tn_status tn_pattern_reduce_shape(const char *pattern, const char *sizes, const tn_tensor *src,
                                  int *ndim, int64_t *shape)
{
    tni_fit fit;
    if (!pattern || !ndim || !shape)
        return tni_fail(TN_ENULL, "pattern_reduce_shape: %s is NULL",
                        !pattern ? "pattern"
                        : !ndim  ? "ndim"
                                 : "shape");
    TRY(tni_check_given(src, "pattern_reduce_shape: src"));
    TRY(tni_check_sound(src, "pattern_reduce_shape: src"));
    TRY(tni_pattern_fit(&fit, "pattern_reduce_shape", src, pattern, sizes, true));
    *ndim = fit.ndim;
    for (int i = 0; i < fit.ndim; i++)
        shape[i] = fit.shape[i];
    return TN_OK;
}

/* src with an axis for each piece; the reduced ones come last. */
static tn_status split_src(tn_tensor *s, int *naxes, int *axes, const char *call,
                           const tni_fit *fit, const tn_tensor *src)
{
    if (fit->n > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "%s: the pattern makes %d axes, expected at most %d", call,
                        fit->n, TN_MAX_NDIM);
    tn_tensor v;
    tni_inherit(&v, src, tni_offset(src->data, fit->empty ? 0 : fit->shift), fit->n);
    *naxes = 0;
    for (int i = 0; i < fit->n; i++) {
        const tni_piece *a = &fit->piece[i];
        tni_set_axis(&v, i, a->n, fit->empty ? 0 : a->step);
        if (a->dim == fit->ndim)
            axes[(*naxes)++] = i;
    }
    *s = v;
    return TN_OK;
}

/* dst with the same axes, of extent 1 where they are reduced. */
static void split_dst(tn_tensor *d, const tni_fit *fit, const tn_tensor *dst)
{
    int64_t inner = 1;
    tni_inherit(d, dst, dst->data, fit->n);
    for (int i = fit->n - 1; i >= 0; i--) {
        const tni_piece *a = &fit->piece[i];
        const bool fold = a->dim == fit->ndim;
        if (i + 1 == fit->n || a->dim != a[1].dim)
            inner = 1;
        tni_set_axis(d, i, fold ? 1 : a->n, fold ? 0 : dst->stride[a->dim] * inner);
        inner *= a->n ? a->n : 1;
    }
}

tn_status tn_pattern_reduce_axes(tn_tensor *view, int *naxes, int *axes, const tn_tensor *src,
                                 const char *pattern, const char *sizes)
{
    const char *call = "pattern_reduce_axes";
    tni_fit fit;
    if (!pattern || !view || !naxes || !axes)
        return tni_fail(TN_ENULL, "pattern_reduce_axes: %s is NULL",
                        !pattern ? "pattern"
                        : !view  ? "view"
                        : !naxes ? "naxes"
                                 : "axes");
    TRY(tni_check_given(src, "pattern_reduce_axes: src"));
    TRY(tni_check_sound(src, "pattern_reduce_axes: src"));
    TRY(tni_pattern_fit(&fit, call, src, pattern, sizes, true));
    return split_src(view, naxes, axes, call, &fit, src);
}

typedef struct reduce_texts {
    tn_reduction op;
    const double *params;
    const char *pattern, *sizes;
    tni_fit fit;
} reduce_texts;

static tn_status reduce_text_args(const tni_call *call)
{
    const reduce_texts *t = call->own;
    return tni_reduce_params(call->name, t->op, t->params);
}

static tn_status reduce_text_dtypes(const tni_call *call)
{
    const reduce_texts *t = call->own;
    return tni_reduce_dtypes(call->name, t->op, call->srcs[0]->dtype, call->dst->dtype);
}

static tn_status reduce_text_shapes(const tni_call *call)
{
    reduce_texts *t = call->own;
    TRY(tni_call_sizes(call));
    TRY(tni_pattern_fit(&t->fit, call->name, call->srcs[0], t->pattern, t->sizes, true));
    return tni_check_shape(call->dst, t->fit.ndim, t->fit.shape, call->name, "dst");
}

tn_status tn_pattern_reduce(tn_reduction op, const double *params, const tn_tensor *dst,
                            const tn_tensor *src, const char *pattern, const char *sizes)
{
    const char *call = "pattern_reduce";
    reduce_texts t;
    int naxes, axes[TN_MAX_NDIM];
    tn_tensor d, s;
    if (!pattern)
        return tni_fail(TN_ENULL, "pattern_reduce: pattern is NULL");
    t.op = op;
    t.params = params;
    t.pattern = pattern;
    t.sizes = sizes;
    TRY(tni_check_call(&(tni_call){.name = call,
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .args = reduce_text_args,
                                   .dtypes = reduce_text_dtypes,
                                   .shapes = reduce_text_shapes,
                                   .own = &t}));
    TRY(split_src(&s, &naxes, axes, call, &t.fit, src));
    split_dst(&d, &t.fit, dst);
    return tni_reduce_into(call, op, params, &d, &s, naxes, axes);
}
