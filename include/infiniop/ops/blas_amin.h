/* blas_amin.h - the 1-based I32 index of the first smallest |x|; F16 F32 F64 BF16.  It is 0 if
 * there are no elements; NaN counts only in first position. */
#ifndef INFINIOP_OPS_BLAS_AMIN_H
#define INFINIOP_OPS_BLAS_AMIN_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(BlasAmin);

INFINI_API infiniStatus_t infiniopCreateBlasAminDescriptor(
    infiniopHandle_t handle, infiniopBlasAminDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t result);

INFINI_API infiniStatus_t infiniopBlasAmin(infiniopBlasAminDescriptor_t desc, void *workspace,
                                           size_t workspace_size, const void *x, void *result,
                                           void *stream);

#endif
