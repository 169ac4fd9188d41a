/* infiniop_client.h - short words for a C client of InfiniOp.
 *
 * Descriptors of tensors are made for one call and destroyed as soon as it has returned, before
 * an operator runs. */
#ifndef INFINIOP_CLIENT_H
#define INFINIOP_CLIENT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <infiniop.h>
#include <infinirt.h>

#define OK(call)           assert_int_equal((call), INFINI_STATUS_SUCCESS)
#define FAILS(call, which) assert_int_equal((call), INFINI_STATUS_##which)

static infiniopHandle_t handle;
static infiniopTensorDescriptor_t made[64];
static int nmade;

#define DIMS(...)                                                                              \
    (const size_t[])                                                                           \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }
#define STEPS(...)                                                                             \
    (const ptrdiff_t[])                                                                        \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A descriptor, which drop() destroys. */
static inline infiniopTensorDescriptor_t tensor(infiniDtype_t dtype, size_t ndim,
                                                const size_t *shape, const ptrdiff_t *strides)
{
    assert_true(nmade < (int)COUNT(made));
    OK(infiniopCreateTensorDescriptor(&made[nmade], ndim, shape, strides, dtype));
    return made[nmade++];
}

#define F32(ndim, shape, strides) tensor(INFINI_DTYPE_F32, ndim, shape, strides)

static inline void drop(void)
{
    while (nmade > 0)
        OK(infiniopDestroyTensorDescriptor(made[--nmade]));
}

/* Make operator Op into desc, then drop its tensors. */
#define CREATE(Op, desc, ...)                                                                  \
    do {                                                                                       \
        (desc) = NULL;                                                                         \
        OK(infiniopCreate##Op##Descriptor(handle, &(desc), __VA_ARGS__));                      \
        drop();                                                                                \
    } while (0)

/* Op is refused with a status, and gives nothing. */
#define REFUSES(which, Op, ...)                                                                \
    do {                                                                                       \
        infiniop##Op##Descriptor_t none = NULL;                                                \
        FAILS(infiniopCreate##Op##Descriptor(handle, &none, __VA_ARGS__), which);              \
        assert_null(none);                                                                     \
        drop();                                                                                \
    } while (0)

/* Run desc on data and destroy it. */
#define RUN(Op, desc, ...)                                                                     \
    do {                                                                                       \
        size_t workspace = 7;                                                                  \
        OK(infiniopGet##Op##WorkspaceSize(desc, &workspace));                                  \
        assert_int_equal(workspace, 0);                                                        \
        OK(infiniop##Op(desc, NULL, 0, __VA_ARGS__, NULL));                                    \
        OK(infiniopDestroy##Op##Descriptor(desc));                                             \
    } while (0)

/* y holds these numbers, to the last bit. */
#define HOLDS(y, ...)                                                                          \
    do {                                                                                       \
        const __typeof__((y)[0]) want[] = {__VA_ARGS__};                                       \
        assert_memory_equal(y, want, sizeof want);                                             \
    } while (0)

static int begin(void **state)
{
    (void)state;
    return infiniopCreateHandle(&handle) != INFINI_STATUS_SUCCESS;
}

static int end(void **state)
{
    (void)state;
    return infiniopDestroyHandle(handle) != INFINI_STATUS_SUCCESS;
}

#endif
