/* local.h - what the files of this module share with each other and with no other module. */
#ifndef TNI_RUNTIME_LOCAL_H
#define TNI_RUNTIME_LOCAL_H

#include "runtime.h"

/* ---- env.c ---- */

/* The index in words of an environment variable's value; -1 if it is unset or not among
 * them. */
int tni_env_word(const char *name, const char *const *words, int n);

/* The value of an environment variable as an unsigned integer; fallback if it is unset or not
 * an integer. */
int64_t tni_env_number(const char *name, int64_t fallback);

/* ---- cache.c ---- */

/* Detect the caches of this machine. */
tni_caches tni_caches_detect(void);

/* ---- threads.c ---- */

/* The number of threads that the back end uses by default. */
int tni_team_default(void);

/* Whether the calling thread is inside an active parallel region, the library's or the
 * user's. */
bool tni_team_inside(void);

/* Whether there is no team: the library was compiled without OpenMP, or this is a forked child
 * of a threaded parent. */
bool tni_team_alone(void);

/* Whether the team finishes work of this many bytes sooner than one thread, judged by its last
 * regions. */
bool tni_team_pays(int64_t bytes);

/* Run body for each part in [0, parts) on up to threads >= 1 threads. */
void tni_team_run(int parts, int threads, void (*body)(void *arg, int part), void *arg);

#endif
