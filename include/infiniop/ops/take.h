/* take.h - output = the elements of input at indices (I32, I64) in row-major order; floats and
 * integers.  Negative indices count from the end; one out of range is BAD_PARAM. */
#ifndef INFINIOP_OPS_TAKE_H
#define INFINIOP_OPS_TAKE_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Take);

INFINI_API infiniStatus_t infiniopCreateTakeDescriptor(infiniopHandle_t handle,
                                                       infiniopTakeDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t output,
                                                       infiniopTensorDescriptor_t input,
                                                       infiniopTensorDescriptor_t indices);

INFINI_API infiniStatus_t infiniopTake(infiniopTakeDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *output, const void *input,
                                       const void *indices, void *stream);

#endif
