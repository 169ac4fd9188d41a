/* cdist.h - distances of order p between the rows of x1 and of x2; F16 F32 BF16.  A batch of 1,
 * or rank 2, broadcasts. */
#ifndef INFINIOP_OPS_CDIST_H
#define INFINIOP_OPS_CDIST_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Cdist);

INFINI_API infiniStatus_t infiniopCreateCdistDescriptor(infiniopHandle_t handle,
                                                        infiniopCdistDescriptor_t *desc_ptr,
                                                        infiniopTensorDescriptor_t y_desc,
                                                        infiniopTensorDescriptor_t x1_desc,
                                                        infiniopTensorDescriptor_t x2_desc,
                                                        double p);

INFINI_API infiniStatus_t infiniopCdist(infiniopCdistDescriptor_t desc, void *workspace,
                                        size_t workspace_size, void *y, const void *x1,
                                        const void *x2, void *stream);

#endif
