/* recipe.c - constructing a job of the library, source by source. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int recipe_start(recipe *r, tn_dtype dtype, int ndim, const int64_t *shape)
{
    *r = (recipe){0};
    LIB(tn_init(&r->job.out, NULL, dtype, ndim, shape));
    return DONE;
}

static int recipe_grow(recipe *r)
{
    int capacity = r->capacity ? 2 * r->capacity : 4;
    tn_stream_source *sources = realloc(r->sources, (size_t)capacity * sizeof *sources);
    if (sources)
        r->sources = sources;
    const input **inputs = realloc(r->inputs, (size_t)capacity * sizeof *inputs);
    if (inputs)
        r->inputs = inputs;
    if (!sources || !inputs)
        return fail("cannot allocate memory for %d sources", capacity);
    r->capacity = capacity;
    return DONE;
}

/* Boxes of a tensor that is read in its own order are runs of elements. */
static tn_status read_quantised(void *user, const tn_tensor *dst, const int64_t *at)
{
    const input *in = user;
    int64_t first = 0;
    for (int i = 0; i < in->t.ndim; i++)
        first = first * in->t.shape[i] + at[i];
    return tn_file_dequantize_range(in->from->f, in->i, first, dst);
}

int recipe_add(recipe *r, const tn_tensor *view, const input *from, const int64_t *at)
{
    if (r->job.n == r->capacity)
        TRY(recipe_grow(r));
    r->inputs[r->job.n] = from;
    tn_stream_source *s = &r->sources[r->job.n++];
    *s = (tn_stream_source){.view = *view};
    if (from->quantised) {
        s->read = read_quantised;
        s->user = (void *)(uintptr_t)from;
    } else if (!from->in_memory) {
        s->file = from->spilled ? from->unpacked : from->from->f;
        s->tensor = from->spilled ? 0 : from->i;
    }
    if (at)
        memcpy(s->at, at, (size_t)view->ndim * sizeof *at);
    return DONE;
}

int recipe_of_view(recipe *r, const tn_tensor *view, const input *from)
{
    TRY(recipe_start(r, view->dtype, view->ndim, view->shape));
    return recipe_add(r, view, from, NULL);
}

int recipe_of_expr(recipe *r, tn_expr *expr, int n, const tn_tensor *const *ts,
                   const input *const *from)
{
    tn_dtype dtype;
    int ndim, common;
    int64_t shape[TN_MAX_NDIM], extents[TN_MAX_NDIM];
    r->expr = expr;
    r->eval.expr = expr;
    LIB(tn_expr_result(expr, n, ts, &dtype, &ndim, shape));
    LIB(tn_init(&r->job.out, NULL, dtype, ndim, shape));
    LIB(tn_broadcast_shape(n, ts, &common, extents));
    r->job.recipe = TN_STREAM_EVAL;
    for (int k = 0; k < n; k++) {
        tn_tensor v;
        LIB(tn_broadcast_to(&v, ts[k], common, extents));
        TRY(recipe_add(r, &v, from[k], NULL));
    }
    return DONE;
}

void recipe_free(recipe *r)
{
    tn_expr_free(r->expr);
    r->expr = NULL;
    free(r->sources);
    free(r->inputs);
    r->sources = NULL;
    r->inputs = NULL;
}

static tn_status step(void *user, int64_t done, int64_t total)
{
    (void)user;
    progress_of(done, total);
    return TN_OK;
}

int64_t recipe_work(const recipe *r)
{
    const bool einsum = r->job.recipe == TN_STREAM_EINSUM;
    if (einsum || (r->job.recipe == TN_STREAM_EVAL && !r->op))
        return -1;
    return r->job.recipe == TN_STREAM_REDUCE ? tn_nbytes(&r->sources[0].view)
                                             : tn_nbytes(&r->job.out);
}

tn_stream recipe_job(const recipe *r, const args *a, tn_writer *w)
{
    tn_stream job = r->job;
    job.sources = r->sources;
    job.writer = w;
    job.progress = step;
    job.max_mem = a->max_mem;
    switch (job.recipe) {
    case TN_STREAM_EVAL:
        job.args = &r->eval;
        break;
    case TN_STREAM_REDUCE:
        job.args = &r->reduce;
        break;
    case TN_STREAM_SCAN:
        job.args = &r->scan;
        break;
    case TN_STREAM_SORT:
        job.args = &r->sort;
        break;
    case TN_STREAM_TAKE:
        job.args = &r->take;
        break;
    case TN_STREAM_EINSUM:
        job.args = &r->einsum;
        break;
    default:
        if (r->fill.value)
            job.args = &r->fill;
    }
    return job;
}
