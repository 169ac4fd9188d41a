/* expr_reduce.h - expressions with reductions: the arguments are computed block by block, folded
 * by the tree of tn_reduce, and what surrounds them is computed of the results. */
#ifndef TNI_EXPR_REDUCE_H
#define TNI_EXPR_REDUCE_H

#include "expr_types.h"
#include "plan/plan.h"

/* The shape of the value of a text with reductions. */
tn_status tni_expr_reduced(const tni_expr_program *e, int n, const tn_tensor *const *srcs,
                           int *ndim, int64_t *shape);

enum { TNI_EXPR_INSTRS = TNI_MAX_INSTRS * 3 / 2 }; /* of both programs of a text */

/* Evaluate; operands are checked, dst is one that the value broadcasts to. */
tn_status tni_expr_reduce(const tni_expr_program *e, const tn_tensor *dst, int n,
                          const tn_tensor *const *srcs);

/* The same as a plan. */
tn_status tni_expr_reduce_plan(const tni_expr_program *e, tn_plan **plan, const char *text,
                               const tn_tensor *dst, int n, const tn_tensor *const *srcs);

#endif
