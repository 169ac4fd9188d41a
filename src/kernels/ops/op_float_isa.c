/* op_float_isa.c - the ops on floats that are expressions, for one instruction set.
 *
 * No product is fused with a sum here unless the op is fma: bits are the same everywhere. */
#include "core/core.h"
#include "kernels/simd/half_lanes.h"
#include "op_loop.h"

#define F(f) PASTE(f, N)
#define W    double

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

/* The next number after x towards y, in sign and magnitude bits; magnitudes above top are NaN.
 */
static inline uint64_t next(uint64_t x, uint64_t y, uint64_t sign, uint64_t top)
{
    const uint64_t size = x & (sign - 1), aim = y & (sign - 1);
    const int64_t from = x & sign ? -(int64_t)size : (int64_t)size;
    const int64_t to = y & sign ? -(int64_t)aim : (int64_t)aim;
    const uint64_t away = size == 0                    ? (y & sign) | 1
                          : (from < to) == !(x & sign) ? x + 1
                                                       : x - 1;
    return size > top ? x : aim > top || from == to ? y : away;
}

#define STEP(DT, TYPE, SIGN, TOP)                                                              \
    LOOP2(NEXTAFTER_##DT, TNI_BLOCK / (int)sizeof(TYPE), TYPE, uint64_t, TYPE,                 \
          next(x, y, SIGN, TOP))
STEP(F8E4M3, uint8_t, 0x80, 0x7e)
STEP(F8E5M2, uint8_t, 0x80, 0x7c)
STEP(F16, uint16_t, 0x8000, 0x7c00)
STEP(BF16, uint16_t, 0x8000, 0x7f80)
STEP(F32, uint32_t, 0x80000000, 0x7f800000)
STEP(F64, uint64_t, 0x8000000000000000, 0x7ff0000000000000)

#define MAKE_NONE(ENUM, ARITY, HOW, RULE)
#define MAKE_VMATH MAKE_NONE
#define MAKE_WIDE  MAKE_NONE
#define MAKE_LANES MAKE_NONE
#define MAKE_MATH  MAKE_NONE
#define MAKE_DEEP  MAKE_NONE
#define MAKE_STEP  MAKE_NONE
#define LOOPS(ENUM, ARITY, HOW, RULE)                                                          \
    LOOP##ARITY(PASTE(ENUM, N), TNI_BLOCK / (int)sizeof(T), T, T, STORES_##HOW(T), RULE)
#define MAKE_LOOP LOOPS

/* clang-format off */
#define T    float
#define N    _F32
#define B(g) __builtin_##g##f
#define BITS int32_t
#include "op_float.inc"
#define T    double
#define N    _F64
#define B(g) __builtin_##g
#define BITS int64_t
#include "op_float.inc"

#undef MAKE_LOOP
/* clang-format on */

/* Two bytes are widened to two blocks of f32, and what they give is rounded; where a byte for
 * each is stored, their order is kept. */
INLINE void widen_F16(char *d, const char *s, bool apart)
{
    (void)apart;
    for (int j = 0; j < TNI_BLOCK / 2; j += HALVES)
        f16_f32(d + 4 * j, s + 2 * j);
}

INLINE void round_F16(char *d, const char *s)
{
    for (int j = 0; j < TNI_BLOCK / 2; j += TWO_HALVES)
        f32_f16(d + 2 * j, s + 4 * j);
}

INLINE void widen_BF16(char *d, const char *s, bool apart)
{
    if (apart)
        bf16_apart(d, s);
    else
        bf16_f32(d, s);
}

INLINE void round_BF16(char *d, const char *s)
{
    bf16_together(d, s);
}

#define HALF(NAME, DT, WHOLE, ARITY, R)                                                        \
    INLINE void NAME##_block(BLOCK_HEAD)                                                       \
    {                                                                                          \
        char x[2 * TNI_BLOCK], y[2 * TNI_BLOCK], z[2 * TNI_BLOCK], r[2 * TNI_BLOCK];           \
        const bool round = sizeof(R) == 2;                                                     \
        widen_##DT(x, a, round);                                                               \
        widen_##DT(y, b, round);                                                               \
        widen_##DT(z, c, round);                                                               \
        for (int j = 0; j < 2 * TNI_BLOCK; j += TNI_BLOCK)                                     \
            WHOLE##_block(round ? r + j : d + j / 4, x + j, y + j, z + j, param);              \
        if (round)                                                                             \
            round_##DT(d, r);                                                                  \
    }                                                                                          \
    KERNEL(NAME, ARITY, TNI_BLOCK / 2 * sizeof(R))
#define MAKE_LOOP(ENUM, ARITY, HOW, RULE)                                                      \
    HALF(ENUM##_F16, F16, ENUM##_F32, ARITY, STORES_##HOW(uint16_t))                           \
    HALF(ENUM##_BF16, BF16, ENUM##_F32, ARITY, STORES_##HOW(uint16_t))
#define OP(ENUM, NAME, ARITY, HOW, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE)           \
    MAKE_##FLOAT(ENUM, ARITY, HOW, FRULE)
#include "ops.def"
#undef OP
#undef MAKE_LOOP

#define SLOT(DT) [TN_##DT - TN_F8E4M3]
#define ROW_NONE(ENUM)
#define ROW_VMATH ROW_NONE
#define ROW_WIDE  ROW_NONE
#define ROW_LANES ROW_NONE
#define ROW_MATH  ROW_NONE
#define ROW_DEEP  ROW_NONE
#define ROW_LOOP(ENUM)                                                                         \
    [TN_##ENUM] = {SLOT(F16) = ENUM##_F16, SLOT(BF16) = ENUM##_BF16, SLOT(F32) = ENUM##_F32,   \
                   SLOT(F64) = ENUM##_F64},
#define ROW_STEP(ENUM)                                                                         \
    [TN_##ENUM] = {SLOT(F8E4M3) = ENUM##_F8E4M3, SLOT(F8E5M2) = ENUM##_F8E5M2,                 \
                   SLOT(F16) = ENUM##_F16,       SLOT(BF16) = ENUM##_BF16,                     \
                   SLOT(F32) = ENUM##_F32,       SLOT(F64) = ENUM##_F64},

const tni_float_ops TNI_TABLE(float_ops) = {
#define OP(ENUM, NAME, ARITY, HOW, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE)           \
    ROW_##FLOAT(ENUM)
#include "ops.def"
#undef OP
};
