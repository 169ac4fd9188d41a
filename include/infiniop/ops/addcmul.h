/* addcmul.h - out = input + value * t1 * t2; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_ADDCMUL_H
#define INFINIOP_OPS_ADDCMUL_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Addcmul);

INFINI_API infiniStatus_t infiniopCreateAddcmulDescriptor(
    infiniopHandle_t handle, infiniopAddcmulDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out, infiniopTensorDescriptor_t input,
    infiniopTensorDescriptor_t t1, infiniopTensorDescriptor_t t2, float value);

INFINIOP_RUN_3(Addcmul, out, input, t1, t2);

#endif
