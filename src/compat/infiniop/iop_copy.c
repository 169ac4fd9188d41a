/* iop_copy.c - operators that copy a view: their work is one plan of tn_plan_rearrange. */
#include "iop.h"

#include <string.h>

/* ---- copies, from the source pointer or at an offset from it ---- */

typedef struct copied {
    tni_iop head;
    int64_t src_at;
} copied;

static tn_status run_copied(const tni_iop *iop, void *dst, const void *const *srcs)
{
    const void *src = srcs[0];
    if (src)
        src = (const void *)((uintptr_t)src + (uintptr_t)((const copied *)iop)->src_at);
    return tn_plan_run(iop->plan, dst, &src);
}

static tn_status make_copy(const tni_iop_request *q, const tn_tensor *dst, const tn_tensor *src)
{
    tn_plan *plan;
    tni_iop *made;
    TRY(tn_plan_rearrange(&plan, dst, src));
    TRY(tni_iop_make(&made, q, sizeof(copied), plan));
    *q->out = &made->base;
    return TN_OK;
}

/* Check the two tensors of a copy: not NULL, one dtype. */
static tn_status check_pair(const tni_iop_request *q, const tni_iop_tensor *ts)
{
    TRY(tni_iop_check(q, 2, ts));
    TRY(tni_iop_takes(q->name, ts[0]));
    return tni_iop_same_dtype(q->name, ts[0], ts[1]);
}

static tn_status make_rearrange(const tni_iop_request *q, const tni_iop_tensor *ts)
{
    TRY(check_pair(q, ts));
    return make_copy(q, &ts[0]->t, &ts[1]->t);
}

infiniStatus_t infiniopCreateRearrangeDescriptor(infiniopHandle_t handle,
                                                 infiniopRearrangeDescriptor_t *desc_ptr,
                                                 tni_iop_tensor dst, tni_iop_tensor src)
{
    const tni_iop_request q = {TNI_IOP_Rearrange, handle, desc_ptr};
    return tni_iop_status(make_rearrange(&q, (const tni_iop_tensor[]){dst, src}));
}

infiniStatus_t infiniopRearrange(infiniopRearrangeDescriptor_t desc, void *dst, const void *src,
                                 void *stream)
{
    (void)stream;
    return tni_iop_run(TNI_IOP_Rearrange, desc, dst, &src);
}

static tn_status make_broadcast(const tni_iop_request *q, const tni_iop_tensor *ts)
{
    tn_tensor wide;
    TRY(check_pair(q, ts));
    TRY(tn_broadcast_to(&wide, &ts[1]->t, ts[0]->t.ndim, ts[0]->t.shape));
    return make_copy(q, &ts[0]->t, &wide);
}

infiniStatus_t infiniopCreateBroadcastToDescriptor(infiniopHandle_t handle,
                                                   infiniopBroadcastToDescriptor_t *desc_ptr,
                                                   tni_iop_tensor y, tni_iop_tensor x)
{
    const tni_iop_request q = {TNI_IOP_BroadcastTo, handle, desc_ptr};
    return tni_iop_status(make_broadcast(&q, (const tni_iop_tensor[]){y, x}));
}

static tn_status make_flip(const tni_iop_request *q, const tni_iop_tensor *ts)
{
    TRY(check_pair(q, ts));
    if (ts[1]->t.ndim == 0)
        return tni_fail(TN_ESHAPE, "Flipud: the input has no axes");
    tn_tensor x = ts[1]->t, back;
    x.data = &x; /* any address: only the offset of the view from it matters */
    TRY(tn_flip(&back, &x, 0));
    TRY(make_copy(q, &ts[0]->t, &back));
    copied *m = (copied *)(void *)*q->out;
    m->src_at = (int64_t)((uintptr_t)back.data - (uintptr_t)x.data);
    m->head.run = run_copied;
    return TN_OK;
}

infiniStatus_t infiniopCreateFlipudDescriptor(infiniopHandle_t handle,
                                              infiniopFlipudDescriptor_t *desc_ptr,
                                              tni_iop_tensor output, tni_iop_tensor input)
{
    const tni_iop_request q = {TNI_IOP_Flipud, handle, desc_ptr};
    return tni_iop_status(make_flip(&q, (const tni_iop_tensor[]){output, input}));
}

/* Both tensors are viewed with axes (N, C, H, r, W, r). */
static tn_status make_shuffle(const tni_iop_request *q, const tni_iop_tensor *ts, int factor)
{
    TRY(tni_iop_check(q, 2, ts));
    if (factor < 1)
        return tni_fail(TN_EARG, "PixelShuffle: upscale_factor is %d, expected at least 1",
                        factor);
    TRY(check_pair(q, ts));
    const tn_tensor *y = &ts[0]->t, *x = &ts[1]->t;
    if (y->ndim != 4 || x->ndim != 4)
        return tni_fail(TN_ESHAPE, "PixelShuffle: expected 4-d input and output, got %d and %d",
                        x->ndim, y->ndim);
    const int64_t r = factor;
    const int64_t grown[] = {1, r * r, r, r};
    for (int i = 0; i < 4; i++) {
        const int64_t less = i == 1 ? y->shape[i] : x->shape[i];
        const int64_t more = i == 1 ? x->shape[i] : y->shape[i];
        if (more % grown[i] || more / grown[i] != less)
            return tni_fail(TN_ESHAPE,
                            "PixelShuffle: axis %d: extents %lld and %lld do not match", i,
                            (long long)x->shape[i], (long long)y->shape[i]);
    }
    tn_tensor to, from;
    const int64_t n = y->shape[0], c = y->shape[1], h = x->shape[2], w = x->shape[3];
    TRY(tn_reshape(&to, y, 6, (const int64_t[]){n, c, h, r, w, r}));
    TRY(tn_reshape(&from, x, 6, (const int64_t[]){n, c, r, r, h, w}));
    TRY(tn_permute(&from, &from, (const int[]){0, 1, 4, 2, 5, 3}));
    return make_copy(q, &to, &from);
}

infiniStatus_t infiniopCreatePixelShuffleDescriptor(infiniopHandle_t handle,
                                                    infiniopPixelShuffleDescriptor_t *desc_ptr,
                                                    tni_iop_tensor y, tni_iop_tensor x,
                                                    int upscale_factor)
{
    const tni_iop_request q = {TNI_IOP_PixelShuffle, handle, desc_ptr};
    return tni_iop_status(make_shuffle(&q, (const tni_iop_tensor[]){y, x}, upscale_factor));
}

/* ---- fills with one number ---- */

void tni_iop_value(void *out, infiniDtype_t dtype, double value)
{
    tn_dtype to;
    switch (dtype) {
    case INFINI_DTYPE_F8:
    case INFINI_DTYPE_C16:
        to = TN_F8E4M3;
        break;
    case INFINI_DTYPE_C32:
        to = TN_F16;
        break;
    default:
        to = tni_iop_dtype(dtype);
    }
    const tn_tensor from = {.data = &value, .dtype = TN_F64, .device = TN_CPU};
    const tn_tensor into = {.data = out, .dtype = to, .device = TN_CPU};
    (void)!tn_cast(&into, &from);
}

typedef struct constant {
    tni_iop head;
    char value[16];
} constant;

static tn_status run_constant(const tni_iop *iop, void *dst, const void *const *srcs)
{
    (void)srcs;
    const void *value = ((const constant *)iop)->value;
    return tn_plan_run(iop->plan, dst, &value);
}

static tn_status make_constant(const tni_iop_request *q, const tni_iop_tensor *ts, double value)
{
    TRY(tni_iop_check_alike(q, 2, ts));
    const tn_tensor *y = &ts[0]->t;
    const tn_tensor one = {.dtype = y->dtype, .device = TN_CPU};
    tn_tensor all;
    TRY(tn_broadcast_to(&all, &one, y->ndim, y->shape));
    tn_plan *plan;
    tni_iop *made;
    TRY(tn_plan_rearrange(&plan, y, &all));
    TRY(tni_iop_make(&made, q, sizeof(constant), plan));
    made->run = run_constant;
    tni_iop_value(((constant *)made)->value, ts[0]->dtype, value);
    *q->out = &made->base;
    return TN_OK;
}

infiniStatus_t infiniopCreateOnesDescriptor(infiniopHandle_t handle,
                                            infiniopOnesDescriptor_t *desc_ptr,
                                            tni_iop_tensor y, tni_iop_tensor x)
{
    const tni_iop_request q = {TNI_IOP_Ones, handle, desc_ptr};
    return tni_iop_status(make_constant(&q, (const tni_iop_tensor[]){y, x}, 1));
}

infiniStatus_t infiniopCreateZerosDescriptor(infiniopHandle_t handle,
                                             infiniopZerosDescriptor_t *desc_ptr,
                                             tni_iop_tensor y, tni_iop_tensor x)
{
    const tni_iop_request q = {TNI_IOP_Zeros, handle, desc_ptr};
    return tni_iop_status(make_constant(&q, (const tni_iop_tensor[]){y, x}, 0));
}
