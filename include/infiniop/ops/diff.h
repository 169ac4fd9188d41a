/* diff.h - the n-th difference along dim; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_DIFF_H
#define INFINIOP_OPS_DIFF_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Diff);

INFINI_API infiniStatus_t infiniopCreateDiffDescriptor(infiniopHandle_t handle,
                                                       infiniopDiffDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t y,
                                                       infiniopTensorDescriptor_t x, int dim,
                                                       int n);

INFINI_API infiniStatus_t infiniopDiff(infiniopDiffDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *y, const void *x,
                                       void *stream);

#endif
