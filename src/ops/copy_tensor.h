/* copy_tensor.h - a copy between checked tensors, and of one element, at once. */
#ifndef TNI_COPY_TENSOR_H
#define TNI_COPY_TENSOR_H

#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

/* Copy src to dst: checked tensors of equal shape and dtype that share no byte. */
static inline void tni_copy_tensor(const tn_tensor *dst, const tn_tensor *src)
{
    tni_copy copy;
    tni_copy_plan(&copy, dst, src);
    tni_copy_run(&copy, dst->data, src->data);
}

/* Every element of dst, a checked tensor, becomes *value; NULL: 0. */
static inline void tni_splat(const tn_tensor *dst, const void *value)
{
    char one[16] = {0};
    if (value)
        memcpy(one, value, (size_t)tni_width(dst->dtype));
    tn_tensor src;
    tni_inherit(&src, dst, one, dst->ndim);
    for (int i = 0; i < dst->ndim; i++)
        tni_set_axis(&src, i, dst->shape[i], 0);
    tni_copy_tensor(dst, &src);
}

#endif
