/* block_diag.h - the matrices x[0], x[1], … on the diagonal of y, zeros elsewhere; F16 F32 F64
 * BF16. */
#ifndef INFINIOP_OPS_BLOCK_DIAG_H
#define INFINIOP_OPS_BLOCK_DIAG_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(BlockDiag);

INFINI_API infiniStatus_t infiniopCreateBlockDiagDescriptor(
    infiniopHandle_t handle, infiniopBlockDiagDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t *x, size_t num_inputs);

INFINI_API infiniStatus_t infiniopBlockDiag(infiniopBlockDiagDescriptor_t desc, void *workspace,
                                            size_t workspace_size, void *y, const void **x,
                                            void *stream);

#endif
