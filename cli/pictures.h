/* pictures.h - pictures and counts of a tensor for a report, collected while it is read. */
#ifndef PICTURES_H
#define PICTURES_H

#include <pthread.h>

#include "cli.h"

enum {
    PICTURE_BINS = 32,
    /* Cells along a side of a heat map: 48 x 48 with 16 colours are 1.8 KB of text. */
    PICTURE_SIDE = 48,
    PICTURE_COUNTS = 1 << 16
};

/* A tensor as a source whose boxes are inspected on the way: read it through `source`. */
typedef struct pictures {
    tn_stream_source source, inner;
    double sample; /* share of the elements used for pictures; 1: all */
    bool wants_hash;
    pthread_mutex_t lock;
    int64_t *counts;       /* indexed by the high 16 bits of elements */
    bool heat, line;       /* cells are means of |x|, or of x */
    int64_t rows, columns; /* number of cells */
    int64_t cell_rows, cell_columns;
    double *sums;
    int64_t *cells;    /* elements in each cell */
    int64_t zero_rows; /* all-zero rows along the last axis */
    bool cut_rows;     /* rows were read in parts: zero_rows is unknown */
    uint64_t hash;
} pictures;

int pictures_start(pictures *p, const tn_stream_source *of, double sample, bool hash);
void pictures_free(pictures *p);

/* Write the bins from min to max as 32 letters; *log: on a signed log scale.  "": no
 * histogram. */
void pictures_histogram(const pictures *p, const tn_stats *s, char text[PICTURE_BINS + 1],
                        bool *log);

/* Number of subnormal elements; -1: unknown. */
int64_t pictures_subnormal(const pictures *p, const tn_stats *s);

/* Write a 1-D tensor as letters: the means of its cells. */
void pictures_line(const pictures *p, char text[PICTURE_SIDE + 1]);

/* Levels of the cells: 1 to 15, 0 for NaN.  The caller frees them; NULL: no heat map. */
uint8_t *pictures_heat(const pictures *p);

/* Print a PNG of 16 colours as base64 to out, a FILE (png.c). */
void print_png(void *out, int64_t width, int64_t height, const uint8_t *levels);

#endif
