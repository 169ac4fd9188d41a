/* runtime.h - the machine: device handle, threads, allocator, executor. */
#ifndef TENON_RUNTIME_H
#define TENON_RUNTIME_H

#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_handle tn_handle;

/* Settings of a handle; zero means default.
 *
 * threads       most threads that a call uses, up to 1024; 0 means OMP_NUM_THREADS or all cores
 * alloc, free   both or neither; alloc returns size bytes aligned to align, or NULL; free is
 *               passed the same size.  The threads that a stream starts call both, several at
 *               once
 * parallel_for  calls body once for each part in [0, parts), on any threads, and returns when
 *               all calls have returned; it is used only for work that is worth splitting
 * user          first argument of all three
 * reserved      NULL */
typedef struct tn_config {
    int threads;
    void *(*alloc)(void *user, size_t size, size_t align);
    void (*free)(void *user, void *ptr, size_t size);
    void (*parallel_for)(void *user, int parts, void (*body)(void *arg, int part), void *arg);
    void *user;
    void *reserved[8];
} tn_config;

/* Create a handle of the only device: TN_CPU with id 0.  config may be NULL and is copied.
 * Release it with tn_handle_destroy.
 *
 * TN_ENULL    h is NULL
 * TN_EARG     threads < 0, alloc without free or free without alloc, reserved not NULL
 * TN_EDEVICE  another device or id
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_handle_create(tn_handle **h, tn_device device, int device_id,
                                               const tn_config *config);

/* Make h the current handle of the calling thread; NULL means the default handle.  Every call
 * takes threads, executor and allocator from the calling thread's current handle.  The threads
 * that a stream starts have one thread each and this allocator; with an executor it starts
 * none. */
TN_API TN_NODISCARD tn_status tn_handle_use(tn_handle *h);

/* Release h.  If it is current on the calling thread, the default handle becomes current; it
 * must not be current on any other thread.  Tensors that it allocated stay valid.  NULL is
 * fine. */
TN_API void tn_handle_destroy(tn_handle *h);

/* The device of h, and its id.  TN_ENULL if a pointer is NULL. */
TN_API TN_NODISCARD tn_status tn_handle_device(const tn_handle *h, tn_device *device,
                                               int *device_id);

/* The instruction set in use: "base", "avx2", "avx512", "neon".  The environment
 * variable TENON_ISA, read once, selects a lower one; an unknown name is ignored. */
TN_API const char *tn_isa(void);

/* ---- tuning parameters ----
 *
 * Plans of copies use a few parameters that depend on the machine, such as which rows are
 * streamed one by one and how wide tiles are.  They affect speed only, never results.  They
 * have defaults; measured values are kept in a small text file, which is read once, at the
 * first plan, from the path in TENON_TUNE or from tenon/tune in the user's configuration folder
 * (if TENON_TUNE is set and empty, no file is read).  A file that is damaged or was made on
 * another CPU is then ignored.
 *
 * tn_tune measures them for about `milliseconds` ms, on 64 MB that it allocates.
 *
 * TN_ENULL         path is NULL
 * TN_EARG          milliseconds is negative or NaN
 * TN_EIO           the file cannot be read or written
 * TN_EFORMAT       the file is not a tuning file, or a number is out of range; nothing is
 *                  changed
 * TN_EUNSUPPORTED  the file was made on another CPU; nothing is changed
 * TN_ENOMEM        the memory to measure on cannot be allocated */
TN_API TN_NODISCARD tn_status tn_tune(double milliseconds);
TN_API TN_NODISCARD tn_status tn_tune_save(const char *path);
TN_API TN_NODISCARD tn_status tn_tune_load(const char *path);

TN_END

#endif
