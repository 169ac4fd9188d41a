/* plan.h - plans: check and choose once, run many times on other data.
 *
 * A plan is immutable: many threads may run one plan at the same time. */
#ifndef TENON_PLAN_H
#define TENON_PLAN_H

#include <tenon/ops.h>
#include <tenon/pad.h>

TN_BEGIN

typedef struct tn_plan tn_plan;

/* Make a plan.  The tensors' data may be NULL and is not kept.  The failures are those of the
 * plain call, and TN_ENOMEM.  Release the plan with tn_plan_free. */
TN_API TN_NODISCARD tn_status tn_plan_rearrange(tn_plan **plan, const tn_tensor *dst,
                                                const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_plan_op(tn_plan **plan, tn_op op, const double *params,
                                         const tn_tensor *dst, int nsrc,
                                         const tn_tensor *const *srcs);
TN_API TN_NODISCARD tn_status tn_plan_cast(tn_plan **plan, const tn_tensor *dst,
                                           const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_plan_pad(tn_plan **plan, const tn_tensor *dst,
                                          const tn_tensor *src, const int64_t *before,
                                          const int64_t *after, tn_pad_mode mode,
                                          const void *value);

/* Run a plan.  The pointers are the addresses of element (0, …, 0), of any alignment, in the
 * order of the planning call.  Allocates nothing; threads and executor are those of the calling
 * thread's handle.
 *
 * TN_ENULL     a pointer is NULL and there are elements
 * TN_EOVERLAP  dst shares bytes with a source, as in the plain call */
TN_API TN_NODISCARD tn_status tn_plan_run(const tn_plan *plan, void *dst,
                                          const void *const *srcs);

/* What was chosen, in words.  The text is cut to size and always ended by 0. */
TN_API TN_NODISCARD tn_status tn_plan_explain(const tn_plan *plan, char *buf, size_t size);

TN_API void tn_plan_free(tn_plan *plan);

TN_END

#endif
