/* cast_isa.c - conversions between dtypes on dense strips, for one instruction set.
 *
 * Each element is converted exactly as defined, so bits depend on nothing but the value. */
#include "cast_table.h"
#include "core/core.h"
#include "kernels/ops/op_loop.h"
#include "kernels/simd/half_lanes.h"

/* A loop of any length over distinct strips; x is one element of s.  Pieces of a few vectors
 * come first when d is streamed, or when sources are fetched ahead; EACH is the number of their
 * elements. */
#define CAST(NAME, FROM, TO, RULE)                                                             \
    INLINE void NAME##_any(char *d, const char *s, int64_t n)                                  \
    {                                                                                          \
        LOOSE(FROM, TO);                                                                       \
        INDEPENDENT for (int64_t j = 0; j < n; j++)                                            \
        {                                                                                      \
            const FROM x = AT(s, j);                                                           \
            SET(d, j) = (TO)(RULE);                                                            \
        }                                                                                      \
    }                                                                                          \
    PIECES(NAME, FROM, TO, NAME##_any, NAME##_any)
#define PIECES(NAME, FROM, TO, PIECE, ANY)                                                     \
    static void NAME(char *d, const char *s, int64_t n, int64_t ahead, bool stream)            \
    {                                                                                          \
        enum {                                                                                 \
            EACH = LINE_BYTES / (sizeof(FROM) < sizeof(TO) ? sizeof(FROM) : sizeof(TO)),       \
            READ = EACH * sizeof(FROM),                                                        \
            MADE = EACH * sizeof(TO)                                                           \
        };                                                                                     \
        for (; n >= EACH && stream; n -= EACH, d += MADE, s += READ) {                         \
            _Alignas(LINE_BYTES) char line[MADE];                                              \
            prefetch_block(s, READ, ahead);                                                    \
            PIECE(line, s, EACH);                                                              \
            for (int i = 0; i < MADE; i += LINE_BYTES)                                         \
                stream_line(d + i, line + i);                                                  \
        }                                                                                      \
        for (; n >= EACH && ahead; n -= EACH, d += MADE, s += READ) {                          \
            prefetch_block(s, READ, ahead);                                                    \
            PIECE(d, s, EACH);                                                                 \
        }                                                                                      \
        ANY(d, s, n);                                                                          \
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
    CAST(FROM##_U16, T, uint16_t, (int32_t)FLOOR0(x, 65535))
#define TO_LONG_INTS(FROM, T)                                                                  \
    CAST(FROM##_I64, T, int64_t, CHOOSE(x, -0x1p63f, 0x1p63f, int64_t, INT64_MIN, INT64_MAX))  \
    CAST(FROM##_U64, T, uint64_t, CHOOSE(x, 0, 0x1p64f, uint64_t, 0, UINT64_MAX))

TO_SMALL_INTS(F32, float)
TO_SMALL_INTS(F64, double)
CAST(F64_U8, double, uint8_t, (int32_t)FLOOR0(x, 255))
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

/* From integers and bool: to every native dtype; u8 to f32 is further down. */
#define FROM_INT(FROM, T, V)                                                                   \
    CAST(FROM##_BOOL, T, uint8_t, x != 0)                                                      \
    CAST(FROM##_I8, T, int8_t, V)                                                              \
    CAST(FROM##_I16, T, int16_t, V)                                                            \
    CAST(FROM##_I32, T, int32_t, V)                                                            \
    CAST(FROM##_I64, T, int64_t, V)                                                            \
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
CAST(BOOL_F32, uint8_t, float, x != 0)
CAST(I8_F32, int8_t, float, x)
CAST(I16_F32, int16_t, float, x)
CAST(I32_F32, int32_t, float, x)
CAST(I64_F32, int64_t, float, x)
CAST(U16_F32, uint16_t, float, x)
CAST(U32_F32, uint32_t, float, x)
CAST(U64_F32, uint64_t, float, x)

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

/* STEP elements at a time, the rest one by one. */
#define VECTORS(NAME, FROM, TO, STEP, MOVE, RULE)                                              \
    INLINE void NAME##_some(char *d, const char *s, int64_t n)                                 \
    {                                                                                          \
        LOOSE(FROM, TO);                                                                       \
        int64_t j = 0;                                                                         \
        for (; j + (STEP) <= n; j += (STEP))                                                   \
            MOVE(d + j * (int)sizeof(TO), s + j * (int)sizeof(FROM));                          \
        for (; j < n; j++) {                                                                   \
            const FROM x = AT(s, j);                                                           \
            SET(d, j) = (TO)(RULE);                                                            \
        }                                                                                      \
    }                                                                                          \
    PIECES(NAME, FROM, TO, NAME##_some, NAME##_some)
VECTORS(F16_F32, uint16_t, float, HALVES, f16_f32, tni_f32_of_f16(x))
VECTORS(F32_F16, float, uint16_t, TWO_HALVES, f32_f16, tni_f16_of_f32(x))

/* ---- u8 and f32: pictures ---- */

#if defined(__AVX512F__)
INLINE void u8_f32(char *d, const char *s)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)s);
    _mm512_storeu_ps((void *)d, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(x)));
}
INLINE __m512i whole(const char *s) /* at most 255; NaN and what is too small are INT_MIN */
{
    const __m512 x = _mm512_loadu_ps((const void *)s);
    return _mm512_cvttps_epi32(_mm512_min_ps(_mm512_set1_ps(255), x));
}
INLINE void f32_u8(char *d, const char *s)
{
    const __m512i a = _mm512_packs_epi32(whole(s), whole(s + 64));
    const __m512i b = _mm512_packs_epi32(whole(s + 128), whole(s + 192));
    const __m512i order =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i v = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(a, b));
    _mm512_storeu_si512((void *)d, v);
}
#elif defined(__AVX2__)
INLINE void u8_f32(char *d, const char *s)
{
    const __m128i x = _mm_loadl_epi64((const __m128i *)(const void *)s);
    _mm256_storeu_ps((float *)(void *)d, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x)));
}
INLINE __m256i whole(const char *s) /* at most 255; NaN and what is too small are INT_MIN */
{
    const __m256 x = _mm256_loadu_ps((const float *)(const void *)s);
    return _mm256_cvttps_epi32(_mm256_min_ps(_mm256_set1_ps(255), x));
}
INLINE void f32_u8(char *d, const char *s)
{
    const __m256i a = _mm256_packs_epi32(whole(s), whole(s + 32));
    const __m256i b = _mm256_packs_epi32(whole(s + 64), whole(s + 96));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i v = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order);
    _mm256_storeu_si256((__m256i *)(void *)d, v);
}
#endif
#if defined(__AVX2__)
VECTORS(U8_F32, uint8_t, float, HALVES, u8_f32, x)
VECTORS(F32_U8, float, uint8_t, 4 * HALVES, f32_u8, (int32_t)FLOOR0(x, 255))
#else
CAST(U8_F32, uint8_t, float, x)
CAST(F32_U8, float, uint8_t, (int32_t)FLOOR0(x, 255))
#endif

/* ---- complex numbers ---- */

#define COMPLEX(NAME, T)                                                                       \
    static void real_##NAME(char *d, const char *s, int64_t n, int64_t ahead, bool stream)     \
    {                                                                                          \
        LOOSE(T, T);                                                                           \
        (void)ahead, (void)stream;                                                             \
        for (int64_t j = 0; j < n; j++)                                                        \
            SET(d, j) = AT(s, 2 * j);                                                          \
    }                                                                                          \
    static void pair_##NAME(char *d, const char *s, int64_t n, int64_t ahead, bool stream)     \
    {                                                                                          \
        LOOSE(T, T);                                                                           \
        (void)ahead, (void)stream;                                                             \
        for (int64_t j = 0; j < n; j++) {                                                      \
            SET(d, 2 * j) = AT(s, j);                                                          \
            SET(d, 2 * j + 1) = 0;                                                             \
        }                                                                                      \
    }                                                                                          \
    static void truth_##NAME(char *d, const char *s, int64_t n, int64_t ahead, bool stream)    \
    {                                                                                          \
        LOOSE(T, uint8_t);                                                                     \
        (void)ahead, (void)stream;                                                             \
        for (int64_t j = 0; j < n; j++)                                                        \
            SET(d, j) = AT(s, 2 * j) != 0 || AT(s, 2 * j + 1) != 0;                            \
    }
COMPLEX(c64, float)
COMPLEX(c128, double)

static void c64_c128(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    F32_F64(d, s, 2 * n, ahead, stream);
}

static void c128_c64(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    F64_F32(d, s, 2 * n, ahead, stream);
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

const tni_cast_kernels TNI_TABLE(cast) = {
    .native = {INT_ROW(BOOL), INT_ROW(I8), INT_ROW(I16), WIDE_INT_ROW(I32), WIDE_INT_ROW(I64),
               INT_ROW(U8), INT_ROW(U16), WIDE_INT_ROW(U32), WIDE_INT_ROW(U64),
               FLOAT_ROW(F32, F32_F32), FLOAT_ROW(F64, F64_ODD)},
    .widen = {F8E4M3_F32, F8E5M2_F32, F16_F32, BF16_F32},
    .narrow = {F32_F8E4M3, F32_F8E5M2, F32_F16, F32_BF16},
    .real = {real_c64, real_c128},
    .pair = {pair_c64, pair_c128},
    .truth = {truth_c64, truth_c128},
    .across = {c64_c128, c128_c64},
};
