/* avg_pool3d.h - means of windows along the last three of five axes, padding counted as
 * zeros; F16 F32 F64 BF16.  Each pointer is to three size_t; stride NULL is kernel_size,
 * padding NULL is 0. */
#ifndef INFINIOP_OPS_AVG_POOL3D_H
#define INFINIOP_OPS_AVG_POOL3D_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(AvgPool3d);

INFINI_API infiniStatus_t infiniopCreateAvgPool3dDescriptor(
    infiniopHandle_t handle, infiniopAvgPool3dDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, void *kernel_size, void *stride,
    void *padding);

INFINI_API infiniStatus_t infiniopAvgPool3d(infiniopAvgPool3dDescriptor_t desc, void *workspace,
                                            size_t workspace_size, void *y, const void *x,
                                            void *stream);

#endif
