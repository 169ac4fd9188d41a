/* expr_types.h - an expression with dtypes, and the steps of its program. */
#ifndef TNI_EXPR_TYPES_H
#define TNI_EXPR_TYPES_H

#include "expr.h"
#include <tenon/reduce.h>

#include "op_types.h"

/* A value of an expression: a tensor, a step, or a number, which may be weak. */
typedef struct tni_expr_value {
    int16_t value; /* number in the program; -1: a constant */
    uint8_t dtype; /* i64, f64 or c128 for a weak number */
    bool weak : 1;
    bool reduced : 1; /* it has the axes that remain after reductions */
    int16_t column;   /* column of its last reduction, if reduced */
    uint16_t names;   /* bit k: it depends on source k */
    union {
        int64_t i;
        char bytes[16];
    };
} tni_expr_value;

/* A reduction of a value of the inner program; its result is a source of the outer program. */
typedef struct tni_expr_reduction {
    tn_reduction op;
    int16_t value;
    uint8_t dtype, gives; /* dtypes of the value and of the result */
    int column;
} tni_expr_reduction;

enum { TNI_EXPR_REDUCTIONS = 16, TNI_EXPR_OUTER = 64 /* steps around reductions */ };

/* Numbers and the stack share memory.  A number leaves the stack before a step owns it, and a
 * text with many of one has few of the other, so the space for either suffices for both. */
enum { TNI_EXPR_NUMBERS = TNI_EXPR_STACK * sizeof(tni_expr_value) / sizeof(tni_number) };

typedef struct tni_expr_program {
    const char *call;
    tni_program program;
    tni_builder build, outer; /* builders of the program, and of what surrounds its
                                 reductions */
    tni_program around;       /* the outer program, if there are reductions */
    int ndim;                 /* axes of the shape that the sources broadcast to */
    int nreduce, naxes, axes[TN_MAX_NDIM];
    tni_expr_reduction reduce[TNI_EXPR_REDUCTIONS];
    int nsrc, nnum, top;
    const tn_tensor *const *srcs;
    tn_dtype src[TN_EXPR_NAMES], result;
    tni_strip_step step[TNI_MAX_STEPS], outer_step[TNI_EXPR_OUTER];
    union { /* pending values from the bottom, numbers of steps from the top */
        tni_expr_value stack[TNI_EXPR_STACK];
        tni_number num[TNI_EXPR_NUMBERS];
    };
} tni_expr_program;

static inline tn_dtype tni_expr_dtype_of(const tni_expr_value *v)
{
    return (tn_dtype)v->dtype;
}

static inline bool tni_expr_is_number(const tni_expr_value *v)
{
    return v->value < 0;
}

/* The value of a literal, and a number converted to another dtype. */
tni_expr_value tni_expr_literal(const tni_expr_item *x);
tni_expr_value tni_expr_converted(const tni_expr_value *v, tn_dtype to);

/* Assign dtypes to the weak operands of op; integers must fit theirs. */
tn_status tni_expr_settle(const tni_expr_program *e, const tni_expr_item *x, tn_op op,
                          tni_expr_value *v, tn_dtype *in);

/* Compute op on numbers alone, with dtypes in. */
tn_status tni_expr_const(tni_expr_program *e, const tni_expr_item *x, tn_op op,
                         const double *params, const tni_op_signature *sig, tni_expr_value *v,
                         const tn_dtype *in, tni_expr_value *out);

/* Fail with a message that names the operand that no kernel of op supports. */
tn_status tni_expr_fail_types(const tni_expr_program *e, const tni_expr_item *x, tn_op op,
                              const tn_dtype *in);

/* Fail with a message about a reduction that does not take `in`. */
tn_status tni_expr_fail_reduction(const tni_expr_program *e, const tni_expr_item *x,
                                  tn_dtype in);

/* Begin a program with these sources; then tni_expr_type is the sink of the parser. */
void tni_expr_begin(tni_expr_program *e, const char *call, int nsrc,
                    const tn_tensor *const *srcs);
tn_status tni_expr_type(void *program, const tni_expr_item *item);

/* Convert the value to dst's dtype (0: leave it) and finish the program. */
tn_status tni_expr_end(tni_expr_program *e, tn_dtype dst);

#endif
