/* iop_pad.c - operators that embed tensors in a larger one: Pad is one plan of tn_plan_pad,
 * BlockDiag one for each block. */
#include "iop.h"

#include <string.h>

/* ---- Pad ---- */

/* Pad widths by axis from torch's order: last axis first, before then after. */
static tn_status read_widths(int64_t *before, int64_t *after, const tn_tensor *x,
                             const int *widths, size_t count)
{
    if (count % 2 || count / 2 > (size_t)x->ndim)
        return tni_fail(TN_EARG, "Pad: got %zu widths for %d axes", count, x->ndim);
    memset(before, 0, TN_MAX_NDIM * sizeof *before);
    memset(after, 0, TN_MAX_NDIM * sizeof *after);
    for (size_t k = 0; k < count; k++) {
        int width;
        memcpy(&width, widths + k, sizeof width);
        if (width < 0)
            return tni_fail(TN_EARG, "Pad: width %zu is %d, expected at least 0", k, width);
        (k % 2 ? after : before)[x->ndim - 1 - (int)(k / 2)] = width;
    }
    return TN_OK;
}

static tn_status read_mode(tn_pad_mode *mode, const char *name)
{
    static const struct {
        const char *name;
        tn_pad_mode mode;
    } modes[] = {{"constant", TN_PAD_CONSTANT},
                 {"reflect", TN_PAD_REFLECT},
                 {"replicate", TN_PAD_EDGE},
                 {"circular", TN_PAD_WRAP}};
    for (int i = 0; i < COUNT(modes); i++)
        if (!strcmp(name ? name : "constant", modes[i].name)) {
            *mode = modes[i].mode;
            return TN_OK;
        }
    return tni_fail(TN_EARG, "Pad: unknown mode \"%.40s\"", name);
}

static tn_status check_reflect(const tn_tensor *x, const int64_t *before, const int64_t *after)
{
    for (int i = 0; i < x->ndim; i++)
        if ((before[i] || after[i]) && (before[i] >= x->shape[i] || after[i] >= x->shape[i]))
            return tni_fail(
                TN_EARG, "Pad: axis %d of extent %lld cannot be reflected by %lld and %lld", i,
                (long long)x->shape[i], (long long)before[i], (long long)after[i]);
    return TN_OK;
}

static tn_status make_pad(const tni_iop_request *q, const tni_iop_tensor *ts, const void *pad,
                          size_t pad_size, const char *name, double value)
{
    int64_t before[TN_MAX_NDIM], after[TN_MAX_NDIM];
    tn_pad_mode mode = TN_PAD_CONSTANT;
    TRY(tni_iop_check(q, 2, ts));
    if (!pad && pad_size > 0)
        return tni_fail(TN_ENULL, "Pad: pad is NULL");
    if (pad_size % sizeof(int))
        return tni_fail(TN_EARG, "Pad: pad_size is %zu bytes, expected a multiple of 4",
                        pad_size);
    TRY(read_widths(before, after, &ts[1]->t, pad, pad_size / sizeof(int)));
    TRY(read_mode(&mode, name));
    if (mode == TN_PAD_REFLECT)
        TRY(check_reflect(&ts[1]->t, before, after));
    TRY(tni_iop_takes(q->name, ts[0]));
    TRY(tni_iop_same_dtype(q->name, ts[0], ts[1]));

    char fill[16] = {0};
    tni_iop_value(fill, ts[0]->dtype, value);
    tn_plan *plan;
    tni_iop *made;
    TRY(tn_plan_pad(&plan, &ts[0]->t, &ts[1]->t, before, after, mode, fill));
    TRY(tni_iop_make(&made, q, sizeof *made, plan));
    *q->out = &made->base;
    return TN_OK;
}

infiniStatus_t infiniopCreatePadDescriptor(infiniopHandle_t handle,
                                           infiniopPadDescriptor_t *desc_ptr, tni_iop_tensor y,
                                           tni_iop_tensor x, void *pad, size_t pad_size,
                                           const char *mode, double value)
{
    const tni_iop_request q = {TNI_IOP_Pad, handle, desc_ptr};
    return tni_iop_status(
        make_pad(&q, (const tni_iop_tensor[]){y, x}, pad, pad_size, mode, value));
}

/* ---- BlockDiag: one band of rows for each block ---- */

static tn_status check_blocks(const tni_iop_request *q, tni_iop_tensor y,
                              const tni_iop_tensor *x, size_t n)
{
    TRY(tni_iop_check(q, 1, &y));
    if (!x)
        return tni_fail(TN_ENULL, "BlockDiag: x is NULL");
    if (n == 0 || n > PTRDIFF_MAX / sizeof *x)
        return tni_fail(TN_EARG, "BlockDiag: invalid number of matrices %zu", n);
    TRY(tni_iop_takes(q->name, y));
    int64_t sum[2] = {0, 0};
    for (size_t k = 0; k < n; k++) {
        if (!x[k])
            return tni_fail(TN_ENULL, "BlockDiag: x[%zu] is NULL", k);
        TRY(tni_iop_same_dtype(q->name, y, x[k]));
        if (x[k]->t.ndim != 2)
            return tni_fail(TN_ESHAPE, "BlockDiag: x[%zu]: got %d axes, expected 2", k,
                            x[k]->t.ndim);
        for (int i = 0; i < 2; i++)
            if (!tni_add(sum[i], x[k]->t.shape[i], &sum[i]))
                return tni_fail(TN_EOVERFLOW, "BlockDiag: the matrices are too large");
    }
    if (y->t.ndim != 2 || y->t.shape[0] != sum[0] || y->t.shape[1] != sum[1])
        return tni_fail(TN_ESHAPE, "BlockDiag: y: expected shape (%lld, %lld)",
                        (long long)sum[0], (long long)sum[1]);
    return tni_check_injective(&y->t, "BlockDiag", "y");
}

static tn_status add_blocks(tni_iop_parted *p)
{
    const tn_tensor y = tni_iop_anchored(&p->ts[0]);
    int64_t row = 0, column = 0;
    for (size_t k = 0; k < p->nsrc; k++) {
        const tn_tensor x = tni_iop_anchored(&p->ts[k + 1]);
        tn_tensor band;
        TRY(tn_slice(&band, &y, 0, row, row + x.shape[0], 1));
        TRY(tni_iop_add_part(p, &band, k, &x, (const int64_t[]){0, column},
                             (const int64_t[]){0, y.shape[1] - column - x.shape[1]}));
        row += x.shape[0];
        column += x.shape[1];
    }
    return TN_OK;
}

static tn_status make_blocks(const tni_iop_request *q, tni_iop_tensor y,
                             const tni_iop_tensor *x, size_t n)
{
    tni_iop_parted *p;
    TRY(check_blocks(q, y, x, n));
    TRY(tni_iop_make_parted(&p, q, y, n, x, n));
    return tni_iop_give(q, p, add_blocks(p));
}

infiniStatus_t infiniopCreateBlockDiagDescriptor(infiniopHandle_t handle,
                                                 infiniopBlockDiagDescriptor_t *desc_ptr,
                                                 tni_iop_tensor y, tni_iop_tensor *x,
                                                 size_t num_inputs)
{
    const tni_iop_request q = {TNI_IOP_BlockDiag, handle, desc_ptr};
    return tni_iop_status(make_blocks(&q, y, x, num_inputs));
}

infiniStatus_t infiniopBlockDiag(infiniopBlockDiagDescriptor_t desc, void *workspace,
                                 size_t workspace_size, void *y, const void **x, void *stream)
{
    (void)workspace, (void)workspace_size, (void)stream;
    if (!x)
        return tni_iop_status(tni_fail(TN_ENULL, "BlockDiag: x is NULL"));
    return tni_iop_run(TNI_IOP_BlockDiag, desc, y, x);
}
