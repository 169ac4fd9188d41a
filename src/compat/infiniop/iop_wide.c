/* iop_wide.c - operators with a number beside their tensors, or an output of another dtype.
 *
 * The number is a tensor without axes.  Where it would not survive the dtype of the others,
 * strips are cast to f64, computed, and cast to the output, which rounds once. */
#include "iop.h"

#include <string.h>

enum { MOST = 3, STRIP = 256 };

typedef struct wide {
    tni_iop head;           /* without a plan: strips */
    int nsrc;               /* the number is the last of them */
    bool kept;              /* it is kept here; otherwise the run brings it */
    char value[8];          /* one element of its dtype */
    tn_tensor ts[MOST + 1]; /* output and sources */
} wide;

static tn_tensor scalar(tn_dtype dtype)
{
    return (tn_tensor){.dtype = dtype, .device = TN_CPU};
}

/* ---- strips in f64 ---- */

static void *writable(const void *p)
{
    void *q;
    memcpy(&q, &p, sizeof q);
    return q;
}

static tn_tensor line(const void *data, tn_dtype dtype, int64_t n, int64_t step)
{
    tn_tensor t;
    t.data = writable(data);
    t.dtype = dtype;
    t.ndim = 1;
    t.device = TN_CPU;
    t.flags = 0;
    t.shape[0] = n;
    t.stride[0] = step;
    return t;
}

/* At most STRIP elements of operands that are checked: nothing can fail. */
static tn_status compute(const wide *w, const tn_tensor *out, const tn_tensor *in)
{
    const int64_t n = out->shape[0];
    double scratch[MOST][STRIP];
    tn_tensor ts[MOST];
    const tn_tensor *srcs[MOST];
    for (int k = 0; k < w->nsrc; k++) {
        ts[k] = line(scratch[k], TN_F64, n, sizeof scratch[k][0]);
        srcs[k] = &ts[k];
        TRY(tn_cast(&ts[k], &in[k]));
    }
    TRY(tn_apply(tni_iop_rows[w->head.name].op, NULL, &ts[0], w->nsrc, srcs));
    return tn_cast(out, &ts[0]);
}

static void strip(void *user, int64_t n, void *dst, int64_t dst_step, const void *const *src,
                  const int64_t *src_step)
{
    const wide *w = user;
    for (int64_t at = 0; at < n; at += STRIP) {
        const int64_t m = n - at < STRIP ? n - at : STRIP;
        const tn_tensor out = line((char *)dst + at * dst_step, w->ts[0].dtype, m, dst_step);
        tn_tensor in[MOST];
        for (int k = 0; k < w->nsrc; k++)
            in[k] = line((const char *)src[k] + at * src_step[k], w->ts[k + 1].dtype, m,
                         src_step[k]);
        if (compute(w, &out, in) != TN_OK)
            return;
    }
}

static tn_status run_wide(const tni_iop *iop, void *dst, const void *const *given)
{
    const wide *w = (const wide *)iop;
    const void *srcs[MOST];
    for (int k = 0; k < w->nsrc; k++)
        srcs[k] = w->kept && k == w->nsrc - 1 ? w->value : given[k];
    if (iop->plan)
        return tn_plan_run(iop->plan, dst, srcs);
    tn_tensor ts[MOST + 1];
    const tn_tensor *ins[MOST];
    for (int k = 0; k <= w->nsrc; k++) {
        ts[k] = w->ts[k];
        ts[k].data = k ? writable(srcs[k - 1]) : dst;
        if (k > 0)
            ins[k - 1] = &ts[k];
    }
    return tn_map(strip, writable(w), &ts[0], w->nsrc, ins);
}

/* ---- making ---- */

/* ts are output and tensors; number, if there is one, follows them: kept or of the run, and of
 * f32 where the others are and it fits. */
typedef struct number {
    bool there, kept, fits_f32;
    double value;
} number;

static tn_status plan(tn_plan **plan, const wide *w)
{
    const tn_tensor *srcs[MOST];
    for (int k = 0; k < w->nsrc; k++)
        srcs[k] = &w->ts[k + 1];
    return tn_plan_op(plan, tni_iop_rows[w->head.name].op, NULL, &w->ts[0], w->nsrc, srcs);
}

/* What a map checks of layouts. */
static tn_status check_layouts(const wide *w)
{
    const tn_tensor *y = &w->ts[0];
    tn_tensor spread;
    for (int k = 1; k <= w->nsrc; k++)
        TRY(tn_broadcast_to(&spread, &w->ts[k], y->ndim, y->shape));
    return tni_check_injective(y, tni_iop_rows[w->head.name].name);
}

static tn_status make(const tni_iop_request *q, int n, const tni_iop_tensor *ts, number num)
{
    tni_iop *made;
    TRY(tni_iop_make(&made, q, sizeof(wide), NULL));
    wide *w = (wide *)made;
    bool narrow = true, f32 = ts[0]->dtype == INFINI_DTYPE_F32 && num.fits_f32;
    for (int k = 0; k < n; k++) {
        w->ts[k] = ts[k]->t;
        narrow &= ts[k]->dtype == (f32 ? INFINI_DTYPE_F32 : INFINI_DTYPE_F64);
    }
    made->run = run_wide;
    w->nsrc = n - 1 + num.there;
    w->kept = num.kept;
    if (num.there)
        w->ts[n] = scalar(f32 ? TN_F32 : TN_F64);
    tni_iop_value(w->value, f32 ? INFINI_DTYPE_F32 : INFINI_DTYPE_F64, num.value);
    const tn_status status = narrow ? plan(&made->plan, w) : check_layouts(w);
    if (status == TN_OK)
        *q->out = &made->base;
    else
        tni_iop_free(made);
    return status;
}

static tn_status make_lerp(const tni_iop_request *q, int n, const tni_iop_tensor *ts,
                           float weight)
{
    TRY(tni_iop_check(q, n, ts));
    TRY(tni_iop_takes(q->name, ts[0]));
    for (int k = 1; k < n; k++)
        TRY(tni_iop_same_dtype(q->name, ts[0], ts[k]));
    if (n == 3)
        return make(q, n, ts, (number){true, true, true, (double)weight});
    tn_plan *whole;
    tni_iop *made;
    TRY(tn_plan_op(&whole, TN_LERP, NULL, &ts[0]->t, 3,
                   (const tn_tensor *const[]){&ts[1]->t, &ts[2]->t, &ts[3]->t}));
    TRY(tni_iop_make(&made, q, sizeof *made, whole));
    *q->out = &made->base;
    return TN_OK;
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
    return make(q, n, ts, (number){n == 2, n == 2, false, (double)exponent});
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
    return make(q, 2, ts, (number){true, false, false, 0});
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
