/* pipeline.c - worker threads make boxes ahead; the calling thread passes them to the sink in
 * order.
 *
 * A buffer belongs to one box from the moment it is scheduled until the sink has it.  Sink,
 * progress and error reporting belong to the calling thread; a worker that fails leaves its
 * error message in the buffer. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stream.h"

enum {
    SENTENCE = 512,
    /* Bytes of the result after which pages are dropped from the page cache: a small part of
     * any memory, and a tenth of a second of a disk. */
    TIDIED = 64 << 20
};

typedef struct buffer {
    char *result;
    tni_scratch scratch;
    tn_tensor out;
    tni_box box;
    bool ready;
    tn_status status;
    char why[SENTENCE];
} buffer;

typedef struct pipeline {
    const tn_stream *job;
    bool queued;       /* files are read by queues, one per reading thread */
    bool tidy;         /* drop what has been read and written from the page cache */
    tn_handle *handle; /* of the workers */
    buffer *buffers;
    int n;
    tni_boxes boxes;
    int64_t next;      /* number of the next box to make */
    int64_t scheduled; /* boxes assigned to buffers so far */
    bool stop;
    int64_t done, total; /* bytes of the result: passed to the sink, in total */
    int64_t tidied;      /* value of done when pages were last dropped */
    int64_t start;       /* offset of the result in a file written with direct I/O; else -1 */
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pipeline;

/* Bytes from a block boundary to the first byte of the box in the file. */
static int64_t skew(const pipeline *p, const tni_box *box)
{
    int64_t before = 0;
    for (int i = 0; i < p->boxes.ndim; i++)
        before = before * p->boxes.shape[i] + box->at[i];
    return p->start < 0
               ? 0
               : (p->start + before * tni_width(p->job->out.dtype)) & (TNI_DISK_BLOCK - 1);
}

static void make_box(const pipeline *p, buffer *b, tni_queue *q)
{
    const tn_stream *job = p->job;
    const tni_recipe *r = tni_recipe_of(job);
    b->status = tn_init(&b->out, b->result + skew(p, &b->box), job->out.dtype,
                        tni_stream_ndim(job), b->box.n);
    tni_scratch scratch = b->scratch;
    scratch.queue = q;
    if (b->status == TN_OK)
        b->status = r->make(job, &b->box, &b->out, scratch);
    if (b->status != TN_OK) {
        strncpy(b->why, tn_error(), SENTENCE - 1);
        b->why[SENTENCE - 1] = 0;
    }
}

/* Open a queue if the plan has one; if there is none, reads are issued one at a time. */
static tni_queue *open_queue(const pipeline *p)
{
    tni_queue *q = NULL;
    return p->queued && tni_queue_open(&q, tni_may_start_threads()) == TN_OK ? q : NULL;
}

/* A worker computes on one thread: the boxes are the parallel part. */
static void *worker(void *user)
{
    pipeline *p = user;
    const tn_status used = tn_handle_use(p->handle); /* TN_OK always */
    (void)used;
    tni_queue *q = open_queue(p);
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        if (p->next == p->scheduled) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        ASSERT(p->next < p->scheduled);
        buffer *b = &p->buffers[p->next++ % p->n];
        ASSERT(!b->ready);
        pthread_mutex_unlock(&p->lock);
        make_box(p, b, q);
        pthread_mutex_lock(&p->lock);
        b->ready = true;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    tni_queue_close(q);
    return NULL;
}

/* Drop pages now and then: each call visits all pages that the system caches of the files. */
static void tidy(pipeline *p)
{
    const tn_stream *job = p->job;
    if (!p->tidy || p->done - p->tidied < TIDIED)
        return;
    p->tidied = p->done;
    for (int k = 0; k < job->n; k++)
        if (job->sources[k].file)
            tni_file_forget(job->sources[k].file, job->sources[k].tensor);
    if (job->writer)
        tni_writer_forget(job->writer);
}

static tn_status deliver(pipeline *p, buffer *b)
{
    const tn_stream *job = p->job;
    if (b->status != TN_OK)
        return tni_fail(b->status, "%s", b->why);
    TRY(tni_stream_deliver(job, &b->out, b->box.at));
    p->done += tn_nbytes(&b->out);
    ASSERT(p->done <= p->total);
    tidy(p);
    return job->progress ? job->progress(job->user, p->done, p->total) : TN_OK;
}

/* Keep every buffer busy; deliver the oldest when it is ready. */
static tn_status run_ahead(pipeline *p)
{
    tn_status status = TN_OK;
    int64_t delivered = 0;
    pthread_mutex_lock(&p->lock);
    while (status == TN_OK && delivered < p->boxes.count) {
        while (p->scheduled < p->boxes.count && p->scheduled - delivered < p->n) {
            buffer *b = &p->buffers[p->scheduled % p->n];
            tni_boxes_get(&p->boxes, p->scheduled++, &b->box);
            b->ready = false;
        }
        ASSERT(delivered < p->scheduled && p->scheduled - delivered <= p->n);
        pthread_cond_broadcast(&p->changed);
        buffer *oldest = &p->buffers[delivered % p->n];
        while (!oldest->ready)
            pthread_cond_wait(&p->changed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        status = deliver(p, oldest);
        pthread_mutex_lock(&p->lock);
        delivered++;
    }
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return status;
}

static tn_status run_alone(pipeline *p)
{
    tni_queue *q = open_queue(p);
    tn_status status = TN_OK;
    for (int64_t i = 0; i < p->boxes.count && status == TN_OK; i++) {
        tni_boxes_get(&p->boxes, i, &p->buffers[0].box);
        make_box(p, &p->buffers[0], q);
        status = deliver(p, &p->buffers[0]);
    }
    tni_queue_close(q);
    return status;
}

static tn_status run_threads(pipeline *p, int workers)
{
    pthread_t ids[TNI_STREAM_THREADS];
    int started = 0;
    if (workers) {
        TRY(tni_handle_for_workers(&p->handle));
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->changed, NULL);
        while (started < workers && pthread_create(&ids[started], NULL, worker, p) == 0)
            started++;
    }
    tn_status status = started ? run_ahead(p) : run_alone(p);
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    if (workers) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        tn_handle_destroy(p->handle);
    }
    return status;
}

/* Use huge pages: every box is touched once and transposed.  Not for direct jobs, which the
 * disk limits: on a virtual machine whose host has reclaimed the memory, touching 1 GiB takes 1
 * to 2.7 s in huge pages and 0.35 s in small ones (docs/investigations/files.md). */
static void use_large_pages(char *at, int64_t n)
{
    const uintptr_t page = 2 << 20;
    uintptr_t first = ((uintptr_t)at + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)at + (uintptr_t)n) & ~(page - 1);
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
}

/* Divide the memory among the buffers.  Each has a result, which may begin anywhere in its
 * first block, and scratch. */
static void divide(pipeline *p, char *memory, int64_t result, int64_t scratch)
{
    char *at = memory + (-(uintptr_t)memory & (TNI_DISK_BLOCK - 1));
    for (int i = 0; i < p->n; i++, at += result + scratch)
        p->buffers[i] = (buffer){.result = at, .scratch = {at + result, scratch, NULL}};
}

static int64_t whole_blocks(int64_t bytes)
{
    return (bytes + TNI_DISK_BLOCK - 1) & -(int64_t)TNI_DISK_BLOCK;
}

tn_status tni_stream_pipeline(const tn_stream *job, const tni_schedule *plan)
{
    ASSERT(plan->threads >= 1 && plan->threads <= TNI_STREAM_THREADS && plan->elements >= 1);
    ASSERT(plan->buffers > plan->workers || plan->buffers == 1);
    ASSERT(plan->workers || plan->buffers == 1);
    const int64_t result = whole_blocks(plan->elements * tni_width(job->out.dtype)) +
                           (plan->direct ? TNI_DISK_BLOCK : 0);
    const int64_t scratch = whole_blocks(plan->elements * tni_recipe_of(job)->scratch(job) +
                                         64 * ((int64_t)job->n < 64 ? job->n : 64));
    const int64_t all = (result + scratch) * plan->buffers + TNI_DISK_BLOCK;
    pipeline p = {.job = job,
                  .queued = plan->queued,
                  .tidy = plan->tidy,
                  .n = plan->buffers,
                  .total = tn_nbytes(&job->out),
                  .start = -1};
    char *memory = tni_alloc((size_t)all);
    p.buffers = memory ? tni_alloc((size_t)plan->buffers * sizeof *p.buffers) : NULL;
    tn_status status = TN_OK;
    if (memory && p.buffers) {
        if (!plan->direct)
            use_large_pages(memory, all);
        divide(&p, memory, result, scratch);
        tni_boxes_cut(&p.boxes, tni_stream_ndim(job), tni_stream_shape(job), plan->elements);
        const bool direct = plan->direct && job->writer && tni_writer_begin_direct(job->writer);
        if (direct)
            p.start = tni_writer_position(job->writer);
        status = run_threads(&p, plan->workers);
        if (direct) {
            tn_status end = tni_writer_end_direct(job->writer, status == TN_OK);
            status = status == TN_OK ? end : status;
        }
    } else {
        status = tni_fail(TN_ENOMEM, "stream: cannot allocate memory for boxes of %lld bytes",
                          (long long)all);
    }
    tni_free(p.buffers);
    tni_free(memory);
    return status;
}
