/* unfold.h - every window of input (N, C, …) becomes a column of output (N, C K, L); F16 F32
 * F64 BF16.
 *
 * The four arrays have an entry for each axis after the second.  K is the number of elements in
 * a window, L the number of windows: (n + 2 padding - dilation (kernel - 1) - 1) / stride + 1
 * along an axis of n.  Elements beyond the border are zeros. */
#ifndef INFINIOP_OPS_UNFOLD_H
#define INFINIOP_OPS_UNFOLD_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Unfold);

INFINI_API infiniStatus_t infiniopCreateUnfoldDescriptor(
    infiniopHandle_t handle, infiniopUnfoldDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input,
    const int *kernel_sizes, const int *strides, const int *paddings, const int *dilations);

INFINIOP_RUN_1(Unfold, output, input);

#endif
