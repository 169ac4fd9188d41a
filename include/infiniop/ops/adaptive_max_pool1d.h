/* adaptive_max_pool1d.h - maxima of cells along the last axis; F16 F32 F64 BF16.  NaN is the
 * maximum. */
#ifndef INFINIOP_OPS_ADAPTIVE_MAX_POOL1D_H
#define INFINIOP_OPS_ADAPTIVE_MAX_POOL1D_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(AdaptiveMaxPool1d);

INFINI_API infiniStatus_t infiniopCreateAdaptiveMaxPool1dDescriptor(
    infiniopHandle_t handle, infiniopAdaptiveMaxPool1dDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc, infiniopTensorDescriptor_t x_desc, size_t output_size);

INFINI_API infiniStatus_t infiniopAdaptiveMaxPool1d(infiniopAdaptiveMaxPool1dDescriptor_t desc,
                                                    void *workspace, size_t workspace_size,
                                                    void *y, const void *x, void *stream);

#endif
