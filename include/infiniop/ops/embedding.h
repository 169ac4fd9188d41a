/* embedding.h - output = the rows of weight selected by input (I32, I64); F16 F32 BF16.  It has
 * no workspace.  An index out of range is BAD_PARAM when the operator runs. */
#ifndef INFINIOP_OPS_EMBEDDING_H
#define INFINIOP_OPS_EMBEDDING_H

#include "../operator_descriptor.h"

INFINIOP_TYPE(Embedding);

INFINI_API infiniStatus_t infiniopCreateEmbeddingDescriptor(
    infiniopHandle_t handle, infiniopEmbeddingDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output_desc, infiniopTensorDescriptor_t input_desc,
    infiniopTensorDescriptor_t weight_desc);

INFINI_API infiniStatus_t infiniopEmbedding(infiniopEmbeddingDescriptor_t desc, void *output,
                                            const void *input, const void *weight,
                                            void *stream);

#endif
