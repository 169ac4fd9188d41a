/* stream_sort.h - what the sources of the sort recipe share. */
#ifndef TNI_STREAM_SORT_H
#define TNI_STREAM_SORT_H

#include "stream.h"

typedef struct tni_sorting {
    const tn_stream *job;
    const tn_stream_sort *args;
    int dim;      /* axis of the sequences in the tensor being sorted */
    int64_t n;    /* elements of a sequence */
    int64_t most; /* maximum elements that are sorted at once */
} tni_sorting;

/* A tensor in an unnamed temporary file: written sequentially, then read.  Zero-initialised. */
typedef struct tni_temp {
    tn_writer *writer;
    tn_file *file;
    tn_tensor view;
} tni_temp;

/* tni_writer_open_scratch chooses the folder of the file. */
tn_status tni_temp_open(tni_temp *t, const tn_writer *beside, tn_dtype dtype, int ndim,
                        const int64_t *shape);
tn_status tni_temp_reopen(tni_temp *t);
void tni_temp_close(tni_temp *t);

/* Sort sequences along the last axis that are longer than s->most into `to`, in ascending
 * order; with TN_DESCENDING the caller has reversed them, and indices count from the end. */
tn_status tni_sort_merged(tni_sorting *s, const tn_stream_source *sequences, tni_temp *to);

#endif
