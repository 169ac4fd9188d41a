/* copy_isa.c - the copying kernels, compiled once for each instruction set.
 *
 * The object file exports its table and nothing else. */
#include "copy_table.h"
#include "kernels/simd/line.h"
#include "kernels/simd/simd.h"
#include "kernels/table.h"

/* Copy 0 to 63 bytes. */
INLINE void edge_copy(char *d, const char *s, int64_t bytes)
{
    if (bytes >= 32) {
        memcpy(d, s, 32);
        memcpy(d + bytes - 32, s + bytes - 32, 32);
    } else if (bytes >= 16) {
        memcpy(d, s, 16);
        memcpy(d + bytes - 16, s + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(d, s, 8);
        memcpy(d + bytes - 8, s + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(d, s, 4);
        memcpy(d + bytes - 4, s + bytes - 4, 4);
    } else {
        for (int64_t i = 0; i < bytes; i++)
            d[i] = s[i];
    }
}

/* Copy short rows inline, long rows by memcpy. */
INLINE void row_copy(char *d, const char *s, int64_t bytes)
{
    if (bytes < TNI_LINE) {
        edge_copy(d, s, bytes);
    } else if (bytes <= 4 * TNI_LINE) {
        for (int64_t i = 0; i + TNI_LINE < bytes; i += TNI_LINE)
            memcpy(d + i, s + i, TNI_LINE);
        memcpy(d + bytes - TNI_LINE, s + bytes - TNI_LINE, TNI_LINE);
    } else {
        memcpy(d, s, (size_t)bytes);
    }
}

static void copy(char *d, const char *s, int64_t bytes)
{
    row_copy(d, s, bytes);
}

/* Distance in bytes at which long rows are prefetched.  The prefetch continues into the next
 * row, across the gap that the hardware prefetcher does not cross: 16 MiB in rows of 8 KiB, 16
 * KiB apart, take 0.78 ms instead of 0.97 on one core of a Zen 4
 * (docs/investigations/distributed.md). */
enum { ROW_AHEAD = 4096 };

/* Stream the whole lines of d; the bytes before and after them use ordinary stores.  next is
 * the row that follows, for the prefetch, or NULL. */
INLINE void by_lines(char *d, const char *s, int64_t bytes, const char *next)
{
    int64_t head = (int64_t)(-(uintptr_t)d & (TNI_LINE - 1));
    if (bytes < head + TNI_LINE) {
        row_copy(d, s, bytes);
        return;
    }
    if (head)
        edge_copy(d, s, head);
    int64_t i = head;
    for (; i + TNI_LINE <= bytes; i += TNI_LINE) {
        if (next)
            __builtin_prefetch(i + ROW_AHEAD < bytes ? s + i + ROW_AHEAD
                                                     : next + (i + ROW_AHEAD - bytes),
                               0, 2);
        stream_line(d + i, s + i);
    }
    if (i < bytes)
        edge_copy(d + i, s + i, bytes - i);
}

static void stream(char *d, const char *s, int64_t bytes)
{
    by_lines(d, s, bytes, NULL);
}

/* The body of units and stream_units, inlined with a constant unit for common sizes. */
INLINE void units_of(char *d, const int64_t d_step[2], const char *s, const int64_t s_step[2],
                     const int64_t n[2], int64_t unit, int64_t ahead, int streaming)
{
    for (int64_t i = 0; i < n[0]; i++)
        for (int64_t j = 0; j < n[1]; j++) {
            const char *from = s + i * s_step[0] + j * s_step[1];
            for (int64_t line = 0; ahead && !streaming && line < unit; line += TNI_LINE)
                __builtin_prefetch(from + ahead + line, 0, 2);
            if (streaming)
                by_lines(d + i * d_step[0] + j * d_step[1], from, unit,
                         ahead ? from + ahead : NULL);
            else
                row_copy(d + i * d_step[0] + j * d_step[1], from, unit);
        }
}

static void units(char *d, const int64_t d_step[2], const char *s, const int64_t s_step[2],
                  const int64_t n[2], int64_t unit, int64_t ahead)
{
    switch (unit) {
    case 32:
        units_of(d, d_step, s, s_step, n, 32, ahead, 0);
        break;
    case 64:
        units_of(d, d_step, s, s_step, n, 64, ahead, 0);
        break;
    default:
        units_of(d, d_step, s, s_step, n, unit, ahead, 0);
    }
}

/* Copy size to 2 * size bytes by two overlapping moves. */
INLINE void two_ends(char *d, const char *s, int64_t bytes, int64_t size)
{
    memcpy(d, s, (size_t)size);
    memcpy(d + bytes - size, s + bytes - size, (size_t)size);
}

/* Copy a row longer than a line; only the stores at its two ends may cross a line of d. */
INLINE void long_row(char *d, const char *s, int64_t bytes)
{
    int64_t i = (int64_t)(-(uintptr_t)d & (TNI_LINE - 1));
    memcpy(d, s, TNI_LINE);
    for (i = i ? i : TNI_LINE; i + TNI_LINE < bytes; i += TNI_LINE)
        memcpy(d + i, s + i, TNI_LINE);
    memcpy(d + bytes - TNI_LINE, s + bytes - TNI_LINE, TNI_LINE);
}

/* Distance in bytes at which lines of dst are prefetched before they are stored, as for the
 * rows of a pad (docs/investigations/pad-rows.md). */
enum { DST_AHEAD = 768 };

/* Rows up to this many bytes are copied line by line of dst; beyond it, memcpy is as fast. */
enum { LONG_ROW = 4096 };

/* Copies one row of unit bytes. */
typedef void row_fn(char *d, const char *s, int64_t unit);

INLINE void row_of_32(char *d, const char *s, int64_t unit)
{
    (void)unit;
    memcpy(d, s, 32);
}

INLINE void row_of_line(char *d, const char *s, int64_t unit)
{
    (void)unit;
    memcpy(d, s, TNI_LINE);
}

INLINE void row_of_8(char *d, const char *s, int64_t unit)
{
    two_ends(d, s, unit, 8);
}

INLINE void row_of_16(char *d, const char *s, int64_t unit)
{
    two_ends(d, s, unit, 16);
}

INLINE void row_below_line(char *d, const char *s, int64_t unit)
{
    two_ends(d, s, unit, 32);
}

INLINE void row_of_two_lines(char *d, const char *s, int64_t unit)
{
    two_ends(d, s, unit, TNI_LINE);
}

INLINE void row_by_memcpy(char *d, const char *s, int64_t unit)
{
    memcpy(d, s, (size_t)unit);
}

/* Copy rows in two loops and the two loops of t around them.  Extents and steps are copied to
 * locals first, since the compiler must assume that the stores modify them. */
INLINE void each_row(char *d, const int64_t d_step[2], const char *s, const int64_t s_step[2],
                     const int64_t n[2], int64_t unit, const tni_trips *t, row_fn *row)
{
    const int64_t da = d_step[0], db = d_step[1], sa = s_step[0], sb = s_step[1];
    const int64_t na = n[0], nb = n[1];
    const tni_trips by = *t;
    const int64_t dst_ahead = (DST_AHEAD / unit + 1) * da;
    const int64_t prefetched = by.prefetch ? unit : 0; /* bytes of a row */
    for (int64_t k = 0; k < by.n[1]; k++)
        for (int64_t j = 0; j < by.n[0]; j++)
            for (int64_t b = 0; b < nb; b++) {
                char *to = d + k * by.d[1] + j * by.d[0] + b * db;
                const char *from = s + k * by.s[1] + j * by.s[0] + b * sb;
                for (int64_t a = 0; a < na; a++, to += da, from += sa) {
                    for (int64_t i = 0; i < prefetched; i += TNI_LINE)
                        __builtin_prefetch(to + dst_ahead + i, 1);
                    row(to, from, unit);
                }
            }
}

static void rows(char *d, const int64_t d_step[2], const char *s, const int64_t s_step[2],
                 const int64_t n[2], int64_t unit, const tni_trips *t)
{
    if (unit == 32)
        each_row(d, d_step, s, s_step, n, 32, t, row_of_32);
    else if (unit == TNI_LINE)
        each_row(d, d_step, s, s_step, n, TNI_LINE, t, row_of_line);
    else if (unit < 8)
        each_row(d, d_step, s, s_step, n, unit, t, edge_copy);
    else if (unit <= 16)
        each_row(d, d_step, s, s_step, n, unit, t, row_of_8);
    else if (unit < 32)
        each_row(d, d_step, s, s_step, n, unit, t, row_of_16);
    else if (unit < TNI_LINE)
        each_row(d, d_step, s, s_step, n, unit, t, row_below_line);
    else if (unit <= 2 * TNI_LINE)
        each_row(d, d_step, s, s_step, n, unit, t, row_of_two_lines);
    else if (unit <= LONG_ROW)
        each_row(d, d_step, s, s_step, n, unit, t, long_row);
    else
        each_row(d, d_step, s, s_step, n, unit, t, row_by_memcpy);
}

static void stream_units(char *d, const int64_t d_step[2], const char *s,
                         const int64_t s_step[2], const int64_t n[2], int64_t unit,
                         int64_t ahead)
{
    units_of(d, d_step, s, s_step, n, unit, ahead, 1);
}

#include "join_rows.inc"

static void fence(void)
{
    stream_fence();
}

/* Fill two lines with one value of constant width. */
INLINE void splat(char *line, const char *value, size_t width)
{
    for (size_t i = 0; i < 2 * TNI_LINE; i += width)
        memcpy(line + i, value, width);
}

static void fill(char *d, const char *value, int width_log2, int64_t n, int streaming)
{
    int64_t width = 1 << width_log2, bytes = n << width_log2;
    char line[2 * TNI_LINE]; /* the repeated value; a line can be read at any phase of it */
    switch (width_log2) {
    case 0:
        splat(line, value, 1);
        break;
    case 1:
        splat(line, value, 2);
        break;
    case 2:
        splat(line, value, 4);
        break;
    case 3:
        splat(line, value, 8);
        break;
    default:
        splat(line, value, 16);
    }
    if (bytes < 2 * TNI_LINE) {
        memcpy(d, line, (size_t)bytes);
        return;
    }
    int64_t head = (int64_t)(-(uintptr_t)d & (TNI_LINE - 1));
    const char *phase = line + (head & (width - 1));
    memcpy(d, line, TNI_LINE);
    int64_t i = head;
    if (streaming)
        for (; i + TNI_LINE <= bytes; i += TNI_LINE)
            stream_line(d + i, phase);
    else
        for (; i + TNI_LINE <= bytes; i += TNI_LINE)
            memcpy(d + i, phase, TNI_LINE);
    memcpy(d + bytes - TNI_LINE, line + TNI_LINE - TNI_LINE % width, TNI_LINE);
}

#if defined(HAVE_LINE)
#include "carry.inc"
#endif

typedef struct wide {
    uint64_t part[2];
} wide;

#define W    1
#define WLOG 0
#define TYPE uint8_t
#include "tile.inc"

#define W    2
#define WLOG 1
#define TYPE uint16_t
#include "tile.inc"

#define W    4
#define WLOG 2
#define TYPE uint32_t
#include "tile.inc"

#define W    8
#define WLOG 3
#define TYPE uint64_t
#include "tile.inc"

#define W    16
#define WLOG 4
#define TYPE wide
#include "tile.inc"

#define TEXT(x)  TEXT_(x)
#define TEXT_(x) #x
const tni_copy_kernels TNI_TABLE(copy) = {
    .isa = TEXT(TNI_ISA),
    .line_parts = 4 / WIDEST,
    .tile = {tile_1, tile_2, tile_4, tile_8, tile_16},
    .transpose = {transpose_1, transpose_2, transpose_4, transpose_8, transpose_16},
    .transpose_far = {transpose_far_1, transpose_far_2, transpose_far_4, transpose_far_8,
                      transpose_far_16},
    .transpose_many = {transpose_many_1, transpose_many_2, transpose_many_4, transpose_many_8,
                       transpose_many_16},
    .transpose_indexed = {transpose_indexed_1, transpose_indexed_2, transpose_indexed_4,
                          transpose_indexed_8, transpose_indexed_16},
    .transpose_lines = {transpose_lines_1, transpose_lines_2, transpose_lines_4,
                        transpose_lines_8, transpose_lines_16},
#if defined(__AVX512BW__)
    .transpose_shifted = {NULL, transpose_shifted_2, transpose_shifted_4, transpose_shifted_8,
                          transpose_shifted_16},
#endif
#if defined(__AVX512VBMI__)
    .interleave = {interleave_lines_1, interleave_lines_2, interleave_lines_4,
                   interleave_lines_8, interleave_lines_16},
#endif
#if defined(HAVE_LINE)
    .transpose_carried = {transpose_carried_1, transpose_carried_2, transpose_carried_4,
                          transpose_carried_8, transpose_carried_16},
    .join_rows = join_rows,
    .rows_carried = rows_carried,
#endif
    .units = units,
    .rows = rows,
    .stream_units = stream_units,
    .copy = copy,
    .stream = stream,
    .fence = fence,
    .fill = fill,
};
