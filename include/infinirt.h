/* infinirt.h - InfiniCore's runtime on the only device: the CPU, id 0.
 *
 * Work is complete when a call returns: streams are only names, and stream arguments are
 * ignored.  A device that is not the CPU is DEVICE_TYPE_NOT_SUPPORTED, another id
 * DEVICE_NOT_FOUND, a failed allocation INTERNAL_ERROR; a call that fails has changed
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

/* The fields that a snapshot contains: bits of its valid_fields. */
typedef enum {
    INFINIRT_RESOURCE_MEMORY_CAPACITY = 1,
    INFINIRT_RESOURCE_COMPUTE_UTILIZATION = 2,
    INFINIRT_RESOURCE_MEMORY_BANDWIDTH = 4,
    INFINIRT_RESOURCE_KERNEL_TIME = 8,
    INFINIRT_RESOURCE_COMMUNICATION = 16
} infinirtDeviceResourceField_t;

typedef struct {
    int device_type;
    int device_id;
    uint64_t valid_fields, estimated_fields;
    size_t free_bytes, total_bytes, used_bytes, reserved_bytes;
    float compute_utilization, memory_bandwidth_utilization;
    float kernel_time_ratio, communication_time_ratio;
    uint64_t communication_bytes;
} infinirtDeviceResourceSnapshot_t;

typedef enum {
    INFINIRT_STREAM_CAPTURE_MODE_GLOBAL = 0,
    INFINIRT_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    INFINIRT_STREAM_CAPTURE_MODE_RELAXED = 2
} infinirtStreamCaptureMode_t;

typedef void *infinirtGraph_t;
typedef void *infinirtGraphNode_t;
typedef void *infinirtGraphExec_t;

INFINI_API infiniStatus_t infinirtInit(void);

/* ---- devices; the current one is the calling thread's ---- */

/* count_array has INFINI_DEVICE_TYPE_COUNT entries. */
INFINI_API infiniStatus_t infinirtGetAllDeviceCount(int *count_array);
/* The count is 0 for a device type that this machine lacks; an unknown device type fails. */
INFINI_API infiniStatus_t infinirtGetDeviceCount(infiniDevice_t device, int *count);
INFINI_API infiniStatus_t infinirtSetDevice(infiniDevice_t device, int device_id);
/* One of the two may be NULL. */
INFINI_API infiniStatus_t infinirtGetDevice(infiniDevice_t *device_ptr, int *device_id_ptr);
INFINI_API infiniStatus_t infinirtGetMemInfo(infiniDevice_t device, int device_id,
                                             size_t *free_bytes, size_t *total_bytes);
/* For the CPU only the memory fields are valid. */
INFINI_API infiniStatus_t infinirtGetDeviceResourceSnapshot(
    infiniDevice_t device, int device_id, infinirtDeviceResourceSnapshot_t *snapshot);
INFINI_API infiniStatus_t infinirtDeviceSynchronize(void);

/* ---- streams ---- */

INFINI_API infiniStatus_t infinirtStreamCreate(infinirtStream_t *stream_ptr);
INFINI_API infiniStatus_t infinirtStreamDestroy(infinirtStream_t stream);
INFINI_API infiniStatus_t infinirtStreamSynchronize(infinirtStream_t stream);
INFINI_API infiniStatus_t infinirtStreamWaitEvent(infinirtStream_t stream,
                                                  infinirtEvent_t event);

/* ---- graphs: every call is DEVICE_TYPE_NOT_SUPPORTED ---- */

INFINI_API infiniStatus_t infinirtStreamBeginCapture(infinirtStream_t stream,
                                                     infinirtStreamCaptureMode_t mode);
INFINI_API infiniStatus_t infinirtStreamEndCapture(infinirtStream_t stream,
                                                   infinirtGraph_t *graph_ptr);
INFINI_API infiniStatus_t infinirtGraphDestroy(infinirtGraph_t graph);
INFINI_API infiniStatus_t infinirtGraphInstantiate(infinirtGraphExec_t *exec_ptr,
                                                   infinirtGraph_t graph,
                                                   infinirtGraphNode_t *node_ptr,
                                                   char *log_buffer, size_t buffer_size);
INFINI_API infiniStatus_t infinirtGraphExecDestroy(infinirtGraphExec_t exec);
/* The name is spelt as InfiniCore spells it. */
INFINI_API infiniStatus_t infinirtGraphLuanch(infinirtGraphExec_t exec,
                                              infinirtStream_t stream);

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
