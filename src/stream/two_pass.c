/* two_pass.c - a view whose reads are too short, reordered by a first pass.
 *
 * The first pass reads pieces of the view along the axis with the longest stride in the file,
 * so that each is one long run; it rearranges each in memory to the order of the result and
 * writes it to an unlinked temporary file.  In every piece the second pass then finds its box
 * of the result as one long run.  Moving the bytes twice in long reads is faster than once in
 * short ones. */
#include <string.h>
#include <unistd.h>

#include <tenon/copy.h>

#include "nest/nest.h"

#include "stream.h"

/* Length of a read, in bytes, below which two passes are faster: one pass with reads of 7.7 KB
 * took as long as two passes, with 3.6 KB half as long again (ext4 on a virtual disk).  If the
 * temporary file stays in memory, two passes read and write the disk once each, sequentially,
 * which beats all reads below the sequential rate: a 2 GiB transpose within 1 GiB takes 3.4 to
 * 4.1 s, and 4.7 to 6.1 s in one pass with reads of 32 KiB, where a copy of the file takes 2.8
 * to 3.8 s.  The figures of box.c are from another series, in which the disk was faster
 * (docs/investigations/files.md). */
enum { SHORT_READ = 6 << 10, SHORT_CACHED = 64 << 10 };

enum {
    /* Each piece is a source of the second pass, whose description takes 1.6 KB: 6.5 MB at
     * most, beside the budget; not measured. */
    MOST_PIECES = 4096,
    /* Bytes of a buffer: 500 MiB took 6.3 to 6.9 s, 128 MiB 4.0 to 4.9, 64 MiB 3.8 to 4.2, 32
     * MiB 4.0 to 4.4 (Zen 4, 2 vCPUs), because the first touch of memory is expensive. */
    MOST_CACHED = 64 << 20
};

int64_t tni_free_memory = -1;

/* The limit is a quarter of free memory: the system begins to write a file back when about a
 * tenth of its memory is dirty, and other programs need some as well. */
bool tni_stays_cached(int64_t bytes)
{
    const int64_t unused = tni_free_memory >= 0 ? tni_free_memory
                                                : (int64_t)sysconf(_SC_AVPHYS_PAGES) *
                                                      (int64_t)sysconf(_SC_PAGESIZE);
    return bytes <= unused / 4;
}

static int slowest_axis(const tn_tensor *v)
{
    int best = -1;
    for (int i = 0; i < v->ndim; i++)
        if (v->shape[i] > 1 && v->stride[i] != 0 &&
            (best < 0 || tni_abs_step(v->stride[i]) > tni_abs_step(v->stride[best])))
            best = i;
    return best;
}

bool tni_two_pass_plan(const tn_stream *job, const tni_schedule *one, tni_two_pass *plan)
{
    if (job->n != 1) /* a map may have no source */
        return false;
    const tn_tensor *v = &job->sources[0].view;
    const bool cached = tni_stays_cached(tn_nbytes(v));
    if (!one->direct || one->shortest >= (cached ? SHORT_CACHED : SHORT_READ) ||
        job->recipe != TN_STREAM_COPY || job->args || !job->sources[0].file ||
        v->ndim == TN_MAX_NDIM || v->dtype == TN_C128) /* the temporary file has no c128 */
        return false;
    const int axis = slowest_axis(v);
    const int64_t width = tni_width(v->dtype), budget = tn_stream_budget(job->max_mem);
    if (axis < 0 || !tni_shape_count(v->ndim, v->shape))
        return false;
    const int64_t row = tni_numel(v) / v->shape[axis];
    const int buffers = tni_stream_threads(job) == 1 ? 1 : 2;
    const int64_t left = (budget - 2 * (int64_t)TNI_STAGE) / buffers;
    const int64_t each = left > TNI_BOX_SHORT ? left : TNI_BOX_SHORT;
    const int64_t most = (cached && each > MOST_CACHED ? MOST_CACHED : each) / width;
    const int64_t piece = most / row;
    if (piece < 2 || piece >= v->shape[axis] ||
        tni_ceil_div(v->shape[axis], piece) > MOST_PIECES)
        return false;
    *plan = (tni_two_pass){.axis = axis, .piece = piece, .cached = cached};
    plan->first = (tni_schedule){.threads = 1,
                                 .buffers = buffers,
                                 .elements = piece * row,
                                 .queued = true,
                                 .direct = !cached};
    plan->second = *one;
    plan->second.queued = plan->second.tidy = !cached;
    plan->second.buffers = buffers;
    plan->second.elements = most;
    tni_schedule_workers(job, &plan->first);
    tni_schedule_workers(job, &plan->second);
    /* each row of the result has a run of elements in every piece */
    const int64_t rows = most / (tni_numel(v) / v->shape[0]), run = row / v->shape[0] * piece;
    plan->second.shortest = (rows > 1 && axis > 0 ? rows * run : piece) * width;
    return plan->second.shortest > 4 * one->shortest;
}

typedef struct passes {
    const tn_stream *job;
    const tni_two_pass *plan;
    int64_t count, rest; /* number of whole pieces; indices of the last one */
    int half;            /* the current pass, 0 or 1 */
} passes;

/* Each pass is half of the progress. */
static tn_status progress(void *user, int64_t done, int64_t total)
{
    const passes *p = user;
    const tn_stream *job = p->job;
    const int64_t all = tn_nbytes(&job->out), half = all / 2;
    const double share = (double)done / (double)(total > 0 ? total : 1);
    return job->progress(job->user, p->half * half + (int64_t)(share * (double)half), all);
}

static tn_status pass_put(void *user, const tn_tensor *block, const int64_t *at)
{
    const passes *p = user;
    return p->job->put(p->job->user, block, at);
}

/* The two tensors of the temporary file: the whole pieces, numbered by a new first axis, and
 * the rest. */
static tn_status shapes(const passes *p, tn_tensor *whole, tn_tensor *rest)
{
    const tn_tensor *v = &p->job->sources[0].view;
    int64_t shape[TN_MAX_NDIM];
    shape[0] = p->count;
    memcpy(shape + 1, v->shape, (size_t)v->ndim * sizeof *shape);
    shape[1 + p->plan->axis] = p->plan->piece;
    TRY(tn_init(whole, NULL, v->dtype, v->ndim + 1, shape));
    shape[1 + p->plan->axis] = p->rest;
    return tn_init(rest, NULL, v->dtype, v->ndim, shape + 1);
}

/* Split the axis of a view in two: the piece becomes the first axis, the index in a piece
 * stays. */
static void split_axis(tn_tensor *out, const tn_tensor *v, int axis, int64_t count,
                       int64_t piece)
{
    *out = *v;
    out->ndim = v->ndim + 1;
    for (int i = 0; i < v->ndim; i++) {
        out->shape[i + 1] = v->shape[i];
        out->stride[i + 1] = v->stride[i];
    }
    out->shape[0] = count;
    out->stride[0] = piece * v->stride[axis];
    out->shape[axis + 1] = piece;
}

static tn_status first_pass(passes *p, tn_writer *w, const tn_tensor *whole,
                            const tn_tensor *rest)
{
    const tn_stream_source *s = &p->job->sources[0];
    const tni_two_pass *plan = p->plan;
    tn_stream_source in = *s;
    tn_stream job = {.recipe = TN_STREAM_COPY,
                     .out = *whole,
                     .n = 1,
                     .sources = &in,
                     .writer = w,
                     .max_mem = p->job->max_mem,
                     .threads = p->job->threads,
                     .progress = p->job->progress ? progress : NULL,
                     .user = p};
    memset(in.at, 0, sizeof in.at);
    split_axis(&in.view, &s->view, plan->axis, p->count, plan->piece);
    TRY(tni_stream_pipeline(&job, &plan->first));
    if (p->rest == 0)
        return TN_OK;
    job.out = *rest;
    job.progress = NULL;
    TRY(tn_slice(&in.view, &s->view, plan->axis, p->count * plan->piece,
                 p->count * plan->piece + p->rest, 1));
    return tni_stream_pipeline(&job, &plan->first);
}

static tn_status second_pass(passes *p, const tn_file *f)
{
    const tni_two_pass *plan = p->plan;
    const int n = (int)p->count + (p->rest > 0);
    tn_tensor whole;
    tn_stream_source *pieces = tni_alloc((size_t)n * sizeof *pieces);
    if (!pieces)
        return tni_fail(TN_ENOMEM, "stream: cannot allocate memory for %d pieces", n);
    tn_stream job = *p->job;
    job.n = n;
    job.sources = pieces;
    job.progress = p->job->progress ? progress : NULL;
    job.put = p->job->put ? pass_put : NULL;
    job.user = p;
    tn_status status = tn_file_places(f, 0, &whole);
    for (int i = 0; i < n && status == TN_OK; i++) {
        pieces[i] = (tn_stream_source){.file = f, .tensor = i < p->count ? 0 : 1};
        memcpy(pieces[i].at, p->job->sources[0].at, sizeof pieces[i].at);
        pieces[i].at[plan->axis] += i * plan->piece;
        status = i < p->count ? tn_select(&pieces[i].view, &whole, 0, i)
                              : tn_file_places(f, 1, &pieces[i].view);
    }
    if (status == TN_OK)
        status = tni_stream_pipeline(&job, &plan->second);
    tni_free(pieces);
    return status;
}

tn_status tni_two_pass_run(const tn_stream *job, const tni_two_pass *plan)
{
    static const char *const names[] = {"pieces", "rest"};
    const int64_t n = job->sources[0].view.shape[plan->axis];
    passes p = {job, plan, n / plan->piece, n % plan->piece, 0};
    tn_tensor whole, rest;
    tn_writer *w = NULL;
    tn_file *f = NULL;
    TRY(shapes(&p, &whole, &rest));
    TRY(tni_writer_open_scratch(&w, job->writer, 2, names,
                                (const tn_tensor *[]){&whole, &rest}));
    tn_status status = first_pass(&p, w, &whole, &rest);
    if (status == TN_OK)
        status = tni_writer_reopen(w, &f);
    p.half = 1;
    if (status == TN_OK)
        status = second_pass(&p, f);
    tn_file_close(f);
    tn_writer_abort(w);
    return status;
}
