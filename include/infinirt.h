/* infinirt.h - InfiniCore's run time on the one device there is: the CPU, id 0.
 *
 * Work is done when a call returns: streams are only names, and what a call says of a stream is
 * ignored.  A device that is not the CPU is DEVICE_TYPE_NOT_SUPPORTED, another id
 * DEVICE_NOT_FOUND, memory that is not there INTERNAL_ERROR; a call that fails has changed
 * nothing. */
#ifndef INFINIRT_H
#define INFINIRT_H

#include "infinicore.h"

typedef void *infinirtStream_t;
typedef void *infinirtEvent_t;

typedef enum {
    INFINIRT_EVENT_COMPLETE = 0,
    INFINIRT_EVENT_NOT_READY = 1
} infinirtEventStatus_t;

typedef enum {
    INFINIRT_EVENT_DEFAULT = 0,
    INFINIRT_EVENT_DISABLE_TIMING = 1,
    INFINIRT_EVENT_BLOCKING_SYNC = 2
} infinirtEventFlags_t;

typedef enum {
    INFINIRT_MEMCPY_H2H = 0,
    INFINIRT_MEMCPY_H2D = 1,
    INFINIRT_MEMCPY_D2H = 2,
    INFINIRT_MEMCPY_D2D = 3
} infinirtMemcpyKind_t;

INFINI_API infiniStatus_t infinirtInit(void);

/* ---- devices; the current one is the calling thread's ---- */

/* count_array has INFINI_DEVICE_TYPE_COUNT entries. */
INFINI_API infiniStatus_t infinirtGetAllDeviceCount(int *count_array);
/* A device type that this machine has not counts 0; a number that names none is refused. */
INFINI_API infiniStatus_t infinirtGetDeviceCount(infiniDevice_t device, int *count);
INFINI_API infiniStatus_t infinirtSetDevice(infiniDevice_t device, int device_id);
/* One of the two may be NULL. */
INFINI_API infiniStatus_t infinirtGetDevice(infiniDevice_t *device_ptr, int *device_id_ptr);
INFINI_API infiniStatus_t infinirtGetMemInfo(infiniDevice_t device, int device_id,
                                             size_t *free_bytes, size_t *total_bytes);
INFINI_API infiniStatus_t infinirtDeviceSynchronize(void);

/* ---- streams ---- */

INFINI_API infiniStatus_t infinirtStreamCreate(infinirtStream_t *stream_ptr);
INFINI_API infiniStatus_t infinirtStreamDestroy(infinirtStream_t stream);
INFINI_API infiniStatus_t infinirtStreamSynchronize(infinirtStream_t stream);
INFINI_API infiniStatus_t infinirtStreamWaitEvent(infinirtStream_t stream,
                                                  infinirtEvent_t event);

/* ---- events: moments of the steady clock; a new event is recorded when it is made ---- */

INFINI_API infiniStatus_t infinirtEventCreate(infinirtEvent_t *event_ptr);
INFINI_API infiniStatus_t infinirtEventCreateWithFlags(infinirtEvent_t *event_ptr,
                                                       uint32_t flags);
INFINI_API infiniStatus_t infinirtEventRecord(infinirtEvent_t event, infinirtStream_t stream);
INFINI_API infiniStatus_t infinirtEventQuery(infinirtEvent_t event,
                                             infinirtEventStatus_t *status_ptr);
INFINI_API infiniStatus_t infinirtEventSynchronize(infinirtEvent_t event);
INFINI_API infiniStatus_t infinirtEventDestroy(infinirtEvent_t event);
INFINI_API infiniStatus_t infinirtEventElapsedTime(float *ms_ptr, infinirtEvent_t start,
                                                   infinirtEvent_t end);

/* ---- memory; blocks are 64-byte aligned, a block of 0 bytes is not NULL ---- */

INFINI_API infiniStatus_t infinirtMalloc(void **p_ptr, size_t size);
INFINI_API infiniStatus_t infinirtMallocHost(void **p_ptr, size_t size);
INFINI_API infiniStatus_t infinirtMallocAsync(void **p_ptr, size_t size,
                                              infinirtStream_t stream);
/* NULL is fine. */
INFINI_API infiniStatus_t infinirtFree(void *ptr);
INFINI_API infiniStatus_t infinirtFreeHost(void *ptr);
INFINI_API infiniStatus_t infinirtFreeAsync(void *ptr, infinirtStream_t stream);

/* The blocks may overlap. */
INFINI_API infiniStatus_t infinirtMemcpy(void *dst, const void *src, size_t size,
                                         infinirtMemcpyKind_t kind);
INFINI_API infiniStatus_t infinirtMemcpyAsync(void *dst, const void *src, size_t size,
                                              infinirtMemcpyKind_t kind,
                                              infinirtStream_t stream);
INFINI_API infiniStatus_t infinirtMemset(void *ptr, int value, size_t count);
INFINI_API infiniStatus_t infinirtMemsetAsync(void *ptr, int value, size_t count,
                                              infinirtStream_t stream);

#endif
