/* interpolate.h - resize in the modes nearest, linear, bilinear, trilinear and area; F16 F32
 * F64 BF16. Exactly one of size and scale_factor (double) is given; y has the resulting
 * extents. */
#ifndef INFINIOP_OPS_INTERPOLATE_H
#define INFINIOP_OPS_INTERPOLATE_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Interpolate);

INFINI_API infiniStatus_t infiniopCreateInterpolateDescriptor(
    infiniopHandle_t handle, infiniopInterpolateDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, const char *mode, void *size,
    void *scale_factor, int align_corners);

INFINI_API infiniStatus_t infiniopInterpolate(infiniopInterpolateDescriptor_t desc,
                                              void *workspace, size_t workspace_size, void *y,
                                              const void *x, void *stream);

#endif
