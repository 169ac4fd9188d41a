/* vander.h - powers 0 to N - 1 of each element as a row, the highest first unless
 * increasing; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_VANDER_H
#define INFINIOP_OPS_VANDER_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Vander);

INFINI_API infiniStatus_t infiniopCreateVanderDescriptor(infiniopHandle_t handle,
                                                         infiniopVanderDescriptor_t *desc_ptr,
                                                         infiniopTensorDescriptor_t output,
                                                         infiniopTensorDescriptor_t input,
                                                         int N, int increasing);

INFINI_API infiniStatus_t infiniopVander(infiniopVanderDescriptor_t desc, void *workspace,
                                         size_t workspace_size, void *output, const void *input,
                                         void *stream);

#endif
