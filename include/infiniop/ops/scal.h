/* scal.h - x = alpha * x, alpha has one element; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SCAL_H
#define INFINIOP_OPS_SCAL_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Scal);

INFINI_API infiniStatus_t infiniopCreateScalDescriptor(infiniopHandle_t handle,
                                                       infiniopScalDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t alpha,
                                                       infiniopTensorDescriptor_t x);

INFINI_API infiniStatus_t infiniopScal(infiniopScalDescriptor_t desc, void *workspace,
                                       size_t workspace_size, const void *alpha, void *x,
                                       void *stream);

#endif
