/* row_vector.h - vector operations of row functions: partial loads and stores, selection,
 * maxima, swaps of neighbours. */
#ifndef TNI_ROW_VECTOR_H
#define TNI_ROW_VECTOR_H

#include <math.h>
#include <stdbool.h>

#include "tree_vector.h"

/* Vectors of a line of short rows (row_lines.inc); TNI_ROW_TOGETHER is a multiple of its rows.
 * Two are faster than one with AVX2 ("Rows on Zen 3" in docs/investigations/reductions.md). */
enum { LINE_VECTORS = 2 };

/* The longest rows that are transposed in registers: with AVX-512, longer ones are faster row
 * by row (Zen 5).  Their lines take 16 KiB of stack. */
enum { SHORT_MOST = V == 64 ? 64 : TNI_ROW_SHORT };

typedef int32_t vf_bits __attribute__((vector_size(V)));
typedef uint32_t vf_words __attribute__((vector_size(V)));
typedef int64_t vd_bits __attribute__((vector_size(V)));
typedef uint64_t vd_words __attribute__((vector_size(V)));

/* a where the mask is set, else b. */
INLINE vf pick_vf(vf_bits mask, vf a, vf b)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    return _mm256_blendv_ps(b, a, (vf)mask);
#else
    return (vf)(((vf_bits)a & mask) | ((vf_bits)b & ~mask));
#endif
}
INLINE vd pick_vd(vd_bits mask, vd a, vd b)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    return _mm256_blendv_pd(b, a, (vd)mask);
#else
    return (vd)(((vd_bits)a & mask) | ((vd_bits)b & ~mask));
#endif
}

/* Replace every NaN by the positive quiet NaN. */
#if defined(__AVX512F__)
#define NOT_NAN                                                                                \
    0x11111100 /* for vfixupimm: NaN becomes the first operand, any other value the second */
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

/* ---- parts of vectors ---- */

/* A mask of the first n lanes. */
INLINE vf_bits before_vf(int64_t n)
{
    vf_bits lane;
    for (int k = 0; k < VF; k++)
        lane[k] = k;
    return lane < (int32_t)n;
}
INLINE vd_bits before_vd(int64_t n)
{
    vd_bits lane;
    for (int k = 0; k < VD; k++)
        lane[k] = k;
    return lane < n;
}

/* Load the first bytes of a vector, followed by zeros. */
INLINE vf some_vf(const char *p, int64_t bytes)
{
    vf v = {0};
    if (bytes == V)
        memcpy(&v, p, V);
    else
#if defined(__AVX512F__)
        v = _mm512_maskz_loadu_ps((__mmask16)((1u << bytes / 4) - 1), p);
#elif defined(__AVX2__)
        v = _mm256_maskload_ps((const float *)(const void *)p, (__m256i)before_vf(bytes / 4));
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
#elif defined(__AVX2__)
        v = _mm256_maskload_pd((const double *)(const void *)p, (__m256i)before_vd(bytes / 8));
#else
        memcpy(&v, p, (size_t)bytes);
#endif
    return v;
}

/* The first n lanes of v, then those of other. */
INLINE vf first_vf(vf v, int64_t n, vf other)
{
    return pick_vf(before_vf(n), v, other);
}
INLINE vd first_vd(vd v, int64_t n, vd other)
{
    return pick_vd(before_vd(n), v, other);
}

/* Copy an even number of bytes, fewer than a vector has. */
INLINE void few_bytes(char *d, const char *s, int64_t bytes)
{
    UNROLLED for (int piece = V / 2; piece > 1; piece /= 2)
    {
        if (bytes & piece) {
            memcpy(d, s, (size_t)piece);
            d += piece;
            s += piece;
        }
    }
}

/* ---- maxima: the second operand if either is NaN; flags record the NaN ---- */

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
/* a where the flag is set, else b. */
INLINE vf flagged_vf(flags_vf f, vf a, vf b)
{
    return _mm512_mask_blend_ps(f, b, a);
}
INLINE vd flagged_vd(flags_vd f, vd a, vd b)
{
    return _mm512_mask_blend_pd(f, b, a);
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
typedef vf_bits flags_vf;
typedef vd_bits flags_vd;
INLINE flags_vf unordered_vf(vf a, vf b)
{
#if defined(__AVX2__)
    return (flags_vf)_mm256_cmp_ps(a, b, _CMP_UNORD_Q);
#else
    return (a != a) | (b != b);
#endif
}
INLINE flags_vd unordered_vd(vd a, vd b)
{
#if defined(__AVX2__)
    return (flags_vd)_mm256_cmp_pd(a, b, _CMP_UNORD_Q);
#else
    return (a != a) | (b != b);
#endif
}
INLINE vf flagged_vf(flags_vf f, vf a, vf b)
{
    return pick_vf(f, a, b);
}
INLINE vd flagged_vd(flags_vd f, vd a, vd b)
{
    return pick_vd(f, a, b);
}
#if defined(__AVX2__)
INLINE vf larger_vf(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}
INLINE vd larger_vd(vd a, vd b)
{
    return _mm256_max_pd(a, b);
}
INLINE bool any_vf(flags_vf f)
{
    return _mm256_movemask_ps((vf)f) != 0;
}
INLINE bool any_vd(flags_vd f)
{
    return _mm256_movemask_pd((vd)f) != 0;
}
INLINE float top_vf(vf v)
{
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
INLINE double top_vd(vd v)
{
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}
#else
INLINE vf larger_vf(vf a, vf b)
{
    return pick_vf(a > b, a, b);
}
INLINE vd larger_vd(vd a, vd b)
{
    return pick_vd(a > b, a, b);
}
INLINE bool any_vf(flags_vf f)
{
    return (f[0] | f[1] | f[2] | f[3]) != 0;
}
INLINE bool any_vd(flags_vd f)
{
    return (f[0] | f[1]) != 0;
}
INLINE float top_vf(vf v)
{
    const float low = v[0] > v[1] ? v[0] : v[1], high = v[2] > v[3] ? v[2] : v[3];
    return low > high ? low : high;
}
INLINE double top_vd(vd v)
{
    return v[0] > v[1] ? v[0] : v[1];
}
#endif
#endif

/* ---- as f64 ---- */

INLINE vd part_vf(vf v, int h)
{
    return h ? high_vd(v) : low_vd(v);
}
INLINE vd part_vd(vd v, int h)
{
    (void)h;
    return v;
}
INLINE vf join_vf(const vd *parts)
{
    return narrow_vf(parts[0], parts[1]);
}
INLINE vd join_vd(const vd *parts)
{
    return parts[0];
}

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

/* Load the first bytes of half a vector and repeat each element; with `sign`, the first of the
 * two is negated. */
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

/* Store the first bytes of *v.  stream: d is a multiple of 64, and whole vectors use streaming
 * stores. */
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
        few_bytes(d, v, bytes);
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

INLINE void put_vf(char *d, vf v, bool stream)
{
    put_bytes(d, &v, V, stream);
}
INLINE void put_vd(char *d, vd v, bool stream)
{
    put_bytes(d, &v, V, stream);
}
INLINE void put_some_vf(char *d, vf v, int64_t bytes)
{
    put_bytes(d, &v, bytes, false);
}
INLINE void put_some_vd(char *d, vd v, int64_t bytes)
{
    put_bytes(d, &v, bytes, false);
}

#endif
