/* contract_isa.c - products of matrices and vectors in every compute type, one table per level.
 *
 * Sums of floats use fused multiply-add where the level has it, so their bits differ between
 * levels; those of integers and bool do not. */
#include <string.h>

#include "contract_table.h"
#include "kernels/simd/simd.h"
#include "kernels/table.h"

enum {
    KC = 256,          /* steps of k in a panel: 32 KiB of b for f32, the size of L1 */
    PANEL_A = 60 << 10 /* bytes of a's panel: on the stack, in L2 */
};

/* WIDE: bytes of a vector.  ROWS x VECS vectors: the register block of a gemm.  AT_ONCE: rows
 * of a matrix that a gemv multiplies at once. */
#if defined(__AVX512F__)
enum { WIDE = 64, ROWS = 12, VECS = 2, AT_ONCE = 4 };
#elif defined(__AVX2__)
enum { WIDE = 32, ROWS = 6, VECS = 2, AT_ONCE = 2 };
#else
enum { WIDE = 16, ROWS = 4, VECS = 2, AT_ONCE = 2 };
#endif

/* ---- partial vectors: only the first n elements are accessed ---- */

#if defined(__AVX512F__)
#define BITS(n)             (((uint64_t)1 << (n)) - 1)
#define LOAD_1(s, n)        _mm512_maskz_loadu_epi8(BITS(n), s)
#define LOAD_2(s, n)        _mm512_maskz_loadu_epi16((__mmask32)BITS(n), s)
#define LOAD_4(s, n)        _mm512_maskz_loadu_epi32((__mmask16)BITS(n), s)
#define LOAD_8(s, n)        _mm512_maskz_loadu_epi64((__mmask8)BITS(n), s)
#define STORE_1(d, v, n)    _mm512_mask_storeu_epi8(d, BITS(n), (__m512i)(v))
#define STORE_2(d, v, n)    _mm512_mask_storeu_epi16(d, (__mmask32)BITS(n), (__m512i)(v))
#define STORE_4(d, v, n)    _mm512_mask_storeu_epi32(d, (__mmask16)BITS(n), (__m512i)(v))
#define STORE_8(d, v, n)    _mm512_mask_storeu_epi64(d, (__mmask8)BITS(n), (__m512i)(v))
#define MADD_F32(acc, a, b) ((f32_vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(acc)))
#define MADD_F64(acc, a, b)                                                                    \
    ((f64_vec)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(acc)))
#define SWAP_F32(v) ((f32_vec)_mm512_permute_ps((__m512)(v), 0xb1))
#define SWAP_F64(v) ((f64_vec)_mm512_permute_pd((__m512d)(v), 0x55))
#elif defined(__AVX2__)
static const int32_t window[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
INLINE __m256i first(int64_t dwords)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)(window + 8 - dwords));
}
#define LOAD_4(s, n)     _mm256_maskload_epi32((const void *)(s), first(n))
#define LOAD_8(s, n)     _mm256_maskload_epi64((const void *)(s), first(2 * (n)))
#define STORE_4(d, v, n) _mm256_maskstore_epi32((int *)(void *)(d), first(n), (__m256i)(v))
#define STORE_8(d, v, n)                                                                       \
    _mm256_maskstore_epi64((long long *)(void *)(d), first(2 * (n)), (__m256i)(v))
#define MADD_F32(acc, a, b) ((f32_vec)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(acc)))
#define MADD_F64(acc, a, b)                                                                    \
    ((f64_vec)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(acc)))
#define SWAP_F32(v) ((f32_vec)_mm256_permute_ps((__m256)(v), 0xb1))
#define SWAP_F64(v) ((f64_vec)_mm256_permute_pd((__m256d)(v), 5))
#else
#define SWAP_F32(v)         __builtin_shufflevector(v, v, 1, 0, 3, 2)
#define SWAP_F64(v)         __builtin_shufflevector(v, v, 1, 0)
#define MADD_F32(acc, a, b) ((acc) + (a) * (b))
#define MADD_F64(acc, a, b) ((acc) + (a) * (b))
#endif

#if defined(__FMA__)
#define FUSED32(s, x, y) __builtin_fmaf(x, y, s)
#define FUSED64(s, x, y) __builtin_fma(x, y, s)
#else
#define FUSED32(s, x, y) ((s) + (x) * (y))
#define FUSED64(s, x, y) ((s) + (x) * (y))
#endif

#define SCALED(v, t)     (t == 1 ? (v) : (v) * (t))
#define SUM(a, b)        ((a) + (b))
#define EITHER(a, b)     ((a) | (b))
#define TIMES(a, b)      ((T)((a) * (b)))
#define TIMES16(a, b)    ((uint16_t)((uint32_t)(a) * (b))) /* not in int: it overflows */
#define BOTH(a, b)       ((uint8_t)((a) & (b)))
#define WRAPS(s, x, y)   ((s) + (x) * (y))
#define WRAPS16(s, x, y) ((uint16_t)((s) + (uint32_t)(x) * (y)))
#define ANY(s, x, y)     ((s) | ((x) & (y)))

#if defined(__AVX512F__)
/* Transpose 16 x 16 elements of 32 bits: rows of s are `step` bytes apart, rows of the result
 * `side` elements. */
static void transpose16(void *to, const char *s, int64_t step, int side)
{
    uint32_t *out = to;
    __m512i r[16], t[16];
    UNROLL for (int i = 0; i < 16; i++) r[i] = _mm512_loadu_si512((const void *)(s + i * step));
    UNROLL for (int i = 0; i < 16; i += 2)
    {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    UNROLL for (int i = 0; i < 16; i += 4)
    {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    UNROLL for (int i = 0; i < 4; i++)
    {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
    UNROLL for (int i = 0; i < 8; i++)
    {
        r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    }
    UNROLL for (int i = 0; i < 16; i++) _mm512_storeu_si512((void *)(out + i * side), r[i]);
}
#define TRANSPOSE_4 transpose16
#endif

/* ---- floats ---- */

#define NAME(x)  JOIN(f32, x)
#define T        float
#define MADD     MADD_F32
#define MADD1    FUSED32
#define MUL1     TIMES
#define JOINED   SUM
#define SCALE(x) ((float)(x))
#ifdef LOAD_4
#define LOAD_PART  LOAD_4
#define STORE_PART STORE_4
#endif
#ifdef TRANSPOSE_4
#define TRANSPOSE TRANSPOSE_4
#endif
#include "gemm_real.inc"

#define NAME(x)  JOIN(f64, x)
#define T        double
#define MADD     MADD_F64
#define MADD1    FUSED64
#define MUL1     TIMES
#define JOINED   SUM
#define SCALE(x) (x)
#ifdef LOAD_8
#define LOAD_PART  LOAD_8
#define STORE_PART STORE_8
#endif
#include "gemm_real.inc"

#define NAME(x) JOIN(c64, x)
#define REAL(x) JOIN(f32, x)
#define T       float
#define MADD    MADD_F32
#define SWAP    SWAP_F32
#include "gemm_complex.inc"

#define NAME(x) JOIN(c128, x)
#define REAL(x) JOIN(f64, x)
#define T       double
#define MADD    MADD_F64
#define SWAP    SWAP_F64
#include "gemm_complex.inc"

/* ---- integers, which wrap, and bool ---- */

#define NAME(x)  JOIN(u16, x)
#define T        uint16_t
#define MADD     WRAPS
#define MADD1    WRAPS16
#define MUL1     TIMES16
#define JOINED   SUM
#define SCALE(x) ((uint16_t)tni_whole_bits(x))
#ifdef LOAD_2
#define LOAD_PART  LOAD_2
#define STORE_PART STORE_2
#endif
#include "gemm_real.inc"

#define NAME(x)  JOIN(u32, x)
#define T        uint32_t
#define MADD     WRAPS
#define MADD1    WRAPS
#define MUL1     TIMES
#define JOINED   SUM
#define SCALE(x) ((uint32_t)tni_whole_bits(x))
#ifdef LOAD_4
#define LOAD_PART  LOAD_4
#define STORE_PART STORE_4
#endif
#ifdef TRANSPOSE_4
#define TRANSPOSE TRANSPOSE_4
#endif
#include "gemm_real.inc"

#define NAME(x)  JOIN(u64, x)
#define T        uint64_t
#define MADD     WRAPS
#define MADD1    WRAPS
#define MUL1     TIMES
#define JOINED   SUM
#define SCALE(x) tni_whole_bits(x)
#ifdef LOAD_8
#define LOAD_PART  LOAD_8
#define STORE_PART STORE_8
#endif
#include "gemm_real.inc"

#define NAME(x)  JOIN(any, x)
#define T        uint8_t
#define MADD     ANY
#define MADD1    ANY
#define MUL1     BOTH
#define JOINED   EITHER
#define SCALE(x) ((uint8_t)(x))
#ifdef LOAD_1
#define LOAD_PART  LOAD_1
#define STORE_PART STORE_1
#endif
#include "gemm_real.inc"

/* ---- matrices of f16 and bf16 ---- */

#define T      float
#define V      f32_vec
#define LANES  ((int)(WIDE / sizeof(float)))
#define MADD   MADD_F32
#define MADD1  FUSED32
#define JOINED SUM

INLINE V widen_f16(const char *s)
{
#if defined(__AVX512F__)
    return (V)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)s));
#elif defined(__F16C__)
    return (V)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)s));
#else
    V v;
    for (int l = 0; l < LANES; l++) {
        uint16_t h;
        memcpy(&h, s + 2 * l, sizeof h);
        v[l] = tni_f32_of_f16(h);
    }
    return v;
#endif
}

INLINE V widen_bf16(const char *s)
{
    uint16_t h[LANES];
    uint32_t w[LANES];
    V v;
    memcpy(h, s, sizeof h);
    for (int l = 0; l < LANES; l++)
        w[l] = (uint32_t)h[l] << 16;
    memcpy(&v, w, sizeof v);
    return v;
}

#define NAME(x)   JOIN(f16, x)
#define E         uint16_t
#define WIDEN(s)  widen_f16(s)
#define WIDEN1(e) tni_f32_of_f16(e)
#include "gemv_real.inc"
#undef NAME

#define NAME(x)   JOIN(bf16, x)
#define E         uint16_t
#define WIDEN(s)  widen_bf16(s)
#define WIDEN1(e) tni_f32_of_bf16(e)
#include "gemv_real.inc"
#undef NAME

/* ---- products of bf16 ---- */

#if defined(__AVX512F__)
#include "gemm_bf16.inc"
#define GEMM_BF16 bf16_gemm
#else
#define GEMM_BF16 NULL
#endif

/* ---- the table ---- */

#define REAL_ROW(t, is_fast)                                                                   \
    {                                                                                          \
        .gemm = t##_gemm, .fast = is_fast, .small = t##_small, .gemv = t##_gemv,               \
        .lanes = t##_lanes, .finish = t##_finish                                               \
    }
#define COMPLEX_ROW(t)                                                                         \
    {                                                                                          \
        .gemm = t##_gemm, .gemv = t##_gemv, .lanes = t##_lanes, .finish = t##_finish           \
    }

const tni_contract_kernels TNI_TABLE(contract) = {
    .row =
        {
            [TNI_SUM_F32] = REAL_ROW(f32, WIDE == 64),
            [TNI_SUM_F64] = REAL_ROW(f64, false),
            [TNI_SUM_C64] = COMPLEX_ROW(c64),
            [TNI_SUM_C128] = COMPLEX_ROW(c128),
            [TNI_SUM_U16] = REAL_ROW(u16, false),
            [TNI_SUM_U32] = REAL_ROW(u32, false),
            [TNI_SUM_U64] = REAL_ROW(u64, false),
            [TNI_SUM_BOOL] = REAL_ROW(any, false),
        },
    .gemv_f16 = f16_gemv,
    .gemv_bf16 = bf16_gemv,
    .gemm_bf16 = GEMM_BF16,
};
