/* softplus.h - y = log(1 + exp(beta x)) / beta, and x where beta x > threshold; F16 F32 F64
 * BF16. */
#ifndef INFINIOP_OPS_SOFTPLUS_H
#define INFINIOP_OPS_SOFTPLUS_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Softplus);

INFINI_API infiniStatus_t infiniopCreateSoftplusDescriptor(
    infiniopHandle_t handle, infiniopSoftplusDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, float beta, float threshold);

INFINIOP_RUN_1(Softplus, y, x);

#endif
