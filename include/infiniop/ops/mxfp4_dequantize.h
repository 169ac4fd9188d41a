/* mxfp4_dequantize.h - 4-bit E2M1 numbers with one E8M0 scale for 32 of them; U8 to F16 F32
 * BF16. */
#ifndef INFINIOP_OPS_MXFP4_DEQUANTIZE_H
#define INFINIOP_OPS_MXFP4_DEQUANTIZE_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Mxfp4Dequantize);

INFINI_API infiniStatus_t infiniopCreateMxfp4DequantizeDescriptor(
    infiniopHandle_t handle, infiniopMxfp4DequantizeDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc, infiniopTensorDescriptor_t packed_desc,
    infiniopTensorDescriptor_t scales_desc);

INFINI_API infiniStatus_t infiniopMxfp4Dequantize(infiniopMxfp4DequantizeDescriptor_t desc,
                                                  void *workspace, size_t workspace_size,
                                                  void *out, const void *packed,
                                                  const void *scales, void *stream);

#endif
