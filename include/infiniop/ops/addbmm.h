/* addbmm.h - out = beta * input + alpha * (the sum of batch1[i] @ batch2[i]); F16 F32 F64
 * BF16.  With beta 0 input is not read. */
#ifndef INFINIOP_OPS_ADDBMM_H
#define INFINIOP_OPS_ADDBMM_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Addbmm);

INFINI_API infiniStatus_t infiniopCreateAddbmmDescriptor(infiniopHandle_t handle,
                                                         infiniopAddbmmDescriptor_t *desc_ptr,
                                                         infiniopTensorDescriptor_t out_desc,
                                                         infiniopTensorDescriptor_t input_desc,
                                                         infiniopTensorDescriptor_t batch1_desc,
                                                         infiniopTensorDescriptor_t batch2_desc,
                                                         float alpha, float beta);

INFINI_API infiniStatus_t infiniopAddbmm(infiniopAddbmmDescriptor_t desc, void *workspace,
                                         size_t workspace_size, void *output, const void *input,
                                         const void *batch1, const void *batch2, void *stream);

#endif
