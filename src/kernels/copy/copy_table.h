/* copy_table.h - the copying kernels of one instruction set, chosen by element width. */
#ifndef TNI_COPY_TABLE_H
#define TNI_COPY_TABLE_H

#include <stdint.h>

enum { TNI_WIDTHS = 5 }; /* element widths 1, 2, 4, 8 and 16, indexed by their log2 */

static inline int tni_log2_width(int64_t width)
{
    return width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : width == 8 ? 3 : 4;
}

/* Copy n[0] x n[1] elements; element (i, j) is at i * step[0] + j * step[1] on either side.
 * Steps are in bytes and of any sign; source steps may be 0; no alignment is assumed.  The
 * elements of d are distinct and share no byte with those of s.  The kernel is fast if either
 * axis is dense on either side: rows, transposed tiles, repeated values. */
typedef void (*tni_tile_fn)(char *d, const int64_t d_step[2], const char *s,
                            const int64_t s_step[2], const int64_t n[2]);

/* Two loops around a tile, inner loop first: the trip counts, and the steps of d and s for one
 * trip.  If prefetch is set, lines of dst are prefetched before they are written. */
typedef struct tni_trips {
    int64_t n[2], d[2], s[2];
    int prefetch;
} tni_trips;

/* State of dst rows that several calls write line by line: for each row its latest 64 bytes,
 * the last `lag` of which are not yet written, and the address of its next line.  If joins is
 * set, the row ends where the next row begins; the line they share consists of the end of one
 * row and the beginning of the first 64 bytes of the other. */
enum {
    TNI_CARRY_ROWS = 256, /* their lines fill half of L1 */
    TNI_CARRY_LIST = 192  /* indexed source rows of one call */
};

typedef struct tni_carry {
    _Alignas(64) char last[TNI_CARRY_ROWS][64], first[TNI_CARRY_ROWS][64];
    char *at[TNI_CARRY_ROWS];
    uint8_t lag[TNI_CARRY_ROWS], joins[TNI_CARRY_ROWS];
    int64_t steps; /* bitwise or of the steps between indexed source rows */
    /* Source rows share cache sets and are therefore packed into side, whose lines side_at
     * indexes. */
    int packs;
    _Alignas(64) char side[TNI_CARRY_LIST][64];
    int64_t side_at[TNI_CARRY_LIST];
    const char *begun, *ended; /* rows_carried: first and latest source row */
} tni_carry;

typedef struct tni_copy_kernels {
    const char *isa;
    int line_parts; /* vectors per cache line */
    tni_tile_fn tile[TNI_WIDTHS];

    /* Transpose na x nb elements: axis a is dense in d, axis b is dense in s; d_step is the
     * step of b in d, s_step that of a in s.  If ahead is not 0, it is the distance in bytes
     * from each source row to the row that the next call reads, which is prefetched. */
    void (*transpose[TNI_WIDTHS])(char *d, int64_t d_step, const char *s, int64_t s_step,
                                  int64_t na, int64_t nb, int64_t ahead);

    /* As transpose, for a source that is in no cache. */
    void (*transpose_far[TNI_WIDTHS])(char *d, int64_t d_step, const char *s, int64_t s_step,
                                      int64_t na, int64_t nb, int64_t ahead);

    /* As transpose, for each trip of two loops; for a dst that is in a cache. */
    void (*transpose_many[TNI_WIDTHS])(char *d, int64_t d_step, const char *s, int64_t s_step,
                                       int64_t na, int64_t nb, const tni_trips *t);

    /* Transpose na x nb elements through offset tables: element (a, b) moves from s + s_at[a] +
     * b * W to d + d_at[b] + a * W.  prefetch is as in tni_trips. */
    void (*transpose_indexed[TNI_WIDTHS])(char *d, const int64_t *d_at, const char *s,
                                          const int64_t *s_at, int64_t na, int64_t nb,
                                          int prefetch);

    /* Interleave n rows (2 to 4) of `groups` elements, s_step bytes apart, into consecutive
     * groups of n elements at d, a multiple of 64, with streaming stores.  Returns 0 and does
     * nothing if there are too few groups.  NULL if the instruction set has no such kernel. */
    int (*interleave[TNI_WIDTHS])(char *d, const char *s, int64_t s_step, int64_t groups,
                                  int64_t n);

    /* As transpose, with streaming stores of whole lines: d and d_step are multiples of 64. */
    void (*transpose_lines[TNI_WIDTHS])(char *d, int64_t d_step, const char *s, int64_t s_step,
                                        int64_t na, int64_t nb, int64_t ahead);

    /* As transpose_lines, into rows that begin anywhere in a line.  NULL if the instruction set
     * has no such kernel.  d and d_step are multiples of the width (of 8 for a width of 16).  A
     * call writes the lines that end in its part of each row.  The first of these lines is
     * written whole, from the 64 bytes along a that precede s, unless begins is set.  na is a
     * multiple of 64 bytes unless ends is set; then everything up to the last element is
     * written. */
    void (*transpose_shifted[TNI_WIDTHS])(char *d, int64_t d_step, const char *s,
                                          int64_t s_step, int64_t na, int64_t nb, int64_t ahead,
                                          int begins, int ends);

    /* Transpose na x nb elements of indexed source rows into nb rows of dst whose state is c,
     * with streaming stores of whole lines; element (a, b) is read from s + s_at[a] + b * W.
     * NULL if the instruction set has no such kernel.  begins: nothing of the rows is written
     * yet, and lag is the offset in a line at which each begins.  ends: everything is written.
     * nb is at least 16 / W; na is at least 64 / W, and a multiple of it unless ends is set.
     * If next is not NULL, the next_n indexed rows at next are prefetched. */
    void (*transpose_carried[TNI_WIDTHS])(tni_carry *c, const char *s, const int64_t *s_at,
                                          int64_t na, int64_t nb, int begins, int ends,
                                          const char *next, const int64_t *next_at,
                                          int64_t next_n);

    /* Copy n[0] x n[1] blocks of unit bytes that are dense on both sides; ahead is as in
     * transpose. */
    void (*units)(char *d, const int64_t d_step[2], const char *s, const int64_t s_step[2],
                  const int64_t n[2], int64_t unit, int64_t ahead);

    /* As units, for each trip of two loops; for a dst that is in a cache. */
    void (*rows)(char *d, const int64_t d_step[2], const char *s, const int64_t s_step[2],
                 const int64_t n[2], int64_t unit, const tni_trips *t);

    /* As units, with streaming stores of whole lines. */
    void (*stream_units)(char *d, const int64_t d_step[2], const char *s,
                         const int64_t s_step[2], const int64_t n[2], int64_t unit,
                         int64_t ahead);

    /* Copy n rows of unit bytes (at least 64) from s + s_at[i] to consecutive addresses at d,
     * with streaming stores of whole lines.  NULL if the instruction set has no such kernel.
     * s_at has `more` further entries, whose rows are prefetched. */
    void (*join_rows)(char *d, const char *s, const int64_t *s_at, int64_t n, int64_t unit,
                      int64_t more);

    /* Copy na indexed source rows of nb consecutive units into nb rows of dst whose state is c:
     * unit b of row a is read from s + s_at[a] + b * unit and has at least 64 bytes.  The other
     * arguments are as in transpose_carried. */
    void (*rows_carried)(tni_carry *c, const char *s, const int64_t *s_at, int64_t na,
                         int64_t nb, int64_t unit, int begins, int ends, const char *next,
                         const int64_t *next_at, int64_t next_n);

    /* Copy bytes with ordinary stores; d and s do not overlap. */
    void (*copy)(char *d, const char *s, int64_t bytes);

    /* As copy, with streaming stores of whole cache lines; partial lines at both ends use
     * ordinary stores.  Other threads see the bytes after fence(). */
    void (*stream)(char *d, const char *s, int64_t bytes);
    void (*fence)(void);

    /* Set n dense elements of a width (given as log2) to *value, which may have any alignment.
     * If streaming is set, whole lines are stored as by stream(). */
    void (*fill)(char *d, const char *value, int width_log2, int64_t n, int streaming);
} tni_copy_kernels;

#endif
