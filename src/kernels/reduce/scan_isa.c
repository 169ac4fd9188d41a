/* scan_isa.c - running sums and products for one instruction set. */
#include "scan.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/simd/nontemporal.h"
#include "kernels/table.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

typedef double group __attribute__((vector_size(64)));

#define NAME(f) f##_sum
#define COMBINE +
#define ABSENT  (-0.0)
#include "scan.inc"

#define NAME(f) f##_prod
#define COMBINE *
#define ABSENT  1.0
#include "scan.inc"

/* ---- sums from memory to memory ---- */

#if defined(__AVX2__)
#include "scan_quad.h"
#include "scan_rows3.h"
#if !defined(__AVX512F__)
#include "scan_exact.h"
#endif

#define NAME(f)                  f##_quad_f16
#define WIDTH                    2
#define LOAD(x)                  quad_f16(x)
#define SOME(x, w)               some_f16(x, w)
#define UNUSUAL(a, b)            nan_in(a, b)
#define PUT(d, v, odd)           put_quad_f16(d, v, odd)
#define FEW(d, v, odd, w)        put_some_f16(d, v, odd, w)
#define PAIR(d, lo, hi, odd, nt) put_pair_f16(d, lo, hi, odd, nt)
#include "scan_quad.inc"
#include "scan_totals.inc"

#define NAME(f)                  f##_quad_bf16
#define WIDTH                    2
#define LOAD(x)                  quad_bf16(x)
#define SOME(x, w)               some_bf16(x, w)
#define UNUSUAL(a, b)            odd_bf16(a, b)
#define PUT(d, v, odd)           put_quad_bf16(d, v, odd)
#define FEW(d, v, odd, w)        put_some_bf16(d, v, odd, w)
#define PAIR(d, lo, hi, odd, nt) put_pair_bf16(d, lo, hi, odd, nt)
#if !defined(__AVX512F__)
#define MANTISSA       7
#define BIAS           127
#define WIDEN(a, b, x) wide_pair_bf16(a, b, x)
#define NARROW(a, b)   narrow_pair_bf16(a, b)
#endif
#include "scan_quad.inc"
#include "scan_totals.inc"

#define NAME(f)                  f##_quad_f32
#define WIDTH                    4
#define LOAD(x)                  quad_f32(x)
#define SOME(x, w)               some_f32(x, w)
#define UNUSUAL(a, b)            nan_in(a, b)
#define PUT(d, v, odd)           put_quad_f32(d, v, odd)
#define FEW(d, v, odd, w)        put_some_f32(d, v, odd, w)
#define PAIR(d, lo, hi, odd, nt) put_pair_f32(d, lo, hi, odd, nt)
#define THREES(d, x, rows)       threes_f32(d, x, rows)
#include "scan_quad.inc"
#include "scan_totals.inc"

#define NAME(f)                  f##_quad_f64
#define WIDTH                    8
#define LOAD(x)                  quad_f64(x)
#define SOME(x, w)               some_f64(x, w)
#define UNUSUAL(a, b)            nan_in(a, b)
#define PUT(d, v, odd)           put_quad_f64(d, v, odd)
#define FEW(d, v, odd, w)        put_some_f64(d, v, odd, w)
#define PAIR(d, lo, hi, odd, nt) put_pair_f64(d, lo, hi, odd, nt)
#include "scan_quad.inc"
#include "scan_totals.inc"

#define SUMS(LINE, TOTAL, ROWS, TOTALS, ...)                                                   \
    {                                                                                          \
        .line = LINE, .total = TOTAL, .rows = ROWS, .totals = TOTALS, __VA_ARGS__              \
    }
#define QUADS(t)                                                                               \
    SUMS(sequence_quad_##t, total_quad_##t, rows_quad_##t, totals_quad_##t,                    \
         .most = TNI_SCAN_SHORT, .many = many_quad_##t)
#endif

#if defined(__AVX512F__)
#include "scan_wide.h"
#define SUMS_F16                                                                               \
    SUMS(sequence_f16, total_quad_f16, rows_f16, totals_quad_f16, .many = many_quad_f16)
#define SUMS_BF16                                                                              \
    SUMS(sequence_bf16, total_quad_bf16, rows_bf16, totals_quad_bf16, .many = many_quad_bf16)
#define SUMS_F32                                                                               \
    SUMS(sequence_sum32, total_sum32, rows_sum32, totals_quad_f32, .most = TNI_SCAN_SHORT,     \
         .many = many_quad_f32)
#define SUMS_F64 QUADS(f64)
#elif defined(__AVX2__)
#define SUMS_F16 QUADS(f16)
#define SUMS_BF16                                                                              \
    SUMS(sequence_quad_bf16, total_quad_bf16, exact_rows_quad_bf16, totals_quad_bf16,          \
         .narrow = 256, .most = 15, .many = many_quad_bf16)
#define SUMS_F32 QUADS(f32)
#define SUMS_F64 QUADS(f64)
#else
#include "scan_wide.h"
#define SUMS_F16                                                                               \
    {                                                                                          \
        .line = NULL                                                                           \
    }
#define SUMS_BF16                                                                              \
    {                                                                                          \
        .line = sequence_bf16, .rows = rows_bf16                                               \
    }
#define SUMS_F32                                                                               \
    {                                                                                          \
        .line = sequence_sum32, .total = total_sum32, .rows = rows_sum32                       \
    }
#define SUMS_F64                                                                               \
    {                                                                                          \
        .line = NULL                                                                           \
    }
#endif

/* ---- integers and keys, whose results do not depend on the order ---- */

/* With AVX2 keys are as wide as the elements; otherwise they have at least 32 bits. */
#if defined(__AVX2__)
#define SCAN_NARROW 1
#define KEY8        int8_t
#define KEY8_BITS   8
#define KEY16       int16_t
#define KEY16_BITS  16
#else
#define SCAN_NARROW 0
#define KEY8        int32_t
#define KEY8_BITS   32
#define KEY16       int32_t
#define KEY16_BITS  32
#endif

enum {
    SCAN_PIECE = 1024, /* keys; of 8 bytes they take a quarter of L1 */
    /* Dense rows of fewer columns are made keys many rows at a time, because the keys of one
     * row would not fill vectors.  Elements narrower than their keys gain from this up to more
     * columns (Zen 3, one thread: down 31 columns, bf16 8.1 GB/s instead of 3.1, f32 13.7
     * instead of 17.4). */
    SCAN_FEW = 16,
    SCAN_FEW_COLUMNS = 128,
    SCAN_FEW_BYTES = 256, /* of a row of keys: they fit registers */
    /* Bytes after the keys that MAX_ROWS may read or overwrite: it loads a row after the last
     * one, of up to SCAN_FEW_BYTES, as up to eight whole vectors. */
    SCAN_OVER = 512
};

#define JOIN_SCAN_(a, b) a##b
#define JOIN_SCAN(a, b)  JOIN_SCAN_(a, b)

typedef int64_t words64 __attribute__((vector_size(64)));
typedef int32_t words32 __attribute__((vector_size(64)));
typedef uint64_t group_words __attribute__((vector_size(64)));

#include "scan_words.h"

typedef uint64_t loose_words __attribute__((aligned(1), may_alias));

static void rows_int(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                     int64_t w, int64_t *state)
{
    int64_t i = 0;
#if SCAN_NARROW
    if (w == 3 && d_step == 24 && x_step == 24)
        i = three_int(d, x, rows, state), d += i * d_step, x += i * x_step;
#endif
    for (; i < rows; i++, d += d_step, x += x_step) {
        const loose_words *from = (const loose_words *)(const void *)x;
        loose_words *to = (loose_words *)(void *)d;
        INDEPENDENT for (int64_t c = 0; c < w; c++)
        {
            const uint64_t sum = (uint64_t)state[c] + from[c];
            state[c] = (int64_t)sum;
            to[c] = sum;
        }
    }
}

/* As rows_int, without d. */
static void totals_int(const char *x, int64_t x_step, int64_t rows, int64_t w, int64_t *state)
{
    for (int64_t i = 0; i < rows; i++, x += x_step) {
        const loose_words *from = (const loose_words *)(const void *)x;
        for (int64_t c = 0; c < w; c++)
            state[c] = (int64_t)((uint64_t)state[c] + from[c]);
    }
}

#if SCAN_NARROW
#include "scan_max_lanes.h"
#if !defined(__AVX512F__)
#include "scan_keys64.h"
#endif

#define BITS       8
#define MAX(a, b)  _mm256_max_epi8(a, b)
#define MORE(a, b) _mm256_cmpgt_epi8(a, b)
#define SAME(a, b) _mm256_cmpeq_epi8(a, b)
#include "scan_max_short.inc"
#define BITS       16
#define MAX(a, b)  _mm256_max_epi16(a, b)
#define MORE(a, b) _mm256_cmpgt_epi16(a, b)
#define SAME(a, b) _mm256_cmpeq_epi16(a, b)
#include "scan_max_short.inc"
#define BITS       32
#define MAX(a, b)  _mm256_max_epi32(a, b)
#define MORE(a, b) _mm256_cmpgt_epi32(a, b)
#define SAME(a, b) _mm256_cmpeq_epi32(a, b)
#include "scan_max_short.inc"
#define BITS       64
#define MAX(a, b)  larger64(a, b)
#define MORE(a, b) _mm256_cmpgt_epi64(a, b)
#define SAME(a, b) _mm256_cmpeq_epi64(a, b)
#include "scan_max_short.inc"
/* With AVX-512, 64 f32 or f64 are faster by themselves (Zen 5: 0.80 of a copy beside 0.72). */
#if defined(__AVX512F__)
#define MANY_WIDE 63
#else
#define MANY_WIDE TNI_SCAN_SHORT
#endif
#define MANY_KEYS(bits)                                                                        \
    .most = bits < 32 ? TNI_SCAN_SHORT : MANY_WIDE, .many = JOIN_SCAN(many, bits)
#else
#define MANY_KEYS(bits) .most = 0
#define K               int32_t
#define MAX_ROWS        max_rows32
#include "scan_max_rows.inc"
#define K        int64_t
#define MAX_ROWS max_rows64
#include "scan_max_rows.inc"
#endif

#define BITS     8
#define K        KEY8
#define MAX_SCAN JOIN_SCAN(max_scan, KEY8_BITS)
#define MAX_ROWS JOIN_SCAN(max_rows, KEY8_BITS)
#include "scan_keys.inc"
#define BITS     16
#define K        KEY16
#define MAX_SCAN JOIN_SCAN(max_scan, KEY16_BITS)
#define MAX_ROWS JOIN_SCAN(max_rows, KEY16_BITS)
#include "scan_keys.inc"
#define BITS     32
#define K        int32_t
#define MAX_SCAN max_scan32
#define MAX_ROWS max_rows32
#include "scan_keys.inc"
#define BITS     64
#define K        int64_t
#define MAX_SCAN max_scan64
#define MAX_ROWS max_rows64
#include "scan_keys.inc"

#define EXTREMES(bits, bytes)                                                                  \
    {                                                                                          \
        .key = bytes, .line = line##bits, .columns = columns##bits, .totals = totals##bits,    \
        MANY_KEYS(bits)                                                                        \
    }
const tni_scan_kernels TNI_TABLE(scan) = {
    .sum = sequence_sum,
    .prod = sequence_prod,
    .sums = {SUMS_F16, SUMS_BF16, SUMS_F32, SUMS_F64},
    .rows_sum = rows_sum,
    .rows_prod = rows_prod,
    .extremes = {EXTREMES(8, sizeof(KEY8)), EXTREMES(16, sizeof(KEY16)), EXTREMES(32, 4),
                 EXTREMES(64, 8)},
    .line_int = line_int,
    .rows_int = rows_int,
    .totals_int = totals_int,
#if SCAN_NARROW
    .many_int = many_int,
#endif
};
