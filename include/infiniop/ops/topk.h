/* topk.h - the k largest or smallest along dim and their I32 indices; F16 F32 F64 BF16.  The
 * run is passed the same k, dim, largest and sorted as the creation. */
#ifndef INFINIOP_OPS_TOPK_H
#define INFINIOP_OPS_TOPK_H

#include "../operator_descriptor.h"

#include <stdbool.h>

INFINIOP_OPERATOR(TopK);

INFINI_API infiniStatus_t infiniopCreateTopKDescriptor(
    infiniopHandle_t handle, infiniopTopKDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t values_output_desc,
    infiniopTensorDescriptor_t indices_output_desc, infiniopTensorDescriptor_t input_desc,
    size_t k, size_t dim, bool largest, bool sorted);

INFINI_API infiniStatus_t infiniopTopK(infiniopTopKDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *values_output,
                                       void *indices_output, const void *input, size_t k,
                                       size_t dim, bool largest, bool sorted, void *stream);

#endif
