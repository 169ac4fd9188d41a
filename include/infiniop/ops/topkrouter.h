/* topkrouter.h - the routing of DeepSeek V3: 4 of 8 groups of 32, topk of them; F16 F32
 * BF16. */
#ifndef INFINIOP_OPS_TOPKROUTER_H
#define INFINIOP_OPS_TOPKROUTER_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Topkrouter);

INFINI_API infiniStatus_t infiniopCreateTopkrouterDescriptor(
    infiniopHandle_t handle, infiniopTopkrouterDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc, infiniopTensorDescriptor_t correction_bias_desc);

INFINI_API infiniStatus_t infiniopTopkrouter(infiniopTopkrouterDescriptor_t desc,
                                             void *workspace, size_t workspace_size,
                                             void *values, void *indices, const void *x,
                                             const void *correction_bias,
                                             float routed_scaling_factor, size_t topk,
                                             void *stream);

#endif
