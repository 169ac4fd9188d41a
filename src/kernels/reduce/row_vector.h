/* row_vector.h - vectors of rows: parts of them, picks, the largest, neighbours, stores. */
#ifndef TNI_ROW_VECTOR_H
#define TNI_ROW_VECTOR_H

#include <math.h>
#include <stdbool.h>

#include "tree_vector.h"

typedef int32_t vf_bits __attribute__((vector_size(V)));
typedef uint32_t vf_words __attribute__((vector_size(V)));
typedef int64_t vd_bits __attribute__((vector_size(V)));

/* a where the mask is set, else b. */
INLINE vf pick_vf(vf_bits mask, vf a, vf b)
{
    return (vf)(((vf_bits)a & mask) | ((vf_bits)b & ~mask));
}
INLINE vd pick_vd(vd_bits mask, vd a, vd b)
{
    return (vd)(((vd_bits)a & mask) | ((vd_bits)b & ~mask));
}

/* A computed NaN is the positive quiet one. */
#if defined(__AVX512F__)
#define NOT_NAN                                                                                \
    0x11111100 /* of vfixupimm: NaN becomes the first operand, all else the second */
INLINE vf number_vf(vf v)
{
    return _mm512_fixupimm_ps(_mm512_set1_ps(NAN), v, _mm512_set1_epi32(NOT_NAN), 0);
}
INLINE vd number_vd(vd v)
{
    return _mm512_fixupimm_pd(_mm512_set1_pd((double)NAN), v, _mm512_set1_epi64(NOT_NAN), 0);
}
#else
INLINE vf number_vf(vf v)
{
    return pick_vf(v == v, v, (vf){0} + NAN);
}
INLINE vd number_vd(vd v)
{
    return pick_vd(v == v, v, (vd){0} + (double)NAN);
}
#endif

/* ---- elements: whole vectors, then what is left through a buffer ---- */

#define ALL(T, VT, STEP)                                                                       \
    int64_t i = 0;                                                                             \
    enum { WIDTH = sizeof(T), EACH = V / sizeof(T) };                                          \
    for (; i + EACH <= n; i += EACH)                                                           \
        STEP(i *WIDTH, V);                                                                     \
    if (i < n)                                                                                 \
    STEP(i *WIDTH, (n - i) * WIDTH)

/* The first bytes of a vector, zeros behind them. */
INLINE vf some_vf(const char *p, int64_t bytes)
{
    vf v = {0};
    if (bytes == V)
        memcpy(&v, p, V);
    else
#if defined(__AVX512F__)
        v = _mm512_maskz_loadu_ps((__mmask16)((1u << bytes / 4) - 1), p);
#else
        memcpy(&v, p, (size_t)bytes);
#endif
    return v;
}
INLINE vd some_vd(const char *p, int64_t bytes)
{
    vd v = {0};
    if (bytes == V)
        memcpy(&v, p, V);
    else
#if defined(__AVX512F__)
        v = _mm512_maskz_loadu_pd((__mmask8)((1u << bytes / 8) - 1), p);
#else
        memcpy(&v, p, (size_t)bytes);
#endif
    return v;
}

/* The same, with what is in other behind them. */
INLINE vf some_or_vf(const char *p, int64_t bytes, vf other)
{
    memcpy(&other, p, (size_t)bytes);
    return other;
}
INLINE vd some_or_vd(const char *p, int64_t bytes, vd other)
{
    memcpy(&other, p, (size_t)bytes);
    return other;
}

/* ---- the largest: of two the second where one is NaN, which the flags remember ---- */

#if defined(__AVX512F__)
typedef __mmask16 flags_vf;
typedef __mmask8 flags_vd;
INLINE vf larger_vf(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}
INLINE vd larger_vd(vd a, vd b)
{
    return _mm512_max_pd(a, b);
}
INLINE flags_vf unordered_vf(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
}
INLINE flags_vd unordered_vd(vd a, vd b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q);
}
INLINE bool any_vf(flags_vf f)
{
    return f != 0;
}
INLINE bool any_vd(flags_vd f)
{
    return f != 0;
}
INLINE float top_vf(vf v)
{
    return _mm512_reduce_max_ps(v);
}
INLINE double top_vd(vd v)
{
    return _mm512_reduce_max_pd(v);
}
#else
#define LARGEST(VT, T)                                                                         \
    typedef VT##_bits flags_##VT;                                                              \
    INLINE VT larger_##VT(VT a, VT b)                                                          \
    {                                                                                          \
        return pick_##VT(a > b, a, b);                                                         \
    }                                                                                          \
    INLINE flags_##VT unordered_##VT(VT a, VT b)                                               \
    {                                                                                          \
        return (a != a) | (b != b);                                                            \
    }                                                                                          \
    INLINE bool any_##VT(flags_##VT f)                                                         \
    {                                                                                          \
        bool any = false;                                                                      \
        for (int k = 0; k < (int)(V / sizeof(T)); k++)                                         \
            any |= f[k] != 0;                                                                  \
        return any;                                                                            \
    }                                                                                          \
    INLINE T top_##VT(VT v)                                                                    \
    {                                                                                          \
        T most = v[0];                                                                         \
        for (int k = 1; k < (int)(V / sizeof(T)); k++)                                         \
            most = v[k] > most ? v[k] : most;                                                  \
        return most;                                                                           \
    }
LARGEST(vf, float)
LARGEST(vd, double)
#endif

/* ---- pairs of neighbours ---- */

typedef uint64_t vf_pairs __attribute__((vector_size(V)));
typedef uint32_t vf_half __attribute__((vector_size(V / 2)));
typedef double vd_half __attribute__((vector_size(V / 2)));

INLINE vf swapped_vf(vf v)
{
#if defined(__AVX512F__)
    return _mm512_permute_ps(v, 0xb1);
#else
    return (vf)(((vf_pairs)v >> 32) | ((vf_pairs)v << 32));
#endif
}
INLINE vd swapped_vd(vd v)
{
    vd out;
    for (int k = 0; k < (int)(V / sizeof(double)); k++)
        out[k] = v[k ^ 1];
    return out;
}

/* The first bytes of half a vector, each element twice; with `sign` the first of them negative. */
INLINE vf doubled_vf(const char *p, int64_t bytes, bool sign)
{
    vf_half h = {0};
    if (bytes == V / 2)
        memcpy(&h, p, V / 2);
    else
        memcpy(&h, p, (size_t)bytes);
#if defined(__AVX512F__)
    const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const vf_pairs both =
        (vf_pairs)_mm512_permutexvar_epi32(twice, _mm512_castsi256_si512((__m256i)h));
#else
    const vf_pairs wide = __builtin_convertvector(h, vf_pairs), both = wide | wide << 32;
#endif
    return (vf)(both ^ (sign ? 0x80000000u : 0));
}
INLINE vd doubled_vd(const char *p, int64_t bytes, bool sign)
{
    vd_half h = {0};
    vd out;
    memcpy(&h, p, (size_t)bytes);
    for (int k = 0; k < (int)(V / sizeof(double)); k++)
        out[k] = sign && k % 2 == 0 ? -h[k / 2] : h[k / 2];
    return out;
}

/* stream: d is a multiple of a line, and whole vectors go past the caches. */
INLINE void put_bytes(char *d, const void *v, int64_t bytes, bool stream)
{
#if defined(__AVX512F__)
    __m512i x;
    memcpy(&x, v, V);
    if (bytes != V) {
        _mm512_mask_storeu_epi32(d, (__mmask16)((1u << bytes / 4) - 1), x);
        return;
    }
    if (stream) {
        _mm512_stream_si512((__m512i *)(void *)d, x);
        return;
    }
#else
    if (bytes != V) {
        memcpy(d, v, (size_t)bytes);
        return;
    }
#endif
#if defined(__AVX512F__)
#elif defined(__AVX2__)
    if (stream) {
        __m256i x;
        memcpy(&x, v, V);
        _mm256_stream_si256((__m256i *)(void *)d, x);
        return;
    }
#elif defined(__SSE2__)
    if (stream) {
        __m128i x;
        memcpy(&x, v, V);
        _mm_stream_si128((__m128i *)(void *)d, x);
        return;
    }
#endif
    (void)stream;
    memcpy(d, v, V);
}

#endif
