/* conv.h - cross-correlation of x (N, C, …) with w (O, C, …) along n axes, zeros around x;
 * F16 F32 BF16.  pads and dilations are size_t[n], strides ptrdiff_t[n]; NULL is 0, 1 and 1. */
#ifndef INFINIOP_OPS_CONV_H
#define INFINIOP_OPS_CONV_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Conv);

INFINI_API infiniStatus_t infiniopCreateConvDescriptor(
    infiniopHandle_t handle, infiniopConvDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc, infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t w_desc, infiniopTensorDescriptor_t b_desc, void *pads,
    void *strides, void *dilations, size_t n);

INFINI_API infiniStatus_t infiniopConv(infiniopConvDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *y, const void *x,
                                       const void *w, const void *bias, void *stream);

#endif
