/* copy_table.h - the copying kernels of one instruction set, chosen by element width. */
#ifndef TNI_COPY_TABLE_H
#define TNI_COPY_TABLE_H

#include <stdint.h>

enum { TNI_WIDTHS = 5 }; /* log2 of the element widths 1, 2, 4, 8, 16 */

static inline int tni_log2_width(int64_t width)
{
    return width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : width == 8 ? 3 : 4;
}

/* Copy n[0] x n[1] elements; element (i, j) is at i * step[0] + j * step[1] on either side.
 * Steps are in bytes and of any sign; source steps may be 0; no alignment is assumed.  The
 * elements of d are distinct and share no byte with those of s.  Fast when either axis is dense
 * on either side: rows, transposed tiles, repeated values. */
typedef void (*tni_tile_fn)(char *d, const int64_t d_step[2], const char *s,
                            const int64_t s_step[2], const int64_t n[2]);

/* Two loops around a tile, the inner one first: their trip counts, and what one trip adds.
 * prefetch: lines of dst are prefetched before they are written. */
typedef struct tni_trips {
    int64_t n[2], d[2], s[2];
    int prefetch;
} tni_trips;

/* Rows of dst that are written line by line, from call to call: the latest 64 bytes of each,
 * of which the last `lag` are not written yet, and where its next line begins.  A row that joins
 * ends where the next one begins: the line that they share is made of the end of one and the
 * first 64 bytes of the other. */
enum {
    TNI_CARRY_ROWS = 256, /* a line of each is half of L1 */
    TNI_CARRY_LIST = 192  /* listed source rows of a call */
};

typedef struct tni_carry {
    _Alignas(64) char last[TNI_CARRY_ROWS][64], first[TNI_CARRY_ROWS][64];
    char *at[TNI_CARRY_ROWS];
    uint8_t lag[TNI_CARRY_ROWS], joins[TNI_CARRY_ROWS];
    int64_t steps; /* bits of the steps from one listed source row to another */
    int packs; /* source rows share cache sets: they are packed in side, which side_at lists */
    _Alignas(64) char side[TNI_CARRY_LIST][64];
    int64_t side_at[TNI_CARRY_LIST];
    const char *begun, *ended; /* rows_carried: the first and the latest listed source row */
} tni_carry;

typedef struct tni_copy_kernels {
    const char *isa;
    int line_parts; /* vectors of a line */
    tni_tile_fn tile[TNI_WIDTHS];

    /* Transpose na x nb elements: a is dense in d, b is dense in s; d_step is the step of b in d,
     * s_step that of a in s.  ahead, unless 0, is the distance in bytes from each source row to
     * the one that the next call reads; it is prefetched. */
    void (*transpose[TNI_WIDTHS])(char *d, int64_t d_step, const char *s, int64_t s_step,
                                  int64_t na, int64_t nb, int64_t ahead);

    /* The same where s is in no cache. */
    void (*pack[TNI_WIDTHS])(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t na,
                             int64_t nb, int64_t ahead);

    /* As transpose for each trip of two loops, when dst lies in a cache. */
    void (*transpose_many[TNI_WIDTHS])(char *d, int64_t d_step, const char *s, int64_t s_step,
                                       int64_t na, int64_t nb, const tni_trips *t);

    /* Transpose na x nb elements whose offsets are listed: (a, b) goes from s + s_at[a] + b * W to
     * d + d_at[b] + a * W.  prefetch as in tni_trips. */
    void (*transpose_indexed[TNI_WIDTHS])(char *d, const int64_t *d_at, const char *s,
                                          const int64_t *s_at, int64_t na, int64_t nb,
                                          int prefetch);

    /* n rows of `groups` elements, s_step bytes apart, to groups of n elements that lie one after
     * the other in d, a multiple of 64; streamed.  0: too few groups, nothing is done.  NULL: not
     * with this instruction set.  n is 2 to 4. */
    int (*interleave[TNI_WIDTHS])(char *d, const char *s, int64_t s_step, int64_t groups,
                                  int64_t n);

    /* As transpose, into whole lines, streamed: d and d_step are multiples of 64. */
    void (*transpose_lines[TNI_WIDTHS])(char *d, int64_t d_step, const char *s, int64_t s_step,
                                        int64_t na, int64_t nb, int64_t ahead);

    /* The same into rows that begin anywhere; NULL: not with this instruction set.  d, d_step
     * are multiples of the width (of 8, if it is 16).  Of each row the lines are written that
     * end in it, the first of them whole unless begins is set: 64 bytes of a lie before s then.
     * na is a multiple of 64 bytes unless ends is set: everything up to the last element is
     * written then. */
    void (*transpose_shifted[TNI_WIDTHS])(char *d, int64_t d_step, const char *s,
                                          int64_t s_step, int64_t na, int64_t nb, int64_t ahead,
                                          int begins, int ends);

    /* Transpose na x nb elements of listed source rows, (a, b) from s + s_at[a] + b * W, into nb
     * rows of dst that are as c says, whole lines streamed; NULL: not with this instruction set.
     * begins: nothing of the rows is written yet, and lag is where they begin in a line; ends:
     * everything is written.  nb is at least 16 / W, na at least 64 / W and a multiple of it unless
     * ends is set.  next_n listed rows at next, unless NULL, are prefetched. */
    void (*transpose_carried[TNI_WIDTHS])(tni_carry *c, const char *s, const int64_t *s_at,
                                          int64_t na, int64_t nb, int begins, int ends,
                                          const char *next, const int64_t *next_at,
                                          int64_t next_n);

    /* Copy n[0] x n[1] blocks of unit bytes that are dense on both sides. */
    void (*units)(char *d, const int64_t d_step[2], const char *s, const int64_t s_step[2],
                  const int64_t n[2], int64_t unit, int64_t ahead);

    /* The same for each trip of two loops, when dst lies in a cache. */
    void (*rows)(char *d, const int64_t d_step[2], const char *s, const int64_t s_step[2],
                 const int64_t n[2], int64_t unit, const tni_trips *t);

    /* As units, with streaming stores where lines are whole. */
    void (*stream_units)(char *d, const int64_t d_step[2], const char *s,
                         const int64_t s_step[2], const int64_t n[2], int64_t unit,
                         int64_t ahead);

    /* Copy n rows of unit bytes, at least 64, from s + s_at[i], so that they lie one after the
     * other in d; whole lines are streamed.  NULL: not with this instruction set.  The list has
     * `more` further rows, which are prefetched. */
    void (*join_rows)(char *d, const char *s, const int64_t *s_at, int64_t n, int64_t unit,
                      int64_t more);

    /* Copy na listed source rows, each of nb units that lie one after the other, into nb rows of
     * dst that are as c says: unit b of row a from s + s_at[a] + b * unit, of at least 64 bytes.
     * Otherwise as transpose_carried. */
    void (*rows_carried)(tni_carry *c, const char *s, const int64_t *s_at, int64_t na,
                         int64_t nb, int64_t unit, int begins, int ends, const char *next,
                         const int64_t *next_at, int64_t next_n);

    /* Copy bytes that do not overlap, with ordinary stores. */
    void (*copy)(char *d, const char *s, int64_t bytes);

    /* The same with streaming stores of whole cache lines; partial lines at both ends are ordinary
     * stores.  Other threads see the bytes after fence(). */
    void (*stream)(char *d, const char *s, int64_t bytes);
    void (*fence)(void);

    /* Set n elements of a width (as log2) that lie dense; value may have any alignment.
     * streaming chooses the stores of stream(). */
    void (*fill)(char *d, const char *value, int width_log2, int64_t n, int streaming);
} tni_copy_kernels;

#endif
