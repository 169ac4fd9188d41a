/* dist.h - y = the distance of order p between x1 and x2; F16 F32 F64 BF16.  y has one
 * element. */
#ifndef INFINIOP_OPS_DIST_H
#define INFINIOP_OPS_DIST_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Dist);

INFINI_API infiniStatus_t infiniopCreateDistDescriptor(infiniopHandle_t handle,
                                                       infiniopDistDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t y,
                                                       infiniopTensorDescriptor_t x1,
                                                       infiniopTensorDescriptor_t x2, double p);

INFINI_API infiniStatus_t infiniopDist(infiniopDistDescriptor_t desc, void *workspace,
                                       size_t workspace_size, void *y, const void *x1,
                                       const void *x2, void *stream);

#endif
