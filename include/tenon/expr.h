/* expr.h - fused expressions: a text such as "(f32(x) / 255 - mean) / std", evaluated in one
 * pass.
 *
 * The text is an expression in Python's grammar without subscripts, attributes and strings:
 * names of tensors, numbers, operators, ops by name, dtypes as casts (f16(x)).  Fusing never
 * changes a bit: the result is that of the same ops one after another (tn_apply, tn_cast), each
 * with a temporary of tn_op_result's dtype.  Numbers are weak: a number gets the dtype of the
 * other operand; a floating-point number with an integer operand gives f32 (8 and 16 bits) or
 * f64.
 *
 * sum, prod, mean, min, max, any and all of one argument are reductions, over all axes or
 * axis=…; the expression around them consists of ops, numbers and reductions along the same
 * axes.  They are computed in the same pass, with the bits of tn_reduce.  A text has at most 16
 * of them; the element sizes of their arguments add up to at most 64 bytes, and the expression
 * around them has at most 64 steps (TN_EUNSUPPORTED).
 *
 * The text is data, not code: it can name ops, dtypes, numbers and the given tensors, and
 * nothing else. */
#ifndef TENON_EXPR_H
#define TENON_EXPR_H

#include <tenon/plan.h>

TN_BEGIN

enum {
    TN_EXPR_TEXT = 4096, /* bytes of a text */
    TN_EXPR_NAMES = 16,  /* different tensors in one text */
    TN_EXPR_STEPS = 256, /* ops and conversions, equal ones shared and constants folded */
    TN_EXPR_DEPTH = 128  /* nested parentheses, signs, nots and powers */
};

typedef struct tn_expr tn_expr; /* immutable; many threads may use one */

/* Parse a text and check its grammar, without dtypes or shapes.  Release e with tn_expr_free.
 *
 * TN_ENULL         e or text is NULL
 * TN_EFORMAT       the text is not an expression; tn_error_column says where
 * TN_EUNSUPPORTED  the text exceeds a limit above
 * TN_ENOMEM        no memory */
TN_API TN_NODISCARD tn_status tn_expr_parse(tn_expr **e, const char *text);
TN_API void tn_expr_free(tn_expr *e); /* NULL is fine */

/* The names in the text, in order of first appearance; NULL outside [0, count). */
TN_API int tn_expr_count(const tn_expr *e);
TN_API const char *tn_expr_name(const tn_expr *e, int i);

/* The text that was parsed, valid as long as e; NULL for NULL. */
TN_API const char *tn_expr_text(const tn_expr *e);

/* The dtype and the shape of the value; shape holds up to TN_MAX_NDIM entries.  The sources'
 * data may be NULL. */
TN_API TN_NODISCARD tn_status tn_expr_result(const tn_expr *e, int n,
                                             const tn_tensor *const *srcs, tn_dtype *dtype,
                                             int *ndim, int64_t *shape);

/* Evaluate into dst, with sources in the order of tn_expr_name; allocates nothing.
 *
 * Sources broadcast to dst's shape; the value is converted to dst's dtype as by tn_cast.  dst
 * may be exactly one of the sources.
 *
 * TN_ENULL         a pointer is NULL, or an operand with elements has no data
 * TN_EARG          n is not the number of names, or dst is TN_READONLY
 * TN_EDTYPE        an op does not support its operands' dtypes; tn_error_column says which op
 * TN_EUNSUPPORTED  more than TN_EXPR_STEPS steps, or a limit of reductions is exceeded
 * TN_ESHAPE        the sources do not broadcast to dst's shape
 * TN_EOVERFLOW     a constant exceeds i64
 * TN_ESTRIDE       two indices of dst share an element
 * TN_EOVERLAP      dst shares a byte with a source that is not exactly dst */
TN_API TN_NODISCARD tn_status tn_expr_run(const tn_expr *e, const tn_tensor *dst, int n,
                                          const tn_tensor *const *srcs);

/* The same as a plan; e may be freed before it. */
TN_API TN_NODISCARD tn_status tn_plan_expr(tn_plan **plan, const tn_expr *e,
                                           const tn_tensor *dst, int n,
                                           const tn_tensor *const *srcs);

/* Evaluate a text with named tensors; names that do not occur in it are ignored.  tn_eval
 * allocates nothing; tn_eval_copy allocates a dense result, which is released with tn_free.
 *
 * TN_EARG     a name is repeated, invalid or reserved; n is negative
 * TN_EFORMAT  the text is malformed, or uses a name that was not given */
TN_API TN_NODISCARD tn_status tn_eval(const tn_tensor *dst, const char *text, int n,
                                      const char *const *names, const tn_tensor *const *srcs);
TN_API TN_NODISCARD tn_status tn_eval_copy(tn_tensor *out, const char *text, int n,
                                           const char *const *names,
                                           const tn_tensor *const *srcs);

TN_END

#endif
