/* iop_elementwise.c - the public functions of elementwise operators: those that a row of
 * iop.def describes completely, and those that take additional numbers. */
#include "iop.h"

/* ---- making ---- */

/* Plan an op on equal shapes and return the operator. */
static tn_status make(const tni_iop_request *q, const double *params, int n,
                      const tni_iop_tensor *ts)
{
    const tn_tensor *srcs[3];
    for (int k = 1; k < n; k++)
        srcs[k - 1] = &ts[k]->t;
    tn_plan *plan;
    tni_iop *made;
    TRY(tn_plan_op(&plan, tni_iop_rows[q->name].op, params, &ts[0]->t, n - 1, srcs));
    TRY(tni_iop_make(&made, q, sizeof *made, plan));
    *q->out = &made->base;
    return TN_OK;
}

static infiniStatus_t make_alike(tni_iop_request q, const double *params, int n,
                                 const tni_iop_tensor *ts)
{
    const tn_status status = tni_iop_check_alike(&q, n, ts);
    return tni_iop_status(status == TN_OK ? make(&q, params, n, ts) : status);
}

static tn_status check_test(const tni_iop_request *q, const tni_iop_tensor *ts)
{
    const char *name = tni_iop_rows[q->name].name;
    TRY(tni_iop_check(q, 3, ts));
    if (ts[0]->dtype != INFINI_DTYPE_BOOL)
        return tni_fail(TN_EDTYPE, "%s: output: got dtype %d, expected BOOL", name,
                        (int)ts[0]->dtype);
    TRY(tni_iop_takes(q->name, ts[1]));
    TRY(tni_iop_same_dtype(q->name, ts[1], ts[2]));
    return tni_iop_same_shapes(q->name, 3, ts);
}

static infiniStatus_t make_test(tni_iop_request q, const tni_iop_tensor *ts)
{
    const tn_status status = check_test(&q, ts);
    return tni_iop_status(status == TN_OK ? make(&q, NULL, 3, ts) : status);
}

#define REQUEST(name) ((tni_iop_request){TNI_IOP_##name, handle, desc_ptr})
#define CREATE(name)                                                                           \
    infiniStatus_t infiniopCreate##name##Descriptor(infiniopHandle_t handle,                   \
                                                    infiniop##name##Descriptor_t *desc_ptr,    \
                                                    tni_iop_tensor y, tni_iop_tensor a
#define MAKE_UNARY(name)                                                                       \
    CREATE(name))                                                                              \
    {                                                                                          \
        return make_alike(REQUEST(name), NULL, 2, (const tni_iop_tensor[]){y, a});             \
    }
#define MAKE_BINARY(name)                                                                      \
    CREATE(name), tni_iop_tensor b)                                                            \
    {                                                                                          \
        return make_alike(REQUEST(name), NULL, 3, (const tni_iop_tensor[]){y, a, b});          \
    }
#define MAKE_TEST(name)                                                                        \
    CREATE(name), tni_iop_tensor b)                                                            \
    {                                                                                          \
        return make_test(REQUEST(name), (const tni_iop_tensor[]){y, a, b});                    \
    }
#define MAKE_OWN(name)

#define OP(name, made, run, dtypes, op) MAKE_##made(name)
#define MOVE(name, run, dtypes)
#define BARE(name, dtypes)
#include "iop.def"
#undef OP
#undef MOVE
#undef BARE

infiniStatus_t infiniopCreateHardTanhDescriptor(infiniopHandle_t handle,
                                                infiniopHardTanhDescriptor_t *desc_ptr,
                                                tni_iop_tensor y, tni_iop_tensor x,
                                                float min_val, float max_val)
{
    return make_alike(REQUEST(HardTanh), (const double[]){min_val, max_val}, 2,
                      (const tni_iop_tensor[]){y, x});
}

infiniStatus_t infiniopCreateSoftplusDescriptor(infiniopHandle_t handle,
                                                infiniopSoftplusDescriptor_t *desc_ptr,
                                                tni_iop_tensor y, tni_iop_tensor x, float beta,
                                                float threshold)
{
    return make_alike(REQUEST(Softplus), (const double[]){beta, threshold}, 2,
                      (const tni_iop_tensor[]){y, x});
}

infiniStatus_t infiniopCreateClipDescriptor(infiniopHandle_t handle,
                                            infiniopClipDescriptor_t *desc_ptr,
                                            tni_iop_tensor y, tni_iop_tensor x,
                                            tni_iop_tensor min_val, tni_iop_tensor max_val)
{
    return make_alike(REQUEST(Clip), NULL, 4, (const tni_iop_tensor[]){y, x, min_val, max_val});
}

infiniStatus_t infiniopCreateAddcmulDescriptor(infiniopHandle_t handle,
                                               infiniopAddcmulDescriptor_t *desc_ptr,
                                               tni_iop_tensor out, tni_iop_tensor input,
                                               tni_iop_tensor t1, tni_iop_tensor t2,
                                               float value)
{
    return make_alike(REQUEST(Addcmul), (const double[]){value}, 4,
                      (const tni_iop_tensor[]){out, input, t1, t2});
}

static tn_status check_ldexp(const tni_iop_request *q, const tni_iop_tensor *ts)
{
    TRY(tni_iop_check(q, 3, ts));
    TRY(tni_iop_takes(q->name, ts[0]));
    TRY(tni_iop_same_dtype(q->name, ts[0], ts[1]));
    const infiniDtype_t exp = ts[2]->dtype;
    if (exp != INFINI_DTYPE_I32 && exp != INFINI_DTYPE_I64)
        TRY(tni_iop_same_dtype(q->name, ts[1], ts[2]));
    return TN_OK;
}

infiniStatus_t infiniopCreateLdexpDescriptor(infiniopHandle_t handle,
                                             infiniopLdexpDescriptor_t *desc_ptr,
                                             tni_iop_tensor y, tni_iop_tensor x,
                                             tni_iop_tensor exp)
{
    const tni_iop_request q = REQUEST(Ldexp);
    const tni_iop_tensor ts[] = {y, x, exp};
    const tn_status status = check_ldexp(&q, ts);
    return tni_iop_status(status == TN_OK ? make(&q, NULL, 3, ts) : status);
}

/* ---- running, querying, destroying ---- */

#define RUN(name)                                                                              \
    infiniStatus_t infiniop##name(infiniop##name##Descriptor_t desc, void *workspace,          \
                                  size_t workspace_size, void *y, const void *a
#define RUN_ONE(name)                                                                          \
    RUN(name), void *stream)                                                                   \
    {                                                                                          \
        (void)workspace, (void)workspace_size, (void)stream;                                   \
        return tni_iop_run(TNI_IOP_##name, desc, y, (const void *const[]){a});                 \
    }
#define RUN_TWO(name)                                                                          \
    RUN(name), const void *b, void *stream)                                                    \
    {                                                                                          \
        (void)workspace, (void)workspace_size, (void)stream;                                   \
        return tni_iop_run(TNI_IOP_##name, desc, y, (const void *const[]){a, b});              \
    }
#define RUN_THREE(name)                                                                        \
    RUN(name), const void *b, const void *c, void *stream)                                     \
    {                                                                                          \
        (void)workspace, (void)workspace_size, (void)stream;                                   \
        return tni_iop_run(TNI_IOP_##name, desc, y, (const void *const[]){a, b, c});           \
    }
#define RUN_OWN(name)

static infiniStatus_t workspace_of(tni_iop_name name, const struct InfiniopDescriptor *desc,
                                   size_t *size)
{
    if (!desc || tni_iop_of(desc)->name != name)
        return tni_iop_status(tni_iop_fail_run(name, desc));
    if (!size)
        return tni_iop_status(tni_fail(TN_ENULL, "%s: size is NULL", tni_iop_rows[name].name));
    *size = tni_iop_of(desc)->workspace;
    return INFINI_STATUS_SUCCESS;
}

static infiniStatus_t destroy(tni_iop_name name, struct InfiniopDescriptor *desc)
{
    tni_iop *iop = (tni_iop *)(void *)desc;
    if (!iop || iop->name != name)
        return tni_iop_status(tni_iop_fail_run(name, desc));
    tni_iop_free(iop);
    return INFINI_STATUS_SUCCESS;
}

#define ASK(name)                                                                              \
    infiniStatus_t infiniopGet##name##WorkspaceSize(infiniop##name##Descriptor_t desc,         \
                                                    size_t *size)                              \
    {                                                                                          \
        return workspace_of(TNI_IOP_##name, desc, size);                                       \
    }
#define DESTROY(name)                                                                          \
    infiniStatus_t infiniopDestroy##name##Descriptor(infiniop##name##Descriptor_t desc)        \
    {                                                                                          \
        return destroy(TNI_IOP_##name, desc);                                                  \
    }

#define OP(name, made, run, dtypes, op) RUN_##run(name) ASK(name) DESTROY(name)
#define MOVE(name, run, dtypes)         RUN_##run(name) ASK(name) DESTROY(name)
#define BARE(name, dtypes)              DESTROY(name)
#include "iop.def"
#define PROGRAM(name, n, written, optional, alias, dtypes, plan)      ASK(name) DESTROY(name)
#define BARE_PROGRAM(name, n, written, optional, alias, dtypes, plan) DESTROY(name)
#include "iop_programs.def"
