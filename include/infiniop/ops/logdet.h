/* logdet.h - the logarithm of the determinant; F32 F64.  NaN if the determinant is negative. */
#ifndef INFINIOP_OPS_LOGDET_H
#define INFINIOP_OPS_LOGDET_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Logdet);

INFINI_API infiniStatus_t infiniopCreateLogdetDescriptor(infiniopHandle_t handle,
                                                         infiniopLogdetDescriptor_t *desc_ptr,
                                                         infiniopTensorDescriptor_t y,
                                                         infiniopTensorDescriptor_t x);

INFINI_API infiniStatus_t infiniopLogdet(infiniopLogdetDescriptor_t desc, void *workspace,
                                         size_t workspace_size, void *y, const void *x,
                                         void *stream);

#endif
