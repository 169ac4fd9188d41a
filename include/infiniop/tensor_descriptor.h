/* tensor_descriptor.h - shape, strides and dtype of a tensor, without its data. */
#ifndef INFINIOP_TENSOR_DESCRIPTOR_H
#define INFINIOP_TENSOR_DESCRIPTOR_H

#include "../infinicore.h"

typedef struct InfiniopTensorDescriptor *infiniopTensorDescriptor_t;

/* Strides are in elements; 0 broadcasts, < 0 reverses, NULL means row-major.  Extents of 0 are
 * valid; ndim is at most 64.  A descriptor may be destroyed as soon as the operators that use
 * it are created.
 *
 * NULL_POINTER        desc_ptr is NULL, or shape is NULL and ndim > 0 BAD_PARAM ndim is out of
 * range BAD_TENSOR_DTYPE dtype is not a value of infiniDtype_t, or is INVALID BAD_TENSOR_SHAPE
 * the size does not fit in 63 bits BAD_TENSOR_STRIDES the address range does not fit in 63
 * bits */
INFINI_API infiniStatus_t infiniopCreateTensorDescriptor(infiniopTensorDescriptor_t *desc_ptr,
                                                         size_t ndim, const size_t *shape,
                                                         const ptrdiff_t *strides,
                                                         infiniDtype_t dtype);
INFINI_API infiniStatus_t infiniopDestroyTensorDescriptor(infiniopTensorDescriptor_t desc);

#endif
