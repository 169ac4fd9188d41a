/* stream_sort.h - what the sources of the sort recipe share. */
#ifndef TNI_STREAM_SORT_H
#define TNI_STREAM_SORT_H

#include "stream.h"

typedef struct tni_sorting {
    const tn_stream *job;
    const tn_stream_sort *args;
    tn_stream_source source; /* of the sequences */
    int dim;                 /* their axis */
    int64_t n;               /* elements of a sequence */
    int64_t most;            /* maximum elements that are sorted at once */
    bool temp;               /* the result is sorted into a temporary file */
    int pass;                /* of two if temp is set, for progress */
} tni_sorting;

/* Report the progress of the current pass to the job; user is a tni_sorting. */
tn_status tni_sort_progress(void *user, int64_t done, int64_t total);

/* Sort the sequences, which are along the last axis and longer than s->most, into `to`, in
 * ascending order; with TN_DESCENDING the caller has reversed them, and indices count from the
 * end. */
tn_status tni_sort_merged(tni_sorting *s, tni_temp *to);

#endif
