/* infinirt.c - InfiniCore's runtime on the CPU.
 *
 * All work is done when a call returns, so a stream is only a handle. */
#include <infinirt.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- devices ---- */

/* The current device of a thread: always the CPU, because there is no other. */
static _Thread_local struct {
    infiniDevice_t device;
    int id;
} current = {INFINI_DEVICE_CPU, 0};

static infiniStatus_t check_device(infiniDevice_t device, int id)
{
    if (device != INFINI_DEVICE_CPU)
        return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
    return id == 0 ? INFINI_STATUS_SUCCESS : INFINI_STATUS_DEVICE_NOT_FOUND;
}

infiniStatus_t infinirtInit(void)
{
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtGetAllDeviceCount(int *count_array)
{
    if (!count_array)
        return INFINI_STATUS_NULL_POINTER;
    for (int i = 0; i < INFINI_DEVICE_TYPE_COUNT; i++)
        count_array[i] = i == INFINI_DEVICE_CPU;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtGetDeviceCount(infiniDevice_t device, int *count)
{
    if (!count)
        return INFINI_STATUS_NULL_POINTER;
    if ((unsigned)device >= INFINI_DEVICE_TYPE_COUNT)
        return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
    *count = device == INFINI_DEVICE_CPU;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtSetDevice(infiniDevice_t device, int device_id)
{
    const infiniStatus_t status = check_device(device, device_id);
    if (status == INFINI_STATUS_SUCCESS) {
        current.device = device;
        current.id = device_id;
    }
    return status;
}

infiniStatus_t infinirtGetDevice(infiniDevice_t *device_ptr, int *device_id_ptr)
{
    if (!device_ptr && !device_id_ptr)
        return INFINI_STATUS_NULL_POINTER;
    if (device_ptr)
        *device_ptr = current.device;
    if (device_id_ptr)
        *device_id_ptr = current.id;
    return INFINI_STATUS_SUCCESS;
}

/* Saturates where size_t has 32 bits. */
static size_t bytes_of(long pages, long page)
{
    const uint64_t n = (uint64_t)pages * (uint64_t)page;
    return n < SIZE_MAX ? (size_t)n : SIZE_MAX;
}

infiniStatus_t infinirtGetMemInfo(infiniDevice_t device, int device_id, size_t *free_bytes,
                                  size_t *total_bytes)
{
    if (!free_bytes || !total_bytes)
        return INFINI_STATUS_NULL_POINTER;
    const infiniStatus_t status = check_device(device, device_id);
    if (status != INFINI_STATUS_SUCCESS)
        return status;
    const long page = sysconf(_SC_PAGESIZE);
    const long all = sysconf(_SC_PHYS_PAGES), unused = sysconf(_SC_AVPHYS_PAGES);
    if (page < 0 || all < 0 || unused < 0)
        return INFINI_STATUS_INTERNAL_ERROR;
    *free_bytes = bytes_of(unused, page);
    *total_bytes = bytes_of(all, page);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtGetDeviceResourceSnapshot(infiniDevice_t device, int device_id,
                                                 infinirtDeviceResourceSnapshot_t *snapshot)
{
    size_t unused = 0, all = 0;
    if (!snapshot)
        return INFINI_STATUS_NULL_POINTER;
    const infiniStatus_t status = infinirtGetMemInfo(device, device_id, &unused, &all);
    if (status != INFINI_STATUS_SUCCESS)
        return status;
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->device_type = (int)device;
    snapshot->device_id = device_id;
    snapshot->valid_fields = INFINIRT_RESOURCE_MEMORY_CAPACITY;
    snapshot->free_bytes = unused;
    snapshot->total_bytes = all;
    snapshot->used_bytes = all - unused;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtDeviceSynchronize(void)
{
    return INFINI_STATUS_SUCCESS;
}

/* ---- streams ---- */

infiniStatus_t infinirtStreamCreate(infinirtStream_t *stream_ptr)
{
    static char the_stream;
    if (!stream_ptr)
        return INFINI_STATUS_NULL_POINTER;
    *stream_ptr = &the_stream;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtStreamDestroy(infinirtStream_t stream)
{
    (void)stream;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtStreamSynchronize(infinirtStream_t stream)
{
    (void)stream;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtStreamWaitEvent(infinirtStream_t stream, infinirtEvent_t event)
{
    (void)stream;
    return event ? INFINI_STATUS_SUCCESS : INFINI_STATUS_NULL_POINTER;
}

/* ---- graphs: not supported, as the CPU has no device to replay them ---- */

infiniStatus_t infinirtStreamBeginCapture(infinirtStream_t stream,
                                          infinirtStreamCaptureMode_t mode)
{
    (void)stream, (void)mode;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinirtStreamEndCapture(infinirtStream_t stream, infinirtGraph_t *graph_ptr)
{
    (void)stream, (void)graph_ptr;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinirtGraphDestroy(infinirtGraph_t graph)
{
    (void)graph;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinirtGraphInstantiate(infinirtGraphExec_t *exec_ptr, infinirtGraph_t graph,
                                        infinirtGraphNode_t *node_ptr, char *log_buffer,
                                        size_t buffer_size)
{
    (void)exec_ptr, (void)graph, (void)node_ptr, (void)log_buffer, (void)buffer_size;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinirtGraphExecDestroy(infinirtGraphExec_t exec)
{
    (void)exec;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinirtGraphLuanch(infinirtGraphExec_t exec, infinirtStream_t stream)
{
    (void)exec, (void)stream;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

/* ---- events ---- */

static void stamp(struct timespec *at)
{
    (void)clock_gettime(CLOCK_MONOTONIC, at);
}

infiniStatus_t infinirtEventCreateWithFlags(infinirtEvent_t *event_ptr, uint32_t flags)
{
    if (!event_ptr)
        return INFINI_STATUS_NULL_POINTER;
    if (flags & ~(uint32_t)(INFINIRT_EVENT_DISABLE_TIMING | INFINIRT_EVENT_BLOCKING_SYNC))
        return INFINI_STATUS_BAD_PARAM;
    struct timespec *at = malloc(sizeof *at);
    if (!at)
        return INFINI_STATUS_INTERNAL_ERROR;
    stamp(at);
    *event_ptr = at;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventCreate(infinirtEvent_t *event_ptr)
{
    return infinirtEventCreateWithFlags(event_ptr, INFINIRT_EVENT_DEFAULT);
}

infiniStatus_t infinirtEventRecord(infinirtEvent_t event, infinirtStream_t stream)
{
    (void)stream;
    if (!event)
        return INFINI_STATUS_NULL_POINTER;
    stamp(event);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventQuery(infinirtEvent_t event, infinirtEventStatus_t *status_ptr)
{
    if (!event || !status_ptr)
        return INFINI_STATUS_NULL_POINTER;
    *status_ptr = INFINIRT_EVENT_COMPLETE;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventSynchronize(infinirtEvent_t event)
{
    return event ? INFINI_STATUS_SUCCESS : INFINI_STATUS_NULL_POINTER;
}

infiniStatus_t infinirtEventDestroy(infinirtEvent_t event)
{
    if (!event)
        return INFINI_STATUS_NULL_POINTER;
    free(event);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventElapsedTime(float *ms_ptr, infinirtEvent_t start,
                                        infinirtEvent_t end)
{
    if (!ms_ptr || !start || !end)
        return INFINI_STATUS_NULL_POINTER;
    const struct timespec *a = start, *b = end;
    *ms_ptr = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 +
                      (double)(b->tv_nsec - a->tv_nsec) * 1e-6);
    return INFINI_STATUS_SUCCESS;
}

/* ---- memory ---- */

infiniStatus_t infinirtMalloc(void **p_ptr, size_t size)
{
    enum { ALIGNED = 64 };
    if (!p_ptr)
        return INFINI_STATUS_NULL_POINTER;
    if (size > PTRDIFF_MAX - ALIGNED)
        return INFINI_STATUS_INTERNAL_ERROR;
    void *block =
        aligned_alloc(ALIGNED, size ? (size + ALIGNED - 1) / ALIGNED * ALIGNED : ALIGNED);
    if (!block)
        return INFINI_STATUS_INTERNAL_ERROR;
    *p_ptr = block;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtMallocHost(void **p_ptr, size_t size)
{
    return infinirtMalloc(p_ptr, size);
}

infiniStatus_t infinirtMallocAsync(void **p_ptr, size_t size, infinirtStream_t stream)
{
    (void)stream;
    return infinirtMalloc(p_ptr, size);
}

infiniStatus_t infinirtFree(void *ptr)
{
    free(ptr);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtFreeHost(void *ptr)
{
    return infinirtFree(ptr);
}

infiniStatus_t infinirtFreeAsync(void *ptr, infinirtStream_t stream)
{
    (void)stream;
    return infinirtFree(ptr);
}

infiniStatus_t infinirtMemcpy(void *dst, const void *src, size_t size,
                              infinirtMemcpyKind_t kind)
{
    if (size > 0 && (!dst || !src))
        return INFINI_STATUS_NULL_POINTER;
    if ((unsigned)kind > INFINIRT_MEMCPY_D2D)
        return INFINI_STATUS_BAD_PARAM;
    if (size > 0)
        memmove(dst, src, size);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtMemcpyAsync(void *dst, const void *src, size_t size,
                                   infinirtMemcpyKind_t kind, infinirtStream_t stream)
{
    (void)stream;
    return infinirtMemcpy(dst, src, size, kind);
}

infiniStatus_t infinirtMemset(void *ptr, int value, size_t count)
{
    if (count > 0 && !ptr)
        return INFINI_STATUS_NULL_POINTER;
    if (count > 0)
        memset(ptr, value, count);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtMemsetAsync(void *ptr, int value, size_t count, infinirtStream_t stream)
{
    (void)stream;
    return infinirtMemset(ptr, value, count);
}
