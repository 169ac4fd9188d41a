/* fused_run.h - what the files that run fused reductions share. */
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
    int64_t item;      /* the one that is cut into runs */
    int64_t run, runs; /* elements of a run, number of runs */
    tni_word *results;
} tni_fused_job;

/* What one part works in. */
typedef struct tni_fused_part {
    const tni_fused_job *j;
    bool first; /* whether the arena still lacks what strips share */
    tni_walk walk;
    int64_t at; /* number of the element of the nest at which walk is */
    int64_t w;  /* sequences of the present item */
    tni_fold_pairs pairs[TNI_MAX_RESULTS];
    char *gather;
    char *values;
    char *arena;
    tni_fold_scratch *scratch;
} tni_fused_part;

/* Move to an element of the nest. */
void tni_fused_seek(tni_fused_part *p, int64_t at);

/* Compute the values of the next n elements, from element `from` of the buffer on. */
void tni_fused_fill(tni_fused_part *p, int64_t from, int64_t n);

#endif
