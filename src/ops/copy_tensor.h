/* copy_tensor.h - copies between checked tensors, and fills with one element. */
#ifndef TNI_COPY_TENSOR_H
#define TNI_COPY_TENSOR_H

#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

/* Copy src to dst; both are checked, agree in shape and dtype and share no byte. */
static inline void tni_copy_tensor(const tn_tensor *dst, const tn_tensor *src)
{
    tni_copy copy;
    tni_copy_plan(&copy, dst, src);
    tni_copy_run(&copy, dst->data, src->data);
}

/* Set every element of dst, a checked tensor, to *value; NULL means 0. */
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
