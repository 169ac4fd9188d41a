/* histc.h - y (F32) counts the elements of x in bins of equal width; F16 F32 F64 BF16.  NaN
 * is not counted. */
#ifndef INFINIOP_OPS_HISTC_H
#define INFINIOP_OPS_HISTC_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Histc);

INFINI_API infiniStatus_t infiniopCreateHistcDescriptor(
    infiniopHandle_t handle, infiniopHistcDescriptor_t *desc_ptr, infiniopTensorDescriptor_t y,
    infiniopTensorDescriptor_t x, int64_t bins, double min_val, double max_val);

INFINI_API infiniStatus_t infiniopHistc(infiniopHistcDescriptor_t desc, void *workspace,
                                        size_t workspace_size, void *y, const void *x,
                                        void *stream);

#endif
