/* multi_margin_loss.h - sums of max(0, margin - x[target] + x[c])^p / C over c; F16 F32 F64
 * BF16. */
#ifndef INFINIOP_OPS_MULTI_MARGIN_LOSS_H
#define INFINIOP_OPS_MULTI_MARGIN_LOSS_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(MultiMarginLoss);

INFINI_API infiniStatus_t infiniopCreateMultiMarginLossDescriptor(
    infiniopHandle_t handle, infiniopMultiMarginLossDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input,
    infiniopTensorDescriptor_t target, infiniopTensorDescriptor_t weight, int p, float margin,
    int reduction);

INFINI_API infiniStatus_t infiniopMultiMarginLoss(infiniopMultiMarginLossDescriptor_t desc,
                                                  void *workspace, size_t workspace_size,
                                                  void *output, const void *input,
                                                  const void *target, const void *weight,
                                                  void *stream);

#endif
