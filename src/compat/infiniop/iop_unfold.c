/* iop_unfold.c - Unfold: every window of an image becomes a column.
 *
 * Without padding it is one copy between views with axes (N, C, tap in the window …, window
 * …).  With padding there is one plan for each tap: a strided slice of the image, padded with
 * zeros. */
#include "iop.h"

enum { MOST = (TN_MAX_NDIM - 2) / 2 };

typedef struct windows {
    int nd; /* number of axes of the image after N and C */
    bool padded;
    int64_t kernel[MOST], stride[MOST], padding[MOST], dilation[MOST];
    int64_t n[MOST], out[MOST]; /* extents of the image; number of windows */
    int64_t taps;               /* elements of a window */
} windows;

static tn_status read_axis(windows *w, int i)
{
    if (w->kernel[i] < 1 || w->stride[i] < 1 || w->padding[i] < 0 || w->dilation[i] < 1)
        return tni_fail(
            TN_EARG,
            "Unfold: axis %d: invalid kernel %lld, stride %lld, padding %lld or dilation %lld",
            i + 2, (long long)w->kernel[i], (long long)w->stride[i], (long long)w->padding[i],
            (long long)w->dilation[i]);
    int64_t length; /* products of two ints fit 64 bits, and so do their sums */
    if (!tni_add(w->n[i], 2 * w->padding[i] - w->dilation[i] * (w->kernel[i] - 1) - 1, &length))
        return tni_fail(TN_EOVERFLOW,
                        "Unfold: the extent of axis %d with padding exceeds 2^63 - 1", i + 2);
    if (length < 0)
        return tni_fail(TN_EARG, "Unfold: axis %d is shorter than a window", i + 2);
    w->out[i] = length / w->stride[i] + 1;
    w->padded |= w->padding[i] > 0;
    return TN_OK;
}

static tn_status read(windows *w, const tn_tensor *y, const tn_tensor *x,
                      const int *const arrays[4])
{
    if (x->ndim < 3 || x->ndim - 2 > MOST || y->ndim != 3)
        return tni_fail(
            TN_ESHAPE,
            "Unfold: expected an input of 3 or more axes and an output of 3, got %d and %d",
            x->ndim, y->ndim);
    *w = (windows){.nd = x->ndim - 2, .taps = 1};
    int64_t columns = 1, rows;
    bool fits = true;
    for (int i = 0; i < w->nd; i++) {
        w->kernel[i] = arrays[0][i];
        w->stride[i] = arrays[1][i];
        w->padding[i] = arrays[2][i];
        w->dilation[i] = arrays[3][i];
        w->n[i] = x->shape[i + 2];
        TRY(read_axis(w, i));
        fits = fits && tni_mul(w->taps, w->kernel[i], &w->taps) &&
               tni_mul(columns, w->out[i], &columns);
    }
    if (!fits || !tni_mul(x->shape[1], w->taps, &rows))
        return tni_fail(TN_EOVERFLOW, "Unfold: the output exceeds 2^63 - 1 elements");
    const int64_t want[] = {x->shape[0], rows, columns};
    for (int i = 0; i < 3; i++)
        if (y->shape[i] != want[i])
            return tni_fail(TN_ESHAPE,
                            "Unfold: output: axis %d: got extent %lld, expected %lld", i,
                            (long long)y->shape[i], (long long)want[i]);
    return TN_OK;
}

/* The output with axes (N, C, kernel …, out …). */
static tn_status split(tn_tensor *out, const windows *w, const tn_tensor *y, int64_t channels)
{
    int64_t shape[TN_MAX_NDIM] = {y->shape[0], channels};
    for (int i = 0; i < w->nd; i++) {
        shape[2 + i] = w->kernel[i];
        shape[2 + w->nd + i] = w->out[i];
    }
    return tn_reshape(out, y, 2 + 2 * w->nd, shape);
}

/* The stride of an axis; 0 if it has extent 1, for which the product may overflow. */
static int64_t step(int64_t n, int64_t stride, int64_t by)
{
    return n > 1 ? stride * by : 0;
}

/* The image with the same axes; no window extends past it. */
static tn_status make_whole(const tni_iop_request *q, const windows *w, const tn_tensor *to,
                            const tn_tensor *x)
{
    tn_tensor from = *to;
    for (int i = 0; i < 2; i++)
        from.stride[i] = x->stride[i];
    for (int i = 0; i < w->nd; i++) {
        from.stride[2 + i] = step(w->kernel[i], x->stride[2 + i], w->dilation[i]);
        from.stride[2 + w->nd + i] = step(w->out[i], x->stride[2 + i], w->stride[i]);
    }
    tn_plan *plan;
    tni_iop *made;
    TRY(tn_plan_rearrange(&plan, to, &from));
    TRY(tni_iop_make(&made, q, sizeof *made, plan));
    *q->out = &made->base;
    return TN_OK;
}

/* Count the windows, along one axis, that have this tap inside the image: *before windows
 * precede them, and the first one reads index *start. */
static int64_t inside(const windows *w, int i, int64_t tap, int64_t *before, int64_t *start)
{
    const int64_t out = w->out[i], stride = w->stride[i];
    const int64_t shift = w->padding[i] - tap * w->dilation[i]; /* window 0 reads at -shift */
    int64_t first = shift > 0 ? tni_ceil_div(shift, stride) : 0;
    int64_t end = w->n[i] + shift > 0 ? tni_ceil_div(w->n[i] + shift, stride) : 0;
    end = end < out ? end : out;
    first = first < end ? first : end;
    *before = first;
    *start = first < end ? first * stride - shift : 0;
    return end - first;
}

static tn_status add_tap(tni_iop_parted *p, const windows *w, const tn_tensor *to,
                         const int64_t *tap)
{
    tn_tensor dst = *to, src = tni_iop_anchored(&p->ts[1]);
    int64_t before[TN_MAX_NDIM] = {0}, after[TN_MAX_NDIM] = {0};
    for (int i = 0; i < w->nd; i++) {
        int64_t start;
        const int64_t n = inside(w, i, tap[i], &before[2 + i], &start);
        after[2 + i] = w->out[i] - before[2 + i] - n;
        TRY(tn_select(&dst, &dst, 2, tap[i]));
        TRY(tn_slice(&src, &src, 2 + i, start, start + (n > 0 ? (n - 1) * w->stride[i] + 1 : 0),
                     w->stride[i]));
    }
    return tni_iop_add_part(p, &dst, 0, &src, before, after);
}

static tn_status add_taps(tni_iop_parted *p, const windows *w)
{
    const tn_tensor y = tni_iop_anchored(&p->ts[0]);
    tn_tensor to;
    TRY(split(&to, w, &y, p->ts[1].shape[1]));
    for (int64_t number = 0; number < w->taps; number++) {
        int64_t tap[MOST];
        tni_unravel((int)w->nd, w->kernel, number, tap);
        TRY(add_tap(p, w, &to, tap));
    }
    return TN_OK;
}

static tn_status make(const tni_iop_request *q, const tni_iop_tensor *ts,
                      const int *const arrays[4])
{
    TRY(tni_iop_check(q, 2, ts));
    for (int k = 0; k < 4; k++)
        if (!arrays[k])
            return tni_fail(TN_ENULL, "Unfold: array %d of the window is NULL", k);
    TRY(tni_iop_takes(q->name, ts[0]));
    TRY(tni_iop_same_dtype(q->name, ts[0], ts[1]));
    windows w = {.taps = 0};
    tn_tensor to;
    const tn_tensor *y = &ts[0]->t, *x = &ts[1]->t;
    TRY(read(&w, y, x, arrays));
    if (!w.padded) {
        TRY(split(&to, &w, y, x->shape[1]));
        return make_whole(q, &w, &to, x);
    }
    TRY(tni_check_injective(y, "Unfold", "y"));
    tni_iop_parted *p;
    const bool work = tni_numel(y) > 0;
    TRY(tni_iop_make_parted(&p, q, ts[0], 1, &ts[1], work ? (size_t)w.taps : 0));
    return tni_iop_give(q, p, work ? add_taps(p, &w) : TN_OK);
}

infiniStatus_t infiniopCreateUnfoldDescriptor(infiniopHandle_t handle,
                                              infiniopUnfoldDescriptor_t *desc_ptr,
                                              tni_iop_tensor output, tni_iop_tensor input,
                                              const int *kernel_sizes, const int *strides,
                                              const int *paddings, const int *dilations)
{
    const tni_iop_request q = {TNI_IOP_Unfold, handle, desc_ptr};
    return tni_iop_status(
        make(&q, (const tni_iop_tensor[]){output, input},
             (const int *const[]){kernel_sizes, strides, paddings, dilations}));
}
