/* handle.h - the device that operators are created for. */
#ifndef INFINIOP_HANDLE_H
#define INFINIOP_HANDLE_H

#include "../infinicore.h"

struct InfiniopHandle {
    infiniDevice_t device;
    int device_id;
};
typedef struct InfiniopHandle *infiniopHandle_t;

/* For the current device of the calling thread (infinirtSetDevice). */
INFINI_API infiniStatus_t infiniopCreateHandle(infiniopHandle_t *handle_ptr);
INFINI_API infiniStatus_t infiniopDestroyHandle(infiniopHandle_t handle);

#endif
