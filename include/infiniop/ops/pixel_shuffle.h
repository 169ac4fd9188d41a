/* pixel_shuffle.h - x (N, C r r, H, W) becomes y (N, C, H r, W r); every dtype. */
#ifndef INFINIOP_OPS_PIXEL_SHUFFLE_H
#define INFINIOP_OPS_PIXEL_SHUFFLE_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(PixelShuffle);

INFINI_API infiniStatus_t infiniopCreatePixelShuffleDescriptor(
    infiniopHandle_t handle, infiniopPixelShuffleDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, int upscale_factor);

INFINIOP_RUN_1(PixelShuffle, y, x);

#endif
