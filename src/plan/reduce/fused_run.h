/* fused_run.h - declarations that the files that run fused reductions share. */
#ifndef TNI_FUSED_RUN_H
#define TNI_FUSED_RUN_H

#include "fold_run.h"
#include "fused.h"

typedef struct tni_fused_job {
    const tni_fused *u;
    char *dst;
    const char *at[TNI_MAX_SOURCES];
    int parts;
    int64_t items;     /* strips or batches of results */
    int64_t item;      /* the item that is cut into runs */
    int64_t run, runs; /* elements of a run, number of runs */
    tni_word *results; /* the states of the runs */
} tni_fused_job;

/* The state and the buffers of one part. */
typedef struct tni_fused_part {
    const tni_fused_job *j;
    bool first; /* the next strip is the first that runs in the arena */
    tni_walk walk;
    int64_t at; /* number of the element at which walk is */
    int64_t w;  /* sequences of the current item */
    tni_fold_pairs pairs[TNI_MAX_RESULTS];
    char *gather;
    char *values;
    char *arena;
    tni_fold_scratch *scratch;
} tni_fused_part;

/* Position p at element number `at` of the nest. */
void tni_fused_seek(tni_fused_part *p, int64_t at);

/* Compute the values of the next n elements into the buffer, from its element `from` on. */
void tni_fused_fill(tni_fused_part *p, int64_t from, int64_t n);

#endif
