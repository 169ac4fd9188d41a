/* all.h - true where all elements along the axes dim are true; BOOL or U8 to BOOL.  The output
 * has the other axes; with keepdim the reduced axes stay with extent 1. */
#ifndef INFINIOP_OPS_ALL_H
#define INFINIOP_OPS_ALL_H

#include "../operator_descriptor.h"

#include <stdbool.h>

INFINIOP_OPERATOR(All);

INFINI_API infiniStatus_t infiniopCreateAllDescriptor(infiniopHandle_t handle,
                                                      infiniopAllDescriptor_t *desc_ptr,
                                                      infiniopTensorDescriptor_t output_desc,
                                                      infiniopTensorDescriptor_t input_desc,
                                                      size_t *dim, size_t dim_size,
                                                      bool keepdim);

INFINI_API infiniStatus_t infiniopAll(infiniopAllDescriptor_t desc, void *workspace,
                                      size_t workspace_size, void *output, const void *input,
                                      size_t *dim, size_t dim_size, bool keepdim, void *stream);

#endif
