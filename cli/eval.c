/* eval.c - tenon eval: an expression of tensors in files.
 *
 * Without reductions the result is made box by box by the stream.  With them each box of the
 * result is an expression of the parts of the sources that it needs, which are mapped: memory
 * holds states of sums, and pages that the system takes back. */
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
    tn_tensor t; /* in memory, for reductions; owned when read */
    bool read;
} operand;

typedef struct eval_job {
    const char *text;
    tn_expr *expr;
    int n, given;
    operand *of[TN_EXPR_NAMES]; /* in the order of the text's names */
    operand operands[TN_EXPR_NAMES];
    const tn_tensor *ts[TN_EXPR_NAMES];
    tn_tensor out;
    int axis[TN_MAX_NDIM], all; /* the axis of the common shape that each of out's is */
} eval_job;

/* ---- a fault in the text ---- */

/* The sentence of the library's last failure, and the text with a caret under its column. */
static int fail_text(const char *text)
{
    enum { WIDTH = 72 };
    const char *why = strchr(tn_error(), ':');
    int column = tn_error_column(), first = 0;
    char line[WIDTH + 1];
    (void)fail("eval%s", why ? why : "");
    if (column < 1)
        return FAILED;
    for (int i = 0; i < column - 1;
         i++) /* the line that it lies in, and a part of a long one */
        first = text[i] == '\n' ? i + 1 : first;
    if (column - 1 - first > WIDTH - 8)
        first = column - 1 - WIDTH / 2;
    int n = (int)strcspn(text + first, "\n");
    n = n < WIDTH ? n : WIDTH;
    for (int i = 0; i < n; i++) { /* one column for each byte */
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
            return fail("no memory");
        e->given++;
        for (int j = 0; j < e->given - 1; j++)
            if (!strcmp(e->operands[j].name, o->name))
                return usage(a, "the name %s is given twice", o->name);
    }
    return DONE;
}

/* Which operand each name of the text is; the library finds the place of one that is missing. */
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
            return usage(a, "the text has no name %s", names[j]);
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
        if (o->read)
            tn_free(&o->t);
        if (o->opened) {
            close_input(&o->in);
            close_source(&o->s);
        }
        free(o->name);
    }
}

/* ---- reductions ---- */

/* The tensor in memory: as it is there, mapped, or read when its bytes need conversion. */
static int map_operand(operand *o)
{
    const input *in = &o->in;
    o->t = in->t;
    if (in->in_memory || tn_numel(&in->t) == 0)
        return DONE;
    const tn_file *f = in->spilled ? in->unpacked : in->from->f;
    const int64_t i = in->spilled ? 0 : in->i;
    tn_tensor got;
    if (tn_file_map(f, i, &got) != TN_OK) {
        LIB(tn_file_read(f, i, &got));
        o->read = true;
    }
    got.dtype = in->t.dtype;
    o->t = got;
    return DONE;
}

/* Which axes of the common shape remain: one that is longer than all others shows it. */
static int find_axes(eval_job *e)
{
    tn_tensor like[TN_EXPR_NAMES];
    const tn_tensor *srcs[TN_EXPR_NAMES];
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    for (int k = 0; k < e->n; k++) {
        e->all = e->ts[k]->ndim > e->all ? e->ts[k]->ndim : e->all;
        srcs[k] = &like[k];
    }
    for (int axis = 0; axis < e->all; axis++) {
        for (int k = 0; k < e->n; k++) {
            const int skipped = e->all - e->ts[k]->ndim;
            for (int i = 0; i < e->ts[k]->ndim; i++)
                shape[i] = 1 + (skipped + i == axis);
            LIB(tn_init(&like[k], NULL, e->ts[k]->dtype, e->ts[k]->ndim, shape));
        }
        LIB(tn_expr_result(e->expr, e->n, srcs, &dtype, &ndim, shape));
        for (int i = 0; i < ndim; i++)
            if (shape[i] > 1)
                e->axis[i] = axis;
    }
    return DONE;
}

/* A box of the result, as a source of the stream. */
static tn_status make_box(void *user, const tn_tensor *dst, const int64_t *at)
{
    const eval_job *e = user;
    tn_tensor part[TN_EXPR_NAMES];
    const tn_tensor *srcs[TN_EXPR_NAMES];
    tn_status status = TN_OK;
    for (int k = 0; k < e->n; k++) {
        part[k] = e->of[k]->t;
        for (int i = 0; i < dst->ndim && status == TN_OK; i++) {
            const int axis = e->axis[i] - e->all + part[k].ndim;
            if (axis >= 0 && part[k].shape[axis] != 1)
                status = tn_slice(&part[k], &part[k], axis, at[i], at[i] + dst->shape[i], 1);
        }
        srcs[k] = &part[k];
    }
    return status == TN_OK ? tn_expr_run(e->expr, dst, e->n, srcs) : status;
}

static int run_reductions(const args *a, eval_job *e)
{
    recipe r = {0};
    for (int k = 0; k < e->n; k++)
        TRY(map_operand(e->of[k]));
    TRY(find_axes(e));
    int code = recipe_of_view(&r, &e->out, &e->of[0]->in);
    if (code == DONE) {
        r.sources[0] = (tn_stream_source){.read = make_box, .user = e, .view = e->out};
        r.job.threads = 1;
        code = run_recipe(a, &r, &e->of[0]->in);
    }
    recipe_free(&r);
    return code;
}

/* ---- the command ---- */

static int describe_result(eval_job *e, bool *reduces)
{
    tn_dtype dtype;
    int ndim, common;
    int64_t shape[TN_MAX_NDIM], meet[TN_MAX_NDIM];
    if (tn_expr_result(e->expr, e->n, e->ts, &dtype, &ndim, shape) != TN_OK)
        return fail_text(e->text);
    LIB(tn_init(&e->out, NULL, dtype, ndim, shape));
    LIB(tn_broadcast_shape(e->n, e->ts, &common, meet));
    *reduces = ndim != common;
    return DONE;
}

static int make_result(const args *a, eval_job *e)
{
    bool reduces = false;
    recipe r = {0};
    const input *from[TN_EXPR_NAMES];
    TRY(open_operands(a, e));
    TRY(describe_result(e, &reduces));
    if (a->explain)
        return explain_expr(a, e->expr, &e->out, e->n, e->ts);
    if (reduces)
        return run_reductions(a, e);
    for (int k = 0; k < e->n; k++)
        from[k] = &e->of[k]->in;
    tn_expr *expr = e->expr;
    e->expr = NULL; /* the recipe's now */
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
        return fail("no memory");
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
