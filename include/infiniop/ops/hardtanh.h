/* hardtanh.h - y = x between min and max; F16 F32 F64 BF16. */
#ifndef INFINIOP_OPS_HARDTANH_H
#define INFINIOP_OPS_HARDTANH_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(HardTanh);

INFINI_API infiniStatus_t infiniopCreateHardTanhDescriptor(
    infiniopHandle_t handle, infiniopHardTanhDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, float min_val, float max_val);

INFINIOP_RUN_1(HardTanh, y, x);

#endif
