/* pad_table.h - the rows of pads: one length, narrow borders, cached or streamed. */
#ifndef TNI_PAD_TABLE_H
#define TNI_PAD_TABLE_H

#include <stdint.h>

/* Elements of both borders of a row that are listed; bytes of rows that wait for whole lines: a
 * part of L1, from which they go out a quarter at a time. */
enum { TNI_PAD_EDGES = 32, TNI_PAD_BUFFER = 12 * 1024 };

/* A row of dst: body bytes of src between two borders, whose elements are listed. */
typedef struct tni_pad_row {
    int64_t bytes, left, body; /* of all, of the left border, of the body */
    int width_log2;
    int edges; /* border elements: where they go, and where in src's row they come from */
    struct {
        int64_t to, from;
    } edge[TNI_PAD_EDGES];
} tni_pad_row;

/* Bytes that follow each other in dst and wait until they fill whole lines. */
typedef struct tni_pad_buffer {
    char *d;            /* where bytes[0] goes, aligned to lines */
    int64_t first, end; /* bytes[first], …, bytes[end - 1] are there */
    _Alignas(64) char bytes[TNI_PAD_BUFFER + 128];
} tni_pad_buffer;

typedef struct tni_pad_kernels {
    /* Copy n rows of `bytes` dense bytes, whose beginnings are d_step and s_step bytes apart;
     * no row of d shares a byte with another one or with s.  s_step may be 0. */
    void (*rows)(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                 int64_t bytes);

    /* The same, and the d_step - bytes bytes between two rows become those of value, or any
     * when value is NULL. */
    void (*gapped)(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                   int64_t bytes, const char *value);

    /* Copy n single elements of a width (as log2). */
    void (*column)(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                   int width_log2);

    /* Copy the border elements of n rows from the rows of src whose bodies begin at s. */
    void (*edges)(char *d, int64_t d_step, const tni_pad_row *row, const char *s,
                  int64_t s_step, int64_t n);

    /* Append n rows whose bodies begin at s, s + s_step, … and stream what becomes whole.
     * Border elements are copies of *value, or of the row's own elements when value is NULL. */
    void (*append)(tni_pad_buffer *k, const tni_pad_row *row, const char *s, int64_t s_step,
                   int64_t n, const char *value);

    /* Stream the lines that are whole. */
    void (*flush)(tni_pad_buffer *k);
} tni_pad_kernels;

#endif
