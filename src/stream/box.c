/* box.c - cutting a result into boxes: their order and their size.
 *
 * A box is a run of whole rows if a row fits, so that the concatenation of all boxes is the
 * result in row-major order. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nest/nest.h"

#include "stream.h"

enum {
    SMALLEST = 64 << 10,        /* minimum bytes of a box: below it call overhead dominates */
    LEAST = 256 << 20,          /* the least default budget, in bytes */
    SEQUENTIAL_READ = 32 << 10, /* bytes of a read that nearly reaches the sequential rate */
    LONG_RUN = 1 << 20,         /* bytes of a read that disk and read-ahead see as sequential */
    MOST_RUN = 64 << 20,        /* maximum bytes of a box enlarged for such reads */
    MANY = 4 << 20, /* bytes of files from which on short reads are worth preparing */
    BLOCK = 512,    /* the least that a disk reads, in bytes */
    LOOKED_AT = 8   /* sources examined for read lengths: a pad has thousands alike */
};

void tni_boxes_cut(tni_boxes *b, int ndim, const int64_t *shape, int64_t elements)
{
    int64_t inside = 1;
    *b = (tni_boxes){.ndim = ndim, .cut = ndim - 1, .range = 1};
    memcpy(b->shape, shape, (size_t)ndim * sizeof *shape);
    if (tni_shape_count(ndim, shape) == 0)
        return;
    while (b->cut > 0 && inside <= elements / b->shape[b->cut])
        inside *= b->shape[b->cut--];
    if (elements > inside)
        b->range = elements / inside;
    for (int i = 0; i < ndim; i++)
        b->grid[i] = i < b->cut ? shape[i] : 1;
    if (ndim > 0)
        b->grid[b->cut] = tni_ceil_div(shape[b->cut], b->range);
    b->count = tni_shape_count(ndim, b->grid);
}

void tni_boxes_get(const tni_boxes *b, int64_t number, tni_box *box)
{
    ASSERT(number >= 0 && number < b->count);
    tni_unravel(b->ndim, b->grid, number, box->at);
    for (int i = 0; i < b->ndim; i++)
        box->n[i] = i < b->cut ? 1 : b->shape[i];
    if (b->ndim == 0)
        return;
    const int k = b->cut;
    box->at[k] *= b->range;
    const int64_t left = b->shape[k] - box->at[k];
    box->n[k] = left < b->range ? left : b->range;
}

int64_t tni_span(const tn_tensor *view, const int64_t *n)
{
    int64_t span = tni_width(view->dtype);
    for (;;) {
        int next = -1;
        for (int i = 0; i < view->ndim && next < 0; i++)
            if (n[i] > 1 && llabs(view->stride[i]) == span)
                next = i;
        if (next < 0)
            return span;
        span *= n[next];
        if (n[next] < view->shape[next])
            return span;
    }
}

int64_t tni_shortest_read(const tn_stream *job, int64_t elements, bool *whole)
{
    tni_boxes b;
    tni_box first;
    const bool own = tni_recipe_of(job)->own_axes;
    int64_t shortest = INT64_MAX;
    *whole = true;
    tni_boxes_cut(&b, tni_stream_ndim(job), tni_stream_shape(job), elements);
    if (b.count == 0)
        return shortest;
    tni_boxes_get(&b, 0, &first);
    for (int i = 0; i < job->n && i < LOOKED_AT; i++) {
        const tn_tensor *v = &job->sources[i].view;
        int64_t n[TN_MAX_NDIM];
        for (int k = 0; k < v->ndim; k++)
            n[k] = !own && first.n[k] < v->shape[k] ? first.n[k] : v->shape[k];
        const int64_t span = tni_span(v, n);
        *whole &= span == tni_span(v, v->shape);
        shortest = span < shortest ? span : shortest;
    }
    return shortest;
}

/* True if boxes of this size are read in long runs.  A box of a transposed view needs only a
 * few neighbours for each row of the result; more rows in a box make longer runs. */
static bool reads_long(const tn_stream *job, int64_t elements)
{
    bool whole;
    return tni_shortest_read(job, elements, &whole) >= TNI_ENOUGH_READ || whole;
}

/* Return `elements`, or a multiple of it if reads are then sequential because a box has all of
 * the inner axes of the file.  Example: for swapping the middle axes of (64, 512, 32, 512),
 * boxes of 8 MiB have reads of 16 KiB, and boxes of 32 MiB are one contiguous read. */
static int64_t grow_to_runs(const tn_stream *job, int64_t elements, int64_t most, int64_t bytes)
{
    bool whole;
    for (int64_t n = elements; n <= most && n <= MOST_RUN / bytes; n *= 2)
        if (tni_shortest_read(job, n, &whole) >= LONG_RUN)
            return n;
    return elements;
}

/* Bytes that are read from disks.  tmpfs is memory: no other way makes it faster. */
static int64_t disk_bytes(const tn_stream *job)
{
    int64_t bytes = 0;
    for (int i = 0; i < job->n; i++) {
        const tn_stream_source *s = &job->sources[i];
        if (s->file && !tni_file_in_memory(s->file, s->tensor))
            bytes += tni_numel(&s->view) * tni_width(s->view.dtype);
    }
    return bytes;
}

/* True if files are read in short, scattered pieces and exceed the budget: the page cache then
 * only costs time and evicts other programs' pages. */
static bool reads_scattered(const tn_stream *job, int64_t budget, int64_t elements)
{
    bool whole;
    return disk_bytes(job) > budget &&
           tni_shortest_read(job, elements, &whole) < SEQUENTIAL_READ && !whole;
}

/* Round elements down so that boxes begin at multiples of BLOCK bytes along the cut axis, if
 * they are long enough: a read a bit longer than a power of two takes 1.5 times as long. */
static int64_t whole_blocks(const tn_stream *job, int64_t elements)
{
    tni_boxes b;
    tni_boxes_cut(&b, tni_stream_ndim(job), tni_stream_shape(job), elements);
    const int64_t step = BLOCK / tni_width(job->out.dtype);
    if (b.ndim == 0 || b.range <= step)
        return elements;
    return (b.range - b.range % step) *
           tni_shape_count(b.ndim - b.cut - 1, b.shape + b.cut + 1);
}

/* Use one box of the whole budget or, if their reads are still long, two: one is written while
 * the next is read.  With a 1 GiB budget for a 2 GiB transpose on a virtual disk, one box with
 * reads of 32 KiB takes 3.4 s, two with 16 KiB 3.6 s, two with 8 KiB 4.7 s, where a copy of the
 * file takes 2.4 to 3.1 s (docs/investigations/files.md).  Boxes are no larger than long reads
 * require, because the first touch of memory is expensive. */
static void schedule_direct(const tn_stream *job, int64_t most, tni_schedule *p)
{
    bool whole;
    p->queued = p->direct = true;
    p->threads = 1;
    p->buffers = tni_stream_threads(job) == 1 ||
                         tni_shortest_read(job, most / 2, &whole) < SEQUENTIAL_READ
                     ? 1
                     : 2;
    most /= p->buffers;
    while (p->elements < most && tni_shortest_read(job, p->elements, &whole) < SEQUENTIAL_READ)
        p->elements *= 2;
    p->elements = whole_blocks(job, p->elements < most ? p->elements : most);
    p->shortest = tni_shortest_read(job, p->elements, &whole);
}

/* Short reads that miss the page cache wait for the disk one by one.  Have the system read
 * ahead or, if that would read too much, keep many reads in flight. */
static void schedule_scattered(const tn_stream *job, tni_schedule *p)
{
    p->read_ahead = true;
    for (int k = 0; k < job->n; k++)
        p->read_ahead = p->read_ahead && tni_fetch_can_ahead(&job->sources[k]);
    if (p->read_ahead)
        return;
    p->queued = true;
    p->threads = 1;
    p->buffers = p->buffers > 1 ? 2 : 1;
}

/* True if reads of files are short, and no larger box would lengthen them enough. */
static bool reads_short(const tn_stream *job, int64_t elements)
{
    bool whole;
    return disk_bytes(job) >= MANY &&
           tni_shortest_read(job, elements, &whole) < SEQUENTIAL_READ;
}

int64_t tn_stream_budget(int64_t max_mem)
{
    if (max_mem > 0)
        return max_mem;
    int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) / 4 * sysconf(_SC_PAGESIZE);
    return bytes > LEAST ? bytes : LEAST;
}

int tni_stream_threads(const tn_stream *job)
{
    if (!tni_may_start_threads())
        return 1;
    return job->threads ? job->threads : tni_threads();
}

/* With a queue even a single buffer is filled by a worker, which computes on one thread: idle
 * threads that spin would take time from the disk's driver. */
void tni_schedule_workers(const tn_stream *job, tni_schedule *p)
{
    const bool alone = tni_stream_threads(job) == 1;
    if (alone)
        p->threads = p->buffers = 1;
    p->workers = !alone && (p->queued || p->buffers > 1) ? p->threads : 0;
}

/* Threads and buffers for the budget; returns the bytes of a buffer.  A number of threads that
 * the job names counts even where none are started: pieces of a reduction follow from it. */
static int64_t share(const tn_stream *job, tni_schedule *p)
{
    int64_t budget = tn_stream_budget(job->max_mem);
    p->threads = job->threads ? job->threads : tni_stream_threads(job);
    p->threads = p->threads < TNI_STREAM_THREADS ? p->threads : TNI_STREAM_THREADS;
    while (p->threads > 1 && budget / p->threads < 4 * (int64_t)TNI_STAGE)
        p->threads--;
    p->buffers = p->threads > 1 ? p->threads + 1 : 1;
    int64_t each = (budget - p->threads * (int64_t)TNI_STAGE) / p->buffers;
    return each > SMALLEST ? each : SMALLEST;
}

int64_t tni_stream_share(const tn_stream *job)
{
    tni_schedule p = {0};
    return share(job, &p);
}

tni_schedule tni_stream_schedule(const tn_stream *job)
{
    int64_t bytes = tni_recipe_bytes(job), numel = tni_numel(&job->out);
    int64_t budget = tn_stream_budget(job->max_mem);
    tni_schedule p = {0};
    int64_t each = share(job, &p), most = each / bytes;
    if (each < TNI_BOX_SHORT && !reads_long(job, most))
        most = TNI_BOX_SHORT / bytes;
    p.elements = TNI_BOX_USUAL / bytes;
    while (p.elements < most && p.elements < numel && !reads_long(job, p.elements))
        p.elements *= 2;
    p.elements = grow_to_runs(job, p.elements < most ? p.elements : most, most, bytes);
    p.shortest = INT64_MAX;
    p.tidy = disk_bytes(job) > budget;
    if (!job->box && reads_scattered(job, budget, p.elements)) {
        each = budget - 2 * (int64_t)TNI_STAGE;
        schedule_direct(job, (each > TNI_BOX_SHORT ? each : TNI_BOX_SHORT) / bytes, &p);
    } else if (reads_short(job, p.elements)) {
        schedule_scattered(job, &p);
    }
    if (job->box)
        p.elements = job->box;
    if (p.elements >= numel) {
        p.elements = numel > 0 ? numel : 1;
        p.threads = p.buffers = 1;
    }
    tni_schedule_workers(job, &p);
    return p;
}
