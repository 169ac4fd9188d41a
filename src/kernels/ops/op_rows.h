/* op_rows.h - expands every row of ops.def through the kind in one of its columns.
 *
 * The includer defines OP_INT, OP_FLOAT or OP_COMPLEX to choose the column, and ON_kind(ENUM,
 * ARITY, DTYPE_RULE, PARAMS, RULE) for each kind it handles.  Other kinds expand to nothing.
 * Everything is undefined at the end, so each inclusion starts afresh; there is no include
 * guard. */
#ifndef ON_WRAP
#define ON_WRAP(...)
#endif
#ifndef ON_BITS
#define ON_BITS(...)
#endif
#ifndef ON_EQUAL
#define ON_EQUAL(...)
#endif
#ifndef ON_EACH
#define ON_EACH(...)
#endif
#ifndef ON_TRUE
#define ON_TRUE(...)
#endif
#ifndef ON_PICK
#define ON_PICK(...)
#endif
#ifndef ON_LOOP
#define ON_LOOP(...)
#endif
#ifndef ON_QUOTIENT
#define ON_QUOTIENT(...)
#endif
#ifndef ON_SLEEF
#define ON_SLEEF(...)
#endif
#ifndef ON_SIMD32
#define ON_SIMD32(...)
#endif
#ifndef ON_MATH
#define ON_MATH(...)
#endif
#ifndef ON_VIA_F64
#define ON_VIA_F64(...)
#endif
#ifndef ON_ONCE
#define ON_ONCE(...)
#endif
#ifndef ON_F64_ONLY
#define ON_F64_ONLY(...)
#endif
#ifndef ON_STEP
#define ON_STEP(...)
#endif
#ifndef ON_PAIR
#define ON_PAIR(...)
#endif
#define ON_NONE(...)

/* clang-format off */
#if defined(OP_INT)
#define OP(ENUM, NAME, ARITY, DT, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE) \
    ON_##INT(ENUM, ARITY, DT, PARAMS, IRULE)
#elif defined(OP_FLOAT)
#define OP(ENUM, NAME, ARITY, DT, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE) \
    ON_##FLOAT(ENUM, ARITY, DT, PARAMS, FRULE)
#else
#define OP(ENUM, NAME, ARITY, DT, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE) \
    ON_##COMPLEX(ENUM, ARITY, DT, PARAMS, CRULE)
#endif
/* clang-format on */
#include "core/ops.def"

#undef OP
#undef OP_INT
#undef OP_FLOAT
#undef OP_COMPLEX
#undef ON_WRAP
#undef ON_BITS
#undef ON_EQUAL
#undef ON_EACH
#undef ON_TRUE
#undef ON_PICK
#undef ON_LOOP
#undef ON_QUOTIENT
#undef ON_SLEEF
#undef ON_SIMD32
#undef ON_MATH
#undef ON_VIA_F64
#undef ON_ONCE
#undef ON_F64_ONLY
#undef ON_STEP
#undef ON_PAIR
#undef ON_NONE
