/* binary_cross_entropy_with_logits.h - binary cross entropy of logits; F16 F32 F64 BF16. 
 * weight has the shape of logits or the extent of its last axis, pos_weight one element or
 * the extents of its last axes. */
#ifndef INFINIOP_OPS_BINARY_CROSS_ENTROPY_WITH_LOGITS_H
#define INFINIOP_OPS_BINARY_CROSS_ENTROPY_WITH_LOGITS_H

#include "../operator_descriptor.h"

typedef enum {
    INFINIOP_REDUCTION_NONE = 0,
    INFINIOP_REDUCTION_MEAN = 1,
    INFINIOP_REDUCTION_SUM = 2
} infiniopReduction_t;

INFINIOP_OPERATOR(BCEWithLogits);

INFINI_API infiniStatus_t infiniopCreateBCEWithLogitsDescriptor(
    infiniopHandle_t handle, infiniopBCEWithLogitsDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out, infiniopTensorDescriptor_t logits,
    infiniopTensorDescriptor_t target, infiniopTensorDescriptor_t weight,
    infiniopTensorDescriptor_t pos_weight, infiniopReduction_t reduction);

INFINI_API infiniStatus_t infiniopBCEWithLogits(infiniopBCEWithLogitsDescriptor_t desc,
                                                void *workspace, size_t workspace_size,
                                                void *out, const void *logits,
                                                const void *target, const void *weight,
                                                const void *pos_weight, void *stream);

#endif
