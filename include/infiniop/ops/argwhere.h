/* argwhere.h - the positions of non-zero elements, in row-major order, as (count, rank) I64;
 * F32.  The run allocates output with malloc; it is NULL if count is 0. */
#ifndef INFINIOP_OPS_ARGWHERE_H
#define INFINIOP_OPS_ARGWHERE_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Argwhere);

INFINI_API infiniStatus_t infiniopCreateArgwhereDescriptor(
    infiniopHandle_t handle, infiniopArgwhereDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t input_desc);

INFINI_API infiniStatus_t infiniopArgwhere(infiniopArgwhereDescriptor_t desc, void *workspace,
                                           size_t workspace_size, void **output, size_t *count,
                                           const void *input, void *stream);

#endif
