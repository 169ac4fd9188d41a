/* op_math_isa.c - the float ops that are math functions, for one instruction set. */
#include "kernels/simd/half_lanes.h"
#include "op_loop.h"

#include "kernels/ops/math/op_digamma32.h"
#include "kernels/ops/math/op_digamma64.h"
#include "kernels/ops/math/op_gates32.h"
#include "kernels/ops/math/op_gates64.h"
#include "kernels/ops/math/op_lanes32.h"
#include "kernels/ops/math/op_log64.h"
#include "kernels/ops/math/op_math32.h"
#include "kernels/ops/math/op_math64.h"
#include "kernels/ops/math/op_pow32.h"

typedef float f32_rule(RULE_HEAD(float));
typedef void f32_array(float *r, const float *x, const float *y, const double *param);
typedef void f64_array(double *r, const double *x, const double *y, const double *param);
typedef void once_array(float *r, const float *x, const float *y, bool odd);

/* A computed NaN is the positive quiet one without payload. */
INLINE float quiet_f32(float r)
{
    return r == r ? r : NAN;
}

INLINE double quiet_f64(double r)
{
    return r == r ? r : (double)NAN;
}

/* ---- f32: a loop over a scalar function ---- */

INLINE void f32_loop(BLOCK_HEAD, f32_rule *rule)
{
    LOOSE(float, float);
    (void)c;
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        SET(d, j) = quiet_f32(rule(AT(a, j), AT(b, j), 0, param));
    }
}

/* ---- f32: vectors of lanes; their functions quiet NaN themselves ---- */

#if defined(LANE_LOAD)
typedef lanes lanes_rule(lanes x);
INLINE void lanes_loop(BLOCK_HEAD, lanes_rule *rule)
{
    (void)b, (void)c, (void)param;
    for (int j = 0; j < 4 * MATH_BLOCK; j += 4 * LANES) {
        LANE_STORE(d + j, rule(LANE_LOAD(a + j)));
    }
}
#else
typedef float lanes_rule(float x);
INLINE void lanes_loop(BLOCK_HEAD, lanes_rule *rule)
{
    LOOSE(float, float);
    (void)b, (void)c, (void)param;
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        SET(d, j) = rule(AT(a, j));
    }
}
#endif

/* ---- blocks of 16: sources are read into arrays, so that d may be one of them ----
 *
 * Results are moved from the array to d in one pass.  Quieting them in the array and then
 * copying it to d would read vectors of 64 bytes that were just written as two of 32, which no
 * store buffer forwards: 46 us instead of 12 for the sines of 20,000 f32 (Zen 4, AVX-512). */

INLINE void read_block(void *d, const char *s, int bytes)
{
    for (int i = 0; i < bytes; i += (int)sizeof(wide)) {
        wide v;
        memcpy(&v, s + i, sizeof v);
        memcpy((char *)d + i, &v, sizeof v);
    }
}

INLINE void f64_arrays(BLOCK_HEAD, f64_array *f)
{
    LOOSE(double, double);
    double x[MATH_BLOCK], y[MATH_BLOCK], r[MATH_BLOCK];
    (void)c;
    read_block(x, a, sizeof x);
    read_block(y, b, sizeof y);
    f(r, x, y, param);
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        SET(d, j) = quiet_f64(AT(r, j));
    }
}

INLINE void f32_arrays(BLOCK_HEAD, f32_array *f)
{
    LOOSE(float, float);
    float x[MATH_BLOCK], y[MATH_BLOCK], r[MATH_BLOCK];
    (void)c;
    read_block(x, a, sizeof x);
    read_block(y, b, sizeof y);
    f(r, x, y, param);
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        SET(d, j) = quiet_f32(AT(r, j));
    }
}

/* f32 through the f64 function. */
INLINE void f32_via_f64(BLOCK_HEAD, f64_array *f)
{
    LOOSE(double, float);
    float x[MATH_BLOCK], y[MATH_BLOCK];
    double u[MATH_BLOCK], v[MATH_BLOCK], w[MATH_BLOCK];
    (void)c;
    read_block(x, a, sizeof x);
    read_block(y, b, sizeof y);
    for (int j = 0; j < MATH_BLOCK; j++) {
        u[j] = (double)x[j];
        v[j] = (double)y[j];
    }
    f(w, u, v, param);
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        SET(d, j) = quiet_f32((float)AT(w, j));
    }
}

/* f32, f16 and bf16 by a function that rounds once. */
INLINE void f32_once(BLOCK_HEAD, once_array *f)
{
    LOOSE(float, float);
    float x[MATH_BLOCK], y[MATH_BLOCK], r[MATH_BLOCK];
    (void)c, (void)param;
    read_block(x, a, sizeof x);
    read_block(y, b, sizeof y);
    f(r, x, y, false);
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        SET(d, j) = quiet_f32(AT(r, j));
    }
}

INLINE void f16_once(BLOCK_HEAD, once_array *f)
{
    float x[MATH_BLOCK], y[MATH_BLOCK], r[MATH_BLOCK];
    (void)c, (void)param;
    for (int j = 0; j < MATH_BLOCK; j += HALVES) {
        f16_f32((char *)(x + j), a + 2 * j);
        f16_f32((char *)(y + j), b + 2 * j);
    }
    f(r, x, y, true);
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        r[j] = quiet_f32(r[j]);
    }
    for (int j = 0; j < MATH_BLOCK; j += HALVES)
        f32_f16_half(d + 2 * j, (const char *)(r + j));
}

typedef uint16_t bf16_lanes __attribute__((vector_size(2 * MATH_BLOCK)));
typedef uint32_t f32_bits __attribute__((vector_size(4 * MATH_BLOCK)));

INLINE void bf16_widen(float *d, const char *s)
{
    bf16_lanes x;
    memcpy(&x, s, sizeof x);
    const f32_bits bits = __builtin_convertvector(x, f32_bits) << 16;
    memcpy(d, &bits, sizeof bits);
}

INLINE void bf16_once(BLOCK_HEAD, once_array *f)
{
    float x[MATH_BLOCK], y[MATH_BLOCK], r[MATH_BLOCK];
    f32_bits bits;
    (void)c, (void)param;
    bf16_widen(x, a);
    bf16_widen(y, b);
    f(r, x, y, true);
    INDEPENDENT for (int j = 0; j < MATH_BLOCK; j++)
    {
        r[j] = quiet_f32(r[j]);
    }
    memcpy(&bits, r, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16; /* tni_bf16_rounded */
    const bf16_lanes rounded = __builtin_convertvector(bits, bf16_lanes);
    memcpy(d, &rounded, sizeof rounded);
}

/* clang-format off */
#define CALL1_0(f) f(x)
#define CALL1_1(f) f(x, P(0))
#define CALL1_2(f) f(x, P(0), P(1))
#define CALL2_0(f) f(x, y)
#define VCALL1(f)  f(r, x)
#define VCALL2(f)  f(r, x, y)

#define COUNT_P0               0
#define COUNT_P1(a)            1
#define COUNT_P2(a, b)         2
#define CALLED(ARITY, PARAMS)  CALLED_(ARITY, COUNT_##PARAMS)
#define CALLED_(ARITY, COUNT)  CALLED__(ARITY, COUNT)
#define CALLED__(ARITY, COUNT) CALL##ARITY##_##COUNT

#define BLOCKS(NAME, ARITY, BYTES, LOOP, F) \
    INLINE void NAME##_block(BLOCK_HEAD) { LOOP(BLOCK_ARGS, F); } \
    KERNEL_OF_LARGE_BLOCKS(NAME, ARITY, (BYTES) * MATH_BLOCK)
#define ON_F64_ONLY(ENUM, ARITY, DT, PARAMS, RULE) \
    BLOCKS(ENUM##_F64, ARITY, 8, f64_arrays, RULE##_f64)
#define ON_SLEEF(ENUM, ARITY, DT, PARAMS, RULE) \
    ON_F64_ONLY(ENUM, ARITY, DT, PARAMS, RULE) \
    INLINE void ENUM##_array(float *r, const float *x, OPTIONAL const float *y, \
                             OPTIONAL const double *param) { VCALL##ARITY(v_##RULE##_f32); } \
    BLOCKS(ENUM##_F32, ARITY, 4, f32_arrays, ENUM##_array)
#define ON_VIA_F64(ENUM, ARITY, DT, PARAMS, RULE) \
    ON_F64_ONLY(ENUM, ARITY, DT, PARAMS, RULE) \
    BLOCKS(ENUM##_F32, ARITY, 4, f32_via_f64, RULE##_f64)
#define ON_ONCE(ENUM, ARITY, DT, PARAMS, RULE) \
    ON_F64_ONLY(ENUM, ARITY, DT, PARAMS, RULE) \
    BLOCKS(ENUM##_F32, ARITY, 4, f32_once, RULE##_once) \
    BLOCKS(ENUM##_F16, ARITY, 2, f16_once, RULE##_once) \
    BLOCKS(ENUM##_BF16, ARITY, 2, bf16_once, RULE##_once)
#define ON_MATH(ENUM, ARITY, DT, PARAMS, RULE) \
    ON_F64_ONLY(ENUM, ARITY, DT, PARAMS, RULE) \
    INLINE float ENUM##_rule(RULE_HEAD(float)) { return CALLED(ARITY, PARAMS)(RULE##_f32); } \
    BLOCKS(ENUM##_F32, ARITY, 4, f32_loop, ENUM##_rule)
#define ON_SIMD32(ENUM, ARITY, DT, PARAMS, RULE) \
    ON_F64_ONLY(ENUM, ARITY, DT, PARAMS, RULE) \
    BLOCKS(ENUM##_F32, ARITY, 4, lanes_loop, RULE##_lanes)
#define OP_FLOAT
#include "op_rows.h"

#define SLOT(DT) [TNI_SLOT_##DT]
const tni_float_ops TNI_TABLE(math_ops) = {
#define ON_F64_ONLY(ENUM, ...) [TN_##ENUM] = {SLOT(F64) = ENUM##_F64},
#define ON_SLEEF(ENUM, ...)    [TN_##ENUM] = {SLOT(F32) = ENUM##_F32, SLOT(F64) = ENUM##_F64},
#define ON_VIA_F64 ON_SLEEF
#define ON_SIMD32  ON_SLEEF
#define ON_MATH    ON_SLEEF
#define ON_ONCE(ENUM, ...) \
    [TN_##ENUM] = {SLOT(F16) = ENUM##_F16, SLOT(BF16) = ENUM##_BF16, \
                   SLOT(F32) = ENUM##_F32, SLOT(F64) = ENUM##_F64},
#define OP_FLOAT
#include "op_rows.h"
};
/* clang-format on */
