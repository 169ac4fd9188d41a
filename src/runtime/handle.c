/* handle.c - device handles, the calling thread's current handle, and parallel work on it.
 *
 * A handle is immutable after creation.  Parallel work does not nest: whatever a part calls
 * runs on the part's thread.  An executor decides itself what a forked child can do. */
#include <unistd.h>

#include "local.h"

/* A bound on what a mistaken configuration or OMP_NUM_THREADS starts, above the cores of the
 * machines that kernels are compiled for; not measured. */
enum { MOST_THREADS = 1024 };

struct tn_handle {
    tn_config config;
};

/* A few thread-local bytes that every call reads: this model reaches them with one
 * instruction. */
#if defined(__GNUC__)
#define NEAR __attribute__((tls_model("initial-exec")))
#else
#define NEAR
#endif
static _Thread_local const tn_handle *current NEAR; /* NULL: the default handle */
static _Thread_local bool in_part NEAR;

tn_status tn_handle_create(tn_handle **h, tn_device device, int device_id,
                           const tn_config *config)
{
    if (!h)
        return tni_fail(TN_ENULL, "handle_create: h is NULL");
    tn_config c = config ? *config : (tn_config){0};
    if (c.threads < 0)
        return tni_fail(TN_EARG, "handle_create: threads is %d, expected at least 0",
                        c.threads);
    if (!c.alloc != !c.free)
        return tni_fail(TN_EARG,
                        "handle_create: alloc and free must be given together, %s is NULL",
                        c.alloc ? "free" : "alloc");
    for (int i = 0; i < COUNT(c.reserved); i++)
        if (c.reserved[i])
            return tni_fail(TN_EARG, "handle_create: reserved[%d] is not NULL", i);
    if (device != TN_CPU || device_id != 0)
        return tni_fail(TN_EDEVICE,
                        "handle_create: got device %d with id %d, expected %d with id 0",
                        (int)device, device_id, (int)TN_CPU);

    tn_handle *made = tni_alloc(sizeof *made);
    if (!made)
        return tni_fail(TN_ENOMEM, "handle_create: cannot allocate %zu bytes", sizeof *made);
    made->config = c;
    if (c.parallel_for && !c.threads)
        made->config.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (made->config.threads > MOST_THREADS)
        made->config.threads = MOST_THREADS;
    *h = made;
    return TN_OK;
}

tn_status tni_handle_for_workers(tn_handle **h)
{
    tn_config c = current ? current->config : (tn_config){0};
    c.threads = 1;
    c.parallel_for = NULL;
    return tn_handle_create(h, TN_CPU, 0, &c);
}

tn_status tn_handle_use(tn_handle *h)
{
    current = h;
    if (h && h->config.alloc)
        tni_allocator_use(&(tni_allocator){h->config.alloc, h->config.free, h->config.user});
    else
        tni_allocator_use(NULL);
    return TN_OK;
}

void tn_handle_destroy(tn_handle *h)
{
    if (!h)
        return;
    if (h == current) {
        current = NULL;
        tni_allocator_use(NULL);
    }
    tni_free(h);
}

tn_status tn_handle_device(const tn_handle *h, tn_device *device, int *device_id)
{
    if (!h || !device || !device_id)
        return tni_fail(TN_ENULL, "handle_device: %s is NULL",
                        !h        ? "h"
                        : !device ? "device"
                                  : "device_id");
    *device = TN_CPU;
    *device_id = 0;
    return TN_OK;
}

int tni_threads(void)
{
    if (in_part || tni_team_inside())
        return 1;
    if (tni_team_alone() && !(current && current->config.parallel_for))
        return 1;
    if (current && current->config.threads > 0)
        return current->config.threads;
    int n = tni_team_default();
    return n > MOST_THREADS ? MOST_THREADS : n;
}

bool tni_may_start_threads(void)
{
    return !in_part && !tni_team_inside() && !tni_team_alone() &&
           !(current && current->config.parallel_for);
}

bool tni_threads_pay(int64_t bytes)
{
    return (current && current->config.parallel_for) || tni_team_pays(bytes);
}

typedef struct job {
    void (*body)(void *arg, int part);
    void *arg;
} job;

static void handle_run_part(void *arg, int part)
{
    const job *j = arg;
    bool before = in_part;
    in_part = true;
    j->body(j->arg, part);
    in_part = before;
}

void tni_parallel(int parts, void (*body)(void *arg, int part), void *arg)
{
    int threads = parts > 1 ? tni_threads() : 1;
    if (threads <= 1) {
        for (int part = 0; part < parts; part++)
            body(arg, part);
        return;
    }
    job j = {body, arg};
    if (current && current->config.parallel_for)
        current->config.parallel_for(current->config.user, parts, handle_run_part, &j);
    else
        tni_team_run(parts, threads, handle_run_part, &j);
}
