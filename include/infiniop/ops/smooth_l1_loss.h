/* smooth_l1_loss.h - squares below beta, lines above; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_SMOOTH_L1_LOSS_H
#define INFINIOP_OPS_SMOOTH_L1_LOSS_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(SmoothL1Loss);

INFINI_API infiniStatus_t infiniopCreateSmoothL1LossDescriptor(
    infiniopHandle_t handle, infiniopSmoothL1LossDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input,
    infiniopTensorDescriptor_t target, float beta, int reduction);

INFINI_API infiniStatus_t infiniopSmoothL1Loss(infiniopSmoothL1LossDescriptor_t desc,
                                               void *workspace, size_t workspace_size,
                                               void *output, const void *input,
                                               const void *target, void *stream);

#endif
