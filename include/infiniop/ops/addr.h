/* addr.h - out = beta * input + alpha * (vec1 outer vec2); F16 F32 F64 BF16.  With beta 0
 * input is not read. */
#ifndef INFINIOP_OPS_ADDR_H
#define INFINIOP_OPS_ADDR_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Addr);

INFINI_API infiniStatus_t infiniopCreateAddrDescriptor(
    infiniopHandle_t handle, infiniopAddrDescriptor_t *desc_ptr, infiniopTensorDescriptor_t out,
    infiniopTensorDescriptor_t input, infiniopTensorDescriptor_t vec1,
    infiniopTensorDescriptor_t vec2, float beta, float alpha);

INFINI_API infiniStatus_t infiniopAddr(infiniopAddrDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *out, const void *input,
                                       const void *vec1, const void *vec2, void *stream);

#endif
