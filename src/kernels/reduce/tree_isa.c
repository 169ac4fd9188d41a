/* tree_isa.c - the summation tree for one instruction set.
 *
 * The loads of a tile are issued in the order of their addresses, which hardware prefetchers
 * follow: on Zen 4 the same loads in another order reach less than half of the memory's speed.
 * A barrier after each load keeps the compiler from reordering them. */
#include "tree.h"

#include <string.h>

#include "ahead.h"
#include "core/core.h"
#include "kernels/table.h"
#include "tree_vector.h"

/* ---- tiles of f32 ---- */

INLINE void tile_pair(vf *sum, const char *x)
{
    vf a[ROW32];
    UNROLLED for (int g = 0; g < ROW32; g++) a[g] = load_vf(x + g * V);
    UNROLLED for (int g = 0; g < ROW32; g++) sum[g] = a[g] + load_vf(x + 64 + g * V);
}

/* Add the tile at x to acc, lane by lane. */
INLINE void tile32(vd *acc, const char *x)
{
    vf s[4][ROW32];
    UNROLLED for (int k = 0; k < 4; k++) tile_pair(s[k], x + 128 * k);
    UNROLLED for (int g = 0; g < ROW32; g++)
    {
        const vf t = (s[0][g] + s[1][g]) + (s[2][g] + s[3][g]);
        acc[2 * g] += low_vd(t);
        acc[2 * g + 1] += high_vd(t);
    }
}

/* Add the incomplete tile at x, of `left` elements, to acc. */
INLINE void end32(vd *acc, const char *x, int64_t left, int rows)
{
#if !defined(__AVX2__)
    float end[TNI_TILE];
    for (int i = 0; i < TNI_LANES * rows; i++)
        end[i] = -0.0f;
    memcpy(end, x, (size_t)left * sizeof *end);
    x = (const char *)end;
#endif
    UNROLLED for (int g = 0; g < ROW32; g++)
    {
        vf v[8];
        UNROLLED for (int k = 0; k < rows; k++)
        {
            const char *p = x + 64 * k + g * V;
            v[k] = k < full_rows(rows) ? load_vf(p) : LOAD_END(p, left - 16 * k - g * VF);
        }
        const vf t = tree_vf(v, rows);
        acc[2 * g] += low_vd(t);
        acc[2 * g + 1] += high_vd(t);
    }
}

/* The sum of n < 16 elements.  Each is a lane, so that only the lanes are added, by halves. */
INLINE double few32(const char *x, int n)
{
    double s[TNI_LANES];
    UNROLLED for (int l = 0; l < TNI_LANES; l++)
    {
        float v = -0.0f;
        if (l < n)
            memcpy(&v, x + 4 * l, sizeof v);
        s[l] = (double)v;
    }
    UNROLLED for (int l = 0; l < 8; l++) s[l] += s[l + 8];
    UNROLLED for (int l = 0; l < 4; l++) s[l] += s[l + 4];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

typedef float f8 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));

/* Element k of each of the eight sequences of three in v. */
#if defined(__AVX2__)
INLINE f8 every_third(const f8 *v, int k)
{
    /* blends collect the elements, one in each lane; a permutation then sorts them */
    const __m256 x = k == 0   ? _mm256_blend_ps(_mm256_blend_ps(v[0], v[1], 0x92), v[2], 0x24)
                     : k == 1 ? _mm256_blend_ps(_mm256_blend_ps(v[0], v[1], 0x24), v[2], 0x49)
                              : _mm256_blend_ps(_mm256_blend_ps(v[0], v[1], 0x49), v[2], 0x92);
    const __m256i order = k == 0   ? _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5)
                          : k == 1 ? _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6)
                                   : _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7);
    return _mm256_permutevar8x32_ps(x, order);
}

INLINE f8 load_f8(const char *p)
{
    const f8 v = _mm256_loadu_ps((const float *)(const void *)p);
    in_order();
    return v;
}
#endif

/* The sums of the eight sequences of three in v. */
INLINE void threes(double *out, const f8 *v)
{
#if defined(__AVX512F__)
    const vd first = _mm512_cvtps_pd(every_third(v, 0)),
             second = _mm512_cvtps_pd(every_third(v, 1)),
             third = _mm512_cvtps_pd(every_third(v, 2));
    store_vd(out, (first + third) + second);
#elif defined(__AVX2__)
    const f8 first = every_third(v, 0), second = every_third(v, 1), third = every_third(v, 2);
    store_vd(out, (low_vd(first) + low_vd(third)) + low_vd(second));
    store_vd(out + VD, (high_vd(first) + high_vd(third)) + high_vd(second));
#else
    const f8 a = v[0], b = v[1], c = v[2];
    f8 t = __builtin_shufflevector(a, b, 0, 3, 6, 9, 12, 15, 0, 0);
    const f8 first = __builtin_shufflevector(t, c, 0, 1, 2, 3, 4, 5, 10, 13);
    t = __builtin_shufflevector(a, b, 1, 4, 7, 10, 13, 0, 0, 0);
    const f8 second = __builtin_shufflevector(t, c, 0, 1, 2, 3, 4, 8, 11, 14);
    t = __builtin_shufflevector(a, b, 2, 5, 8, 11, 14, 0, 0, 0);
    const f8 third = __builtin_shufflevector(t, c, 0, 1, 2, 3, 4, 9, 12, 15);
    const d8 s = (__builtin_convertvector(first, d8) + __builtin_convertvector(third, d8)) +
                 __builtin_convertvector(second, d8);
    memcpy(out, &s, sizeof s);
#endif
}

static void three32(double *out, const char *x, int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const char *p = x + 12 * i;
#if defined(__AVX2__) /* loads that stay in registers */
        threes(out + i, (const f8[]){load_f8(p), load_f8(p + 32), load_f8(p + 64)});
#else
        f8 v[3];
        memcpy(v, p, sizeof v);
        threes(out + i, v);
#endif
    }
    for (; i < count; i++)
        out[i] = few32(x + 12 * i, 3);
}

INLINE bool fews32(double *out, const char *x, int n, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = few32(x + 4 * n * i, n);
    return true;
}

/* Dense sequences of two to eight elements, such as the last axis of an array of shape (N, 3).
 * Returns false for other lengths. */
static bool short32(double *out, const char *x, int64_t n, int64_t count)
{
    switch (n) {
    case 2:
        return fews32(out, x, 2, count);
    case 3:
        three32(out, x, count);
        return true;
    case 4:
        return fews32(out, x, 4, count);
    case 5:
        return fews32(out, x, 5, count);
    case 6:
        return fews32(out, x, 6, count);
    case 7:
        return fews32(out, x, 7, count);
    case 8:
        return fews32(out, x, 8, count);
    default:
        return false;
    }
}

INLINE void sum32_by(double *out, const char *x, int64_t n, int64_t step, int64_t count,
                     int rows)
{
    const int64_t left = n % TNI_TILE;
    for (int64_t i = 0; i < count; i++, x += step) {
        vd acc[2 * ROW32];
        UNROLLED for (int g = 0; g < 2 * ROW32; g++) acc[g] = splat_vd(-0.0);
        int64_t t = 0;
        for (; t + TNI_TILE <= n; t += TNI_TILE) {
            fetch_ahead(x + 4 * t, 4 * TNI_TILE);
            tile32(acc, x + 4 * t);
        }
        fetch_ahead(x + 4 * t, 4 * left);
        if (rows > 0)
            end32(acc, x + 4 * t, left, rows);
        out[i] = merge_sum(acc);
    }
}

static void sum32(double *out, const char *x, int64_t n, int64_t step, int64_t count)
{
    if (step == 4 * n && short32(out, x, n, count))
        return;
#define CALL(ROWS) sum32_by(out, x, n, step, count, ROWS)
    BY_END_ROWS(n, CALL)
#undef CALL
}

static void rows_sum32(double *acc, const char *const *row, const char *const *next, int64_t w,
                       bool first)
{
    ahead then = ahead_of(next, 4 * w);
    int64_t c = 0;
    for (; c + VF <= w; c += VF) {
        vf r[8];
        ahead_step(&then, 8 * V);
        UNROLLED for (int k = 0; k < 8; k++) r[k] = load_vf(row[k] + 4 * c);
        const vf t = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        vd a = low_vd(t), b = high_vd(t);
        if (!first) {
            a = load_vd(acc + c) + a;
            b = load_vd(acc + c + VD) + b;
        }
        store_vd(acc + c, a);
        store_vd(acc + c + VD, b);
    }
    for (; c < w; c++) {
        float r[8];
        for (int k = 0; k < 8; k++)
            memcpy(&r[k], row[k] + 4 * c, sizeof r[k]);
        const float t = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        acc[c] = first ? (double)t : acc[c] + (double)t;
    }
}

/* ---- tiles of f16 and bf16, as f32 ---- */

#if defined(__AVX2__)
INLINE f8 half_f8(const char *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}
INLINE f8 brain_f8(const char *p)
{
    const __m256i v = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
}

/* Blocks of fewer elements are read from a copy, because load_some_16 of AVX2 loads eight
 * elements. */
#if defined(__AVX512F__)
enum { ENDS16 = 0 };
#else
enum { ENDS16 = 8 };
#endif

#define HALF(f)                f##_f16
#define LOAD_F8(p)             half_f8(p)
#define LOAD_HALF(p)           half_vf(p)
#define LOAD_HALF_END(p, left) half_some(p, left)
#include "tree16.inc"

#define HALF(f)                f##_bf16
#define LOAD_F8(p)             brain_f8(p)
#define LOAD_HALF(p)           brain_vf(p)
#define LOAD_HALF_END(p, left) brain_some(p, left)
#include "tree16.inc"
#endif

/* ---- tiles of f64: sums and products ---- */

typedef double loose_f64 __attribute__((aligned(1), may_alias));

#define NAME(f)      f##_sum64
#define PUBLIC       sum64
#define COMBINE      +
#define ABSENT       (-0.0)
#define MERGE        merge_sum
#define PUBLIC_ROW   rows_sum64
#define PUBLIC_LANES lanes_sum
#include "tree64.inc"

#define NAME(f)      f##_prod64
#define PUBLIC       prod64
#define COMBINE      *
#define ABSENT       1.0
#define MERGE        merge_prod
#define PUBLIC_ROW   rows_prod64
#define PUBLIC_LANES lanes_prod
#include "tree64.inc"

#include "skewed_types.inc"

/* ---- distances and their squares ---- */

#include "tree_moments.inc"

/* ---- results ---- */

/* Inlined with constant arguments, so that the loop contains only what is asked for. */
INLINE void results_by(double *y, const double *s, int64_t n, double zero, double by,
                       const int64_t *count, bool divide, bool root)
{
    for (int64_t i = 0; i < n; i++) {
        double x = s[i] + zero;
        if (count)
            x /= (double)count[i];
        else if (divide)
            x /= by;
        if (root)
            x = __builtin_sqrt(x);
        y[i] = x == x ? x : __builtin_nan("");
    }
}

static void results(double *y, const double *s, int64_t n, double zero, double by,
                    const int64_t *count, bool root)
{
    if (count)
        results_by(y, s, n, zero, by, count, false, root);
    else if (root)
        results_by(y, s, n, zero, by, NULL, true, true);
    else if (by == 1)
        results_by(y, s, n, zero, by, NULL, false, false);
    else
        results_by(y, s, n, zero, by, NULL, true, false);
}

const tni_tree_kernels TNI_TABLE(tree) = {
    .sum32 = sum32,
    .sum64 = sum64,
    .prod64 = prod64,
    .squares32 = squares32,
#if defined(__AVX2__)
    .sum16 = {sum_f16, sum_bf16},
    .rows_sum16 = {rows_sum_f16, rows_sum_bf16},
#endif
    .rows_sum32 = rows_sum32,
    .rows_sum64 = rows_sum64,
    .skewed[TNI_TREE_F32] = skewed_f32,
    .skewed[TNI_TREE_F64] = skewed_f64,
#if defined(__AVX2__)
    .skewed[TNI_TREE_F16] = skewed_f16,
    .skewed[TNI_TREE_BF16] = skewed_bf16,
#endif
    .rows_prod64 = rows_prod64,
    .moments[TNI_TREE_F32] = moments_f32,
    .moments[TNI_TREE_F64] = moments_f64,
    .rows_moments[TNI_TREE_F32] = rows_moments_f32,
    .rows_moments[TNI_TREE_F64] = rows_moments_f64,
    .moments[TNI_TREE_I32] = moments_i32,
    .rows_moments[TNI_TREE_I32] = rows_moments_i32,
    .tiles_moments[TNI_TREE_F32] = tiles_moments_f32,
    .few_moments[TNI_TREE_F32] = few_moments_f32,
    .tiles_moments[TNI_TREE_F64] = tiles_moments_f64,
    .few_moments[TNI_TREE_F64] = few_moments_f64,
    .tiles_moments[TNI_TREE_I32] = tiles_moments_i32,
    .few_moments[TNI_TREE_I32] = few_moments_i32,
#if defined(__AVX2__)
    .tiles_moments[TNI_TREE_F16] = tiles_moments_f16,
    .few_moments[TNI_TREE_F16] = few_moments_f16,
    .tiles_moments[TNI_TREE_BF16] = tiles_moments_bf16,
    .few_moments[TNI_TREE_BF16] = few_moments_bf16,
    .moments[TNI_TREE_F16] = moments_f16,
    .moments[TNI_TREE_BF16] = moments_bf16,
    .rows_moments[TNI_TREE_F16] = rows_moments_f16,
    .rows_moments[TNI_TREE_BF16] = rows_moments_bf16,
#endif
    .spread = spread,
    .exact_spread = exact_spread,
    .lanes_sum = lanes_sum,
    .lanes_prod = lanes_prod,
    .results = results,
};
