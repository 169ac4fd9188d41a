/* huber_loss.h - squares below delta, lines above; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_HUBER_LOSS_H
#define INFINIOP_OPS_HUBER_LOSS_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(HuberLoss);

INFINI_API infiniStatus_t infiniopCreateHuberLossDescriptor(
    infiniopHandle_t handle, infiniopHuberLossDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input,
    infiniopTensorDescriptor_t target, float delta, int reduction);

INFINI_API infiniStatus_t infiniopHuberLoss(infiniopHuberLossDescriptor_t desc, void *workspace,
                                            size_t workspace_size, void *output,
                                            const void *input, const void *target,
                                            void *stream);

#endif
