/* queue_uring.c - reads in flight by io_uring: the kernel takes them from a submission ring. */
#ifdef TENON_URING
#include <errno.h>
#include <liburing.h>

#include "queue.h"
#include "sys.h"

/* A read of this many bytes is submitted at once: queues have few slots of this size, and the
 * disk would be idle while such reads were collected. */
enum { LONG_ENOUGH = 256 << 10 };

typedef struct uring {
    struct io_uring ring;
    int waiting; /* prepared but not submitted */
    tni_request *failed;
} uring;

static void *uring_open(void)
{
    uring *u = tni_sys_ask("io_uring", NULL) ? NULL : tni_alloc(sizeof *u);
    if (!u)
        return NULL;
    *u = (uring){0};
    if (io_uring_queue_init(TNI_QUEUE_DEPTH, &u->ring, 0) == 0)
        return u;
    tni_free(u);
    return NULL;
}

static void uring_submit(void *own, tni_request *r)
{
    uring *u = own;
    struct io_uring_sqe *sqe = tni_sys_ask("pread", NULL) ? NULL : io_uring_get_sqe(&u->ring);
    if (!sqe) { /* the ring is as deep as the queue, so only the test hook fails */
        r->result = -EIO;
        r->next = u->failed;
        u->failed = r;
        return;
    }
    io_uring_prep_read(sqe, r->fd, r->slot, (unsigned)r->bytes, (uint64_t)r->at);
    io_uring_sqe_set_data(sqe, r);
    u->waiting++;
    if (u->waiting >= TNI_QUEUE_DEPTH / 4 || r->bytes >= LONG_ENOUGH) {
        io_uring_submit(&u->ring);
        u->waiting = 0;
    }
}

static tni_request *uring_reap(void *own, int least)
{
    uring *u = own;
    tni_request *list = u->failed;
    u->failed = NULL;
    if (list)
        return list;
    struct io_uring_cqe *cqes[TNI_QUEUE_DEPTH];
    unsigned n = 0;
    u->waiting = 0;
    while (n == 0) { /* retry if a signal interrupts the wait */
        (void)io_uring_submit_and_wait(&u->ring, (unsigned)least);
        n = io_uring_peek_batch_cqe(&u->ring, cqes, TNI_QUEUE_DEPTH);
    }
    for (unsigned i = 0; i < n; i++) {
        tni_request *r = io_uring_cqe_get_data(cqes[i]);
        r->result = cqes[i]->res;
        r->next = list;
        list = r;
    }
    io_uring_cq_advance(&u->ring, n);
    return list;
}

static void uring_close(void *own)
{
    uring *u = own;
    io_uring_queue_exit(&u->ring);
    tni_free(u);
}

const tni_queue_ops tni_queue_uring = {"io_uring",   false,      uring_open,
                                       uring_submit, uring_reap, uring_close};
#else
typedef int tni_queue_uring_is_off; /* ISO C forbids an empty translation unit */
#endif
