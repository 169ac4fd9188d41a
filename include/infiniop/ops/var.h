/* var.h - variances along the axes dim; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_VAR_H
#define INFINIOP_OPS_VAR_H

#include "../operator_descriptor.h"

#include <stdbool.h>

INFINIOP_OPERATOR(Var);

INFINI_API infiniStatus_t infiniopCreateVarDescriptor(
    infiniopHandle_t handle, infiniopVarDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t var_output_desc, infiniopTensorDescriptor_t input_desc,
    size_t *dim, size_t dim_size, bool unbiased, bool keepdim);

INFINI_API infiniStatus_t infiniopVar(infiniopVarDescriptor_t desc, void *workspace,
                                      size_t workspace_size, void *var_output,
                                      const void *input, size_t *dim, size_t dim_size,
                                      bool unbiased, bool keepdim, void *stream);

#endif
