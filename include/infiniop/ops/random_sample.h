/* random_sample.h - an index drawn from logits by top-k, top-p and temperature; F16 F32 F64
 * BF16 to any integer.  Equal logits are in the order of their indices. */
#ifndef INFINIOP_OPS_RANDOM_SAMPLE_H
#define INFINIOP_OPS_RANDOM_SAMPLE_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(RandomSample);

INFINI_API infiniStatus_t infiniopCreateRandomSampleDescriptor(
    infiniopHandle_t handle, infiniopRandomSampleDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t result, infiniopTensorDescriptor_t probs);

INFINI_API infiniStatus_t infiniopRandomSample(infiniopRandomSampleDescriptor_t desc,
                                               void *workspace, size_t workspace_size,
                                               void *result, const void *probs,
                                               float random_val, float topp, int topk,
                                               float temperature, void *stream);

#endif
