/* dot.h - y = the sum of a * b; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_DOT_H
#define INFINIOP_OPS_DOT_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Dot);

INFINI_API infiniStatus_t infiniopCreateDotDescriptor(infiniopHandle_t handle,
                                                      infiniopDotDescriptor_t *desc_ptr,
                                                      infiniopTensorDescriptor_t y,
                                                      infiniopTensorDescriptor_t a,
                                                      infiniopTensorDescriptor_t b);

INFINI_API infiniStatus_t infiniopDot(infiniopDotDescriptor_t desc, void *workspace,
                                      size_t workspace_size, void *y, const void *a,
                                      const void *b, void *stream);

#endif
