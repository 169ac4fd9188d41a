/* copy_tensor.h - a copy between checked tensors, at once. */
#ifndef TNI_COPY_TENSOR_H
#define TNI_COPY_TENSOR_H

#include "plan/plan.h"
#include "view/view.h"

/* Copy src to dst: checked tensors of equal shape and dtype that share no byte. */
static inline void tni_copy_tensor(const tn_tensor *dst, const tn_tensor *src)
{
    tni_copy copy;
    tni_copy_plan(&copy, dst, src);
    tni_copy_run(&copy, dst->data, src->data);
}

#endif
