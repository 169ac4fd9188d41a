/* line_buffer.h - rows of a tile that wait in a buffer to be streamed as whole cache lines.
 *
 * If a row continues in the next tile of its run, the line in which it ends is saved, and
 * restored in front of that tile's row.  So only the ends of a whole run are partial lines. */
#ifndef TNI_LINE_BUFFER_H
#define TNI_LINE_BUFFER_H

#include "kernels/kernels.h"

typedef struct tni_line_buffer {
    char *d, *t;                   /* the first row in dst and in the buffer */
    int64_t d_row, d_group, t_row; /* bytes between rows, and between groups of `each` rows */
    int64_t rows, each, run;       /* rows of run bytes */
    int64_t row, done;             /* what has been written: whole rows, bytes of the next */
    /* Rows continue those of an earlier tile; they are continued in a later one. */
    bool joined, goes_on;
} tni_line_buffer;

/* Prefetch for ownership the lines that a row covers only partly: they need a
 * read-modify-write. */
void tni_line_buffer_prefetch(const tni_line_buffer *b);

/* Stream about quota bytes more, in whole lines where rows have them. */
void tni_line_buffer_flush(tni_line_buffer *b, const tni_copy_kernels *k, int64_t quota);

/* Copy the last line of each row to `saved`, or from there to the front of each row. */
void tni_line_buffer_save(const tni_line_buffer *b, char *saved);
void tni_line_buffer_restore(const tni_line_buffer *b, const char *saved);

#endif
