/* stream.c - checking, planning, explaining and running jobs. */
#include <stdio.h>
#include <string.h>

#include "stream.h"

/* Bytes of a result from which on disk space is reserved before the work begins, so that a job
 * for which there is none fails at once; a smaller result costs little to write in vain.  Not
 * measured. */
enum { RESERVED = 16 << 20 };

int tni_stream_ndim(const tn_stream *job)
{
    return job->ndim ? job->ndim : job->out.ndim;
}

const int64_t *tni_stream_shape(const tn_stream *job)
{
    return job->ndim ? job->shape : job->out.shape;
}

static tn_status check_numbers(const tn_stream *job)
{
    if (!tni_recipe_of(job))
        return tni_fail(TN_EARG, "stream: unknown recipe %d", (int)job->recipe);
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"n", job->n}, {"max_mem", job->max_mem}, {"box", job->box}, {"threads", job->threads}};
    for (int i = 0; i < COUNT(numbers); i++)
        if (numbers[i].value < 0)
            return tni_fail(TN_EARG, "stream: %s: negative, got %lld, expected 0 or more",
                            numbers[i].name, (long long)numbers[i].value);
    for (int i = 0; i < COUNT(job->reserved); i++)
        if (job->reserved[i])
            return tni_fail(TN_EARG, "stream: reserved[%d]: expected NULL", i);
    return TN_OK;
}

/* The axes that are cut into boxes hold as many elements as out. */
static tn_status stream_check_shape(const tn_stream *job)
{
    int64_t size;
    if (job->ndim < 0 || job->ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "stream: ndim: got %d, expected 0 to %d", job->ndim,
                        TN_MAX_NDIM);
    for (int i = 0; i < job->ndim; i++)
        if (job->shape[i] < 0)
            return tni_fail(TN_ESHAPE, "stream: shape[%d]: negative, got %lld", i,
                            (long long)job->shape[i]);
    if (!tni_shape_size(tni_stream_ndim(job), tni_stream_shape(job), 16, &size))
        return tni_fail(TN_EOVERFLOW,
                        "stream: shape: got 2^59 elements or more, expected fewer");
    if (tni_shape_count(tni_stream_ndim(job), tni_stream_shape(job)) != tni_numel(&job->out))
        return tni_fail(TN_ESHAPE, "stream: shape: got %lld elements, expected out's %lld",
                        (long long)tni_shape_count(job->ndim, job->shape),
                        (long long)tni_numel(&job->out));
    return TN_OK;
}

static tn_status check_sources(const tn_stream *job)
{
    if (job->n && !job->sources)
        return tni_fail(TN_ENULL, "stream: sources is NULL");
    for (int k = 0; k < job->n; k++) {
        const tn_stream_source *s = &job->sources[k];
        TRY(tni_check(&s->view, "stream: source"));
        if (!tni_recipe_of(job)->own_axes && s->view.ndim != tni_stream_ndim(job))
            return tni_fail(TN_ESHAPE, "stream: source %d: got %d axes, expected %d", k,
                            s->view.ndim, tni_stream_ndim(job));
    }
    return TN_OK;
}

static tn_status check_job(const tn_stream *job)
{
    if (!job)
        return tni_fail(TN_ENULL, "stream: job is NULL");
    TRY(check_numbers(job));
    TRY(tni_check(&job->out, "stream: out"));
    TRY(stream_check_shape(job));
    TRY(check_sources(job));
    return tni_recipe_of(job)->check(job);
}

/* ---- elements copied unchanged from file to file ---- */

static bool in_order(const tn_stream *job)
{
    return job->recipe == TN_STREAM_COPY && job->n == 1 && !job->args &&
           tn_is_contiguous(&job->sources[0].view);
}

/* True if a file has the bytes of the result exactly as the writer would write them; *at is
 * their offset. */
static bool is_copied(const tn_stream *job, const tn_file **f, int64_t *at)
{
    const tn_stream_source *s = job->sources;
    const tni_entry *e = NULL;
    if (!in_order(job) || !job->writer || !s->file || s->view.dtype != job->out.dtype)
        return false;
    *f = s->file;
    return tni_file_entry(f, s->tensor, "stream", &e) == TN_OK &&
           tni_width(e->dtype) == tni_width(s->view.dtype) &&
           tni_writer_copies(job->writer, e) && tni_fetch_locate(*f, e, &s->view, at) == TN_OK;
}

static tn_status copied(void *user, int64_t done)
{
    const tn_stream *job = user;
    return job->progress ? job->progress(job->user, done, tn_nbytes(&job->out)) : TN_OK;
}

tn_status tni_stream_deliver(const tn_stream *job, const tn_tensor *block, const int64_t *at)
{
    return job->writer ? tn_writer_put(job->writer, block) : job->put(job->user, block, at);
}

tn_status tn_stream_run(const tn_stream *job)
{
    TRY(check_job(job));
    if (!job->writer && !job->put)
        return tni_fail(TN_ENULL, "stream: expected a writer or put, both are NULL");
    for (int k = 0; k < job->n; k++)
        if (!job->sources[k].file && !job->sources[k].read)
            TRY(tni_check_data(&job->sources[k].view, "stream: source"));
    int axes[TN_MAX_NDIM];
    if (tni_reorder_plan(job, axes))
        return tni_reorder_run(job, axes);
    if (tni_recipe_of(job)->run)
        return tni_recipe_of(job)->run(job, NULL);
    const tn_file *f;
    int64_t at, numel = tni_numel(&job->out);
    if (numel && is_copied(job, &f, &at))
        return tni_writer_copy(job->writer, f, at, job->out.dtype, numel, copied, (void *)job);
    tni_schedule plan = tni_stream_schedule(job);
    tni_two_pass two;
    if (job->writer && numel * tni_width(job->out.dtype) >= RESERVED)
        TRY(tni_writer_reserve(job->writer, numel * tni_width(job->out.dtype)));
    if (tni_two_pass_plan(job, &plan, &two))
        return tni_two_pass_run(job, &two);
    for (int k = 0; k < job->n && plan.read_ahead; k++)
        tni_fetch_ahead(&job->sources[k]);
    return tni_stream_pipeline(job, &plan);
}

/* ---- facts ---- */

static int64_t source_bytes(const tn_stream_source *s)
{
    int64_t n = s->file || s->read ? tni_width(s->view.dtype) : 0;
    for (int i = 0; i < s->view.ndim; i++)
        n *= s->view.stride[i] == 0 && s->view.shape[i] > 1 ? 1 : s->view.shape[i];
    return n;
}

int64_t tni_stream_bytes_read(const tn_stream *job)
{
    int64_t n = 0;
    for (int k = 0; k < job->n; k++)
        n += source_bytes(&job->sources[k]);
    return n;
}

const char *tn_stream_why(const tn_stream_facts *facts)
{
    static const struct {
        const char *way;
        bool queued; /* only with reads in flight */
        const char *why;
    } whys[] = {
        {"nothing", false, "there are no elements"},
        {"in order", false, "the elements lie in the order of the result"},
        {"boxes", true,
         "reads are short, and reading ahead would read too much: many are in flight"},
        {"boxes", false,
         "a few boxes fit into memory, and each reads what it needs of the sources"},
        {"direct", false, "files exceed the memory, and reads are short: many are in flight"},
        {"two-pass", false, "files exceed the memory, and reads are too short for one pass"},
        {"temporary file", false,
         "a box of the result crosses more sequences than fit into memory"},
        {"reordered", false, "reads are short: a temporary file has the source in order"},
    };
    for (int i = 0; facts && facts->way && i < COUNT(whys); i++)
        if (!strcmp(facts->way, whys[i].way) && (facts->queue || !whys[i].queued))
            return whys[i].why;
    return "";
}

/* Bytes per second for random direct reads of this length with many in flight: one series on
 * the machine of "Around the page cache" in docs/investigations/files.md (AMD EPYC, Zen 4, 2
 * vCPUs, ext4 on a virtual disk).  The table there is of another series: 644 to 1086 MB/s for 4
 * to 32 KiB.  The times that explain prints follow from them; the choice of a way does not
 * (two_pass.c). */
static double read_rate(int64_t bytes)
{
    static const struct {
        int64_t bytes;
        double rate;
    } rates[] = {{64 << 10, 1100e6},
                 {32 << 10, 952e6},
                 {16 << 10, 835e6},
                 {8 << 10, 671e6},
                 {4 << 10, 455e6}};
    for (int i = 0; i < COUNT(rates); i++)
        if (bytes >= rates[i].bytes)
            return rates[i].rate;
    return 455e6 * (double)bytes / 4096;
}

/* Predicted seconds of one pass and of two, and the way chosen. */
typedef struct prediction {
    bool two;
    double one_pass, two_passes;
    tni_two_pass plan; /* valid if two */
} prediction;

static prediction predict(const tn_stream *job, const tni_schedule *plan, double read,
                          double written)
{
    const double sequential = 1.4e9; /* bytes per second, the same series */
    prediction p = {.two_passes = 0};
    p.two = tni_two_pass_plan(job, plan, &p.plan);
    p.one_pass = read / read_rate(plan->shortest) + written / sequential;
    p.two_passes = (read + written) / sequential;
    if (!p.two || !p.plan.cached) /* the temporary file is written and read */
        p.two_passes +=
            read / sequential + read / read_rate(p.two ? p.plan.second.shortest : 64 << 10);
    return p;
}

/* Bytes that a schedule holds at once: boxes, and for each thread the stage of a fetch or, with
 * a queue, two stages and the queue. */
static int64_t schedule_bytes(const tni_schedule *plan, int64_t each)
{
    const int64_t reading = plan->queued ? 2 * TNI_STAGE + TNI_QUEUE_BYTES : TNI_STAGE;
    return plan->threads * reading + plan->buffers * plan->elements * each;
}

/* The facts of a job whose boxes are made by `plan`. */
static void box_facts(const tn_stream *job, const tni_schedule *plan, tn_stream_facts *f)
{
    tni_boxes b;
    tni_box first = {0};
    bool whole;
    tni_boxes_cut(&b, tni_stream_ndim(job), tni_stream_shape(job), plan->elements);
    if (b.count > 0)
        tni_boxes_get(&b, 0, &first);
    f->way = b.count == 0 ? "nothing" : in_order(job) ? "in order" : "boxes";
    f->boxes = b.count;
    f->box = b.count == 0 ? 0 : tni_shape_count(b.ndim, first.n);
    f->threads = plan->threads;
    f->buffers = plan->buffers;
    f->memory = schedule_bytes(plan, tni_recipe_bytes(job));
    f->queue = plan->queued ? TNI_QUEUE_DEPTH : 0;
    f->shortest_read = b.count && job->n ? tni_shortest_read(job, plan->elements, &whole) : 0;
}

/* The facts of a direct job.  For two passes: the boxes of the second pass, and the memory of
 * the pass that needs more. */
static void direct_facts(const tn_stream *job, const tni_schedule *plan, tn_stream_facts *f)
{
    const prediction p = predict(job, plan, (double)f->read, (double)f->written);
    if (p.two) {
        const int64_t width = tni_width(job->sources[0].view.dtype);
        const int64_t first = schedule_bytes(&p.plan.first, width);
        box_facts(job, &p.plan.second, f);
        f->memory = f->memory > first ? f->memory : first;
        f->shortest_read = p.plan.second.shortest;
    }
    f->way = p.two ? "two-pass" : "direct";
    f->queue = TNI_QUEUE_DEPTH;
    f->seconds = p.two ? p.two_passes : p.one_pass;
}

tn_status tni_unplanned(tn_status status)
{
    char text[512];
    if (status == TN_OK || strncmp(tn_error(), "plan_", 5) != 0)
        return status;
    snprintf(text, sizeof text, "%s", tn_error() + 5);
    return tni_fail(status, "%s", text);
}

tn_status tni_stream_inner(const tn_stream *inner, tn_stream_facts *facts)
{
    return facts ? tn_stream_plan(inner, facts) : tn_stream_run(inner);
}

tn_status tn_stream_plan(const tn_stream *job, tn_stream_facts *facts)
{
    TRY(check_job(job));
    if (!facts)
        return tni_fail(TN_ENULL, "stream_plan: facts is NULL");
    const tni_recipe *row = tni_recipe_of(job);
    tn_stream_facts f = {.written = tn_nbytes(&job->out), .read = tni_stream_bytes_read(job)};
    int axes[TN_MAX_NDIM];
    if (tni_reorder_plan(job, axes)) {
        TRY(tni_reorder_facts(job, axes, &f));
    } else if (row->run) {
        const int64_t read = f.read;
        TRY(row->run(job, &f));
        f.read = row->reads ? f.read : read;
        f.written = tn_nbytes(&job->out);
    } else {
        const tni_schedule plan = tni_stream_schedule(job);
        box_facts(job, &plan, &f);
        if (plan.direct)
            direct_facts(job, &plan, &f);
    }
    f.recipe = row->name;
    *facts = f;
    return TN_OK;
}

tn_status tn_stream_in_memory(tn_plan **plan, const tn_stream *job)
{
    TRY(check_job(job));
    if (!plan)
        return tni_fail(TN_ENULL, "stream_in_memory: plan is NULL");
    const tni_recipe *row = tni_recipe_of(job);
    if (!row->plan)
        return tni_fail(TN_EUNSUPPORTED, "stream_in_memory: recipe: %s has no plan", row->name);
    return row->plan(job, plan);
}

tn_status tn_stream_facts_json(const tn_stream_facts *f, char *buf, size_t size)
{
    if (!f || (!buf && size))
        return tni_fail(TN_ENULL, "stream_facts_json: %s is NULL", f ? "buf" : "facts");
    snprintf(buf, size,
             "{\"recipe\": \"%s\", \"way\": \"%s\", \"why\": \"%s\", \"boxes\": %lld, "
             "\"box\": %lld, \"threads\": %lld, \"buffers\": %lld, \"memory\": %lld, "
             "\"read\": %lld, \"written\": %lld, \"shortest_read\": %lld, \"queue\": %lld, "
             "\"seconds\": %.3g}",
             f->recipe, f->way, tn_stream_why(f), (long long)f->boxes, (long long)f->box,
             (long long)f->threads, (long long)f->buffers, (long long)f->memory,
             (long long)f->read, (long long)f->written, (long long)f->shortest_read,
             (long long)f->queue, f->seconds);
    return TN_OK;
}

tn_status tn_stream_explain(const tn_stream *job, char *buf, size_t size)
{
    tn_stream_facts f;
    if (!buf && size)
        return tni_fail(TN_ENULL, "stream_explain: buf is NULL");
    TRY(tn_stream_plan(job, &f));
    snprintf(buf, size,
             "stream %s: %s\n  why      %s\n  boxes    %lld of %lld elements\n  memory   %lld "
             "bytes, %lld "
             "buffers, %lld threads\n  read     %lld bytes, in spans of %lld or more\n"
             "  written  %lld bytes\n",
             f.recipe, f.way, tn_stream_why(&f), (long long)f.boxes, (long long)f.box,
             (long long)f.memory, (long long)f.buffers, (long long)f.threads, (long long)f.read,
             (long long)f.shortest_read, (long long)f.written);
    size_t n = size ? strlen(buf) : 0;
    if (f.queue && size)
        snprintf(buf + n, size - n, "  queue    %lld reads in flight\n", (long long)f.queue);
    if (f.seconds > 0 && size) {
        const tni_schedule plan = tni_stream_schedule(job);
        const prediction p = predict(job, &plan, (double)f.read, (double)f.written);
        n = strlen(buf);
        snprintf(buf + n, size - n, "  time     about %.2g s in one pass, %.2g s in two\n",
                 p.one_pass, p.two_passes);
    }
    return TN_OK;
}
