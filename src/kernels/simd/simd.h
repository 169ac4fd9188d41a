/* simd.h - the vector operations of the copying kernels.
 *
 * A vector is K blocks of 16 bytes (vec_1, vec_2, vec_4).  gather_K loads block l from s + l *
 * step; lo_W_K and hi_W_K interleave, inside each block, the W-byte elements of the low or the
 * high halves of a and b; store_K writes 16 * K bytes.  Only stream_K and stream_line require
 * alignment. */
#ifndef TNI_SIMD_H
#define TNI_SIMD_H

#include <stdint.h>
#include <string.h>

#include "nontemporal.h"

/* Unroll the following loop completely. */
#if defined(__clang__)
#define UNROLL     _Pragma("clang loop unroll(full)")
#define UNROLL_GCC /* clang unrolls early-exit loops by itself, or warns that it cannot */
#else
#define UNROLL     _Pragma("GCC unroll 16")
#define UNROLL_GCC UNROLL
#endif

#define JOIN_(a, b)     a##_##b
#define JOIN(a, b)      JOIN_(a, b)
#define JOIN3_(a, b, c) a##_##b##_##c
#define JOIN3(a, b, c)  JOIN3_(a, b, c)

#if defined(__SSE2__)
#include <immintrin.h>

typedef __m128i vec_1;
INLINE vec_1 load_1(const char *s)
{
    return _mm_loadu_si128((const __m128i *)(const void *)s);
}
INLINE vec_1 gather_1(const char *s, int64_t step)
{
    (void)step;
    return load_1(s);
}
INLINE void store_1(char *d, vec_1 v)
{
    _mm_storeu_si128((__m128i *)(void *)d, v);
}
INLINE void stream_1(char *d, vec_1 v)
{
    _mm_stream_si128((__m128i *)(void *)d, v);
}
INLINE void scatter_1(char *d, int64_t step, vec_1 v)
{
    (void)step;
    store_1(d, v);
}
INLINE vec_1 either_1(vec_1 a, vec_1 b)
{
    return _mm_or_si128(a, b);
}
#if defined(__SSSE3__)
#define HAVE_SHUFFLE
INLINE vec_1 shuffle_1(vec_1 v, const uint8_t mask[16])
{
    return _mm_shuffle_epi8(v, _mm_loadu_si128((const __m128i *)(const void *)mask));
}
#endif

#define VECTOR             vec_1
#define BLOCKS             1
#define UNPACK(HALF, BITS) _mm_unpack##HALF##_epi##BITS
#include "zip.inc"

#else

typedef uint8_t vec_1 __attribute__((vector_size(16)));
INLINE vec_1 load_1(const char *s)
{
    vec_1 v;
    memcpy(&v, s, sizeof v);
    return v;
}
INLINE vec_1 gather_1(const char *s, int64_t step)
{
    (void)step;
    return load_1(s);
}
INLINE void store_1(char *d, vec_1 v)
{
    memcpy(d, &v, sizeof v);
}
INLINE void stream_1(char *d, vec_1 v)
{
    store_1(d, v);
}
INLINE void scatter_1(char *d, int64_t step, vec_1 v)
{
    (void)step;
    store_1(d, v);
}
#if defined(__aarch64__)
#include <arm_neon.h>
#define HAVE_SHUFFLE
INLINE vec_1 either_1(vec_1 a, vec_1 b)
{
    return a | b;
}
INLINE vec_1 shuffle_1(vec_1 v, const uint8_t mask[16])
{
    return (vec_1)vqtbl1q_u8((uint8x16_t)v, vld1q_u8(mask));
}
#endif

typedef uint8_t zip_1 __attribute__((vector_size(16)));
typedef uint16_t zip_2 __attribute__((vector_size(16)));
typedef uint32_t zip_4 __attribute__((vector_size(16)));
typedef uint64_t zip_8 __attribute__((vector_size(16)));
INLINE vec_1 lo_1_1(vec_1 a, vec_1 b)
{
    return (vec_1)__builtin_shufflevector((zip_1)a, (zip_1)b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                          5, 21, 6, 22, 7, 23);
}
INLINE vec_1 hi_1_1(vec_1 a, vec_1 b)
{
    return (vec_1)__builtin_shufflevector((zip_1)a, (zip_1)b, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                          28, 13, 29, 14, 30, 15, 31);
}
INLINE vec_1 lo_2_1(vec_1 a, vec_1 b)
{
    return (vec_1)__builtin_shufflevector((zip_2)a, (zip_2)b, 0, 8, 1, 9, 2, 10, 3, 11);
}
INLINE vec_1 hi_2_1(vec_1 a, vec_1 b)
{
    return (vec_1)__builtin_shufflevector((zip_2)a, (zip_2)b, 4, 12, 5, 13, 6, 14, 7, 15);
}
INLINE vec_1 lo_4_1(vec_1 a, vec_1 b)
{
    return (vec_1)__builtin_shufflevector((zip_4)a, (zip_4)b, 0, 4, 1, 5);
}
INLINE vec_1 hi_4_1(vec_1 a, vec_1 b)
{
    return (vec_1)__builtin_shufflevector((zip_4)a, (zip_4)b, 2, 6, 3, 7);
}
INLINE vec_1 lo_8_1(vec_1 a, vec_1 b)
{
    return (vec_1)__builtin_shufflevector((zip_8)a, (zip_8)b, 0, 2);
}
INLINE vec_1 hi_8_1(vec_1 a, vec_1 b)
{
    return (vec_1)__builtin_shufflevector((zip_8)a, (zip_8)b, 1, 3);
}
#endif

/* gather_at_K loads block l from s + at[l * every]. */
INLINE vec_1 gather_at_1(const char *s, const int64_t *at, int every)
{
    (void)every;
    return load_1(s + at[0]);
}

#if defined(__AVX512BW__)
#define WIDEST 4
#elif defined(__AVX2__)
#define WIDEST 2
#else
#define WIDEST 1
#endif

#if defined(__AVX2__)
typedef __m256i vec_2;
INLINE vec_2 gather_2(const char *s, int64_t step)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_1(s)), load_1(s + step), 1);
}
INLINE vec_2 gather_at_2(const char *s, const int64_t *at, int every)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_1(s + at[0])),
                                   load_1(s + at[every]), 1);
}
INLINE void store_2(char *d, vec_2 v)
{
    _mm256_storeu_si256((__m256i *)(void *)d, v);
}
INLINE void stream_2(char *d, vec_2 v)
{
    _mm256_stream_si256((__m256i *)(void *)d, v);
}
INLINE void scatter_2(char *d, int64_t step, vec_2 v)
{
    store_1(d, _mm256_castsi256_si128(v));
    store_1(d + step, _mm256_extracti128_si256(v, 1));
}
INLINE vec_2 either_2(vec_2 a, vec_2 b)
{
    return _mm256_or_si256(a, b);
}
INLINE vec_2 shuffle_2(vec_2 v, const uint8_t mask[16])
{
    return _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(load_1((const char *)mask)));
}
#define VECTOR             vec_2
#define BLOCKS             2
#define UNPACK(HALF, BITS) _mm256_unpack##HALF##_epi##BITS
#include "zip.inc"
#endif

#if defined(__AVX512BW__)
typedef __m512i vec_4;
/* Two halves of 32 bytes, then one insert: three inserts into 64 bytes compete with the
 * transposition for the shuffle ports (a 16 x 4 block of f32 in L1: 100 -> 140 GB/s, AMD Zen
 * 4). */
INLINE vec_4 both_halves(vec_2 low, vec_2 high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
INLINE vec_4 gather_4(const char *s, int64_t step)
{
    return both_halves(gather_2(s, step), gather_2(s + 2 * step, step));
}
INLINE vec_4 gather_at_4(const char *s, const int64_t *at, int every)
{
    return both_halves(gather_at_2(s, at, every), gather_at_2(s, at + 2 * every, every));
}
INLINE void store_4(char *d, vec_4 v)
{
    _mm512_storeu_si512((void *)d, v);
}
/* Permute two lines: mask holds, for each element of the result, its index in them. */
#if defined(__AVX512VBMI__)
INLINE vec_4 pair_1(vec_4 a, vec_4 mask, vec_4 b)
{
    return _mm512_permutex2var_epi8(a, mask, b);
}
#endif
INLINE vec_4 pair_2(vec_4 a, vec_4 mask, vec_4 b)
{
    return _mm512_permutex2var_epi16(a, mask, b);
}
INLINE vec_4 pair_4(vec_4 a, vec_4 mask, vec_4 b)
{
    return _mm512_permutex2var_epi32(a, mask, b);
}
INLINE vec_4 pair_8(vec_4 a, vec_4 mask, vec_4 b)
{
    return _mm512_permutex2var_epi64(a, mask, b);
}
INLINE vec_4 pair_16(vec_4 a, vec_4 mask, vec_4 b)
{
    return _mm512_permutex2var_epi64(a, mask, b);
}
/* Store the bytes of v that mask selects. */
INLINE void store_some(char *d, uint64_t mask, vec_4 v)
{
    _mm512_mask_storeu_epi8((void *)d, mask, v);
}
INLINE void stream_4(char *d, vec_4 v)
{
    _mm512_stream_si512((void *)d, v);
}
INLINE void scatter_4(char *d, int64_t step, vec_4 v)
{
    store_1(d, _mm512_castsi512_si128(v));
    store_1(d + step, _mm512_extracti32x4_epi32(v, 1));
    store_1(d + 2 * step, _mm512_extracti32x4_epi32(v, 2));
    store_1(d + 3 * step, _mm512_extracti32x4_epi32(v, 3));
}
INLINE vec_4 either_4(vec_4 a, vec_4 b)
{
    return _mm512_or_si512(a, b);
}
INLINE vec_4 shuffle_4(vec_4 v, const uint8_t mask[16])
{
    return _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(load_1((const char *)mask)));
}
#define VECTOR             vec_4
#define BLOCKS             4
#define UNPACK(HALF, BITS) _mm512_unpack##HALF##_epi##BITS
#include "zip.inc"
#endif

#endif
