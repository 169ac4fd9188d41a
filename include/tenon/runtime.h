/* runtime.h - the machine: device handle, threads, allocator, executor. */
#ifndef TENON_RUNTIME_H
#define TENON_RUNTIME_H

#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_handle tn_handle;

/* What a handle changes; zero means default.
 *
 * threads       how many work may use, at most 1024; 0 is OMP_NUM_THREADS or all cores
 * alloc, free   come together; alloc gives size bytes aligned to align or NULL, free gets the
 *               same size back
 * parallel_for  calls body once for each part in [0, parts), from any threads, and returns when
 *               all have returned; it is asked only for work that is worth dividing
 * user          first argument of the three
 * reserved      NULL */
typedef struct tn_config {
    int threads;
    void *(*alloc)(void *user, size_t size, size_t align);
    void (*free)(void *user, void *ptr, size_t size);
    void (*parallel_for)(void *user, int parts, void (*body)(void *arg, int part), void *arg);
    void *user;
    void *reserved[8];
} tn_config;

/* Make a handle of the one device there is: TN_CPU with id 0.  config may be NULL and is not
 * kept.  Release it with tn_handle_destroy.
 *
 * TN_ENULL    h is NULL
 * TN_EARG     threads < 0, alloc without free or free without alloc, reserved not NULL
 * TN_EDEVICE  another device or id
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_handle_create(tn_handle **h, tn_device device, int device_id,
                                               const tn_config *config);

/* Make h the current handle of the calling thread; NULL is the default one.  Every call takes
 * threads, executor and allocator from the current handle of the thread that calls it. */
TN_API TN_NODISCARD tn_status tn_handle_use(tn_handle *h);

/* Release h.  Where it is current on the calling thread, the default follows it; on any other
 * thread it must not be current.  Tensors that it allocated stay valid.  NULL is fine. */
TN_API void tn_handle_destroy(tn_handle *h);

/* TN_ENULL    a pointer is NULL */
TN_API TN_NODISCARD tn_status tn_handle_device(const tn_handle *h, tn_device *device,
                                               int *device_id);

/* The instruction set in use: "base", "avx2", "avx512", "neon".  TENON_ISA in the environment,
 * read once, asks for a lower one; what it does not know is ignored. */
TN_API const char *tn_isa(void);

TN_END

#endif
