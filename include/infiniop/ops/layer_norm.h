/* layer_norm.h - output = input_standardization * weight + bias along the last axis; F16 F32
 * BF16. input_std_deviation is sqrt(var + eps). */
#ifndef INFINIOP_OPS_LAYER_NORM_H
#define INFINIOP_OPS_LAYER_NORM_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(LayerNorm);

INFINI_API infiniStatus_t infiniopCreateLayerNormDescriptor(
    infiniopHandle_t handle, infiniopLayerNormDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output_desc,
    infiniopTensorDescriptor_t input_standardization_desc,
    infiniopTensorDescriptor_t input_std_deviation_desc, infiniopTensorDescriptor_t input_desc,
    infiniopTensorDescriptor_t weight_desc, infiniopTensorDescriptor_t bias_desc, float eps);

INFINI_API infiniStatus_t infiniopLayerNorm(infiniopLayerNormDescriptor_t desc, void *workspace,
                                            size_t workspace_size, void *output,
                                            void *input_standardization,
                                            void *input_std_deviation, const void *input,
                                            const void *weight, const void *bias, void *stream);

#endif
