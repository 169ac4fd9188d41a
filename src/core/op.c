/* op.c - the facts of the ops, from ops.def. */
#include "core.h"

/* clang-format off */
#define P0       0, {0}
#define P1(a)    1, {a}
#define P2(a, b) 2, {a, b}
/* clang-format on */

#define BIT(T) (1u << TN_##T)

/* The source dtypes of the kernels of each kind. */
enum {
    INTEGERS =
        BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64) | BIT(U8) | BIT(U16) | BIT(U32) | BIT(U64),
    INT_NONE = 0,
    INT_WRAP = INTEGERS,
    INT_EACH = INTEGERS,
    INT_BITS = BIT(BOOL) | INTEGERS,
    INT_EQUAL = INTEGERS,
    INT_TRUE = BIT(BOOL),
    INT_PICK = (1u << TNI_DTYPES) - BIT(BOOL),
    FLOAT_NONE = 0,
    FLOAT_F64_ONLY = BIT(F64),
    FLOAT_SLEEF = BIT(F32) | BIT(F64),
    FLOAT_SIMD32 = FLOAT_SLEEF,
    FLOAT_MATH = FLOAT_SLEEF,
    FLOAT_VIA_F64 = FLOAT_SLEEF,
    FLOAT_LOOP = BIT(F16) | BIT(BF16) | BIT(F32) | BIT(F64),
    FLOAT_QUOTIENT = FLOAT_LOOP,
    FLOAT_ONCE = FLOAT_LOOP,
    FLOAT_STEP = BIT(F8E4M3) | BIT(F8E5M2) | FLOAT_LOOP,
    COMPLEX_NONE = 0,
    COMPLEX_PAIR = BIT(C64) | BIT(C128)
};

/* Comparisons of bool use the kernels of u8. */
#define BOOLS(RULE, INT)                                                                       \
    (TNI_RULE_##RULE == TNI_RULE_COMPARE && INT_##INT != INT_NONE ? BIT(BOOL) : 0)

/* Kinds of float kernels whose blocks hold TNI_MATH_BLOCK elements. */
enum {
    MATH_NONE = false,
    MATH_LOOP = false,
    MATH_QUOTIENT = false,
    MATH_STEP = false,
    MATH_SLEEF = true,
    MATH_SIMD32 = true,
    MATH_MATH = true,
    MATH_VIA_F64 = true,
    MATH_ONCE = true,
    MATH_F64_ONLY = true
};

/* clang-format off */
#define FACTS(NAME, TAKES, ARITY, RULE, MATHS, COUNT, ...) \
    {NAME, TAKES, ARITY, COUNT, RULE, MATHS, __VA_ARGS__}
#define FACTS_(...) FACTS(__VA_ARGS__)
const tni_op_facts tni_ops[TNI_OPS] = {
#define OP(ENUM, NAME, ARITY, RULE, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE) \
    [TN_##ENUM] = FACTS_(#NAME, \
                         INT_##INT | BOOLS(RULE, INT) | FLOAT_##FLOAT | COMPLEX_##COMPLEX, \
                         ARITY, TNI_RULE_##RULE, MATH_##FLOAT, PARAMS),
#include "ops.def"
#undef OP
};
/* clang-format on */
