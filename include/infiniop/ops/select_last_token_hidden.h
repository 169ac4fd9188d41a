/* select_last_token_hidden.h - the rows before each of offsets[1:] (I32); F16 F32 BF16.  It has
 * no workspace. */
#ifndef INFINIOP_OPS_SELECT_LAST_TOKEN_HIDDEN_H
#define INFINIOP_OPS_SELECT_LAST_TOKEN_HIDDEN_H

#include "../operator_descriptor.h"

INFINIOP_TYPE(SelectLastTokenHidden);

INFINI_API infiniStatus_t infiniopCreateSelectLastTokenHiddenDescriptor(
    infiniopHandle_t handle, infiniopSelectLastTokenHiddenDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output_desc, infiniopTensorDescriptor_t hidden_states_desc,
    infiniopTensorDescriptor_t input_offsets_desc);

INFINI_API infiniStatus_t infiniopSelectLastTokenHidden(
    infiniopSelectLastTokenHiddenDescriptor_t desc, void *output, const void *hidden_states,
    const void *input_offsets, void *stream);

#endif
