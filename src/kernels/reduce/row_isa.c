/* row_isa.c - functions of rows for one instruction set, a vector at a time.
 *
 * The arithmetic is the same on every level, elements are independent. */
#include "row.h"

#include <math.h>

#include "exp_lanes.h"
#include "kernels/simd/nontemporal.h"
#include "kernels/table.h"
#include "tree_vector.h"

typedef int32_t vf_bits __attribute__((vector_size(V)));
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
INLINE vf number_vf(vf v)
{
    return pick_vf(v == v, v, (vf){0} + NAN);
}
INLINE vd number_vd(vd v)
{
    return pick_vd(v == v, v, (vd){0} + (double)NAN);
}

/* ---- exp ---- */

/* a * b + c: fused where there is an instruction for it.  Softmax promises bounds, not bits. */
#if defined(__AVX512F__)
#define FUSED(a, b, c) _mm512_fmadd_ps(a, b, c)
#elif defined(__AVX2__)
#define FUSED(a, b, c) _mm256_fmadd_ps(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

INLINE vf splat_vf(float x)
{
    return (vf){0} + x;
}

/* exp_lane32, a vector at a time. */
INLINE vf exp_vf(vf x)
{
    const vf least = splat_vf(-104.0f);
    const vf y = pick_vf(x < least, least, x);
    const vf shifted = FUSED(y, splat_vf(0x1.715476p0f), splat_vf(ROUND32));
    const vf k = shifted - ROUND32;
    const vf r = FUSED(k, splat_vf(-0x1.7f7d1cp-20f), FUSED(k, splat_vf(-0x1.62e400p-1f), y));
    vf p = splat_vf(1.0f / 5040.0f);
    p = FUSED(p, r, splat_vf(1.0f / 720.0f));
    p = FUSED(p, r, splat_vf(1.0f / 120.0f));
    p = FUSED(p, r, splat_vf(1.0f / 24.0f));
    p = FUSED(p, r, splat_vf(1.0f / 6.0f));
    p = FUSED(p, r, splat_vf(0.5f));
    p = 1.0f + FUSED(r * r, p, r);
    const vf scale = (vf)(((vf_bits)shifted + 127) << 23);
    return pick_vf(y < splat_vf(-87.0f), (vf){0}, p * scale);
}

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
        memcpy(&v, p, (size_t)bytes);
    return v;
}
INLINE vd some_vd(const char *p, int64_t bytes)
{
    vd v = {0};
    if (bytes == V)
        memcpy(&v, p, V);
    else
        memcpy(&v, p, (size_t)bytes);
    return v;
}

/* ---- pairs of neighbours ---- */

typedef uint64_t vf_pairs __attribute__((vector_size(V)));
typedef uint32_t vf_half __attribute__((vector_size(V / 2)));
typedef double vd_half __attribute__((vector_size(V / 2)));

INLINE vf swapped_vf(vf v)
{
    return (vf)(((vf_pairs)v >> 32) | ((vf_pairs)v << 32));
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
    const vf_pairs wide = __builtin_convertvector(h, vf_pairs);
    return (vf)((wide | wide << 32) ^ (sign ? 0x80000000u : 0));
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
    if (bytes != V) {
        memcpy(d, v, (size_t)bytes);
        return;
    }
#if defined(__AVX512F__)
    if (stream) {
        __m512i x;
        memcpy(&x, v, V);
        _mm512_stream_si512((__m512i *)(void *)d, x);
        return;
    }
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

static void exp32(char *d, const char *x, int64_t n, double c)
{
    const float m = (float)c;
#define STEP(at, bytes)                                                                        \
    do {                                                                                       \
        const vf v = exp_vf(some_vf(x + (at), bytes) - m);                                     \
        put_bytes(d + (at), &v, bytes, false);                                                 \
    } while (0)
    ALL(float, vf, STEP);
#undef STEP
}

static void rise32(char *d, const char *x, int64_t n)
{
#define STEP(at, bytes)                                                                        \
    do {                                                                                       \
        const vf most = some_vf(d + (at), bytes), v = some_vf(x + (at), bytes);                \
        const vf made = pick_vf(v > most, v, most);                                            \
        put_bytes(d + (at), &made, bytes, false);                                              \
    } while (0)
    ALL(float, vf, STEP);
#undef STEP
}

#define T       float
#define VT      vf
#define W(f)    f##32
#define SOME    some_vf
#define NUMBER  number_vf
#define PICK    pick_vf
#define SWAPPED swapped_vf
#define DOUBLED doubled_vf
#define BITS    vf_bits
#include "row.inc"

#define T       double
#define VT      vd
#define W(f)    f##64
#define SOME    some_vd
#define NUMBER  number_vd
#define PICK    pick_vd
#define SWAPPED swapped_vd
#define DOUBLED doubled_vd
#define BITS    vd_bits
#include "row.inc"

/* (x - mean) * r in f64, as elements. */
INLINE vf normal_vf(vf v, double mean, double r)
{
    return narrow_vf((low_vd(v) - mean) * r, (high_vd(v) - mean) * r);
}
INLINE vd normal_vd(vd v, double mean, double r)
{
    return (v - mean) * r;
}

#define NORM(NAME, T, VT)                                                                      \
    static void NAME(char *d, const char *x, const char *w, const char *b, int64_t n,          \
                     double mean, double r, bool stream)                                       \
    {                                                                                          \
        ALL(T, VT, NORM_##VT);                                                                 \
    }
#define NORM_STEP(VT, at, bytes)                                                               \
    do {                                                                                       \
        VT v = normal_##VT(some_##VT(x + (at), bytes), mean, r);                               \
        if (w)                                                                                 \
            v = v * some_##VT(w + (at), bytes);                                                \
        if (b)                                                                                 \
            v = v + some_##VT(b + (at), bytes);                                                \
        v = number_##VT(v);                                                                    \
        put_bytes(d + (at), &v, bytes, stream);                                                \
    } while (0)
#define NORM_vf(at, bytes) NORM_STEP(vf, at, bytes)
#define NORM_vd(at, bytes) NORM_STEP(vd, at, bytes)
NORM(norm32, float, vf)
NORM(norm64, double, vd)

const tni_row_kernels TNI_TABLE(row) = {max32,    max64,    rise32,  exp32,   scale32, scale64,
                                        shift32,  shift64,  add32,   add64,   rms32,   rms64,
                                        halves32, halves64, pairs32, pairs64, norm32,  norm64};
