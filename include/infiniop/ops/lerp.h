/* lerp.h - output = start + weight * (end - start); F16 F32 F64 BF16.  Inputs broadcast to
 * output as in NumPy.
 *
 * weight NULL means weight_scalar; the run then ignores the data of weight. */
#ifndef INFINIOP_OPS_LERP_H
#define INFINIOP_OPS_LERP_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Lerp);

INFINI_API infiniStatus_t infiniopCreateLerpDescriptor(
    infiniopHandle_t handle, infiniopLerpDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output, infiniopTensorDescriptor_t start,
    infiniopTensorDescriptor_t end, infiniopTensorDescriptor_t weight, float weight_scalar);

INFINIOP_RUN_3(Lerp, output, start, end, weight);

#endif
