/* iop_window.c - windows and cells: pooling and convolution. */
#include "iop_program.h"

#include <string.h>

enum { SPATIAL = 16 }; /* maximum axes of a window */

/* ---- AvgPool1d, AvgPool3d, Conv: windows of equal size ---- */

typedef struct windows {
    int n;
    int64_t kernel[SPATIAL], stride[SPATIAL], pad[SPATIAL], dilation[SPATIAL], out[SPATIAL];
} windows;

/* Compute the extents of the output; false: a window does not fit, or a number is out of
 * range. */
static bool fit_windows(windows *w, const tn_tensor *x)
{
    for (int i = 0; i < w->n; i++) {
        int64_t reach, length;
        if (w->kernel[i] < 1 || w->stride[i] < 1 || w->pad[i] < 0 || w->dilation[i] < 1 ||
            w->pad[i] > INT64_MAX / 4 || !tni_mul(w->dilation[i], w->kernel[i] - 1, &reach) ||
            !tni_add(x->shape[2 + i], 2 * w->pad[i], &length) || length - 1 < reach)
            return false;
        w->out[i] = (length - 1 - reach) / w->stride[i] + 1;
    }
    return true;
}

/* x, padded with zeros if there is padding. */
static tn_status plan_padded(tni_iop_program *p, const windows *w, const tn_tensor *x,
                             tn_tensor *out)
{
    int64_t around[TN_MAX_NDIM] = {0}, shape[TN_MAX_NDIM];
    bool padded = false;
    *out = *x;
    for (int i = 0; i < x->ndim; i++) {
        around[i] = i < 2 ? 0 : w->pad[i - 2];
        shape[i] = x->shape[i] + 2 * around[i];
        padded |= around[i] > 0;
    }
    if (!padded)
        return TN_OK;
    tn_plan *plan = NULL;
    TRY(tni_iop_temp(p, out, x->dtype, x->ndim, shape));
    const tn_status status = tn_plan_pad(&plan, out, x, around, around, TN_PAD_CONSTANT, NULL);
    return tni_iop_add(p, status, plan, out, 1, &x);
}

/* View x with axes (N, C, out …, kernel …). */
static void view_windows(tn_tensor *x, const windows *w)
{
    for (int i = 0; i < w->n; i++) {
        const int64_t step = x->stride[2 + i];
        tni_set_axis(x, 2 + i, w->out[i], w->out[i] > 1 ? step * w->stride[i] : 0);
        tni_set_axis(x, 2 + w->n + i, w->kernel[i],
                     w->kernel[i] > 1 ? step * w->dilation[i] : 0);
    }
    x->ndim = 2 + 2 * w->n;
}

/* y, x: the mean over each window. */
static tn_status plan_pool(tni_iop_program *p, windows *w)
{
    tn_tensor x;
    int axes[SPATIAL];
    for (int i = 0; i < w->n; i++) {
        w->dilation[i] = 1;
        axes[i] = 2 + w->n + i;
    }
    if (!fit_windows(w, &p->t[1]))
        return tni_iop_fail(p, TN_EARG, "a window is invalid or larger than the input");
    int64_t shape[2 + SPATIAL] = {p->t[1].shape[0], p->t[1].shape[1]};
    memcpy(shape + 2, w->out, (size_t)w->n * sizeof *w->out);
    TRY(tni_iop_shape(p, 0, 2 + w->n, shape));
    TRY(plan_padded(p, w, &p->t[1], &x));
    view_windows(&x, w);
    return tni_iop_reduce(p, TN_REDUCE_MEAN, 0, &p->t[0], &x, w->n, axes);
}

static int64_t clamped(double x)
{
    return x < 0x1p62 ? (int64_t)x : INT64_MAX;
}

tn_status tni_iop_plan_avg_pool1d(tni_iop_program *p)
{
    const double *num = p->args->num;
    TRY(tni_iop_alike(p, 0, 2));
    TRY(tni_iop_rank(p, 0, 3));
    TRY(tni_iop_rank(p, 1, 3));
    return plan_pool(p, &(windows){.n = 1,
                                   .kernel = {clamped(num[0])},
                                   .stride = {clamped(num[1])},
                                   .pad = {clamped(num[2])}});
}

/* Entry i of an array from the caller, or the default if the array is NULL. */
static int64_t entry(const size_t *array, int i, int64_t missing)
{
    return array ? clamped((double)array[i]) : missing;
}

tn_status tni_iop_plan_avg_pool3d(tni_iop_program *p)
{
    const void *const *array = p->args->array;
    windows w = {.n = 3};
    TRY(tni_iop_alike(p, 0, 2));
    TRY(tni_iop_rank(p, 0, 5));
    TRY(tni_iop_rank(p, 1, 5));
    if (!array[0])
        return tni_iop_fail(p, TN_EARG, "kernel_size is NULL");
    for (int i = 0; i < 3; i++) {
        w.kernel[i] = entry(array[0], i, 0);
        w.stride[i] = entry(array[1], i, w.kernel[i]);
        w.pad[i] = entry(array[2], i, 0);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 5; i++)
            if (p->t[k].shape[i] > 1 && p->t[k].stride[i] <= 0)
                return tni_iop_fail(p, TN_ESTRIDE, "a stride is not positive");
    return plan_pool(p, &w);
}

/* ---- Conv: y, x, w, bias; num: n ---- */

static tn_status read_conv(const tni_iop_program *p, windows *w)
{
    const tn_tensor *x = &p->t[1], *k = &p->t[2];
    const ptrdiff_t *strides = p->args->array[1];
    if (!(p->args->num[0] >= 1 && p->args->num[0] <= SPATIAL))
        return tni_iop_fail(p, TN_ESHAPE, "n is out of range");
    w->n = (int)p->args->num[0];
    for (int i = 0; i < 3; i++)
        TRY(tni_iop_rank(p, i, w->n + 2));
    if (x->shape[1] != k->shape[1])
        return tni_iop_fail(p, TN_ESHAPE, "channels do not match");
    for (int i = 0; i < w->n; i++) {
        w->kernel[i] = k->shape[2 + i];
        w->pad[i] = entry(p->args->array[0], i, 0);
        w->stride[i] = strides ? strides[i] : 1;
        w->dilation[i] = entry(p->args->array[2], i, 1);
    }
    if (!fit_windows(w, x))
        return tni_iop_fail(p, TN_ESHAPE, "a window is invalid or larger than the input");
    int64_t shape[2 + SPATIAL] = {x->shape[0], k->shape[0]};
    memcpy(shape + 2, w->out, (size_t)w->n * sizeof *w->out);
    TRY(tni_iop_shape(p, 0, 2 + w->n, shape));
    return p->given[3] ? tni_iop_shape(p, 3, 1, k->shape) : TN_OK;
}

/* "a b A B C D, c b C D -> a c A B": capitals are axes of windows and of positions in a
 * window. */
static void write_spec(char *out, int n)
{
    char *at = out;
    *at++ = 'a', *at++ = 'b';
    for (int i = 0; i < 2 * n; i++)
        *at++ = (char)(i < 26 ? 'A' + i : 'd' + i - 26);
    *at++ = ',', *at++ = 'c', *at++ = 'b';
    for (int i = n; i < 2 * n; i++)
        *at++ = (char)(i < 26 ? 'A' + i : 'd' + i - 26);
    *at++ = '-', *at++ = '>', *at++ = 'a', *at++ = 'c';
    for (int i = 0; i < n; i++)
        *at++ = (char)('A' + i);
    *at = 0;
}

tn_status tni_iop_plan_conv(tni_iop_program *p)
{
    windows w = {0};
    tn_tensor x, sums = p->t[0];
    char spec[8 * SPATIAL];
    TRY(tni_iop_alike(p, 0, 15));
    TRY(read_conv(p, &w));
    TRY(plan_padded(p, &w, &p->t[1], &x));
    view_windows(&x, &w);
    write_spec(spec, w.n);
    if (p->given[3])
        TRY(tni_iop_temp(p, &sums, TN_F32, sums.ndim, sums.shape));
    TRY(tni_iop_einsum(p, &sums, spec, 2, (const tn_tensor *const[]){&x, &p->t[2]}));
    if (!p->given[3])
        return TN_OK;
    tn_tensor bias = p->t[3];
    for (int i = 0; i < w.n; i++)
        TRY(tn_unsqueeze(&bias, &bias, 1 + i));
    return IOP_EXPR(p, &p->t[0], "a + f32(b)", NULL, &sums, &bias);
}

/* ---- adaptive pooling: cell i of m covers floor(i n / m) to ceil((i + 1) n / m) ---- */

/* t: y, x; whole: the number of last axes that are divided, and the reduction of a cell. */
static tn_status each_cell(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t)
{
    const int n = (int)s->whole[0], first = t[0].ndim - n;
    int64_t cells = 1;
    int axes[SPATIAL];
    (void)env;
    for (int i = 0; i < n; i++) {
        axes[i] = first + i;
        cells *= t[0].shape[first + i];
    }
    for (int64_t cell = 0; cell < cells; cell++) {
        tn_tensor y = t[0], x = t[1];
        int64_t at[SPATIAL];
        tni_unravel(n, t[0].shape + first, cell, at);
        for (int k = 0; k < n; k++) {
            const int64_t in = t[1].shape[first + k], out = t[0].shape[first + k];
            TRY(tn_slice(&y, &y, first + k, at[k], at[k] + 1, 1));
            TRY(tn_slice(&x, &x, first + k, at[k] * in / out,
                         tni_ceil_div((at[k] + 1) * in, out), 1));
        }
        TRY(tn_reduce((tn_reduction)s->whole[1], NULL, &y, &x, n, axes));
    }
    return TN_OK;
}

tn_status tni_iop_plan_cells(tni_iop_program *p, int n, tn_reduction op)
{
    const tn_tensor *y = &p->t[0], *x = &p->t[1];
    for (int i = 0; i < y->ndim; i++) {
        const bool divided = i >= y->ndim - n;
        if (!divided && y->shape[i] != x->shape[i])
            return tni_iop_fail(p, TN_ESHAPE, "the leading axes differ");
        if (divided && (x->shape[i] == 0 || x->shape[i] > INT32_MAX || y->shape[i] > INT32_MAX))
            return tni_iop_fail(p, TN_ESHAPE, "input: a pooled axis has extent 0");
    }
    return tni_numel(y) == 0 ? TN_OK : IOP_CALL(p, each_cell, 0, n, op, y, x);
}

tn_status tni_iop_plan_adaptive1d(tni_iop_program *p)
{
    TRY(tni_iop_alike(p, 0, 2));
    if (p->t[1].ndim < 2)
        return tni_iop_fail(p, TN_ESHAPE, "the input has fewer than 2 axes");
    TRY(tni_iop_rank(p, 0, p->t[1].ndim));
    return tni_iop_plan_cells(p, 1, TN_REDUCE_MEAN);
}

tn_status tni_iop_plan_adaptive_max1d(tni_iop_program *p)
{
    TRY(tni_iop_alike(p, 0, 2));
    if (p->t[1].ndim < 1)
        return tni_iop_fail(p, TN_ESHAPE, "the input has no axes");
    TRY(tni_iop_rank(p, 0, p->t[1].ndim));
    if ((double)p->t[0].shape[p->t[0].ndim - 1] != p->args->num[0])
        return tni_iop_fail(p, TN_ESHAPE, "y: expected a last axis of output_size");
    return tni_iop_plan_cells(p, 1, TN_REDUCE_MAX);
}

tn_status tni_iop_plan_adaptive3d(tni_iop_program *p)
{
    const size_t *size = p->args->array[0];
    TRY(tni_iop_alike(p, 1, 1));
    if (!size)
        return tni_iop_fail(p, TN_ENULL, "output_size is NULL");
    TRY(tni_iop_rank(p, 1, 5));
    TRY(tni_iop_rank(p, 0, 5));
    for (int i = 0; i < 3; i++)
        if ((size_t)p->t[0].shape[2 + i] != size[i])
            return tni_iop_fail(p, TN_ESHAPE, "y: expected the extents of output_size");
    return tni_iop_plan_cells(p, 3, TN_REDUCE_MEAN);
}
