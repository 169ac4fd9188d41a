/* elementwise.c - one op on tensors of any layout, broadcast to dst's shape.
 *
 * Everything is checked before the first element is written. */
#include <string.h>

#include "op_types.h"
#include "plan/plan.h"
#include "view/view.h"

/* ---- facts ---- */

tn_status tn_op_parse(tn_op *op, const char *name)
{
    if (!op || !name)
        return tni_fail(TN_ENULL, "op_parse: %s is NULL", op ? "name" : "op");
    for (int i = 0; i < TNI_OPS; i++)
        if (!strcmp(name, tni_ops[i].name)) {
            *op = (tn_op)i;
            return TN_OK;
        }
    return tni_fail(TN_EARG, "op_parse: unknown op \"%.40s\"", name);
}

const char *tn_op_name(tn_op op)
{
    return tni_op_known(op) ? tni_ops[op].name : NULL;
}

int tn_op_arity(tn_op op)
{
    return tni_op_known(op) ? tni_ops[op].arity : 0;
}

int tn_op_params(tn_op op)
{
    return tni_op_known(op) ? tni_ops[op].params : 0;
}

static tn_status check_op(const char *call, tn_op op, int nsrc)
{
    if (!tni_op_known(op))
        return tni_fail(TN_EARG, "%s: op %d is unknown", call, (int)op);
    if (tni_ops[op].arity != nsrc)
        return tni_fail(TN_EARG, "%s: op %s takes %d tensor%s, got %d", call, tni_ops[op].name,
                        tni_ops[op].arity, tni_ops[op].arity > 1 ? "s" : "", nsrc);
    return TN_OK;
}

tn_status tn_op_result(tn_op op, const tn_dtype *in, int nin, tn_dtype *out)
{
    if (!in || !out)
        return tni_fail(TN_ENULL, "op_result: %s is NULL", in ? "out" : "in");
    TRY(check_op("op_result", op, nin));
    for (int k = 0; k < nin; k++)
        if (!tni_dtype_known(in[k]))
            return tni_fail(TN_EDTYPE, "op_result: dtype %d of tensor %d is unknown",
                            (int)in[k], k);
    tni_op_signature sig;
    TRY(tni_op_types(&sig, "op_result", op, in));
    *out = sig.result;
    return TN_OK;
}

/* ---- operands ---- */

/* Conversions of the sources, the op, conversions of the result. */
enum { TNI_OP_STEPS = 2 * TNI_MAX_ARITY + 2 };

/* The input and results of the hooks. */
typedef struct operands {
    tn_op op;
    int nsrc;
    const tn_tensor *ts[TNI_MAX_ARITY + 1]; /* dst, and the sources broadcast to its shape */
    tn_tensor repeated[TNI_MAX_ARITY];      /* the broadcast sources */
    tni_op_signature sig;
    tni_program program;
    tni_strip_step step[TNI_OP_STEPS];
} operands;

static tn_status apply_count(const tni_call *call)
{
    const operands *o = call->own;
    return check_op(call->name, o->op, o->nsrc);
}

static tn_status apply_dtypes(const tni_call *call)
{
    operands *o = call->own;
    tn_dtype in[TNI_MAX_ARITY];
    for (int k = 0; k < call->n; k++)
        in[k] = call->srcs[k]->dtype;
    TRY(tni_op_types(&o->sig, call->name, o->op, in));
    if (call->dst->dtype != o->sig.result)
        return tni_fail(TN_EDTYPE, "%s: dst: got %s, expected %s from op %s", call->name,
                        tn_dtype_name(call->dst->dtype), tn_dtype_name(o->sig.result),
                        tni_ops[o->op].name);
    return TN_OK;
}

static tn_status apply_shapes(const tni_call *call)
{
    operands *o = call->own;
    return tni_broadcast_operands(o->ts, o->repeated, call->name, call->dst, call->n,
                                  call->srcs);
}

/* Build the program of one op. */
static void program_of(operands *o, const double *params)
{
    tni_builder b = {.step = o->step, .most = TNI_OP_STEPS, .nsrc = o->nsrc};
    tn_dtype in[TNI_MAX_ARITY];
    static const int sources[TNI_MAX_ARITY] = {0, 1, 2};
    for (int k = 0; k < o->nsrc; k++)
        in[k] = o->ts[k + 1]->dtype;
    const int value = tni_build_apply(&b, o->op, params, &o->sig, sources, in);
    ASSERT(!b.full);
    o->program = (tni_program){.name = tni_ops[o->op].name,
                               .nsrc = o->nsrc,
                               .nstep = b.nstep,
                               .value = value,
                               .step = o->step};
}

/* Check a call and find what its plan needs.  At most as many sources are read as op has. */
static tn_status check_apply(operands *o, const char *name, unsigned flags, tn_op op,
                             const tn_tensor *dst, int nsrc, const tn_tensor *const *srcs)
{
    const int arity = tn_op_arity(op);
    o->op = op;
    o->nsrc = nsrc;
    return tni_check_call(&(tni_call){.name = name,
                                      .flags = flags,
                                      .dst = dst,
                                      .n = nsrc < arity ? nsrc : arity,
                                      .srcs = srcs,
                                      .args = apply_count,
                                      .dtypes = apply_dtypes,
                                      .shapes = apply_shapes,
                                      .own = o});
}

/* Does the op need conversions of its sources or of its result?  A bool is normalised to 0 or
 * 1, which is a conversion. */
static bool apply_converts(const operands *o)
{
    bool converts = o->sig.result != o->sig.compute[0];
    for (int k = 1; k <= o->nsrc; k++)
        converts |= o->ts[k]->dtype != o->sig.compute[k] || o->ts[k]->dtype == TN_BOOL;
    return converts;
}

/* ---- calls ---- */

static tn_status apply(const char *call, tn_op op, const double *params, const tn_tensor *dst,
                       int nsrc, const tn_tensor *const *srcs)
{
    operands o;
    TRY(check_apply(&o, call, TNI_ALLOW_ALIAS, op, dst, nsrc, srcs));

    if (!apply_converts(&o) && tni_strips_small(op, params, o.sig.compute[nsrc], o.ts))
        return TN_OK;
    program_of(&o, params);
    tni_strips strips;
    tni_instr instr[TNI_OP_INSTRS];
    const char *at[TNI_MAX_ARITY];
    for (int k = 0; k < nsrc; k++)
        at[k] = srcs[k]->data;
    tni_strips_plan(&strips, instr, &o.program, o.ts);
    tni_strips_run(&strips, dst->data, at);
    return TN_OK;
}

tn_status tn_apply(tn_op op, const double *params, const tn_tensor *dst, int nsrc,
                   const tn_tensor *const *srcs)
{
    return apply("apply", op, params, dst, nsrc, srcs);
}

tn_status tn_unary(tn_op op, const tn_tensor *dst, const tn_tensor *a)
{
    return apply("unary", op, NULL, dst, 1, &a);
}

tn_status tn_binary(tn_op op, const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b)
{
    return apply("binary", op, NULL, dst, 2, (const tn_tensor *const[]){a, b});
}

tn_status tn_ternary(tn_op op, const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b,
                     const tn_tensor *c)
{
    return apply("ternary", op, NULL, dst, 3, (const tn_tensor *const[]){a, b, c});
}

tn_status tn_add(const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b)
{
    return apply("add", TN_ADD, NULL, dst, 2, (const tn_tensor *const[]){a, b});
}

tn_status tn_sub(const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b)
{
    return apply("sub", TN_SUB, NULL, dst, 2, (const tn_tensor *const[]){a, b});
}

tn_status tn_mul(const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b)
{
    return apply("mul", TN_MUL, NULL, dst, 2, (const tn_tensor *const[]){a, b});
}

tn_status tn_div(const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b)
{
    return apply("div", TN_DIV, NULL, dst, 2, (const tn_tensor *const[]){a, b});
}

/* ---- a new tensor ---- */

/* The input and results of the hooks of tn_apply_copy. */
typedef struct result {
    tn_op op;
    int nsrc;
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
} result;

static tn_status copy_count(const tni_call *call)
{
    const result *r = call->own;
    return check_op(call->name, r->op, r->nsrc);
}

static tn_status copy_dtypes(const tni_call *call)
{
    result *r = call->own;
    tn_dtype in[TNI_MAX_ARITY];
    tni_op_signature sig;
    for (int k = 0; k < call->n; k++)
        in[k] = call->srcs[k]->dtype;
    TRY(tni_op_types(&sig, call->name, r->op, in));
    r->dtype = sig.result;
    return TN_OK;
}

static tn_status copy_shapes(const tni_call *call)
{
    result *r = call->own;
    return tni_broadcast_sources(call->name, call->n, call->srcs, &r->ndim, r->shape);
}

/* Sources need data only if the result has elements; apply checks that. */
tn_status tn_apply_copy(tn_tensor *out, tn_op op, const double *params, int nsrc,
                        const tn_tensor *const *srcs)
{
    if (!out)
        return tni_fail(TN_ENULL, "apply_copy: out is NULL");
    const int arity = tn_op_arity(op);
    result r = {.op = op, .nsrc = nsrc};
    TRY(tni_check_call(&(tni_call){.name = "apply_copy",
                                   .flags = TNI_NO_DST | TNI_NO_DATA,
                                   .n = nsrc < arity ? nsrc : arity,
                                   .srcs = srcs,
                                   .args = copy_count,
                                   .dtypes = copy_dtypes,
                                   .shapes = copy_shapes,
                                   .own = &r}));
    tn_tensor made;
    TRY(tni_alloc_dense(&made, r.dtype, r.ndim, r.shape, "apply_copy"));
    const tn_status status = apply("apply_copy", op, params, &made, nsrc, srcs);
    if (status != TN_OK) {
        tn_free(&made);
        return status;
    }
    *out = made;
    return TN_OK;
}

/* ---- plans ---- */

tn_status tn_plan_op(tn_plan **plan, tn_op op, const double *params, const tn_tensor *dst,
                     int nsrc, const tn_tensor *const *srcs)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_op: plan is NULL");
    operands o;
    TRY(check_apply(&o, "plan_op", TNI_NO_DATA, op, dst, nsrc, srcs));
    program_of(&o, params);
    tn_plan *p = tni_strips_new(tni_ops[op].name, true, &o.program, o.ts, srcs);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_op: cannot allocate the plan");
    *plan = p;
    return TN_OK;
}
