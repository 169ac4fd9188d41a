/* op_int_isa.c - the ops on bool and integers, for one instruction set.
 *
 * Every rule is defined for all operands; signed arithmetic is done in unsigned types. */
#include "op_loop.h"

/* Convert a parameter of an integer op: truncated and saturated; NaN becomes 0. */
static inline uint64_t whole(double v)
{
    return (uint64_t)(v != v        ? 0
                      : v >= 0x1p63 ? INT64_MAX
                      : v < -0x1p63 ? INT64_MIN
                                    : (int64_t)v);
}

#define I(f) PASTE(f, N)

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

/* bool ops use the lowest bit of the rule's result. */
typedef uint32_t bool_rule(RULE_HEAD(uint32_t));

INLINE void bool_loop(BLOCK_HEAD, bool_rule *rule)
{
    LOOSE(uint8_t, uint8_t);
    INDEPENDENT for (int j = 0; j < TNI_BLOCK; j++)
    {
        SET(d, j) = (uint8_t)(rule(AT(a, j), AT(b, j), AT(c, j), param) & 1);
    }
}

/* clang-format off */
#define ON_TRUE(ENUM, ARITY, DT, PARAMS, RULE) \
    INLINE uint32_t ENUM##_BOOL_rule(RULE_HEAD(uint32_t)) { return RULE; } \
    INLINE void ENUM##_BOOL_block(BLOCK_HEAD) { bool_loop(BLOCK_ARGS, ENUM##_BOOL_rule); } \
    KERNEL(ENUM##_BOOL, ARITY, TNI_BLOCK)
#define ON_BITS ON_TRUE
#define OP_INT
#include "op_rows.h"

#define SLOT(DT) [TNI_SLOT_##DT]
#define WORDS(ENUM) \
    SLOT(I8) = ENUM##_U8, SLOT(I16) = ENUM##_U16, SLOT(I32) = ENUM##_U32, SLOT(I64) = ENUM##_U64, \
    SLOT(U8) = ENUM##_U8, SLOT(U16) = ENUM##_U16, SLOT(U32) = ENUM##_U32, SLOT(U64) = ENUM##_U64
const tni_int_ops TNI_TABLE(int_ops) = {
#define ON_TRUE(ENUM, ...) [TN_##ENUM] = {SLOT(BOOL) = ENUM##_BOOL},
#define ON_BITS(ENUM, ...) [TN_##ENUM] = {SLOT(BOOL) = ENUM##_BOOL, WORDS(ENUM)},
#define ON_WRAP(ENUM, ...) [TN_##ENUM] = {WORDS(ENUM)},
#define ON_EQUAL ON_WRAP
#define ON_PICK  ON_WRAP
#define ON_EACH(ENUM, ...) \
    [TN_##ENUM] = {SLOT(I8) = ENUM##_I8, SLOT(I16) = ENUM##_I16, SLOT(I32) = ENUM##_I32, \
                   SLOT(I64) = ENUM##_I64, SLOT(U8) = ENUM##_U8, SLOT(U16) = ENUM##_U16, \
                   SLOT(U32) = ENUM##_U32, SLOT(U64) = ENUM##_U64},
#define OP_INT
#include "op_rows.h"
};
/* clang-format on */
