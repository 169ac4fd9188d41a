/* var_mean.h - variances and means along the axes dim; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_VAR_MEAN_H
#define INFINIOP_OPS_VAR_MEAN_H

#include "../operator_descriptor.h"

#include <stdbool.h>

INFINIOP_OPERATOR(VarMean);

INFINI_API infiniStatus_t infiniopCreateVarMeanDescriptor(
    infiniopHandle_t handle, infiniopVarMeanDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t var_output_desc, infiniopTensorDescriptor_t mean_output_desc,
    infiniopTensorDescriptor_t input_desc, size_t *dim, size_t dim_size, bool unbiased,
    bool keepdim);

INFINI_API infiniStatus_t infiniopVarMean(infiniopVarMeanDescriptor_t desc, void *workspace,
                                          size_t workspace_size, void *var_output,
                                          void *mean_output, const void *input, size_t *dim,
                                          size_t dim_size, bool unbiased, bool keepdim,
                                          void *stream);

#endif
