/* affine_grid.h - the grid (N, H, W, 2) of affine matrices (N, 2, 3); F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_AFFINE_GRID_H
#define INFINIOP_OPS_AFFINE_GRID_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(AffineGrid);

INFINI_API infiniStatus_t infiniopCreateAffineGridDescriptor(
    infiniopHandle_t handle, infiniopAffineGridDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output_desc, infiniopTensorDescriptor_t input_desc,
    uint8_t align_corners);

INFINI_API infiniStatus_t infiniopAffineGrid(infiniopAffineGridDescriptor_t desc,
                                             void *workspace, size_t workspace_size,
                                             void *output, const void *input, void *stream);

#endif
