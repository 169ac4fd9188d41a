/* adaptive_avg_pool1d.h - means of cells along the last axis; F16 F32 F64 BF16.  Cell i of m
 * covers floor(i n / m) to ceil((i + 1) n / m) - 1. */
#ifndef INFINIOP_OPS_ADAPTIVE_AVG_POOL1D_H
#define INFINIOP_OPS_ADAPTIVE_AVG_POOL1D_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(AdaptiveAvgPool1d);

INFINI_API infiniStatus_t infiniopCreateAdaptiveAvgPool1dDescriptor(
    infiniopHandle_t handle, infiniopAdaptiveAvgPool1dDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc, infiniopTensorDescriptor_t input_desc);

INFINI_API infiniStatus_t infiniopAdaptiveAvgPool1d(infiniopAdaptiveAvgPool1dDescriptor_t desc,
                                                    void *workspace, size_t workspace_size,
                                                    void *output, const void *input,
                                                    void *stream);

#endif
