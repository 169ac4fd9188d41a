/* iop_resize.c - interpolation, axis by axis: elements are gathered by an index table and
 * weighted by a second table. */
#include "iop_program.h"

#include <math.h>
#include <string.h>

enum { NEAREST, LINEAR };

/* How one axis is resized. */
typedef struct axis {
    int64_t in, out;
    bool align;
} axis;

/* Position in the input, in elements, of output i. */
static double position(const axis *a, int64_t i)
{
    if (a->align)
        return a->out > 1 ? (double)i * (double)(a->in - 1) / (double)(a->out - 1) : 0;
    const double at = ((double)i + 0.5) * (double)a->in / (double)a->out - 0.5;
    return at > 0 ? at : 0;
}

static int64_t within(const axis *a, double at)
{
    return at < (double)(a->in - 1) ? (int64_t)at : a->in - 1;
}

/* The input index of every output of an axis, as a constant. */
static tn_status index_table(tni_iop_program *p, const axis *a, int mode, int more,
                             tn_tensor *table)
{
    void *data;
    TRY(tni_iop_constant(p, table, TN_I64, 1, &a->out, &data));
    for (int64_t i = 0; i < a->out; i++) {
        const float nearest = floorf((float)i * ((float)a->in / (float)a->out));
        ((int64_t *)data)[i] = mode == NEAREST ? within(a, (double)nearest)
                                               : within(a, floor(position(a, i)) + more);
    }
    return TN_OK;
}

static tn_status weight_table(tni_iop_program *p, const axis *a, tn_tensor *table)
{
    void *data;
    TRY(tni_iop_constant(p, table, TN_F64, 1, &a->out, &data));
    for (int64_t i = 0; i < a->out; i++) {
        const double at = position(a, i);
        ((double *)data)[i] = at - floor(at);
    }
    return TN_OK;
}

/* Reshape a table to broadcast along axis dim of ndim. */
static tn_status along(tn_tensor *t, int dim, int ndim)
{
    for (int i = dim + 1; i < ndim; i++)
        TRY(tn_unsqueeze(t, t, t->ndim));
    return TN_OK;
}

/* y = x with axis dim gathered by an index table. */
static tn_status plan_take(tni_iop_program *p, const tn_tensor *y, const tn_tensor *x, int dim,
                           const axis *a, int mode, int more)
{
    tn_tensor table;
    TRY(index_table(p, a, mode, more, &table));
    return IOP_CALL(p, tni_iop_take, 0, dim, 0, y, x, &table);
}

static tn_status plan_axis(tni_iop_program *p, const tn_tensor *y, const tn_tensor *x, int dim,
                           const axis *a, int mode)
{
    if (mode != LINEAR)
        return plan_take(p, y, x, dim, a, mode, 0);
    tn_tensor low, high, weight;
    TRY(tni_iop_temp(p, &low, x->dtype, y->ndim, y->shape));
    TRY(tni_iop_temp(p, &high, x->dtype, y->ndim, y->shape));
    TRY(plan_take(p, &low, x, dim, a, mode, 0));
    TRY(plan_take(p, &high, x, dim, a, mode, 1));
    TRY(weight_table(p, a, &weight));
    TRY(along(&weight, dim, y->ndim));
    return IOP_EXPR(p, y, "@(a) * @(1 - c) + @(b) * @(c)", NULL, &low, &high, &weight);
}

/* Resize the last n axes of x to those of y, the last axis first; intermediate results are
 * wide. */
static tn_status plan_axes(tni_iop_program *p, int n, int mode, bool align)
{
    const tn_tensor *y = &p->t[0];
    tn_tensor x = p->t[1];
    for (int dim = y->ndim - 1; dim >= y->ndim - n; dim--) {
        const axis a = {x.shape[dim], y->shape[dim], align};
        tn_tensor next = *y;
        int64_t shape[TN_MAX_NDIM];
        memcpy(shape, x.shape, sizeof shape);
        shape[dim] = a.out;
        if (dim > y->ndim - n)
            TRY(tni_iop_temp(p, &next, mode == LINEAR ? p->wide : x.dtype, x.ndim, shape));
        TRY(plan_axis(p, &next, &x, dim, &a, mode));
        x = next;
    }
    return TN_OK;
}

/* Check that the ranks and the axes before the last n are equal, and that no extent is 0. */
static tn_status check_resize(const tni_iop_program *p, int n)
{
    TRY(tni_iop_rank(p, 0, p->t[1].ndim));
    for (int i = 0; i < p->t[1].ndim; i++)
        if (p->t[0].shape[i] == 0 || p->t[1].shape[i] == 0 ||
            (i < p->t[1].ndim - n && p->t[0].shape[i] != p->t[1].shape[i]))
            return tni_iop_fail(p, TN_ESHAPE, "extents differ or are 0");
    return TN_OK;
}

tn_status tni_iop_plan_upsample_nearest(tni_iop_program *p)
{
    const int ndim = p->t[1].ndim;
    TRY(tni_iop_alike(p, 1, 1));
    if (ndim < 2 || ndim > 4)
        return tni_iop_fail(p, TN_ESHAPE, "input: expected 2, 3 or 4 axes");
    const int n = ndim == 3 ? 1 : 2;
    TRY(check_resize(p, n));
    return plan_axes(p, n, NEAREST, false);
}

tn_status tni_iop_plan_upsample_bilinear(tni_iop_program *p)
{
    TRY(tni_iop_alike(p, 1, 1));
    if (p->t[1].ndim < 2)
        return tni_iop_fail(p, TN_ESHAPE, "the input has fewer than 2 axes");
    TRY(check_resize(p, 2));
    return plan_axes(p, 2, LINEAR, p->args->num[0] != 0);
}

/* ---- Interpolate: y, x; arrays: mode, size, scale_factor ---- */

enum { AREA = LINEAR + 1 };

static int read_mode(const char *name)
{
    static const struct {
        const char *name;
        int mode;
    } modes[] = {{"nearest", NEAREST},
                 {"linear", LINEAR},
                 {"bilinear", LINEAR},
                 {"trilinear", LINEAR},
                 {"area", AREA}};
    for (int i = 0; name && i < COUNT(modes); i++)
        if (!strcmp(name, modes[i].name))
            return modes[i].mode;
    return -1;
}

tn_status tni_iop_plan_interpolate(tni_iop_program *p)
{
    const void *const *array = p->args->array;
    const tn_tensor *y = &p->t[0], *x = &p->t[1];
    TRY(tni_iop_alike(p, 1, 1));
    const int n = x->ndim - 2;
    if (n < 1 || n > 3)
        return tni_iop_fail(p, TN_ESHAPE, "input: expected 3, 4 or 5 axes");
    if (!array[1] == !array[2])
        return tni_iop_fail(p, TN_EARG, "expected either size or scale_factor");
    TRY(check_resize(p, n));
    for (int i = 2; array[2] && i < x->ndim; i++)
        if (y->shape[i] != (int64_t)((double)x->shape[i] * *(const double *)array[2]))
            return tni_iop_fail(p, TN_ESHAPE, "y does not match scale_factor");
    const int mode = read_mode(array[0]);
    if (mode < 0)
        return tni_iop_fail(p, TN_EARG, "unknown mode");
    if (mode == AREA)
        return tni_iop_plan_cells(p, n, TN_REDUCE_MEAN);
    return plan_axes(p, n, mode, p->args->num[0] != 0);
}

/* ---- AffineGrid: output (N, H, W, 2), input (N, 2, 3) ---- */

/* The coordinates of n points from -1 to 1, broadcast along axis dim of 4. */
static tn_status coordinates(tni_iop_program *p, tn_tensor *t, int64_t n, bool align, int dim)
{
    void *data;
    TRY(tni_iop_constant(p, t, TN_F64, 1, &n, &data));
    for (int64_t i = 0; i < n; i++)
        ((double *)data)[i] = !align  ? (2 * (double)i + 1) / (double)n - 1
                              : n > 1 ? -1 + 2 * (double)i / (double)(n - 1)
                                      : 0;
    return along(t, dim, 4);
}

tn_status tni_iop_plan_affine_grid(tni_iop_program *p)
{
    const tn_tensor *y = &p->t[0], *theta = &p->t[1];
    const bool align = p->args->num[0] != 0;
    tn_tensor part[3], h, w;
    TRY(tni_iop_alike(p, 0, 2));
    TRY(tni_iop_rank(p, 0, 4));
    TRY(tni_iop_shape(p, 1, 3, (const int64_t[]){y->shape[0], 2, 3}));
    if (y->shape[3] != 2)
        return tni_iop_fail(p, TN_ESHAPE, "output: expected a last axis of extent 2");
    for (int i = 0; i < 3; i++) { /* a column as (N, 1, 1, 2) */
        TRY(tn_select(&part[i], theta, 2, i));
        TRY(tn_unsqueeze(&part[i], &part[i], 1));
        TRY(tn_unsqueeze(&part[i], &part[i], 1));
    }
    TRY(coordinates(p, &h, y->shape[1], align, 1));
    TRY(coordinates(p, &w, y->shape[2], align, 2));
    return IOP_EXPR(p, y, "@(a)*@(d) + @(b)*@(e) + @(c)", NULL, &part[0], &part[1], &part[2],
                    &w, &h);
}
