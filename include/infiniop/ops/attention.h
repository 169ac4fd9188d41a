/* attention.h - attention with a cache of keys and values; k and v are written to it at pos;
 * F16 F32 BF16. */
#ifndef INFINIOP_OPS_ATTENTION_H
#define INFINIOP_OPS_ATTENTION_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Attention);

INFINI_API infiniStatus_t infiniopCreateAttentionDescriptor(
    infiniopHandle_t handle, infiniopAttentionDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc, infiniopTensorDescriptor_t q_desc,
    infiniopTensorDescriptor_t k_desc, infiniopTensorDescriptor_t v_desc,
    infiniopTensorDescriptor_t k_cache_desc, infiniopTensorDescriptor_t v_cache_desc,
    size_t pos);

INFINI_API infiniStatus_t infiniopAttention(infiniopAttentionDescriptor_t desc, void *workspace,
                                            size_t workspace_size, void *out, const void *q,
                                            const void *k, const void *v, void *k_cache,
                                            void *v_cache, void *stream);

#endif
