/* expr_reduce.h - expressions with reductions: the argument of each is computed, reduced by
 * tn_reduce, and what surrounds them is computed of the results. */
#ifndef TNI_EXPR_REDUCE_H
#define TNI_EXPR_REDUCE_H

#include "expr_types.h"

/* The shape where the sources meet. */
tn_status tni_expr_meet(const char *call, int n, const tn_tensor *const *srcs, int *ndim,
                        int64_t *shape);

/* The shape of the value of a text with reductions. */
tn_status tni_expr_reduced(const tni_expr_program *e, int n, const tn_tensor *const *srcs,
                           int *ndim, int64_t *shape);

/* Evaluate; operands are checked, dst is one that the value broadcasts to. */
tn_status tni_expr_reduce(const tni_expr_program *e, const tn_tensor *dst, int n,
                          const tn_tensor *const *srcs);

#endif
