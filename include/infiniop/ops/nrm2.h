/* nrm2.h - result = the Euclidean norm of x; F16 F32 F64 BF16.  It overflows only if the result
 * does. */
#ifndef INFINIOP_OPS_NRM2_H
#define INFINIOP_OPS_NRM2_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Nrm2);

INFINI_API infiniStatus_t infiniopCreateNrm2Descriptor(infiniopHandle_t handle,
                                                       infiniopNrm2Descriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t x,
                                                       infiniopTensorDescriptor_t result);

INFINI_API infiniStatus_t infiniopNrm2(infiniopNrm2Descriptor_t desc, void *workspace,
                                       size_t workspace_size, const void *x, void *result,
                                       void *stream);

#endif
