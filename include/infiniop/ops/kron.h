/* kron.h - the Kronecker product; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_KRON_H
#define INFINIOP_OPS_KRON_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Kron);

INFINI_API infiniStatus_t infiniopCreateKronDescriptor(infiniopHandle_t handle,
                                                       infiniopKronDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t y,
                                                       infiniopTensorDescriptor_t x1,
                                                       infiniopTensorDescriptor_t x2);

INFINI_API infiniStatus_t infiniopKron(infiniopKronDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *y, const void *x1,
                                       const void *x2, void *stream);

#endif
