/* stream_sort.c - sorting sequences that do not all fit into memory.
 *
 * If boxes of whole sequences fit, they are sorted one by one.  Otherwise they are sorted into
 * a temporary file, in which sequences that do not fit by themselves are merged from sorted
 * runs (stream_merge.c); the result is then read from it. */
#include "stream_sort.h"

/* ---- temporary files ---- */

tn_status tni_temp_open(tni_temp *t, const tn_writer *beside, tn_dtype dtype, int ndim,
                        const int64_t *shape)
{
    TRY(tn_init(&t->view, NULL, dtype, ndim, shape));
    return tni_writer_open_scratch(&t->writer, beside, 1, NULL,
                                   (const tn_tensor *[]){&t->view});
}

tn_status tni_temp_reopen(tni_temp *t)
{
    TRY(tni_writer_reopen(t->writer, &t->file));
    return tn_file_places(t->file, 0, &t->view);
}

void tni_temp_close(tni_temp *t)
{
    tn_file_close(t->file);
    tn_writer_abort(t->writer);
}

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

/* A job over the source or a view of it, in boxes of whole sequences; the caller sets its
 * sink. */
static tn_stream sequences_job(tni_sorting *s, const tn_stream_source *source,
                               tn_stream_map *map)
{
    const tn_stream *job = s->job;
    const tn_tensor *v = &source->view;
    const int64_t all = s->n * tni_shape_count(v->ndim - s->dim - 1, v->shape + s->dim + 1);
    const int64_t each = all > 0 ? all : 1;
    *map = (tn_stream_map){.fn = sort_sequences, .user = s};
    tn_stream inner = {.recipe = TN_STREAM_MAP,
                       .args = map,
                       .n = 1,
                       .sources = source,
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
static tn_status sequences_last(const tn_tensor *v, int dim, tn_tensor *out)
{
    int axes[TN_MAX_NDIM], n = 0;
    for (int i = 0; i < v->ndim; i++)
        if (i != dim)
            axes[n++] = i;
    axes[n] = dim;
    return tn_permute(out, v, axes);
}

/* Undo sequences_last. */
static tn_status sequences_back(const tn_tensor *v, int dim, tn_tensor *out)
{
    int axes[TN_MAX_NDIM];
    for (int i = 0; i < v->ndim; i++)
        axes[i] = i < dim ? i : i == dim ? v->ndim - 1 : i - 1;
    return tn_permute(out, v, axes);
}

/* Report the second half of the progress: the temporary file is written. */
static tn_status second_half(void *user, int64_t done, int64_t total)
{
    const tni_sorting *s = user;
    return s->job->progress(s->job->user, total / 2 + done / 2, total);
}

static tn_status hand_on(void *user, const tn_tensor *block, const int64_t *at)
{
    const tni_sorting *s = user;
    return s->job->put(s->job->user, block, at);
}

static tn_status from_temp(tni_sorting *s, tni_temp *t, bool reversed)
{
    const tn_stream *job = s->job;
    tn_stream_source source = {.file = t->file, .view = t->view};
    if (reversed)
        TRY(tn_flip(&source.view, &source.view, t->view.ndim - 1));
    TRY(sequences_back(&source.view, s->args->dim, &source.view));
    const tn_stream last = {.out = job->out,
                            .n = 1,
                            .sources = &source,
                            .writer = job->writer,
                            .put = job->put ? hand_on : NULL,
                            .progress = job->progress ? second_half : NULL,
                            .user = s,
                            .max_mem = job->max_mem,
                            .threads = job->threads};
    return tn_stream_run(&last);
}

static tn_status first_half(void *user, int64_t done, int64_t total)
{
    const tni_sorting *s = user;
    return s->job->progress(s->job->user, done / 2, total);
}

static tn_status sort_by_temp(tni_sorting *s)
{
    tn_stream_source sequences = s->job->sources[0];
    const bool runs = s->n > s->most, reversed = runs && (s->args->flags & TN_DESCENDING);
    TRY(sequences_last(&sequences.view, s->args->dim, &sequences.view));
    if (reversed)
        TRY(tn_flip(&sequences.view, &sequences.view, sequences.view.ndim - 1));
    tni_temp t = {0};
    tn_stream_map map;
    s->dim = sequences.view.ndim - 1;
    tn_status status = tni_temp_open(&t, s->job->writer, s->job->out.dtype, sequences.view.ndim,
                                     sequences.view.shape);
    if (status == TN_OK && runs) {
        status = tni_sort_merged(s, &sequences, &t);
    } else if (status == TN_OK) {
        tn_stream inner = sequences_job(s, &sequences, &map);
        inner.writer = t.writer;
        inner.progress = s->job->progress ? first_half : NULL;
        inner.user = s;
        status = tn_stream_run(&inner);
    }
    if (status == TN_OK)
        status = tni_temp_reopen(&t);
    if (status == TN_OK)
        status = from_temp(s, &t, reversed);
    tni_temp_close(&t);
    return status;
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

static tn_status sort_run(const tn_stream *job, tn_stream_facts *facts)
{
    enum { SCRATCH = 48 }; /* bytes per element: keys and indices twice, and the index */
    const tn_tensor *v = &job->sources[0].view;
    tni_sorting s = {.job = job, .args = job->args};
    tn_stream_map map;
    s.dim = s.args->dim;
    s.n = v->shape[s.dim];
    s.most =
        tni_stream_share(job) / (tni_width(v->dtype) + tni_width(job->out.dtype) + SCRATCH);
    tn_stream inner = sequences_job(&s, &job->sources[0], &map);
    if (tni_numel(v) > 0 && inner.box > s.most) {
        if (!facts)
            return sort_by_temp(&s);
        inner.box = s.most;
        TRY(tn_stream_plan(&inner, facts));
        facts->way = "temporary file";
        return TN_OK;
    }
    inner.writer = job->writer;
    inner.put = job->put;
    inner.progress = job->progress;
    inner.user = job->user;
    return tni_stream_inner(&inner, facts);
}

const tni_recipe tni_stream_sort_row = {"sort", sort_check, NULL,
                                        NULL,   sort_run,   .own_axes = true};
