/* reorder.c - a source whose reads are short, copied in another order first.
 *
 * The copy of streams reads whole lines, or takes two passes, whatever the order; a recipe that
 * needs one index of an axis at a time, or whole sequences along it, reads a few bytes at a
 * time where that axis lies across the lines of the file.  It then runs on a temporary file in
 * which what it reads is contiguous. */
#include "stream.h"

enum {
    /* Bytes of the source that are copied in the time of a short read.  (8000, 5000) f32 sorted
     * along the first axis takes 2.9 s by reads of 170 bytes and 1.1 s in order, as long either
     * way by reads of 1 KB (page cache, Zen 5, 2 vCPUs); a disk reads a page for each. */
    COPIED = 1 << 10,
    LONGER = 4 /* times the length of a read, below which a copy is not worth it */
};

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

/* ---- plans ---- */

/* A source whose axes are those of v, dense in the given order. */
static tn_status ordered_view(const tn_tensor *v, const int *axes, tn_tensor *out)
{
    int64_t shape[TN_MAX_NDIM];
    int back[TN_MAX_NDIM];
    for (int i = 0; i < v->ndim; i++) {
        shape[i] = v->shape[axes[i]];
        back[axes[i]] = i;
    }
    TRY(tn_init(out, NULL, v->dtype, v->ndim, shape));
    return tn_permute(out, out, back);
}

bool tni_reorder_plan(const tn_stream *job, int *axes)
{
    const tni_recipe *row = tni_recipe_of(job);
    int64_t n[TN_MAX_NDIM];
    tn_tensor ordered;
    if (!row->one_read || !job->sources[0].file || tni_numel(&job->out) == 0)
        return false;
    const tn_tensor *v = &job->sources[0].view;
    if (v->dtype == TN_C128) /* the temporary file has no c128 */
        return false;
    row->one_read(job, n, axes);
    if (ordered_view(v, axes, &ordered) != TN_OK)
        return false;
    const int64_t now = tni_span(v, n), then = tni_span(&ordered, n);
    const int64_t reads = tni_numel(&job->out) / (now / tni_width(v->dtype));
    return now <= then / LONGER && reads > tn_nbytes(v) / COPIED;
}

/* The job that copies the source in order; the caller sets its sink. */
static tn_status copy_job(const tn_stream *job, const int *axes, tn_stream_source *from,
                          tn_stream *copy)
{
    const tn_tensor *v = &job->sources[0].view;
    *from = job->sources[0];
    TRY(tn_permute(&from->view, v, axes));
    *copy =
        (tn_stream){.n = 1, .sources = from, .max_mem = job->max_mem, .threads = job->threads};
    return tn_init(&copy->out, NULL, v->dtype, v->ndim, from->view.shape);
}

tn_status tni_reorder_facts(const tn_stream *job, const int *axes, tn_stream_facts *facts)
{
    tn_stream_source from, ordered = {0};
    tn_stream copy, last = *job;
    tn_stream_facts first;
    TRY(copy_job(job, axes, &from, &copy));
    TRY(tn_stream_plan(&copy, &first));
    TRY(ordered_view(&job->sources[0].view, axes, &ordered.view));
    last.sources = &ordered;
    TRY(tn_stream_plan(&last, facts));
    facts->way = "reordered";
    facts->read = first.read;
    facts->memory = facts->memory > first.memory ? facts->memory : first.memory;
    facts->shortest_read = first.shortest_read;
    return TN_OK;
}

/* ---- runs ---- */

typedef struct reordering {
    const tn_stream *job;
    int pass; /* 0 or 1; each is half of the progress */
} reordering;

static tn_status reorder_progress(void *user, int64_t done, int64_t total)
{
    const reordering *r = user;
    const int64_t all = tn_nbytes(&r->job->out);
    const double now = (r->pass + (double)done / (double)(total > 0 ? total : 1)) / 2;
    return r->job->progress(r->job->user, (int64_t)(now * (double)all), all);
}

static tn_status reorder_put(void *user, const tn_tensor *block, const int64_t *at)
{
    const reordering *r = user;
    return r->job->put(r->job->user, block, at);
}

/* Run the job, or its first pass, with the sinks of the caller. */
static tn_status run_pass(reordering *r, tn_stream *pass)
{
    pass->progress = r->job->progress ? reorder_progress : NULL;
    pass->put = pass->writer ? NULL : reorder_put;
    pass->user = r;
    return tn_stream_run(pass);
}

static tn_status run_passes(reordering *r, const int *axes, tni_temp *t)
{
    const tn_stream *job = r->job;
    tn_stream_source source;
    tn_stream copy, last = *job;
    int back[TN_MAX_NDIM];
    TRY(copy_job(job, axes, &source, &copy));
    TRY(tni_temp_open(t, job->writer, copy.out.dtype, copy.out.ndim, copy.out.shape));
    copy.writer = t->writer;
    TRY(run_pass(r, &copy));
    TRY(tni_temp_reopen(t));
    for (int i = 0; i < t->view.ndim; i++)
        back[axes[i]] = i;
    source = (tn_stream_source){.file = t->file};
    TRY(tn_permute(&source.view, &t->view, back));
    last.sources = &source;
    r->pass = 1;
    return run_pass(r, &last);
}

tn_status tni_reorder_run(const tn_stream *job, const int *axes)
{
    reordering r = {.job = job};
    tni_temp t = {0};
    const tn_status status = run_passes(&r, axes, &t);
    tni_temp_close(&t);
    return status;
}
