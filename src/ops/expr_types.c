/* expr_types.c - the dtypes of an expression, and the steps that compute it.
 *
 * Constants are folded, and equal steps are merged. */
#include "expr_types.h"

#include <string.h>

#include "plan/plan.h"

enum { NUMBER = 1 << 12 }; /* marks a number in a step until all numbers are counted */

static tn_status fail_values(const tni_expr_program *e, const tni_expr_item *x)
{
    return tni_fail_at(TN_EUNSUPPORTED, x->column,
                       "%s: more than %d values and %d numbers at column %d", e->call, e->top,
                       e->nnum, x->column);
}

/* Number i of the steps; numbers are stored downwards. */
static tni_number *number_at(tni_expr_program *e, int i)
{
    return &e->num[TNI_EXPR_NUMBERS - 1 - i];
}

static tn_status number_value(tni_expr_program *e, const tni_expr_item *x,
                              const tni_expr_value *v, tn_dtype to, int *value)
{
    const tni_expr_value c = tni_expr_converted(v, to);
    for (int i = 0; i < e->nnum; i++) {
        const tni_number *have = number_at(e, i);
        if (have->dtype == to && !memcmp(have->bytes, c.bytes, sizeof c.bytes)) {
            *value = NUMBER + i;
            return TN_OK;
        }
    }
    tni_number *next = number_at(e, e->nnum);
    if (e->nnum == TNI_MAX_NUMBERS || (char *)next < (char *)&e->stack[e->top])
        return fail_values(e, x);
    next->dtype = to;
    memcpy(next->bytes, c.bytes, sizeof c.bytes);
    *value = NUMBER + e->nnum++;
    return TN_OK;
}

/* Find the dtypes of an op's operands, and its signature. */
static tn_status signature_of(tni_expr_program *e, const tni_expr_item *x, tn_op op,
                              tni_expr_value *v, tn_dtype *in, tni_op_signature *sig)
{
    const int n = tni_ops[op].arity;
    bool weak = true;
    for (int k = 0; k < n; k++)
        weak &= v[k].weak;
    TRY(tni_expr_settle(e, x, op, v, in));
    const bool negative = op == TN_POW && weak && v[1].dtype == TN_I64 && v[1].i < 0;
    for (int k = 0; k < n && weak; k++) /* functions without integer kernels convert to f64 */
        if (in[k] == TN_I64 && (!tni_op_computes(op, TN_I64) || negative) &&
            tni_op_computes(op, TN_F64))
            in[k] = TN_F64;
    if (tni_op_types(sig, e->call, op, in) != TN_OK)
        return tni_expr_fail_types(e, x, op, in);
    return TN_OK;
}

/* Find the values that a step reads; numbers are converted to its compute dtype. */
static tn_status step_sources(tni_expr_program *e, const tni_expr_item *x, tn_op op,
                              const tni_expr_value *v, tni_op_signature *sig, int *src,
                              tn_dtype *in)
{
    for (int k = 0; k < tni_ops[op].arity; k++) {
        src[k] = v[k].value;
        if (!tni_expr_is_number(&v[k]))
            continue;
        const tni_expr_value mine = tni_expr_converted(
            &v[k], v[k].weak ? sig->promoted[k + 1] : tni_expr_dtype_of(&v[k]));
        const tni_expr_value there = tni_expr_converted(&mine, sig->promoted[k + 1]);
        in[k] = sig->promoted[k + 1] = sig->compute[k + 1];
        TRY(number_value(e, x, &there, sig->compute[k + 1], &src[k]));
    }
    return TN_OK;
}

static tn_status apply(tni_expr_program *e, const tni_expr_item *x, tn_op op,
                       const double *params, tni_expr_value *v, tni_expr_value *out)
{
    const int n = tni_ops[op].arity;
    tn_dtype in[TNI_MAX_ARITY];
    int src[TNI_MAX_ARITY];
    bool numbers = true;
    for (int k = 0; k < n; k++)
        numbers &= tni_expr_is_number(&v[k]);
    tni_op_signature sig;
    TRY(signature_of(e, x, op, v, in, &sig));
    if (numbers)
        return tni_expr_const(e, x, op, params, &sig, v, in, out);
    TRY(step_sources(e, x, op, v, &sig, src, in));
    *out = (tni_expr_value){.dtype = (uint8_t)sig.result};
    bool elementwise = false;
    for (int k = 0; k < n; k++) {
        out->reduced |= v[k].reduced;
        out->column = v[k].reduced ? v[k].column : out->column;
        elementwise |= !tni_expr_is_number(&v[k]) && !v[k].reduced;
        out->names |= v[k].names;
    }
    if (out->reduced && elementwise)
        return tni_fail_at(TN_EUNSUPPORTED, x->column,
                           "%s: %.*s of a reduction and a tensor is not supported at column %d",
                           e->call, x->name_size, x->name, x->column);
    tni_builder *b = out->reduced ? &e->outer : &e->build;
    out->value = (int16_t)tni_build_apply(b, op, params, &sig, src, in);
    return TN_OK;
}

static tn_status fail_steps(const tni_expr_program *e)
{
    if (e->outer.full)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: the text has more than %d steps around reductions", e->call,
                        TNI_EXPR_OUTER);
    return tni_fail(TN_EUNSUPPORTED, "%s: the text has more than %d steps", e->call,
                    TN_EXPR_STEPS);
}

static void cast(tni_expr_program *e, tn_dtype to, tni_expr_value *v)
{
    if (tni_expr_is_number(v)) {
        *v = tni_expr_converted(v, to);
        return;
    }
    v->value = (int16_t)tni_build_cast(v->reduced ? &e->outer : &e->build, v->value,
                                       tni_expr_dtype_of(v), to);
    v->dtype = (uint8_t)to;
}

static tn_status power(tni_expr_program *e, const tni_expr_item *x, tni_expr_value *v,
                       tni_expr_value *out)
{
    const bool whole = tni_expr_is_number(&v[1]) && v[1].weak && v[1].dtype == TN_I64;
    if (whole && v[1].i == 2 && !tni_expr_is_number(&v[0]))
        return apply(e, x, TN_SQUARE, NULL, v, out);
    if (whole && v[1].i == -1 && !tni_expr_is_number(&v[0]) && tni_is_float(v[0].dtype))
        return apply(e, x, TN_RECIPROCAL, NULL, v, out);
    return apply(e, x, TN_POW, NULL, v, out);
}

/* Read the parameters after the tensors of a function call. */
static void take_params(const tni_expr_item *x, const tni_expr_value *v, double *params)
{
    for (int i = tni_ops[x->what].arity; i < x->nargs; i++) {
        const tni_expr_value p = tni_expr_converted(&v[i], TN_F64);
        memcpy(&params[i - tni_ops[x->what].arity], p.bytes, sizeof *params);
    }
}

static tn_status fail_reduction(const tni_expr_program *e, const tni_expr_item *x,
                                const char *what)
{
    return tni_fail_at(TN_EUNSUPPORTED, x->column, "%s: %.*s: %s is not supported at column %d",
                       e->call, x->name_size, x->name, what, x->column);
}

/* The axes as bits; 0 if one is out of range, which the check of shapes reports. */
static uint64_t axes_set(int ndim, int naxes, const int *axes)
{
    uint64_t set = naxes < 0 && ndim ? UINT64_MAX >> (64 - ndim) : 0;
    for (int i = 0; i < naxes; i++) {
        const int axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (axis < 0 || axis >= ndim)
            return 0;
        set |= (uint64_t)1 << axis;
    }
    return set;
}

/* Does x fold the same axes as the reductions before it? */
static bool same_axes(const tni_expr_program *e, const tni_expr_item *x)
{
    const int before = e->naxes < 0 ? e->ndim : e->naxes,
              now = x->naxes < 0 ? e->ndim : x->naxes;
    return e->nreduce == 0 || (before == now && axes_set(e->ndim, e->naxes, e->axes) ==
                                                    axes_set(e->ndim, x->naxes, x->axes));
}

/* The axes of the common shape along which one of these sources has an extent other than 1. */
static uint64_t expr_long_axes(const tni_expr_program *e, uint16_t names)
{
    uint64_t set = 0;
    for (int k = 0; k < e->nsrc; k++)
        for (int i = 0; i < e->srcs[k]->ndim && names >> k & 1; i++)
            set |= (uint64_t)(e->srcs[k]->shape[i] != 1) << (e->ndim - e->srcs[k]->ndim + i);
    return set;
}

static tn_status reduce(tni_expr_program *e, const tni_expr_item *x, tni_expr_value *v)
{
    tn_dtype gives;
    const tn_reduction op = (tn_reduction)x->what;
    const bool order = op == TN_REDUCE_MIN || op == TN_REDUCE_MAX;
    if (tni_expr_is_number(v))
        return fail_reduction(e, x, "a reduction of numbers");
    if (v->reduced)
        return tni_fail_at(TN_EUNSUPPORTED, v->column,
                           "%s: a reduction inside another is not supported at column %d",
                           e->call, v->column);
    if ((order && tni_expr_dtype_of(v) == TN_BOOL) ||
        tn_reduction_result(op, tni_expr_dtype_of(v), &gives) != TN_OK)
        return tni_expr_fail_reduction(e, x, tni_expr_dtype_of(v));
    if (!same_axes(e, x))
        return fail_reduction(e, x, "an axis other than that of the previous reduction");
    if (expr_long_axes(e, v->names) != expr_long_axes(e, UINT16_MAX))
        return tni_fail_at(TN_EUNSUPPORTED, x->column,
                           "%s: the argument of a reduction is smaller than the common shape "
                           "at column %d",
                           e->call, x->column);
    for (int i = 0; i < x->naxes && !e->nreduce; i++)
        e->axes[i] = x->axes[i];
    e->naxes = e->nreduce ? e->naxes : x->naxes;
    int r = 0;
    while (r < e->nreduce && !(e->reduce[r].op == op && e->reduce[r].value == v->value))
        r++;
    if (r == TNI_EXPR_REDUCTIONS)
        return tni_fail_at(TN_EUNSUPPORTED, x->column,
                           "%s: more than %d reductions at column %d", e->call,
                           TNI_EXPR_REDUCTIONS, x->column);
    if (r == e->nreduce)
        e->reduce[e->nreduce++] = (tni_expr_reduction){.op = op,
                                                       .value = v->value,
                                                       .dtype = v->dtype,
                                                       .gives = (uint8_t)gives,
                                                       .column = x->column};
    *v = (tni_expr_value){.value = (int16_t)r,
                          .dtype = (uint8_t)gives,
                          .reduced = true,
                          .column = (int16_t)x->column,
                          .names = v->names};
    return TN_OK;
}

void tni_expr_begin(tni_expr_program *e, const char *call, int nsrc,
                    const tn_tensor *const *srcs)
{
    e->call = call;
    e->nsrc = nsrc;
    e->srcs = srcs;
    e->nnum = e->top = e->nreduce = e->naxes = 0;
    e->outer = (tni_builder){.step = e->outer_step,
                             .most = TNI_EXPR_OUTER,
                             .nsrc = TNI_EXPR_REDUCTIONS,
                             .share = true};
    e->ndim = 0;
    for (int k = 0; k < nsrc; k++) {
        e->src[k] = srcs[k]->dtype;
        e->ndim = srcs[k]->ndim > e->ndim ? srcs[k]->ndim : e->ndim;
    }
    e->build =
        (tni_builder){.step = e->step, .most = TNI_MAX_STEPS, .nsrc = nsrc, .share = true};
}

/* Replace [t] a b by [t and] a op b, b. */
static tn_status chain(tni_expr_program *e, const tni_expr_item *x, tni_expr_value *v)
{
    const tni_expr_value both = v[x->nargs - 1];
    tni_expr_value out;
    TRY(apply(e, x, (tn_op)x->what, NULL, v + x->nargs - 2, &out));
    if (x->nargs == 3) {
        v[1] = out;
        TRY(apply(e, x, TN_LOGICAL_AND, NULL, v, &out));
    }
    v[1] = both;
    v[0] = out;
    e->top = (int)(v - e->stack) + 2;
    return TN_OK;
}

/* Replace t b c by t and b op c. */
static tn_status chained(tni_expr_program *e, const tni_expr_item *x, tni_expr_value *v,
                         tni_expr_value *out)
{
    TRY(apply(e, x, (tn_op)x->what, NULL, v + 1, out));
    v[1] = *out;
    return apply(e, x, TN_LOGICAL_AND, NULL, v, out);
}

static tn_status call_op(tni_expr_program *e, const tni_expr_item *x, tni_expr_value *v,
                         tni_expr_value *out)
{
    double params[TNI_MAX_PARAMS];
    take_params(x, v, params);
    return apply(e, x, (tn_op)x->what, x->nargs > tni_ops[x->what].arity ? params : NULL, v,
                 out);
}

tn_status tni_expr_type(void *program, const tni_expr_item *x)
{
    tni_expr_program *e = program;
    tni_expr_value *v = e->stack + e->top, out = {0};
    switch (x->kind) {
    case TNI_EXPR_TENSOR:
        out = (tni_expr_value){.value = (int16_t)x->what,
                               .dtype = (uint8_t)e->src[x->what],
                               .names = (uint16_t)(1u << x->what)};
        break;
    case TNI_EXPR_NUMBER:
        if (x->whole && x->beyond && !x->imaginary)
            return tni_fail_at(TN_EOVERFLOW, x->column,
                               "%s: a number overflows i64 at column %d", e->call, x->column);
        out = tni_expr_literal(x);
        break;
    case TNI_EXPR_CAST:
        out = *--v;
        cast(e, (tn_dtype)x->what, &out);
        break;
    case TNI_EXPR_REDUCE:
        out = *--v;
        TRY(reduce(e, x, &out));
        break;
    case TNI_EXPR_PLUS:
        out = *--v;
        if (tni_expr_dtype_of(&out) == TN_BOOL)
            return tni_fail_at(TN_EDTYPE, x->column,
                               "%s: +: got bool at column %d, expected any dtype but bool",
                               e->call, x->column);
        break;
    case TNI_EXPR_POWER:
        v -= 2;
        TRY(power(e, x, v, &out));
        break;
    case TNI_EXPR_CHAIN:
        return chain(e, x, v - x->nargs);
    case TNI_EXPR_CHAINED:
        v -= 3;
        TRY(chained(e, x, v, &out));
        break;
    default:
        v -= x->nargs;
        TRY(call_op(e, x, v, &out));
    }
    e->top = (int)(v - e->stack) + 1;
    if ((char *)(v + 1) > (char *)(number_at(e, e->nnum) + 1))
        return fail_values(e, x);
    *v = out;
    return TN_OK;
}

/* Convert a value number used while building to that of the program: sources, numbers,
 * steps. */
static int final_value(int v, int built, int nsrc, int nnum)
{
    return v >= NUMBER  ? nsrc + nnum - 1 - (v - NUMBER)
           : v >= built ? v - built + nsrc + nnum
                        : v;
}

static tni_program expr_finish(const tni_expr_program *e, tni_builder *b, int nsrc, int value)
{
    for (int i = 0; i < b->nstep; i++)
        for (int k = 0; k < b->step[i].nsrc; k++)
            b->step[i].src[k] = (int16_t)final_value(b->step[i].src[k], b->nsrc, nsrc, e->nnum);
    return (tni_program){.name = "eval",
                         .nsrc = nsrc,
                         .nnum = e->nnum,
                         .nstep = b->nstep,
                         .value = final_value(value, b->nsrc, nsrc, e->nnum),
                         .num = &e->num[TNI_EXPR_NUMBERS - e->nnum],
                         .step = b->step};
}

tn_status tni_expr_end(tni_expr_program *e, tn_dtype dst)
{
    const tni_expr_item end = {0};
    tni_expr_value *v = &e->stack[0];
    e->result = tni_expr_dtype_of(v);
    if (e->build.full || e->outer.full || e->build.nstep + e->outer.nstep > TN_EXPR_STEPS)
        return fail_steps(e);
    const tn_dtype to = dst ? dst : e->result;
    int value = v->value;
    if (tni_expr_is_number(v))
        TRY(number_value(e, &end, v, to, &value));
    else
        value =
            tni_build_cast(v->reduced ? &e->outer : &e->build, value, tni_expr_dtype_of(v), to);
    if (!v->reduced)
        e->nreduce = 0;
    for (int r = 0; r < e->nreduce; r++)
        e->reduce[r].value =
            (int16_t)final_value(e->reduce[r].value, e->nsrc, e->nsrc, e->nnum);
    int64_t bytes = 0;
    for (int r = 0; r < e->nreduce; r++) {
        bytes += tni_width((tn_dtype)e->reduce[r].dtype);
        if (bytes * TNI_TREE_BLOCK > TNI_FUSED_BYTES)
            return tni_fail_at(
                TN_EUNSUPPORTED, e->reduce[r].column,
                "%s: the reductions need more than %d bytes per element at column %d", e->call,
                TNI_FUSED_BYTES / TNI_TREE_BLOCK, e->reduce[r].column);
    }
    if (e->nreduce)
        e->around = expr_finish(e, &e->outer, e->nreduce, value);
    e->program = expr_finish(e, &e->build, e->nsrc, e->nreduce ? 0 : value);
    return TN_OK;
}
