/* pad_table.h - the kernels for rows of a pad: rows of one length with narrow borders, stored
 * through the cache or streamed. */
#ifndef TNI_PAD_TABLE_H
#define TNI_PAD_TABLE_H

#include <stdint.h>

/* TNI_PAD_EDGES is the largest number of border elements of a row.  TNI_PAD_BUFFER is the size
 * in bytes of the buffer in which rows are collected to whole lines; it is a part of L1. */
enum { TNI_PAD_EDGES = 32, TNI_PAD_BUFFER = 12 * 1024 };

/* A row of dst: `body` bytes of src between two borders, whose elements are listed in
 * edge[]. */
typedef struct tni_pad_row {
    int64_t bytes, left, body; /* of the whole row, of the left border, of the body */
    int width_log2;
    /* The number of border elements; edge[] has the offset of each in the row, and that of its
     * source in src's row. */
    int edges;
    struct {
        int64_t to, from;
    } edge[TNI_PAD_EDGES];
} tni_pad_row;

/* Consecutive bytes of dst that are collected until they fill whole lines. */
typedef struct tni_pad_buffer {
    char *d;            /* the address of bytes[0] in dst, a multiple of 64 */
    int64_t first, end; /* bytes[first], …, bytes[end - 1] are pending */
    _Alignas(64) char bytes[TNI_PAD_BUFFER + 128];
} tni_pad_buffer;

typedef struct tni_pad_kernels {
    /* Copy n rows of `bytes` dense bytes, which begin d_step and s_step bytes apart.  No row of
     * d shares a byte with another row of d or with s.  s_step may be 0. */
    void (*rows)(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                 int64_t bytes);

    /* As rows, and fill the d_step - bytes bytes between two rows from value, or with anything
     * if value is NULL. */
    void (*gapped)(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                   int64_t bytes, const char *value);

    /* Copy n single elements of a width (as log2). */
    void (*column)(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                   int width_log2);

    /* Copy the border elements of n rows from the rows of src whose bodies begin at s. */
    void (*edges)(char *d, int64_t d_step, const tni_pad_row *row, const char *s,
                  int64_t s_step, int64_t n);

    /* Append n rows whose bodies begin at s, s + s_step, …, and stream the lines that become
     * whole.  Border elements are copies of *value, or of the row's own elements if value is
     * NULL. */
    void (*append)(tni_pad_buffer *k, const tni_pad_row *row, const char *s, int64_t s_step,
                   int64_t n, const char *value);

    /* Stream all whole lines. */
    void (*flush)(tni_pad_buffer *k);
} tni_pad_kernels;

#endif
