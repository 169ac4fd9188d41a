/* masked_select.h - the elements of input (F32) whose mask (BOOL) is set, in row-major order.
 * The run allocates the result with malloc; it is NULL if there are none. */
#ifndef INFINIOP_OPS_MASKED_SELECT_H
#define INFINIOP_OPS_MASKED_SELECT_H

#include "../operator_descriptor.h"

#include <stdbool.h>

INFINIOP_OPERATOR(MaskedSelect);

INFINI_API infiniStatus_t infiniopCreateMaskedSelectDescriptor(
    infiniopHandle_t handle, infiniopMaskedSelectDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t input_desc, infiniopTensorDescriptor_t mask_desc);

INFINI_API infiniStatus_t infiniopMaskedSelect(infiniopMaskedSelectDescriptor_t desc,
                                               void *workspace, size_t workspace_size,
                                               const void *input, const bool *mask,
                                               void **data_ptr, size_t *dlen, void *stream);

#endif
