/* op_int_isa.c - the ops on bool and integers, for one instruction set.
 *
 * Every rule is defined for every operand; signed arithmetic is done unsigned. */
#include "op_loop.h"

/* A parameter of an integer op: truncated and saturated; NaN is 0. */
static inline uint64_t whole(double v)
{
    return (uint64_t)(v != v        ? 0
                      : v >= 0x1p63 ? INT64_MAX
                      : v < -0x1p63 ? INT64_MIN
                                    : (int64_t)v);
}

/* y where the byte x is set, else z. */
#define PICK(NAME, TYPE)                                                                       \
    INLINE void PASTE(NAME, _block)(BLOCK_HEAD)                                                \
    {                                                                                          \
        LOOSE(TYPE, TYPE);                                                                     \
        UNUSED_SOURCES;                                                                        \
        INDEPENDENT for (int j = 0; j < (int)(TNI_BLOCK / sizeof(TYPE)); j++)                  \
        {                                                                                      \
            const TYPE y = AT(b, j), z = AT(c, j);                                             \
            SET(d, j) = ((const uint8_t *)a)[j] ? y : z;                                       \
        }                                                                                      \
    }                                                                                          \
    KERNEL(NAME, 3, TNI_BLOCK)

#define I(f) PASTE(f, N)
#define MAKE_NONE(ENUM, ARITY, HOW, RULE)

/* clang-format off */
#define M     uint32_t
#define BITS  8
#define T     int8_t
#define N     _I8
#define WRAPS 0
#include "op_int.inc"
#define T     uint8_t
#define N     _U8
#define WRAPS 1
#include "op_int.inc"
#undef BITS
#define BITS  16
#define T     int16_t
#define N     _I16
#define WRAPS 0
#include "op_int.inc"
#define T     uint16_t
#define N     _U16
#define WRAPS 1
#include "op_int.inc"
#undef BITS
#define BITS  32
#define T     int32_t
#define N     _I32
#define WRAPS 0
#include "op_int.inc"
#define T     uint32_t
#define N     _U32
#define WRAPS 1
#include "op_int.inc"
#undef BITS
#undef M
#define M     uint64_t
#define BITS  64
#define T     int64_t
#define N     _I64
#define WRAPS 0
#include "op_int.inc"
#define T     uint64_t
#define N     _U64
#define WRAPS 1
#include "op_int.inc"
/* clang-format on */

/* bool: one bit of the rule. */
#define MAKE_TRUE(ENUM, ARITY, HOW, RULE)                                                      \
    LOOP##ARITY(ENUM##_BOOL, TNI_BLOCK, uint8_t, uint32_t, uint8_t, (RULE)&1)
#define MAKE_BITS  MAKE_TRUE
#define MAKE_WRAP  MAKE_NONE
#define MAKE_EACH  MAKE_NONE
#define MAKE_EQUAL MAKE_NONE
#define MAKE_PICK  MAKE_NONE
#define OP(ENUM, NAME, ARITY, HOW, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE)           \
    MAKE_##INT(ENUM, ARITY, HOW, IRULE)
#include "ops.def"
#undef OP

#define SLOT(DT) [TN_##DT - TN_BOOL]
#define WORDS(ENUM)                                                                            \
    SLOT(I8) = ENUM##_U8, SLOT(I16) = ENUM##_U16, SLOT(I32) = ENUM##_U32,                      \
    SLOT(I64) = ENUM##_U64, SLOT(U8) = ENUM##_U8, SLOT(U16) = ENUM##_U16,                      \
    SLOT(U32) = ENUM##_U32, SLOT(U64) = ENUM##_U64
#define ROW_NONE(ENUM)
#define ROW_TRUE(ENUM) [TN_##ENUM] = {SLOT(BOOL) = ENUM##_BOOL},
#define ROW_BITS(ENUM) [TN_##ENUM] = {SLOT(BOOL) = ENUM##_BOOL, WORDS(ENUM)},
#define ROW_WRAP(ENUM) [TN_##ENUM] = {WORDS(ENUM)},
#define ROW_EQUAL      ROW_WRAP
#define ROW_PICK       ROW_WRAP
#define ROW_EACH(ENUM)                                                                         \
    [TN_##ENUM] = {SLOT(I8) = ENUM##_I8,   SLOT(I16) = ENUM##_I16, SLOT(I32) = ENUM##_I32,     \
                   SLOT(I64) = ENUM##_I64, SLOT(U8) = ENUM##_U8,   SLOT(U16) = ENUM##_U16,     \
                   SLOT(U32) = ENUM##_U32, SLOT(U64) = ENUM##_U64},

const tni_int_ops TNI_TABLE(int_ops) = {
#define OP(ENUM, NAME, ARITY, HOW, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE)           \
    ROW_##INT(ENUM)
#include "ops.def"
#undef OP
};
