/* scan_wide.h - running sums of f32 and 16-bit floats by vectors of eight f64.  AVX-512 has
 * such vectors; elsewhere compilers make them of smaller ones. */
#ifndef TNI_SCAN_WIDE_H
#define TNI_SCAN_WIDE_H

typedef float half __attribute__((vector_size(32)));
typedef int32_t bits32 __attribute__((vector_size(32)));

static inline void put_half(char *d, const half *f, bool stream)
{
#if defined(__AVX2__)
    if (stream) {
        _mm256_stream_ps((float *)(void *)d, *f);
        return;
    }
#endif
    (void)stream;
    memcpy(d, f, sizeof *f);
}

/* Replace every NaN by the positive quiet NaN. */
static inline void quiet(half *f)
{
    const bits32 number = *f == *f;
    *f = (half)(((bits32)*f & number) | ((bits32)((half){0} + NAN) & ~number));
}

/* Load eight f32 as f64. */
INLINE void load_group(group *v, const char *x)
{
#if defined(__AVX512F__)
    *v = _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(const void *)x));
#else
    half f;
    memcpy(&f, x, sizeof f);
    *v = __builtin_convertvector(f, group);
#endif
}

/* a + b as a fused multiplication and addition, which runs on units that are otherwise idle
 * (Zen 4). */
INLINE void plus(group *a, const group *b)
{
#if defined(__AVX512F__)
    *a = _mm512_fmadd_pd(*a, _mm512_set1_pd(1.0), *b);
#else
    *a = *a + *b;
#endif
}

/* The prefix sums of a group: p[i] adds p[i - 1], then p[i - 2], then p[i - 4]. */
INLINE void run_group(group *v)
{
    const group none = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};
#if defined(__AVX512F__)
    group w = (group)_mm512_alignr_epi64((__m512i)*v, (__m512i)none, 7);
    plus(v, &w);
    w = (group)_mm512_alignr_epi64((__m512i)*v, (__m512i)none, 6);
    plus(v, &w);
    w = (group)_mm512_alignr_epi64((__m512i)*v, (__m512i)none, 4);
    plus(v, &w);
#else
    *v = *v + __builtin_shufflevector(*v, none, 8, 0, 1, 2, 3, 4, 5, 6);
    *v = *v + __builtin_shufflevector(*v, none, 8, 8, 0, 1, 2, 3, 4, 5);
    *v = *v + __builtin_shufflevector(*v, none, 8, 8, 8, 8, 0, 1, 2, 3);
#endif
}

/* The whole groups of n elements; returns the number of elements.  settled: no sum can be
 * -0. */
INLINE int64_t run_groups(char *d, const char *x, int64_t n, double before, group *chain,
                          bool stream, bool settled)
{
    group run = *chain;
    int64_t i = 0;
    for (; i + TNI_SCAN_GROUP <= n; i += TNI_SCAN_GROUP) {
        half f;
        group v;
        load_group(&v, x + 4 * i);
        run_group(&v);
        const group last = __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7);
        group made = before + (run + v);
        if (!settled)
            made = made + 0.0;
        f = __builtin_convertvector(made, half);
        quiet(&f);
        run = run + last;
        put_half(d + 4 * i, &f, stream);
    }
    *chain = run;
    return i;
}

/* Whole groups stay in registers, and an incomplete one goes through memory on its own: a loop
 * that does so for all groups waits for each store before the next load (Zen 4: 4 cycles an
 * element).  If before is not -0, no sum of it is -0. */
static double sequence_sum32(char *d, const char *x, int64_t n, double before, double chain,
                             bool stream)
{
    group run = {chain, chain, chain, chain, chain, chain, chain, chain};
    const bool settled = before != 0 || !signbit(before);
    const int64_t i = settled && stream ? run_groups(d, x, n, before, &run, true, true)
                      : settled         ? run_groups(d, x, n, before, &run, false, true)
                                        : run_groups(d, x, n, before, &run, stream, false);
    if (i == n)
        return run[0];
    double part[TNI_SCAN_GROUP] = {0};
    for (int64_t k = 0; k < n - i; k++) {
        float one;
        memcpy(&one, x + 4 * (i + k), sizeof one);
        part[k] = (double)one;
    }
    const double after = sequence_sum(part, part, n - i, before, run[0]);
    for (int64_t k = 0; k < n - i; k++) {
        const float one = part[k] != part[k] ? NAN : (float)(part[k] + 0.0);
        memcpy(d + 4 * (i + k), &one, sizeof one);
    }
    return after;
}

/* p[7] of each group, in the order of run_group.  Eight groups are added while they are
 * transposed: a blend leaves one half of two vectors in place, and a shuffle moves the other
 * half beside it. */
static double total_sum32(const char *x, int64_t n)
{
    double chain = -0.0;
    int64_t i = 0;
    for (; i + 8 * TNI_SCAN_GROUP <= n; i += 8 * TNI_SCAN_GROUP) {
        group v[8];
        for (int k = 0; k < 8; k++)
            load_group(&v[k], x + 4 * (i + TNI_SCAN_GROUP * k));
        for (int k = 0; k < 8; k += 2)
            v[k] = __builtin_shufflevector(v[k], v[k + 1], 0, 9, 2, 11, 4, 13, 6, 15) +
                   __builtin_shufflevector(v[k], v[k + 1], 1, 8, 3, 10, 5, 12, 7, 14);
        for (int k = 0; k < 8; k += 4)
            v[k] = __builtin_shufflevector(v[k], v[k + 2], 0, 1, 10, 11, 4, 5, 14, 15) +
                   __builtin_shufflevector(v[k], v[k + 2], 2, 3, 8, 9, 6, 7, 12, 13);
        v[0] = __builtin_shufflevector(v[0], v[4], 0, 1, 2, 3, 12, 13, 14, 15) +
               __builtin_shufflevector(v[0], v[4], 4, 5, 6, 7, 8, 9, 10, 11);
        double last[8];
        memcpy(last, v, sizeof last);
        /* Reload the lanes from memory: the units that would extract them are busy. */
        __asm__("" : "+m"(last));
        for (int k = 0; k < 8; k++)
            chain += last[k];
    }
    for (; i < n; i += TNI_SCAN_GROUP) {
        group v;
        load_group(&v, x + 4 * i);
        chain += ((v[7] + v[6]) + (v[5] + v[4])) + ((v[3] + v[2]) + (v[1] + v[0]));
    }
    return chain;
}

#include "scan_load.h"

#define NAME(f) f##_sum32
#if defined(__AVX2__)
#define QUAD(f) f##_quad_f32
#endif
#define WIDTH                4
#define LOAD(v, p, w)        load_f32(v, p, w)
#define PUT(p, v, w, stream) put_f32(p, v, w, stream)
#include "scan_rows.inc"

/* ---- floats of 16 bits ---- */

#include "scan_half.h"

#define NAME(f) f##_bf16
#if defined(__AVX2__)
#define QUAD(f) f##_quad_bf16
#endif
#define WIDTH                2
#define LOAD(v, p, w)        load_bf16(v, p, w)
#define PUT(p, v, w, stream) put_bf16(p, v, w, stream)
#if defined(__AVX512F__)
#define PUT_TWO put_two_bf16
#endif
#include "scan16.inc"
#include "scan_rows.inc"

#if defined(__AVX2__)
#define NAME(f)              f##_f16
#define QUAD(f)              f##_quad_f16
#define WIDTH                2
#define LOAD(v, p, w)        load_f16(v, p, w)
#define PUT(p, v, w, stream) put_f16(p, v, w, stream)
#if defined(__AVX512F__)
#define PUT_TWO put_two_f16
#endif
#include "scan16.inc"
#include "scan_rows.inc"
#else
#define sequence_f16 NULL
#define rows_f16     NULL
#endif

#endif
