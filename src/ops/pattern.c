/* pattern.c - einops patterns on tensors: shape, view, copy.
 *
 * A copy needs no temporary: the dimensions of src and dst are split into the same pieces,
 * which are copied. */
#include "pattern.h"
#include "copy_tensor.h"

tn_status tn_pattern_shape(const char *pattern, const char *sizes, const tn_tensor *src,
                           int *ndim, int64_t *shape)
{
    if (!pattern)
        return tni_fail(TN_ENULL, "pattern_shape: pattern is NULL");
    if (!ndim || !shape)
        return tni_fail(TN_ENULL, "pattern_shape: %s is NULL", ndim ? "shape" : "ndim");
    TRY(tni_check_given(src, "pattern_shape: src"));
    TRY(tni_check_sound(src, "pattern_shape: src"));
    tni_fit fit;
    TRY(tni_pattern_fit(&fit, "pattern_shape", src, pattern, sizes, false));
    *ndim = fit.ndim;
    for (int i = 0; i < fit.ndim; i++)
        shape[i] = fit.shape[i];
    return TN_OK;
}

/* Merge the pieces of each dimension into one stride; false if that is impossible. */
static bool merge(const tni_fit *fit, int64_t *stride)
{
    for (int i = 0; i < fit->ndim; i++)
        stride[i] = 0;
    for (int i = 0; i < fit->n; i++) {
        const tni_piece *a = &fit->piece[i], *b = a + 1;
        const bool last = i + 1 == fit->n || b->dim != a->dim;
        int64_t step;
        if (last)
            stride[a->dim] = a->step;
        else if (!tni_mul(b->n, b->step, &step) || step != a->step)
            return false;
    }
    return true;
}

tn_status tn_pattern_view(tn_tensor *out, const tn_tensor *src, const char *pattern,
                          const char *sizes)
{
    if (!pattern)
        return tni_fail(TN_ENULL, "pattern_view: pattern is NULL");
    if (!out)
        return tni_fail(TN_ENULL, "pattern_view: out is NULL");
    TRY(tni_check_given(src, "pattern_view: src"));
    TRY(tni_check_sound(src, "pattern_view: src"));
    tni_fit fit;
    TRY(tni_pattern_fit(&fit, "pattern_view", src, pattern, sizes, false));
    int64_t stride[TN_MAX_NDIM];
    if (fit.empty)
        tni_shape_dense(fit.ndim, fit.shape, tni_width(src->dtype), stride);
    else if (!merge(&fit, stride))
        return tni_fail(TN_ESTRIDE,
                        "pattern_view: \"%s\" merges axes that only a copy can merge",
                        tni_quoted(pattern).text);
    tni_inherit(out, src, tni_offset(src->data, fit.empty ? 0 : fit.shift), fit.ndim);
    for (int i = 0; i < fit.ndim; i++) {
        out->shape[i] = fit.shape[i];
        out->stride[i] = stride[i];
    }
    return TN_OK;
}

/* Copy the pieces of src to those of dst, which has the fitted shape and shares no byte with
 * src. */
static void copy_pieces(const tn_tensor *dst, const tn_tensor *src, const tni_fit *fit)
{
    if (fit->empty)
        return;
    /* pieces have extents of at least 2 and the result fits 2^63 bytes: at most 62 pieces */
    ASSERT(fit->n <= TN_MAX_NDIM);
    tn_tensor d, s;
    tni_inherit(&d, dst, dst->data, fit->n);
    tni_inherit(&s, src, tni_offset(src->data, fit->shift), fit->n);
    int64_t inner = 1;
    for (int i = fit->n - 1; i >= 0; i--) {
        const tni_piece *a = &fit->piece[i];
        if (i + 1 == fit->n || a->dim != a[1].dim)
            inner = 1;
        d.shape[i] = s.shape[i] = a->n;
        d.stride[i] = dst->stride[a->dim] * inner;
        s.stride[i] = a->step;
        inner *= a->n;
    }
    tni_copy_tensor(&d, &s);
}

/* The texts of a call, and the fitted pattern. */
typedef struct pattern_call {
    const char *pattern, *sizes;
    tni_fit fit;
} pattern_call;

static tn_status pattern_shapes(const tni_call *call)
{
    pattern_call *p = call->own;
    TRY(tni_call_sizes(call));
    TRY(tni_pattern_fit(&p->fit, call->name, call->srcs[0], p->pattern, p->sizes, false));
    return tni_check_shape(call->dst, p->fit.ndim, p->fit.shape, call->name, "dst");
}

tn_status tn_pattern_into(const tn_tensor *dst, const tn_tensor *src, const char *pattern,
                          const char *sizes)
{
    if (!pattern)
        return tni_fail(TN_ENULL, "pattern_into: pattern is NULL");
    pattern_call p;
    p.pattern = pattern;
    p.sizes = sizes;
    TRY(tni_check_call(&(tni_call){.name = "pattern_into",
                                   .dst = dst,
                                   .n = 1,
                                   .srcs = &src,
                                   .dtypes = tni_call_same_dtypes,
                                   .shapes = pattern_shapes,
                                   .own = &p}));
    copy_pieces(dst, src, &p.fit);
    return TN_OK;
}

tn_status tn_pattern_copy(tn_tensor *out, const tn_tensor *src, const char *pattern,
                          const char *sizes)
{
    if (!pattern)
        return tni_fail(TN_ENULL, "pattern_copy: pattern is NULL");
    if (!out)
        return tni_fail(TN_ENULL, "pattern_copy: out is NULL");
    TRY(tni_check(src, "pattern_copy: src"));
    tni_fit fit;
    TRY(tni_pattern_fit(&fit, "pattern_copy", src, pattern, sizes, false));
    TRY(tni_check_data(src, "pattern_copy: src"));
    tn_tensor made;
    TRY(tni_alloc_dense(&made, src->dtype, fit.ndim, fit.shape, "pattern_copy"));
    copy_pieces(&made, src, &fit);
    *out = made;
    return TN_OK;
}
