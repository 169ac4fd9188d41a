/* queue.c - reads in flight: slots of memory, block alignment, failed reads.
 *
 * Direct I/O needs offsets and addresses that are multiples of the device's block, so each read
 * has a slot of its own, from which its bytes are copied: in cache, at ten times the rate of a
 * disk.  A short or failed read is repeated by tni_file_bytes, which sets the error message. */
#include <stdlib.h>
#include <string.h>

#include "queue.h"
#include "sys.h"

/* Maximum bytes of one read: longer ones are no faster and need longer slots. */
enum { LONGEST = 1 << 20 };

const char *tni_queue_prefer;

struct tni_queue {
    const tni_queue_ops *ops;
    void *own;
    const tn_file *file; /* the file that fd and block belong to */
    int fd;              /* opened with O_DIRECT; -1: refused */
    int64_t block;
    char *memory, *aligned;
    int64_t slot; /* size of one slot in bytes */
    tni_request requests[TNI_QUEUE_DEPTH], *idle;
    int count, flying;
};

static const tni_queue_ops *const ways[] = {
#ifdef TENON_URING
    &tni_queue_uring,
#endif
    &tni_queue_threads,
};

tn_status tni_queue_open(tni_queue **out, bool threads)
{
    tni_queue *q = tni_alloc(sizeof *q);
    char *memory = q ? tni_alloc(TNI_QUEUE_BYTES + TNI_DISK_BLOCK) : NULL;
    if (!memory) {
        tni_free(q);
        return tni_fail(TN_ENOMEM, "stream: cannot allocate memory for reads of %d bytes",
                        TNI_QUEUE_BYTES);
    }
    *q = (tni_queue){.memory = memory, .fd = -1};
    q->aligned = memory + (-(uintptr_t)memory & (TNI_DISK_BLOCK - 1));
    ASSERT((uintptr_t)q->aligned % TNI_DISK_BLOCK == 0);
    for (int i = 0; i < COUNT(ways) && !q->own; i++) {
        if ((ways[i]->threads && !threads) ||
            (tni_queue_prefer && strcmp(tni_queue_prefer, ways[i]->name) != 0))
            continue;
        q->ops = ways[i];
        q->own = q->ops->open();
    }
    if (!q->own) {
        tni_queue_close(q);
        return tni_fail(
            TN_ENOMEM,
            "stream: cannot queue reads: neither io_uring nor threads are available");
    }
    *out = q;
    return TN_OK;
}

const char *tni_queue_way(const tni_queue *q)
{
    return q->ops->name;
}

bool tni_queue_is_direct(const tni_queue *q)
{
    return q->fd >= 0;
}

/* Divide the memory into slots of at least `bytes`; nothing may be in flight. */
static void queue_shape(tni_queue *q, int64_t bytes)
{
    ASSERT(q->flying == 0);
    q->slot = (bytes + TNI_DISK_BLOCK - 1) & -(int64_t)TNI_DISK_BLOCK;
    q->count = (int)(TNI_QUEUE_BYTES / q->slot);
    q->count = q->count < TNI_QUEUE_DEPTH ? q->count : TNI_QUEUE_DEPTH;
    q->idle = NULL;
    for (int i = 0; i < q->count; i++) {
        q->requests[i] = (tni_request){.slot = q->aligned + i * q->slot, .next = q->idle};
        q->idle = &q->requests[i];
    }
}

static void forget_file(tni_queue *q)
{
    if (q->fd >= 0)
        (void)tni_sys_close(q->fd);
    else if (q->file)
        tni_sys_advise(q->file->fd, TNI_NORMAL, 0, 0);
    q->fd = -1;
    q->file = NULL;
}

static void use_file(tni_queue *q, const tn_file *f)
{
    if (q->file == f)
        return;
    ASSERT(q->flying == 0);
    forget_file(q);
    q->file = f;
    if (tni_sys_direct(f->fd, &q->fd, &q->block) != 0) {
        q->fd = -1;
        q->block = 1;
        tni_sys_advise(f->fd, TNI_RANDOM, 0, 0); /* reads are short: read-ahead is useless */
    }
}

static void queue_finish(tni_queue *q, tni_request *r)
{
    tni_reads *b = r->batch;
    q->flying--;
    b->left--;
    if (r->result >= r->skip + r->n) {
        memcpy(r->to, r->slot + r->skip, (size_t)r->n);
    } else {
        tn_status status = tni_file_bytes(q->file, r->to, r->n, r->at + r->skip);
        b->status = b->status == TN_OK ? status : b->status;
    }
    r->next = q->idle;
    q->idle = r;
}

/* Complete at least `least` of the reads in flight: several at a time, because each wait is a
 * system call. */
static void reap(tni_queue *q, int64_t least)
{
    tni_request *r = q->ops->reap(q->own, (int)(least < q->flying ? least : q->flying));
    while (r) {
        tni_request *next = r->next;
        queue_finish(q, r);
        r = next;
    }
}

static void queue_add(tni_queue *q, char *to, int64_t n, int64_t at, tni_reads *batch)
{
    while (!q->idle)
        reap(q, q->count / 4);
    tni_request *r = q->idle;
    q->idle = r->next;
    r->fd = q->fd >= 0 ? q->fd : q->file->fd;
    r->skip = at % q->block;
    r->at = at - r->skip;
    r->bytes = tni_round_up(r->skip + n, q->block);
    r->to = to;
    r->n = n;
    r->batch = batch;
    ASSERT(r->bytes <= q->slot);
    q->flying++;
    batch->left++;
    q->ops->submit(q->own, r);
}

tn_status tni_queue_read(tni_queue *q, const tn_file *f, char *to, int64_t n, int64_t at,
                         tni_reads *batch)
{
    const int64_t piece = n < LONGEST ? n : LONGEST;
    use_file(q, f);
    if (q->slot < piece + 2 * TNI_DISK_BLOCK) {
        while (q->flying > 0)
            reap(q, q->flying);
        queue_shape(q, piece + 2 * TNI_DISK_BLOCK);
    }
    for (int64_t done = 0; done < n; done += LONGEST)
        queue_add(q, to + done, n - done < LONGEST ? n - done : LONGEST, at + done, batch);
    return batch->status;
}

tn_status tni_queue_wait(tni_queue *q, tni_reads *batch)
{
    while (batch->left > 0)
        reap(q, batch->left < q->count / 4 ? batch->left : q->count / 4);
    return batch->status;
}

void tni_queue_close(tni_queue *q)
{
    if (!q)
        return;
    while (q->flying > 0)
        reap(q, q->flying);
    forget_file(q);
    if (q->own)
        q->ops->close(q->own);
    tni_free(q->memory);
    tni_free(q);
}
