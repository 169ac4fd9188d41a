/* blas_amax.h - the 1-based I32 index of the first largest |x|; F16 F32 F64 BF16.  It is 0 if
 * there are no elements; NaN counts only in first position. */
#ifndef INFINIOP_OPS_BLAS_AMAX_H
#define INFINIOP_OPS_BLAS_AMAX_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(BlasAmax);

INFINI_API infiniStatus_t infiniopCreateBlasAmaxDescriptor(
    infiniopHandle_t handle, infiniopBlasAmaxDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t result);

INFINI_API infiniStatus_t infiniopBlasAmax(infiniopBlasAmaxDescriptor_t desc, void *workspace,
                                           size_t workspace_size, const void *x, void *result,
                                           void *stream);

#endif
