/* expr_types.c - the dtypes of an expression: weak numbers, folding, and the steps.
 *
 * Numbers alone are computed at once, by the ops themselves on one element; what remains are
 * steps, of which equal ones are one. */
#include "expr_types.h"

#include <string.h>

#include "plan/plan.h"

enum { NUMBER = 1 << 12 }; /* a number in a step, until all of them are counted */

static int kind(tn_dtype t)
{
    return tni_dtypes[t].kind;
}

static tn_dtype dtype_of(const tni_expr_value *v)
{
    return (tn_dtype)v->dtype;
}

static bool is_number(const tni_expr_value *v)
{
    return v->value < 0;
}

static tni_expr_value number_of(tn_dtype dtype, bool weak)
{
    tni_expr_value v = {.value = -1, .dtype = (uint8_t)dtype, .weak = weak};
    memset(v.bytes, 0, sizeof v.bytes);
    return v;
}

/* ---- one element, by the engine ---- */

static tn_tensor element(char *bytes, tn_dtype dtype)
{
    return (tn_tensor){.data = bytes, .dtype = dtype, .device = TN_CPU};
}

static tni_expr_value converted(const tni_expr_value *v, tn_dtype to)
{
    tni_expr_value r = number_of(to, false), from = *v;
    if (dtype_of(v) == to) {
        memcpy(r.bytes, v->bytes, sizeof r.bytes);
        return r;
    }
    if (dtype_of(v) == TN_I64 &&
        (to == TN_F32 || to == TN_F64)) { /* the common ones, quickly */
        const double f64 = (double)v->i;
        const float f32 = (float)v->i;
        memcpy(r.bytes, to == TN_F32 ? (const void *)&f32 : &f64, (size_t)tni_width(to));
        return r;
    }
    const tn_tensor d = element(r.bytes, to), s = element(from.bytes, dtype_of(v));
    tni_strips_cast(&d, r.bytes, &s, from.bytes);
    return r;
}

/* ---- failures ---- */

static tn_status fail_types(const tni_expr_program *e, const tni_expr_item *x, tn_op op,
                            const tn_dtype *in)
{
    tn_dtype bad = in[0];
    for (int k = 1; k < tni_ops[op].arity; k++)
        if (!tni_op_computes(op, bad) || tni_op_computes(op, in[k]))
            continue;
        else
            bad = in[k];
    const bool floats = kind(bad) <= TNI_UNSIGNED && tni_op_computes(op, TN_F32);
    return tni_fail_at(TN_EDTYPE, x->column, "%s: %.*s does not take %s at column %d%s",
                       e->call, x->name_size, x->name, tn_dtype_name(bad), x->column,
                       floats ? "; cast to f32 first" : "");
}

static tn_status fail_fit(const tni_expr_program *e, const tni_expr_item *x, int64_t i,
                          tn_dtype t)
{
    return tni_fail_at(TN_EDTYPE, x->column,
                       "%s: %lld does not fit %s at column %d; cast the tensor first", e->call,
                       (long long)i, tn_dtype_name(t), x->column);
}

/* ---- weak numbers ---- */

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
    return part == TN_F64 || part == TN_C128 ? TN_C128 : TN_C64;
}

/* The dtype that a weak number has beside strong ones that promote to s. */
static tn_dtype beside(const tni_expr_value *v, tn_dtype s)
{
    if (dtype_of(v) == TN_C128)
        return complex_of(s);
    if (dtype_of(v) == TN_F64)
        return kind(s) <= TNI_UNSIGNED ? tni_float_of(s) : s;
    return s == TN_BOOL ? TN_I64 : s;
}

/* What strong operands from..n promote to; 0: there are none. */
static bool strong_dtype(const tni_expr_value *v, int from, int n, tn_dtype *s)
{
    *s = (tn_dtype)0;
    for (int k = from; k < n; k++) {
        if (v[k].weak)
            continue;
        if (*s == 0)
            *s = dtype_of(&v[k]);
        else if (*s != dtype_of(&v[k]) && tn_promote(s, *s, dtype_of(&v[k])) != TN_OK)
            return false;
    }
    return true;
}

/* Weak operands get their dtypes; those of integers are checked for room. */
static tn_status settle(const tni_expr_program *e, const tni_expr_item *x, tn_op op,
                        tni_expr_value *v, tn_dtype *in)
{
    const int n = tni_ops[op].arity, rule = tni_ops[op].rule;
    const int from = rule == TNI_RULE_SELECT;
    tn_dtype s, all = (tn_dtype)0;
    for (int k = 0; k < n; k++)
        in[k] = dtype_of(&v[k]);
    if (!strong_dtype(v, from, rule == TNI_RULE_LDEXP ? 1 : n, &s))
        return tni_fail_at(TN_EDTYPE, x->column,
                           "%s: no dtype holds both operands of %.*s at column %d", e->call,
                           x->name_size, x->name, x->column);
    if (rule == TNI_RULE_LOGICAL)
        return TN_OK;
    if (rule == TNI_RULE_F64) {
        for (int k = 0; k < n; k++)
            in[k] = v[k].weak ? TN_F64 : in[k];
        return TN_OK;
    }
    if (rule == TNI_RULE_LDEXP) {
        in[0] = v[0].weak ? TN_F64 : in[0];
        in[1] = !v[1].weak ? in[1] : dtype_of(&v[1]) == TN_F64 ? in[0] : TN_I64;
        return TN_OK;
    }
    for (int k = from; k < n; k++) { /* no strong one: i64, f64 or c128 for all */
        const tn_dtype mine = v[k].weak && s ? beside(&v[k], s) : in[k];
        all = !all ? mine : all;
        if (all != mine)
            TRY(tn_promote(&all, all, mine));
    }
    for (int k = from; k < n; k++) {
        if (!v[k].weak)
            continue;
        const bool divides = rule == TNI_RULE_DIVIDE;
        if (dtype_of(&v[k]) == TN_I64 && kind(all) <= TNI_UNSIGNED && !divides &&
            !fits(v[k].i, all))
            return fail_fit(e, x, v[k].i, all);
        in[k] = divides && kind(all) <= TNI_UNSIGNED ? tni_float_of(all) : all;
    }
    return TN_OK;
}

/* ---- folding ---- */

/* Integer results beyond i64, which kernels would wrap. */
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

static tn_status fold(tni_expr_program *e, const tni_expr_item *x, tn_op op,
                      const double *params, const tni_op_signature *sig, tni_expr_value *v,
                      const tn_dtype *in, tni_expr_value *out)
{
    const int n = tni_ops[op].arity;
    tn_tensor t[TNI_MAX_ARITY];
    const tn_tensor *srcs[TNI_MAX_ARITY];
    bool weak = true, whole = true;
    tni_expr_value c[TNI_MAX_ARITY];
    for (int k = 0; k < n; k++) {
        weak &= v[k].weak;
        whole &= in[k] == TN_I64;
        c[k] = converted(&v[k], in[k]);
        t[k] = element(c[k].bytes, in[k]);
        srcs[k] = &t[k];
    }
    if (weak && whole && sig->result == TN_I64 && overflows(op, c))
        return tni_fail_at(TN_EOVERFLOW, x->column,
                           "%s: %.*s of these numbers is beyond i64 at column %d", e->call,
                           x->name_size, x->name, x->column);
    *out = number_of(sig->result, weak && sig->result != TN_BOOL);
    const tn_tensor d = element(out->bytes, sig->result);
    if (tn_apply(op, params, &d, n, srcs) != TN_OK)
        return fail_types(e, x, op, in);
    if (out->weak && sig->result != TN_I64 && sig->result != TN_C128) { /* f64 */
        *out = converted(out, TN_F64);
        out->weak = true;
    }
    return TN_OK;
}

/* ---- steps ---- */

static tn_status number_value(tni_expr_program *e, const tni_expr_item *x,
                              const tni_expr_value *v, tn_dtype to, int *value)
{
    const tni_expr_value c = converted(v, to);
    for (int i = 0; i < e->nnum; i++)
        if (e->num[i].dtype == to && !memcmp(e->num[i].bytes, c.bytes, sizeof c.bytes)) {
            *value = NUMBER + i;
            return TN_OK;
        }
    if (e->nnum == TNI_MAX_NUMBERS)
        return tni_fail_at(TN_EUNSUPPORTED, x->column, "%s: more than %d numbers at column %d",
                           e->call, TNI_MAX_NUMBERS, x->column);
    e->num[e->nnum].dtype = to;
    memcpy(e->num[e->nnum].bytes, c.bytes, sizeof c.bytes);
    *value = NUMBER + e->nnum++;
    return TN_OK;
}

static tn_status apply(tni_expr_program *e, const tni_expr_item *x, tn_op op,
                       const double *params, tni_expr_value *v, tni_expr_value *out)
{
    const int n = tni_ops[op].arity;
    tn_dtype in[TNI_MAX_ARITY];
    bool numbers = true, weak = true;
    for (int k = 0; k < n; k++) {
        numbers &= is_number(&v[k]);
        weak &= v[k].weak;
    }
    TRY(settle(e, x, op, v, in));
    const bool negative = op == TN_POW && weak && v[1].dtype == TN_I64 && v[1].i < 0;
    for (int k = 0; k < n && weak; k++) /* functions that take no integers see f64 */
        if (in[k] == TN_I64 && (!tni_op_computes(op, TN_I64) || negative) &&
            tni_op_computes(op, TN_F64))
            in[k] = TN_F64;
    tni_op_signature sig;
    if (tni_op_types(&sig, e->call, op, in) != TN_OK)
        return fail_types(e, x, op, in);
    if (numbers)
        return fold(e, x, op, params, &sig, v, in, out);
    int src[TNI_MAX_ARITY];
    for (int k = 0; k < n; k++) {
        src[k] = v[k].value;
        if (!is_number(&v[k]))
            continue;
        in[k] = sig.promoted[k + 1];
        const tni_expr_value mine =
            converted(&v[k], v[k].weak ? sig.promoted[k + 1] : dtype_of(&v[k]));
        const tni_expr_value there = converted(&mine, sig.promoted[k + 1]);
        in[k] = sig.compute[k + 1];
        TRY(number_value(e, x, &there, sig.compute[k + 1], &src[k]));
    }
    tni_op_signature bare = sig;
    for (int k = 0; k < n; k++)
        if (is_number(&v[k]))
            bare.promoted[k + 1] = sig.compute[k + 1];
    *out = (tni_expr_value){.dtype = (uint8_t)sig.result};
    bool plain = false;
    for (int k = 0; k < n; k++) {
        out->reduced |= v[k].reduced;
        plain |= !is_number(&v[k]) && !v[k].reduced;
        out->names |= v[k].names;
    }
    if (out->reduced && plain)
        return tni_fail_at(TN_EUNSUPPORTED, x->column,
                           "%s: %.*s of a reduction and a tensor is not supported at column %d",
                           e->call, x->name_size, x->name, x->column);
    tni_builder *b = out->reduced ? &e->outer : &e->build;
    out->value = (int16_t)tni_build_apply(b, op, params, &bare, src, in);
    return TN_OK;
}

static tn_status fail_steps(const tni_expr_program *e)
{
    return tni_fail(TN_EUNSUPPORTED, "%s: the text has more than %d steps", e->call,
                    TN_EXPR_STEPS);
}

static tni_expr_value literal(const tni_expr_item *x)
{
    tni_expr_value v = number_of(x->imaginary ? TN_C128 : x->whole ? TN_I64 : TN_F64, true);
    if (x->nargs) { /* true, false */
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

static tn_status cast(tni_expr_program *e, tn_dtype to, tni_expr_value *v)
{
    if (is_number(v)) {
        *v = converted(v, to);
        return TN_OK;
    }
    v->value =
        (int16_t)tni_build_cast(v->reduced ? &e->outer : &e->build, v->value, dtype_of(v), to);
    v->dtype = (uint8_t)to;
    return TN_OK;
}

static tn_status power(tni_expr_program *e, const tni_expr_item *x, tni_expr_value *v,
                       tni_expr_value *out)
{
    const bool whole = is_number(&v[1]) && v[1].weak && v[1].dtype == TN_I64;
    if (whole && v[1].i == 2 && !is_number(&v[0]))
        return apply(e, x, TN_SQUARE, NULL, v, out);
    if (whole && v[1].i == -1 && !is_number(&v[0]) && kind(dtype_of(&v[0])) == TNI_FLOAT)
        return apply(e, x, TN_RECIPROCAL, NULL, v, out);
    return apply(e, x, TN_POW, NULL, v, out);
}

/* The parameters behind the tensors of a function. */
static void take_params(const tni_expr_item *x, const tni_expr_value *v, double *params)
{
    for (int i = tni_ops[x->what].arity; i < x->nargs; i++) {
        const tni_expr_value p = converted(&v[i], TN_F64);
        memcpy(&params[i - tni_ops[x->what].arity], p.bytes, sizeof *params);
    }
}

static tn_status fail_reduction(const tni_expr_program *e, const tni_expr_item *x,
                                const char *what)
{
    return tni_fail_at(TN_EUNSUPPORTED, x->column, "%s: %.*s: %s is not supported at column %d",
                       e->call, x->name_size, x->name, what, x->column);
}

static tn_status reduce(tni_expr_program *e, const tni_expr_item *x, tni_expr_value *v)
{
    tn_dtype gives;
    const tn_reduction op = (tn_reduction)x->what;
    const bool order = op == TN_REDUCE_MIN || op == TN_REDUCE_MAX;
    if (is_number(v))
        return fail_reduction(e, x, "a reduction of numbers");
    if (v->reduced)
        return tni_fail_at(TN_EUNSUPPORTED, e->reduce[e->nreduce - 1].column,
                           "%s: a reduction within another is not supported at column %d",
                           e->call, e->reduce[e->nreduce - 1].column);
    if ((order && dtype_of(v) == TN_BOOL) ||
        tn_reduction_result(op, dtype_of(v), &gives) != TN_OK)
        return tni_fail_at(TN_EDTYPE, x->column, "%s: %.*s does not take %s at column %d",
                           e->call, x->name_size, x->name, tn_dtype_name(dtype_of(v)),
                           x->column);
    bool same = e->nreduce == 0 || e->naxes == x->naxes;
    for (int i = 0; i < x->naxes && same && e->nreduce; i++)
        same = e->axes[i] == x->axes[i];
    if (!same)
        return fail_reduction(e, x, "another axis than that of the reduction before it");
    e->naxes = x->naxes;
    for (int i = 0; i < x->naxes; i++)
        e->axes[i] = x->axes[i];
    int r = 0;
    while (r < e->nreduce && !(e->reduce[r].op == op && e->reduce[r].value == v->value))
        r++;
    if (r == TNI_EXPR_REDUCTIONS)
        return fail_reduction(e, x, "more than 16 reductions");
    e->nreduce = r == e->nreduce ? r + 1 : e->nreduce;
    e->reduce[r] = (tni_expr_reduction){.op = op,
                                        .value = v->value,
                                        .dtype = v->dtype,
                                        .gives = (uint8_t)gives,
                                        .names = v->names,
                                        .column = x->column};
    *v = (tni_expr_value){
        .value = (int16_t)r, .dtype = (uint8_t)gives, .reduced = true, .names = v->names};
    return TN_OK;
}

void tni_expr_begin(tni_expr_program *e, const char *call, int nsrc,
                    const tn_tensor *const *srcs)
{
    e->call = call;
    e->nsrc = nsrc;
    e->nnum = e->top = e->nreduce = e->naxes = 0;
    e->outer = (tni_builder){.step = e->outer_step,
                             .most = TNI_EXPR_OUTER,
                             .nsrc = TNI_EXPR_REDUCTIONS,
                             .share = true};
    for (int k = 0; k < nsrc; k++)
        e->src[k] = srcs[k]->dtype;
    e->build =
        (tni_builder){.step = e->step, .most = TNI_MAX_STEPS, .nsrc = nsrc, .share = true};
}

tn_status tni_expr_type(void *program, const tni_expr_item *x)
{
    tni_expr_program *e = program;
    tni_expr_value *v = e->stack + e->top, out = {0}, both;
    double params[TNI_MAX_PARAMS];
    switch (x->kind) {
    case TNI_EXPR_TENSOR:
        out = (tni_expr_value){.value = (int16_t)x->what,
                               .dtype = (uint8_t)e->src[x->what],
                               .names = (uint16_t)(1u << x->what)};
        break;
    case TNI_EXPR_NUMBER:
        out = literal(x);
        break;
    case TNI_EXPR_CAST:
        out = *--v;
        TRY(cast(e, (tn_dtype)x->what, &out));
        break;
    case TNI_EXPR_REDUCE:
        out = *--v;
        TRY(reduce(e, x, &out));
        break;
    case TNI_EXPR_PLUS:
        out = *--v;
        if (dtype_of(&out) == TN_BOOL)
            return tni_fail_at(TN_EDTYPE, x->column, "%s: + does not take bool at column %d",
                               e->call, x->column);
        break;
    case TNI_EXPR_POWER:
        v -= 2;
        TRY(power(e, x, v, &out));
        break;
    case TNI_EXPR_CHAIN: /* [t] a b: [t and] a op b, b */
        v -= x->nargs;
        both = v[x->nargs - 1];
        TRY(apply(e, x, (tn_op)x->what, NULL, v + x->nargs - 2, &out));
        if (x->nargs == 3) {
            v[1] = out;
            TRY(apply(e, x, TN_LOGICAL_AND, NULL, v, &out));
        }
        v[1] = both;
        v[0] = out;
        e->top = (int)(v - e->stack) + 2;
        return e->build.full ? fail_steps(e) : TN_OK;
    case TNI_EXPR_CHAINED: /* t b c */
        v -= 3;
        TRY(apply(e, x, (tn_op)x->what, NULL, v + 1, &out));
        v[1] = out;
        TRY(apply(e, x, TN_LOGICAL_AND, NULL, v, &out));
        break;
    default:
        v -= x->nargs;
        take_params(x, v, params);
        TRY(apply(e, x, (tn_op)x->what, x->nargs > tni_ops[x->what].arity ? params : NULL, v,
                  &out));
    }
    *v = out;
    e->top = (int)(v - e->stack) + 1;
    return TN_OK;
}

/* A value of the building is one of the program: sources, numbers, steps. */
static int final_value(int v, int built, int nsrc, int nnum)
{
    return v >= NUMBER ? nsrc + v - NUMBER : v >= built ? v - built + nsrc + nnum : v;
}

static tni_program finish(const tni_expr_program *e, tni_builder *b, int nsrc, int value)
{
    for (int i = 0; i < b->nstep; i++)
        for (int k = 0; k < b->step[i].nsrc; k++)
            b->step[i].src[k] = (int16_t)final_value(b->step[i].src[k], b->nsrc, nsrc, e->nnum);
    return (tni_program){.name = "eval",
                         .nsrc = nsrc,
                         .nnum = e->nnum,
                         .nstep = b->nstep,
                         .value = final_value(value, b->nsrc, nsrc, e->nnum),
                         .num = e->num,
                         .step = b->step};
}

tn_status tni_expr_end(tni_expr_program *e, tn_dtype dst)
{
    const tni_expr_item end = {0};
    tni_expr_value *v = &e->stack[0];
    e->result = dtype_of(v);
    if (e->build.full || e->outer.full || e->build.nstep + e->outer.nstep > TN_EXPR_STEPS)
        return fail_steps(e);
    const tn_dtype to = dst ? dst : e->result;
    int value = v->value;
    if (is_number(v))
        TRY(number_value(e, &end, v, to, &value));
    else
        value = tni_build_cast(v->reduced ? &e->outer : &e->build, value, dtype_of(v), to);
    if (!v->reduced)
        e->nreduce = 0;
    for (int r = 0; r < e->nreduce; r++)
        e->reduce[r].value =
            (int16_t)final_value(e->reduce[r].value, e->nsrc, e->nsrc, e->nnum);
    if (e->nreduce)
        e->around = finish(e, &e->outer, e->nreduce, value);
    e->program = finish(e, &e->build, e->nsrc, e->nreduce ? 0 : value);
    return TN_OK;
}
