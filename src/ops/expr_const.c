/* expr_const.c - numbers in expressions: literals, conversions, and constant folding.
 *
 * Ops on numbers alone are folded at once, by running their kernels on one element. */
#include "expr_types.h"

#include <string.h>

#include "plan/plan.h"

static tni_expr_value number_of(tn_dtype dtype, bool weak)
{
    tni_expr_value v = {.value = -1, .dtype = (uint8_t)dtype, .weak = weak};
    memset(v.bytes, 0, sizeof v.bytes);
    return v;
}

tni_expr_value tni_expr_literal(const tni_expr_item *x)
{
    tni_expr_value v = number_of(x->imaginary ? TN_C128 : x->whole ? TN_I64 : TN_F64, true);
    if (x->truth) {
        v = number_of(TN_BOOL, false);
        v.bytes[0] = x->f != 0;
    } else if (x->imaginary) {
        memcpy(v.bytes + 8, &x->f, 8);
    } else if (x->whole) {
        v.i = x->i;
    } else {
        memcpy(v.bytes, &x->f, 8);
    }
    return v;
}

tni_expr_value tni_expr_converted(const tni_expr_value *v, tn_dtype to)
{
    tni_expr_value r = number_of(to, false);
    if (tni_expr_dtype_of(v) == to) {
        memcpy(r.bytes, v->bytes, sizeof r.bytes);
        return r;
    }
    if (tni_expr_dtype_of(v) == TN_I64 &&
        (to == TN_F32 || to == TN_F64)) { /* fast path for the common cases */
        const double f64 = (double)v->i;
        const float f32 = (float)v->i;
        memcpy(r.bytes, to == TN_F32 ? (const void *)&f32 : &f64, (size_t)tni_width(to));
        return r;
    }
    tni_cast_element(r.bytes, to, v->bytes, tni_expr_dtype_of(v));
    return r;
}

/* ---- folding ---- */

/* Does the integer result exceed i64?  Kernels would wrap. */
static bool overflows(tn_op op, const tni_expr_value *v)
{
    int64_t r;
    const int64_t a = v[0].i, b = v[1].i;
    switch (op) {
    case TN_ADD:
        return !tni_add(a, b, &r);
    case TN_SUB:
        return __builtin_sub_overflow(a, b, &r);
    case TN_MUL:
        return __builtin_mul_overflow(a, b, &r);
    case TN_SQUARE:
        return __builtin_mul_overflow(a, a, &r);
    case TN_NEG:
    case TN_ABS:
        return a == INT64_MIN;
    case TN_FLOOR_DIVIDE:
    case TN_TRUNC_DIVIDE:
        return a == INT64_MIN && b == -1;
    case TN_SHL:
        return b >= 0 && a && (b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, &r));
    case TN_POW: {
        int64_t p = 1;
        for (int64_t i = 0; i < b && (a > 1 || a < -1); i++)
            if (__builtin_mul_overflow(p, a, &p))
                return true;
        return false;
    }
    default:
        return false;
    }
}

tn_status tni_expr_const(tni_expr_program *e, const tni_expr_item *x, tn_op op,
                         const double *params, const tni_op_signature *sig, tni_expr_value *v,
                         const tn_dtype *in, tni_expr_value *out)
{
    const int n = tni_ops[op].arity;
    const char *from[TNI_MAX_ARITY] = {NULL};
    int8_t width[TNI_MAX_ARITY + 1];
    bool weak = true, whole = true;
    tni_expr_value c[TNI_MAX_ARITY];
    for (int k = 0; k < n; k++) {
        weak &= v[k].weak;
        whole &= in[k] == TN_I64;
        c[k] = tni_expr_converted(&v[k], in[k]);
    }
    if (weak && whole && sig->result == TN_I64 && overflows(op, c))
        return tni_fail_at(TN_EOVERFLOW, x->column,
                           "%s: %.*s of these numbers overflows i64 at column %d", e->call,
                           x->name_size, x->name, x->column);
    for (int k = 0; k < n; k++) {
        c[k] = tni_expr_converted(&c[k], sig->promoted[k + 1]);
        c[k] = tni_expr_converted(&c[k], sig->compute[k + 1]);
        from[k] = c[k].bytes;
        width[k + 1] = (int8_t)tni_width(sig->compute[k + 1]);
    }
    tni_expr_value r = number_of(sig->compute[0], false);
    width[0] = (int8_t)tni_width(sig->compute[0]);
    tni_op_elements(op, params, sig->compute[n], width, r.bytes, from, 0, 1);
    *out = tni_expr_converted(&r, sig->result);
    if (weak && sig->result != TN_BOOL && sig->result != TN_I64 && sig->result != TN_C128)
        *out = tni_expr_converted(out, TN_F64);
    out->weak = weak && sig->result != TN_BOOL;
    return TN_OK;
}
