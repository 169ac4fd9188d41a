/* queue.h - the interface of the queue's ways: how reads in flight are carried out. */
#ifndef TNI_QUEUE_H
#define TNI_QUEUE_H

#include "io.h"

/* One read of `bytes` at offset `at` of fd into slot; result is the bytes read or a negative
 * errno. */
typedef struct tni_request {
    int fd;
    char *slot;
    int64_t at, bytes, result;
    struct tni_request *next;
    /* where the queue copies the bytes */
    char *to;
    int64_t skip, n;
    tni_reads *batch;
} tni_request;

typedef struct tni_queue_ops {
    const char *name;
    bool threads;        /* starts threads */
    void *(*open)(void); /* NULL: refused by the system */
    void (*submit)(void *own, tni_request *r);
    /* Wait until `least` reads are complete; return a list of one or more complete reads. */
    tni_request *(*reap)(void *own, int least);
    void (*close)(void *own); /* nothing is in flight */
} tni_queue_ops;

extern const tni_queue_ops tni_queue_uring, tni_queue_threads;

#endif
