/* check_moves.h - what the calls that copy views into views have in common. */
#ifndef TNI_MOVES_H
#define TNI_MOVES_H

#include "plan/plan.h"
#include "view/view.h"

/* Copy src to dst: checked tensors of equal shape and dtype that share no byte. */
static inline void tni_copy_tensor(const tn_tensor *dst, const tn_tensor *src)
{
    tni_copy copy;
    tni_copy_plan(&copy, dst, src);
    tni_copy_run(&copy, dst->data, src->data);
}

/* The rules up to "dtypes do not fit", for a dst and n sources that all have its dtype.  The
 * call has checked its other arguments for NULL; its numbers are checked by range, if any,
 * between ndim and device. */
tn_status tni_check_alike(const char *call, const tn_tensor *dst, int n,
                          const tn_tensor *const *srcs);

/* The rules behind shape and size: dst names no element twice, nothing has elements and no
 * data, no source shares a byte with dst. */
tn_status tni_check_disjoint_all(const char *call, const tn_tensor *dst, int n,
                                 const tn_tensor *const *srcs);

#endif
