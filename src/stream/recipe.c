/* recipe.c - recipes, one row each: how a box of the result is made from its sources.
 *
 * Rows deal with boxes only, never with threads, files or sinks. */
#include <string.h>

#include <tenon/copy.h>

#include "stream.h"

/* ---- sources ---- */

tn_status tni_source_read(const tn_stream_source *s, const tn_tensor *dst, const int64_t *at,
                          tni_queue *q)
{
    if (!s->file && s->read)
        return s->read(s->user, dst, at);
    tn_tensor v;
    TRY(tn_view(&v, &s->view, dst->shape, at, NULL, 0));
    return s->file ? tni_fetch(s->file, s->tensor, dst, &v, q) : tn_rearrange(dst, &v);
}

/* Read the box of a source that is broadcast to the shape, as a tensor of the box's shape;
 * broadcast axes are read once.  *scratch is advanced. */
static tn_status read_operand(const tn_stream_source *s, const tni_box *box, tn_tensor *out,
                              tni_scratch *scratch)
{
    int64_t n[TN_MAX_NDIM], at[TN_MAX_NDIM];
    const tn_tensor *v = &s->view;
    tn_tensor d;
    for (int i = 0; i < v->ndim; i++) {
        bool repeats = v->stride[i] == 0;
        n[i] = repeats ? 1 : box->n[i];
        at[i] = repeats ? 0 : box->at[i];
    }
    TRY(tn_init(&d, scratch->at, v->dtype, v->ndim, n));
    ASSERT(tn_nbytes(&d) <= scratch->bytes);
    TRY(tni_source_read(s, &d, at, scratch->queue));
    int64_t bytes = (tn_nbytes(&d) + 63) & ~INT64_C(63);
    scratch->at += bytes;
    scratch->bytes -= bytes;
    return tn_broadcast_to(out, &d, v->ndim, box->n);
}

/* ---- copy ---- */

static const tn_stream_fill *copy_fill(const tn_stream *job)
{
    return job->args;
}

/* The dtype of the sources, or of the fill value if there are none. */
static tn_dtype copy_dtype(const tn_stream *job)
{
    return job->n           ? job->sources[0].view.dtype
           : copy_fill(job) ? copy_fill(job)->dtype
                            : job->out.dtype;
}

static tn_status copy_check(const tn_stream *job)
{
    const tn_stream_fill *fill = copy_fill(job);
    const int64_t *shape = tni_stream_shape(job);
    tn_dtype dtype = copy_dtype(job);
    if (fill && (!tni_dtype_known(fill->dtype) || fill->dtype != dtype))
        return tni_fail(TN_EDTYPE, "stream: the fill value is %s, the sources are %s",
                        tn_dtype_name(fill->dtype), tn_dtype_name(dtype));
    if (fill && !fill->value)
        return tni_fail(TN_ENULL, "stream: the fill value is NULL");
    for (int k = 0; k < job->n; k++) {
        const tn_stream_source *s = &job->sources[k];
        if (s->view.dtype != dtype)
            return tni_fail(TN_EDTYPE, "stream: source %d is %s, source 0 is %s", k,
                            tn_dtype_name(s->view.dtype), tn_dtype_name(dtype));
        for (int i = 0; i < s->view.ndim; i++)
            if (s->at[i] < 0 || s->view.shape[i] > shape[i] - s->at[i])
                return tni_fail(TN_EARG,
                                "stream: source %d covers [%lld, %lld) of axis %d, which has "
                                "extent %lld",
                                k, (long long)s->at[i],
                                (long long)s->at[i] + (long long)s->view.shape[i], i,
                                (long long)shape[i]);
    }
    return TN_OK;
}

static bool copy_casts(const tn_stream *job)
{
    return copy_dtype(job) != job->out.dtype;
}

static int64_t copy_scratch(const tn_stream *job)
{
    return copy_casts(job) ? tni_width(copy_dtype(job)) : 0;
}

/* Copy the part of source s that lies inside the box to its index in dst. */
static tn_status copy_source(const tn_tensor *dst, const tni_box *b, const tn_stream_source *s,
                             tni_queue *q)
{
    int64_t n[TN_MAX_NDIM], to[TN_MAX_NDIM], of[TN_MAX_NDIM];
    for (int i = 0; i < dst->ndim; i++) {
        int64_t low = s->at[i] > b->at[i] ? s->at[i] : b->at[i];
        int64_t high = s->at[i] + s->view.shape[i], end = b->at[i] + b->n[i];
        high = high < end ? high : end;
        if (low >= high)
            return TN_OK;
        n[i] = high - low;
        to[i] = low - b->at[i];
        of[i] = low - s->at[i];
    }
    tn_tensor d;
    TRY(tn_view(&d, dst, n, to, NULL, 0));
    return tni_source_read(s, &d, of, q);
}

static tn_status copy_make(const tn_stream *job, const tni_box *box, const tn_tensor *out,
                           tni_scratch scratch)
{
    tn_tensor raw = *out;
    if (copy_casts(job))
        TRY(tn_init(&raw, scratch.at, copy_dtype(job), out->ndim, box->n));
    ASSERT(!copy_casts(job) || tn_nbytes(&raw) <= scratch.bytes);
    if (copy_fill(job))
        TRY(tn_fill(&raw, copy_fill(job)->value));
    for (int k = 0; k < job->n; k++)
        TRY(copy_source(&raw, box, &job->sources[k], scratch.queue));
    return copy_casts(job) ? tn_cast(out, &raw) : TN_OK;
}

/* ---- apply and map: functions of the same box of every source ---- */

enum { MOST_OPERANDS = 64 };

static tn_status operands_check(const tn_stream *job)
{
    if (!job->args)
        return tni_fail(TN_ENULL, "stream: args is NULL");
    if (job->n > MOST_OPERANDS)
        return tni_fail(TN_EARG, "stream: got %d operands, expected at most %d", job->n,
                        MOST_OPERANDS);
    for (int k = 0; k < job->n; k++)
        for (int i = 0; i < job->sources[k].view.ndim; i++)
            if (job->sources[k].view.shape[i] != tni_stream_shape(job)[i])
                return tni_fail(TN_ESHAPE,
                                "stream: source %d has extent %lld along axis %d, the result "
                                "has %lld; broadcast it first",
                                k, (long long)job->sources[k].view.shape[i], i,
                                (long long)tni_stream_shape(job)[i]);
    return TN_OK;
}

static int64_t operands_scratch(const tn_stream *job)
{
    int64_t bytes = 0;
    for (int k = 0; k < job->n; k++)
        bytes += tni_width(job->sources[k].view.dtype);
    return bytes;
}

static tn_status read_operands(const tn_stream *job, const tni_box *box, tn_tensor *operands,
                               const tn_tensor **srcs, tni_scratch scratch)
{
    for (int k = 0; k < job->n; k++) {
        TRY(read_operand(&job->sources[k], box, &operands[k], &scratch));
        srcs[k] = &operands[k];
    }
    return TN_OK;
}

static tn_status apply_check(const tn_stream *job)
{
    TRY(operands_check(job));
    const tn_stream_op *op = job->args;
    tn_dtype in[MOST_OPERANDS], out;
    for (int k = 0; k < job->n; k++)
        in[k] = job->sources[k].view.dtype;
    TRY(tn_op_result(op->op, in, job->n, &out));
    if (out != job->out.dtype)
        return tni_fail(TN_EDTYPE, "stream: %s gives %s, out is %s", tn_op_name(op->op),
                        tn_dtype_name(out), tn_dtype_name(job->out.dtype));
    return TN_OK;
}

static tn_status apply_make(const tn_stream *job, const tni_box *box, const tn_tensor *out,
                            tni_scratch scratch)
{
    const tn_stream_op *op = job->args;
    tn_tensor operands[3];
    const tn_tensor *srcs[3];
    ASSERT(job->n <= COUNT(operands));
    TRY(read_operands(job, box, operands, srcs, scratch));
    return tn_apply(op->op, op->params, out, job->n, srcs);
}

static tn_status map_check(const tn_stream *job)
{
    TRY(operands_check(job));
    return ((const tn_stream_map *)job->args)->fn ? TN_OK
                                                  : tni_fail(TN_ENULL, "stream: fn is NULL");
}

static tn_status map_make(const tn_stream *job, const tni_box *box, const tn_tensor *out,
                          tni_scratch scratch)
{
    const tn_stream_map *map = job->args;
    tn_tensor operands[MOST_OPERANDS];
    const tn_tensor *srcs[MOST_OPERANDS];
    ASSERT(job->n <= COUNT(operands));
    TRY(read_operands(job, box, operands, srcs, scratch));
    return map->fn(map->user, out, job->n, srcs, box->at);
}

/* ---- eval ---- */

static tn_status eval_check(const tn_stream *job)
{
    const tn_stream_eval *eval = job->args;
    const tn_tensor *srcs[MOST_OPERANDS];
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    TRY(operands_check(job));
    for (int k = 0; k < job->n; k++)
        srcs[k] = &job->sources[k].view;
    return tn_expr_result(eval->expr, job->n, srcs, &dtype, &ndim, shape);
}

static tn_status eval_make(const tn_stream *job, const tni_box *box, const tn_tensor *out,
                           tni_scratch scratch)
{
    const tn_stream_eval *eval = job->args;
    tn_tensor operands[TN_EXPR_NAMES];
    const tn_tensor *srcs[TN_EXPR_NAMES];
    ASSERT(job->n <= COUNT(operands));
    TRY(read_operands(job, box, operands, srcs, scratch));
    return tn_expr_run(eval->expr, out, job->n, srcs);
}

/* ---- plans in memory ---- */

/* A source without data, as if it were in memory. */
static tn_tensor bare_view(const tn_stream_source *s)
{
    tn_tensor v = s->view;
    v.data = NULL;
    v.flags = 0;
    return v;
}

static tn_status copy_plan(const tn_stream *job, tn_plan **plan)
{
    tn_tensor src, dst;
    if (job->n == 0)
        return tni_fail(TN_EUNSUPPORTED, "stream: a copy without sources has no plan");
    src = bare_view(&job->sources[0]);
    TRY(tn_init(&dst, NULL, job->out.dtype, src.ndim, src.shape));
    return copy_casts(job) ? tn_plan_cast(plan, &dst, &src)
                           : tn_plan_rearrange(plan, &dst, &src);
}

/* dst and the operands of a job; dst has the axes of out if own is set, else those of the
 * job. */
static tn_status bare_operands(const tn_stream *job, bool own, tn_tensor *dst,
                               tn_tensor operands[MOST_OPERANDS], const tn_tensor **srcs)
{
    for (int k = 0; k < job->n; k++) {
        operands[k] = bare_view(&job->sources[k]);
        srcs[k] = &operands[k];
    }
    return tn_init(dst, NULL, job->out.dtype, own ? job->out.ndim : tni_stream_ndim(job),
                   own ? job->out.shape : tni_stream_shape(job));
}

static tn_status apply_plan(const tn_stream *job, tn_plan **plan)
{
    const tn_stream_op *op = job->args;
    tn_tensor operands[MOST_OPERANDS], dst;
    const tn_tensor *srcs[MOST_OPERANDS];
    TRY(bare_operands(job, false, &dst, operands, srcs));
    return tn_plan_op(plan, op->op, op->params, &dst, job->n, srcs);
}

tn_status tni_eval_plan(const tn_stream *job, tn_plan **plan)
{
    tn_tensor operands[MOST_OPERANDS], dst;
    const tn_tensor *srcs[MOST_OPERANDS];
    TRY(bare_operands(job, tni_recipe_of(job)->own_axes, &dst, operands, srcs));
    return tn_plan_expr(plan, ((const tn_stream_eval *)job->args)->expr, &dst, job->n, srcs);
}

static const tni_recipe copy_row = {"copy", copy_check, copy_scratch, copy_make,
                                    .plan = copy_plan};
static const tni_recipe apply_row = {"apply", apply_check, operands_scratch, apply_make,
                                     .plan = apply_plan};
static const tni_recipe map_row = {"map", map_check, operands_scratch, map_make, .plan = NULL};
static const tni_recipe eval_row = {"eval", eval_check, operands_scratch, eval_make,
                                    .plan = tni_eval_plan};

static const tni_recipe *const recipes[] = {
    [TN_STREAM_COPY] = &copy_row,
    [TN_STREAM_APPLY] = &apply_row,
    [TN_STREAM_MAP] = &map_row,
    [TN_STREAM_EVAL] = &eval_row,
    [TN_STREAM_REDUCE] = &tni_stream_reduce_row,
    [TN_STREAM_SCAN] = &tni_stream_scan_row,
    [TN_STREAM_SORT] = &tni_stream_sort_row,
    [TN_STREAM_TAKE] = &tni_stream_take_row,
    [TN_STREAM_EINSUM] = &tni_stream_einsum_row,
};

const tni_recipe *tni_recipe_of(const tn_stream *job)
{
    const unsigned i = (unsigned)job->recipe;
    if (job->recipe == TN_STREAM_EVAL && tni_stream_eval_reduces(job))
        return &tni_stream_eval_row;
    return i < COUNT(recipes) ? recipes[i] : NULL;
}

int64_t tni_recipe_bytes(const tn_stream *job)
{
    return tni_width(job->out.dtype) + tni_recipe_of(job)->scratch(job);
}

tn_status tni_recipe_one_source(const tn_stream *job)
{
    if (job->n != 1)
        return tni_fail(TN_EARG, "stream: %s: got %d sources, expected 1",
                        tni_recipe_of(job)->name, job->n);
    return TN_OK;
}

tn_status tni_recipe_no_axes(const tn_stream *job)
{
    if (job->ndim)
        return tni_fail(TN_EARG, "stream: %s: ndim is %d, expected 0", tni_recipe_of(job)->name,
                        job->ndim);
    return TN_OK;
}
