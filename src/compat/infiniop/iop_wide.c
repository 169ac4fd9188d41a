/* iop_wide.c - operators with a number besides their tensors, or with an output of another
 * dtype.
 *
 * The number is a tensor without axes.  If the dtype of the others cannot represent it, the
 * work is an expression in f64 that is rounded once to the output's dtype. */
#include "iop.h"

enum { MOST = 3 };

typedef struct wide {
    tni_iop head;
    int nsrc;      /* including the number, which is the last */
    bool kept;     /* the number is stored here, not passed by the run */
    char value[8]; /* one element of dtype f32 or f64 */
} wide;

static tn_status run_wide(const tni_iop *iop, void *dst, const void *const *given)
{
    const wide *w = (const wide *)iop;
    const void *srcs[MOST];
    for (int k = 0; k < w->nsrc; k++)
        srcs[k] = w->kept && k == w->nsrc - 1 ? w->value : given[k];
    return tn_plan_run(iop->plan, dst, srcs);
}

/* ---- making ---- */

/* The number after the tensors: stored or passed by the run; it is f32 if the tensors are and
 * it fits. */
typedef struct number {
    bool there, kept, fits_f32;
    double value;
} number;

/* Plan an expression of n sources, which are bound to its names in order. */
static tn_status plan_text(tn_plan **plan, const char *text, const tn_tensor *dst, int n,
                           const tn_tensor *const *srcs)
{
    tn_expr *e;
    TRY(tn_expr_parse(&e, text));
    const tn_status status = tn_plan_expr(plan, e, dst, n, srcs);
    tn_expr_free(e);
    return status;
}

/* ts are the output and the tensors; text is the expression in f64. */
static tn_status make(const tni_iop_request *q, int n, const tni_iop_tensor *ts, number num,
                      const char *text)
{
    bool narrow = true, f32 = ts[0]->dtype == INFINI_DTYPE_F32 && num.fits_f32;
    const tn_tensor scalar = {.dtype = f32 ? TN_F32 : TN_F64, .device = TN_CPU};
    const tn_tensor *srcs[MOST];
    for (int k = 0; k < n; k++) {
        narrow &= ts[k]->dtype == (f32 ? INFINI_DTYPE_F32 : INFINI_DTYPE_F64);
        if (k > 0)
            srcs[k - 1] = &ts[k]->t;
    }
    const int nsrc = n - 1 + num.there;
    if (num.there)
        srcs[nsrc - 1] = &scalar;
    tn_plan *plan;
    if (narrow)
        TRY(tn_plan_op(&plan, tni_iop_rows[q->name].op, NULL, &ts[0]->t, nsrc, srcs));
    else
        TRY(plan_text(&plan, text, &ts[0]->t, nsrc, srcs));
    tni_iop *made;
    TRY(tni_iop_make(&made, q, sizeof(wide), plan));
    wide *w = (wide *)made;
    made->run = run_wide;
    w->nsrc = nsrc;
    w->kept = num.kept;
    tni_iop_value(w->value, f32 ? INFINI_DTYPE_F32 : INFINI_DTYPE_F64, num.value);
    *q->out = &made->base;
    return TN_OK;
}

/* Plan the row's op on tensors alone, in their dtype. */
static tn_status make_op(const tni_iop_request *q, int n, const tni_iop_tensor *ts)
{
    const tn_tensor *srcs[MOST];
    tn_plan *plan;
    tni_iop *made;
    for (int k = 1; k < n; k++)
        srcs[k - 1] = &ts[k]->t;
    TRY(tn_plan_op(&plan, tni_iop_rows[q->name].op, NULL, &ts[0]->t, n - 1, srcs));
    TRY(tni_iop_make(&made, q, sizeof *made, plan));
    *q->out = &made->base;
    return TN_OK;
}

static tn_status make_lerp(const tni_iop_request *q, int n, const tni_iop_tensor *ts,
                           float weight)
{
    TRY(tni_iop_check(q, n, ts));
    TRY(tni_iop_takes(q->name, ts[0]));
    for (int k = 1; k < n; k++)
        TRY(tni_iop_same_dtype(q->name, ts[0], ts[k]));
    if (n == 4)
        return make_op(q, n, ts);
    return make(q, n, ts, (number){true, true, true, (double)weight},
                "lerp(f64(x), f64(y), f64(w))");
}

infiniStatus_t infiniopCreateLerpDescriptor(infiniopHandle_t handle,
                                            infiniopLerpDescriptor_t *desc_ptr,
                                            tni_iop_tensor output, tni_iop_tensor start,
                                            tni_iop_tensor end, tni_iop_tensor weight,
                                            float weight_scalar)
{
    const tni_iop_request q = {TNI_IOP_Lerp, handle, desc_ptr};
    const tni_iop_tensor ts[] = {output, start, end, weight};
    return tni_iop_status(make_lerp(&q, weight ? 4 : 3, ts, weight_scalar));
}

static tn_status make_power(const tni_iop_request *q, int n, const tni_iop_tensor *ts,
                            float exponent)
{
    TRY(tni_iop_check(q, n, ts));
    TRY(tni_iop_takes(q->name, ts[0]));
    TRY(tni_iop_takes(q->name, ts[1]));
    if (n == 3)
        TRY(tni_iop_same_dtype(q->name, ts[1], ts[2]));
    TRY(tni_iop_same_shapes(q->name, n, ts));
    if (n == 3 && ts[0]->dtype == ts[1]->dtype) /* TN_POW rounds once */
        return make_op(q, n, ts);
    return make(q, n, ts, (number){n == 2, n == 2, true, (double)exponent},
                "float_power(f64(x), f64(y))");
}

infiniStatus_t infiniopCreateFloatPowerDescriptor(infiniopHandle_t handle,
                                                  infiniopFloatPowerDescriptor_t *desc_ptr,
                                                  tni_iop_tensor y, tni_iop_tensor x,
                                                  tni_iop_tensor exponent,
                                                  float scalar_exponent)
{
    const tni_iop_request q = {TNI_IOP_FloatPower, handle, desc_ptr};
    const tni_iop_tensor ts[] = {y, x, exponent};
    return tni_iop_status(make_power(&q, exponent ? 3 : 2, ts, scalar_exponent));
}

static tn_status make_product(const tni_iop_request *q, const tni_iop_tensor *ts)
{
    TRY(tni_iop_check_alike(q, 2, ts));
    return make(q, 2, ts, (number){true, false, false, 0}, "f64(x) * w");
}

infiniStatus_t infiniopCreateMulScalarDescriptor(infiniopHandle_t handle,
                                                 infiniopMulScalarDescriptor_t *desc_ptr,
                                                 tni_iop_tensor y, tni_iop_tensor x)
{
    const tni_iop_request q = {TNI_IOP_MulScalar, handle, desc_ptr};
    return tni_iop_status(make_product(&q, (const tni_iop_tensor[]){y, x}));
}

infiniStatus_t infiniopMulScalar(infiniopMulScalarDescriptor_t desc, void *workspace,
                                 size_t workspace_size, void *y, const void *x, double alpha,
                                 void *stream)
{
    (void)workspace, (void)workspace_size, (void)stream;
    return tni_iop_run(TNI_IOP_MulScalar, desc, y, (const void *const[]){x, &alpha});
}
