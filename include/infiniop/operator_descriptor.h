/* operator_descriptor.h - the rules and declarations that all operators share.
 *
 * infiniopCreateXDescriptor creates an operator X from tensor descriptors, outputs first, which
 * it does not keep.  infiniopX runs it on data, any number of times and from many threads at
 * once; infiniopDestroyXDescriptor destroys it.  A run allocates nothing: the memory that an
 * operator needs beside its operands is its workspace, often of 0 bytes; concurrent runs need
 * one each.  The stream is ignored.
 *
 * Shapes are equal, unless the operator's header says otherwise; a stride of 0 broadcasts an
 * input.  dtypes are equal, unless the header says otherwise.  An output whose indices share an
 * element is BAD_TENSOR_STRIDES.  The output may be one of the inputs (same pointer, same
 * strides); any other overlap of the output with an input is BAD_PARAM when the operator runs.
 * A call that fails has changed nothing.  Nothing is printed, unless INFINIOP_VERBOSE=1 is set
 * in the environment: each failure then prints one sentence to stderr. */
#ifndef INFINIOP_OPERATOR_DESCRIPTOR_H
#define INFINIOP_OPERATOR_DESCRIPTOR_H

#include "handle.h"
#include "tensor_descriptor.h"

struct InfiniopDescriptor {
    infiniDevice_t device_type;
    int device_id;
};

INFINI_API infiniStatus_t infiniopGetDescriptorDeviceType(
    const struct InfiniopDescriptor *desc_ptr, infiniDevice_t *device_type);
INFINI_API infiniStatus_t
infiniopGetDescriptorDeviceId(const struct InfiniopDescriptor *desc_ptr, int *device_id);

/* Describe in words what the operator will do; for a copy also its unit, count and axes.  The
 * text is truncated to n bytes and always ends with a 0. */
INFINI_API infiniStatus_t infiniopExplain(const struct InfiniopDescriptor *desc, char *buf,
                                          size_t n);

/* ---- macros by which the headers of ops/ declare an operator Op ---- */

/* Its type, and the calls that query and destroy a descriptor. */
#define INFINIOP_TYPE(Op)                                                                      \
    typedef struct InfiniopDescriptor *infiniop##Op##Descriptor_t;                             \
    INFINI_API infiniStatus_t infiniopDestroy##Op##Descriptor(infiniop##Op##Descriptor_t desc)

#define INFINIOP_OPERATOR(Op)                                                                  \
    INFINIOP_TYPE(Op);                                                                         \
    INFINI_API infiniStatus_t infiniopGet##Op##WorkspaceSize(infiniop##Op##Descriptor_t desc,  \
                                                             size_t *size)

/* Its run on one, two or three inputs. */
#define INFINIOP_RUN_1(Op, y, a)                                                               \
    INFINI_API infiniStatus_t infiniop##Op(infiniop##Op##Descriptor_t desc, void *workspace,   \
                                           size_t workspace_size, void *y, const void *a,      \
                                           void *stream)

#define INFINIOP_RUN_2(Op, y, a, b)                                                            \
    INFINI_API infiniStatus_t infiniop##Op(infiniop##Op##Descriptor_t desc, void *workspace,   \
                                           size_t workspace_size, void *y, const void *a,      \
                                           const void *b, void *stream)

#define INFINIOP_RUN_3(Op, y, a, b, c)                                                         \
    INFINI_API infiniStatus_t infiniop##Op(infiniop##Op##Descriptor_t desc, void *workspace,   \
                                           size_t workspace_size, void *y, const void *a,      \
                                           const void *b, const void *c, void *stream)

/* All declarations of an operator that is created from its tensors alone. */
#define INFINIOP_UNARY(Op, y, x)                                                               \
    INFINIOP_OPERATOR(Op);                                                                     \
    INFINI_API infiniStatus_t infiniopCreate##Op##Descriptor(                                  \
        infiniopHandle_t handle, infiniop##Op##Descriptor_t *desc_ptr,                         \
        infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x);                           \
    INFINIOP_RUN_1(Op, y, x)

#define INFINIOP_BINARY(Op, y, a, b)                                                           \
    INFINIOP_OPERATOR(Op);                                                                     \
    INFINI_API infiniStatus_t infiniopCreate##Op##Descriptor(                                  \
        infiniopHandle_t handle, infiniop##Op##Descriptor_t *desc_ptr,                         \
        infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t a,                            \
        infiniopTensorDescriptor_t b);                                                         \
    INFINIOP_RUN_2(Op, y, a, b)

#endif
