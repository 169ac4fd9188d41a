/* pad_isa.c - copying the rows of pads, compiled once for each instruction set.
 *
 * The last vector of a row is aligned to the end of the row and may overlap the one before it.
 * The object file exports its table and nothing else. */
#include "kernels/simd/simd.h"
#include "kernels/table.h"
#include "pad_table.h"

/* AHEAD is the distance in bytes at which lines of d are prefetched before they are stored;
 * CHUNK is the number of bytes that append collects before it streams them.
 * docs/investigations/pad-rows.md has the measurements. */
enum { AHEAD = 768, CHUNK = 768 };

/* ---- rows ---- */

/* Copy rows of one to two vectors. */
INLINE void two(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                int64_t bytes, size_t vector)
{
    const int64_t last = bytes - (int64_t)vector;
    for (int64_t i = 0; i < n; i++, d += d_step, s += s_step) {
        memcpy(d, s, vector);
        memcpy(d + last, s + last, vector);
    }
}

/* Copy rows shorter than a line. */
INLINE void short_rows(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                       int64_t bytes)
{
    if (bytes >= 32)
        two(d, d_step, s, s_step, n, bytes, 32);
    else if (bytes >= 16)
        two(d, d_step, s, s_step, n, bytes, 16);
    else if (bytes >= 8)
        two(d, d_step, s, s_step, n, bytes, 8);
    else if (bytes >= 4)
        two(d, d_step, s, s_step, n, bytes, 4);
    else if (bytes >= 2)
        two(d, d_step, s, s_step, n, bytes, 2);
    else if (bytes == 1)
        two(d, d_step, s, s_step, n, bytes, 1);
}

/* Prefetch for ownership a line that will be written.  x86 CPUs without prefetchw execute it as
 * a no-op. */
INLINE void prefetch_dst(const char *d)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %c1(%0)" : : "r"(d), "i"(AHEAD));
#else
    __builtin_prefetch((const void *)((uintptr_t)d + AHEAD), 1, 3);
#endif
}

/* Copy rows of a line or more.  Between the first 64 bytes and the last 64, stores are aligned
 * to lines, because a store that crosses a line costs two.  Lines of d are prefetched AHEAD
 * bytes before they are written. */
static void long_rows(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                      int64_t bytes)
{
    for (int64_t i = 0; i < n; i++, d += d_step, s += s_step) {
        prefetch_dst(d);
        memcpy(d, s, TNI_LINE);
        for (int64_t k = TNI_LINE - (int64_t)((uintptr_t)d % TNI_LINE); k + TNI_LINE < bytes;
             k += TNI_LINE) {
            prefetch_dst(d + k);
            memcpy(d + k, s + k, TNI_LINE);
        }
        memcpy(d + bytes - TNI_LINE, s + bytes - TNI_LINE, TNI_LINE);
    }
}

static void rows(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                 int64_t bytes)
{
    if (bytes < TNI_LINE)
        short_rows(d, d_step, s, s_step, n, bytes);
    else
        long_rows(d, d_step, s, s_step, n, bytes);
}

/* Copy rows and overwrite the gaps between them: with the value, or with anything if the caller
 * writes them next.  A line that holds the end of one row and the beginning of the next is one
 * store. */
#if defined(__AVX512BW__)
INLINE __mmask64 first_bytes(int64_t n)
{
    return n >= TNI_LINE ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
}

/* v, with the bytes in `some` replaced from a line that begins n bytes before p. */
INLINE __m512i take(__m512i v, __mmask64 some, const char *p, int64_t n)
{
    return _mm512_mask_loadu_epi8(v, some, (const void *)((uintptr_t)p - (uintptr_t)n));
}

static void gapped(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                   int64_t bytes, const char *value)
{
    const int64_t gap = d_step - bytes;
    if (bytes < TNI_LINE || gap > TNI_LINE / 2) {
        rows(d, d_step, s, s_step, n, bytes);
        if (value)
            rows(d + bytes, d_step, value, 0, n - 1, gap);
        return;
    }
    int64_t k =
        TNI_LINE - (int64_t)((uintptr_t)d % TNI_LINE); /* offset in the row of the next line of
                                                          d */
    memcpy(d, s, TNI_LINE);
    for (int64_t i = 0;; i++, d += d_step, s += s_step) {
        for (; k + TNI_LINE <= bytes; k += TNI_LINE) {
            prefetch_dst(d + k);
            memcpy(d + k, s + k, TNI_LINE);
        }
        const int64_t tail = bytes - k, next = tail + gap; /* bytes in the line at k: of this
                                                              row, and up to the next one */
        __m512i v = take(_mm512_setzero_si512(), first_bytes(tail), s + k, 0);
        if (i == n - 1) {
            _mm512_mask_storeu_epi8(d + k, first_bytes(tail), v);
            return;
        }
        prefetch_dst(d + k);
        if (value)
            v = take(v, first_bytes(next) & ~first_bytes(tail), value, tail);
        v = take(v, ~first_bytes(next), s + s_step, next);
        _mm512_storeu_si512(d + k, v);
        k = TNI_LINE - next;
        if (k < 0) { /* the gap continues in the next line */
            if (value)
                v = take(v, first_bytes(-k), value, tail - TNI_LINE);
            v = take(v, ~first_bytes(-k), s + s_step, -k);
            _mm512_storeu_si512(d + d_step + k, v);
            k += TNI_LINE;
        }
    }
}
#else
static void gapped(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                   int64_t bytes, const char *value)
{
    rows(d, d_step, s, s_step, n, bytes);
    if (value)
        rows(d + bytes, d_step, value, 0, n - 1, d_step - bytes);
}
#endif

/* ---- columns ---- */

INLINE void column_of(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                      size_t width)
{
    for (int64_t i = 0; i < n; i++, d += d_step, s += s_step)
        memcpy(d, s, width);
}

static void column(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t n,
                   int width_log2)
{
    switch (width_log2) {
    case 0:
        column_of(d, d_step, s, s_step, n, 1);
        break;
    case 1:
        column_of(d, d_step, s, s_step, n, 2);
        break;
    case 2:
        column_of(d, d_step, s, s_step, n, 4);
        break;
    case 3:
        column_of(d, d_step, s, s_step, n, 8);
        break;
    default:
        column_of(d, d_step, s, s_step, n, 16);
    }
}

/* ---- borders ---- */

/* Copy two border elements at a time; an odd last one is copied twice. */
INLINE void edges_of(char *d, int64_t d_step, const tni_pad_row *row, const char *s,
                     int64_t s_step, int64_t n, size_t width)
{
    for (int e = 0; e < row->edges; e += 2) {
        const int f = e + 1 < row->edges ? e + 1 : e;
        char *d0 = d + row->edge[e].to, *d1 = d + row->edge[f].to;
        const char *s0 = s + row->edge[e].from, *s1 = s + row->edge[f].from;
        for (int64_t i = 0; i < n; i++) {
            memcpy(d0 + i * d_step, s0 + i * s_step, width);
            memcpy(d1 + i * d_step, s1 + i * s_step, width);
        }
    }
}

static void edges(char *d, int64_t d_step, const tni_pad_row *row, const char *s,
                  int64_t s_step, int64_t n)
{
    switch (row->width_log2) {
    case 0:
        edges_of(d, d_step, row, s, s_step, n, 1);
        break;
    case 1:
        edges_of(d, d_step, row, s, s_step, n, 2);
        break;
    case 2:
        edges_of(d, d_step, row, s, s_step, n, 4);
        break;
    case 3:
        edges_of(d, d_step, row, s, s_step, n, 8);
        break;
    default:
        edges_of(d, d_step, row, s, s_step, n, 16);
    }
}

/* ---- non-temporal rows ---- */

static void flush(tni_pad_buffer *k)
{
    const int64_t whole = k->end & ~(int64_t)(TNI_LINE - 1);
    int64_t i = 0;
    if (whole == 0)
        return;
    if (k->first > 0) {
        memcpy(k->d + k->first, k->bytes + k->first, (size_t)(TNI_LINE - k->first));
        k->first = 0;
        i = TNI_LINE;
    }
    for (; i + 2 * TNI_LINE <= whole; i += 2 * TNI_LINE) {
        stream_line(k->d + i, k->bytes + i);
        stream_line(k->d + i + TNI_LINE, k->bytes + i + TNI_LINE);
    }
    if (i < whole)
        stream_line(k->d + i, k->bytes + i);
    memcpy(k->bytes, k->bytes + whole, TNI_LINE);
    k->d += whole;
    k->end -= whole;
}

/* Copy rows of at least one vector into the buffer.  With a value, 16 bytes of it are stored
 * after each row; what exceeds the gap is overwritten by the next row. */
INLINE void near_rows(char *d, const tni_pad_row *row, const char *s, int64_t s_step, int64_t n,
                      const char *value, size_t vector)
{
    const vec_1 v = load_1(value ? value : s);
    const int64_t bytes = row->body, last = bytes - (int64_t)vector, d_step = row->bytes;
    for (int64_t i = 0; i < n; i++, d += d_step, s += s_step) {
        for (int64_t k = 0; k < last; k += (int64_t)vector)
            memcpy(d + k, s + k, vector);
        memcpy(d + last, s + last, vector);
        if (value)
            store_1(d + bytes, v);
    }
}

/* Write rows with the value in the gap before each of them and after the last; d has space for
 * 16 bytes more. */
static void put_valued(char *d, const tni_pad_row *row, const char *s, int64_t s_step,
                       int64_t n, const char *value)
{
    char *body = d + row->left;
    const int64_t gap = row->bytes - row->body;
    rows(d, 0, value, 0, 1, row->left);
    if (gap <= 16 && row->body >= TNI_LINE) {
        near_rows(body, row, s, s_step, n, value, TNI_LINE);
    } else if (gap <= 16 && row->body >= 32) {
        near_rows(body, row, s, s_step, n, value, 32);
    } else if (gap <= 16 && row->body >= 16) {
        near_rows(body, row, s, s_step, n, value, 16);
    } else {
        rows(body, row->bytes, s, s_step, n, row->body);
        rows(body + row->body, row->bytes, value, 0, n, gap);
    }
}

static void put_edged(char *d, const tni_pad_row *row, const char *s, int64_t s_step, int64_t n)
{
    if (row->body >= TNI_LINE)
        near_rows(d + row->left, row, s, s_step, n, NULL, TNI_LINE);
    else
        short_rows(d + row->left, row->bytes, s, s_step, n, row->body);
    edges(d, row->bytes, row, s, s_step, n);
}

/* Append rows and stream them CHUNK bytes at a time: while the streaming stores drain, the next
 * rows are read. */
static void pad_append(tni_pad_buffer *k, const tni_pad_row *row, const char *s, int64_t s_step,
                       int64_t n, const char *value)
{
    const int64_t most = row->bytes < CHUNK ? CHUNK / row->bytes : 1;
    while (n > 0) {
        const int64_t now = n < most ? n : most;
        char *d = k->bytes + k->end;
        if (value)
            put_valued(d, row, s, s_step, now, value);
        else
            put_edged(d, row, s, s_step, now);
        k->end += now * row->bytes;
        s += now * s_step;
        n -= now;
        flush(k);
    }
}

const tni_pad_kernels TNI_TABLE(pad) = {

    .rows = rows,
    .gapped = gapped,
    .column = column,
    .edges = edges,
    .append = pad_append,
    .flush = flush};
