/* index_scalar.c - gather, scatter, and scatter with an operation, one element at a time. */
#include "index_table.h"

#include <math.h>
#include <string.h>

#include "core/core.h"

/* Prefetch distance in elements: Zen 4 keeps this many random reads in flight. */
enum { AHEAD = 16 };

/* With constant arguments this compiles to a loop of moves. */
static inline __attribute__((always_inline)) void gather_each(char *d, int64_t d_step,
                                                              const char *s, int64_t s_step,
                                                              const int64_t *at, int64_t n,
                                                              size_t bytes)
{
    for (int64_t k = 0; k < n; k++) {
        if (k + AHEAD < n)
            __builtin_prefetch(s + (k + AHEAD) * s_step + at[k + AHEAD]);
        memcpy(d + k * d_step, s + k * s_step + at[k], bytes);
    }
}

static inline __attribute__((always_inline)) void scatter_each(char *d, const char *s,
                                                               const int64_t *to,
                                                               const int64_t *from, int64_t n,
                                                               size_t bytes)
{
    for (int64_t k = 0; k < n; k++) {
        if (k + AHEAD < n)
            __builtin_prefetch(d + to[k + AHEAD], 1);
        memcpy(d + to[k], s + from[k], bytes);
    }
}

/* Expands CALL(bytes) for the width. */
#define EACH_WIDTH(CALL)                                                                       \
    switch (width_log2) {                                                                      \
    case 0:                                                                                    \
        CALL(1);                                                                               \
        break;                                                                                 \
    case 1:                                                                                    \
        CALL(2);                                                                               \
        break;                                                                                 \
    case 2:                                                                                    \
        CALL(4);                                                                               \
        break;                                                                                 \
    case 3:                                                                                    \
        CALL(8);                                                                               \
        break;                                                                                 \
    case 4:                                                                                    \
        CALL(16);                                                                              \
        break;                                                                                 \
    default:                                                                                   \
        CALL(32);                                                                              \
    }

void tni_gather(char *d, int64_t d_step, const char *s, int64_t s_step, const int64_t *at,
                int64_t n, int width_log2)
{
#define CALL(bytes) gather_each(d, d_step, s, s_step, at, n, bytes)
    EACH_WIDTH(CALL)
#undef CALL
}

void tni_scatter(char *d, const char *s, const int64_t *to, const int64_t *from, int64_t n,
                 int width_log2)
{
#define CALL(bytes) scatter_each(d, s, to, from, n, bytes)
    EACH_WIDTH(CALL)
#undef CALL
}

/* ---- scatter with an operation ---- */

enum { ADD = 1, MUL, MIN, MAX };

/* Integers wrap; they are unsigned 64-bit in between, so that nothing overflows. */
#define SUM(x, y)     (T)((uint64_t)(x) + (uint64_t)(y))
#define PRODUCT(x, y) (T)((uint64_t)(x) * (uint64_t)(y))
#define LESS(x, y)    ((y) < (x) ? (y) : (x))
#define MORE(x, y)    ((y) > (x) ? (y) : (x))
#define NAME(f)       combine_i8##f
#define T             int8_t
#include "index_combine.inc"
#define NAME(f) combine_i16##f
#define T       int16_t
#include "index_combine.inc"
#define NAME(f) combine_i32##f
#define T       int32_t
#include "index_combine.inc"
#define NAME(f) combine_i64##f
#define T       int64_t
#include "index_combine.inc"
#define NAME(f) combine_u8##f
#define T       uint8_t
#include "index_combine.inc"
#define NAME(f) combine_u16##f
#define T       uint16_t
#include "index_combine.inc"
#define NAME(f) combine_u32##f
#define T       uint32_t
#include "index_combine.inc"
#define NAME(f) combine_u64##f
#define T       uint64_t
#include "index_combine.inc"
#undef SUM
#undef PRODUCT
#undef LESS
#undef MORE

/* A computed NaN is the positive quiet one; a NaN in either operand propagates. */
#define SETTLED(r)    ((r) != (r) ? (T)NAN : (r))
#define SUM(x, y)     SETTLED((T)((x) + (y)))
#define PRODUCT(x, y) SETTLED((T)((x) * (y)))
#define LESS(x, y)    SETTLED((y) < (x) || (y) != (y) ? (y) : (x))
#define MORE(x, y)    SETTLED((y) > (x) || (y) != (y) ? (y) : (x))
#define NAME(f)       combine_f32##f
#define T             float
#include "index_combine.inc"
#define NAME(f) combine_f64##f
#define T       double
#include "index_combine.inc"

/* f64 has more than twice the digits of a narrow float, so rounding a sum or product to f64
 * first does not change the final rounding. */
static double combine_real(int op, double x, double y)
{
    const double r = op == ADD     ? x + y
                     : op == MUL   ? x * y
                     : isnan(y)    ? y
                     : (op == MIN) ? (y < x ? y : x)
                                   : (y > x ? y : x);
    return isnan(r) ? (double)NAN : r;
}

/* The product is computed in f64, as by the op mul. */
static void combine_complex(int op, char *d, const char *s, tn_dtype part)
{
    const int64_t im = tni_width(part);
    const double a = tni_load_real(d, part), b = tni_load_real(d + im, part);
    const double c = tni_load_real(s, part), e = tni_load_real(s + im, part);
    tni_store_real(d, part, op == ADD ? a + c : a * c - b * e);
    tni_store_real(d + im, part, op == ADD ? b + e : a * e + b * c);
}

typedef void (*combine_fn)(int op, char *d, const char *s, const int64_t *to,
                           const int64_t *from, int64_t n);

static const combine_fn combiners[TNI_DTYPES] = {
    [TN_I8] = combine_i8,   [TN_I16] = combine_i16, [TN_I32] = combine_i32,
    [TN_I64] = combine_i64, [TN_U8] = combine_u8,   [TN_U16] = combine_u16,
    [TN_U32] = combine_u32, [TN_U64] = combine_u64, [TN_F32] = combine_f32,
    [TN_F64] = combine_f64,
};

void tni_combine(int op, tn_dtype dtype, char *d, const char *s, const int64_t *to,
                 const int64_t *from, int64_t n)
{
    if (combiners[dtype]) {
        combiners[dtype](op, d, s, to, from, n);
        return;
    }
    const int64_t width = tni_width(dtype);
    for (int64_t k = 0; k < n; k++) {
        char *x = d + (to ? to[k] : k * width);
        const char *y = s + (to ? from[k] : k * width);
        if (tni_is_complex(dtype))
            combine_complex(op, x, y, tni_real_of(dtype));
        else
            tni_store_real(x, dtype,
                           combine_real(op, tni_load_real(x, dtype), tni_load_real(y, dtype)));
    }
}
