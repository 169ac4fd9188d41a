/* eval.c - tenon eval: an expression of tensors in files, computed box by box by a stream
 * job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct operand {
    char *name;
    const char *word;
    source s;
    input in;
    bool opened;
} operand;

typedef struct eval_job {
    const char *text;
    tn_expr *expr;
    int n, given;
    operand *of[TN_EXPR_NAMES]; /* in the order of the expression's names */
    operand operands[TN_EXPR_NAMES];
    const tn_tensor *ts[TN_EXPR_NAMES];
    tn_tensor out;
} eval_job;

/* ---- errors in the expression ---- */

/* Print the message of the library's last failure, and the text with a caret under its
 * column. */
static int fail_text(const char *text)
{
    enum { WIDTH = 72 };
    const char *why = strchr(tn_error(), ':');
    int column = tn_error_column(), first = 0;
    char line[WIDTH + 1];
    (void)fail("eval%s", why ? why : "");
    if (column < 1)
        return FAILED;
    for (int i = 0; i < column - 1; i++) /* find its line; show part of a long one */
        first = text[i] == '\n' ? i + 1 : first;
    if (column - 1 - first > WIDTH - 8)
        first = column - 1 - WIDTH / 2;
    int n = (int)strcspn(text + first, "\n");
    n = n < WIDTH ? n : WIDTH;
    for (int i = 0; i < n; i++) { /* one column per byte */
        const char c = text[first + i];
        line[i] = (char)(c == '\t' ? ' ' : c >= ' ' && c < 0x7f ? c : '?');
    }
    line[n] = 0;
    fprintf(stderr, "    %s\n    %*s^\n", line, column - 1 - first, "");
    return FAILED;
}

/* ---- operands ---- */

static int read_names(const args *a, eval_job *e)
{
    e->text = a->operands[0];
    if (a->n - 1 > TN_EXPR_NAMES)
        return usage(a, "takes at most %d tensors, got %d", TN_EXPR_NAMES, a->n - 1);
    for (int i = 1; i < a->n; i++) {
        const char *word = a->operands[i], *equals = strchr(word, '=');
        operand *o = &e->operands[e->given];
        if (!equals || equals == word || !equals[1])
            return usage(a, "expected NAME=FILE, got \"%s\"", word);
        o->word = equals + 1;
        o->name = strndup(word, (size_t)(equals - word));
        if (!o->name)
            return fail("out of memory");
        e->given++;
        for (int j = 0; j < e->given - 1; j++)
            if (!strcmp(e->operands[j].name, o->name))
                return usage(a, "duplicate name %s", o->name);
    }
    return DONE;
}

/* Assign an operand to each name of the expression; if one is missing, the library reports its
 * column. */
static int match_names(const args *a, eval_job *e)
{
    const char *names[TN_EXPR_NAMES];
    const tn_tensor none = {.dtype = TN_F32}, *srcs[TN_EXPR_NAMES];
    if (tn_expr_parse(&e->expr, e->text) != TN_OK)
        return fail_text(e->text);
    e->n = tn_expr_count(e->expr);
    for (int j = 0; j < e->given; j++) {
        names[j] = e->operands[j].name;
        srcs[j] = &none;
    }
    for (int k = 0; k < e->n; k++) {
        for (int j = 0; j < e->given && !e->of[k]; j++)
            if (!strcmp(tn_expr_name(e->expr, k), names[j]))
                e->of[k] = &e->operands[j];
        if (!e->of[k] && tn_eval(&none, e->text, e->given, names, srcs) != TN_OK)
            return fail_text(e->text);
    }
    for (int j = 0; j < e->given; j++) {
        bool used = false;
        for (int k = 0; k < e->n; k++)
            used |= e->of[k] == &e->operands[j];
        if (!used)
            return usage(a, "the expression does not use %s", names[j]);
    }
    return DONE;
}

static int open_operands(const args *a, eval_job *e)
{
    for (int k = 0; k < e->n; k++) {
        operand *o = e->of[k];
        TRY(open_single(a, &o->s, &o->in, o->word));
        o->opened = true;
        e->ts[k] = &o->in.t;
    }
    return DONE;
}

static void close_operands(eval_job *e)
{
    for (int j = 0; j < e->given; j++) {
        operand *o = &e->operands[j];
        if (o->opened) {
            close_input(&o->in);
            close_source(&o->s);
        }
        free(o->name);
    }
}

/* ---- the command ---- */

static int describe_result(eval_job *e)
{
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    if (tn_expr_result(e->expr, e->n, e->ts, &dtype, &ndim, shape) != TN_OK)
        return fail_text(e->text);
    LIB(tn_init(&e->out, NULL, dtype, ndim, shape));
    return DONE;
}

static int make_result(const args *a, eval_job *e)
{
    recipe r = {0};
    const input *from[TN_EXPR_NAMES];
    TRY(open_operands(a, e));
    TRY(describe_result(e));
    if (a->explain)
        return explain_expr(a, e->expr, &e->out, e->n, e->ts);
    for (int k = 0; k < e->n; k++)
        from[k] = &e->of[k]->in;
    tn_expr *expr = e->expr;
    e->expr = NULL; /* the recipe owns it now */
    int code = recipe_of_expr(&r, expr, e->n, e->ts, from);
    if (code == DONE)
        code = run_recipe(a, &r, from[0]);
    recipe_free(&r);
    return code;
}

int run_eval(const args *a)
{
    if (a->n < 2)
        return usage(a, "missing argument: %s", a->n ? "NAME=FILE" : "TEXT");
    if (a->json && !a->explain)
        return usage(a, "--json belongs to tenon explain eval");
    eval_job *e = calloc(1, sizeof *e);
    if (!e)
        return fail("out of memory");
    int code = read_names(a, e);
    if (code == DONE)
        code = match_names(a, e);
    if (code == DONE)
        code = make_result(a, e);
    close_operands(e);
    tn_expr_free(e->expr);
    free(e);
    return code;
}
