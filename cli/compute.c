/* compute.c - cast, op and convert: results whose elements are computed, or the same in another
 * file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int build_cast(const args *a, const input *in, recipe *r)
{
    tn_dtype dtype;
    LIB(tn_dtype_parse(&dtype, a->words[0]));
    TRY(recipe_of_view(r, &in->t, in));
    r->out.dtype = dtype;
    LIB(tn_init(&r->out, NULL, dtype, in->t.ndim, in->t.shape));
    return DONE;
}

int run_cast(const args *a)
{
    tn_dtype dtype;
    if (a->n != 2)
        return usage(a, "cast takes a dtype and a file");
    if (tn_dtype_parse(&dtype, a->words[0]) != TN_OK)
        return usage(a, "no dtype is named \"%s\"", a->words[0]);
    return run_unary(a, a->words[1], build_cast);
}

static int build_same(const args *a, const input *in, recipe *r)
{
    (void)a;
    return recipe_of_view(r, &in->t, in);
}

int run_convert(const args *a)
{
    if (a->n != 1)
        return usage(a, a->n ? "too many words" : "the file is missing");
    return run_unary(a, a->words[0], build_same);
}

/* ---- op ---- */

enum { MOST_OPERANDS = 3, MOST_PARAMS = 8 };

typedef struct operand {
    source s;
    input in;
    bool is_file, open;
} operand;

static bool is_whole(const char *text)
{
    char *end;
    strtoll(text, &end, 0);
    return end != text && !*end;
}

static bool is_integer(tn_dtype dtype)
{
    return dtype >= TN_I8 && dtype <= TN_U64;
}

/* The dtype in which the files meet; a number with a fraction makes integers f64. */
static int common_dtype(const args *a, tn_op op, const operand *o, int n, tn_dtype *common)
{
    bool any = false;
    for (int i = op == TN_WHERE; i < n; i++)
        if (o[i].is_file) {
            if (any)
                LIB(tn_promote(common, *common, o[i].in.t.dtype));
            else
                *common = o[i].in.t.dtype;
            any = true;
        }
    for (int i = 0; i < n; i++)
        if (!o[i].is_file && !is_whole(a->words[i + 1]) && (!any || is_integer(*common)))
            *common = TN_F64;
        else if (!o[i].is_file && !any)
            *common = TN_I64;
    return DONE;
}

static int open_operands(const args *a, tn_op op, operand *o, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        const char *word = a->words[i + 1];
        o[i].is_file = !is_number(word);
        any |= o[i].is_file;
        if (o[i].is_file) {
            TRY(open_single(a, &o[i].s, &o[i].in, word));
            o[i].open = true;
        }
    }
    if (!any)
        return usage(a, "no operand is a file");
    tn_dtype common = TN_F64;
    TRY(common_dtype(a, op, o, n, &common));
    for (int i = 0; i < n; i++)
        if (!o[i].is_file) {
            tn_dtype dtype = op == TN_LDEXP && i == 1 ? TN_I32 : common;
            LIB(tn_alloc(&o[i].in.t, dtype, 0, NULL));
            o[i].in.in_memory = o[i].open = true;
            TRY(read_number(a->words[i + 1], dtype, o[i].in.t.data));
        }
    return DONE;
}

static int read_params(const args *a, tn_op op, double *params, const double **out)
{
    int n = 0;
    *out = NULL;
    if (!a->params)
        return DONE;
    for (const char *at = a->params; n < MOST_PARAMS;) {
        char *end;
        params[n++] = strtod(at, &end);
        if (end == at || (*end && *end != ','))
            return usage(a, "--params takes numbers with commas between, not \"%s\"",
                         a->params);
        if (!*end)
            break;
        at = end + 1;
    }
    if (n != tn_op_params(op))
        return usage(a, "%s takes %d numbers beside its operands, --params has %d", a->words[0],
                     tn_op_params(op), n);
    *out = params;
    return DONE;
}

static int no_broadcast(const args *a, int n, const tn_tensor *const *ts)
{
    char text[MOST_OPERANDS][512];
    for (int i = 0; i < n; i++)
        shape_text(text[i], ts[i]->ndim, ts[i]->shape);
    return fail("%s: %s of %s and %s of %s%s%s do not broadcast", a->words[0], text[0],
                a->words[1], text[1], a->words[2], n > 2 ? " and " : "", n > 2 ? text[2] : "");
}

static int build_op(const args *a, tn_op op, const operand *o, int n, recipe *r)
{
    const tn_tensor *ts[MOST_OPERANDS];
    tn_dtype in[MOST_OPERANDS], out;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < n; i++) {
        ts[i] = &o[i].in.t;
        in[i] = o[i].in.t.dtype;
    }
    if (tn_op_result(op, in, n, &out) != TN_OK)
        return fail("%s: %s", a->words[1], tn_error());
    if (tn_broadcast_shape(n, ts, &ndim, shape) != TN_OK)
        return no_broadcast(a, n, ts);
    TRY(recipe_start(r, out, ndim, shape));
    r->is_op = true;
    r->op = op;
    for (int i = 0; i < n; i++) {
        tn_tensor v;
        LIB(tn_broadcast_to(&v, ts[i], ndim, shape));
        TRY(recipe_add(r, &v, &o[i].in, NULL));
    }
    return DONE;
}

int run_op(const args *a)
{
    tn_op op;
    double params[MOST_PARAMS];
    operand o[MOST_OPERANDS] = {0};
    recipe r = {0};
    if (a->n == 0)
        return usage(a, "the op is missing; tenon help op lists them");
    if (tn_op_parse(&op, a->words[0]) != TN_OK)
        return usage(a, "no op is named \"%s\"; tenon help op lists them", a->words[0]);
    int n = tn_op_arity(op);
    if (a->n != n + 1)
        return usage(a, "%s takes %d operands, there are %d", a->words[0], n, a->n - 1);
    if (a->tensors)
        return usage(a, "--tensors does not go with op");
    TRY(read_params(a, op, params, &r.params));
    const double *given = r.params;
    int code = open_operands(a, op, o, n);
    if (code == DONE)
        code = build_op(a, op, o, n, &r);
    r.params = given;
    int like = 0;
    while (like < n - 1 && !o[like].is_file)
        like++;
    if (code == DONE)
        code = run_recipe(a, &r, &o[like].in);
    recipe_free(&r);
    for (int i = 0; i < n; i++)
        if (o[i].open) {
            close_input(&o[i].in);
            if (o[i].is_file)
                close_source(&o[i].s);
        }
    return code;
}
