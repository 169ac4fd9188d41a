/* threads.c - the team of threads: the only file that knows OpenMP.
 *
 * Compiled without OpenMP, the team is the calling thread.  A team does not survive fork: a
 * child of a threaded parent works alone, because libgomp would wait for threads that the child
 * does not have. */
#include "local.h"

#ifdef TENON_OPENMP
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define PARENT_IS_THREADED (!__libc_single_threaded)
#endif
#endif
#ifndef PARENT_IS_THREADED
#define PARENT_IS_THREADED true
#endif

static atomic_bool threaded, lost;

static void before_fork(void)
{
    atomic_store_explicit(&threaded, PARENT_IS_THREADED, memory_order_relaxed);
}

static void in_child(void)
{
    if (atomic_load_explicit(&threaded, memory_order_relaxed))
        atomic_store_explicit(&lost, true, memory_order_relaxed);
}

/* Registered at load time: the parent may have a team before this library does any work. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, NULL, in_child);
}

/* OMP_NUM_THREADS, or the number of cores this process may use, as OpenMP reports at the first
 * call. */
int tni_team_default(void)
{
    static atomic_int known;
    int n = atomic_load_explicit(&known, memory_order_relaxed);
    if (UNLIKELY(n == 0)) {
        n = omp_get_max_threads();
        atomic_store_explicit(&known, n, memory_order_relaxed);
    }
    return n;
}

bool tni_team_inside(void)
{
    return omp_in_parallel();
}

bool tni_team_alone(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}

/* When does a second thread pay?  Work on b bytes takes b / RATE ns on one thread and half of
 * that on two, but a parallel region has a cost of its own: about 1 us while workers spin, 9
 * when they have just gone to sleep, 50 to 190 when they have slept for longer (AMD Zen 4, 2
 * vCPUs, libgomp, which lets workers spin for 4 ms unless it is set to be passive).  So the
 * cost is measured, separately for regions that closely follow another (hot) and for those
 * after a pause (cold). */
enum {
    HOT_NS = 1000,    /* the cost of a hot region until it is measured */
    COLD_NS = 70000,  /* the cost of a cold region until it is measured */
    AWAKE_NS = 4000,  /* a region that costs more had to wake its workers */
    BUSY_NS = 300000, /* a region that costs this much found a core busy with other work */
    /* A thread that takes this many times as long as another was held up: another process has
     * its core. */
    HELD_UP = 4,
    RECENT_NS = 2000000, /* the longest pause between regions that count as hot */
    /* Bytes per ns that one core reads and writes in its caches: 95 when it copies or adds, 70
     * to 80 when it transposes. */
    RATE = 80,
    /* Consecutive calls on one thread lose up to half of their time.  The workers are woken
     * when the loss reaches this multiple of the cost of waking them, which adds 1 / 16 to the
     * time of these calls if it does not help, and 1 / 128 if it did not help the last
     * times. */
    EAGER = 8,
    PATIENT = 64,
    /* Each isolated call that does not wake the workers lowers the measured cost of a cold
     * region by this fraction. */
    FORGET = 64
};

static atomic_int_least64_t last_end, last_asked, lost_time, patience = EAGER;
static atomic_int_least64_t hot_cost = HOT_NS, cold_cost = COLD_NS, last_cold = COLD_NS;

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t get(atomic_int_least64_t *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}

static void set(atomic_int_least64_t *x, int64_t value)
{
    atomic_store_explicit(x, value, memory_order_relaxed);
}

static bool always_divide(void)
{
    static atomic_int always;
    int v = atomic_load_explicit(&always, memory_order_relaxed);
    if (UNLIKELY(v == 0)) {
        v = tni_env_number("TENON_WAKE", 1) == 0 ? 1 : -1;
        atomic_store_explicit(&always, v, memory_order_relaxed);
    }
    return v > 0;
}

/* Consecutive small calls add up the time that a second thread would have saved.  When the sum
 * reaches a multiple of the cost of waking the workers, they are woken, and the next calls find
 * them awake. */
bool tni_team_pays(int64_t bytes)
{
    const int64_t saved = bytes / (2 * RATE);
    if (always_divide())
        return true;
    const int64_t now = nanoseconds(), asked = get(&last_asked), cold = get(&cold_cost);
    const bool hot = now - get(&last_end) < RECENT_NS;
    set(&last_asked, now);
    if (saved >= (hot ? get(&hot_cost) : cold))
        return true;
    if (now - asked >= RECENT_NS) { /* workers woken now would sleep again by the next call */
        set(&cold_cost, cold - cold / FORGET);
        return false;
    }
    const int64_t sum = get(&lost_time) + saved;
    const bool enough = sum >= EAGER * cold && sum >= get(&patience) * COLD_NS;
    set(&lost_time, enough ? 0 : sum);
    return enough;
}

/* Update the expected costs with the cost of a region.  A worker that had to be woken also
 * finds cold caches, so that a hot region that woke workers counts twice.  A single cold region
 * says little, whether it was cheap (other regions kept the workers awake) or dear (others had
 * the core): the smaller of the last two costs counts, and halves the expected cost at most. */
static void learn(int64_t cost, bool follows)
{
    const int64_t cold = get(&cold_cost), before = get(&last_cold), times = get(&patience);
    const int64_t less = cost < before ? cost : before;
    const bool awake = cost < AWAKE_NS;
    if (follows) {
        set(&hot_cost, awake ? cost : 2 * cost);
        set(&patience, awake ? EAGER : times < PATIENT ? 2 * times : PATIENT);
    } else {
        set(&cold_cost, less < cold / 2 ? cold / 2 : less);
        set(&last_cold, cost);
        set(&hot_cost, cost < BUSY_NS ? HOT_NS : cost);
    }
}

/* When the threads of a region began and ended. */
typedef struct region_times {
    atomic_int_least64_t begun, done;       /* the latest beginning and end of a thread */
    atomic_int_least64_t shortest, longest; /* time that a thread took */
} region_times;

static void at_least(atomic_int_least64_t *x, int64_t value)
{
    int_least64_t had = get(x);
    while (had < value && !atomic_compare_exchange_weak_explicit(
                              x, &had, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void at_most(atomic_int_least64_t *x, int64_t value)
{
    int_least64_t had = get(x);
    while (had > value && !atomic_compare_exchange_weak_explicit(
                              x, &had, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void thread_done(region_times *r, int64_t begun)
{
    const int64_t now = nanoseconds();
    at_least(&r->begun, begun);
    at_least(&r->done, now);
    at_least(&r->longest, now - begun);
    at_most(&r->shortest, now - begun);
}

/* The cost of a region: the time until its last thread began, the time from the last thread's
 * end to the region's end, and the delay of a thread that was held up. */
static int64_t region_cost(region_times *r, int64_t begin, int64_t end)
{
    const int64_t longest = get(&r->longest), shortest = get(&r->shortest);
    return get(&r->begun) - begin + end - get(&r->done) +
           (longest / HELD_UP > shortest ? longest - shortest : 0);
}

/* Thread t begins with part t, so that a repeated call finds its data in the same caches; any
 * further part goes to the next thread that is free. */
void tni_team_run(int parts, int threads, void (*body)(void *arg, int part), void *arg)
{
    atomic_int next = 0;
    const int64_t begin = nanoseconds();
    region_times times = {begin, begin, INT64_MAX, 0};
#pragma omp parallel num_threads(threads < parts ? threads : parts)
    {
        const int team = omp_get_num_threads();
        const int64_t begun = nanoseconds();
        for (int part = omp_get_thread_num(); part < parts;
             part = team + atomic_fetch_add_explicit(&next, 1, memory_order_relaxed))
            body(arg, part);
        thread_done(&times, begun);
    }
    const int64_t end = nanoseconds();
    learn(region_cost(&times, begin, end), begin - get(&last_end) < RECENT_NS);
    set(&last_end, end);
}

#else

int tni_team_default(void)
{
    return 1;
}

bool tni_team_inside(void)
{
    return false;
}

bool tni_team_alone(void)
{
    return true;
}

bool tni_team_pays(int64_t bytes)
{
    (void)bytes;
    return false;
}

void tni_team_run(int parts, int threads, void (*body)(void *arg, int part), void *arg)
{
    (void)threads;
    for (int part = 0; part < parts; part++)
        body(arg, part);
}

#endif
