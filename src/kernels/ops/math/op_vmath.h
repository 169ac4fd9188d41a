/* op_vmath.h - the vector math library: functions on arrays of 16 elements.
 *
 * v_sin_f32(r, x) and v_sin_f64(r, x) compute 16 elements of any alignment; r may be x.
 * SLEEF's reproducible functions are used: a value depends neither on its neighbours in the
 * vector nor on the vector's width.  Without SLEEF, or where it has no vectors for the machine,
 * they are loops over the C library. */
#ifndef TNI_OP_VMATH_H
#define TNI_OP_VMATH_H

#include <math.h>

#include "kernels/table.h"

enum { MATH_BLOCK = 16 };

#if defined(TENON_SLEEF) && (defined(__SSE2__) || defined(__aarch64__))
#include <sleef.h>

#if defined(__AVX512F__)
#define LANES_F32         16
#define LANES_F64         8
#define LOAD_F32(p)       _mm512_loadu_ps(p)
#define STORE_F32(p, v)   _mm512_storeu_ps(p, v)
#define LOAD_F64(p)       _mm512_loadu_pd(p)
#define STORE_F64(p, v)   _mm512_storeu_pd(p, v)
#define SLEEF_F32(f, ulp) Sleef_finz_##f##f16_##ulp##avx512f
#define SLEEF_F64(f, ulp) Sleef_finz_##f##d8_##ulp##avx512f
#elif defined(__AVX2__)
#define LANES_F32         8
#define LANES_F64         4
#define LOAD_F32(p)       _mm256_loadu_ps(p)
#define STORE_F32(p, v)   _mm256_storeu_ps(p, v)
#define LOAD_F64(p)       _mm256_loadu_pd(p)
#define STORE_F64(p, v)   _mm256_storeu_pd(p, v)
#define SLEEF_F32(f, ulp) Sleef_finz_##f##f8_##ulp##avx2
#define SLEEF_F64(f, ulp) Sleef_finz_##f##d4_##ulp##avx2
#elif defined(__SSE2__)
#define LANES_F32         4
#define LANES_F64         2
#define LOAD_F32(p)       _mm_loadu_ps(p)
#define STORE_F32(p, v)   _mm_storeu_ps(p, v)
#define LOAD_F64(p)       _mm_loadu_pd(p)
#define STORE_F64(p, v)   _mm_storeu_pd(p, v)
#define SLEEF_F32(f, ulp) Sleef_cinz_##f##f4_##ulp##sse2
#define SLEEF_F64(f, ulp) Sleef_cinz_##f##d2_##ulp##sse2
#else
#define LANES_F32         4
#define LANES_F64         2
#define LOAD_F32(p)       vld1q_f32(p)
#define STORE_F32(p, v)   vst1q_f32(p, v)
#define LOAD_F64(p)       vld1q_f64(p)
#define STORE_F64(p, v)   vst1q_f64(p, v)
#define SLEEF_F32(f, ulp) Sleef_finz_##f##f4_##ulp##advsimd
#define SLEEF_F64(f, ulp) Sleef_finz_##f##d2_##ulp##advsimd
#endif

#else
#define LANES_F32            1
#define LANES_F64            1
#define LOAD_F32(p)          (*(p))
#define STORE_F32(p, v)      (*(p) = (v))
#define LOAD_F64(p)          (*(p))
#define STORE_F64(p, v)      (*(p) = (v))
#define SLEEF_F32(name, ulp) name##f
#define SLEEF_F64(name, ulp) name
#endif

/* VMATH is the name of a function and the error bound of SLEEF's version: u10 is 1.0 ulp. */
#define VMATH exp, u10
#include "op_vmath1.inc"
#define VMATH exp2, u10
#include "op_vmath1.inc"
#define VMATH expm1, u10
#include "op_vmath1.inc"
#define VMATH log, u10
#include "op_vmath1.inc"
#define VMATH log2, u10
#include "op_vmath1.inc"
#define VMATH log10, u10
#include "op_vmath1.inc"
#define VMATH log1p, u10
#include "op_vmath1.inc"
#define VMATH sin, u10
#include "op_vmath1.inc"
#define VMATH cos, u10
#include "op_vmath1.inc"
#define VMATH tan, u10
#include "op_vmath1.inc"
#define VMATH asin, u10
#include "op_vmath1.inc"
#define VMATH acos, u10
#include "op_vmath1.inc"
#define VMATH atan, u10
#include "op_vmath1.inc"
#define VMATH sinh, u10
#include "op_vmath1.inc"
#define VMATH cosh, u10
#include "op_vmath1.inc"
#define VMATH tanh, u10
#include "op_vmath1.inc"
#define VMATH acosh, u10
#include "op_vmath1.inc"
#define VMATH lgamma, u10
#include "op_vmath1.inc"
#define VMATH atan2, u10
#include "op_vmath2.inc"
#define VMATH hypot, u05
#include "op_vmath2.inc"

#endif
