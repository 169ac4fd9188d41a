/* runtime.h - the machine: device handle, threads, allocator, executor. */
#ifndef TENON_RUNTIME_H
#define TENON_RUNTIME_H

#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_handle tn_handle;

/* What a handle changes; zero means default.
 *
 * alloc and free come together.  parallel_for calls body once for each part in [0, parts), from
 * any threads, and returns when all have returned. */
typedef struct tn_config {
    int threads;
    void *(*alloc)(void *user, size_t size, size_t align);
    void (*free)(void *user, void *ptr, size_t size);
    void (*parallel_for)(void *user, int parts, void (*body)(void *arg, int part), void *arg);
    void *user;
    void *reserved[8]; /* NULL */
} tn_config;

TN_API TN_NODISCARD tn_status tn_handle_create(tn_handle **h, tn_device device, int device_id,
                                               const tn_config *config);
TN_API TN_NODISCARD tn_status tn_handle_use(tn_handle *h);
TN_API void tn_handle_destroy(tn_handle *h);
TN_API TN_NODISCARD tn_status tn_handle_device(const tn_handle *h, tn_device *device,
                                               int *device_id);

/* The instruction set in use: "base", "avx2", "avx512", "neon". */
TN_API const char *tn_isa(void);

TN_END

#endif
