/* blocks.c - results made block by block, by several threads, and written in order.
 *
 * A block is a run of rows of the result: some leading axes at one index, one axis in a range,
 * the rest whole.  Only what a block needs is read, so memory is bounded whatever the files.
 * Workers make blocks ahead; the calling thread writes them.  Every message is the caller's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"

enum {
    STAGE = 4 << 20,     /* what tn_file_fetch holds */
    SMALLEST = 64 << 10, /* of a block */
    USUAL = 8 << 20,     /* of a block whose reads are long anyway */
    LEAST = 256 << 20,   /* of memory that is taken unasked */
    LONG_READ = 8 << 10, /* bytes that a read should have */
    MOST_THREADS = 16
};

/* ---- the order of blocks ---- */

typedef struct walk {
    int ndim, cut; /* axes before cut are walked, cut itself in ranges */
    int64_t shape[TN_MAX_NDIM], range;
    block b;
    bool done;
} walk;

static void set_block(walk *w)
{
    for (int i = 0; i < w->ndim; i++)
        w->b.n[i] = i < w->cut ? 1 : w->shape[i];
    if (w->cut < 0)
        return;
    int64_t left = w->shape[w->cut] - w->b.at[w->cut];
    w->b.n[w->cut] = left < w->range ? left : w->range;
}

static walk first_block(const recipe *r, int64_t elements)
{
    walk w = {.ndim = r->ndim, .cut = r->ndim - 1, .range = 1};
    int64_t inside = 1;
    memcpy(w.shape, r->shape, sizeof w.shape);
    w.done = tn_numel(&r->out) == 0;
    while (!w.done && w.cut > 0 && inside <= elements / w.shape[w.cut])
        inside *= w.shape[w.cut--];
    if (elements > inside)
        w.range = elements / inside;
    set_block(&w);
    return w;
}

static void next_block(walk *w)
{
    int i = w->cut;
    if (i >= 0)
        w->b.at[i] += w->b.n[i];
    while (i >= 0 && w->b.at[i] >= w->shape[i]) {
        w->b.at[i--] = 0;
        if (i >= 0)
            w->b.at[i]++;
    }
    w->done = i < 0;
    set_block(w);
}

/* ---- sizes ---- */

static int thread_count(void)
{
    const char *asked = getenv("OMP_NUM_THREADS");
    long n = asked && atol(asked) > 0 ? atol(asked) : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
}

/* A quarter of the machine's memory; only views that are turned far take so much. */
static int64_t quarter(void)
{
    int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) / 4 * sysconf(_SC_PAGESIZE);
    return bytes > LEAST ? bytes : LEAST;
}

int64_t most_memory(const args *a)
{
    return a->max_mem ? a->max_mem : quarter();
}

/* Bytes that lie beside each other in the file among those that one block takes from view. */
static int64_t run_length(const tn_tensor *view, const int64_t *n)
{
    int64_t run = (int64_t)tn_dtype_size(view->dtype);
    for (;;) {
        int next = -1;
        for (int i = 0; i < view->ndim && next < 0; i++)
            if (n[i] > 1 && llabs(view->stride[i]) == run)
                next = i;
        if (next < 0)
            return run;
        run *= n[next];
        if (n[next] < view->shape[next])
            return run;
    }
}

/* Whether blocks of so many elements are read in long runs: a turned view takes few neighbours
 * for each row of the result, and more rows at a time make longer runs. */
static bool reads_long(const recipe *r, int64_t elements)
{
    walk w = first_block(r, elements);
    for (int i = 0; i < r->n && i < 8; i++) {
        const tn_tensor *v = &r->pieces[i].view;
        int64_t run = run_length(v, w.b.n), all = run_length(v, v->shape);
        if (run < LONG_READ && run < all)
            return false;
    }
    return true;
}

/* Blocks in memory at once, and elements of each. */
typedef struct plan {
    int threads, slots;
    int64_t elements;
} plan;

static plan make_plan(const recipe *r, const args *a)
{
    int64_t bytes = recipe_element_bytes(r), numel = tn_numel(&r->out);
    int64_t budget = most_memory(a);
    plan p = {.threads = thread_count()};
    while (p.threads > 1 && budget / p.threads < 4 * (int64_t)STAGE)
        p.threads--;
    p.slots = p.threads > 1 ? p.threads + 1 : 1;
    int64_t room = (budget - p.threads * (int64_t)STAGE) / p.slots;
    int64_t most = (room > SMALLEST ? room : SMALLEST) / bytes;
    p.elements = USUAL / bytes;
    while (p.elements < most && p.elements < numel && !reads_long(r, p.elements))
        p.elements *= 2;
    p.elements = p.elements < most ? p.elements : most;
    if (p.elements >= numel) {
        p.elements = numel > 0 ? numel : 1;
        p.threads = p.slots = 1;
    }
    return p;
}

int64_t recipe_memory(const recipe *r, const args *a)
{
    plan p = make_plan(r, a);
    return p.threads * (int64_t)STAGE + p.slots * p.elements * recipe_element_bytes(r);
}

/* ---- making and writing ---- */

typedef struct slot {
    char *result, *scratch;
    tn_tensor out;
    block b;
    enum { EMPTY, WAITS, READY } state;
    tn_status status;
    char why[512];
} slot;

typedef struct pool {
    const recipe *r;
    slot *slots;
    int n;
    int64_t next;  /* number of the next block to make */
    int64_t known; /* blocks that have been put into slots */
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pool;

static void make(const recipe *r, slot *s)
{
    s->status = tn_init(&s->out, s->result, r->out.dtype, r->ndim, s->b.n);
    if (s->status == TN_OK)
        s->status = recipe_make(r, &s->b, &s->out, s->scratch);
    if (s->status != TN_OK)
        strncpy(s->why, tn_error(), sizeof s->why - 1);
}

/* A worker computes alone: the blocks are the parallel part. */
static void *work(void *user)
{
    pool *p = user;
    tn_handle *h = NULL;
    tn_config config = {.threads = 1};
    if (tn_handle_create(&h, TN_CPU, 0, &config) == TN_OK && tn_handle_use(h) != TN_OK)
        h = NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        if (p->next == p->known) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        slot *s = &p->slots[p->next++ % p->n];
        pthread_mutex_unlock(&p->lock);
        make(p->r, s);
        pthread_mutex_lock(&p->lock);
        s->state = READY;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    tn_handle_destroy(h);
    return NULL;
}

static int write_slot(slot *s, tn_writer *w)
{
    if (s->status != TN_OK)
        return fail("%s", s->why);
    LIB(tn_writer_put(w, &s->out));
    progress_step(tn_nbytes(&s->out));
    return DONE;
}

/* Keep every slot busy; write the oldest when it is ready. */
static int run_pool(pool *p, walk w, tn_writer *writer)
{
    int code = DONE;
    int64_t written = 0;
    pthread_mutex_lock(&p->lock);
    while (code == DONE && (!w.done || written < p->known)) {
        while (!w.done && p->known - written < p->n) {
            slot *s = &p->slots[p->known % p->n];
            s->b = w.b;
            s->state = WAITS;
            p->known++;
            next_block(&w);
        }
        pthread_cond_broadcast(&p->changed);
        slot *oldest = &p->slots[written % p->n];
        while (oldest->state != READY)
            pthread_cond_wait(&p->changed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        code = write_slot(oldest, writer);
        pthread_mutex_lock(&p->lock);
        written++;
    }
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return code;
}

static int run_alone(const recipe *r, slot *s, walk w, tn_writer *writer)
{
    for (; !w.done; next_block(&w)) {
        s->b = w.b;
        make(r, s);
        TRY(write_slot(s, writer));
    }
    return DONE;
}

static int run_threads(const recipe *r, const plan *p, slot *slots, tn_writer *writer)
{
    pthread_t threads[MOST_THREADS];
    int started = 0;
    pool pl = {.r = r, .slots = slots, .n = p->slots};
    walk w = first_block(r, p->elements);
    if (p->threads > 1) {
        pthread_mutex_init(&pl.lock, NULL);
        pthread_cond_init(&pl.changed, NULL);
        while (started < p->threads && pthread_create(&threads[started], NULL, work, &pl) == 0)
            started++;
    }
    int code = started ? run_pool(&pl, w, writer) : run_alone(r, slots, w, writer);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return code;
}

/* Large pages: the blocks are touched once each, and turned across. */
static void advise(char *at, int64_t n)
{
    const uintptr_t page = 2 << 20;
    uintptr_t first = ((uintptr_t)at + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)at + (uintptr_t)n) & ~(page - 1);
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
}

int recipe_run(const recipe *r, const args *a, tn_writer *w)
{
    plan p = make_plan(r, a);
    int64_t result = p.elements * (int64_t)tn_dtype_size(r->out.dtype);
    int64_t each = ((p.elements * recipe_element_bytes(r) + 63) & ~INT64_C(63)) + 5 * 64;
    int64_t all = each * p.slots;
    tn_tensor memory;
    slot *slots = calloc((size_t)p.slots, sizeof *slots);
    if (!slots || tn_alloc(&memory, TN_U8, 1, &all) != TN_OK) {
        free(slots);
        return fail("no memory for blocks of %lld bytes", (long long)all);
    }
    advise(memory.data, all);
    for (int i = 0; i < p.slots; i++) {
        slots[i].result = (char *)memory.data + each * i;
        slots[i].scratch = slots[i].result + ((result + 63) & ~INT64_C(63));
    }
    int code = run_threads(r, &p, slots, w);
    tn_free(&memory);
    free(slots);
    return code;
}
