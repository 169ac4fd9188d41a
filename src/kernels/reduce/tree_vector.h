/* tree_vector.h - the vectors of the tree: native vectors of V bytes, whose loads stay in
 * program order.
 *
 * A vf is VF floats, a vd is VD doubles.  A row of a tile is ROW32 vf, or 2 * HALF64 vd. */
#ifndef TNI_TREE_VECTOR_H
#define TNI_TREE_VECTOR_H

#include <stdint.h>
#include <string.h>

#include "kernels/simd/nontemporal.h"

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

#if defined(__AVX512F__)
enum { V = 64 };
#elif defined(__AVX2__)
enum { V = 32 };
#else
enum { V = 16 };
#endif
enum { VF = V / 4, VD = V / 8, ROW32 = 64 / V, HALF64 = 64 / V };

typedef float vf __attribute__((vector_size(V)));
typedef double vd __attribute__((vector_size(V)));

/* Keep loads in program order: a barrier for the compiler (see tree_isa.c). */
INLINE void in_order(void)
{
    __asm__ volatile("" ::: "memory");
}

INLINE vf load_vf(const void *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    in_order();
    return v;
}

INLINE vd load_vd(const void *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    in_order();
    return v;
}

INLINE void store_vd(double *p, vd v)
{
    memcpy(p, &v, sizeof v);
}

INLINE vd splat_vd(double x)
{
    vd v;
    for (int i = 0; i < VD; i++)
        v[i] = x;
    return v;
}

#if defined(__AVX512F__)

INLINE vd low_vd(vf v)
{
    return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
}
INLINE vd high_vd(vf v)
{
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
}
INLINE vd load_wide(const char *p)
{
    const vd v = _mm512_cvtps_pd(_mm256_loadu_ps((const void *)p));
    in_order();
    return v;
}
/* A mask of the first `left` of n lanes; left may be negative or more than n. */
INLINE unsigned first_lanes(int64_t left, int n)
{
    return left <= 0 ? 0 : left >= n ? (1u << n) - 1 : (1u << left) - 1;
}
/* The first `left` floats, followed by -0. */
INLINE vf load_some(const char *p, int64_t left)
{
    return _mm512_mask_loadu_ps(_mm512_set1_ps(-0.0f), (__mmask16)first_lanes(left, 16), p);
}
/* The first `left` doubles; the other lanes are those of absent. */
INLINE vd load_some_vd(const char *p, int64_t left, vd absent)
{
    return _mm512_mask_loadu_pd(absent, (__mmask8)first_lanes(left, 8), p);
}
/* The first `left` lanes of v, followed by -0. */
INLINE vd keep_vd(vd v, int64_t left)
{
    return _mm512_mask_mov_pd(_mm512_set1_pd(-0.0), (__mmask8)first_lanes(left, 8), v);
}
INLINE vf narrow_vf(vd low, vd high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)),
                              _mm512_cvtpd_ps(high), 1);
}
/* VF 16-bit floats as f32: half is f16, brain is bf16. */
INLINE vf half_vf(const char *p)
{
    const vf v = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
    in_order();
    return v;
}
INLINE vf brain_vf(const char *p)
{
    const __m512i v =
        _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
    in_order();
    return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
}
/* The first `left` 16-bit floats, followed by -0. */
INLINE __m256i load_some_16(const char *p, int64_t left)
{
    return _mm256_mask_loadu_epi16(_mm256_set1_epi16((short)0x8000),
                                   (__mmask16)first_lanes(left, 16), p);
}
INLINE vf half_some(const char *p, int64_t left)
{
    return _mm512_cvtph_ps(load_some_16(p, left));
}
INLINE vf brain_some(const char *p, int64_t left)
{
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(load_some_16(p, left)), 16));
}

#elif defined(__AVX2__)

INLINE vd load_wide(const char *p)
{
    const vd v = _mm256_cvtps_pd(_mm_loadu_ps((const void *)p));
    in_order();
    return v;
}
INLINE vd low_vd(vf v)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
}
INLINE vd high_vd(vf v)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
}
INLINE vf narrow_vf(vd low, vd high)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
INLINE vf half_vf(const char *p)
{
    const vf v = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
    in_order();
    return v;
}
INLINE vf brain_vf(const char *p)
{
    const __m256i v = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    in_order();
    return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
}
/* A mask of the first `left` lanes; left may be negative or more than there are. */
INLINE __m256i some_lanes32(int64_t left)
{
    static const int32_t lane[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const int64_t set = left <= 0 ? 0 : left >= 8 ? 8 : left;
    return _mm256_loadu_si256((const __m256i *)(const void *)(lane + 8 - set));
}
INLINE __m256i some_lanes64(int64_t left)
{
    static const int64_t lane[8] = {-1, -1, -1, -1};
    const int64_t set = left <= 0 ? 0 : left >= 4 ? 4 : left;
    return _mm256_loadu_si256((const __m256i *)(const void *)(lane + 4 - set));
}
INLINE vd keep_vd(vd v, int64_t left)
{
    return _mm256_blendv_pd(splat_vd(-0.0), v, _mm256_castsi256_pd(some_lanes64(left)));
}
/* The first `left` floats, followed by -0. */
INLINE vf load_some(const char *p, int64_t left)
{
    const __m256i lanes = some_lanes32(left);
    const vf v = _mm256_maskload_ps((const float *)(const void *)p, lanes);
    return _mm256_blendv_ps(_mm256_set1_ps(-0.0f), v, _mm256_castsi256_ps(lanes));
}
/* The first `left` doubles; the other lanes are those of absent. */
INLINE vd load_some_vd(const char *p, int64_t left, vd absent)
{
    const __m256i lanes = some_lanes64(left);
    const vd v = _mm256_maskload_pd((const double *)(const void *)p, lanes);
    return _mm256_blendv_pd(absent, v, _mm256_castsi256_pd(lanes));
}
/* The first `left` of eight 16-bit floats, followed by -0.  They are shuffled out of the eight
 * that end where they end, all of which must be readable. */
INLINE __m128i load_some_16(const char *p, int64_t left)
{
    static const uint8_t from[32] = {0,    1,    2,    3,    4,    5,    6,    7,
                                     8,    9,    10,   11,   12,   13,   14,   15,
                                     0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    const int64_t set = left <= 0 ? 0 : left >= 8 ? 8 : left;
    const __m128i by = _mm_loadu_si128((const __m128i *)(const void *)(from + 16 - 2 * set));
    const char *q = left >= 8 ? p : p + 2 * left - 16;
    const __m128i v = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)q), by);
    return _mm_or_si128(v, _mm_and_si128(by, _mm_set1_epi16((short)0x8000)));
}
INLINE vf half_some(const char *p, int64_t left)
{
    return _mm256_cvtph_ps(load_some_16(p, left));
}
INLINE vf brain_some(const char *p, int64_t left)
{
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(load_some_16(p, left)), 16));
}

#else

INLINE vd load_wide(const char *p)
{
    float f[2];
    memcpy(f, p, sizeof f);
    in_order();
    return (vd){(double)f[0], (double)f[1]};
}
INLINE vd low_vd(vf v)
{
    return (vd){(double)v[0], (double)v[1]};
}
INLINE vd high_vd(vf v)
{
    return (vd){(double)v[2], (double)v[3]};
}
INLINE vf narrow_vf(vd low, vd high)
{
    return (vf){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
}

#endif

#if !defined(__AVX2__)
INLINE vd keep_vd(vd v, int64_t left)
{
    typedef int64_t vi __attribute__((vector_size(V)));
    vi lane;
    for (int i = 0; i < VD; i++)
        lane[i] = i < left ? -1 : 0;
    return (vd)(((vi)v & lane) | ((vi)splat_vd(-0.0) & ~lane));
}
#endif

/* The rows that the incomplete last tile of n elements is computed with: 0 to 4, 6 or 8, a
 * constant for each of which kernels are compiled.  Lanes beyond n are absent. */
INLINE int end_rows(int64_t n)
{
    const int rows = (int)((n % 128 + 15) / 16);
    return rows <= 4 ? rows : rows <= 6 ? 6 : 8;
}

/* How many of these rows are complete. */
INLINE int full_rows(int rows)
{
    return rows <= 4 ? rows - 1 : rows - 2;
}

/* CALL(rows), where rows is the constant that end_rows(N) gives. */
#define BY_END_ROWS(N, CALL)                                                                   \
    switch (end_rows(N)) {                                                                     \
    case 0:                                                                                    \
        CALL(0);                                                                               \
        break;                                                                                 \
    case 1:                                                                                    \
        CALL(1);                                                                               \
        break;                                                                                 \
    case 2:                                                                                    \
        CALL(2);                                                                               \
        break;                                                                                 \
    case 3:                                                                                    \
        CALL(3);                                                                               \
        break;                                                                                 \
    case 4:                                                                                    \
        CALL(4);                                                                               \
        break;                                                                                 \
    case 6:                                                                                    \
        CALL(6);                                                                               \
        break;                                                                                 \
    default:                                                                                   \
        CALL(8);                                                                               \
    }

/* Load rows of an incomplete tile of which `left` elements exist.  Without masked loads, x is a
 * padded copy. */
#if defined(__AVX2__)
#define LOAD_END(p, left)            load_some(p, left)
#define LOAD_END_VD(p, left, ABSENT) load_some_vd(p, left, ABSENT)
#else
#define LOAD_END(p, left)            load_vf(p)
#define LOAD_END_VD(p, left, ABSENT) load_vd(p)
#endif

/* The tree of up to eight rows; absent rows are left out. */
INLINE vf tree_vf(const vf *r, int rows)
{
    const vf two = rows > 1 ? r[0] + r[1] : r[0], four = rows > 3   ? two + (r[2] + r[3])
                                                         : rows > 2 ? two + r[2]
                                                                    : two;
    return rows > 6   ? four + ((r[4] + r[5]) + (r[6] + r[7]))
           : rows > 4 ? four + (r[4] + r[5])
                      : four;
}
INLINE vd tree_vd(const vd *r, int rows)
{
    const vd two = rows > 1 ? r[0] + r[1] : r[0], four = rows > 3   ? two + (r[2] + r[3])
                                                         : rows > 2 ? two + r[2]
                                                                    : two;
    return rows > 6   ? four + ((r[4] + r[5]) + (r[6] + r[7]))
           : rows > 4 ? four + (r[4] + r[5])
                      : four;
}

/* a + b, with AVX-512 as a fused multiplication and addition: units that multiply are idle
 * while others add. */
INLINE vd also_vd(vd a, vd b)
{
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, _mm512_set1_pd(1.0), b);
#else
    return a + b;
#endif
}
/* As tree_vd. */
INLINE vd tree_also_vd(const vd *r, int rows)
{
    const vd two = rows > 1 ? also_vd(r[0], r[1]) : r[0],
             four = rows > 3   ? also_vd(two, also_vd(r[2], r[3]))
                    : rows > 2 ? also_vd(two, r[2])
                               : two;
    return rows > 6   ? also_vd(four, also_vd(also_vd(r[4], r[5]), also_vd(r[6], r[7])))
           : rows > 4 ? also_vd(four, also_vd(r[4], r[5]))
                      : four;
}

/* a * a + b * b of numbers that were f32.  Their squares are exact in f64, so that the fused
 * operation rounds to the same bits. */
INLINE vd squares_vd(vd a, vd b)
{
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(b, b, a * a);
#elif defined(__AVX2__)
    return _mm256_fmadd_pd(b, b, a * a);
#else
    return a * a + b * b;
#endif
}

#define MERGE    merge_sum
#define OP       +
#define MM(m, t) m##_add_##t
#include "tree_merge.inc"
#define MERGE    merge_prod
#define OP       *
#define MM(m, t) m##_mul_##t
#include "tree_merge.inc"

#endif
