/* op_math_isa.c - the ops on floats that are functions, for one instruction set. */
#include "op_loop.h"

#include "kernels/ops/math/op_digamma64.h"
#include "kernels/ops/math/op_gates32.h"
#include "kernels/ops/math/op_gates64.h"
#include "kernels/ops/math/op_lanes32.h"
#include "kernels/ops/math/op_math32.h"
#include "kernels/ops/math/op_math64.h"

/* ---- f32: loops over scalar functions ---- */

#define CALL1_0(f) f(x)
#define CALL1_1(f) f(x, P(0))
#define CALL1_2(f) f(x, P(0), P(1))
#define CALL2_0(f) f(x, y)

/* ---- f32: a few at a time ---- */

#if defined(LANE_LOAD)
#define LANE_LOOP1(NAME, f)                                                                    \
    INLINE void NAME##_block(BLOCK_HEAD)                                                       \
    {                                                                                          \
        UNUSED_SOURCES;                                                                        \
        for (int j = 0; j < 4 * MATH_BLOCK; j += 4 * LANES)                                    \
            LANE_STORE(d + j, f(LANE_LOAD(a + j)));                                            \
    }                                                                                          \
    KERNEL(NAME, 1, 4 * MATH_BLOCK)
#else
#define LANE_LOOP1(NAME, f) LOOP1(NAME, MATH_BLOCK, float, float, float, f(x))
#endif

/* ---- blocks of 16: sources are read into arrays, so that d may be one of them ---- */

#define ARRAYS(NAME, T, COMPUTE, ARITY)                                                        \
    INLINE void NAME##_block(BLOCK_HEAD)                                                       \
    {                                                                                          \
        T x[MATH_BLOCK], y[MATH_BLOCK], r[MATH_BLOCK];                                         \
        UNUSED_SOURCES;                                                                        \
        memcpy(x, a, sizeof x);                                                                \
        memcpy(y, b, sizeof y);                                                                \
        COMPUTE;                                                                               \
        memcpy(d, r, sizeof r);                                                                \
    }                                                                                          \
    KERNEL(NAME, ARITY, MATH_BLOCK * sizeof(T))

/* f32 by way of the f64 function. */
#define WIDENED(f)                                                                             \
    do {                                                                                       \
        double u[MATH_BLOCK], v[MATH_BLOCK], w[MATH_BLOCK];                                    \
        for (int j = 0; j < MATH_BLOCK; j++) {                                                 \
            u[j] = (double)x[j];                                                               \
            v[j] = (double)y[j];                                                               \
        }                                                                                      \
        f(w, u, v, param);                                                                     \
        for (int j = 0; j < MATH_BLOCK; j++)                                                   \
            r[j] = (float)w[j];                                                                \
    } while (0)

#define VCALL1(f) f(r, x)
#define VCALL2(f) f(r, x, y)

#define COUNT_P0               0
#define COUNT_P1(a)            1
#define COUNT_P2(a, b)         2
#define CALLED(ARITY, PARAMS)  CALLED_(ARITY, COUNT_##PARAMS)
#define CALLED_(ARITY, COUNT)  CALLED__(ARITY, COUNT)
#define CALLED__(ARITY, COUNT) CALL##ARITY##_##COUNT

#define MAKE_NONE(ENUM, ARITY, PARAMS, RULE)
#define MAKE_LOOP MAKE_NONE
#define MAKE_STEP MAKE_NONE
#define MAKE_WIDE(ENUM, ARITY, PARAMS, RULE)                                                   \
    ARRAYS(ENUM##_F64, double, RULE##_f64(r, x, y, param), ARITY)
#define MAKE_VMATH(ENUM, ARITY, PARAMS, RULE)                                                  \
    MAKE_WIDE(ENUM, ARITY, PARAMS, RULE)                                                       \
    ARRAYS(ENUM##_F32, float, VCALL##ARITY(v_##RULE##_f32), ARITY)
#define MAKE_DEEP(ENUM, ARITY, PARAMS, RULE)                                                   \
    MAKE_WIDE(ENUM, ARITY, PARAMS, RULE)                                                       \
    ARRAYS(ENUM##_F32, float, WIDENED(RULE##_f64), ARITY)
#define MAKE_MATH(ENUM, ARITY, PARAMS, RULE)                                                   \
    MAKE_WIDE(ENUM, ARITY, PARAMS, RULE)                                                       \
    LOOP##ARITY(ENUM##_F32, MATH_BLOCK, float, float, float, CALLED(ARITY, PARAMS)(RULE##_f32))

#define MAKE_LANES(ENUM, ARITY, PARAMS, RULE)                                                  \
    MAKE_WIDE(ENUM, ARITY, PARAMS, RULE)                                                       \
    LANE_LOOP##ARITY(ENUM##_F32, RULE##_lanes)

#define OP(ENUM, NAME, ARITY, HOW, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE)           \
    MAKE_##FLOAT(ENUM, ARITY, PARAMS, FRULE)
#include "ops.def"
#undef OP

#define SLOT(DT) [TN_##DT - TN_F8E4M3]
#define ROW_NONE(ENUM)
#define ROW_LOOP        ROW_NONE
#define ROW_STEP        ROW_NONE
#define ROW_WIDE(ENUM)  [TN_##ENUM] = {SLOT(F64) = ENUM##_F64},
#define ROW_VMATH(ENUM) [TN_##ENUM] = {SLOT(F32) = ENUM##_F32, SLOT(F64) = ENUM##_F64},
#define ROW_DEEP        ROW_VMATH
#define ROW_LANES       ROW_VMATH
#define ROW_MATH        ROW_VMATH

const tni_float_ops TNI_TABLE(math_ops) = {
#define OP(ENUM, NAME, ARITY, HOW, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE)           \
    ROW_##FLOAT(ENUM)
#include "ops.def"
#undef OP
};
