/* gaussian_nll_loss.h - negative log likelihood of target under (input, var); F16 F32 F64
 * BF16. */
#ifndef INFINIOP_OPS_GAUSSIAN_NLL_LOSS_H
#define INFINIOP_OPS_GAUSSIAN_NLL_LOSS_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(GaussianNllLoss);

INFINI_API infiniStatus_t infiniopCreateGaussianNllLossDescriptor(
    infiniopHandle_t handle, infiniopGaussianNllLossDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t input,
    infiniopTensorDescriptor_t target, infiniopTensorDescriptor_t var, int full, double eps,
    int reduction);

INFINI_API infiniStatus_t infiniopGaussianNllLoss(infiniopGaussianNllLossDescriptor_t desc,
                                                  void *workspace, size_t workspace_size,
                                                  void *y, const void *input,
                                                  const void *target, const void *var,
                                                  void *stream);

#endif
