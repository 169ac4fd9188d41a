/* pictures.h - what a report shows of a tensor beside its numbers, gathered while it is read. */
#ifndef PICTURES_H
#define PICTURES_H

#include <pthread.h>

#include "cli.h"

enum {
    PICTURE_BINS = 32,
    PICTURE_SIDE =
        48, /* cells of a heat map on a side: 48 x 48 of 16 colours are 1.8 KB of text */
    PICTURE_COUNTS = 1 << 16
};

/* A tensor as a source that is looked at on its way: read it by `source`. */
typedef struct pictures {
    tn_stream_source source, inner;
    double sample; /* share of the elements in pictures; 1: all */
    bool wants_hash;
    pthread_mutex_t lock;
    int64_t *counts;       /* by the high 16 bits of elements */
    bool heat, line;       /* cells are means of |x|, of x */
    int64_t rows, columns; /* cells */
    int64_t cell_rows, cell_columns;
    double *sums;
    int64_t *cells;    /* elements of each */
    int64_t zero_rows; /* lines of the last axis without any but zeros */
    bool cut_rows;     /* lines were read in parts: zero_rows is not known */
    uint64_t hash;
} pictures;

int pictures_start(pictures *p, const tn_stream_source *of, double sample, bool hash);
void pictures_free(pictures *p);

/* The bins as 32 letters, from min to max; *log: on a signed log scale.  "": there are none. */
void pictures_histogram(const pictures *p, const tn_stats *s, char text[PICTURE_BINS + 1],
                        bool *log);

/* Elements that are subnormal; -1: not known. */
int64_t pictures_subnormal(const pictures *p, const tn_stats *s);

/* 1-D tensors: means as letters. */
void pictures_line(const pictures *p, char text[PICTURE_SIDE + 1]);

/* Levels 1 to 15 of the cells, 0 for NaN; to be freed.  NULL: no heat map. */
uint8_t *pictures_heat(const pictures *p);

/* A PNG of 16 colours as base64, on out, a FILE (png.c). */
void print_png(void *out, int64_t width, int64_t height, const uint8_t *levels);

#endif
