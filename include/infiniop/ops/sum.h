/* sum.h - sums along the axes dim; F16 F32 F64 BF16.  The output has the other axes; with
 * keepdim the summed axes stay with extent 1. */
#ifndef INFINIOP_OPS_SUM_H
#define INFINIOP_OPS_SUM_H

#include "../operator_descriptor.h"

#include <stdbool.h>

INFINIOP_OPERATOR(Sum);

INFINI_API infiniStatus_t infiniopCreateSumDescriptor(infiniopHandle_t handle,
                                                      infiniopSumDescriptor_t *desc_ptr,
                                                      infiniopTensorDescriptor_t output_desc,
                                                      infiniopTensorDescriptor_t input_desc,
                                                      size_t *dim, size_t dim_size,
                                                      bool keepdim);

INFINI_API infiniStatus_t infiniopSum(infiniopSumDescriptor_t desc, void *workspace,
                                      size_t workspace_size, void *output, const void *input,
                                      size_t *dim, size_t dim_size, bool keepdim, void *stream);

#endif
