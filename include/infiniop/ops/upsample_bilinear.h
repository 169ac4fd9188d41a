/* upsample_bilinear.h - linear interpolation along the last two axes; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_UPSAMPLE_BILINEAR_H
#define INFINIOP_OPS_UPSAMPLE_BILINEAR_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(UpsampleBilinear);

INFINI_API infiniStatus_t infiniopCreateUpsampleBilinearDescriptor(
    infiniopHandle_t handle, infiniopUpsampleBilinearDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t input, int align_corners);

INFINI_API infiniStatus_t infiniopUpsampleBilinear(infiniopUpsampleBilinearDescriptor_t desc,
                                                   void *workspace, size_t workspace_size,
                                                   void *output, const void *input,
                                                   void *stream);

#endif
