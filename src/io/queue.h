/* queue.h - how reads in flight are carried out: the ways of a queue. */
#ifndef TNI_QUEUE_H
#define TNI_QUEUE_H

#include "io.h"

/* One read: `bytes` at `at` of fd into slot; result is the bytes read or a negative errno. */
typedef struct tni_request {
    int fd;
    char *slot;
    int64_t at, bytes, result;
    struct tni_request *next;
    /* what the queue makes of it */
    char *to;
    int64_t skip, n;
    tni_reads *batch;
} tni_request;

typedef struct tni_queue_ops {
    const char *name;
    void *(*open)(void); /* NULL: refused by the system */
    void (*submit)(void *own, tni_request *r);
    /* Wait until `least` are complete; gives complete ones, at least one, as a list. */
    tni_request *(*reap)(void *own, int least);
    void (*close)(void *own); /* nothing is in flight */
} tni_queue_ops;

extern const tni_queue_ops tni_queue_uring, tni_queue_threads;

#endif
