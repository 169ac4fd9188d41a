/* pad.h - y is x with borders; every dtype.
 *
 * pad is an array of int and pad_size its size in BYTES: widths before and after the last axis,
 * then those of the axis before it, and so on; the remaining axes are not padded.  mode is
 * constant (also if NULL), reflect, replicate or circular.  value is converted to x's dtype; it
 * is the real part of a complex dtype, and F8 means e4m3.
 *
 * BAD_PARAM         a width is negative, their number is odd or too large, mode is unknown, or
 * a width of reflect is not below its extent BAD_TENSOR_SHAPE y's shape is not x's plus the
 * widths, or an empty axis would be repeated */
#ifndef INFINIOP_OPS_PAD_H
#define INFINIOP_OPS_PAD_H

#include "../operator_descriptor.h"

INFINIOP_OPERATOR(Pad);

INFINI_API infiniStatus_t infiniopCreatePadDescriptor(
    infiniopHandle_t handle, infiniopPadDescriptor_t *desc_ptr, infiniopTensorDescriptor_t y,
    infiniopTensorDescriptor_t x, void *pad, size_t pad_size, const char *mode, double value);

INFINIOP_RUN_1(Pad, y, x);

#endif
