/* iop_border.h - macros that define the public functions of programs: the parameters of a
 * function in parentheses, then the arguments it passes on. */
#ifndef TNI_IOP_BORDER_H
#define TNI_IOP_BORDER_H

#include "iop_program.h"

typedef tni_iop_tensor T;

#define UNPACK(...) __VA_ARGS__

/* Define the function that makes Op; the initialisers of its tni_iop_args follow. */
#define CREATE(Op, parameters, ...)                                                            \
    infiniStatus_t infiniopCreate##Op##Descriptor(                                             \
        infiniopHandle_t handle, infiniop##Op##Descriptor_t *desc_ptr, UNPACK parameters)      \
    {                                                                                          \
        return tni_iop_create(TNI_IOP_##Op, handle, desc_ptr,                                  \
                              &(const tni_iop_args){__VA_ARGS__});                             \
    }

/* Define the function that runs Op on its tensors' data, in their order; numbers are passed to
 * the run. */
#define RUN_NUM(Op, parameters, numbers, ...)                                                  \
    infiniStatus_t infiniop##Op(infiniop##Op##Descriptor_t desc, void *workspace,              \
                                size_t workspace_size, UNPACK parameters, void *stream)        \
    {                                                                                          \
        (void)stream;                                                                          \
        return tni_iop_go(TNI_IOP_##Op, desc, workspace, workspace_size,                       \
                          (const double[]){UNPACK numbers}, NULL,                              \
                          (const void *const[]){__VA_ARGS__});                                 \
    }

#define RUN(Op, parameters, ...) RUN_NUM(Op, parameters, (0), __VA_ARGS__)

#define RUN_BARE(Op, parameters, ...)                                                          \
    infiniStatus_t infiniop##Op(infiniop##Op##Descriptor_t desc, UNPACK parameters,            \
                                void *stream)                                                  \
    {                                                                                          \
        (void)stream;                                                                          \
        return tni_iop_go(TNI_IOP_##Op, desc, NULL, 0, NULL, NULL,                             \
                          (const void *const[]){__VA_ARGS__});                                 \
    }

#endif
