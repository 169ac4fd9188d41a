/* index_copy.h - output = input, with source at the positions of index along dim; F16 F32 F64
 * BF16 I32 I64. The last of equal indices wins. */
#ifndef INFINIOP_OPS_INDEX_COPY_H
#define INFINIOP_OPS_INDEX_COPY_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(IndexCopy);

INFINI_API infiniStatus_t infiniopCreateIndexCopyDescriptor(
    infiniopHandle_t handle, infiniopIndexCopyDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input, int64_t dim,
    infiniopTensorDescriptor_t index, infiniopTensorDescriptor_t source);

INFINI_API infiniStatus_t infiniopIndexCopy(infiniopIndexCopyDescriptor_t desc, void *workspace,
                                            size_t workspace_size, void *output,
                                            const void *input, const void *index,
                                            const void *source, void *stream);

#endif
