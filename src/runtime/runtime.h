/* runtime.h - what machine is this?  CPU features, caches, threads, the current handle. */
#ifndef TNI_RUNTIME_H
#define TNI_RUNTIME_H

#include <tenon/runtime.h>

#include "core/core.h"

/* The level in use, a tni_isa: the best the CPU and the system have, or what TENON_ISA asks for
 * if they have it.  Read once. */
int tni_isa_level(void);

/* The CPU multiplies pairs of bf16 (AVX512_BF16), and the level in use is avx512. */
bool tni_cpu_bf16(void);

/* Bytes of the caches that one thread sees, read once; sensible guesses where the system does
 * not say.  stream is the size of an output above which streaming stores pay.  prefetch_dst: in
 * a cache, lines are prefetched before they are written. */
typedef struct tni_caches {
    int64_t l1, l2, l3, stream;
    bool prefetch_dst;
} tni_caches;
const tni_caches *tni_cache_sizes(void);

/* Numbers that a machine may be measured for (tune.c): from a file, or the defaults. */
typedef enum tni_tuned_number {
    TNI_ROWS_DIRECT, /* bytes of rows that are streamed one by one */
    TNI_LINE_PIECE,  /* bytes of a source row in a tile of aligned lines */
    TNI_CARRIED_RUN, /* units of a run from which aligned lines are carried over listed rows */
    TNI_TUNED
} tni_tuned_number;

int64_t tni_tuned(tni_tuned_number which);
const char *tni_tuned_name(tni_tuned_number which);
void tni_tune_set(tni_tuned_number which, int64_t value);

/* Look for the file, at the first question. */
void tni_tune_first(void);

/* Threads that work of the calling thread may use: 1 inside a parallel region and in a forked
 * child of a threaded parent when the back end cannot restart. */
int tni_threads(void);

/* Whether work that reads and writes this many bytes, and begins now, is done sooner by several of
 * them: always with an executor of the user's; with OpenMP when there is much of it, or when
 * parallel regions have been cheap a moment ago. */
bool tni_threads_pay(int64_t bytes);

/* Run body once for each part in [0, parts), on the calling thread's handle: its executor, or
 * OpenMP, or one after the other.  parts 1 is a plain call. */
void tni_parallel(int parts, void (*body)(void *arg, int part), void *arg);

#endif
