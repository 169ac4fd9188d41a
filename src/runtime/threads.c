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

/* Thread t begins with part t, so that a repeated call finds its data in the same caches; the
 * parts beyond the team go to whoever is free. */
void tni_team_run(int parts, int threads, void (*body)(void *arg, int part), void *arg)
{
    atomic_int next = 0;
#pragma omp parallel num_threads(threads < parts ? threads : parts)
    {
        const int team = omp_get_num_threads();
        for (int part = omp_get_thread_num(); part < parts;
             part = team + atomic_fetch_add_explicit(&next, 1, memory_order_relaxed))
            body(arg, part);
    }
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

void tni_team_run(int parts, int threads, void (*body)(void *arg, int part), void *arg)
{
    (void)threads;
    for (int part = 0; part < parts; part++)
        body(arg, part);
}

#endif
