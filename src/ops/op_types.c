/* op_types.c - which dtypes an op takes, computes in and gives: the promotion table, and the
 * dtype rule of ops.def. */
#include "op_types.h"

static int kind(tn_dtype t)
{
    return tni_dtypes[t].kind;
}

static tn_status refuse(const char *call, tn_op op, tn_dtype t)
{
    const bool floats = kind(t) <= TNI_UNSIGNED && tni_op_computes(op, TN_F32);
    return tni_fail(TN_EDTYPE, "%s: op %s does not support %s%s", call, tni_ops[op].name,
                    tn_dtype_name(t), floats ? "; cast to f32 first" : "");
}

static tn_status meet(tn_dtype *out, const char *call, tn_op op, const tn_dtype *in, int from)
{
    tn_dtype m = in[from];
    for (int k = from + 1; k < tni_ops[op].arity; k++) {
        const tn_dtype with = m;
        if (m != in[k] && tn_promote(&m, with, in[k]) != TN_OK)
            return tni_fail(TN_EDTYPE, "%s: op %s: %s and %s do not promote to a common dtype",
                            call, tni_ops[op].name, tn_dtype_name(with), tn_dtype_name(in[k]));
    }
    *out = m;
    return TN_OK;
}

static tn_status scale_types(tni_strips_how *how, tn_dtype *result, const char *call, tn_op op,
                             const tn_dtype *in)
{
    if (kind(in[0]) != TNI_FLOAT)
        return refuse(call, op, in[0]);
    if (in[1] != in[0] && in[1] != TN_I32 && in[1] != TN_I64)
        return tni_fail(TN_EDTYPE, "%s: op %s of %s takes i32, i64 or %s beside it, not %s",
                        call, tni_ops[op].name, tn_dtype_name(in[0]), tn_dtype_name(in[0]),
                        tn_dtype_name(in[1]));
    *result = how->meet[1] = in[0];
    how->compute[0] = how->compute[1] = how->compute[2] = tni_op_computes(op, in[0]);
    how->meet[2] = how->compute[2];
    return TN_OK;
}

tn_status tni_op_types(tni_strips_how *how, tn_dtype *result, const char *call, tn_op op,
                       const tn_dtype *in)
{
    const int arity = tni_ops[op].arity, rule = tni_ops[op].rule;
    if (rule == TNI_RULE_LDEXP)
        return scale_types(how, result, call, op, in);
    tn_dtype m = TN_BOOL;
    if (rule != TNI_RULE_LOGICAL)
        TRY(meet(&m, call, op, in, rule == TNI_RULE_SELECT));
    if (rule == TNI_RULE_F64 && (kind(m) == TNI_BOOL || kind(m) == TNI_COMPLEX))
        return refuse(call, op, m);
    if (rule == TNI_RULE_F64)
        m = TN_F64;
    if (rule == TNI_RULE_DIVIDE && kind(m) <= TNI_UNSIGNED)
        m = tni_float_of(m);
    const tn_dtype c = tni_op_computes(op, m);
    if (!c)
        return refuse(call, op, m);
    for (int k = 1; k <= arity; k++) {
        how->meet[k] = m;
        how->compute[k] = c;
    }
    if (rule == TNI_RULE_SELECT)
        how->meet[1] = how->compute[1] = TN_BOOL;
    how->compute[0] = c;
    *result = m;
    if (rule == TNI_RULE_COMPARE)
        *result = how->compute[0] = TN_BOOL;
    if (rule == TNI_RULE_REAL && kind(m) == TNI_COMPLEX)
        *result = how->compute[0] = m == TN_C64 ? TN_F32 : TN_F64;
    return TN_OK;
}
