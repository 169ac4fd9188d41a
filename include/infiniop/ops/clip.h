/* clip.h - y = x between the elements of min_val and max_val; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_CLIP_H
#define INFINIOP_OPS_CLIP_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Clip);

INFINI_API infiniStatus_t infiniopCreateClipDescriptor(infiniopHandle_t handle,
                                                       infiniopClipDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t y,
                                                       infiniopTensorDescriptor_t x,
                                                       infiniopTensorDescriptor_t min_val,
                                                       infiniopTensorDescriptor_t max_val);

INFINIOP_RUN_3(Clip, y, x, min_val, max_val);

#endif
