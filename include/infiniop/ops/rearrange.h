/* rearrange.h - dst = src, from any layout to any layout; every dtype.  It has no workspace. */
#ifndef INFINIOP_OPS_REARRANGE_H
#define INFINIOP_OPS_REARRANGE_H

#include "../operator_descriptor.h"

INFINIOP_TYPE(Rearrange);

INFINI_API infiniStatus_t infiniopCreateRearrangeDescriptor(
    infiniopHandle_t handle, infiniopRearrangeDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t dst, infiniopTensorDescriptor_t src);

INFINI_API infiniStatus_t infiniopRearrange(infiniopRearrangeDescriptor_t desc, void *dst,
                                            const void *src, void *stream);

#endif
