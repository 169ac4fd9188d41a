/* kthvalue.h - the k-th smallest along dim and its position (I64 or I32); F16 F32 F64 BF16
 * I32 I64 U32 U64. */
#ifndef INFINIOP_OPS_KTHVALUE_H
#define INFINIOP_OPS_KTHVALUE_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Kthvalue);

INFINI_API infiniStatus_t infiniopCreateKthvalueDescriptor(
    infiniopHandle_t handle, infiniopKthvalueDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t values, infiniopTensorDescriptor_t indices,
    infiniopTensorDescriptor_t input, int k, int dim, int keepdim);

INFINI_API infiniStatus_t infiniopKthvalue(infiniopKthvalueDescriptor_t desc, void *workspace,
                                           size_t workspace_size, void *values, void *indices,
                                           const void *input, void *stream);

#endif
