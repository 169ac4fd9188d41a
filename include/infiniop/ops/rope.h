/* rope.h - rotary position embedding of (seq, head, d) or (batch, seq, head, d); F16 F32 F64
 * BF16, pos_ids of any integer dtype.  A position outside the tables is BAD_PARAM. */
#ifndef INFINIOP_OPS_ROPE_H
#define INFINIOP_OPS_ROPE_H

#include "../operator_descriptor.h"

typedef enum {
    INFINIOP_ROPE_ALGO_GPT_J = 0,   /* pairs (2 i, 2 i + 1) */
    INFINIOP_ROPE_ALGO_GPT_NEOX = 1 /* pairs (i, i + d / 2) */
} infiniopRoPEAlgo_t;

INFINIOP_OPERATOR(RoPE);

INFINI_API infiniStatus_t infiniopCreateRoPEDescriptor(
    infiniopHandle_t handle, infiniopRoPEDescriptor_t *desc_ptr, infiniopTensorDescriptor_t y,
    infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t pos_ids,
    infiniopTensorDescriptor_t sin_table, infiniopTensorDescriptor_t cos_table,
    infiniopRoPEAlgo_t algo);

INFINI_API infiniStatus_t infiniopRoPE(infiniopRoPEDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *y, const void *x,
                                       const void *pos_ids, const void *sin_table,
                                       const void *cos_table, void *stream);

#endif
