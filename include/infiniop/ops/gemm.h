/* gemm.h - c = alpha * (a @ b) + beta * c; F16 F32 BF16.  Rank 2 or 3; a batch of 1, or rank 2,
 * broadcasts.  With beta 0 c is not read. */
#ifndef INFINIOP_OPS_GEMM_H
#define INFINIOP_OPS_GEMM_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Gemm);

INFINI_API infiniStatus_t infiniopCreateGemmDescriptor(infiniopHandle_t handle,
                                                       infiniopGemmDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t c_desc,
                                                       infiniopTensorDescriptor_t a_desc,
                                                       infiniopTensorDescriptor_t b_desc);

INFINI_API infiniStatus_t infiniopGemm(infiniopGemmDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *c, const void *a,
                                       const void *b, float alpha, float beta, void *stream);

#endif
