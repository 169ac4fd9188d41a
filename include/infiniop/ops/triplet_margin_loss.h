/* triplet_margin_loss.h - max(0, d(a, p) - d(a, n) + margin) of each row; F16 F32 F64 BF16.  d
 * = (sum |x - y|^p + eps)^(1/p). */
#ifndef INFINIOP_OPS_TRIPLET_MARGIN_LOSS_H
#define INFINIOP_OPS_TRIPLET_MARGIN_LOSS_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(TripletMarginLoss);

INFINI_API infiniStatus_t infiniopCreateTripletMarginLossDescriptor(
    infiniopHandle_t handle, infiniopTripletMarginLossDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t anchor,
    infiniopTensorDescriptor_t positive, infiniopTensorDescriptor_t negative, float margin,
    int p, float eps, int swap, int reduction);

INFINI_API infiniStatus_t infiniopTripletMarginLoss(infiniopTripletMarginLossDescriptor_t desc,
                                                    void *workspace, size_t workspace_size,
                                                    void *output, const void *anchor,
                                                    const void *positive, const void *negative,
                                                    void *stream);

#endif
