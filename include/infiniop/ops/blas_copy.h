/* blas_copy.h - y = x; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_BLAS_COPY_H
#define INFINIOP_OPS_BLAS_COPY_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(BlasCopy);

INFINI_API infiniStatus_t infiniopCreateBlasCopyDescriptor(
    infiniopHandle_t handle, infiniopBlasCopyDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t y);

INFINI_API infiniStatus_t infiniopBlasCopy(infiniopBlasCopyDescriptor_t desc, void *workspace,
                                           size_t workspace_size, const void *x, void *y,
                                           void *stream);

#endif
