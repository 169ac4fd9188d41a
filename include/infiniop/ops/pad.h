/* pad.h - y is x with borders; every dtype.
 *
 * pad is an array of int, pad_size its BYTES: widths before and after the last axis, then of
 * the axis before it, and so on; axes that it does not reach get none.  mode is constant (also
 * NULL), reflect, replicate or circular.  value becomes x's dtype; a complex dtype gets it as
 * its real part, F8 is taken as e4m3.
 *
 * BAD_PARAM         a negative width, an odd number of them or too many, an unknown mode,
 *                   reflect by an extent or more
 * BAD_TENSOR_SHAPE  y is not x and the widths, or an empty axis is to be repeated */
#ifndef INFINIOP_OPS_PAD_H
#define INFINIOP_OPS_PAD_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Pad);

INFINI_API infiniStatus_t infiniopCreatePadDescriptor(
    infiniopHandle_t handle, infiniopPadDescriptor_t *desc_ptr, infiniopTensorDescriptor_t y,
    infiniopTensorDescriptor_t x, void *pad, size_t pad_size, const char *mode, double value);

INFINIOP_RUN_1(Pad, y, x);

#endif
