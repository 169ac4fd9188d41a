/* triplet_margin_with_distance_loss.h - triplet_margin_loss of rows along the last axis with d
 * = sqrt(sum (x - y)^2 + 1e-6); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_TRIPLET_MARGIN_WITH_DISTANCE_LOSS_H
#define INFINIOP_OPS_TRIPLET_MARGIN_WITH_DISTANCE_LOSS_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(TripletMarginWithDistanceLoss);

INFINI_API infiniStatus_t infiniopCreateTripletMarginWithDistanceLossDescriptor(
    infiniopHandle_t handle, infiniopTripletMarginWithDistanceLossDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t anchor,
    infiniopTensorDescriptor_t positive, infiniopTensorDescriptor_t negative, float margin,
    int swap, int reduction);

INFINI_API infiniStatus_t infiniopTripletMarginWithDistanceLoss(
    infiniopTripletMarginWithDistanceLossDescriptor_t desc, void *workspace,
    size_t workspace_size, void *output, const void *anchor, const void *positive,
    const void *negative, void *stream);

#endif
