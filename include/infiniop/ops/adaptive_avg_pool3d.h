/* adaptive_avg_pool3d.h - means of cells along the last three of five axes; F16 F32 F64
 * BF16.  y has the extents output_size there. */
#ifndef INFINIOP_OPS_ADAPTIVE_AVG_POOL3D_H
#define INFINIOP_OPS_ADAPTIVE_AVG_POOL3D_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(AdaptiveAvgPool3D);

INFINI_API infiniStatus_t infiniopCreateAdaptiveAvgPool3DDescriptor(
    infiniopHandle_t handle, infiniopAdaptiveAvgPool3DDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, size_t *output_size);

INFINI_API infiniStatus_t infiniopAdaptiveAvgPool3D(infiniopAdaptiveAvgPool3DDescriptor_t desc,
                                                    void *workspace, size_t workspace_size,
                                                    void *y, const void *x, void *stream);

#endif
