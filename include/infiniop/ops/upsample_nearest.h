/* upsample_nearest.h - the nearest element along the last one or two axes; floats and
 * integers. */
#ifndef INFINIOP_OPS_UPSAMPLE_NEAREST_H
#define INFINIOP_OPS_UPSAMPLE_NEAREST_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(UpsampleNearest);

INFINI_API infiniStatus_t infiniopCreateUpsampleNearestDescriptor(
    infiniopHandle_t handle, infiniopUpsampleNearestDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input);

INFINI_API infiniStatus_t infiniopUpsampleNearest(infiniopUpsampleNearestDescriptor_t desc,
                                                  void *workspace, size_t workspace_size,
                                                  void *output, const void *input,
                                                  void *stream);

#endif
