/* stream_eval.c - expressions with reductions of sources that exceed memory, bit-identical to
 * tn_eval.
 *
 * The result is made box by box.  For each box every reduction is a stream of its argument,
 * which is itself an expression of windows of the sources; the expression around the reductions
 * is computed from their results. */
#include <string.h>

#include <tenon/copy.h>

#include "stream_eval.h"

typedef struct eval {
    const tn_stream *job;
    tni_eval_text text;
    const tn_stream_source
        /* The sources of each argument's names. */
        *of[TNI_EVAL_REDUCTIONS][TN_EXPR_NAMES];
    tn_dtype takes[TNI_EVAL_REDUCTIONS], gives[TNI_EVAL_REDUCTIONS];
    int naxes, axes[TN_MAX_NDIM], kept[TN_MAX_NDIM]; /* kept: axes in the result */
    int64_t share;                                   /* a quarter of the budget, in bytes */
    int64_t work, done; /* bytes of all arguments; of those reduced so far */
} eval;

/* ---- windows of sources ---- */

/* A callback source that begins at index `first` of another. */
typedef struct shifted {
    const tn_stream_source *of;
    int64_t first[TN_MAX_NDIM];
} shifted;

static tn_status read_shifted(void *user, const tn_tensor *dst, const int64_t *at)
{
    const shifted *s = user;
    int64_t from[TN_MAX_NDIM];
    for (int i = 0; i < dst->ndim; i++) /* broadcast axes are read at 0 */
        from[i] = s->of->view.stride[i] ? s->first[i] + at[i] : at[i];
    return s->of->read(s->of->user, dst, from);
}

static tn_status cut_source(tn_stream_source *part, shifted *s, const tn_stream_source *of,
                            const int64_t *shape, const int64_t *first)
{
    *part = *of;
    if (!of->file && of->read) {
        s->of = of;
        memcpy(s->first, first, (size_t)of->view.ndim * sizeof *first);
        part->read = read_shifted;
        part->user = s;
    }
    return tn_view(&part->view, &of->view, shape, first, NULL, 0);
}

/* ---- streams ---- */

/* The tensor that receives the blocks of a result. */
typedef struct sink {
    const eval *e;
    const tn_tensor *whole;
} sink;

static tn_status put_block(void *user, const tn_tensor *block, const int64_t *at)
{
    const sink *to = user;
    tn_tensor part;
    TRY(tn_view(&part, to->whole, block->shape, at, NULL, 0));
    return tn_rearrange(&part, block);
}

static tn_status eval_progress(void *user, int64_t done, int64_t total)
{
    const eval *e = ((const sink *)user)->e;
    (void)total;
    return e->job->progress(e->job->user, e->done + done, e->work);
}

/* The argument of reduction k for the box of the result that begins at `at`. */
typedef struct window {
    const eval *e;
    int k;
    int64_t at[TN_MAX_NDIM], memory;
} window;

/* Read a box of the argument; the callback of a stream's source. */
static tn_status read_argument(void *user, const tn_tensor *dst, const int64_t *at)
{
    const window *w = user;
    const tn_expr *argument = w->e->text.of[w->k].argument;
    const tn_stream_eval args = {argument};
    tn_stream_source parts[TN_EXPR_NAMES];
    shifted shift[TN_EXPR_NAMES];
    int64_t first[TN_MAX_NDIM];
    sink to = {.whole = dst};
    tn_stream job = {.recipe = TN_STREAM_EVAL,
                     .args = &args,
                     .n = tn_expr_count(argument),
                     .sources = parts,
                     .put = put_block,
                     .user = &to,
                     .max_mem = w->memory,
                     .threads = 1};
    for (int i = 0; i < dst->ndim; i++)
        first[i] = w->at[i] + at[i];
    for (int j = 0; j < job.n; j++)
        TRY(cut_source(&parts[j], &shift[j], w->e->of[w->k][j], dst->shape, first));
    TRY(tn_init(&job.out, NULL, dst->dtype, dst->ndim, dst->shape));
    return tn_stream_run(&job);
}

/* Compute the box of reduction k for the box of the result that begins at `at`. */
static tn_status reduce_box(eval *e, int k, const tn_tensor *dst, const int64_t *at)
{
    sink to = {.e = e, .whole = dst};
    const tn_stream_reduce how = {.op = e->text.of[k].op, .naxes = e->naxes, .axes = e->axes};
    window w = {.e = e, .k = k};
    tn_stream_source argument = {.read = read_argument, .user = &w};
    const tn_stream job = {.recipe = TN_STREAM_REDUCE,
                           .args = &how,
                           .out = *dst,
                           .n = 1,
                           .sources = &argument,
                           .put = put_block,
                           .progress = e->job->progress ? eval_progress : NULL,
                           .user = &to,
                           .max_mem = e->share,
                           .threads = e->job->threads};
    const tn_tensor *whole = &e->job->sources[0].view;
    int64_t shape[TN_MAX_NDIM];
    tn_stream_facts facts;
    memcpy(shape, whole->shape, sizeof shape);
    for (int i = 0; i < dst->ndim; i++) {
        shape[e->kept[i]] = dst->shape[i];
        w.at[e->kept[i]] = at[i];
    }
    TRY(tn_init(&argument.view, NULL, e->takes[k], whole->ndim, shape));
    TRY(tn_stream_plan(&job, &facts));
    w.memory = e->share / (facts.threads > 1 ? facts.threads : 1);
    w.memory = w.memory > 1 ? w.memory : 1;
    TRY(tn_stream_run(&job));
    e->done += tn_nbytes(&argument.view);
    return TN_OK;
}

/* Make a box of the result; the callback of a stream's source. */
static tn_status make_box(void *user, const tn_tensor *dst, const int64_t *at)
{
    eval *e = user;
    const int n = e->text.n;
    tn_tensor results[TNI_EVAL_REDUCTIONS] = {{0}};
    const tn_tensor *srcs[TNI_EVAL_REDUCTIONS] = {NULL};
    tn_status status = TN_OK;
    for (int k = 0; k < n && status == TN_OK; k++) {
        status = tn_alloc(&results[k], e->gives[k], dst->ndim, dst->shape);
        if (status == TN_OK)
            status = reduce_box(e, k, &results[k], at);
        srcs[k] = &results[k];
    }
    if (status == TN_OK)
        status = tn_expr_run(e->text.around, dst, n, srcs);
    for (int k = 0; k < n; k++)
        tn_free(&results[k]);
    return status;
}

/* ---- jobs ---- */

static tn_status eval_check(const tn_stream *job)
{
    const tn_stream_eval *x = job->args;
    const tn_tensor *srcs[TN_EXPR_NAMES];
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    if (!x || !x->expr)
        return tni_fail(TN_ENULL, "stream: %s is NULL", x ? "expr" : "args");
    TRY(tni_recipe_no_axes(job));
    if (job->n != tn_expr_count(x->expr))
        return tni_fail(TN_EARG, "stream: eval: the text has %d names, got %d sources",
                        tn_expr_count(x->expr), job->n);
    for (int k = 0; k < job->n; k++) {
        srcs[k] = &job->sources[k].view;
        if (srcs[k]->ndim != srcs[0]->ndim ||
            memcmp(srcs[k]->shape, srcs[0]->shape, (size_t)srcs[0]->ndim * sizeof *shape) != 0)
            return tni_fail(
                TN_ESHAPE,
                "stream: source %d and source 0 have different shapes; broadcast them first",
                k);
    }
    TRY(tn_expr_result(x->expr, job->n, srcs, &dtype, &ndim, shape));
    return tni_check_shape(&job->out, ndim, shape, "stream", "out");
}

/* Find the axes of the sources that the result keeps: set one extent to 2, all others to 1, and
 * see whether it is in the shape of the result. */
static tn_status find_axes(eval *e, const tn_expr *expr)
{
    const tn_stream *job = e->job;
    const int ndim = job->sources[0].view.ndim;
    tn_tensor like[TN_EXPR_NAMES];
    const tn_tensor *srcs[TN_EXPR_NAMES];
    for (int axis = 0; axis < ndim; axis++) {
        int64_t shape[TN_MAX_NDIM];
        bool remains = false;
        tn_dtype dtype;
        int left;
        for (int i = 0; i < ndim; i++)
            shape[i] = 1 + (i == axis);
        for (int k = 0; k < job->n; k++) {
            TRY(tn_init(&like[k], NULL, job->sources[k].view.dtype, ndim, shape));
            srcs[k] = &like[k];
        }
        TRY(tn_expr_result(expr, job->n, srcs, &dtype, &left, shape));
        for (int i = 0; i < left; i++)
            if (shape[i] > 1) {
                e->kept[i] = axis;
                remains = true;
            }
        if (!remains)
            e->axes[e->naxes++] = axis;
    }
    return TN_OK;
}

/* Bind the names of each argument to sources; find the dtypes of arguments and results. */
static tn_status bind_arguments(eval *e, const tn_expr *expr)
{
    const tn_stream_source *sources = e->job->sources;
    for (int i = 0; i < e->text.n; i++) {
        const tn_expr *argument = e->text.of[i].argument;
        const tn_tensor *srcs[TN_EXPR_NAMES];
        int ndim;
        int64_t shape[TN_MAX_NDIM];
        for (int j = 0; j < tn_expr_count(argument); j++)
            for (int k = 0; k < e->job->n; k++)
                if (!strcmp(tn_expr_name(expr, k), tn_expr_name(argument, j))) {
                    e->of[i][j] = &sources[k];
                    srcs[j] = &sources[k].view;
                }
        TRY(tn_expr_result(argument, tn_expr_count(argument), srcs, &e->takes[i], &ndim,
                           shape));
        TRY(tn_reduction_result(e->text.of[i].op, e->takes[i], &e->gives[i]));
        e->work += tni_numel(&sources[0].view) * tni_width(e->takes[i]);
    }
    return TN_OK;
}

/* Half of the budget is for the inner streams, the rest for a box of the result and its
 * operands. */
static tn_status run_boxes(eval *e, tn_stream_facts *facts)
{
    const tn_stream *job = e->job;
    tn_stream_source boxes = {.read = make_box, .user = e};
    tn_stream inner = tni_stream_of_boxes(job, &boxes);
    inner.box = job->box;
    e->share = tn_stream_budget(job->max_mem) / 4;
    e->share = e->share > 1 ? e->share : 1;
    inner.max_mem = 2 * e->share / (e->text.n + 1);
    inner.max_mem += inner.max_mem == 0;
    TRY(tn_init(&inner.out, NULL, job->out.dtype, job->out.ndim, job->out.shape));
    boxes.view = inner.out;
    TRY(tni_stream_inner(&inner, facts));
    if (facts && facts->boxes) {
        facts->way = "boxes";
        for (int k = 0; k < e->text.n; k++)
            facts->memory += facts->box * tni_width(e->gives[k]);
        facts->memory += 2 * e->share;
        facts->shortest_read = 0;
    }
    return TN_OK;
}

static tn_status eval_run(const tn_stream *job, tn_stream_facts *facts)
{
    const tn_expr *expr = ((const tn_stream_eval *)job->args)->expr;
    eval *e = tni_alloc(sizeof *e);
    if (!e)
        return tni_fail(TN_ENOMEM,
                        "stream: cannot allocate memory for the reductions of an expression");
    *e = (eval){.job = job};
    tn_status status = tni_eval_split(&e->text, tn_expr_text(expr));
    if (status == TN_OK)
        status = find_axes(e, expr);
    if (status == TN_OK)
        status = bind_arguments(e, expr);
    if (status == TN_OK)
        status = run_boxes(e, facts);
    tni_eval_text_free(&e->text);
    tni_free(e);
    return status;
}

const tni_recipe tni_stream_eval_row = {
    "eval", eval_check, NULL, NULL, eval_run, .own_axes = true, .plan = tni_eval_plan};

bool tni_stream_eval_reduces(const tn_stream *job)
{
    const tn_stream_eval *x = job->args;
    if (!x || !x->expr) /* eval_check refuses such jobs, whatever their axes */
        return true;
    return job->n > 0 && job->sources && job->sources[0].view.ndim > 0 &&
           tni_eval_reduces(tn_expr_text(x->expr));
}
