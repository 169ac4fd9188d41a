/* fused_moe_mxfp4.h - a layer of experts with MXFP4 weights; F16 F32 BF16.  An expert out of
 * range adds nothing. */
#ifndef INFINIOP_OPS_FUSED_MOE_MXFP4_H
#define INFINIOP_OPS_FUSED_MOE_MXFP4_H

#include "../operator_descriptor.h"

typedef enum {
    INFINIOP_FUSED_MOE_ACT_SILU = 0, /* BAD_PARAM here */
    INFINIOP_FUSED_MOE_ACT_SWIGLU = 1,
    INFINIOP_FUSED_MOE_ACT_SITUGLU = 2
} infiniopFusedMoeActivation_t;

INFINIOP_OPERATOR(FusedMoeMxfp4);

INFINI_API infiniStatus_t infiniopCreateFusedMoeMxfp4Descriptor(
    infiniopHandle_t handle, infiniopFusedMoeMxfp4Descriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output_desc, infiniopTensorDescriptor_t input_desc,
    infiniopTensorDescriptor_t selected_experts_desc,
    infiniopTensorDescriptor_t routing_weights_desc, infiniopTensorDescriptor_t w13_packed_desc,
    infiniopTensorDescriptor_t w13_scale_desc, infiniopTensorDescriptor_t w2_packed_desc,
    infiniopTensorDescriptor_t w2_scale_desc, infiniopFusedMoeActivation_t activation);

INFINI_API infiniStatus_t infiniopFusedMoeMxfp4(
    infiniopFusedMoeMxfp4Descriptor_t desc, void *workspace, size_t workspace_size,
    void *output, const void *input, const void *selected_experts, const void *routing_weights,
    const void *w13_packed, const void *w13_scale, const void *w2_packed, const void *w2_scale,
    void *stream);

#endif
