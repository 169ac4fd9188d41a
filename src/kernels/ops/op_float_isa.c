/* op_float_isa.c - the float ops that are expressions, for one instruction set.
 *
 * No product is fused with a sum unless the op is fma, so results are bit-identical
 * everywhere. */
#include "core/core.h"
#include "kernels/simd/half_lanes.h"
#include "op_loop.h"

#define F(f) PASTE(f, N)
#define W    double

/* How op_quotient.inc divides: f32 and f64 in f64, small quotients of f32 in f32.  Adding SHIFT
 * leaves a whole number.  left is a - q b without rounding, for a q near a / b and less than
 * MOST_TIMES.  Where fma would be a call of the C library, f32 operands are short enough for
 * one product; for f64, q times either half of the digits of b is exact, and so are both
 * differences, which are less than b.  left is -infinity if the product overflows. */
#define SHIFT_F32      0x1.8p52
#define SHIFT_F64      0x1.8p52
#define SHIFT_NEAR_F32 0x1.8p23f
#if defined(__FMA__) || defined(__aarch64__)
#define NEAR_F32            _NEAR_F32
#define MOST_TIMES_F32      0x1p51
#define MOST_TIMES_F64      0x1p51
#define MOST_TIMES_NEAR_F32 0x1p22f
static inline double left_F64(double a, double q, double b)
{
    return __builtin_fma(-q, b, a);
}
static inline double left_F32(double a, double q, double b)
{
    return left_F64(a, q, b);
}
static inline float left_NEAR_F32(float a, float q, float b)
{
    return __builtin_fmaf(-q, b, a);
}
#else
#define NEAR_F32       _F32
#define MOST_TIMES_F32 0x1p29
#define MOST_TIMES_F64 0x1p24
static inline double left_F64(double a, double q, double b)
{
    uint64_t bits;
    double high;
    memcpy(&bits, &b, sizeof bits);
    bits &= ~(uint64_t)0x3ffffff;
    memcpy(&high, &bits, sizeof high);
    return (a - q * high) - q * (b - high);
}
static inline double left_F32(double a, double q, double b)
{
    return a - q * b;
}
#endif

/* 1 / sqrt(x), rounded once. */
static inline float rsqrt_F32(float x)
{
    return (float)(1 / __builtin_sqrt((double)x));
}

static inline double rsqrt_F64(double x)
{
    const double y = 1 / __builtin_sqrt(x), high = x * y;
    const double low = __builtin_fma(x, y, -high);
    const double rest = __builtin_fma(-high, y, 1) - low * y; /* 1 - x y y */
    return x > 0 && x < INFINITY ? y + 0.5 * y * rest : y;
}

/* The neighbour of x towards y, all as sign and magnitude bits.  Magnitudes above top are NaN;
 * a computed NaN is `nan`. */
static inline uint64_t next(uint64_t x, uint64_t y, uint64_t sign, uint64_t top, uint64_t nan)
{
    const uint64_t size = x & (sign - 1), aim = y & (sign - 1);
    const int64_t from = x & sign ? -(int64_t)size : (int64_t)size;
    const int64_t to = y & sign ? -(int64_t)aim : (int64_t)aim;
    const uint64_t away = size == 0                    ? (y & sign) | 1
                          : (from < to) == !(x & sign) ? x + 1
                                                       : x - 1;
    return size > top || aim > top ? nan : from == to ? y : away;
}

/* clang-format off */
#define STEP    uint8_t, F8E4M3, 0x80, 0x7e, 0x7f
#include "op_step.inc"
#define STEP    uint8_t, F8E5M2, 0x80, 0x7c, 0x7e
#include "op_step.inc"
#define STEP    uint16_t, F16, 0x8000, 0x7c00, 0x7e00
#include "op_step.inc"
#define STEP    uint16_t, BF16, 0x8000, 0x7f80, 0x7fc0
#include "op_step.inc"
#define STEP    uint32_t, F32, 0x80000000, 0x7f800000, 0x7fc00000
#include "op_step.inc"
#define STEP    uint64_t, F64, 0x8000000000000000, 0x7ff0000000000000, 0x7ff8000000000000
#include "op_step.inc"

#define T       float
#define N       _F32
#define B(g)    __builtin_##g##f
#define BITS    int32_t
#define NEAR(f) PASTE(f, NEAR_F32)
#if defined(MOST_TIMES_NEAR_F32)
#define V       float
#define V_BITS  int32_t
#define M       _NEAR_F32
#include "op_quotient.inc"
#endif
#include "op_float.inc"
#define T       double
#define N       _F64
#define B(g)    __builtin_##g
#define BITS    int64_t
#define NEAR(f) F(f)
#include "op_float.inc"
/* clang-format on */

/* f16 and bf16 compute in f32: a block is widened to two blocks of f32, whose results are
 * rounded back.  split_lanes allows bf16_split_lanes, which changes the order of elements; ops
 * that store one byte per element need the order kept. */
typedef void half_widen(char *d, const char *s, bool split_lanes);
typedef void half_round(char *d, const char *s);

INLINE void widen_F16(char *d, const char *s, bool split_lanes)
{
    (void)split_lanes;
    for (int j = 0; j < TNI_BLOCK / 2; j += HALVES)
        f16_f32(d + 4 * j, s + 2 * j);
}

INLINE void round_F16(char *d, const char *s)
{
    for (int j = 0; j < TNI_BLOCK / 2; j += TWO_HALVES)
        f32_f16(d + 2 * j, s + 4 * j);
}

INLINE void widen_BF16(char *d, const char *s, bool split_lanes)
{
    if (split_lanes)
        bf16_split_lanes(d, s);
    else
        bf16_f32(d, s);
}

INLINE void round_BF16(char *d, const char *s)
{
    bf16_together(d, s);
}

/* Compute one block of f16 or bf16 by two blocks of the f32 kernel.  gives is the number of
 * bytes of a result: 2 for a number, 1 for a comparison. */
INLINE void half_block(BLOCK_HEAD, int gives, half_widen *widen, half_round *narrow,
                       op_block *whole)
{
    char x[2 * TNI_BLOCK], y[2 * TNI_BLOCK], z[2 * TNI_BLOCK], r[2 * TNI_BLOCK];
    const bool round = gives == 2;
    widen(x, a, round);
    widen(y, b, round);
    widen(z, c, round);
    for (int j = 0; j < 2 * TNI_BLOCK; j += TNI_BLOCK)
        whole(round ? r + j : d + j / 4, x + j, y + j, z + j, param);
    if (round)
        narrow(d, r);
}

/* clang-format off */
#define BYTES_SAME    2
#define BYTES_DIVIDE  2
#define BYTES_REAL    2
#define BYTES_COMPARE 1
#define HALF(ENUM, ARITY, DT, HALF_DT) \
    INLINE void ENUM##_##HALF_DT##_block(BLOCK_HEAD) \
    { half_block(BLOCK_ARGS, BYTES_##DT, widen_##HALF_DT, round_##HALF_DT, ENUM##_F32_block); } \
    KERNEL(ENUM##_##HALF_DT, ARITY, TNI_BLOCK / 2 * BYTES_##DT)
#define ON_LOOP(ENUM, ARITY, DT, PARAMS, RULE) \
    HALF(ENUM, ARITY, DT, F16) HALF(ENUM, ARITY, DT, BF16)
#define ON_QUOTIENT ON_LOOP
#define OP_FLOAT
#include "op_rows.h"

#define SLOT(DT) [TNI_SLOT_##DT]
#define HALVES_AND_FLOATS(ENUM) \
    SLOT(F16) = ENUM##_F16, SLOT(BF16) = ENUM##_BF16, SLOT(F32) = ENUM##_F32, SLOT(F64) = ENUM##_F64
const tni_float_ops TNI_TABLE(float_ops) = {
#define ON_LOOP(ENUM, ...) [TN_##ENUM] = {HALVES_AND_FLOATS(ENUM)},
#define ON_QUOTIENT        ON_LOOP
#define ON_STEP(ENUM, ...) \
    [TN_##ENUM] = {SLOT(F8E4M3) = ENUM##_F8E4M3, SLOT(F8E5M2) = ENUM##_F8E5M2, \
                   HALVES_AND_FLOATS(ENUM)},
#define OP_FLOAT
#include "op_rows.h"
};
/* clang-format on */
