/* stream_take.c - taking elements by index from a source that does not fit into memory.
 *
 * A box of the result needs the source at some indices.  All from the least to the greatest are
 * read at once if they fit beside the box, otherwise each run of consecutive indices
 * separately. */
#include <string.h>

#include "stream.h"

enum { SLACK = 2 }; /* maximum bytes of a read, as a multiple of the bytes needed */

/* The axes of a box are those before the index, those of the index, and those after it. */
typedef struct choice {
    const tn_stream_take *args;
    const tn_tensor *view;
    int64_t first, n;  /* elements [first, first + n) of the index, row-major */
    int64_t low, high; /* the least and the greatest index */
    int64_t *index;    /* n indices, none negative */
    int64_t at[TN_MAX_NDIM], shape[TN_MAX_NDIM]; /* the box to read; [dim] is set per read */
} choice;

static tn_status take_check(const tn_stream *job)
{
    const tn_stream_take *x = job->args;
    if (!x || !x->index)
        return tni_fail(TN_ENULL, "stream: %s is NULL", x ? "index" : "args");
    TRY(tni_recipe_one_source(job));
    TRY(tni_recipe_no_axes(job));
    const tn_tensor *v = &job->sources[0].view, *index = x->index;
    int64_t shape[2 * TN_MAX_NDIM];
    int ndim = 0;
    TRY(tni_check_axis(x->dim, v->ndim, "take"));
    TRY(tni_check(index, "take: index"));
    for (int i = 0; i < v->ndim; i++)
        for (int k = 0; k < (i == x->dim ? index->ndim : 1); k++)
            shape[ndim++] = i == x->dim ? index->shape[k] : v->shape[i];
    if (v->dtype != job->out.dtype)
        return tni_fail(TN_EDTYPE, "take: out is %s and the source is %s",
                        tn_dtype_name(job->out.dtype), tn_dtype_name(v->dtype));
    if (ndim != job->out.ndim)
        return tni_fail(TN_ESHAPE, "take: out: got %d axes, expected %d", job->out.ndim, ndim);
    for (int i = 0; i < ndim; i++)
        if (shape[i] != job->out.shape[i])
            return tni_fail(TN_ESHAPE, "take: out: axis %d: got extent %lld, expected %lld", i,
                            (long long)job->out.shape[i], (long long)shape[i]);
    /* a take of rows without elements checks the indices */
    tn_tensor src, dst;
    TRY(tn_init(&src, NULL, v->dtype, 2, (const int64_t[]){v->shape[x->dim], 0}));
    memcpy(shape, index->shape, (size_t)index->ndim * sizeof *shape);
    shape[index->ndim] = 0;
    TRY(tn_init(&dst, NULL, v->dtype, index->ndim + 1, shape));
    return tn_take(&dst, &src, 0, index);
}

static int64_t take_scratch(const tn_stream *job)
{
    return SLACK * tni_width(job->out.dtype) + (int64_t)sizeof(int64_t);
}

/* Describe what a box needs; its part of the index is copied to list. */
static void describe_box(choice *c, const tni_box *box, int64_t *list)
{
    const tn_tensor *index = c->args->index, *v = c->view;
    const int dim = c->args->dim, axes = index->ndim;
    c->first = 0;
    c->n = 1;
    for (int k = 0; k < axes; k++) {
        c->first = c->first * index->shape[k] + box->at[dim + k];
        c->n *= box->n[dim + k];
    }
    for (int i = 0; i < v->ndim; i++) {
        const int from = i < dim ? i : i + axes - 1;
        c->at[i] = i == dim ? 0 : box->at[from];
        c->shape[i] = i == dim ? 1 : box->n[from];
    }
    c->index = list;
    c->low = INT64_MAX;
    c->high = -1;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t at[TN_MAX_NDIM];
        tni_unravel(axes, index->shape, c->first + i, at);
        const char *from = (const char *)index->data + tni_element_offset(index, at);
        int64_t x = tni_index_at(from, index->dtype);
        x += x < 0 ? v->shape[dim] : 0;
        list[i] = x;
        c->low = x < c->low ? x : c->low;
        c->high = x > c->high ? x : c->high;
    }
}

/* Read all from the least index to the greatest; take from it in memory. */
static tn_status take_span(const choice *c, const tn_stream *job, const tn_tensor *out,
                           char *to)
{
    tn_tensor span, index;
    int64_t shape[TN_MAX_NDIM];
    choice x = *c;
    const int dim = c->args->dim;
    x.shape[dim] = c->high - c->low + 1;
    x.at[dim] = c->low;
    TRY(tn_init(&span, to, c->view->dtype, c->view->ndim, x.shape));
    TRY(tni_source_read(&job->sources[0], &span, x.at, NULL));
    for (int64_t i = 0; i < c->n; i++)
        c->index[i] -= c->low;
    memcpy(shape, c->shape, sizeof shape);
    shape[dim] = c->n;
    tn_tensor dst;
    TRY(tn_init(&index, c->index, TN_I64, 1, &c->n));
    TRY(tn_init(&dst, out->data, out->dtype, c->view->ndim, shape));
    return tn_take(&dst, &span, dim, &index);
}

/* Read each run of consecutive indices directly into the box. */
static tn_status take_runs(const choice *c, const tn_stream *job, const tn_tensor *out)
{
    const int dim = c->args->dim;
    tn_tensor dst, part;
    int64_t shape[TN_MAX_NDIM], first[TN_MAX_NDIM] = {0};
    choice x = *c;
    memcpy(shape, c->shape, sizeof shape);
    shape[dim] = c->n;
    TRY(tn_init(&dst, out->data, out->dtype, c->view->ndim, shape));
    for (int64_t i = 0, n; i < c->n; i += n) {
        for (n = 1; i + n < c->n && c->index[i + n] == c->index[i] + n;)
            n++;
        first[dim] = i;
        shape[dim] = n;
        x.at[dim] = c->index[i];
        TRY(tn_view(&part, &dst, shape, first, NULL, 0));
        TRY(tni_source_read(&job->sources[0], &part, x.at, NULL));
    }
    return TN_OK;
}

static tn_status take_make(const tn_stream *job, const tni_box *box, const tn_tensor *out,
                           tni_scratch scratch)
{
    choice c = {.args = job->args, .view = &job->sources[0].view};
    const int64_t list = tni_numel(out) * (int64_t)sizeof(int64_t);
    describe_box(&c, box, (int64_t *)(void *)scratch.at);
    if (c.high - c.low + 1 <= SLACK * c.n)
        return take_span(&c, job, out, scratch.at + list);
    return take_runs(&c, job, out);
}

/* Indices in no order are read one by one, unless a box needs most of the axis. */
static void take_one_read(const tn_stream *job, int64_t *n, int *axes)
{
    const tn_stream_take *x = job->args;
    const tn_tensor *v = &job->sources[0].view;
    tni_boxes b;
    tni_box first;
    int64_t indices = 1;
    tni_boxes_cut(&b, job->out.ndim, job->out.shape, tni_stream_schedule(job).elements);
    tni_boxes_get(&b, 0, &first);
    for (int k = 0; k < x->index->ndim; k++)
        indices *= first.n[x->dim + k];
    const bool most = v->shape[x->dim] <= SLACK * indices;
    axes[0] = x->dim;
    for (int i = 0, k = !most; i < v->ndim; i++) {
        n[i] = first.n[i < x->dim ? i : i + x->index->ndim - 1];
        if (most || i != x->dim)
            axes[k++] = i;
    }
    n[x->dim] = most ? v->shape[x->dim] : 1;
}

const tni_recipe tni_stream_take_row = {
    "take", take_check, take_scratch, take_make, .one_read = take_one_read, .own_axes = true};
