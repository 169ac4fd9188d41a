/* axpy.h - y = alpha * x + y, alpha has one element; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_AXPY_H
#define INFINIOP_OPS_AXPY_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Axpy);

INFINI_API infiniStatus_t infiniopCreateAxpyDescriptor(infiniopHandle_t handle,
                                                       infiniopAxpyDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t alpha,
                                                       infiniopTensorDescriptor_t x,
                                                       infiniopTensorDescriptor_t y);

INFINI_API infiniStatus_t infiniopAxpy(infiniopAxpyDescriptor_t desc, void *workspace,
                                       size_t workspace_size, const void *alpha, const void *x,
                                       void *y, void *stream);

#endif
