/* expr_weak.c - weak numbers: the dtypes they assume next to tensors. */
#include "expr_types.h"

#include <string.h>

#include "reduce_check.h"

static int kind(tn_dtype t)
{
    return tni_dtypes[t].kind;
}

/* The text of the argument of a function, for error messages; 0 if it is too long or there are
 * several arguments. */
static int argument(const tni_expr_item *x, const char **at)
{
    enum { LONGEST = 40 };
    const char *s = x->name + x->name_size;
    int depth = 0, n = 0;
    s += strspn(s, " \t\n");
    if (*s != '(')
        return 0;
    *at = ++s;
    for (; s[n] && !(s[n] == ')' && depth == 0); n++) {
        depth += (s[n] == '(') - (s[n] == ')');
        if (n == LONGEST || (s[n] == ',' && depth == 0))
            return 0;
    }
    return s[n] ? n : 0;
}

tn_status tni_expr_fail_types(const tni_expr_program *e, const tni_expr_item *x, tn_op op,
                              const tn_dtype *in)
{
    if (tni_ops[op].rule == TNI_RULE_LDEXP && kind(in[0]) == TNI_FLOAT)
        return tni_fail_at(TN_EDTYPE, x->column,
                           "%s: %.*s: argument 2: got %s at column %d, expected i32, i64 or %s",
                           e->call, x->name_size, x->name, tn_dtype_name(in[1]), x->column,
                           tn_dtype_name(in[0]));
    tn_dtype bad = in[0];
    for (int k = 1; k < tni_ops[op].arity; k++)
        if (!tni_op_computes(op, bad) || tni_op_computes(op, in[k]))
            continue;
        else
            bad = in[k];
    const bool floats = kind(bad) <= TNI_UNSIGNED && tni_op_computes(op, TN_F32);
    const char *of = "";
    const int n = floats && tni_ops[op].arity == 1 ? argument(x, &of) : 0;
    if (n)
        return tni_fail_at(TN_EDTYPE, x->column,
                           "%s: %.*s: got %s at column %d, expected %s; write %.*s(f32(%.*s))",
                           e->call, x->name_size, x->name, tn_dtype_name(bad), x->column,
                           tni_op_expects(op), x->name_size, x->name, n, of);
    return tni_fail_at(TN_EDTYPE, x->column, "%s: %.*s: got %s at column %d, expected %s%s",
                       e->call, x->name_size, x->name, tn_dtype_name(bad), x->column,
                       tni_op_expects(op), floats ? "; cast to f32 first" : "");
}

tn_status tni_expr_fail_reduction(const tni_expr_program *e, const tni_expr_item *x,
                                  tn_dtype in)
{
    const tn_reduction op = (tn_reduction)x->what;
    const bool order = op == TN_REDUCE_MIN || op == TN_REDUCE_MAX; /* not of bool here */
    return tni_fail_at(TN_EDTYPE, x->column, "%s: %.*s: got %s at column %d, expected %s",
                       e->call, x->name_size, x->name, tn_dtype_name(in), x->column,
                       order ? "integers or floats" : tni_reduce_expects(op));
}

static tn_status fail_fit(const tni_expr_program *e, const tni_expr_item *x, int64_t i,
                          tn_dtype t)
{
    return tni_fail_at(TN_EDTYPE, x->column,
                       "%s: %lld does not fit in %s at column %d; cast the tensor first",
                       e->call, (long long)i, tn_dtype_name(t), x->column);
}

static bool fits(int64_t i, tn_dtype t)
{
    const int bits = 8 * (int)tni_width(t);
    if (kind(t) == TNI_UNSIGNED)
        return i >= 0 && (bits == 64 || i >> bits == 0);
    return bits == 64 || (i >= -((int64_t)1 << (bits - 1)) && i < (int64_t)1 << (bits - 1));
}

static tn_dtype complex_of(tn_dtype t)
{
    const tn_dtype part = kind(t) <= TNI_UNSIGNED ? tni_float_of(t) : t;
    return tni_real_of(part) == TN_F64 ? TN_C128 : TN_C64;
}

/* The dtype that a weak number assumes next to strong operands that promote to s. */
static tn_dtype beside(const tni_expr_value *v, tn_dtype s)
{
    if (tni_expr_dtype_of(v) == TN_C128)
        return complex_of(s);
    if (tni_expr_dtype_of(v) == TN_F64)
        return kind(s) <= TNI_UNSIGNED ? tni_float_of(s) : s;
    return s == TN_BOOL ? TN_I64 : s;
}

/* The dtype that the strong operands in [from, n) promote to; 0 if there are none. */
static bool strong_dtype(const tni_expr_value *v, int from, int n, tn_dtype *s)
{
    *s = (tn_dtype)0;
    for (int k = from; k < n; k++) {
        if (v[k].weak)
            continue;
        if (*s == 0)
            *s = tni_expr_dtype_of(&v[k]);
        else if (*s != tni_expr_dtype_of(&v[k]) &&
                 tn_promote(s, *s, tni_expr_dtype_of(&v[k])) != TN_OK)
            return false;
    }
    return true;
}

tn_status tni_expr_settle(const tni_expr_program *e, const tni_expr_item *x, tn_op op,
                          tni_expr_value *v, tn_dtype *in)
{
    const int n = tni_ops[op].arity, rule = tni_ops[op].rule;
    const int from = rule == TNI_RULE_SELECT;
    tn_dtype s, all = (tn_dtype)0;
    for (int k = 0; k < n; k++)
        in[k] = tni_expr_dtype_of(&v[k]);
    if (rule == TNI_RULE_LOGICAL)
        return TN_OK;
    if (rule == TNI_RULE_F64) {
        for (int k = 0; k < n; k++)
            in[k] = v[k].weak ? TN_F64 : in[k];
        return TN_OK;
    }
    if (!strong_dtype(v, from, rule == TNI_RULE_LDEXP ? 1 : n, &s))
        return tni_fail_at(TN_EDTYPE, x->column,
                           "%s: no dtype holds both operands of %.*s at column %d", e->call,
                           x->name_size, x->name, x->column);
    if (rule == TNI_RULE_LDEXP) {
        in[0] = v[0].weak ? TN_F64 : in[0];
        in[1] = !v[1].weak ? in[1] : tni_expr_dtype_of(&v[1]) == TN_F64 ? in[0] : TN_I64;
        return TN_OK;
    }
    for (int k = from; k < n; k++) { /* without strong operands: i64, f64 or c128 for all */
        const tn_dtype mine = v[k].weak && s ? beside(&v[k], s) : in[k];
        all = !all ? mine : all;
        if (all != mine)
            TRY(tn_promote(&all, all, mine));
    }
    for (int k = from; k < n; k++) {
        if (!v[k].weak)
            continue;
        const bool divides = rule == TNI_RULE_DIVIDE;
        if (tni_expr_dtype_of(&v[k]) == TN_I64 && kind(all) <= TNI_UNSIGNED && !divides &&
            !fits(v[k].i, all))
            return fail_fit(e, x, v[k].i, all);
        in[k] = divides && kind(all) <= TNI_UNSIGNED ? tni_float_of(all) : all;
    }
    return TN_OK;
}
