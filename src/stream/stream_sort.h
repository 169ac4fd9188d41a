/* stream_sort.h - what the files of sorting streams share. */
#ifndef TNI_STREAM_SORT_H
#define TNI_STREAM_SORT_H

#include "stream.h"

typedef struct tni_sorting {
    const tn_stream *job;
    const tn_stream_sort *args;
    int dim;      /* axis of the sequences in the tensor that is sorted */
    int64_t n;    /* elements of a sequence */
    int64_t most; /* elements that are sorted at once */
} tni_sorting;

/* A tensor in a file without a name: written in order, then read.  Zero to begin with. */
typedef struct tni_temp {
    tn_writer *writer;
    tn_file *file;
    tn_tensor view;
} tni_temp;

/* The file is where tni_writer_open_scratch makes it. */
tn_status tni_temp_open(tni_temp *t, const tn_writer *beside, tn_dtype dtype, int ndim,
                        const int64_t *shape);
tn_status tni_temp_reopen(tni_temp *t);
void tni_temp_close(tni_temp *t);

/* Sort sequences, which stand along the last axis and are longer than s->most, in ascending order
 * into `to`; with TN_DESCENDING they are reversed already, and indices count from the end. */
tn_status tni_sort_merged(tni_sorting *s, const tn_stream_source *sequences, tni_temp *to);

#endif
