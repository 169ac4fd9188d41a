/* compute.c - cast, op and convert: results whose elements are computed, or copied to another
 * format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int build_cast(const args *a, const input *in, recipe *r)
{
    tn_dtype dtype;
    LIB(tn_dtype_parse(&dtype, a->operands[0]));
    TRY(recipe_of_view(r, &in->t, in));
    LIB(tn_init(&r->job.out, NULL, dtype, in->t.ndim, in->t.shape));
    return DONE;
}

int run_cast(const args *a)
{
    tn_dtype dtype;
    TRY(need_operands(a, 2));
    if (tn_dtype_parse(&dtype, a->operands[0]) != TN_OK)
        return usage(a, "unknown dtype \"%s\"", a->operands[0]);
    return run_unary(a, a->operands[1], build_cast);
}

static int build_same(const args *a, const input *in, recipe *r)
{
    (void)a;
    return recipe_of_view(r, &in->t, in);
}

int run_convert(const args *a)
{
    TRY(need_operands(a, 1));
    if (a->tensors)
        return usage(
            a, "--tensors: every tensor is converted; tenon select writes those that match");
    return run_unary(a, a->operands[0], build_same);
}

/* ---- op ---- */

/* Operands: files[i], or NULL if the word is a number. */
typedef struct operands {
    tn_op op;
    int n;
    const input *files[MOST_OPERANDS];
    const char *about; /* the file that failures concern if they have no subject */
} operands;

/* The float dtype for fractions combined with integers: the smaller of two that represents them
 * exactly. */
static tn_dtype float_of(tn_dtype dtype)
{
    return tn_dtype_size(dtype) <= 2 ? TN_F32 : TN_F64;
}

/* The dtype of numbers: the one that the files promote to.  A fraction or a division turns
 * integers into floats, and an integer combined with bool is i64. */
static int common_dtype(const args *a, const operands *o, tn_dtype *common)
{
    bool any = false, fraction = false;
    for (int i = o->op == TN_WHERE; i < o->n; i++)
        if (!o->files[i]) {
            fraction |= !is_whole(a->operands[i + 1]);
            if (is_too_long(a->operands[i + 1]))
                return usage(a, "%s exceeds 64 bits; write %s.0 for a float",
                             a->operands[i + 1], a->operands[i + 1]);
        } else if (any) {
            LIB(tn_promote(common, *common, o->files[i]->t.dtype));
        } else {
            *common = o->files[i]->t.dtype;
            any = true;
        }
    if (!any)
        *common = fraction ? TN_F64 : TN_I64;
    else if (*common == TN_BOOL && !fraction)
        *common = TN_I64;
    if (any && (fraction || o->op == TN_DIV) && (is_integer(*common) || *common == TN_BOOL))
        *common = float_of(*common);
    return DONE;
}

/* Store number i, as a tensor without axes, in the recipe. */
static int add_number(const args *a, const operands *o, int i, tn_dtype common, recipe *r)
{
    tn_dtype dtype = o->op == TN_LDEXP && i == 1 ? TN_I32 : common;
    r->numbers[i] = (input){.in_memory = true};
    TRY(read_number(a->operands[i + 1], dtype, r->number_bytes[i]));
    LIB(tn_init(&r->numbers[i].t, r->number_bytes[i], dtype, 0, NULL));
    return DONE;
}

static int no_broadcast(const args *a, int n, const tn_tensor *const *ts)
{
    char text[MOST_OPERANDS][512];
    for (int i = 0; i < n; i++)
        shape_text(text[i], ts[i]->ndim, ts[i]->shape);
    return fail("%s: shapes %s of %s and %s of %s%s%s do not broadcast", a->operands[0],
                text[0], a->operands[1], text[1], a->operands[2], n > 2 ? " and " : "",
                n > 2 ? text[2] : "");
}

int read_params(const args *a, const char *name, int want, double *params)
{
    int n = 0;
    for (const char *at = a->params; at && n < MOST_PARAMS;) {
        char *end;
        params[n++] = strtod(at, &end);
        if (end == at || (*end && *end != ','))
            return usage(a, "--params takes numbers separated by commas, got \"%s\"",
                         a->params);
        at = *end ? end + 1 : NULL;
    }
    if (a->params && n != want)
        return usage(a, "%s takes %d parameter%s, --params has %d", name, want,
                     want == 1 ? "" : "s", n);
    return DONE;
}

/* The op as the text of an expression: its name, operands a, b and c, parameters. */
static int op_text(const args *a, tn_op op, char *text, size_t size)
{
    double params[MOST_PARAMS];
    int used = snprintf(text, size, "%s(", tn_op_name(op));
    TRY(read_params(a, a->operands[0], tn_op_params(op), params));
    for (int i = 0; i < tn_op_arity(op); i++)
        used += snprintf(text + used, size - (size_t)used, "%s%c", i ? ", " : "", 'a' + i);
    for (int i = 0; a->params && i < tn_op_params(op); i++)
        used += snprintf(text + used, size - (size_t)used, ", %.17g", params[i]);
    snprintf(text + used, size - (size_t)used, ")");
    return DONE;
}

static int build_op(const args *a, const operands *o, recipe *r)
{
    const tn_tensor *ts[MOST_OPERANDS];
    const input *from[MOST_OPERANDS];
    tn_dtype in[MOST_OPERANDS], out, common = TN_F64;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    char text[512];
    TRY(common_dtype(a, o, &common));
    for (int i = 0; i < o->n; i++) {
        if (!o->files[i])
            TRY(add_number(a, o, i, common, r));
        from[i] = o->files[i] ? o->files[i] : &r->numbers[i];
        ts[i] = &from[i]->t;
        in[i] = ts[i]->dtype;
    }
    if (tn_op_result(o->op, in, o->n, &out) != TN_OK) {
        if (o->about)
            set_error_subject(o->about);
        return fail_call("tn_op_result");
    }
    if (tn_broadcast_shape(o->n, ts, &ndim, shape) != TN_OK)
        return no_broadcast(a, o->n, ts);
    TRY(op_text(a, o->op, text, sizeof text));
    tn_expr *expr;
    LIB(tn_expr_parse(&expr, text));
    r->op = tn_op_name(o->op);
    return recipe_of_expr(r, expr, o->n, ts, from);
}

/* The op with one file, one of its tensors at a time, and numbers. */
static int build_op_of_one(const args *a, const input *in, recipe *r)
{
    operands o = {0};
    LIB(tn_op_parse(&o.op, a->operands[0]));
    o.n = tn_op_arity(o.op);
    for (int i = 0; i < o.n; i++)
        o.files[i] = is_number(a->operands[i + 1]) ? NULL : in;
    return build_op(a, &o, r);
}

static int run_files(const args *a, tn_op op)
{
    operands o = {.op = op, .n = a->n - 1, .about = a->operands[1]};
    source sources[MOST_OPERANDS];
    input inputs[MOST_OPERANDS];
    recipe r = {0};
    int code = DONE, opened[MOST_OPERANDS] = {0};
    const input *like = NULL;
    for (int i = 0; i < o.n && code == DONE; i++) {
        if (is_number(a->operands[i + 1]))
            continue;
        code = open_single(a, &sources[i], &inputs[i], a->operands[i + 1]);
        opened[i] = code == DONE;
        o.files[i] = &inputs[i];
        like = like ? like : &inputs[i];
    }
    if (code == DONE)
        code = build_op(a, &o, &r);
    if (code == DONE)
        code = run_recipe(a, &r, like);
    recipe_free(&r);
    for (int i = 0; i < o.n; i++)
        if (opened[i]) {
            close_input(&inputs[i]);
            close_source(&sources[i]);
        }
    return code;
}

int run_op(const args *a)
{
    tn_op op;
    if (a->n == 0)
        return usage(a, "missing argument: NAME; tenon help op lists the ops");
    if (tn_op_parse(&op, a->operands[0]) != TN_OK)
        return usage(a, "unknown op \"%s\"; tenon help op lists the ops", a->operands[0]);
    int n = tn_op_arity(op), files = 0, file = 1;
    if (a->n != n + 1)
        return usage(a, "%s takes %d operand%s, got %d", a->operands[0], n, n == 1 ? "" : "s",
                     a->n - 1);
    for (int i = 1; i <= n; i++)
        if (!is_number(a->operands[i])) {
            files++;
            file = i;
        }
    if (!files)
        return usage(a, "at least one operand must be a file");
    if (a->tensors && files > 1)
        return usage(a, "--tensors works on one file, with numbers as the other operands");
    return files == 1 ? run_unary(a, a->operands[file], build_op_of_one) : run_files(a, op);
}
