/* cast_isa.c - conversions between dtypes on dense strips, for one instruction set.
 *
 * Each element is converted exactly as defined, so bits depend on nothing but the value. */
#include "cast_table.h"
#include "core/core.h"
#include "op_loop.h"

/* A loop of any length over distinct strips; x is one element of s. */
#define CAST(NAME, FROM, TO, RULE)                                                             \
    static void NAME(char *d, const char *s, int64_t n)                                        \
    {                                                                                          \
        LOOSE(FROM, TO);                                                                       \
        INDEPENDENT for (int64_t j = 0; j < n; j++)                                            \
        {                                                                                      \
            const FROM x = AT(s, j);                                                           \
            SET(d, j) = (TO)(RULE);                                                            \
        }                                                                                      \
    }

/* Float to integer.  A bound that the float holds clamps; the others choose. */
#define CLAMP(x, LOW, HIGH) ((x) != (x) ? 0 : (x) < (LOW) ? (LOW) : (x) > (HIGH) ? (HIGH) : (x))
#define CHOOSE(x, LOW, TOP, TYPE, MIN, MAX)                                                    \
    ((x) != (x) ? 0 : (x) < (LOW) ? (MIN) : (x) >= (TOP) ? (MAX) : (TYPE)(x))

/* For unsigned dtypes NaN falls on the low bound by itself. */
#define FLOOR0(x, HIGH) ((x) > 0 ? (x) < (HIGH) ? (x) : (HIGH) : 0)

#define TO_SMALL_INTS(FROM, T)                                                                 \
    CAST(FROM##_I8, T, int8_t, (int32_t)CLAMP(x, -128, 127))                                   \
    CAST(FROM##_I16, T, int16_t, (int32_t)CLAMP(x, -32768, 32767))                             \
    CAST(FROM##_U8, T, uint8_t, (int32_t)FLOOR0(x, 255))                                       \
    CAST(FROM##_U16, T, uint16_t, (int32_t)FLOOR0(x, 65535))
#define TO_LONG_INTS(FROM, T)                                                                  \
    CAST(FROM##_I64, T, int64_t, CHOOSE(x, -0x1p63f, 0x1p63f, int64_t, INT64_MIN, INT64_MAX))  \
    CAST(FROM##_U64, T, uint64_t, CHOOSE(x, 0, 0x1p64f, uint64_t, 0, UINT64_MAX))

TO_SMALL_INTS(F32, float)
TO_SMALL_INTS(F64, double)
TO_LONG_INTS(F32, float)
TO_LONG_INTS(F64, double)
CAST(F32_I32, float, int32_t, CHOOSE(x, -0x1p31f, 0x1p31f, int32_t, INT32_MIN, INT32_MAX))
CAST(F32_U32, float, uint32_t, CHOOSE(x, 0, 0x1p32f, uint32_t, 0, UINT32_MAX))
CAST(F64_I32, double, int32_t, CLAMP(x, -0x1p31, 0x1p31 - 1))
CAST(F64_U32, double, uint32_t, (int64_t)CLAMP(x, 0, 0x1p32 - 1))
CAST(F32_F32, float, float, x)
CAST(F64_F64, double, double, x)
CAST(F32_F64, float, double, x)
CAST(F64_F32, double, float, x)
CAST(F32_BOOL, float, uint8_t, x != 0)
CAST(F64_BOOL, double, uint8_t, x != 0)

/* From integers and bool: to every plain dtype. */
#define FROM_INT(FROM, T, V)                                                                   \
    CAST(FROM##_BOOL, T, uint8_t, x != 0)                                                      \
    CAST(FROM##_I8, T, int8_t, V)                                                              \
    CAST(FROM##_I16, T, int16_t, V)                                                            \
    CAST(FROM##_I32, T, int32_t, V)                                                            \
    CAST(FROM##_I64, T, int64_t, V)                                                            \
    CAST(FROM##_F32, T, float, V)                                                              \
    CAST(FROM##_F64, T, double, V)
FROM_INT(BOOL, uint8_t, x != 0)
FROM_INT(I8, int8_t, x)
FROM_INT(I16, int16_t, x)
FROM_INT(I32, int32_t, x)
FROM_INT(I64, int64_t, x)
FROM_INT(U8, uint8_t, x)
FROM_INT(U16, uint16_t, x)
FROM_INT(U32, uint32_t, x)
FROM_INT(U64, uint64_t, x)

/* To f32, rounded to odd. */
CAST(F64_ODD, double, float, tni_f32_odd(x))
CAST(I32_ODD, int32_t, float, tni_f32_odd((double)x))
CAST(U32_ODD, uint32_t, float, tni_f32_odd((double)x))
CAST(I64_ODD, int64_t, float, tni_f32_odd(tni_f64_odd_i64(x)))
CAST(U64_ODD, uint64_t, float, tni_f32_odd(tni_f64_odd_u64(x)))

/* ---- small floats ---- */

CAST(F8E4M3_F32, uint8_t, float, tni_f32_of_f8e4m3(x))
CAST(F8E5M2_F32, uint8_t, float, tni_f32_of_f8e5m2(x))
CAST(F32_F8E4M3, float, uint8_t, tni_f8e4m3_of_f32(x))
CAST(F32_F8E5M2, float, uint8_t, tni_f8e5m2_of_f32(x))
CAST(BF16_F32, uint16_t, float, tni_f32_of_bf16(x))
CAST(F32_BF16, float, uint16_t, tni_bf16_of_f32(x))
CAST(f16_f32_tail, uint16_t, float, tni_f32_of_f16(x))
CAST(f32_f16_tail, float, uint16_t, tni_f16_of_f32(x))

#if defined(__AVX512F__)
#include <immintrin.h>
#define HALVES        16
#define WIDEN(s)      _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(s)))
#define PUT_F32       _mm512_storeu_ps
#define GET_F32(s)    _mm512_loadu_ps((const void *)(s))
#define NARROW(v)     _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)
#define PUT_F16(d, v) _mm256_storeu_si256((__m256i *)(void *)(d), v)
#elif defined(__F16C__)
#include <immintrin.h>
#define HALVES        8
#define WIDEN(s)      _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(s)))
#define PUT_F32       _mm256_storeu_ps
#define GET_F32(s)    _mm256_loadu_ps((const float *)(const void *)(s))
#define NARROW(v)     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)
#define PUT_F16(d, v) _mm_storeu_si128((__m128i *)(void *)(d), v)
#endif

#if defined(HALVES)
static void F16_F32(char *d, const char *s, int64_t n)
{
    for (; n >= HALVES; n -= HALVES, d += 4 * HALVES, s += 2 * HALVES)
        PUT_F32((float *)(void *)d, WIDEN(s));
    f16_f32_tail(d, s, n);
}

static void F32_F16(char *d, const char *s, int64_t n)
{
    for (; n >= HALVES; n -= HALVES, d += 2 * HALVES, s += 4 * HALVES)
        PUT_F16(d, NARROW(GET_F32(s)));
    f32_f16_tail(d, s, n);
}
#else
#define F16_F32 f16_f32_tail
#define F32_F16 f32_f16_tail
#endif

/* ---- complex numbers ---- */

#define COMPLEX(NAME, T)                                                                       \
    static void real_##NAME(char *d, const char *s, int64_t n)                                 \
    {                                                                                          \
        LOOSE(T, T);                                                                           \
        for (int64_t j = 0; j < n; j++)                                                        \
            SET(d, j) = AT(s, 2 * j);                                                          \
    }                                                                                          \
    static void pair_##NAME(char *d, const char *s, int64_t n)                                 \
    {                                                                                          \
        LOOSE(T, T);                                                                           \
        for (int64_t j = 0; j < n; j++) {                                                      \
            SET(d, 2 * j) = AT(s, j);                                                          \
            SET(d, 2 * j + 1) = 0;                                                             \
        }                                                                                      \
    }                                                                                          \
    static void truth_##NAME(char *d, const char *s, int64_t n)                                \
    {                                                                                          \
        LOOSE(T, uint8_t);                                                                     \
        for (int64_t j = 0; j < n; j++)                                                        \
            SET(d, j) = AT(s, 2 * j) != 0 || AT(s, 2 * j + 1) != 0;                            \
    }
COMPLEX(c64, float)
COMPLEX(c128, double)

static void c64_c128(char *d, const char *s, int64_t n)
{
    F32_F64(d, s, 2 * n);
}

static void c128_c64(char *d, const char *s, int64_t n)
{
    F64_F32(d, s, 2 * n);
}

/* Signed and unsigned have the same low bits. */
#define INT_ROW(FROM)                                                                          \
    {                                                                                          \
        FROM##_BOOL, FROM##_I8, FROM##_I16, FROM##_I32, FROM##_I64, FROM##_I8, FROM##_I16,     \
            FROM##_I32, FROM##_I64, FROM##_F32, FROM##_F64, FROM##_F32                         \
    }
#define WIDE_INT_ROW(FROM)                                                                     \
    {                                                                                          \
        FROM##_BOOL, FROM##_I8, FROM##_I16, FROM##_I32, FROM##_I64, FROM##_I8, FROM##_I16,     \
            FROM##_I32, FROM##_I64, FROM##_F32, FROM##_F64, FROM##_ODD                         \
    }
#define FLOAT_ROW(FROM, ODD)                                                                   \
    {                                                                                          \
        FROM##_BOOL, FROM##_I8, FROM##_I16, FROM##_I32, FROM##_I64, FROM##_U8, FROM##_U16,     \
            FROM##_U32, FROM##_U64, FROM##_F32, FROM##_F64, ODD                                \
    }

const tni_cast_kernels JOIN(tni_cast_kernels_, TNI_ISA) = {
    .plain = {INT_ROW(BOOL), INT_ROW(I8), INT_ROW(I16), WIDE_INT_ROW(I32), WIDE_INT_ROW(I64),
              INT_ROW(U8), INT_ROW(U16), WIDE_INT_ROW(U32), WIDE_INT_ROW(U64),
              FLOAT_ROW(F32, F32_F32), FLOAT_ROW(F64, F64_ODD)},
    .widen = {F8E4M3_F32, F8E5M2_F32, F16_F32, BF16_F32},
    .narrow = {F32_F8E4M3, F32_F8E5M2, F32_F16, F32_BF16},
    .real = {real_c64, real_c128},
    .pair = {pair_c64, pair_c128},
    .truth = {truth_c64, truth_c128},
    .across = {c64_c128, c128_c64},
};
