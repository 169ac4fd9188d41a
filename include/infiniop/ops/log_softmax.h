/* log_softmax.h - x - logsumexp(x) along dim; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_LOG_SOFTMAX_H
#define INFINIOP_OPS_LOG_SOFTMAX_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(LogSoftmax);

INFINI_API infiniStatus_t infiniopCreateLogSoftmaxDescriptor(
    infiniopHandle_t handle, infiniopLogSoftmaxDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input, int dim);

INFINI_API infiniStatus_t infiniopLogSoftmax(infiniopLogSoftmaxDescriptor_t desc,
                                             void *workspace, size_t workspace_size,
                                             void *output, const void *input, void *stream);

#endif
