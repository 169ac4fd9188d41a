/* hinge_embedding_loss.h - x where target is 1, max(0, margin - x) where it is -1; F16 F32
 * F64 BF16. */
#ifndef INFINIOP_OPS_HINGE_EMBEDDING_LOSS_H
#define INFINIOP_OPS_HINGE_EMBEDDING_LOSS_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(HingeEmbeddingLoss);

INFINI_API infiniStatus_t infiniopCreateHingeEmbeddingLossDescriptor(
    infiniopHandle_t handle, infiniopHingeEmbeddingLossDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t input,
    infiniopTensorDescriptor_t target, double margin, int reduction);

INFINI_API infiniStatus_t infiniopHingeEmbeddingLoss(
    infiniopHingeEmbeddingLossDescriptor_t desc, void *workspace, size_t workspace_size,
    void *y, const void *input, const void *target, void *stream);

#endif
