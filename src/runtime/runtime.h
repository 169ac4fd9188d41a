/* runtime.h - what machine is this?  CPU features, caches, threads, the current handle. */
#ifndef TNI_RUNTIME_H
#define TNI_RUNTIME_H

#include <tenon/runtime.h>

#include "core/core.h"

/* The level in use, a tni_isa: the best that the CPU and the system support, or the lower one
 * that TENON_ISA names.  Determined once. */
int tni_isa_level(void);

/* Whether the CPU has AVX512_BF16 (dot products of bf16) and the level in use is avx512. */
bool tni_cpu_bf16(void);

/* The sizes in bytes of the caches that one thread sees, determined once, with plausible
 * guesses where the system does not report them.  stream is the size of an output above which
 * streaming stores pay.  prefetch_dst: prefetching a line before an ordinary store into it
 * pays. */
typedef struct tni_caches {
    int64_t l1, l2, l3, stream;
    bool prefetch_dst;
} tni_caches;
const tni_caches *tni_cache_sizes(void);

/* Tuning parameters (tune.c): measured on the machine and read from a file, or the defaults. */
typedef enum tni_tuned_number {
    TNI_ROWS_DIRECT, /* bytes from which rows are streamed one by one */
    TNI_LINE_PIECE,  /* bytes of a source row in a tile of aligned lines */
    TNI_CARRIED_RUN, /* units of a run from which carrying may beat aligned lines; half or four
                         times as many if L1 does not hold the source rows */
    TNI_TUNED
} tni_tuned_number;

int64_t tni_tuned(tni_tuned_number which);
const char *tni_tuned_name(tni_tuned_number which);
void tni_tune_set(tni_tuned_number which, int64_t value);

/* Load the file, if there is one; the first call of tni_tuned does so. */
void tni_tune_first(void);

/* The number of threads that work of the calling thread may use.  It is 1 inside a parallel
 * region and, without an executor, where there is no OpenMP team: compiled without, or a forked
 * child of a threaded parent. */
int tni_threads(void);

/* Whether the calling thread may start threads besides a team: not inside a parallel region,
 * not without a team, and not on a handle with an executor, whose threads are the only ones. */
bool tni_may_start_threads(void);

/* Create a handle for threads that work for the calling one: its allocator, one thread, and no
 * executor.  TN_ENOMEM. */
tn_status tni_handle_for_workers(tn_handle **h);

/* Whether several threads finish work that reads and writes this many bytes sooner than one.
 * With the user's executor they always do; with OpenMP, if there is much work or if the last
 * parallel regions were recent and cheap. */
bool tni_threads_pay(int64_t bytes);

/* Run body once for each part in [0, parts) on the calling thread's handle: by its executor, by
 * OpenMP, or one part after the other.  A single part is a plain call. */
void tni_parallel(int parts, void (*body)(void *arg, int part), void *arg);

#endif
