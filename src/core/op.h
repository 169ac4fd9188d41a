/* op.h - facts of the ops: name, arity, parameters, and the dtypes of sources and results. */
#ifndef TNI_OP_H
#define TNI_OP_H

#include <tenon/ops.h>

#include <stdint.h>

/* clang-format off */
#define OP(...) + 1
enum { TNI_OPS =
#include "ops.def"
};
#undef OP
#define REDUCTION(...) + 1
enum { TNI_REDUCTIONS =
#include "reductions.def"
};
#undef REDUCTION
/* clang-format on */

enum { TNI_MAX_ARITY = 3, TNI_MAX_PARAMS = 2 };

/* How an op treats the dtypes of its sources, and the dtype of its result. */
typedef enum tni_op_rule {
    TNI_RULE_SAME,    /* sources are promoted; the result has their common dtype */
    TNI_RULE_DIVIDE,  /* as SAME, but integers and bool give, and compute in, a float */
    TNI_RULE_COMPARE, /* sources are promoted; the result is bool */
    TNI_RULE_LOGICAL, /* each source is read as "not zero"; the result is bool */
    TNI_RULE_SELECT,  /* source 0 is read as "not zero"; the others are as in SAME */
    TNI_RULE_LDEXP,   /* source 0 is a float, source 1 that float, i32 or i64; gives a float */
    TNI_RULE_F64,     /* any real dtype; computed in f64, the result's dtype */
    TNI_RULE_REAL     /* as SAME, but complex sources give the dtype of their parts */
} tni_op_rule;

typedef struct tni_op_facts {
    const char *name;
    uint32_t takes; /* bit t: there is a kernel for sources of dtype t */
    int8_t arity, params;
    int8_t rule; /* tni_op_rule */
    bool math;   /* the float kernels compute blocks of TNI_MATH_BLOCK elements (op.c) */
    double defaults[TNI_MAX_PARAMS];
} tni_op_facts;

extern const tni_op_facts tni_ops[TNI_OPS];

static inline bool tni_op_known(tn_op op)
{
    return (unsigned)op < TNI_OPS;
}

/* The dtype in which op computes on sources of dtype t: t itself, or f32 for a narrow float
 * without a kernel of its own; 0 if the op does not support t. */
static inline tn_dtype tni_op_computes(tn_op op, tn_dtype t)
{
    const uint32_t takes = tni_ops[op].takes;
    if (takes >> t & 1)
        return t;
    return tni_is_narrow(t) && takes >> TN_F32 & 1 ? TN_F32 : (tn_dtype)0;
}

/* The float in which an integer dtype or bool is divided: f32 up to 16 bits, else f64. */
static inline tn_dtype tni_float_of(tn_dtype integer)
{
    const bool narrow = integer == TN_BOOL || integer == TN_I8 || integer == TN_I16 ||
                        integer == TN_U8 || integer == TN_U16;
    return narrow ? TN_F32 : TN_F64;
}

#endif
