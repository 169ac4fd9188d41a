/* logcumsumexp.h - running log of sums of exponentials along axis; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_LOGCUMSUMEXP_H
#define INFINIOP_OPS_LOGCUMSUMEXP_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(LogCumSumExp);

INFINI_API infiniStatus_t infiniopCreateLogCumSumExpDescriptor(
    infiniopHandle_t handle, infiniopLogCumSumExpDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, int axis, int exclusive,
    int reverse);

INFINI_API infiniStatus_t infiniopLogCumSumExp(infiniopLogCumSumExpDescriptor_t desc,
                                               void *workspace, size_t workspace_size, void *y,
                                               const void *x, void *stream);

#endif
