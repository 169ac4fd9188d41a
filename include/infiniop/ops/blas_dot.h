/* blas_dot.h - result = the sum of x * y; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_BLAS_DOT_H
#define INFINIOP_OPS_BLAS_DOT_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(BlasDot);

INFINI_API infiniStatus_t infiniopCreateBlasDotDescriptor(infiniopHandle_t handle,
                                                          infiniopBlasDotDescriptor_t *desc_ptr,
                                                          infiniopTensorDescriptor_t x,
                                                          infiniopTensorDescriptor_t y,
                                                          infiniopTensorDescriptor_t result);

INFINI_API infiniStatus_t infiniopBlasDot(infiniopBlasDotDescriptor_t desc, void *workspace,
                                          size_t workspace_size, const void *x, const void *y,
                                          void *result, void *stream);

#endif
