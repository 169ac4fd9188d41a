/* fused_ffn.h - out = swiglu(rms_norm(in) @ gate_up) @ down + residual; F16 F32 BF16. 
 * gate_up is (2 di, d) or (d, 2 di), down (d, di) or (di, d), of the dtype of in or F32. */
#ifndef INFINIOP_OPS_FUSED_FFN_H
#define INFINIOP_OPS_FUSED_FFN_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(FusedFFN);

INFINI_API infiniStatus_t infiniopCreateFusedFFNDescriptor(
    infiniopHandle_t handle, infiniopFusedFFNDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc, infiniopTensorDescriptor_t in_desc,
    infiniopTensorDescriptor_t residual_desc, infiniopTensorDescriptor_t norm_weight_desc,
    infiniopTensorDescriptor_t gate_up_weight_desc, infiniopTensorDescriptor_t down_weight_desc,
    float epsilon);

INFINI_API infiniStatus_t infiniopFusedFFN(infiniopFusedFFNDescriptor_t desc, void *workspace,
                                           size_t workspace_size, void *out, const void *in,
                                           const void *residual, const void *norm_weight,
                                           const void *gate_up_weight, const void *down_weight,
                                           void *stream);

#endif
