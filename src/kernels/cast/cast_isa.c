/* cast_isa.c - conversions between dtypes on dense strips, for one instruction set.
 *
 * Each element is converted exactly as cast_table.h defines, so the bits of a result depend on
 * the value alone. */
#include "cast_table.h"
#include "core/core.h"
#include "kernels/ops/op_loop.h"
#include "kernels/simd/half_lanes.h"

#include "cast_odd.h"

/* ---- loops ---- */

typedef void cast_some(char *d, const char *s, int64_t n);
typedef void cast_step(char *d, const char *s);

/* The body of a kernel that converts elements of `from` bytes to elements of `to` bytes, by a
 * loop `some` over n of them.  If d is streamed or sources are prefetched, it proceeds in
 * pieces of a few vectors.  Inlined with constant arguments. */
INLINE void cast_pieces(char *d, const char *s, int64_t n, int64_t ahead, bool stream,
                        int64_t from, int64_t to, cast_some *some)
{
    enum { MOST = TNI_LINE * 8 }; /* 64 elements of 1 byte become 8 bytes each */
    const int64_t each = TNI_LINE / (from < to ? from : to);
    const int64_t read = each * from, made = each * to;
    ASSERT(made <= MOST);
    for (; n >= each && stream; n -= each, d += made, s += read) {
        _Alignas(TNI_LINE) char line[MOST];
        prefetch_block(s, read, ahead);
        some(line, s, each);
        for (int64_t i = 0; i < made; i += TNI_LINE)
            stream_line(d + i, line + i);
    }
    for (; n >= each && ahead; n -= each, d += made, s += read) {
        prefetch_block(s, read, ahead);
        some(d, s, each);
    }
    some(d, s, n);
}

/* Convert vectors of `count` elements, and the remaining elements one by one. */
INLINE void cast_vectors(char *d, const char *s, int64_t n, int64_t count, int64_t from,
                         int64_t to, cast_step *vector, cast_step *one)
{
    for (; n >= count; n -= count, d += count * to, s += count * from)
        vector(d, s);
    for (; n > 0; n--, d += to, s += from)
        one(d, s);
}

/* ---- element by element: CAST is a name, the types of s and d, and the rule for an element x
 * ---- */

/* Float to integer.  CLAMP is for bounds that the float type represents exactly, CHOOSE for
 * others. */
#define CLAMP(x, LOW, HIGH) ((x) != (x) ? 0 : (x) < (LOW) ? (LOW) : (x) > (HIGH) ? (HIGH) : (x))
#define CHOOSE(x, LOW, TOP, TYPE, MIN, MAX)                                                    \
    ((x) != (x) ? 0 : (x) < (LOW) ? (MIN) : (x) >= (TOP) ? (MAX) : (TYPE)(x))

/* For unsigned dtypes: a NaN fails the comparison and yields the lower bound. */
#define FLOOR0(x, HIGH) ((x) > 0 ? (x) < (HIGH) ? (x) : (HIGH) : 0)

/* clang-format off */
#define N F32
#define T float
#include "cast_float.inc"
#define N F64
#define T double
#include "cast_float.inc"
#define CAST F64_U8, double, uint8_t, (int32_t)FLOOR0(x, 255)
#include "cast_loop.inc"
#define CAST F32_I32, float, int32_t, CHOOSE(x, -0x1p31f, 0x1p31f, int32_t, INT32_MIN, INT32_MAX)
#include "cast_loop.inc"
#define CAST F32_U32, float, uint32_t, CHOOSE(x, 0, 0x1p32f, uint32_t, 0, UINT32_MAX)
#include "cast_loop.inc"
#define CAST F64_I32, double, int32_t, CLAMP(x, -0x1p31, 0x1p31 - 1)
#include "cast_loop.inc"
#define CAST F64_U32, double, uint32_t, (int64_t)CLAMP(x, 0, 0x1p32 - 1)
#include "cast_loop.inc"

#define N     BOOL
#define T     uint8_t
#define VALUE x != 0
#include "cast_int.inc"
#define N     I8
#define T     int8_t
#define VALUE x
#include "cast_int.inc"
#define N     I16
#define T     int16_t
#define VALUE x
#include "cast_int.inc"
#define N     I32
#define T     int32_t
#define VALUE x
#include "cast_int.inc"
#define N     I64
#define T     int64_t
#define VALUE x
#include "cast_int.inc"
#define N     U8
#define T     uint8_t
#define VALUE x
#include "cast_int.inc"
#define N     U16
#define T     uint16_t
#define VALUE x
#include "cast_int.inc"
#define N     U32
#define T     uint32_t
#define VALUE x
#include "cast_int.inc"
#define N     U64
#define T     uint64_t
#define VALUE x
#include "cast_int.inc"

/* To f32; u8 follows further down. */
#define CAST BOOL_F32, uint8_t, float, x != 0
#include "cast_loop.inc"
#define CAST I8_F32, int8_t, float, x
#include "cast_loop.inc"
#define CAST I16_F32, int16_t, float, x
#include "cast_loop.inc"
#define CAST I32_F32, int32_t, float, x
#include "cast_loop.inc"
#define CAST I64_F32, int64_t, float, x
#include "cast_loop.inc"
#define CAST U16_F32, uint16_t, float, x
#include "cast_loop.inc"
#define CAST U32_F32, uint32_t, float, x
#include "cast_loop.inc"
#define CAST U64_F32, uint64_t, float, x
#include "cast_loop.inc"

/* To f32, rounded to odd (see cast_table.c). */
#if defined(__AVX2__)
static void F64_ODD(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    cast_pieces(d, s, n, ahead, stream, 8, 4, f64_odds);
}
#else
#define CAST F64_ODD, double, float, tni_f32_odd(x)
#include "cast_loop.inc"
#endif
#define CAST I32_ODD, int32_t, float, tni_f32_odd((double)x)
#include "cast_loop.inc"
#define CAST U32_ODD, uint32_t, float, tni_f32_odd((double)x)
#include "cast_loop.inc"
#define CAST I64_ODD, int64_t, float, tni_f32_odd(tni_f64_odd_i64(x))
#include "cast_loop.inc"
#define CAST U64_ODD, uint64_t, float, tni_f32_odd(tni_f64_odd_u64(x))
#include "cast_loop.inc"

/* Narrow floats. */
#define CAST F8E4M3_F32, uint8_t, float, tni_f32_of_f8e4m3(x)
#include "cast_loop.inc"
#define CAST F8E5M2_F32, uint8_t, float, tni_f32_of_f8e5m2(x)
#include "cast_loop.inc"
#define CAST F32_F8E4M3, float, uint8_t, tni_f8e4m3_of_f32(x)
#include "cast_loop.inc"
#define CAST F32_F8E5M2, float, uint8_t, tni_f8e5m2_of_f32(x)
#include "cast_loop.inc"
#define CAST BF16_F32, uint16_t, float, tni_f32_of_bf16(x)
#include "cast_loop.inc"
#define CAST F32_BF16, float, uint16_t, tni_bf16_of_f32(x)
#include "cast_loop.inc"
/* clang-format on */

INLINE void f16_f32_one(char *d, const char *s)
{
    uint16_t x;
    memcpy(&x, s, sizeof x);
    const float r = tni_f32_of_f16(x);
    memcpy(d, &r, sizeof r);
}

INLINE void f32_f16_one(char *d, const char *s)
{
    float x;
    memcpy(&x, s, sizeof x);
    const uint16_t r = tni_f16_of_f32(x);
    memcpy(d, &r, sizeof r);
}

INLINE void F16_F32_some(char *d, const char *s, int64_t n)
{
    cast_vectors(d, s, n, HALVES, 2, 4, f16_f32, f16_f32_one);
}

INLINE void F32_F16_some(char *d, const char *s, int64_t n)
{
    cast_vectors(d, s, n, TWO_HALVES, 4, 2, f32_f16, f32_f16_one);
}

static void F16_F32(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    cast_pieces(d, s, n, ahead, stream, 2, 4, F16_F32_some);
}

static void F32_F16(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    cast_pieces(d, s, n, ahead, stream, 4, 2, F32_F16_some);
}

/* ---- u8 and f32, as in images ---- */

#if defined(__AVX512F__)
INLINE void u8_f32(char *d, const char *s)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)s);
    _mm512_storeu_ps((void *)d, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(x)));
}
INLINE __m512i whole(const char *s) /* at most 255; NaN and values below INT_MIN give INT_MIN */
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
INLINE __m256i whole(const char *s) /* at most 255; NaN and values below INT_MIN give INT_MIN */
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
INLINE void u8_f32_one(char *d, const char *s)
{
    const float r = (unsigned char)*s;
    memcpy(d, &r, sizeof r);
}

INLINE void f32_u8_one(char *d, const char *s)
{
    float x;
    memcpy(&x, s, sizeof x);
    *(unsigned char *)d = (unsigned char)(int32_t)FLOOR0(x, 255);
}

INLINE void U8_F32_some(char *d, const char *s, int64_t n)
{
    cast_vectors(d, s, n, HALVES, 1, 4, u8_f32, u8_f32_one);
}

INLINE void F32_U8_some(char *d, const char *s, int64_t n)
{
    cast_vectors(d, s, n, 4 * HALVES, 4, 1, f32_u8, f32_u8_one);
}

static void U8_F32(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    cast_pieces(d, s, n, ahead, stream, 1, 4, U8_F32_some);
}

static void F32_U8(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    cast_pieces(d, s, n, ahead, stream, 4, 1, F32_U8_some);
}
#else
#define CAST U8_F32, uint8_t, float, x
#include "cast_loop.inc"
#define CAST F32_U8, float, uint8_t, (int32_t)FLOOR0(x, 255)
#include "cast_loop.inc"
#endif

/* ---- complex numbers ---- */

#define N c64
#define T float
#include "cast_complex.inc"
#define N c128
#define T double
#include "cast_complex.inc"

static void c64_c128(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    F32_F64(d, s, 2 * n, ahead, stream);
}

static void c128_c64(char *d, const char *s, int64_t n, int64_t ahead, bool stream)
{
    F64_F32(d, s, 2 * n, ahead, stream);
}

/* Conversions to signed and unsigned integers are the same: both keep the low bits. */
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
