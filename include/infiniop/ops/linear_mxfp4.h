/* linear_mxfp4.h - output = alpha * (input @ weight^T) + bias with MXFP4 weights; F16 F32
 * BF16. */
#ifndef INFINIOP_OPS_LINEAR_MXFP4_H
#define INFINIOP_OPS_LINEAR_MXFP4_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(LinearMxfp4);

INFINI_API infiniStatus_t infiniopCreateLinearMxfp4Descriptor(
    infiniopHandle_t handle, infiniopLinearMxfp4Descriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output_desc, infiniopTensorDescriptor_t input_desc,
    infiniopTensorDescriptor_t packed_weight_desc, infiniopTensorDescriptor_t weight_scale_desc,
    infiniopTensorDescriptor_t bias_desc, float alpha);

INFINI_API infiniStatus_t infiniopLinearMxfp4(infiniopLinearMxfp4Descriptor_t desc,
                                              void *workspace, size_t workspace_size,
                                              void *output, const void *input,
                                              const void *packed_weight,
                                              const void *weight_scale, const void *bias,
                                              void *stream);

#endif
