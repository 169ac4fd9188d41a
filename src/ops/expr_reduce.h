/* expr_reduce.h - expressions with reductions: the arguments of the reductions are computed
 * block by block and folded by the tree of tn_reduce, and the rest of the expression is
 * computed from the results. */
#ifndef TNI_EXPR_REDUCE_H
#define TNI_EXPR_REDUCE_H

#include "expr_types.h"
#include "plan/plan.h"

/* Find the shape of the value of an expression with reductions. */
tn_status tni_expr_reduced(const tni_expr_program *e, int n, const tn_tensor *const *srcs,
                           int *ndim, int64_t *shape);

enum { TNI_EXPR_INSTRS = TNI_MAX_INSTRS * 3 / 2 }; /* of both programs of an expression */

/* Evaluate; the operands are checked, and the value broadcasts to dst. */
tn_status tni_expr_reduce(const tni_expr_program *e, const tn_tensor *dst, int n,
                          const tn_tensor *const *srcs);

/* The same, as a plan. */
tn_status tni_expr_reduce_plan(const tni_expr_program *e, tn_plan **plan, const char *text,
                               const tn_tensor *dst, int n, const tn_tensor *const *srcs);

#endif
