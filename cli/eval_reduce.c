/* eval_reduce.c - tenon eval with reductions of files of any size.
 *
 * Fusing changes no bit, so that a text may be taken apart: each reduction is a stream of its
 * argument, which is itself a text without reductions, and what surrounds them is a text of their
 * results.  The result is made box by box; reductions that differ in blanks alone are one. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST_REDUCTIONS = 16 }; /* of a text */

typedef struct reduction {
    const char *text; /* the whole call, for equal ones */
    int size;
    tn_reduction op;
    tn_dtype gives;
    tn_expr *argument;
    tn_stream_source *of[TN_EXPR_NAMES]; /* the sources of its names, in its order */
    struct eval_reduce *all;
} reduction;

typedef struct eval_reduce {
    recipe sources; /* in the common shape */
    int ndim, naxes, axes[TN_MAX_NDIM], kept[TN_MAX_NDIM];
    int64_t shape[TN_MAX_NDIM];
    int n;
    reduction of[MOST_REDUCTIONS];
    tn_expr *around;
    int64_t share;      /* bytes: a quarter of the budget */
    int64_t work, done; /* bytes of all arguments, and of those that have been reduced */
} eval_reduce;

/* ---- the text ---- */

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The end of a call whose parenthesis opens at text, and the first comma outside of others;
 * *commas counts them. */
static const char *call_end(const char *text, const char **comma, int *commas)
{
    int depth = 0;
    *commas = 0;
    *comma = NULL;
    do {
        depth += (*text == '(') - (*text == ')');
        if (*text == ',' && depth == 1 && !(*commas)++)
            *comma = text;
    } while (text++, depth > 0);
    return text;
}

/* The argument of the reduction whose name ends at `open`: from its parenthesis to the comma of
 * axis=, or to the end; NULL: it is an op of several arguments.  The text is sound. */
static const char *argument_end(const char *open, const char **end)
{
    const char *comma;
    int commas;
    *end = call_end(open, &comma, &commas);
    if (!commas)
        return *end - 1;
    const char *word = comma + 1 + strspn(comma + 1, " \t\r\n");
    const char *after = word + strcspn(word, "= \t\r\n");
    after += strspn(after, " \t\r\n");
    const bool axis = !strncmp(word, "axis", 4) && !in_name(word[4]);
    return commas == 1 && axis && after[0] == '=' && after[1] != '=' ? comma : NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether two calls differ in blanks at most; those between words count. */
static bool same_call(const char *a, const char *a_end, const char *b, const char *b_end)
{
    char last = 0;
    for (;;) {
        const char *a_word = a, *b_word = b;
        while (a < a_end && is_blank(*a))
            a++;
        while (b < b_end && is_blank(*b))
            b++;
        if (a == a_end || b == b_end)
            return a == a_end && b == b_end;
        if (*a != *b || (in_name(last) && in_name(*a) && (a == a_word) != (b == b_word)))
            return false;
        last = *a;
        a++, b++;
    }
}

static int add_reduction(eval_reduce *e, const char *call, const char *open, const char *stop,
                         const char *end, int *number)
{
    char name[8] = "", *argument;
    const int size = (int)(end - call);
    for (int i = 0; i < e->n; i++)
        if (same_call(e->of[i].text, e->of[i].text + e->of[i].size, call, end)) {
            *number = i;
            return DONE;
        }
    reduction *r = &e->of[e->n];
    *r = (reduction){.text = call, .size = size, .all = e};
    memcpy(name, call, strcspn(call, " \t\r\n("));
    LIB(tn_reduction_parse(&r->op, name));
    argument = strndup(open + 1, (size_t)(stop - open - 1));
    if (!argument)
        return fail("no memory");
    const tn_status status = tn_expr_parse(&r->argument, argument);
    free(argument);
    LIB(status);
    *number = e->n++;
    return DONE;
}

/* Take the text apart: reductions go to e, and names _0, _1 … stand for them in around. */
static int split_text(eval_reduce *e, const char *text, char *around)
{
    static const char *const words[] = {"sum", "prod", "mean", "min", "max", "any", "all"};
    while (*text) {
        const char *start = text, *end = text, *stop = NULL;
        while (in_name(*text))
            text++;
        const size_t size = (size_t)(text - start);
        const char *open = text + strspn(text, " \t\r\n");
        for (size_t i = 0; i < sizeof words / sizeof *words && *open == '('; i++)
            if (size == strlen(words[i]) && !memcmp(start, words[i], size))
                stop = argument_end(open, &end);
        if (stop) {
            int number = 0;
            TRY(add_reduction(e, start, open, stop, end, &number));
            around += sprintf(around, "_%d", number);
            text = end;
            continue;
        }
        text += size == 0;
        memcpy(around, start, (size_t)(text - start));
        around += text - start;
    }
    *around = 0;
    return DONE;
}

/* ---- streams ---- */

/* Where the blocks of a result go, and the bytes of arguments before it. */
typedef struct sink {
    const tn_tensor *whole;
    int64_t done;
} sink;

static tn_status put_block(void *user, const tn_tensor *block, const int64_t *at)
{
    const sink *to = user;
    tn_tensor part;
    const tn_status status = tn_view(&part, to->whole, block->shape, at, NULL, 0);
    return status == TN_OK ? tn_rearrange(&part, block) : status;
}

static tn_status show_progress(void *user, int64_t done, int64_t total)
{
    const sink *to = user;
    (void)total;
    progress_at(to->done + done);
    return TN_OK;
}

/* The box of the sources where those of a result begin. */
typedef struct window {
    const reduction *r;
    int64_t at[TN_MAX_NDIM], memory;
} window;

/* A box of the argument of a reduction, as a source of the stream of it. */
static tn_status read_argument(void *user, const tn_tensor *dst, const int64_t *at)
{
    const window *w = user;
    const reduction *r = w->r;
    const tn_stream_eval eval = {r->argument};
    tn_stream_source parts[TN_EXPR_NAMES];
    int64_t first[TN_MAX_NDIM];
    sink to = {.whole = dst};
    tn_stream job = {.recipe = TN_STREAM_EVAL,
                     .args = &eval,
                     .n = tn_expr_count(r->argument),
                     .sources = parts,
                     .put = put_block,
                     .user = &to,
                     .max_mem = w->memory,
                     .threads = 1};
    for (int i = 0; i < dst->ndim; i++)
        first[i] = w->at[i] + at[i];
    for (int k = 0; k < job.n; k++) {
        parts[k] = *r->of[k];
        const tn_status status =
            tn_view(&parts[k].view, &r->of[k]->view, dst->shape, first, NULL, 0);
        if (status != TN_OK)
            return status;
    }
    const tn_status status = tn_init(&job.out, NULL, dst->dtype, dst->ndim, dst->shape);
    return status == TN_OK ? tn_stream_run(&job) : status;
}

/* The box of one reduction that belongs to a box of the result. */
static tn_status reduce_box(const reduction *r, const tn_tensor *dst, const int64_t *at)
{
    eval_reduce *e = r->all;
    sink to = {.whole = dst, .done = e->done};
    const tn_stream_reduce how = {.op = r->op, .naxes = e->naxes, .axes = e->axes};
    window w = {.r = r};
    tn_stream_source argument = {.read = read_argument, .user = &w};
    tn_stream job = {.recipe = TN_STREAM_REDUCE,
                     .args = &how,
                     .out = *dst,
                     .n = 1,
                     .sources = &argument,
                     .put = put_block,
                     .progress = show_progress,
                     .user = &to,
                     .max_mem = e->share};
    const tn_tensor *srcs[TN_EXPR_NAMES];
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    tn_stream_facts facts;
    for (int k = 0; k < tn_expr_count(r->argument); k++)
        srcs[k] = &r->of[k]->view;
    tn_status status =
        tn_expr_result(r->argument, tn_expr_count(r->argument), srcs, &dtype, &ndim, shape);
    for (int i = 0; i < dst->ndim; i++) {
        shape[e->kept[i]] = dst->shape[i];
        w.at[e->kept[i]] = at[i];
    }
    if (status == TN_OK)
        status = tn_init(&argument.view, NULL, dtype, ndim, shape);
    if (status == TN_OK)
        status = tn_stream_plan(&job, &facts);
    if (status != TN_OK)
        return status;
    w.memory = e->share / (facts.threads > 1 ? facts.threads : 1);
    w.memory = w.memory > 1 ? w.memory : 1;
    e->done += tn_nbytes(&argument.view);
    return tn_stream_run(&job);
}

/* A box of the result, as a source of the stream of it. */
static tn_status make_box(void *user, const tn_tensor *dst, const int64_t *at)
{
    const eval_reduce *e = user;
    tn_tensor results[MOST_REDUCTIONS] = {{0}};
    const tn_tensor *srcs[MOST_REDUCTIONS];
    tn_status status = TN_OK;
    for (int i = 0; i < e->n && status == TN_OK; i++) {
        status = tn_alloc(&results[i], e->of[i].gives, dst->ndim, dst->shape);
        if (status == TN_OK)
            status = reduce_box(&e->of[i], &results[i], at);
        srcs[i] = &results[i];
    }
    if (status == TN_OK)
        status = tn_expr_run(e->around, dst, e->n, srcs);
    for (int i = 0; i < e->n; i++)
        tn_free(&results[i]);
    return status;
}

/* ---- the job ---- */

/* Which axes of the common shape remain: one that is longer than all others shows it. */
static int find_axes(eval_reduce *e, const tn_expr *expr, int n, const tn_tensor *const *ts)
{
    tn_tensor like[TN_EXPR_NAMES];
    const tn_tensor *srcs[TN_EXPR_NAMES];
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    for (int axis = 0; axis < e->ndim; axis++) {
        for (int k = 0; k < n; k++) {
            const int skipped = e->ndim - ts[k]->ndim;
            for (int i = 0; i < ts[k]->ndim; i++)
                shape[i] = 1 + (skipped + i == axis);
            LIB(tn_init(&like[k], NULL, ts[k]->dtype, ts[k]->ndim, shape));
            srcs[k] = &like[k];
        }
        LIB(tn_expr_result(expr, n, srcs, &dtype, &ndim, shape));
        bool remains = false;
        for (int i = 0; i < ndim; i++)
            if (shape[i] > 1) {
                e->kept[i] = axis;
                remains = true;
            }
        if (!remains)
            e->axes[e->naxes++] = axis;
    }
    return DONE;
}

/* The sources of each argument by name, and the dtypes of the results. */
static int bind_arguments(eval_reduce *e, const tn_expr *expr)
{
    for (int i = 0; i < e->n; i++) {
        reduction *r = &e->of[i];
        const tn_tensor *srcs[TN_EXPR_NAMES];
        tn_dtype dtype;
        int ndim;
        int64_t shape[TN_MAX_NDIM];
        for (int j = 0; j < tn_expr_count(r->argument); j++)
            for (int k = 0; k < tn_expr_count(expr); k++)
                if (!strcmp(tn_expr_name(expr, k), tn_expr_name(r->argument, j))) {
                    r->of[j] = &e->sources.sources[k];
                    srcs[j] = &r->of[j]->view;
                }
        LIB(tn_expr_result(r->argument, tn_expr_count(r->argument), srcs, &dtype, &ndim,
                           shape));
        LIB(tn_reduction_result(r->op, dtype, &r->gives));
        e->work += tn_numel(&e->sources.sources[0].view) * (int64_t)tn_dtype_size(dtype);
    }
    return DONE;
}

static int set_up(eval_reduce *e, const char *text, const tn_expr *expr, int n,
                  const tn_tensor *const *ts, const input *const *from)
{
    char around[TN_EXPR_TEXT + 1];
    TRY(split_text(e, text, around));
    LIB(tn_expr_parse(&e->around, around));
    LIB(tn_broadcast_shape(n, ts, &e->ndim, e->shape));
    for (int k = 0; k < n; k++) {
        tn_tensor v;
        LIB(tn_broadcast_to(&v, ts[k], e->ndim, e->shape));
        TRY(recipe_add(&e->sources, &v, from[k], NULL));
    }
    TRY(find_axes(e, expr, n, ts));
    return bind_arguments(e, expr);
}

int eval_reductions(const args *a, const char *text, const tn_expr *expr, const tn_tensor *out,
                    int n, const tn_tensor *const *ts, const input *const *from)
{
    recipe r = {0};
    args smaller = *a; /* a half is for streams, the rest for a box of everything */
    eval_reduce *e = calloc(1, sizeof *e);
    int code = e ? set_up(e, text, expr, n, ts, from) : fail("no memory");
    if (code == DONE) {
        e->share = tn_stream_budget(a->max_mem) / 4;
        e->share = e->share > 1 ? e->share : 1;
        smaller.max_mem = 2 * e->share / (e->n + 1);
        smaller.max_mem += smaller.max_mem == 0;
        code = recipe_of_view(&r, out, from[0]);
    }
    if (code == DONE) {
        r.sources[0] = (tn_stream_source){.read = make_box, .user = e, .view = *out};
        r.job.threads = 1;
        r.work = e->work;
        code = run_recipe(&smaller, &r, from[0]);
    }
    recipe_free(&r);
    for (int i = 0; e && i < e->n; i++)
        tn_expr_free(e->of[i].argument);
    if (e) {
        tn_expr_free(e->around);
        recipe_free(&e->sources);
    }
    free(e);
    return code;
}
