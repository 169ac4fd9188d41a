/* local.h - what the files of this module share with each other and with no other module. */
#ifndef TNI_RUNTIME_LOCAL_H
#define TNI_RUNTIME_LOCAL_H

#include "runtime.h"

/* ---- env.c ---- */

/* The position in words of the value of an environment variable; -1 when it is unset or none
 * of them. */
int tni_env_word(const char *name, const char *const *words, int n);

/* The value of an environment variable as a whole number; fallback when it is unset or is not
 * one. */
int64_t tni_env_number(const char *name, int64_t fallback);

/* ---- cache.c ---- */

/* Ask the machine for its caches. */
tni_caches tni_caches_detect(void);

/* ---- threads.c ---- */

/* Threads of the back end when nobody asks for a number. */
int tni_team_default(void);

/* The calling thread is inside an active parallel region, its own or the caller's. */
bool tni_team_inside(void);

/* There is no team: compiled without OpenMP, or a forked child of a threaded parent. */
bool tni_team_alone(void);

/* Work of this many bytes is done sooner by the team, as far as its last regions show. */
bool tni_team_pays(int64_t bytes);

/* Run body for each part in [0, parts) on up to threads >= 1 threads. */
void tni_team_run(int parts, int threads, void (*body)(void *arg, int part), void *arg);

#endif
