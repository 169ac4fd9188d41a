/* row_isa.c - functions of rows for one instruction set, a vector at a time.
 *
 * The arithmetic is the same on every level, elements are independent. */
#include "row.h"

#include <math.h>

#include "exp_lanes.h"
#include "kernels/table.h"
#include "row_vector.h"
#include "tree.h"

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

/* y - k ln(2).  A fused product is exact, and the error of ln(2) as f32 is k 2^-29: less than the
 * bounds of softmax allow for y - max. */
INLINE vf less_ln2(vf y, vf k)
{
#if defined(__AVX2__)
    return FUSED(k, splat_vf(-0x1.62e430p-1f), y);
#else
    return (y - k * 0x1.62e400p-1f) - k * 0x1.7f7d1cp-20f;
#endif
}

/* exp of y <= 0: 2^k * exp(r), 0 where that is below 2^-125.  NaN becomes anything. */
INLINE vf exp_vf(vf y)
{
    const vf shifted = FUSED(y, splat_vf(0x1.715476p0f), splat_vf(ROUND32));
    const vf r = less_ln2(y, shifted - ROUND32);
    /* of least relative error, 2^-28, for |r| <= ln(2) / 2 */
    vf p = splat_vf(0x1.6a23cep-10f);
    p = FUSED(p, r, splat_vf(0x1.123a20p-7f));
    p = FUSED(p, r, splat_vf(0x1.5558f2p-5f));
    p = FUSED(p, r, splat_vf(0x1.555492p-3f));
    p = FUSED(p, r, splat_vf(0x1.fffffcp-2f));
    p = FUSED(p, r, splat_vf(1.0f));
    p = FUSED(p, r, splat_vf(1.0f));
    /* k is in the low bits of shifted and becomes part of the exponent; unsigned, for it wraps */
    const vf_bits bits = (vf_bits)((vf_words)p + ((vf_words)shifted << 23));
#if defined(__AVX512F__)
    return (vf)_mm512_maskz_mov_epi32(_mm512_cmp_ps_mask(y, splat_vf(-87.0f), _CMP_GE_OQ),
                                      (__m512i)bits);
#else
    return (vf)(bits & (y >= splat_vf(-87.0f)));
#endif
}

/* Into the L2: rows of 16 KB in the L1 are what is computed (Zen 4: 1.2 times as fast). */
#define PREFETCH(p) __builtin_prefetch(p, 0, 2)

/* ---- the sum of exponentials of a block, by the tree ---- */

/* Exponentials of group g of the rows of a tile; those from n on are absent, -0. */
INLINE vf exps_row(char *d, const char *x, int64_t at, int64_t n, vf m)
{
    const int64_t left = (n - at) * 4;
    if (left >= V) {
        const vf e = exp_vf(load_vf(x + 4 * at) - m);
        memcpy(d + 4 * at, &e, V);
        return e;
    }
    if (left <= 0)
        return splat_vf(-0.0f);
    vf e = exp_vf(some_vf(x + 4 * at, left) - m);
    put_bytes(d + 4 * at, &e, left, false);
    for (int k = 0; k < VF; k++)
        e[k] = 4 * k < left ? e[k] : -0.0f;
    return e;
}

INLINE void exps_tile(vd *acc, char *d, const char *x, int64_t n, vf m)
{
    UNROLLED for (int g = 0; g < ROW32; g++)
    {
        vf pair[4];
        UNROLLED for (int k = 0; k < 4; k++)
        {
            const vf a = exps_row(d, x, 32 * k + g * VF, n, m);
            pair[k] = a + exps_row(d, x, 32 * k + 16 + g * VF, n, m);
        }
        const vf t = (pair[0] + pair[1]) + (pair[2] + pair[3]);
        acc[2 * g] += low_vd(t);
        acc[2 * g + 1] += high_vd(t);
    }
}

static double exps32(char *d, const char *x, int64_t n, double c, int64_t ahead)
{
    const vf m = splat_vf((float)c);
    vd acc[2 * ROW32];
    UNROLLED for (int g = 0; g < 2 * ROW32; g++) acc[g] = splat_vd(-0.0);
    int64_t t = 0;
    for (; t + TNI_TILE <= n; t += TNI_TILE) {
        UNROLLED for (int k = 0; k < 8; k++) PREFETCH(x + 4 * t + 64 * k + ahead);
        exps_tile(acc, d + 4 * t, x + 4 * t, TNI_TILE, m);
    }
    if (t < n)
        exps_tile(acc, d + 4 * t, x + 4 * t, n - t, m);
    return meet_sum(acc);
}

/* exp(x + c), c a number for each element */
static void exp32(char *d, const char *x, const char *c, int64_t n)
{
#define STEP(at, bytes)                                                                        \
    do {                                                                                       \
        const vf v = exp_vf(some_vf(x + (at), bytes) + some_vf(c + (at), bytes));              \
        put_bytes(d + (at), &v, bytes, false);                                                 \
    } while (0)
    ALL(float, vf, STEP);
#undef STEP
}

static void exp_by32(char *d, const char *x, const char *c, const char *by, int64_t n,
                     bool stream)
{
#define STEP(at, bytes)                                                                        \
    do {                                                                                       \
        const vf e = exp_vf(some_vf(x + (at), bytes) + some_vf(c + (at), bytes));              \
        const vf v = number_vf(e * some_vf(by + (at), bytes));                                 \
        put_bytes(d + (at), &v, bytes, stream);                                                \
    } while (0)
    ALL(float, vf, STEP);
#undef STEP
}

static void plus_by32(char *d, const char *x, const char *c, const char *by, int64_t n,
                      bool stream)
{
#define STEP(at, bytes)                                                                        \
    do {                                                                                       \
        const vf v = some_vf(x + (at), bytes) + some_vf(c + (at), bytes);                      \
        const vf made = number_vf(v + some_vf(by + (at), bytes));                              \
        put_bytes(d + (at), &made, bytes, stream);                                             \
    } while (0)
    ALL(float, vf, STEP);
#undef STEP
}

/* The rows of a tile for bytes of a vector; absent ones are -0. */
INLINE void exp_sum_step(double *acc, const char *x, int64_t step, const char *c, int64_t bytes,
                         int64_t rows)
{
    const vf least = some_vf(c, bytes);
    vf row[8];
    UNROLLED for (int k = 0; k < 8; k++) row[k] =
        k < rows ? exp_vf(some_vf(x + k * step, bytes) + least) : splat_vf(-0.0f);
    UNROLLED for (int k = 8; k < 16; k++) __builtin_prefetch(x + k * step);
    const vf t = tree_vf(row, 8);
    vd low, high;
    memcpy(&low, acc, V);
    memcpy(&high, acc + VD, V);
    store_vd(acc, low + keep_vd(low_vd(t), bytes / 4));
    store_vd(acc + VD, high + keep_vd(high_vd(t), bytes / 4 - VD));
}

static void exp_sum32(double *acc, const char *x, int64_t step, const char *c, int64_t n,
                      int64_t rows)
{
    int64_t i = 0;
    if (rows == 8)
        for (; i + VF <= n; i += VF)
            exp_sum_step(acc + i, x + 4 * i, step, c + 4 * i, V, 8);
    for (; i < n; i += VF)
        exp_sum_step(acc + i, x + 4 * i, step, c + 4 * i, n - i < VF ? 4 * (n - i) : V, rows);
}

#define T    float
#define VT   vf
#define W(f) f##32
#define S(f) f##_vf
#include "row.inc"

#define T    double
#define VT   vd
#define W(f) f##64
#define S(f) f##_vd
#include "row.inc"

/* (x - mean) * r in f64, as elements. */
INLINE vf normal_vf(const char *x, int64_t bytes, double mean, double r)
{
    if (bytes == V)
        return narrow_vf((load_wide(x) - mean) * r, (load_wide(x + V / 2) - mean) * r);
    const vf v = some_vf(x, bytes);
    return narrow_vf((low_vd(v) - mean) * r, (high_vd(v) - mean) * r);
}
INLINE vd normal_vd(const char *x, int64_t bytes, double mean, double r)
{
    return (some_vd(x, bytes) - mean) * r;
}

#define NORM(NAME, T, VT)                                                                      \
    static void NAME(char *d, const char *x, const char *w, const char *b, int64_t n,          \
                     double mean, double r, bool stream, int64_t ahead)                        \
    {                                                                                          \
        ALL(T, VT, NORM_##VT);                                                                 \
    }
#define NORM_STEP(VT, at, bytes)                                                               \
    do {                                                                                       \
        PREFETCH(x + (at) + ahead);                                                            \
        VT v = normal_##VT(x + (at), bytes, mean, r);                                          \
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

#include "row_narrow.h"

/* ---- floats of 16 bits ---- */

#if defined(__AVX2__)
#include "row_half.h"

#define HALF(f)           f##_f16
#define LOAD_HALF(p)      half_vf(p)
#define LOAD_HALF_WIDE(p) half_vd(p)
#define NARROW(a, b)      halves_of(a, b)
#include "row16.inc"
#if defined(__AVX512F__)
#include "row_brain.h"
#else
#define HALF(f)           f##_bf16
#define LOAD_HALF(p)      brain_vf(p)
#define LOAD_HALF_WIDE(p) brain_vd(p)
#define NARROW(a, b)      brains_of(a, b)
#include "row16.inc"
#endif
#define HALVES(f)                                                                              \
    {                                                                                          \
        f##_f16, f##_bf16                                                                      \
    }
#else
#define HALVES(f)                                                                              \
    {                                                                                          \
        NULL, NULL                                                                             \
    }
#endif

const tni_row_kernels TNI_TABLE(row) = {
    max32,       max64,          rise32,     rise64,      exps32,  exp32,
    exp_by32,    plus_by32,      exp_sum32,  scale32,     scale64, shift32,
    shift64,     add32,          add64,      rms32,       rms64,   halves32,
    halves64,    pairs32,        pairs64,    norm32,      norm64,  HALVES(squares),
    HALVES(rms), softmax_narrow, rms_narrow, layer_narrow};
