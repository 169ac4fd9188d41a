/* queue_threads.c - reads in flight by threads, for kernels that lack or forbid io_uring. */
#include <errno.h>
#include <pthread.h>

#include "queue.h"
#include "sys.h"

enum { READERS = 16 }; /* enough for two thirds of the rate that io_uring reaches */

typedef struct list {
    tni_request *first, **last;
} list;

typedef struct readers {
    pthread_t ids[READERS];
    int started;
    bool stop;
    list todo, done;
    pthread_mutex_t lock;
    pthread_cond_t more, finished;
} readers;

static void push(list *l, tni_request *r)
{
    r->next = NULL;
    *l->last = r;
    l->last = &r->next;
}

static tni_request *pop(list *l)
{
    tni_request *r = l->first;
    l->first = r->next;
    if (!l->first)
        l->last = &l->first;
    return r;
}

static void *reader(void *own)
{
    readers *t = own;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->todo.first && !t->stop)
            pthread_cond_wait(&t->more, &t->lock);
        if (!t->todo.first)
            break;
        tni_request *r = pop(&t->todo);
        pthread_mutex_unlock(&t->lock);
        size_t got = 0;
        int error = tni_sys_pread(r->fd, r->slot, (size_t)r->bytes, r->at, &got);
        r->result = error ? -error : (int64_t)got;
        pthread_mutex_lock(&t->lock);
        push(&t->done, r);
        pthread_cond_signal(&t->finished);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void threads_close(void *own)
{
    readers *t = own;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->more);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->started; i++)
        pthread_join(t->ids[i], NULL);
    pthread_cond_destroy(&t->finished);
    pthread_cond_destroy(&t->more);
    pthread_mutex_destroy(&t->lock);
    tni_free(t);
}

static void *threads_open(void)
{
    readers *t = tni_alloc(sizeof *t);
    if (!t)
        return NULL;
    *t = (readers){0};
    t->todo.last = &t->todo.first;
    t->done.last = &t->done.first;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->more, NULL);
    pthread_cond_init(&t->finished, NULL);
    while (t->started < READERS && pthread_create(&t->ids[t->started], NULL, reader, t) == 0)
        t->started++;
    if (t->started)
        return t;
    threads_close(t);
    return NULL;
}

static void threads_submit(void *own, tni_request *r)
{
    readers *t = own;
    pthread_mutex_lock(&t->lock);
    push(&t->todo, r);
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
}

static tni_request *threads_reap(void *own, int least)
{
    readers *t = own;
    (void)least;
    pthread_mutex_lock(&t->lock);
    while (!t->done.first)
        pthread_cond_wait(&t->finished, &t->lock);
    tni_request *complete = t->done.first;
    t->done = (list){0};
    t->done.last = &t->done.first;
    pthread_mutex_unlock(&t->lock);
    return complete;
}

const tni_queue_ops tni_queue_threads = {"threads",      true,         threads_open,
                                         threads_submit, threads_reap, threads_close};
