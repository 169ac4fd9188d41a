/* dlpack.h - exchange of tensors by DLPack 1.x, the protocol by which array libraries share
 * memory.
 *
 * A program that also includes <dlpack/dlpack.h> must include it first; its declarations are
 * then used here too. */
#ifndef TENON_DLPACK_H
#define TENON_DLPACK_H

#include <tenon/tensor.h>

TN_BEGIN

#ifndef DLPACK_DLPACK_H_

typedef struct DLDevice {
    int32_t device_type; /* 1 is the CPU */
    int32_t device_id;
} DLDevice;

/* code: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 10 float8_e4m3fn, 12
 * float8_e5m2 */
typedef struct DLDataType {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;     /* elements; NULL is dense row-major */
    uint64_t byte_offset; /* from data to element (0, …, 0) */
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLPackVersion {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

#define DLPACK_FLAG_BITMASK_READ_ONLY 1u
#define DLPACK_FLAG_BITMASK_IS_COPIED 2u

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

#endif

/* Describe t for a consumer, which calls (*m)->deleter(*m) once, from any thread; the deleter
 * calls release(owner), unless release is NULL.  No element is copied: owner keeps them alive.
 *
 * flags are those of the protocol, READ_ONLY and IS_COPIED; a TN_READONLY tensor is always
 * READ_ONLY.  strides are always given, in elements; byte_offset is 0; the version is 1.1.
 *
 * TN_ENULL    m or t is NULL, or t has elements and no data
 * TN_EARG     flags has other bits
 * TN_ESTRIDE  a stride is not a whole number of elements
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_to_dlpack(struct DLManagedTensorVersioned **m,
                                           const tn_tensor *t, void (*release)(void *owner),
                                           void *owner, uint64_t flags);

/* The same in the form before version 1, which has no flags; TN_EARG also if t is
 * TN_READONLY. */
TN_API TN_NODISCARD tn_status tn_to_dlpack_old(struct DLManagedTensor **m, const tn_tensor *t,
                                               void (*release)(void *owner), void *owner);

/* Describe a producer's memory as a tensor; the caller keeps m, and calls its deleter when t is
 * no longer used.  READ_ONLY becomes TN_READONLY.
 *
 * TN_ENULL         a pointer is NULL, or shape is NULL and ndim > 0
 * TN_EUNSUPPORTED  the version is not 1.x; only the version was read, and of m only the deleter
 *                  may be used
 * TN_EARG          ndim is not in [0, TN_MAX_NDIM]
 * TN_EDEVICE       the memory is not on the CPU
 * TN_EDTYPE        the type has no tn_dtype: lanes, an unknown code or width
 * TN_ESHAPE        an extent is negative
 * TN_EOVERFLOW     a size, a stride or the offset does not fit in 64 bits */
TN_API TN_NODISCARD tn_status tn_from_dlpack(tn_tensor *t,
                                             const struct DLManagedTensorVersioned *m);

/* The same from the form before version 1. */
TN_API TN_NODISCARD tn_status tn_from_dlpack_old(tn_tensor *t, const struct DLManagedTensor *m);

TN_END

#endif
