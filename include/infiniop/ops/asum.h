/* asum.h - result = the sum of |x|; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ASUM_H
#define INFINIOP_OPS_ASUM_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Asum);

INFINI_API infiniStatus_t infiniopCreateAsumDescriptor(infiniopHandle_t handle,
                                                       infiniopAsumDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t x,
                                                       infiniopTensorDescriptor_t result);

INFINI_API infiniStatus_t infiniopAsum(infiniopAsumDescriptor_t desc, void *workspace,
                                       size_t workspace_size, const void *x, void *result,
                                       void *stream);

#endif
