/* op_types.c - the dtypes that an op accepts, computes in and results in, and its steps. */
#include <stdio.h>
#include <string.h>

#include "op_types.h"

const char *tni_op_expects(tn_op op)
{
    enum { BOOLS = 1, INTEGERS = 2, FLOATS = 4, COMPLEX = 8 };
    static const char *const names[16] = {
        [BOOLS] = "bool",
        [INTEGERS] = "an integer",
        [INTEGERS | BOOLS] = "an integer or bool",
        [FLOATS] = "a float",
        [FLOATS | INTEGERS] = "an integer or float",
        [FLOATS | INTEGERS | BOOLS] = "a real dtype",
        [COMPLEX | FLOATS] = "a float or complex dtype",
        [COMPLEX | FLOATS | INTEGERS] = "any dtype but bool",
        [COMPLEX | FLOATS | INTEGERS | BOOLS] = "any dtype",
    };
    const bool whole = tni_op_computes(op, TN_I32) || tni_ops[op].rule == TNI_RULE_F64;
    const int takes = (tni_op_computes(op, TN_BOOL) ? BOOLS : 0) | (whole ? INTEGERS : 0) |
                      (tni_op_computes(op, TN_F64) ? FLOATS : 0) |
                      (tni_op_computes(op, TN_C64) ? COMPLEX : 0);
    ASSERT(names[takes]);
    return names[takes];
}

/* The sources from `from` on promote to t, which op does not take: name the first of that
 * kind. */
static tn_status refuse(const char *call, tn_op op, tn_dtype t, const tn_dtype *in, int from)
{
    const bool floats = tni_kind_of(t) <= TNI_UNSIGNED && tni_op_computes(op, TN_F32);
    const int arity = tni_ops[op].arity;
    char which[16] = "";
    int k = from;
    while (k + 1 < arity && tni_kind_of(in[k]) != tni_kind_of(t))
        k++;
    if (arity > 1)
        snprintf(which, sizeof which, " %d", k);
    return tni_fail(TN_EDTYPE, "%s: src%s: got %s, expected %s for %s%s", call, which,
                    tn_dtype_name(in[k]), tni_op_expects(op), tni_ops[op].name,
                    floats ? "; cast to f32 first" : "");
}

static tn_status promote_sources(tn_dtype *out, const char *call, tn_op op, const tn_dtype *in,
                                 int from)
{
    tn_dtype m = in[from];
    for (int k = from + 1; k < tni_ops[op].arity; k++) {
        const tn_dtype with = m;
        if (m != in[k] && tn_promote(&m, with, in[k]) != TN_OK)
            return tni_fail(TN_EDTYPE, "%s: %s: %s and %s do not promote to a common dtype",
                            call, tni_ops[op].name, tn_dtype_name(with), tn_dtype_name(in[k]));
    }
    *out = m;
    return TN_OK;
}

static tn_status ldexp_types(tni_op_signature *sig, const char *call, tn_op op,
                             const tn_dtype *in)
{
    if (tni_kind_of(in[0]) != TNI_FLOAT)
        return refuse(call, op, in[0], in, 0);
    if (in[1] != in[0] && in[1] != TN_I32 && in[1] != TN_I64)
        return tni_fail(TN_EDTYPE, "%s: src 1: got %s, expected i32, i64 or %s for %s of %s",
                        call, tn_dtype_name(in[1]), tn_dtype_name(in[0]), tni_ops[op].name,
                        tn_dtype_name(in[0]));
    sig->result = sig->promoted[1] = in[0];
    sig->compute[0] = sig->compute[1] = sig->compute[2] = tni_op_computes(op, in[0]);
    sig->promoted[2] = sig->compute[2];
    return TN_OK;
}

tn_status tni_op_types(tni_op_signature *sig, const char *call, tn_op op, const tn_dtype *in)
{
    const int arity = tni_ops[op].arity, rule = tni_ops[op].rule;
    const int from = rule == TNI_RULE_SELECT;
    if (rule == TNI_RULE_LDEXP)
        return ldexp_types(sig, call, op, in);
    tn_dtype m = TN_BOOL;
    if (rule != TNI_RULE_LOGICAL)
        TRY(promote_sources(&m, call, op, in, from));
    if (rule == TNI_RULE_F64 && (tni_kind_of(m) == TNI_BOOL || tni_kind_of(m) == TNI_COMPLEX))
        return refuse(call, op, m, in, from);
    if (rule == TNI_RULE_F64)
        m = TN_F64;
    if (rule == TNI_RULE_DIVIDE && tni_kind_of(m) <= TNI_UNSIGNED)
        m = tni_float_of(m);
    const tn_dtype c = tni_op_computes(op, m);
    if (!c)
        return refuse(call, op, m, in, from);
    for (int k = 1; k <= arity; k++) {
        sig->promoted[k] = m;
        sig->compute[k] = c;
    }
    if (rule == TNI_RULE_SELECT)
        sig->promoted[1] = sig->compute[1] = TN_BOOL;
    sig->compute[0] = c;
    sig->result = m;
    if (rule == TNI_RULE_COMPARE)
        sig->result = sig->compute[0] = TN_BOOL;
    if (rule == TNI_RULE_REAL && tni_kind_of(m) == TNI_COMPLEX)
        sig->result = sig->compute[0] = tni_real_of(m);
    return TN_OK;
}

/* ---- steps ---- */

static bool same_step(const tni_strip_step *a, const tni_strip_step *b)
{
    bool same = a->kind == b->kind && a->op == b->op && a->nsrc == b->nsrc &&
                a->dtype == b->dtype && a->compute == b->compute;
    for (int k = 0; k < a->nsrc && same; k++)
        same = a->src[k] == b->src[k];
    for (int i = 0; i < TNI_MAX_PARAMS && same; i++) {
        uint64_t x, y; /* compare bits: -0 differs from 0, and a NaN equals itself */
        memcpy(&x, &a->params[i], sizeof x);
        memcpy(&y, &b->params[i], sizeof y);
        same = x == y;
    }
    return same;
}

static int add_step(tni_builder *b, const tni_strip_step *step)
{
    for (int i = 0; i < b->nstep && b->share; i++)
        if (same_step(&b->step[i], step))
            return b->nsrc + b->nnum + i;
    if (b->nstep == b->most) {
        b->full = true;
        return 0;
    }
    b->step[b->nstep] = *step;
    return b->nsrc + b->nnum + b->nstep++;
}

int tni_build_cast(tni_builder *b, int v, tn_dtype from, tn_dtype to)
{
    if (from == to && (from != TN_BOOL || v >= b->nsrc))
        return v;
    const tni_strip_step step = {
        .kind = TNI_STEP_CAST, .nsrc = 1, .dtype = (uint8_t)to, .src = {(int16_t)v}};
    return add_step(b, &step);
}

int tni_build_apply(tni_builder *b, tn_op op, const double *params, const tni_op_signature *sig,
                    const int *src, const tn_dtype *in)
{
    const int nsrc = tni_ops[op].arity;
    tni_strip_step step = {.kind = TNI_STEP_APPLY,
                           .op = (uint8_t)op,
                           .nsrc = (uint8_t)nsrc,
                           .dtype = (uint8_t)sig->compute[0],
                           .compute = (uint8_t)sig->compute[nsrc]};
    for (int k = 0; k < nsrc; k++) {
        const int v = tni_build_cast(b, src[k], in[k], sig->promoted[k + 1]);
        step.src[k] = (int16_t)tni_build_cast(b, v, sig->promoted[k + 1], sig->compute[k + 1]);
    }
    for (int i = 0; i < tni_ops[op].params; i++)
        step.params[i] = params ? params[i] : tni_ops[op].defaults[i];
    return tni_build_cast(b, add_step(b, &step), sig->compute[0], sig->result);
}
