/* index_add.h - output = input with alpha * source added at the positions of index along dim;
 * F16 F32 F64 BF16 I32 I64.  Negative indices count from the end; one out of range is
 * BAD_PARAM. */
#ifndef INFINIOP_OPS_INDEX_ADD_H
#define INFINIOP_OPS_INDEX_ADD_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(IndexAdd);

INFINI_API infiniStatus_t infiniopCreateIndexAddDescriptor(
    infiniopHandle_t handle, infiniopIndexAddDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input, int64_t dim,
    infiniopTensorDescriptor_t index, infiniopTensorDescriptor_t source, float alpha);

INFINI_API infiniStatus_t infiniopIndexAdd(infiniopIndexAddDescriptor_t desc, void *workspace,
                                           size_t workspace_size, void *output,
                                           const void *input, const void *index,
                                           const void *source, void *stream);

#endif
