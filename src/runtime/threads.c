/* threads.c - the team: the one file that knows OpenMP.
 *
 * Compiled without OpenMP it is a team of one.  A team does not survive fork: a child of a
 * threaded parent works alone, because libgomp would wait for threads that the child does not
 * have. */
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

/* Registered at load: a parent's team may be there before this library does any work. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, NULL, in_child);
}

/* OMP_NUM_THREADS or the cores this process may use, as OpenMP says at the first question. */
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

/* Workers that spin start within 2 us; those that sleep are woken in 40 to 70 (AMD Zen 4, libgomp).
 * libgomp lets them spin for some 100 us after their last work unless it is set to be passive. */
enum { AWAKE_NS = 15000, SPIN_NS = 200000 };

static atomic_int_least64_t last_end, last_wake;

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Every 256th question is answered by yes, so that calls which follow each other find out that
 * workers spin.  TENON_WAKE=0 says always yes, which tests of threads want. */
bool tni_team_awake(void)
{
    static atomic_int asked, always;
    const int64_t end = atomic_load_explicit(&last_end, memory_order_relaxed);
    if (end && atomic_load_explicit(&last_wake, memory_order_relaxed) < AWAKE_NS &&
        nanoseconds() - end < SPIN_NS)
        return true;
    if (atomic_load_explicit(&always, memory_order_relaxed) == 0)
        atomic_store_explicit(&always, tni_env_number("TENON_WAKE", 1) == 0 ? 1 : -1,
                              memory_order_relaxed);
    return atomic_load_explicit(&always, memory_order_relaxed) > 0 ||
           atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) % 256 == 255;
}

/* Thread t begins with part t, so that a repeated call finds its data in the same caches; the
 * parts beyond the team go to whoever is free. */
void tni_team_run(int parts, int threads, void (*body)(void *arg, int part), void *arg)
{
    atomic_int next = 0;
    const int64_t begin = nanoseconds();
#pragma omp parallel num_threads(threads < parts ? threads : parts)
    {
        const int team = omp_get_num_threads();
        if (omp_get_thread_num() == 1)
            atomic_store_explicit(&last_wake, nanoseconds() - begin, memory_order_relaxed);
        for (int part = omp_get_thread_num(); part < parts;
             part = team + atomic_fetch_add_explicit(&next, 1, memory_order_relaxed))
            body(arg, part);
    }
    atomic_store_explicit(&last_end, nanoseconds(), memory_order_relaxed);
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

bool tni_team_awake(void)
{
    return false;
}

void tni_team_run(int parts, int threads, void (*body)(void *arg, int part), void *arg)
{
    (void)threads;
    for (int part = 0; part < parts; part++)
        body(arg, part);
}

#endif
