/* op_vmath.h - functions on short arrays: the vector math library, 16 elements at a call.
 *
 * v_sin_f32(r, x) and v_sin_f64(r, x) compute 16 elements of any alignment; r may be x.  Of
 * SLEEF the reproducible functions are taken: a value depends neither on its neighbours in the
 * vector nor on the vector's width.  Without SLEEF, or where it has no vectors for this
 * machine, they are loops over the C library. */
#ifndef TNI_OP_VMATH_H
#define TNI_OP_VMATH_H

#include <math.h>

enum { MATH_BLOCK = 16 };

#if defined(TENON_SLEEF) && (defined(__SSE2__) || defined(__aarch64__))
#include <sleef.h>

#if defined(__AVX512F__)
typedef __m512 vec_f32;
typedef __m512d vec_f64;
#define LANES_F32         16
#define LOAD_F32(p)       _mm512_loadu_ps(p)
#define STORE_F32(p, v)   _mm512_storeu_ps(p, v)
#define LOAD_F64(p)       _mm512_loadu_pd(p)
#define STORE_F64(p, v)   _mm512_storeu_pd(p, v)
#define SLEEF_F32(f, ulp) Sleef_finz_##f##f16_##ulp##avx512f
#define SLEEF_F64(f, ulp) Sleef_finz_##f##d8_##ulp##avx512f
#elif defined(__AVX2__)
typedef __m256 vec_f32;
typedef __m256d vec_f64;
#define LANES_F32         8
#define LOAD_F32(p)       _mm256_loadu_ps(p)
#define STORE_F32(p, v)   _mm256_storeu_ps(p, v)
#define LOAD_F64(p)       _mm256_loadu_pd(p)
#define STORE_F64(p, v)   _mm256_storeu_pd(p, v)
#define SLEEF_F32(f, ulp) Sleef_finz_##f##f8_##ulp##avx2
#define SLEEF_F64(f, ulp) Sleef_finz_##f##d4_##ulp##avx2
#elif defined(__SSE2__)
typedef __m128 vec_f32;
typedef __m128d vec_f64;
#define LANES_F32         4
#define LOAD_F32(p)       _mm_loadu_ps(p)
#define STORE_F32(p, v)   _mm_storeu_ps(p, v)
#define LOAD_F64(p)       _mm_loadu_pd(p)
#define STORE_F64(p, v)   _mm_storeu_pd(p, v)
#define SLEEF_F32(f, ulp) Sleef_cinz_##f##f4_##ulp##sse2
#define SLEEF_F64(f, ulp) Sleef_cinz_##f##d2_##ulp##sse2
#else
typedef float32x4_t vec_f32;
typedef float64x2_t vec_f64;
#define LANES_F32         4
#define LOAD_F32(p)       vld1q_f32(p)
#define STORE_F32(p, v)   vst1q_f32(p, v)
#define LOAD_F64(p)       vld1q_f64(p)
#define STORE_F64(p, v)   vst1q_f64(p, v)
#define SLEEF_F32(f, ulp) Sleef_finz_##f##f4_##ulp##advsimd
#define SLEEF_F64(f, ulp) Sleef_finz_##f##d2_##ulp##advsimd
#endif

#define VMATH1(f, ulp)                                                                         \
    static inline void v_##f##_f32(float *r, const float *x)                                   \
    {                                                                                          \
        for (int j = 0; j < MATH_BLOCK; j += LANES_F32)                                        \
            STORE_F32(r + j, SLEEF_F32(f, ulp)(LOAD_F32(x + j)));                              \
    }                                                                                          \
    static inline void v_##f##_f64(double *r, const double *x)                                 \
    {                                                                                          \
        for (int j = 0; j < MATH_BLOCK; j += LANES_F32 / 2)                                    \
            STORE_F64(r + j, SLEEF_F64(f, ulp)(LOAD_F64(x + j)));                              \
    }
#define VMATH2(f, ulp)                                                                         \
    static inline void v_##f##_f32(float *r, const float *x, const float *y)                   \
    {                                                                                          \
        for (int j = 0; j < MATH_BLOCK; j += LANES_F32)                                        \
            STORE_F32(r + j, SLEEF_F32(f, ulp)(LOAD_F32(x + j), LOAD_F32(y + j)));             \
    }                                                                                          \
    static inline void v_##f##_f64(double *r, const double *x, const double *y)                \
    {                                                                                          \
        for (int j = 0; j < MATH_BLOCK; j += LANES_F32 / 2)                                    \
            STORE_F64(r + j, SLEEF_F64(f, ulp)(LOAD_F64(x + j), LOAD_F64(y + j)));             \
    }

#else

#define VMATH1(name, ulp)                                                                      \
    static inline void v_##name##_f32(float *r, const float *x)                                \
    {                                                                                          \
        for (int j = 0; j < MATH_BLOCK; j++)                                                   \
            r[j] = name##f(x[j]);                                                              \
    }                                                                                          \
    static inline void v_##name##_f64(double *r, const double *x)                              \
    {                                                                                          \
        for (int j = 0; j < MATH_BLOCK; j++)                                                   \
            r[j] = name(x[j]);                                                                 \
    }
#define VMATH2(name, ulp)                                                                      \
    static inline void v_##name##_f32(float *r, const float *x, const float *y)                \
    {                                                                                          \
        for (int j = 0; j < MATH_BLOCK; j++)                                                   \
            r[j] = name##f(x[j], y[j]);                                                        \
    }                                                                                          \
    static inline void v_##name##_f64(double *r, const double *x, const double *y)             \
    {                                                                                          \
        for (int j = 0; j < MATH_BLOCK; j++)                                                   \
            r[j] = name(x[j], y[j]);                                                           \
    }
#endif

VMATH1(exp, u10)
VMATH1(exp2, u10)
VMATH1(expm1, u10)
VMATH1(log, u10)
VMATH1(log2, u10)
VMATH1(log10, u10)
VMATH1(log1p, u10)
VMATH1(sin, u10)
VMATH1(cos, u10)
VMATH1(tan, u10)
VMATH1(asin, u10)
VMATH1(acos, u10)
VMATH1(atan, u10)
VMATH1(sinh, u10)
VMATH1(cosh, u10)
VMATH1(tanh, u10)
VMATH1(asinh, u10)
VMATH1(acosh, u10)
VMATH1(atanh, u10)
VMATH1(erf, u10)
VMATH1(erfc, u15)
VMATH1(lgamma, u10)
VMATH2(pow, u10)
VMATH2(atan2, u10)
VMATH2(hypot, u05)

#endif
