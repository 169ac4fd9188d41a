/* stream_sort.c - sorting sequences that do not all fit into memory.
 *
 * If boxes of whole sequences fit, they are sorted one by one.  Otherwise they are sorted into
 * a temporary file, in which sequences that do not fit by themselves are merged from sorted
 * runs (stream_merge.c); the result is then read from it. */
#include "stream_sort.h"

/* ---- whole sequences ---- */

static tn_status sort_sequences(void *user, const tn_tensor *out, int n,
                                const tn_tensor *const *srcs, const int64_t *at)
{
    const tni_sorting *s = user;
    (void)n;
    (void)at;
    return tn_sort(s->args->indices ? NULL : out, s->args->indices ? out : NULL, srcs[0],
                   s->dim, s->args->flags);
}

/* A job over the source in boxes of whole sequences; the caller sets its sink. */
static tn_stream sequences_job(tni_sorting *s, tn_stream_map *map)
{
    const tn_stream *job = s->job;
    const tn_tensor *v = &s->source.view;
    const int64_t all = s->n * tni_shape_count(v->ndim - s->dim - 1, v->shape + s->dim + 1);
    const int64_t each = all > 0 ? all : 1;
    *map = (tn_stream_map){.fn = sort_sequences, .user = s};
    tn_stream inner = {.recipe = TN_STREAM_MAP,
                       .args = map,
                       .n = 1,
                       .sources = &s->source,
                       .max_mem = job->max_mem,
                       .threads = job->threads};
    inner.out = *v;
    inner.out.dtype = job->out.dtype;
    inner.out.data = NULL;
    inner.out.flags = 0;
    tni_shape_dense(v->ndim, v->shape, tni_width(job->out.dtype), inner.out.stride);
    int64_t most = TNI_BOX_USUAL / tni_width(v->dtype);
    most = most < s->most ? most : s->most;
    inner.box = each * (most > each ? most / each : 1);
    return inner;
}

/* ---- through a temporary file ---- */

/* Permute the source so that its sequences are along the last axis. */
static tn_status sequences_last(tn_tensor *v, int dim)
{
    int axes[TN_MAX_NDIM], n = 0;
    for (int i = 0; i < v->ndim; i++)
        if (i != dim)
            axes[n++] = i;
    axes[n] = dim;
    return tn_permute(v, v, axes);
}

/* Undo sequences_last. */
static tn_status sequences_back(tn_tensor *v, int dim)
{
    int axes[TN_MAX_NDIM];
    for (int i = 0; i < v->ndim; i++)
        axes[i] = i < dim ? i : i == dim ? v->ndim - 1 : i - 1;
    return tn_permute(v, v, axes);
}

tn_status tni_sort_progress(void *user, int64_t done, int64_t total)
{
    const tni_sorting *s = user;
    const int64_t all = tn_nbytes(&s->job->out);
    const double share = (double)done / (double)(total > 0 ? total : 1);
    const double now = s->temp ? (s->pass + share) / 2 : share;
    return s->job->progress(s->job->user, (int64_t)(now * (double)all), all);
}

static tn_status hand_on(void *user, const tn_tensor *block, const int64_t *at)
{
    const tni_sorting *s = user;
    return s->job->put(s->job->user, block, at);
}

/* Sort the source, whose sequences are along the last axis, into a temporary file; the result
 * is read from it. */
static tn_status sort_by_temp(tni_sorting *s, tni_temp *t)
{
    const bool runs = s->n > s->most, reversed = runs && (s->args->flags & TN_DESCENDING);
    tn_tensor *v = &s->source.view;
    tn_stream_map map;
    if (reversed)
        TRY(tn_flip(v, v, s->dim));
    TRY(tni_temp_open(t, s->job->writer, s->job->out.dtype, v->ndim, v->shape));
    if (runs) {
        TRY(tni_sort_merged(s, t));
    } else {
        tn_stream inner = sequences_job(s, &map);
        inner.writer = t->writer;
        inner.progress = s->job->progress ? tni_sort_progress : NULL;
        inner.user = s;
        TRY(tn_stream_run(&inner));
    }
    TRY(tni_temp_reopen(t));
    s->pass++;
    tn_stream_source sorted = {.file = t->file, .view = t->view};
    if (reversed)
        TRY(tn_flip(&sorted.view, &sorted.view, s->dim));
    TRY(sequences_back(&sorted.view, s->args->dim));
    const tn_stream last = {.out = s->job->out,
                            .n = 1,
                            .sources = &sorted,
                            .writer = s->job->writer,
                            .put = s->job->put ? hand_on : NULL,
                            .progress = s->job->progress ? tni_sort_progress : NULL,
                            .user = s,
                            .max_mem = s->job->max_mem,
                            .threads = s->job->threads};
    return tn_stream_run(&last);
}

/* Sort the source in boxes of whole sequences, which are those of the result. */
static tn_status sort_boxes(tni_sorting *s)
{
    tn_stream_map map;
    tn_stream inner = sequences_job(s, &map);
    inner.writer = s->job->writer;
    inner.put = s->job->put ? hand_on : NULL;
    inner.progress = s->job->progress ? tni_sort_progress : NULL;
    inner.user = s;
    return tn_stream_run(&inner);
}

/* ---- jobs ---- */

static tn_status sort_check(const tn_stream *job)
{
    const tn_stream_sort *x = job->args;
    if (!x)
        return tni_fail(TN_ENULL, "stream: args is NULL");
    TRY(tni_recipe_one_source(job));
    TRY(tni_recipe_no_axes(job));
    tn_tensor src = job->sources[0].view, dst = job->out;
    TRY(tni_check_axis(x->dim, src.ndim, "sort"));
    TRY(tni_check_shape(&dst, src.ndim, src.shape, "sort", "out"));
    /* a sort without elements checks the rest */
    tni_inherit(&src, &src, NULL, 1);
    tni_inherit(&dst, &dst, NULL, 1);
    src.flags = dst.flags = 0;
    tni_set_axis(&src, 0, 0, 1);
    tni_set_axis(&dst, 0, 0, 1);
    return tn_sort(x->indices ? NULL : &dst, x->indices ? &dst : NULL, &src, 0, x->flags);
}

static tn_status sort_plan(tni_sorting *s, const tn_stream *job)
{
    enum { SCRATCH = 48 }; /* bytes per element: keys and indices twice, and the index */
    tn_stream_map map;
    *s = (tni_sorting){.job = job, .args = job->args, .source = job->sources[0]};
    tn_tensor *v = &s->source.view;
    s->dim = s->args->dim;
    s->n = v->shape[s->dim];
    s->most =
        tni_stream_share(job) / (tni_width(v->dtype) + tni_width(job->out.dtype) + SCRATCH);
    s->temp = tni_numel(v) > 0 && sequences_job(s, &map).box > s->most;
    if (!s->temp)
        return TN_OK;
    TRY(sequences_last(v, s->dim));
    s->dim = v->ndim - 1;
    return TN_OK;
}

/* Elements of a box that is read at once. */
static int64_t sort_box(tni_sorting *s)
{
    tn_stream_map map;
    const int64_t box = sequences_job(s, &map).box;
    return box < s->most ? box : s->most;
}

/* Boxes need the order in which they are sorted. */
static void sort_one_read(const tn_stream *job, int64_t *n, int *axes)
{
    tni_sorting s;
    tni_boxes b;
    tni_box first;
    const tn_status status = sort_plan(&s, job);
    ASSERT(status == TN_OK);
    (void)status;
    const tn_tensor *v = &s.source.view;
    tni_boxes_cut(&b, v->ndim, v->shape, sort_box(&s));
    tni_boxes_get(&b, 0, &first);
    for (int i = 0, k = 0; i < v->ndim; i++) {
        const bool last = s.temp && i == v->ndim - 1;
        k += s.temp && k == s.args->dim; /* which is last */
        axes[i] = last ? s.args->dim : k++;
        n[axes[i]] = first.n[i];
    }
}

static tn_status sort_run(const tn_stream *job, tn_stream_facts *facts)
{
    tni_sorting s;
    tni_temp sorted = {0};
    tn_stream_map map;
    TRY(sort_plan(&s, job));
    if (facts) {
        tn_stream inner = sequences_job(&s, &map);
        inner.box = sort_box(&s);
        TRY(tn_stream_plan(&inner, facts));
        facts->way = s.temp ? "temporary file" : facts->way;
        return TN_OK;
    }
    const tn_status status = s.temp ? sort_by_temp(&s, &sorted) : sort_boxes(&s);
    tni_temp_close(&sorted);
    return status;
}

const tni_recipe tni_stream_sort_row = {
    "sort", sort_check, NULL, NULL, sort_run, .one_read = sort_one_read, .own_axes = true};
