/* key_isa.c - order-independent reductions for one instruction set: keys by width, integers by
 * dtype. */
#include "key.h"

#include "byte_sum.h"
#include "kernels/table.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define JOIN_KEY_(a, b) a##b
#define JOIN_KEY(a, b)  JOIN_KEY_(a, b)

#define T       int8_t
#define UT      uint8_t
#define INDEXED int32_t
#define BITS    8
#include "key.inc"
#define T       int16_t
#define UT      uint16_t
#define INDEXED int32_t
#define BITS    16
#include "key.inc"
#define T       int32_t
#define UT      uint32_t
#define INDEXED int64_t
#define BITS    32
#include "key.inc"
#define T       int64_t
#define UT      uint64_t
#define INDEXED int64_t
#define BITS    64
#include "key.inc"

/* Columns whose accumulators stay in registers: 64 sums of bytes, 16 bits each, fill two
 * vectors of AVX-512 or four of AVX2.  docs/investigations/reductions.md measures short
 * rows. */
enum { PACKED_SOME = 64 };

/* The first of the PACKED_SOME columns to process at c.  The last group ends at w and overlaps
 * the group before it. */
INLINE int64_t last_some(int64_t c, int64_t w)
{
    return c + PACKED_SOME <= w ? c : w - PACKED_SOME;
}

#define T         uint8_t
#define NAME_T(f) f##_bool
#define IS_BOOL
#define VALUE(x)   ((x) != 0)
#define SUM2048_T  int32_t
#define SUM8_T     int16_t
#define COLUMN_T   int32_t
#define SQUARE_T   int32_t
#define SQUARES2_T uint16_t
#define SQUARES_T  int32_t
#include "wrap.inc"
#define T          int8_t
#define NAME_T(f)  f##_i8
#define BIAS       0x80
#define VALUE(x)   (x)
#define SUM2048_T  int32_t
#define SUM8_T     int16_t
#define COLUMN_T   int32_t
#define SQUARE_T   int32_t
#define SQUARES2_T uint16_t
#define SQUARES_T  int32_t
#include "wrap.inc"
#define T          int16_t
#define NAME_T(f)  f##_i16
#define VALUE(x)   (x)
#define SUM2048_T  int32_t
#define SUM8_T     int32_t
#define COLUMN_T   int32_t
#define SQUARE_T   int32_t
#define SQUARES2_T uint32_t
#define SQUARES_T  int64_t
#include "wrap.inc"
#define T          int32_t
#define NAME_T(f)  f##_i32
#define VALUE(x)   (x)
#define SUM2048_T  int64_t
#define SUM8_T     int64_t
#define COLUMN_T   uint64_t
#define SQUARE_T   uint64_t
#define SQUARES2_T uint64_t
#define SQUARES_T  uint64_t
#include "wrap.inc"
#define T          int64_t
#define NAME_T(f)  f##_i64
#define VALUE(x)   (x)
#define SUM2048_T  uint64_t
#define SUM8_T     uint64_t
#define COLUMN_T   uint64_t
#define SQUARE_T   uint64_t
#define SQUARES2_T uint64_t
#define SQUARES_T  uint64_t
#include "wrap.inc"
#define T          uint8_t
#define NAME_T(f)  f##_u8
#define BIAS       0
#define VALUE(x)   (x)
#define SUM2048_T  int32_t
#define SUM8_T     int16_t
#define COLUMN_T   int32_t
#define SQUARE_T   int32_t
#define SQUARES2_T int32_t
#define SQUARES_T  int32_t
#include "wrap.inc"
#define T          uint16_t
#define NAME_T(f)  f##_u16
#define VALUE(x)   (x)
#define SUM2048_T  int32_t
#define SUM8_T     int32_t
#define COLUMN_T   int32_t
#define SQUARE_T   uint32_t
#define SQUARES2_T uint64_t
#define SQUARES_T  int64_t
#include "wrap.inc"
#define T          uint32_t
#define NAME_T(f)  f##_u32
#define VALUE(x)   (x)
#define SUM2048_T  int64_t
#define SUM8_T     int64_t
#define COLUMN_T   uint64_t
#define SQUARE_T   uint64_t
#define SQUARES2_T uint64_t
#define SQUARES_T  uint64_t
#include "wrap.inc"
#define T          uint64_t
#define NAME_T(f)  f##_u64
#define VALUE(x)   (x)
#define SUM2048_T  uint64_t
#define SUM8_T     uint64_t
#define COLUMN_T   uint64_t
#define SQUARE_T   uint64_t
#define SQUARES2_T uint64_t
#define SQUARES_T  uint64_t
#include "wrap.inc"

/* ---- elements that reach a bound ---- */

typedef float loose_f32 __attribute__((aligned(1), may_alias));

/* One bit for each of 32 elements. */
INLINE uint32_t reach_bits(const char *x, float bound, bool below)
{
#if defined(__AVX512F__)
    const __m512 b = _mm512_set1_ps(bound), v = _mm512_loadu_ps(x), w = _mm512_loadu_ps(x + 64);
    if (below)
        return _mm512_cmp_ps_mask(v, b, _CMP_LE_OQ) |
               (uint32_t)_mm512_cmp_ps_mask(w, b, _CMP_LE_OQ) << 16;
    return _mm512_cmp_ps_mask(v, b, _CMP_NLT_UQ) |
           (uint32_t)_mm512_cmp_ps_mask(w, b, _CMP_NLT_UQ) << 16;
#else
    const loose_f32 *p = (const loose_f32 *)(const void *)x;
    int any = 0;
    for (int j = 0; j < 32; j++)
        any |= below ? p[j] <= bound : !(p[j] < bound);
    uint32_t found = 0;
    for (int j = 0; any && j < 32; j++)
        found |= (uint32_t)(below ? p[j] <= bound : !(p[j] < bound)) << j;
    return found;
#endif
}

INLINE int64_t reach_by(uint32_t *at, const char *x, int64_t n, float bound, bool below)
{
    const loose_f32 *p = (const loose_f32 *)(const void *)x;
    int64_t have = 0, i = 0;
    for (; i + 32 <= n; i += 32)
        for (uint32_t b = reach_bits(x + 4 * i, bound, below); b; b &= b - 1)
            at[have++] = (uint32_t)(i + __builtin_ctz(b));
    for (; i < n; i++)
        if (below ? p[i] <= bound : !(p[i] < bound))
            at[have++] = (uint32_t)i;
    return have;
}

static int64_t reach32(uint32_t *at, const char *x, int64_t n, float bound, bool below)
{
    return below ? reach_by(at, x, n, bound, true) : reach_by(at, x, n, bound, false);
}

#define KEYS(W)                                                                                \
    {                                                                                          \
        .max = max##W, .ends = ends_max##W, .arg = arg##W, .find = find##W,                    \
        .rows_max = rows_max##W, .rows_arg = rows_arg##W, .merge = merge##W,                   \
        .count = count##W, .elements = elements##W, .rows_count = rows_count##W,               \
        .packed_max = packed_max##W, .packed_ends = packed_ends##W,                            \
        .packed_arg = packed_arg##W, .packed_count = packed_count##W                           \
    }
#define WRAP(N)                                                                                \
    {                                                                                          \
        .sum = sum_##N, .prod = prod_##N, .sumsq = sumsq_##N, .dot = dot_##N,                  \
        .rows_sum = rows_sum_##N, .rows_prod = rows_prod_##N, .rows_sumsq = rows_sumsq_##N,    \
        .rows_moments = rows_moments_##N, .packed_sum = packed_sum_##N,                        \
        .packed_prod = packed_prod_##N, .packed_sumsq = packed_sumsq_##N                       \
    }
const tni_key_table TNI_TABLE(key) = {
    .key = {KEYS(8), KEYS(16), KEYS(32), KEYS(64)},
    .wrap = {WRAP(bool), WRAP(i8), WRAP(i16), WRAP(i32), WRAP(i64), WRAP(u8), WRAP(u16),
             WRAP(u32), WRAP(u64)},
    .reach32 = reach32,
};
