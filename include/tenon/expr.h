/* expr.h - fused expressions: a text such as "(f32(x) / 255 - mean) / std" in one pass.
 *
 * The text is an expression of Python's grammar without subscripts, attributes and strings: names
 * of tensors, numbers, operators, the ops by name, dtypes as casts (f16(x)).  Fusing never
 * changes a bit: the result is what the same ops give one after another (tn_apply, tn_cast) with
 * a temporary of tn_op_result's dtype for each.  Numbers are weak: they take the dtype of what
 * stands beside them; a fraction beside an integer makes f32 (8 and 16 bits) or f64.
 *
 * sum, prod, mean, min, max, any and all of one argument reduce, over all axes or axis=…; what
 * surrounds them is made of ops, numbers and reductions along the same axes.  They are tn_reduce
 * to the bit, in the same pass.  At most 16; the elements of their arguments have at most 64
 * bytes together, and what surrounds them has at most 64 steps (TN_EUNSUPPORTED).
 *
 * The text is data: it names ops, dtypes, numbers and the given tensors and nothing else. */
#ifndef TENON_EXPR_H
#define TENON_EXPR_H

#include <tenon/plan.h>

TN_BEGIN

enum {
    TN_EXPR_TEXT = 4096, /* bytes of a text */
    TN_EXPR_NAMES = 16,  /* different tensors in one text */
    TN_EXPR_STEPS = 256, /* ops and conversions after sharing and folding */
    TN_EXPR_DEPTH = 128  /* open parentheses, signs, nots and powers */
};

typedef struct tn_expr tn_expr; /* immutable; many threads may use one */

/* Check the grammar of a text, without dtypes or shapes.  Release it with tn_expr_free.
 *
 * TN_ENULL         e or text is NULL
 * TN_EFORMAT       the text is not an expression; tn_error_column says where
 * TN_EUNSUPPORTED  it is beyond a limit above
 * TN_ENOMEM        no memory */
TN_API TN_NODISCARD tn_status tn_expr_parse(tn_expr **e, const char *text);
TN_API void tn_expr_free(tn_expr *e); /* NULL is fine */

/* The names in the text, in order of first appearance; NULL outside [0, count). */
TN_API int tn_expr_count(const tn_expr *e);
TN_API const char *tn_expr_name(const tn_expr *e, int i);

/* The text that was parsed, as long as e is there; NULL for NULL. */
TN_API const char *tn_expr_text(const tn_expr *e);

/* The dtype and the shape of the value; shape holds up to TN_MAX_NDIM entries, data may be NULL. */
TN_API TN_NODISCARD tn_status tn_expr_result(const tn_expr *e, int n,
                                             const tn_tensor *const *srcs, tn_dtype *dtype,
                                             int *ndim, int64_t *shape);

/* Evaluate into dst, with sources in the order of tn_expr_name; allocates nothing.
 *
 * Sources broadcast to dst's shape, the value is converted to dst's dtype as by tn_cast.  dst may
 * be exactly a source.
 *
 * TN_ENULL         a pointer is NULL, or an operand with elements has no data
 * TN_EARG          n is not the number of names, or dst is TN_READONLY
 * TN_EDTYPE        an op does not take its operands; tn_error_column says which
 * TN_EUNSUPPORTED  more than TN_EXPR_STEPS steps, or a limit of reductions
 * TN_ESHAPE        sources do not broadcast to dst
 * TN_EOVERFLOW     a constant is beyond i64
 * TN_ESTRIDE       two indices of dst share an element
 * TN_EOVERLAP      dst shares a byte with a source that is not exactly dst */
TN_API TN_NODISCARD tn_status tn_expr_run(const tn_expr *e, const tn_tensor *dst, int n,
                                          const tn_tensor *const *srcs);

/* The same as a plan; e may be freed before it. */
TN_API TN_NODISCARD tn_status tn_plan_expr(tn_plan **plan, const tn_expr *e,
                                           const tn_tensor *dst, int n,
                                           const tn_tensor *const *srcs);

/* Evaluate a text with named tensors; names that are not in it are ignored.  tn_eval allocates
 * nothing, tn_eval_copy a dense result that tn_free releases.
 *
 * TN_EARG     a name is repeated, invalid or reserved; n is negative
 * TN_EFORMAT  the text, or a name in it that was not given */
TN_API TN_NODISCARD tn_status tn_eval(const tn_tensor *dst, const char *text, int n,
                                      const char *const *names, const tn_tensor *const *srcs);
TN_API TN_NODISCARD tn_status tn_eval_copy(tn_tensor *out, const char *text, int n,
                                           const char *const *names,
                                           const tn_tensor *const *srcs);

TN_END

#endif
