/* inner.h - sums of products along the last axes, as numpy.inner; F16 F32 BF16. */
#ifndef INFINIOP_OPS_INNER_H
#define INFINIOP_OPS_INNER_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Inner);

INFINI_API infiniStatus_t infiniopCreateInnerDescriptor(infiniopHandle_t handle,
                                                        infiniopInnerDescriptor_t *desc_ptr,
                                                        infiniopTensorDescriptor_t out_desc,
                                                        infiniopTensorDescriptor_t input_desc,
                                                        infiniopTensorDescriptor_t other_desc);

INFINI_API infiniStatus_t infiniopInner(infiniopInnerDescriptor_t desc, void *workspace,
                                        size_t workspace_size, void *out, const void *input,
                                        const void *other, void *stream);

#endif
