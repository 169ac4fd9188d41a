/* iop_base.c - handles, tensor descriptors, and the checks common to all operators.
 *
 * A descriptor is checked when it is made; later checks concern only how several fit
 * together. */
#include "iop_program.h"

#include <infinirt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- statuses ---- */

infiniStatus_t tni_iop_status(tn_status status)
{
    static const infiniStatus_t statuses[] = {
        [TN_OK] = INFINI_STATUS_SUCCESS,
        [TN_ENULL] = INFINI_STATUS_NULL_POINTER,
        [TN_EARG] = INFINI_STATUS_BAD_PARAM,
        [TN_EDTYPE] = INFINI_STATUS_BAD_TENSOR_DTYPE,
        [TN_ESHAPE] = INFINI_STATUS_BAD_TENSOR_SHAPE,
        [TN_ESTRIDE] = INFINI_STATUS_BAD_TENSOR_STRIDES,
        [TN_EOVERLAP] = INFINI_STATUS_BAD_PARAM,
        [TN_EOVERFLOW] = INFINI_STATUS_BAD_TENSOR_SHAPE,
        [TN_ENOMEM] = INFINI_STATUS_INTERNAL_ERROR,
        [TN_EDEVICE] = INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED,
        [TN_EIO] = INFINI_STATUS_INTERNAL_ERROR,
        [TN_EFORMAT] = INFINI_STATUS_BAD_PARAM,
        [TN_EUNSUPPORTED] = INFINI_STATUS_NOT_IMPLEMENTED,
    };
    if (status == TN_OK)
        return INFINI_STATUS_SUCCESS;
    const char *verbose = getenv("INFINIOP_VERBOSE");
    if (verbose && !strcmp(verbose, "1"))
        fprintf(stderr, "infiniop: %s\n", tn_error());
    return statuses[status];
}

/* ---- handles ---- */

infiniStatus_t infiniopCreateHandle(infiniopHandle_t *handle_ptr)
{
    if (!handle_ptr)
        return tni_iop_status(tni_fail(TN_ENULL, "CreateHandle: handle_ptr is NULL"));
    struct InfiniopHandle current;
    const infiniStatus_t status = infinirtGetDevice(&current.device, &current.device_id);
    if (status != INFINI_STATUS_SUCCESS)
        return status;
    infiniopHandle_t made = tni_alloc(sizeof *made);
    if (!made)
        return tni_iop_status(tni_fail(TN_ENOMEM, "CreateHandle: out of memory"));
    *made = current;
    *handle_ptr = made;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infiniopDestroyHandle(infiniopHandle_t handle)
{
    if (!handle)
        return tni_iop_status(tni_fail(TN_ENULL, "DestroyHandle: handle is NULL"));
    tni_free(handle);
    return INFINI_STATUS_SUCCESS;
}

/* ---- tensor descriptors ---- */

/* The dtype that represents InfiniOp's: if tenon lacks it, the unsigned integer of its
 * width. */
static const tn_dtype dtypes[] = {
    [INFINI_DTYPE_BYTE] = TN_U8,   [INFINI_DTYPE_BOOL] = TN_BOOL, [INFINI_DTYPE_I8] = TN_I8,
    [INFINI_DTYPE_I16] = TN_I16,   [INFINI_DTYPE_I32] = TN_I32,   [INFINI_DTYPE_I64] = TN_I64,
    [INFINI_DTYPE_U8] = TN_U8,     [INFINI_DTYPE_U16] = TN_U16,   [INFINI_DTYPE_U32] = TN_U32,
    [INFINI_DTYPE_U64] = TN_U64,   [INFINI_DTYPE_F8] = TN_U8,     [INFINI_DTYPE_F16] = TN_F16,
    [INFINI_DTYPE_F32] = TN_F32,   [INFINI_DTYPE_F64] = TN_F64,   [INFINI_DTYPE_C16] = TN_U16,
    [INFINI_DTYPE_C32] = TN_U32,   [INFINI_DTYPE_C64] = TN_C64,   [INFINI_DTYPE_C128] = TN_C128,
    [INFINI_DTYPE_BF16] = TN_BF16,
};

tn_dtype tni_iop_dtype(infiniDtype_t dtype)
{
    return dtypes[dtype];
}

bool tni_iop_has_arithmetic(infiniDtype_t dtype)
{
    const unsigned without = 1 << INFINI_DTYPE_BYTE | 1 << INFINI_DTYPE_F8 |
                             1 << INFINI_DTYPE_C16 | 1 << INFINI_DTYPE_C32;
    return !(without >> dtype & 1);
}

/* Set extents, and strides in bytes. */
static tn_status set_axes(tn_tensor *t, const size_t *shape, const ptrdiff_t *strides)
{
    const int64_t width = tni_width(t->dtype);
    int64_t bytes;
    for (int i = 0; i < t->ndim; i++) {
        t->shape[i] = (int64_t)shape[i];
        if (t->shape[i] < 0)
            return tni_fail(TN_ESHAPE,
                            "CreateTensorDescriptor: axis %d: extent %zu exceeds 2^63 - 1", i,
                            shape[i]);
    }
    if (!tni_shape_size(t->ndim, t->shape, width, &bytes))
        return tni_fail(TN_ESHAPE, "CreateTensorDescriptor: size exceeds 2^63 - 1 bytes");
    if (!strides) {
        tni_shape_dense(t->ndim, t->shape, width, t->stride);
        return TN_OK;
    }
    for (int i = 0; i < t->ndim; i++)
        if (!tni_mul(strides[i], width, &t->stride[i]))
            return tni_fail(
                TN_ESTRIDE,
                "CreateTensorDescriptor: axis %d: stride %td exceeds 2^63 - 1 bytes", i,
                strides[i]);
    if (!tni_shape_fits(t->ndim, t->shape, t->stride, width))
        return tni_fail(TN_ESTRIDE,
                        "CreateTensorDescriptor: strides span more than 2^63 - 1 bytes");
    return TN_OK;
}

static tn_status describe(infiniopTensorDescriptor_t *out, size_t ndim, const size_t *shape,
                          const ptrdiff_t *strides, infiniDtype_t dtype)
{
    if (!out || (!shape && ndim > 0))
        return tni_fail(TN_ENULL, "CreateTensorDescriptor: %s is NULL",
                        out ? "shape" : "desc_ptr");
    if (ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "CreateTensorDescriptor: ndim is %zu, expected at most %d",
                        ndim, TN_MAX_NDIM);
    if ((unsigned)dtype >= (unsigned)COUNT(dtypes) || !dtypes[dtype])
        return tni_fail(TN_EDTYPE, "CreateTensorDescriptor: unknown dtype %d", (int)dtype);
    struct InfiniopTensorDescriptor d = {.dtype = dtype};
    d.t.dtype = dtypes[dtype];
    d.t.ndim = (int)ndim;
    TRY(set_axes(&d.t, shape, strides));
    infiniopTensorDescriptor_t made = tni_alloc(sizeof *made);
    if (!made)
        return tni_fail(TN_ENOMEM, "CreateTensorDescriptor: out of memory");
    *made = d;
    *out = made;
    return TN_OK;
}

infiniStatus_t infiniopCreateTensorDescriptor(infiniopTensorDescriptor_t *desc_ptr, size_t ndim,
                                              const size_t *shape, const ptrdiff_t *strides,
                                              infiniDtype_t dtype)
{
    return tni_iop_status(describe(desc_ptr, ndim, shape, strides, dtype));
}

infiniStatus_t infiniopDestroyTensorDescriptor(infiniopTensorDescriptor_t desc)
{
    if (!desc)
        return tni_iop_status(tni_fail(TN_ENULL, "DestroyTensorDescriptor: desc is NULL"));
    tni_free(desc);
    return INFINI_STATUS_SUCCESS;
}

/* ---- the checks of operators ---- */

enum {
    F16_F32 = 1 << INFINI_DTYPE_F16 | 1 << INFINI_DTYPE_F32 | 1 << INFINI_DTYPE_BF16,
    F32_F64 = 1 << INFINI_DTYPE_F32 | 1 << INFINI_DTYPE_F64,
    F32_ONLY = 1 << INFINI_DTYPE_F32,
    FLOATS = 1 << INFINI_DTYPE_F16 | 1 << INFINI_DTYPE_F32 | 1 << INFINI_DTYPE_F64 |
             1 << INFINI_DTYPE_BF16,
    I32_I64 = 1 << INFINI_DTYPE_I32 | 1 << INFINI_DTYPE_I64,
    INTS = I32_I64 | 1 << INFINI_DTYPE_I8 | 1 << INFINI_DTYPE_I16 | 1 << INFINI_DTYPE_U8 |
           1 << INFINI_DTYPE_U16 | 1 << INFINI_DTYPE_U32 | 1 << INFINI_DTYPE_U64,
    WIDE_INTS = I32_I64 | 1 << INFINI_DTYPE_U32 | 1 << INFINI_DTYPE_U64,
    BOOL_U8 = 1 << INFINI_DTYPE_BOOL | 1 << INFINI_DTYPE_U8,
    BOOL_BYTE = 1 << INFINI_DTYPE_BOOL | 1 << INFINI_DTYPE_BYTE,
    ANY = (1 << (INFINI_DTYPE_BF16 + 1)) - 1,
};

const tni_iop_row tni_iop_rows[TNI_IOPS] = {
#define OP(id, made, run, takes, tenon) {.name = #id, .dtypes = takes, .op = tenon},
#define MOVE(id, run, takes)            {.name = #id, .dtypes = takes},
#define BARE(id, takes)                 MOVE(id, , takes)
#include "iop.def"
#define PROGRAM(name, n, written, optional, alias, takes, plan)                                \
    {#name, takes, (tn_op)0, n, written, optional, alias, plan},
#define BARE_PROGRAM PROGRAM
#include "iop_programs.def"
};

tn_status tni_iop_check(const tni_iop_request *q, int n, const tni_iop_tensor *ts)
{
    const char *name = tni_iop_rows[q->name].name;
    if (!q->handle || !q->out)
        return tni_fail(TN_ENULL, "%s: %s is NULL", name, q->handle ? "desc_ptr" : "handle");
    for (int k = 0; k < n; k++)
        if (!ts[k])
            return tni_fail(TN_ENULL, "%s: tensor descriptor %d is NULL", name, k);
    if (q->handle->device != INFINI_DEVICE_CPU || q->handle->device_id != 0)
        return tni_fail(TN_EDEVICE, "%s: the handle belongs to device %d, id %d", name,
                        (int)q->handle->device, q->handle->device_id);
    return TN_OK;
}

tn_status tni_iop_takes(tni_iop_name name, tni_iop_tensor t)
{
    if (tni_iop_rows[name].dtypes >> t->dtype & 1)
        return TN_OK;
    return tni_fail(TN_EDTYPE, "%s: dtype %d is not supported", tni_iop_rows[name].name,
                    (int)t->dtype);
}

tn_status tni_iop_same_dtype(tni_iop_name name, tni_iop_tensor a, tni_iop_tensor b)
{
    if (a->dtype == b->dtype)
        return TN_OK;
    return tni_fail(TN_EDTYPE, "%s: dtypes %d and %d differ", tni_iop_rows[name].name,
                    (int)a->dtype, (int)b->dtype);
}

tn_status tni_iop_same_shapes(tni_iop_name name, int n, const tni_iop_tensor *ts)
{
    for (int k = 1; k < n; k++)
        TRY(tni_check_shape(&ts[k]->t, ts[0]->t.ndim, ts[0]->t.shape, tni_iop_rows[name].name,
                            "input"));
    return TN_OK;
}

tn_status tni_iop_check_alike(const tni_iop_request *q, int n, const tni_iop_tensor *ts)
{
    TRY(tni_iop_check(q, n, ts));
    TRY(tni_iop_takes(q->name, ts[0]));
    for (int k = 1; k < n; k++)
        TRY(tni_iop_same_dtype(q->name, ts[0], ts[k]));
    return tni_iop_same_shapes(q->name, n, ts);
}

/* ---- operators ---- */

tn_status tni_iop_make(tni_iop **made, const tni_iop_request *q, size_t size, tn_plan *plan)
{
    tni_iop *iop = tni_alloc(size);
    if (!iop) {
        tn_plan_free(plan);
        return tni_fail(TN_ENOMEM, "%s: out of memory", tni_iop_rows[q->name].name);
    }
    memset(iop, 0, size);
    iop->base.device_type = q->handle->device;
    iop->base.device_id = q->handle->device_id;
    iop->name = q->name;
    iop->plan = plan;
    *made = iop;
    return TN_OK;
}

void tni_iop_free(tni_iop *iop)
{
    for (size_t i = 0; i < iop->nparts; i++)
        tn_plan_free(iop->parts[i].plan);
    if (iop->program)
        tni_iop_free_program((tni_iop_program *)iop);
    tn_plan_free(iop->plan);
    tni_free(iop);
}

tn_status tni_iop_fail_run(tni_iop_name name, const struct InfiniopDescriptor *desc)
{
    if (!desc)
        return tni_fail(TN_ENULL, "%s: desc is NULL", tni_iop_rows[name].name);
    return tni_fail(TN_EARG, "%s: desc belongs to another operator", tni_iop_rows[name].name);
}

infiniStatus_t infiniopGetDescriptorDeviceType(const struct InfiniopDescriptor *desc_ptr,
                                               infiniDevice_t *device_type)
{
    if (!desc_ptr || !device_type)
        return tni_iop_status(tni_fail(TN_ENULL, "GetDescriptorDeviceType: %s is NULL",
                                       desc_ptr ? "device_type" : "desc_ptr"));
    *device_type = desc_ptr->device_type;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infiniopGetDescriptorDeviceId(const struct InfiniopDescriptor *desc_ptr,
                                             int *device_id)
{
    if (!desc_ptr || !device_id)
        return tni_iop_status(tni_fail(TN_ENULL, "GetDescriptorDeviceId: %s is NULL",
                                       desc_ptr ? "device_id" : "desc_ptr"));
    *device_id = desc_ptr->device_id;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infiniopExplain(const struct InfiniopDescriptor *desc, char *buf, size_t n)
{
    if (!desc || (!buf && n > 0))
        return tni_iop_status(tni_fail(TN_ENULL, "Explain: %s is NULL", desc ? "buf" : "desc"));
    const tni_iop *iop = tni_iop_of(desc);
    if (iop->plan)
        return tni_iop_status(tn_plan_explain(iop->plan, buf, n));
    if (iop->program)
        return tni_iop_status(tni_iop_explain((const tni_iop_program *)iop, buf, n));
    if (!iop->nparts)
        snprintf(buf, n, "%s: nothing to do\n", tni_iop_rows[iop->name].name);
    else {
        const int used = snprintf(buf, n, "%s: plan 1 of %zu is\n",
                                  tni_iop_rows[iop->name].name, iop->nparts);
        if (used >= 0 && (size_t)used < n)
            return tni_iop_status(
                tn_plan_explain(iop->parts[0].plan, buf + used, n - (size_t)used));
    }
    return INFINI_STATUS_SUCCESS;
}
